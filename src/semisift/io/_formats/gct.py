"""gct, the format of GenePattern: features in rows, perhaps with columns that describe them.

Version 1.2 has two columns before the samples, Name and Description. Version 1.3 says in its second
line how many columns describe the features, and how many lines describe the samples; these become
columns beside the values.
"""

import re
from pathlib import Path

import polars as pl

from semisift.io._formats._common import choose_names, reading
from semisift.io._formats._expression import as_table, read_lines, split_line, write
from semisift.io._formats.text import decode
from semisift.io._guards import FileError, damaged, read_bytes
from semisift.io._options import TableOptions
from semisift.io._table import FileTable
from semisift.utils._text import plural

__all__ = ["read", "write"]

# version -> how many numbers its second line has
SIZES = {"#1.2": 2, "#1.3": 4}


def read(path: Path, options: TableOptions) -> FileTable:
    """Read a gct file.

    Parameters
    ----------
    path : Path
        Unpacked on the way where it ends in ``.gz``.
    options : TableOptions
        `names_from` names one of the columns that describe the features.

    Returns
    -------
    FileTable
        Samples in rows, though the file has them in columns: the form says so.
    """
    fixed = "a gct file always has features in rows and samples in columns"
    with reading(path, "gct", fixed=fixed, turn=options.transpose):
        first, second, names, rest = _first_lines(decode(read_bytes(path), options.encoding))
        n_features, n_samples, n_about_features, n_about_samples = _sizes(first, second)
        headings, n_first = split_line(names), 1 + n_about_features
        if len(headings) != n_first + n_samples:
            raise damaged(
                f"line 2 tells of {plural(n_samples, 'sample')} after {plural(n_first, 'column')}, "
                f"and line 3 has {plural(len(headings), 'name')}"
            )
        if not rest.strip():
            raise FileError("the table has names but no row.")
        frame = read_lines(rest, len(headings), first_line=4)
        if frame.height != n_features + n_about_samples:
            raise damaged(
                f"line 2 tells of {n_features + n_about_samples} lines after the names, and there "
                f"are {frame.height}"
            )
        samples = frame[:, n_first:]
        about = zip(frame[:n_about_samples, 0], samples[:n_about_samples].iter_rows(), strict=True)
        rows = frame[n_about_samples:]
        columns = dict(zip(headings, rows[:, :n_first].get_columns(), strict=False))
        features, notes = _names(columns, headings[0], options)
        return as_table(
            path,
            "gct",
            samples[n_about_samples:],
            options,
            features=(headings[0], features),
            samples=headings[n_first:],
            about={str(name): list(cells) for name, cells in about},
            notes=notes,
        )


def _first_lines(text: str) -> list[str]:
    lines = text.split("\n", 3)
    return [*lines, *[""] * (4 - len(lines))]


def _sizes(version: str, sizes: str) -> tuple[int, int, int, int]:
    """Return how many features, samples, columns about features and lines about samples follow."""
    n_sizes = SIZES.get(version.strip())
    if n_sizes is None:
        raise FileError(
            f"the first line must be {' or '.join(SIZES)}, the version of gct: got "
            f"{version[:40]!r}."
        )
    numbers = sizes.split()
    if len(numbers) != n_sizes or not all(re.fullmatch(r"\d{1,12}", each) for each in numbers):
        raise FileError(
            f"line 2 must hold {n_sizes} whole numbers in version {version.strip()}: got "
            f"{sizes[:40]!r}."
        )
    n_features, n_samples, *about = map(int, numbers)
    if not n_features or not n_samples:
        raise FileError(f"the table is empty: it has {n_features} features, {n_samples} samples.")
    n_about_features, n_about_samples = about or (1, 0)  # version 1.2 has a description
    return n_features, n_samples, n_about_features, n_about_samples


def _names(
    columns: dict[str, pl.Series], first: str, options: TableOptions
) -> tuple[list[str], tuple[str, ...]]:
    usual = columns[first].fill_null("").str.strip_chars().to_list()
    if options.names_from is None:
        return usual, ()
    return choose_names(columns, usual, options.names_from)
