"""The head of an ARFF file: which attributes there are, and of what kind."""

import re
from dataclasses import dataclass

from semisift.io.limits import FileError

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
