"""A full disk is known whoever tells of it, and not by what a message quotes."""

import errno
import shutil

import pytest
from polars.exceptions import ComputeError

from semisift.exceptions import TableError
from semisift.utils._files import no_room


def chained(error, cause):
    error.__cause__ = cause
    return error


ERRORS = {
    "the system": OSError(errno.ENOSPC, "No space left on device"),
    "a limit on the size of files": OSError(errno.EFBIG, "File too large"),
    "polars": ComputeError("No space left on device (os error 28)"),
    "polars, as Python's error": OSError("No space left on device (os error 28)"),
    "shutil": shutil.Error([("a", "b", "[Errno 28] No space left on device: 'b'")]),
    "h5py": OSError("[Errno 28] Unable to synchronously create file"),
    "a library on top of h5py": chained(RuntimeError("write"), OSError(errno.ENOSPC, "full")),
}


@pytest.mark.parametrize("who", ERRORS)
def test_a_full_disk_is_known(who):
    found = no_room(ERRORS[who])
    assert isinstance(found, OSError)
    assert found.errno in (errno.ENOSPC, errno.EFBIG)


@pytest.mark.parametrize(
    "error",
    [
        ValueError("column 3 holds '[Errno 28] No space left on device', which is no number"),
        TableError("notes.csv: the label '(os error 28)' is spelled in two ways"),
        OSError(errno.EACCES, "[Errno 28]"),
        OSError("[Errno 5] Input/output error"),
        KeyError(28),
        None,
    ],
)
def test_what_only_quotes_it_is_no_full_disk(error):
    assert no_room(error) is None
