"""The page of what stays the same when a table is reordered."""

import tomllib
from pathlib import Path

from _site.files import table, write
from semisift import CLASSIFIERS, METHODS

COLUMNS = {
    "columns": "the columns are in another order",
    "rows": "the unlabelled rows are in another order",
    "names": "the classes have other names, which sort in another order",
    "engines": "numpy serves in place of the compiled kernels",
}


def make(docs: Path) -> None:
    """Write the page."""
    write(docs / "api" / "what-stays-the-same.md", page(docs))


def page(docs: Path) -> str:
    """Return the page, made of docs/promises.toml."""
    promises = tomllib.loads((docs / "promises.toml").read_text("utf-8"))
    words = promises.pop("words")
    legend = table(
        ["word", "what it promises"],
        [[f"**{word}**", " ".join(text.split())] for word, text in words.items()],
    )
    sections = []
    for title, entries in (("Rankers", METHODS), ("Classifiers", CLASSIFIERS)):
        rows = [
            [f"[{name}](../methods/{name}.md)", *(promises[name][column] for column in COLUMNS)]
            for name in entries
        ]
        sections.append(f"## {title}\n\n{table(['method', *COLUMNS], rows)}")
    changes = table(["column", "where"], [[f"**{name}**", text] for name, text in COLUMNS.items()])
    return (
        "# What stays the same\n\n"
        "The same table may be said in many ways. Whatever its form (dense or sparse, with zeros "
        "that are stored, duplicates or unsorted indices; float32 or float64 where both hold the "
        "values; by rows or by columns, read-only or mapped from a file), whatever the form of the "
        "labels, and on any number of threads, every method gives the same answer to the last "
        "bit. What it promises where the order or the engine changes is its own:\n\n"
        f"{changes}\n\n{legend}\n\n"
        "Where labels are of one class alone, soft labels of all rows say which of them are the "
        "rest: then **bits** and **rounding** of *rows* are **untied**, and **draws** for a "
        "committee.\n\n"
        "What a method cannot take it refuses with a `ValueError` or `TypeError` that names the "
        "parameter or the column. Tables are generated to try all of this, a few in every run of "
        "the tests and many on demand ([contributing](../project/contributing.md)).\n\n"
        + "\n\n".join(sections)
    )
