"""From a file to a table of numbers, names and labels.

`read_table` does it all: `read` finds the format and reads the file as it is, `prepare` decides
what is a label, a name or a feature and turns features into numbers.
"""

import hashlib
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from semisift.exceptions import TableError
from semisift.io._dataset import Dataset, prepare
from semisift.io._guards import FileError, error_context, writing
from semisift.io._options import (
    FORMATS,
    HAVE_SEVERAL_MATRICES,
    HAVE_SEVERAL_NAMES,
    STORED,
    Reading,
    TableOptions,
    format_option,
    takes_options,
)
from semisift.io._table import FileTable
from semisift.utils._validation import check_path

SPREADSHEETS = (".numbers",)  # that are not read

# Options of some formats, and which these are.
ONLY_FOR = {
    "matrix": HAVE_SEVERAL_MATRICES,
    "names_from": HAVE_SEVERAL_NAMES,
    "append_unlabelled": ("npz",),
    "max_memory": STORED,
    "cache_dir": STORED,
}


def read(path: str | Path, options: TableOptions | None = None) -> FileTable:
    """Read a file as it is.

    Parameters
    ----------
    path : str or Path
    options : TableOptions, optional

    Returns
    -------
    FileTable
    """
    path = Path(path)
    options = options or TableOptions()
    with error_context(path):
        if not path.exists():
            raise FileError("there is no such file or folder.")
        form = options.format or find_format(path)
        for name, forms in ONLY_FOR.items():
            if getattr(options, name, None) not in (None, False) and form not in forms:
                raise FileError(
                    f"{format_option(name)} is for {', '.join(forms)} files: this is {form}."
                )
        try:
            table: FileTable = _module(form).read(path, options)
        except OSError as error:
            raise FileError(f"the file cannot be read: {error.strerror or error}.") from error
        except MemoryError as error:
            cure = "Use a larger machine or a sparse format"
            raise FileError(f"the file needs more memory than there is. {cure}.") from error
        return table


def write(table: FileTable, path: Path) -> None:
    """Write a table in the format that it was read from.

    Parameters
    ----------
    table : FileTable
    path : Path
        A new file, or a new folder. For formats that are written in other ones, its ending tells
        in which.
    """
    with writing():
        _module(table.form).write(table, path)


def find_format(path: Path) -> str:
    """Return the format of a file by the ending of its name; a folder is one of zarr or of 10x."""
    name = path.name.lower()
    if path.is_dir():
        return "zarr" if name.endswith(FORMATS["zarr"].endings) else "10x"
    endings = {ending: form for form, known in FORMATS.items() for ending in known.endings}
    if found := max(filter(name.endswith, endings), key=len, default=None):
        return endings[found]
    if name.endswith(SPREADSHEETS):
        raise TableError(f"{path}: a spreadsheet of this kind is not read. Save the sheet as CSV.")
    first = ", ".join(known.endings[0] for known in FORMATS.values() if known.endings)
    raise TableError(
        f"{path}: the ending of the name tells no format. Known are {first} and the folder of "
        f"10x; pass {format_option('format')} for a file with another name."
    )


def checksum(path: Path) -> str | None:
    """Return the SHA-256 of a file, or of all files of a folder in the order of their names.

    None for what can be read once only, such as a pipe.
    """
    files = [path]
    if path.is_dir():
        files = sorted(path.rglob("*") if find_format(path) == "zarr" else path.iterdir())
    elif not path.is_file():
        return None
    digest = hashlib.sha256()
    for file in filter(Path.is_file, files):
        with file.open("rb") as content:
            hashlib.file_digest(content, lambda: digest)
    return digest.hexdigest()


@takes_options
def read_table(path: str | Path, **options: Any) -> Dataset:
    r"""Read a file into what a ranker takes: ``X``, ``y`` and names.

    Parameters
    ----------
    path : str or Path
        A file (csv, tsv, parquet, npz, mat, xlsx, geo, gct, arff, svmlight, mtx, 10x-h5, h5ad), or
        a folder of zarr or 10x.
    {options}

    Returns
    -------
    Dataset
        Its ``X`` and ``y`` go into ``fit``, with ``groups``, ``batch`` and ``weight`` (as
        ``sample_weight``) where such columns were named, which ``**data.of_rows`` hands on, and
        ``must_link`` and ``cannot_link`` where there are such pairs. Of h5ad, zarr and
        Parquet files that do not fit into `max_memory`, ``X`` is an `OutOfCoreMatrix`, whose rows
        stay in the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from semisift import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv"
    ...     _ = path.write_text("age,dose,outcome\n31,0.5,good\n52,1.5,NA\n47,2.5,bad\n")
    ...     data = read_table(path, label="outcome")
    >>> data.feature_names, data.y.tolist()
    (['age', 'dose'], ['good', None, 'bad'])
    """
    check_path(path, "path")
    return load(path, Reading.of(**options))


def load(
    path: str | Path, reading: Reading, check: Callable[[FileTable], None] | None = None
) -> Dataset:
    """Read a file and prepare it, as `read_table` does.

    Parameters
    ----------
    path : str or Path
    reading : Reading
    check : callable, optional
        Called with the table as it was read, before anything is decided about it.

    Returns
    -------
    Dataset
    """
    reading.check()
    table = read(path, reading)
    if check is not None:
        check(table)
    labels = None
    if reading.labels is not None:
        labels = read(reading.labels, TableOptions(encoding=reading.encoding))
    return prepare(table, reading, labels)


def _module(form: str) -> Any:
    return importlib.import_module(f"semisift.io._formats.{FORMATS[form].module}")
