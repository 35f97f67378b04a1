"""The door: from a file to a table of numbers, names and labels.

`read_table` does it all: `read` finds the format and reads the file as it is, `prepare` decides
what is a label, a name or a feature and turns features into numbers.
"""

import hashlib
import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semisift.exceptions import TableError
from semisift.tables.labels import LabelChoice
from semisift.tables.pairs import PairFiles
from semisift.tables.prepare import Categorical, Choices, Dataset, Missing, prepare
from semisift.tables.table import ReadOptions, Table

__all__ = [
    "FORMATS",
    "Choices",
    "Dataset",
    "Format",
    "LabelChoice",
    "PairFiles",
    "ReadOptions",
    "Table",
    "checksum",
    "find_format",
    "prepare",
    "read",
    "read_table",
    "write",
]


@dataclass(frozen=True)
class Format:
    """A kind of file.

    Attributes
    ----------
    module : str
        Of ``semisift.tables``, with the functions ``read`` and ``write``.
    endings : tuple of str
        Of file names, in lower case; none for a folder.
    about : str
    """

    module: str
    endings: tuple[str, ...]
    about: str


FORMATS: dict[str, Format] = {
    "csv": Format("text", (".csv", ".csv.gz", ".txt", ".txt.gz"), "text, comma or semicolon"),
    "tsv": Format("text", (".tsv", ".tsv.gz", ".tab", ".tab.gz"), "text, tab"),
    "parquet": Format("parquet", (".parquet", ".pq"), "Apache Parquet"),
    "npz": Format("npz", (".npz",), "arrays of numpy, dense or sparse"),
    "mat": Format("matlab", (".mat",), "MATLAB; version 7.3 needs the extra hdf5"),
    "arff": Format("arff", (".arff",), "Weka, dense or sparse"),
    "svmlight": Format(
        "svmlight",
        (".svmlight", ".libsvm", ".svm", ".svmlight.gz", ".libsvm.gz", ".svm.gz"),
        "svmlight and libsvm",
    ),
    "mtx": Format("mtx", (".mtx", ".mtx.gz"), "Matrix Market"),
    "10x": Format("tenx", (), "a folder with matrix.mtx, features.tsv and barcodes.tsv"),
    "h5ad": Format("h5ad", (".h5ad",), "AnnData; needs the extra anndata"),
}


HAVE_SEVERAL_MATRICES = ("npz", "mat", "h5ad")

SPREADSHEETS = (".xlsx", ".xls", ".ods", ".numbers")


def read(path: str | Path, options: ReadOptions | None = None, form: str | None = None) -> Table:
    """Read a file as it is.

    Parameters
    ----------
    path : str or Path
    options : ReadOptions, optional
    form : str, optional
        Key of `FORMATS`; None goes by the ending of the name.

    Returns
    -------
    Table
    """
    path = Path(path)
    options = options or ReadOptions()
    if not path.exists():
        raise TableError(f"{path}: there is no such file or folder.")
    if form is not None and form not in FORMATS:
        raise TableError(f"there is no format {form!r}. There are {', '.join(FORMATS)}.")
    form = form or find_format(path)
    if options.matrix is not None and form not in HAVE_SEVERAL_MATRICES:
        raise TableError(f"{path}: --matrix chooses one of several, and a {form} file has one.")
    if options.append_unlabelled and form != "npz":
        raise TableError(f"{path}: --append-unlabelled is for npz files; this is {form}.")
    try:
        table: Table = _module(form).read(path, options)
    except OSError as error:
        raise TableError(f"{path}: the file cannot be read: {error.strerror or error}.") from error
    except MemoryError as error:
        raise TableError(
            f"{path}: the file needs more memory than there is. Use a larger machine or a sparse "
            "format."
        ) from error
    return table


def write(table: Table, path: Path) -> None:
    """Write a table in the format that it was read from.

    Parameters
    ----------
    table : Table
    path : Path
        A new file, or a new folder.
    """
    _module(table.form).write(table, path)


def find_format(path: Path) -> str:
    """Tell the format of a file by its name; a folder is one of 10x."""
    if path.is_dir():
        return "10x"
    name = path.name.lower()
    for form, known in FORMATS.items():
        if name.endswith(known.endings):
            return form
    if name.endswith(SPREADSHEETS):
        raise TableError(
            f"{path}: this is a file of a spreadsheet program. Save the sheet as CSV there, and "
            "give that file."
        )
    endings = ", ".join(known.endings[0] for known in FORMATS.values() if known.endings)
    raise TableError(
        f"{path}: the ending of the name does not tell the format. Known are {endings} and the "
        "folder of 10x; say --format for a file with another name."
    )


def checksum(path: Path) -> str | None:
    """Return the SHA-256 of a file, or of all files of a folder in the order of their names.

    None for what can be read once only, such as a pipe.
    """
    if not path.is_file() and not path.is_dir():
        return None
    digest = hashlib.sha256()
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        if file.is_file():
            with file.open("rb") as content:
                while chunk := content.read(1 << 20):
                    digest.update(chunk)
    return digest.hexdigest()


def read_table(
    path: str | Path,
    *,
    label: str | int | None = None,
    labels: str | Path | None = None,
    must_link: str | Path | None = None,
    cannot_link: str | Path | None = None,
    id: str | int | None = None,
    drop: Sequence[str | int] = (),
    unlabelled: Sequence[Any] = (),
    missing: Missing = "error",
    categorical: Categorical = "error",
    categories: Sequence[str | int] = (),
    na: Sequence[str] = (),
    labels_per_class: int | None = None,
    seed: int = 0,
    format: str | None = None,
    transpose: bool = False,
    matrix: str | None = None,
    separator: str | None = None,
    encoding: str = "utf-8",
    header: bool | None = None,
    decimal_comma: bool = False,
    append_unlabelled: bool = False,
) -> Dataset:
    r"""Read a file into what a ranker takes: ``X``, ``y`` and names.

    Parameters
    ----------
    path : str or Path
        A file of any of the `FORMATS`, or a folder of 10x.
    label : str or int, optional
        Name or number (from 1) of the column with the labels.
    labels : str or Path, optional
        A file of its own with the labels, joined by the names of the rows; with a single column,
        in their order.
    must_link, cannot_link : str or Path, optional
        Files with pairs of rows that belong, or do not belong, to the same class: two columns, by
        the names of the rows or by their numbers, counted from 1.
    id : str or int, optional
        Column with the names of the rows: not a feature.
    drop : sequence of str or int
        Further columns that are not features.
    unlabelled : sequence
        Labels that mark unlabelled rows, besides empty cells, ``NA`` and ``?``.
    missing : {"error", "median", "drop-columns", "drop-rows"}
        What to do about missing values.
    categorical : {"error", "onehot", "ordinal"}
        What to do about columns of categories.
    categories : sequence of str or int
        Columns of categories, though they may hold numbers.
    na : sequence of str
        Cells that mean "missing", besides empty ones, ``NA``, ``?`` and the like.
    labels_per_class : int, optional
        Hide all but so many labels of each class, for a trial on labelled data.
    seed : int
        Decides which labels are kept.
    format : str, optional
        Where the ending of the name does not tell.
    transpose : bool
        The file has features in rows.
    matrix : str, optional
        Which array of the file holds the values (npz, mat), or which layer (h5ad).
    separator, encoding, header, decimal_comma
        How a text table is written; see `ReadOptions`.
    append_unlabelled : bool
        Append the rows that an npz keeps apart as unlabelled.

    Returns
    -------
    Dataset
        Its ``X`` and ``y`` go into ``fit``, and ``must_link`` and ``cannot_link`` where there are
        such pairs.

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
    dropped = _words(drop)
    options = ReadOptions(
        transpose=transpose,
        matrix=matrix,
        separator=separator,
        encoding=encoding,
        header=header,
        decimal_comma=decimal_comma,
        append_unlabelled=append_unlabelled,
        drop=dropped,
    )
    choices = Choices(
        label=LabelChoice(
            column=None if label is None else str(label),
            labels_table=None if labels is None else read(labels, options.for_labels),
            unlabelled=_words(unlabelled),
            id=None if id is None else str(id),
        ),
        labels_per_class=labels_per_class,
        seed=seed,
        id=None if id is None else str(id),
        drop=dropped,
        missing=missing,
        categorical=categorical,
        categories=_words(categories),
        missing_values=_words(na),
        decimal_comma=decimal_comma,
        pairs=PairFiles(must_link, cannot_link),
    )
    return prepare(read(path, options, format), choices)


def _words(given: Any) -> tuple[str, ...]:
    """Return one value or several as words."""
    return (str(given),) if isinstance(given, (str, int, float)) else tuple(map(str, given))


def _module(form: str) -> Any:
    return importlib.import_module(f"semisift.tables.{FORMATS[form].module}")
