import errno
import shutil

import polars as pl
import pytest

from semisift.io._guards import FileError, no_room

FULL = "No space left on device"


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, FULL),
        OSError(f"{FULL} (os error 28)"),
        pl.exceptions.ComputeError(f"parquet: underlying IO error: {FULL} (os error 28)"),
        shutil.Error([("a", "b", f"[Errno 28] {FULL}")]),
    ],
    ids=["python", "polars csv", "polars parquet", "shutil"],
)
def test_a_full_disk(error):
    found = no_room(error)
    assert found is not None
    assert found.errno == errno.ENOSPC


@pytest.mark.parametrize(
    "error",
    [
        FileError("line 2: '[Errno 28]' is not a number."),
        ValueError("(os error 28)"),
        pl.exceptions.ComputeError("could not parse '(os error 28)' as dtype f64"),
        OSError(errno.EACCES, "[Errno 28] denied"),
    ],
)
def test_a_message_that_names_the_number_is_no_full_disk(error):
    assert no_room(error) is None
