"""The head of an ARFF file: which attributes there are, and of what kind.

ARFF, the format of Weka: a head that declares attributes, then a line for each row.

Dense rows (``1.5, 3, yes``) become a frame. Sparse rows (``{0 1.5, 2 yes}``) become a sparse matrix
of the numeric attributes, with the others beside it; what is left out is 0, or the first value that
a nominal attribute declares. An attribute called ``class`` holds the labels.
"""

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars import selectors
from scipy.sparse import csr_array

from semisift.io._formats._common import create, reading
from semisift.io._formats._sparse import from_coordinates
from semisift.io._formats.text import decode, read_cells
from semisift.io._guards import FileError, read_bytes
from semisift.io._options import TableOptions, said
from semisift.io._table import FileTable, check_unique

NUMERIC = ("numeric", "real", "integer")
QUOTED = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
NAME = re.compile(rf"({QUOTED}|[^\s{{}}]++)\s*+(.*)", re.DOTALL)
# A value, quoted or not, up to the next comma or remark.
VALUE = re.compile(rf"\s*+(?:({QUOTED})\s*+|([^,%]*+))(,|%|$)")
ESCAPE = re.compile(r"\\(.)", re.DOTALL)
ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
FINITE = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
KEYWORD = re.compile(r"\s*@(relation|attribute|data)\b[ \t]*+(.*)", re.IGNORECASE)


@dataclass(frozen=True)
class Attribute:
    """A column of the file.

    Attributes
    ----------
    name : str
    kind : str
        numeric, nominal, string or date.
    line : str
        The declaration as it stands in the file.
    categories : tuple of str
        Of a nominal attribute, in the order of the file.
    """

    name: str
    kind: str
    line: str
    categories: tuple[str, ...] = ()

    @property
    def is_label(self) -> bool:
        """Whether the name says that this is the class."""
        return self.name.lower() == "class"

    @property
    def is_coded(self) -> bool:
        """Whether it is nominal with two values that are numbers, and so can be counted with."""
        return (
            not self.is_label
            and len(self.categories) == 2
            and all(map(FINITE.fullmatch, self.categories))
            and float(self.categories[0]) != float(self.categories[1])
        )


def read_header(lines: list[str]) -> tuple[str, list[Attribute], int]:
    """Read the lines up to ``@data``.

    Parameters
    ----------
    lines : list of str
        Of the whole file.

    Returns
    -------
    relation : str
        The line with the name of the table, as it stands in the file.
    attributes : list of Attribute
    n_lines : int
        Up to and with ``@data``.
    """
    relation = "@relation data"
    attributes: list[Attribute] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("%"):
            continue
        found = KEYWORD.match(line)
        if found is None:
            raise FileError(
                f"line {number} must start with @relation, @attribute or @data, or be a remark "
                f"that starts with %: got {line.strip()[:40]!r}."
            )
        keyword, rest = found[1].lower(), found[2].strip()
        if keyword == "data":
            if not attributes:
                raise FileError(f"line {number}: @data, but there is no @attribute before.")
            return relation, attributes, number
        if keyword == "relation":
            relation = line.strip()
        else:
            attributes.append(_attribute(number, line.strip(), rest))
    raise FileError("there is no line with @data. The file is cut, or is no ARFF file.")


def _attribute(number: int, line: str, rest: str) -> Attribute:
    found = NAME.fullmatch(rest)
    if found is None or not found[2]:
        raise FileError(
            f"line {number} must read '@attribute name type': got {line[:60]!r}. A name with "
            "spaces stands between quotation marks."
        )
    name, kind = unquote(found[1]), found[2].strip()
    if kind.startswith("{"):
        inside, closed, _ = kind[1:].rpartition("}")
        if not closed:
            raise FileError(f"line {number}: the list of values is not closed by }}.")
        values = split_values(inside, remarks=False)
        if values is None or not inside.strip():
            raise FileError(
                f"line {number}: the values of {name!r} must be separated by commas, with "
                "quotation marks around those that hold a comma, a quotation mark or a %."
            )
        return Attribute(name, "nominal", line, tuple(value or "?" for value in values))
    word = kind.split()[0].lower()
    if word in NUMERIC:
        word = "numeric"
    elif word not in ("string", "date"):
        raise FileError(
            f"line {number}: the type of {name!r} must be numeric, real, integer, string, date or "
            f"a list of values {{a, b}}: got {kind[:40]!r}."
        )
    return Attribute(name, word, line)


def split_values(text: str, *, remarks: bool = True) -> list[str | None] | None:
    """Split a line at commas outside quotation marks.

    Parameters
    ----------
    text : str
    remarks : bool
        A % outside quotation marks starts a remark.

    Returns
    -------
    list of str or None
        None for an unquoted ``?`` and for nothing. No list at all if the text is no list of values.
    """
    values: list[str | None] = []
    position = 0
    while True:
        found = VALUE.match(text, position)
        if found is None:
            return None
        quoted, plain, end = found.groups()
        if quoted is not None:
            values.append(unquote(quoted))
        else:
            plain = plain.strip()
            if plain[:1] in ("'", '"'):
                return None
            values.append(None if plain in ("?", "") else plain)
        position = found.end()
        if end == "%" and not remarks:
            return None
        if end != ",":
            return values


def unquote(text: str) -> str:
    """Return a name or value without its quotation marks and escapes."""
    if text[:1] not in ("'", '"'):
        return text
    return ESCAPE.sub(lambda found: ESCAPED.get(found[1], found[1]), text[1:-1])


# --- arff -----------------------------------------------------------------------------------------


Attributes = list[Attribute]
Column = TypeVar("Column", pl.Series, pl.Expr)

ITEM = re.compile(rf"\s*+(\d++)\s++({QUOTED}|[^,\s'\"]++)\s*+(,|$)")


def read(path: Path, options: TableOptions) -> FileTable:
    """Read an ARFF file.

    Parameters
    ----------
    path : Path
        Unpacked on the way where it ends in ``.gz``.
    options : TableOptions
        `encoding` counts here too.

    Returns
    -------
    FileTable
        Nominal attributes are text and count as categorical, but for the label and for those with
        just two values that are numbers, which become numbers.
    """
    with reading(path, "ARFF"):
        if options.transpose:
            raise FileError(
                "an ARFF file has features in columns, each with a type of its own: leave out "
                f"{said('transpose', True)}."
            )
        every = decode(read_bytes(path), options.encoding).split("\n")
        relation, attributes, n_lines = read_header(every)
        check_unique([attribute.name for attribute in attributes], "attribute")
        data = enumerate(map(str.strip, every[n_lines:]), start=n_lines + 1)
        numbered = [(number, text) for number, text in data if text and not text.startswith("%")]
        if not numbered:
            raise FileError("there is no row after @data.")
        lines, texts = map(list, zip(*numbered, strict=True))
        sparse = texts[0].startswith("{")
        parse = _parse_sparse if sparse else _parse
        X, frame = parse(attributes, texts, lines)
        names, rows, categorical = frame.columns, pl.DataFrame(), frozenset[str]()
        if X is None:
            nominal = [a for a in attributes if a.kind == "nominal" and not a.is_label]
            categorical = frozenset(a.name for a in nominal if sparse or not a.is_coded)
        else:
            names, rows = [a.name for a in attributes if _is_numeric(a)], frame
        return FileTable(
            path=path,
            form="arff",
            values=frame if X is None else X,
            names=names,
            rows=rows,
            label=next((a.name for a in attributes if a.is_label), None),
            categorical=categorical,
            first_line=lines[0] if lines[-1] - lines[0] + 1 == len(lines) else None,
            details={"relation": relation, "attributes": attributes, "sparse": sparse},
        )


def write(table: FileTable, path: Path) -> None:
    """Write an ARFF file with the declarations of the one that was read.

    Parameters
    ----------
    table : FileTable
        As `read` returned it, perhaps with fewer columns.
    path : Path
        Packed if it ends in ``.gz``.
    """
    there = {*table.names, *table.rows.columns}
    attributes = [each for each in table.details["attributes"] if each.name in there]
    with create(path) as file:
        declared = "\n".join(attribute.line for attribute in attributes)
        file.write(f"{table.details['relation']}\n\n{declared}\n\n@data\n".encode())
        if not table.details["sparse"]:
            frame = table.values.select(a.name for a in attributes)
            others = [_as_text(frame[a.name], a) for a in attributes if a.kind != "numeric"]
            if numbers := [a.name for a in attributes if a.kind == "numeric"]:
                # at once: one column after the other takes ten times as long
                frame = frame.with_columns(_as_numbers(pl.col(numbers)))
            frame = frame.with_columns(others)
            frame.write_csv(file, include_header=False, quote_style="never", null_value="?")
        else:
            _write_sparse(table, attributes, file)


def _parse(attributes: Attributes, texts: list[str], lines: list[int]) -> tuple[None, pl.DataFrame]:
    data = "\n".join(texts)
    if any(mark in data for mark in "'\"\\%"):
        frame = _split_quoted(len(attributes), texts, lines)
    else:
        widths = [line.count(",") + 1 for line in texts]
        _check_widths(len(attributes), lines, widths)
        frame = _split_plain(data.encode(), attributes)
    series = zip(frame.get_columns(), attributes, strict=True)
    return None, pl.DataFrame([_typed(column, a, lines) for column, a in series])


def _split_plain(data: bytes, attributes: Attributes) -> pl.DataFrame:
    """Parse cells without quotation marks, numbers at once unless one of them is none."""
    wanted = [pl.Float64 if a.kind == "numeric" else pl.String for a in attributes]
    try:
        frame = read_cells(data, wanted, null_values="?")
    except pl.exceptions.PolarsError:
        frame = read_cells(data, [pl.String] * len(attributes), null_values="?")
    return frame.with_columns(selectors.string().str.strip_chars())


def _split_quoted(n_columns: int, texts: list[str], lines: list[int]) -> pl.DataFrame:
    rows = []
    for line, number in zip(texts, lines, strict=True):
        values = split_values(line)
        if values is None:
            raise FileError(
                f"line {number}: a quotation mark is not closed, or text follows a closed one. "
                "Correct the line; a quotation mark inside text is written \\' or \\\"."
            )
        rows.append(values)
    _check_widths(n_columns, lines, [len(row) for row in rows])
    columns = enumerate(zip(*rows, strict=True))
    return pl.DataFrame([pl.Series(str(j), cells, dtype=pl.String) for j, cells in columns])


def _check_widths(n_columns: int, numbers: list[int], widths: list[int]) -> None:
    for number, width in zip(numbers, widths, strict=True):
        if width != n_columns:
            raise FileError(
                f"line {number} has {width} values for {n_columns} attributes. Look for a missing "
                "or an extra comma in it; text that holds a comma must stand between quotation "
                "marks."
            )


# --- cells ----------------------------------------------------------------------------------------


def _typed(cells: pl.Series, attribute: Attribute, lines: list[int]) -> pl.Series:
    """Return a column in the type of its attribute.

    Parameters
    ----------
    cells : polars.Series
        Text, null where missing; or numbers already.
    attribute : Attribute
    lines : list of int
        In which line of the file each cell stands.

    Returns
    -------
    polars.Series
    """
    cells = cells.alias(attribute.name)
    if cells.dtype != pl.String or attribute.kind in ("string", "date"):
        return cells
    if attribute.kind == "nominal":
        wrong = cells.is_in(attribute.categories).not_()
        result = cells.cast(pl.Float64, strict=False) if attribute.is_coded else cells
        rule = f"one of {', '.join(map(repr, attribute.categories[:5]))}"
        rule += ", ..." if len(attribute.categories) > 5 else ""
    else:
        result = cells.cast(pl.Float64, strict=False)
        wrong = result.is_null() & cells.is_not_null()
        rule = "a number"
    if wrong.any():
        row = wrong.arg_max() or 0
        raise FileError(
            f"line {lines[row]}: the value of {attribute.name!r} must be {rule}, or ? where it is "
            f"missing: got {cells[row][:40]!r}. Correct it, or its @attribute line."
        )
    return result


def _as_text(series: pl.Series, attribute: Attribute) -> pl.Series:
    """Return a column as the file writes it: quoted where needed, null where missing."""
    if attribute.is_coded:
        codes = [float(category) for category in attribute.categories]
        cells = list(attribute.categories)
        return series.replace_strict(codes, cells, default=None, return_dtype=pl.String)
    if series.dtype.is_numeric():
        return _as_numbers(series)
    needs_quotes = series.str.contains(r"""[\s,{}%'"\\]""") | series.is_in(["", "?"])
    escaped = series.str.replace_all(r"""(['\\])""", r"\$1").str.replace_all("\n", r"\n")
    quoted = "'" + escaped.str.replace_all("\t", r"\t").str.replace_all("\r", r"\r") + "'"
    return quoted.zip_with(needs_quotes.fill_null(False), series).alias(series.name)


def _as_numbers(column: Column) -> Column:
    """Return numbers as the file writes them, null where missing."""
    return column.fill_nan(None).cast(pl.String).str.strip_suffix(".0")


# --- sparse rows ----------------------------------------------------------------------------------


def _parse_sparse(
    attributes: Attributes, texts: list[str], lines: list[int]
) -> tuple[csr_array | None, pl.DataFrame]:
    """Parse sparse rows.

    Parameters
    ----------
    attributes : list of Attribute
    texts : list of str
        The rows.
    lines : list of int
        The number of each in the file.

    Returns
    -------
    X : csr_array or None
        The numeric attributes, where there are such.
    others : polars.DataFrame
        The other attributes, with the first value where none is written.
    """
    entries = _entries(attributes, texts, lines)
    numeric = np.array([_is_numeric(attribute) for attribute in attributes])
    written = entries.partition_by("attribute", as_dict=True)
    columns = []
    for j in np.flatnonzero(~numeric).tolist():
        cells = pl.Series([_usual(attributes[j])] * len(lines), dtype=pl.String)
        if (part := written.get((j,))) is not None:
            cells = cells.scatter(part["row"], part["text"])
        columns.append(_typed(cells, attributes[j], lines))
    others = pl.DataFrame(columns)
    if not numeric.any():
        return None, others
    entries = entries.filter(pl.Series(numeric[entries["attribute"].to_numpy()]))
    column = (np.cumsum(numeric) - 1)[entries["attribute"].to_numpy()]
    data = _numbers(attributes, entries, lines)
    X = from_coordinates(data, entries["row"].to_numpy(), column, (len(texts), numeric.sum()))
    X.eliminate_zeros()
    return X, others


def _write_sparse(table: FileTable, attributes: Attributes, file: IO[bytes]) -> None:
    """Write the rows of a table that was read from sparse rows."""
    place = {attribute.name: j for j, attribute in enumerate(attributes)}
    parts = []
    if not table.is_frame:
        X = table.values.tocoo()
        columns = np.array([place[name] for name in table.names])[X.col]
        coded = np.array([a.categories[1] if a.is_coded else "" for a in attributes])[columns]
        plain = _as_numbers(pl.Series(X.data))
        text = pl.Series(coded.tolist(), dtype=pl.String)
        text = plain.zip_with((text == "") | plain.is_null(), text)
        parts.append(_entries_of(X.row, columns, text))
    for series in table.values if table.is_frame else table.rows:
        attribute = attributes[place[series.name]]
        usual = pl.Series([_usual(attribute)], dtype=pl.String).cast(series.dtype)
        rows = series.ne_missing(usual).arg_true()
        cells = _as_text(series.gather(rows), attribute)
        parts.append(_entries_of(rows.to_numpy(), np.full(len(rows), place[series.name]), cells))
    every = pl.concat(parts).sort("row", "attribute")
    items = (every["attribute"].cast(pl.String) + " " + every["text"].fill_null("?")).to_list()
    counts = np.bincount(every["row"].to_numpy(), minlength=table.n_rows)
    for start, stop in pairwise([0, *np.cumsum(counts).tolist()]):
        file.write(b"{" + ", ".join(items[start:stop]).encode() + b"}\n")


def _entries_of(row: NDArray[Any], attribute: NDArray[Any], text: pl.Series) -> pl.DataFrame:
    """Return what is written out: the row, the attribute and the text (or null) of each value."""
    places = {"row": row.astype(np.int64), "attribute": attribute.astype(np.int64)}
    return pl.DataFrame({**places, "text": text})


def _is_numeric(attribute: Attribute) -> bool:
    """Whether 0 may be left out: it is a number, or nominal with the values 0 and another."""
    coded = attribute.is_coded and float(attribute.categories[0]) == 0
    return coded or (attribute.kind == "numeric" and not attribute.is_label)


def _usual(attribute: Attribute) -> str | None:
    """Return what a value is that is not written."""
    if attribute.kind == "numeric":
        return "0"
    return attribute.categories[0] if attribute.categories else None


def _entries(attributes: Attributes, texts: list[str], lines: list[int]) -> pl.DataFrame:
    places: list[str] = []
    values: list[str | None] = []
    counts = []
    for text, line in zip(texts, lines, strict=True):
        items = _items(text)
        if items is None:
            raise FileError(
                f"line {line} must list numbers of attributes with their values between braces, "
                f"such as {{0 1.5, 3 yes}}, as the first row does: got {text[:60]!r}."
            )
        places += [item[0] for item in items]
        values += [item[1] for item in items]
        counts.append(len(items))
    row = np.repeat(np.arange(len(texts)), counts)
    number = pl.Series(places, dtype=pl.String).cast(pl.Int64, strict=False).fill_null(-1)
    wrong = number.is_between(0, len(attributes) - 1).not_().arg_true()
    if len(wrong):
        raise FileError(
            f"line {lines[row[wrong[0]]]} names attribute {places[wrong[0]][:40]}; they are "
            f"counted from 0 to {len(attributes) - 1}."
        )
    cells = pl.Series(values, dtype=pl.String)
    entries = _entries_of(row, number.to_numpy(), cells).sort("row", "attribute")
    twice = entries.filter(entries.select("row", "attribute").is_duplicated())
    if len(twice):
        i, j, _ = twice.row(0)
        raise FileError(f"line {lines[i]} gives attribute {j} ({attributes[j].name!r}) twice.")
    return entries


def _items(text: str) -> list[tuple[str, str | None]] | None:
    """Return the places and values of a row, or None if it is none."""
    if not (text.startswith("{") and text.endswith("}")):
        return None
    inside = text[1:-1].strip()
    found = list(ITEM.finditer(inside))
    if sum(len(item[0]) for item in found) < len(inside):
        return None
    return [(item[1], None if item[2] == "?" else unquote(item[2])) for item in found]


def _numbers(attributes: Attributes, entries: pl.DataFrame, lines: list[int]) -> NDArray[Any]:
    """Return the values of the numeric attributes, NaN where missing."""
    data = entries["text"].cast(pl.Float64, strict=False)
    which, values = entries["attribute"].to_numpy(), data.fill_null(np.nan).to_numpy()
    codes = np.array(
        [list(map(float, a.categories)) if a.is_coded else [np.nan] * 2 for a in attributes]
    )[which]
    strange = ~np.isnan(codes[:, 0]) & (values[:, None] != codes).all(axis=1)
    wrong = (data.is_null() | pl.Series(strange)) & entries["text"].is_not_null()
    if wrong.any():
        row, j, cell = entries.filter(wrong).row(0)
        raise FileError(
            f"line {lines[row]}: {cell[:40]!r} is no value of {attributes[j].name!r}, which is "
            f"declared as {attributes[j].line[:80]!r}."
        )
    return values
