"""Files whose rows stay there, with damaged chunks, indices and heads: read, or refused by name."""

import shutil
import warnings

import numpy as np
import pytest

from semisift import FisherScore, read_table
from semisift.exceptions import OutOfCoreError, TableError
from tests.properties.profiles import IS_LONG, LONG
from tests.stored_files import FORMS, LITTLE, reading, write

N_DAMAGED = LONG if IS_LONG else 6


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound")
    return {form: write(folder, form) for form in FORMS}


def damage(path, rng):
    """Change a few bytes of one file, cut it, empty it, or put another in its place."""
    files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
    chosen = files[rng.integers(len(files))]
    data = bytearray(chosen.read_bytes())
    kind = rng.integers(5)
    if kind == 0 or not data:
        data = bytearray()
    elif kind == 1:
        del data[rng.integers(len(data)) :]
    elif kind == 2 and len(files) > 1:
        data = bytearray(files[rng.integers(len(files))].read_bytes())
    else:
        for place in rng.integers(len(data), size=rng.integers(1, 40)):
            data[place] = rng.integers(256)
    chosen.write_bytes(data)
    return chosen


@pytest.mark.parametrize("form", FORMS)
def test_damaged_stores(form, sound, tmp_path):
    rng = np.random.default_rng(21)
    for number in range(N_DAMAGED):
        path = tmp_path / f"{number}-{form}"
        copy = shutil.copytree if sound[form].is_dir() else shutil.copy
        copy(sound[form], path)
        changed = damage(path, rng)
        try:
            with warnings.catch_warnings(action="ignore"):
                data = read_table(path, **reading(form, max_memory=LITTLE))
                scores = FisherScore().fit(data.X, data.y).scores_
        except (OutOfCoreError, TableError) as error:
            message = str(error)
            assert path.name in message or "column" in message, message
        except ValueError as error:  # of labels that are damaged
            assert "labelled" in str(error) or "y " in str(error), (changed, error)  # noqa: PT017
        else:
            assert scores.shape == (30,)
