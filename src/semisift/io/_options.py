"""Reading options: each is spelled once, here.

`read_table` takes its parameters and their documentation from the fields of `Reading`, the command
line its options and their help, and messages the way in which the user says them.
"""

import inspect
import os
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import Field, dataclass, field, fields
from numbers import Real
from typing import Any, ClassVar, NamedTuple

from semisift.exceptions import TableError
from semisift.utils._memory import read_size
from semisift.utils._text import is_writable, quote

MAX_VALUE = 60

# Options whose flag is another word than their name in Python.


class Format(NamedTuple):
    """A kind of file: its module, how names end (in lower case; none for a folder), what it is.

    Where a reduced table is not written in its own form: in which ones instead.
    """

    module: str
    endings: tuple[str, ...]
    about: str
    written: tuple[str, ...] = ()


PLAIN = ("csv", "tsv", "parquet")


SHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
SERIES = ("_series_matrix.txt", "_series_matrix.txt.gz")
SVM = (".svmlight", ".libsvm", ".svm", ".svmlight.gz", ".libsvm.gz", ".svm.gz")

FORMATS: dict[str, Format] = {
    "csv": Format("text", (".csv", ".csv.gz", ".txt", ".txt.gz"), "text, comma or semicolon"),
    "tsv": Format("text", (".tsv", ".tsv.gz", ".tab", ".tab.gz"), "text, tab"),
    "parquet": Format("parquet", (".parquet", ".pq"), "Apache Parquet"),
    "npz": Format("npz", (".npz",), "arrays of numpy, dense or sparse"),
    "mat": Format("matlab", (".mat",), "MATLAB; version 7.3 needs the extra hdf5"),
    "xlsx": Format("xlsx", SHEETS, "Excel or LibreOffice; needs the extra excel", PLAIN),
    "geo": Format("geo", SERIES, "a series matrix of GEO, with facts of the samples", PLAIN),
    "gct": Format("gct", (".gct", ".gct.gz"), "GenePattern, version 1.2 or 1.3", PLAIN),
    "arff": Format("arff", (".arff", ".arff.gz"), "Weka, dense or sparse"),
    "svmlight": Format("svmlight", SVM, "svmlight and libsvm"),
    "mtx": Format("mtx", (".mtx", ".mtx.gz"), "Matrix Market"),
    "10x": Format("tenx", (), "a folder with matrix.mtx, features.tsv and barcodes.tsv"),
    "10x-h5": Format("tenx_h5", (".h5",), "Cell Ranger; needs the extra hdf5", ("npz",)),
    "h5ad": Format("h5ad", (".h5ad",), "AnnData; needs the extra anndata"),
    "zarr": Format("zarr_store", (".zarr",), "a folder of AnnData; needs the extra anndata"),
}

# Formats whose values may stay in the file.
STORED = ("h5ad", "zarr", "parquet")

# Formats of single cells, whose counts are brought to one total unless the user says otherwise.
OF_CELLS = ("h5ad", "zarr", "10x", "10x-h5")

# Formats with more than one column that could name the features.
HAVE_SEVERAL_NAMES = ("h5ad", "zarr", "10x", "10x-h5", "gct")

HAVE_SEVERAL_MATRICES = ("npz", "mat", "xlsx", "10x-h5", "h5ad", "zarr")


def _option(default: Any, about: str, kind: str = "", choices: tuple[str, ...] = ()) -> Any:
    """Declare an option: its default, what it does, what its values are."""
    return field(default=default, metadata={"about": about, "kind": kind, "choices": choices})


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """Options of reading any table."""

    supports_out_of_core: ClassVar[bool] = False
    """Whether the values of a large table may stay in its file."""

    totals_from_sample: ClassVar[bool] = False
    """Whether the median total of counts that stay there may be that of some rows."""

    label: str | None = _option(
        None, "Column with the labels, by name or number (the first is 1, the last -1).", "COLUMN"
    )
    id: str | None = _option(None, "Column with the names of the rows; not a feature.", "COLUMN")
    group: str | None = _option(
        None,
        "Column with groups of rows, such as donors: a group is never split between bags, halves "
        "of the rows, or training and test. Not a feature.",
        "COLUMN",
    )
    drop: tuple[str, ...] = _option((), "Column that is not a feature.", "COLUMN")
    unlabelled: tuple[str, ...] = _option(
        (), "Label of unlabelled rows, as empty cells, NA and ? always are.", "VALUE"
    )
    missing: str = _option(
        "error",
        "What to do about missing values; keep is for methods that accept them.",
        choices=("error", "keep", "median", "drop-columns", "drop-rows"),
    )
    na: tuple[str, ...] = _option(
        (), "Cell that means a missing value, besides empty cells, NA, NaN, NULL and ?.", "VALUE"
    )
    categorical: str = _option(
        "error",
        "What to do about columns of words: a column for each category, or one of numbers.",
        choices=("error", "onehot", "ordinal"),
    )
    category: tuple[str, ...] = _option(
        (), "Column of categories, though it holds numbers.", "COLUMN"
    )
    duplicates: str = _option(
        "refuse",
        "What to do about features of the same name: refuse them, or number them.",
        choices=("refuse", "number"),
    )
    normalize: bool | None = _option(
        None,
        "Bring the counts of each row to the median total and take log(1 + x); by default where "
        f"{', '.join(OF_CELLS)} files hold counts.",
    )
    transpose: bool = _option(False, "The file has features in rows.")
    format: str | None = _option(
        None,
        f"Format of a file whose name does not end with it: {', '.join(FORMATS)}.",
        "NAME",
        choices=tuple(FORMATS),
    )
    matrix: str | None = _option(
        None,
        "The array with the values (npz, mat), layer (h5ad, zarr), sheet (xlsx), genome (10x-h5).",
        "NAME",
    )
    names_from: str | None = _option(
        None,
        "Column with the names of the features: of var (h5ad, zarr), id or name (10x, 10x-h5), or "
        "before the samples (gct).",
        "NAME",
    )
    append_unlabelled: bool = _option(False, "Append the unlabelled rows (u_X) of an npz file.")
    separator: str | None = _option(
        None, "Between the cells of a text table: a character, or tab.", "CHAR"
    )
    encoding: str = _option("utf-8", "Encoding of a text table.")
    header: bool | None = _option(None, "Whether the first line of a text table holds names.")
    decimal_comma: bool = _option(False, "Numbers are written 1,5 instead of 1.5.")

    def check(self) -> None:
        """Raise a TableError for a value that no table can be read with."""
        for each in fields(self):
            value, choices = getattr(self, each.name), each.metadata.get("choices")
            if choices and value is not None and value not in choices:
                known = ", ".join(choices)
                raise TableError(f"{_named(each.name)} must be one of {known}: got {value!r}.")
        for name in ("separator", "encoding"):
            if (value := getattr(self, name)) is not None and not is_writable(value):
                raise TableError(f"{_named(name)} must be a text: got {quote(value)}.")
        if self.separator is not None and len(self.between_cells or "") != 1:
            rule = "must be a single character, or tab"
            raise TableError(f"{_named('separator')} {rule}: got {self.separator!r}.")

    @property
    def between_cells(self) -> str | None:
        """The separator, which is easily written as a word."""
        return "\t" if self.separator in ("tab", "\\t") else self.separator

    @property
    def for_one_table(self) -> "Reading":
        """The same for a table that no other file belongs to."""
        return Reading(**{each.name: getattr(self, each.name) for each in fields(TableOptions)})


@dataclass(frozen=True, kw_only=True)
class Reading(TableOptions):
    """Options of reading one table and the files beside it."""

    supports_out_of_core = True

    batch: str | None = _option(
        None,
        "Column with batches of rows, whose differences are removed before ranking. Not a feature.",
        "COLUMN",
    )
    weight: str | None = _option(
        None, "Column with the weight of each row, 0 or more. Not a feature.", "COLUMN"
    )
    labels: str | None = _option(
        None,
        "File with the labels: row names and labels, or labels alone in the order of the rows.",
        "FILE",
    )
    must_link: str | None = _option(
        None,
        "File with pairs of rows of the same class: two columns with the names of the rows, or "
        "their numbers from 1. Labels are then optional.",
        "FILE",
    )
    cannot_link: str | None = _option(
        None, "File with pairs of rows of different classes, in the same form.", "FILE"
    )
    labels_per_class: int | None = _option(
        None,
        "Hide all but K labels of each class, to test predictions on the hidden ones.",
        "K",
    )
    log: bool = _option(False, "Take log(1 + x) of every column of numbers, none of them negative.")
    max_memory: int | str | None = _option(
        None,
        "Memory for the values and the copies that a ranking needs, as in 4GB; half of what is "
        "free by default. Rows of h5ad, zarr and Parquet files that need more stay in the file.",
        "SIZE",
    )
    cache_dir: str | None = _option(
        None,
        "Keep finished passes over rows in a file here: a second start goes on from there.",
        "FOLDER",
    )
    seed: int = _option(0, "Decides which labels are hidden.", "N")

    @classmethod
    def of(cls, **options: Any) -> "Reading":
        """Return options as Python users give them: numbers of columns, one value or several."""
        known = {each.name: each for each in fields(cls)}
        if unknown := [name for name in options if name not in known]:
            has = ", ".join(known)
            raise TypeError(f"read_table has no parameter {unknown[0]!r}. It has {has}.")
        try:
            return cls(**{name: _parse(value, known[name]) for name, value in options.items()})
        except ValueError as error:
            raise TableError(str(error)) from error

    def check(self) -> None:
        """Raise a TableError for a value that no table can be read with."""
        from semisift.utils._validation import check_integer  # not for --help: it needs numpy

        super().check()
        if self.log and self.normalize:
            both = (
                f"{format_option('normalize', True)} and {format_option('log', True)} take the "
                "same logarithms"
            )
            raise TableError(f"{both}: give one of them.")
        try:
            check_integer(self.labels_per_class, _named("labels_per_class"), or_none=True)
            if self.max_memory is not None:
                read_size(self.max_memory, _named("max_memory"))
        except ValueError as error:
            raise TableError(str(error)) from error


def _parse(value: Any, option: Field[Any]) -> Any:
    """Return the value of an option as the command line has it, or raise a ValueError."""
    from semisift.utils import _validation as validation  # not for --help: it needs numpy

    name, kind, default = option.name, option.metadata["kind"], option.default
    if isinstance(default, tuple):
        is_list = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
        given = [*value] if is_list else [value]
        if not all(isinstance(each, str | Real) for each in given):
            rule = "one text or number, or a list of them"
            raise ValueError(f"{name} must be {rule}: got {quote(value)}.")
        return tuple(map(str, given))
    if "bool" in str(option.type):
        validation.check_flag(value, name, or_none=default is None)
    elif value is None and default is None:
        return None
    elif kind in ("FILE", "FOLDER"):
        validation.check_path(value, name)
        return os.fspath(value)
    elif kind == "COLUMN":
        if not isinstance(value, str) and not validation.is_integer(value):
            raise ValueError(f"{name} must be the name or number of a column: got {quote(value)}.")
        return str(value)
    elif kind == "N":
        validation.check_integer(value, name, 0, validation.LARGEST_SEED)
    elif kind not in ("K", "SIZE"):  # which `check` looks at
        validation.check_text(value, name)
    return value


TYPES = {"FILE": "str or Path", "FOLDER": "str or Path", "COLUMN": "str or int"}
TYPES |= {"K": "int", "N": "int", "SIZE": "int or str"}


def takes_options(function: Any) -> Any:
    """Give a function the parameters of `Reading`, and their documentation for ``{options}``."""
    lines = []
    for each in fields(Reading):
        kind = "bool" if "bool" in str(each.type) else TYPES.get(each.metadata["kind"], "str")
        if choices := each.metadata["choices"]:
            kind = "{" + ", ".join(f'"{choice}"' for choice in choices) + "}"
        kind += ", or several" if isinstance(each.default, tuple) else ""
        about = textwrap.fill(each.metadata["about"], 92, subsequent_indent=" " * 4)
        lines += [f"{each.name} : {kind}, default={each.default!r}", f"    {about}"]
    own, options = inspect.signature(function), inspect.signature(Reading).parameters.values()
    function.__signature__ = own.replace(parameters=[own.parameters["path"], *options])
    # newer versions of Python have taken the margin from it already
    text = inspect.cleandoc(function.__doc__ or "")
    function.__doc__ = text.replace("{options}", "\n".join(lines))
    return function


# --- how an option is written ---------------------------------------------------------------------

_uses_flags: ContextVar[bool] = ContextVar("uses_flags", default=False)


@contextmanager
def options_as_flags() -> Iterator[None]:
    """Let messages name the options of the command line, rather than parameters of Python."""
    token = _uses_flags.set(True)
    try:
        yield
    finally:
        _uses_flags.reset(token)


def format_option(name: str, value: str | bool | None = None) -> str:
    """Write an option, perhaps with a value, as the user would.

    Examples
    --------
    >>> format_option("na", "<3"), format_option("drop"), format_option("transpose", True)
    ("na='<3'", 'drop=...', 'transpose=True')
    >>> with options_as_flags():
    ...     format_option("na", "<3"), format_option("drop"), format_option("header", False)
    ("--na '<3'", '--drop', '--no-header')
    """
    is_long = isinstance(value, str) and len(value) > MAX_VALUE
    if not _uses_flags.get():
        return f"{name}=..." if value is None or is_long else f"{name}={value!r}"
    flag = f"--{'no-' if value is False else ''}{name.replace('_', '-')}"
    if not isinstance(value, str):
        return flag
    if is_long:
        return f"{flag} with its name or number"
    typed = value if re.fullmatch(r"[\w.+-]+", value) else "'" + value.replace("'", "'\\''") + "'"
    return f"{flag} {typed}"


def _named(name: str) -> str:
    return format_option(name).removesuffix("=...")
