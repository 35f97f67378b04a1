"""ARFF, the format of Weka: a head that declares attributes, then a line for each row.

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
from semisift.io._options import TableOptions
from semisift.io._table import FileTable, check_unique

NUMERIC = ("numeric", "real", "integer")
QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
NAME = re.compile(rf"({QUOTED}|[^\s{{}}]++)\s*+(.*)", re.DOTALL)
# A value, quoted or not, up to the next comma or remark.
VALUE = re.compile(rf"\s*+(?:({QUOTED})\s*+|([^,%]*+))(,|%|$)")
FINITE = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
KEYWORD = re.compile(r"\s*@(relation|attribute|data)\b[ \t]*+(.*)", re.IGNORECASE)
ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
# An attribute and its value in a sparse row, as Polars searches them.
ITEM = rf"\s*(\d+)\s+({QUOTED}|[^,\s'\"]+)\s*(?:,|$)"


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
    def codes(self) -> tuple[float, float] | None:
        """The values of a nominal attribute that are two numbers, and so can be counted with."""
        if self.is_label or len(self.categories) != 2:
            return None
        if not all(map(FINITE.fullmatch, self.categories)):
            return None
        first, second = map(float, self.categories)
        return None if first == second else (first, second)

    @property
    def is_numeric(self) -> bool:
        """Whether 0 may be left out: it is a number, or nominal with the values 0 and another."""
        if self.codes is not None:
            return self.codes[0] == 0
        return self.kind == "numeric" and not self.is_label

    @property
    def default(self) -> str | None:
        """What a value is that is not written in a sparse row."""
        if self.kind == "numeric":
            return "0"
        return self.categories[0] if self.categories else None


Attributes = list[Attribute]
Column = TypeVar("Column", pl.Series, pl.Expr)


def read(path: Path, options: TableOptions) -> FileTable:
    """Read an ARFF file.

    Nominal attributes are text and count as categorical, but for the label and for those with just
    two values that are numbers, which become numbers.
    """
    fixed = "an ARFF file has features in columns, each with a type of its own"
    with reading(path, "ARFF", fixed=fixed, turn=options.transpose):
        every = decode(read_bytes(path), options.encoding).split("\n")
        relation, attributes, n_lines = _read_head(every)
        check_unique([attribute.name for attribute in attributes], "attribute")
        cells = pl.Series(every[n_lines:], dtype=pl.String).str.strip_chars()
        del every
        rows = (cells != "") & ~cells.str.starts_with("%")
        texts, lines = cells.filter(rows), rows.arg_true().to_numpy() + n_lines + 1
        if not len(texts):
            raise FileError("there is no row after @data.")
        sparse = texts[0].startswith("{")
        X, frame = (_parse_sparse if sparse else _parse)(attributes, texts, lines)
        names, beside, categorical = frame.columns, pl.DataFrame(), frozenset[str]()
        if X is None:
            nominal = [a for a in attributes if a.kind == "nominal" and not a.is_label]
            categorical = frozenset(a.name for a in nominal if sparse or a.codes is None)
        else:
            names, beside = [a.name for a in attributes if a.is_numeric], frame
        return FileTable(
            path=path,
            form="arff",
            values=frame if X is None else X,
            names=names,
            rows=beside,
            label=next((a.name for a in attributes if a.is_label), None),
            categorical=categorical,
            first_line=int(lines[0]) if lines[-1] - lines[0] + 1 == len(lines) else None,
            details={"relation": relation, "attributes": attributes, "sparse": sparse},
        )


def write(table: FileTable, path: Path) -> None:
    """Write an ARFF file with the declarations of the one that was read."""
    there = {*table.names, *table.rows.columns}
    attributes = [each for each in table.details["attributes"] if each.name in there]
    with create(path) as file:
        declared = "\n".join(attribute.line for attribute in attributes)
        file.write(f"{table.details['relation']}\n\n{declared}\n\n@data\n".encode())
        if table.details["sparse"]:
            _write_sparse(table, attributes, file)
            return
        frame = table.values.select(a.name for a in attributes)
        others = [_as_text(frame[a.name], a) for a in attributes if a.kind != "numeric"]
        if numbers := [a.name for a in attributes if a.kind == "numeric"]:
            # at once: one column after the other takes ten times as long
            frame = frame.with_columns(_as_numbers(pl.col(numbers)))
        frame = frame.with_columns(others)
        frame.write_csv(file, include_header=False, quote_style="never", null_value="?")


# --- the head -------------------------------------------------------------------------------------


def _read_head(lines: list[str]) -> tuple[str, Attributes, int]:
    """Return the line with the name of the table, the attributes, and the number of @data."""
    relation = "@relation data"
    attributes: Attributes = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("%"):
            continue
        found = KEYWORD.match(line)
        if found is None:
            rule = "@relation, @attribute or @data, or be a remark that starts with %"
            raise FileError(f"line {number} must start with {rule}: got {line.strip()[:40]!r}.")
        keyword = found[1].lower()
        if keyword == "data":
            if not attributes:
                raise FileError(f"line {number}: @data, but there is no @attribute before.")
            return relation, attributes, number
        if keyword == "relation":
            relation = line.strip()
        else:
            attributes.append(_attribute(number, line.strip(), found[2].strip()))
    raise FileError("there is no line with @data. The file is cut, or is no ARFF file.")


def _attribute(number: int, line: str, rest: str) -> Attribute:
    found = NAME.fullmatch(rest)
    if found is None or not found[2]:
        rule = "A name with spaces stands between quotation marks"
        form = "'@attribute name type'"
        raise FileError(f"line {number} must read {form}: got {line[:60]!r}. {rule}.")
    name, kind = _unquote(found[1]), found[2].strip()
    if kind.startswith("{"):
        inside, closed, _ = kind[1:].rpartition("}")
        if not closed:
            raise FileError(f"line {number}: the list of values is not closed by }}.")
        values = _split_values(inside, remarks=False)
        if values is None or not inside.strip():
            rule = "separated by commas, and quoted where they hold a comma, quotation mark or %"
            raise FileError(f"line {number}: the values of {name!r} must be {rule}.")
        return Attribute(name, "nominal", line, tuple(value or "?" for value in values))
    word = kind.split()[0].lower()
    if word not in (*NUMERIC, "string", "date"):
        rule = "numeric, real, integer, string, date or a list of values {a, b}"
        raise FileError(f"line {number}: the type of {name!r} must be {rule}: got {kind[:40]!r}.")
    return Attribute(name, "numeric" if word in NUMERIC else word, line)


def _split_values(text: str, *, remarks: bool = True) -> list[str | None] | None:
    """Return the values of a line, split at commas outside quotation marks.

    None represents an unquoted ``?`` and for nothing. There is no list at all if the text is none
    of values. A % outside quotation marks starts a remark, where there may be some.
    """
    values: list[str | None] = []
    position = 0
    while found := VALUE.match(text, position):
        quoted, plain, end = found.groups()
        plain = (plain or "").strip()
        if plain[:1] in ("'", '"') or (end == "%" and not remarks):
            return None
        plain_value = None if plain in ("?", "") else plain
        values.append(plain_value if quoted is None else _unquote(quoted))
        if end != ",":
            return values
        position = found.end()
    return None


def _unquote(text: str) -> str:
    """Return a name or value without its quotation marks and escapes."""
    if text[:1] not in ("'", '"'):
        return text
    return re.sub(r"(?s)\\(.)", lambda found: ESCAPED.get(found[1], found[1]), text[1:-1])


# --- dense rows -----------------------------------------------------------------------------------


def _parse(
    attributes: Attributes, texts: pl.Series, lines: NDArray[Any]
) -> tuple[None, pl.DataFrame]:
    if texts.str.contains(r"""['"\\%]""").any():
        rows = []
        for text, line in zip(texts, lines, strict=True):
            if (values := _split_values(text)) is None:
                problem = "a quotation mark is not closed, or text follows a closed one"
                cure = "Correct the line; a quotation mark inside text is written \\' or \\\""
                raise FileError(f"line {line}: {problem}. {cure}.")
            rows.append(values)
        _check_widths(len(attributes), lines, pl.Series(map(len, rows)))
        columns = enumerate(zip(*rows, strict=True))
        frame = pl.DataFrame([pl.Series(str(j), cells, dtype=pl.String) for j, cells in columns])
    else:
        _check_widths(len(attributes), lines, texts.str.count_matches(",", literal=True) + 1)
        data = "\n".join(texts).encode()
        wanted = [pl.Float64 if a.kind == "numeric" else pl.String for a in attributes]
        try:  # numbers at once unless one of them is none
            frame = read_cells(data, wanted, null_values="?")
        except pl.exceptions.PolarsError:
            frame = read_cells(data, [pl.String] * len(attributes), null_values="?")
        frame = frame.with_columns(selectors.string().str.strip_chars())
    series = zip(frame.get_columns(), attributes, strict=True)
    return None, pl.DataFrame([_typed(column, a, lines) for column, a in series])


def _check_widths(n_columns: int, lines: NDArray[Any], widths: pl.Series) -> None:
    if (wrong := widths != n_columns).any():
        row = wrong.arg_max() or 0
        problem = f"line {lines[row]} has {widths[row]} values for {n_columns} attributes"
        cure = "Look for a missing or an extra comma in it; text that holds a comma must be quoted"
        raise FileError(f"{problem}. {cure}.")


def _typed(cells: pl.Series, attribute: Attribute, lines: NDArray[Any]) -> pl.Series:
    """Return a column of text (null where missing) in the type of its attribute."""
    cells = cells.alias(attribute.name)
    if cells.dtype != pl.String or attribute.kind in ("string", "date"):
        return cells
    numbers = cells.cast(pl.Float64, strict=False)
    if attribute.kind == "nominal":
        wrong = cells.is_in(attribute.categories).not_()
        result = cells if attribute.codes is None else numbers
        rule = f"one of {', '.join(map(repr, attribute.categories[:5]))}"
        rule += ", ..." if len(attribute.categories) > 5 else ""
    else:
        result, rule = numbers, "a number"
        wrong = numbers.is_null() & cells.is_not_null()
    if wrong.any():
        row = wrong.arg_max() or 0
        problem = f"line {lines[row]}: the value of {attribute.name!r} must be {rule}"
        cure = "Correct it, or its @attribute line"
        got = f"got {cells[row][:40]!r}"
        raise FileError(f"{problem}, or ? where it is missing: {got}. {cure}.")
    return result


def _as_text(series: pl.Series, attribute: Attribute) -> pl.Series:
    """Return a column as the file writes it: quoted where needed, null where missing."""
    if attribute.codes is not None:
        words = list(attribute.categories)
        return series.replace_strict(attribute.codes, words, default=None, return_dtype=pl.String)
    if series.dtype.is_numeric():
        return _as_numbers(series)
    needs_quotes = series.str.contains(r"""[\s,{}%'"\\]""") | series.is_in(["", "?"])
    escaped = series.str.replace_all(r"""(['\\])""", r"\$1")
    for letter, character in ESCAPED.items():
        escaped = escaped.str.replace_all(character, rf"\{letter}", literal=True)
    quoted = "'" + escaped + "'"
    return quoted.zip_with(needs_quotes.fill_null(False), series).alias(series.name)


def _as_numbers(column: Column) -> Column:
    """Return numbers as the file writes them, null where missing."""
    return column.fill_nan(None).cast(pl.String).str.strip_suffix(".0")


# --- sparse rows ----------------------------------------------------------------------------------


def _parse_sparse(
    attributes: Attributes, texts: pl.Series, lines: NDArray[Any]
) -> tuple[csr_array | None, pl.DataFrame]:
    """Return the numeric attributes, if any, as a matrix, and the others as columns."""
    numeric = np.array([attribute.is_numeric for attribute in attributes])
    entries = _entries(attributes, texts, lines)
    is_number = pl.Series(numeric[entries["attribute"].to_numpy()])
    written = entries.filter(~is_number).partition_by("attribute", as_dict=True)
    entries = entries.filter(is_number)
    columns = []
    for j in np.flatnonzero(~numeric).tolist():
        cells = pl.Series([attributes[j].default], dtype=pl.String).new_from_index(0, len(lines))
        if (part := written.get((j,))) is not None:
            cells = cells.scatter(part["row"], part["text"])
        columns.append(_typed(cells, attributes[j], lines))
    others = pl.DataFrame(columns)
    if not numeric.any():
        return None, others
    column = (np.cumsum(numeric) - 1)[entries["attribute"].to_numpy()]
    data = _numbers(attributes, entries, lines)
    X = from_coordinates(data, entries["row"].to_numpy(), column, (len(texts), numeric.sum()))
    X.eliminate_zeros()
    return X, others


def _entries(attributes: Attributes, texts: pl.Series, lines: NDArray[Any]) -> pl.DataFrame:
    """Return what is written out: the row, the attribute and the text (or null) of each value."""
    inside = texts.str.strip_prefix("{").str.strip_suffix("}").str.strip_chars()
    is_row = texts.str.starts_with("{") & texts.str.ends_with("}")
    is_row &= inside.str.replace_all(ITEM, "") == ""
    if not is_row.all():
        first = is_row.not_().arg_max() or 0
        rule = "numbers of attributes with their values between braces, such as {0 1.5, 3 yes}"
        got = f"as the first row does: got {texts[first][:60]!r}"
        raise FileError(f"line {lines[first]} must list {rule}, {got}.")
    items = inside.str.extract_all(ITEM)
    row = np.repeat(np.arange(len(texts)), items.list.len().to_numpy())
    items = items.filter(items.list.len() > 0).explode()
    places = items.str.extract(ITEM, 1).cast(pl.Int64, strict=False).fill_null(-1)
    if (wrong := places.is_between(0, len(attributes) - 1).not_()).any():
        first = wrong.arg_max() or 0
        got = items[first].split()[0][:40]
        rule = f"they are counted from 0 to {len(attributes) - 1}"
        raise FileError(f"line {lines[row[first]]} names attribute {got}; {rule}.")
    cells = items.str.extract(ITEM, 2)
    cells = cells.set(cells == "?", None)
    quoted = cells.str.contains("""^['"]""").fill_null(False)
    if quoted.any():
        cells = cells.scatter(quoted.arg_true(), [_unquote(cell) for cell in cells.filter(quoted)])
    entries = _as_entries(row, places.to_numpy(), cells).sort("row", "attribute")
    twice = entries.filter(entries.select("row", "attribute").is_duplicated())
    if len(twice):
        i, j, _ = twice.row(0)
        raise FileError(f"line {lines[i]} gives attribute {j} ({attributes[j].name!r}) twice.")
    return entries


def _as_entries(row: NDArray[Any], attribute: NDArray[Any], text: pl.Series) -> pl.DataFrame:
    places = {"row": row.astype(np.int64), "attribute": attribute.astype(np.int64)}
    return pl.DataFrame({**places, "text": text})


def _numbers(attributes: Attributes, entries: pl.DataFrame, lines: NDArray[Any]) -> NDArray[Any]:
    """Return the values of the numeric attributes, NaN where missing."""
    data = entries["text"].cast(pl.Float64, strict=False)
    which, values = entries["attribute"].to_numpy(), data.fill_null(np.nan).to_numpy()
    codes = np.array([a.codes or (np.nan, np.nan) for a in attributes])[which]
    strange = ~np.isnan(codes[:, 0]) & (values[:, None] != codes).all(axis=1)
    wrong = (data.is_null() | pl.Series(strange)) & entries["text"].is_not_null()
    if wrong.any():
        row, j, cell = entries.filter(wrong).row(0)
        declared = f"which is declared as {attributes[j].line[:80]!r}"
        problem = f"{cell[:40]!r} is no value of {attributes[j].name!r}"
        raise FileError(f"line {lines[row]}: {problem}, {declared}.")
    return values


def _write_sparse(table: FileTable, attributes: Attributes, file: IO[bytes]) -> None:
    """Write the rows of a table that was read from sparse rows."""
    place = {attribute.name: j for j, attribute in enumerate(attributes)}
    parts = []
    if not table.is_frame:
        X = table.values.tocoo()
        columns = np.array([place[name] for name in table.names])[X.col]
        coded = np.array(["" if a.codes is None else a.categories[1] for a in attributes])[columns]
        plain = _as_numbers(pl.Series(X.data))
        text = pl.Series(coded.tolist(), dtype=pl.String)
        text = plain.zip_with((text == "") | plain.is_null(), text)
        parts.append(_as_entries(X.row, columns, text))
    for series in table.values if table.is_frame else table.rows:
        attribute = attributes[place[series.name]]
        default = pl.Series([attribute.default], dtype=pl.String).cast(series.dtype)
        rows = series.ne_missing(default).arg_true()
        cells = _as_text(series.gather(rows), attribute)
        parts.append(_as_entries(rows.to_numpy(), np.full(len(rows), place[series.name]), cells))
    every = pl.concat(parts).sort("row", "attribute")
    items = (every["attribute"].cast(pl.String) + " " + every["text"].fill_null("?")).to_list()
    counts = np.bincount(every["row"].to_numpy(), minlength=table.n_rows)
    for start, stop in pairwise([0, *np.cumsum(counts).tolist()]):
        file.write(b"{" + ", ".join(items[start:stop]).encode() + b"}\n")
