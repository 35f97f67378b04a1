"""Tables of results as data frames."""

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from semisift.utils._validation import check_choice


def make_frame(table: Mapping[str, Any], output: str) -> Any:
    """Return a frame of the columns of a table that are not None.

    Parameters
    ----------
    table : mapping of str to sequence or None
    output : {"polars", "pandas"}

    Returns
    -------
    polars.DataFrame or pandas.DataFrame
    """
    check_choice(output, "output", ("polars", "pandas"))
    known = {name: values for name, values in table.items() if values is not None}
    for name, values in known.items():
        if isinstance(values, np.ndarray) and values.dtype.kind in "OSU":
            known[name] = values.tolist()
    return importlib.import_module(output).DataFrame(known)
