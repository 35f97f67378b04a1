"""Files that say what is known of features: names, groups of them, and weights.

Names stand one in a line, or in the first column of a text table; groups in a table with the
columns feature and group, or in a gmt file (name, description and members between tabs); weights
in a table with the columns feature and weight.
"""

from collections.abc import Collection, Sequence, Sized
from pathlib import Path
from typing import TypeVar

from semisift.io._formats import text
from semisift.io._guards import FileError, naming, read_bytes
from semisift.io._options import TableOptions
from semisift.io._table import is_number
from semisift.utils._text import quote

# What people write above a column of names.
HEADINGS = ("", "feature", "features", "name", "names", "column", "gene", "genes", "variable")

GMT = (".gmt", ".gmt.gz")

Found = TypeVar("Found", bound=Sized)


def read_names(given: str, known: Collection[str]) -> list[str]:
    """Read names from a file, or between commas where there is no such file.

    Parameters
    ----------
    given : str
        The path of a file, or names.
    known : collection of str
        The features that there are: a first line that is one of them is no heading.

    Returns
    -------
    list of str
        Each name once, in its order.
    """
    path = Path(given)
    if not path.is_file():
        names = [name.strip() for name in given.split(",")]
        missing = given not in known and not any(name in known for name in names)
        if missing and path.suffix:
            with naming(path):
                raise FileError("there is no such file, and no feature is called so.")
        return [given] if given in known else _filled(_each_once(names), "name")
    with naming(path):
        content = text.decode(read_bytes(path), TableOptions().encoding)
        lines = [line for line in content.splitlines() if line.strip()]
        # a whole line may be a name with a comma in it
        if not any(line.strip() in known for line in lines):
            lines = [cells[0] for cells in _cells(path)]
        names = [line.strip() for line in lines]
        if names and names[0] not in known and names[0].lower() in HEADINGS:
            names = names[1:]
        return _filled(_each_once(names), "name")


def read_groups(given: str, known: Collection[str] = ()) -> dict[str, list[str]]:
    """Read groups of features.

    Parameters
    ----------
    given : str
        The path of a file.
    known : collection of str
        The features that there are.

    Returns
    -------
    dict of str to list of str
        The members of each group.
    """
    path = _existing(given)
    with naming(path):
        groups: dict[str, list[str]] = {}
        if path.name.lower().endswith(GMT):
            content = text.decode(read_bytes(path), TableOptions().encoding)
            for number, line in enumerate(content.splitlines(), start=1):
                name, *rest = line.split("\t")
                members = [cell.strip() for cell in rest[1:] if cell.strip()]
                if not line.strip():
                    continue
                if not members:
                    raise FileError(
                        f"line {number}: a line of a gmt file is a name, a description and the "
                        f"members, between tabs: got {quote(line)}."
                    )
                groups.setdefault(name.strip(), []).extend(members)
        else:
            for feature, group in _two_columns(path, "group", known):
                groups.setdefault(group, []).append(feature)
        return {name: _each_once(members) for name, members in _filled(groups, "group").items()}


def read_weights(given: str, known: Collection[str] = ()) -> dict[str, float]:
    """Read the weights of features.

    Parameters
    ----------
    given : str
        The path of a file.
    known : collection of str
        The features that there are.

    Returns
    -------
    dict of str to float
    """
    path = _existing(given)
    with naming(path):
        weights: dict[str, float] = {}
        for feature, weight in _two_columns(path, "weight", known):
            if not is_number(weight):
                raise FileError(f"the weight of {quote(feature)} is no number: {quote(weight)}.")
            if feature in weights:
                raise FileError(f"{quote(feature)} has two weights. Remove one of them.")
            weights[feature] = float(weight)
        return _filled(weights, "weight")


def _existing(given: str) -> Path:
    path = Path(given)
    if not path.is_file():
        with naming(path):
            raise FileError("there is no such file.")
    return path


def _cells(path: Path) -> list[tuple[str, ...]]:
    """Return the cells of a text table line by line, with its heading."""
    table = text.read(path, TableOptions(header=False))
    rows = table.values.fill_null("").iter_rows()
    return [tuple(str(cell).strip() for cell in row) for row in rows]


def _two_columns(path: Path, second: str, known: Collection[str]) -> list[tuple[str, str]]:
    """Return two columns of a table: those with the headings feature and `second`, or the first."""
    rows = _cells(path)
    if len(rows[0]) < 2:
        raise FileError(f"it must have the columns feature and {second}, and it has one.")
    places = _headed(rows[0], second, known)
    first, other = places or (0, 1)
    found = [(row[first], row[other]) for row in (rows[1:] if places else rows)]
    return [(feature, value) for feature, value in found if feature or value]


def _headed(line: Sequence[str], second: str, known: Collection[str]) -> tuple[int, int] | None:
    """Return the places of features and `second` below a line; None where it is no heading."""
    heading = [cell.lower() for cell in line]
    if "feature" in heading and second in heading:
        return heading.index("feature"), heading.index(second)
    is_feature = line[0] in known
    if second in heading[1:] and (heading[0] in HEADINGS or not is_feature):
        return 0, heading.index(second, 1)
    if is_feature or (second == "weight" and is_number(line[1])):
        return None
    if heading[0] == second:
        return next(((j, 0) for j, cell in enumerate(heading) if cell in HEADINGS), None)
    return (0, 1) if heading[0] in HEADINGS else None


def _each_once(names: list[str]) -> list[str]:
    return list(dict.fromkeys(name for name in names if name))


def _filled(found: Found, what: str) -> Found:
    if not found:
        raise FileError(f"it holds no {what}.")
    return found
