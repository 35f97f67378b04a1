"""One door for files, for Python and for the command line.

Loaded when used: the command line lists its options without numpy.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semisift.io.dataset import Dataset, prepare
    from semisift.io.door import checksum, find_format, load, read, read_table, write
    from semisift.io.options import FORMATS, Reading, TableOptions
    from semisift.io.table import FileTable

__all__ = [
    "FORMATS",
    "Dataset",
    "FileTable",
    "Reading",
    "TableOptions",
    "checksum",
    "find_format",
    "load",
    "prepare",
    "read",
    "read_table",
    "write",
]

_HOMES = {
    **dict.fromkeys(("FORMATS", "Reading", "TableOptions"), "options"),
    **dict.fromkeys(("Dataset", "prepare"), "dataset"),
    "FileTable": "table",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = importlib.import_module(f"{__name__}.{_HOMES.get(name, 'door')}")
    return getattr(home, name)
