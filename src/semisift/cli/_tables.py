"""How tables are read: what ``rank``, ``select`` and ``compare`` have in common."""

import click

from semisift._words import examples
from semisift.exceptions import TableError
from semisift.io import FileTable, TableOptions


def check_reading(options: TableOptions) -> None:
    """Refuse what no table can be read with, as wrong usage."""
    try:
        options.check()
    except TableError as error:
        raise click.UsageError(str(error)) from error


def labels_are_not_named(table: FileTable, who: str, cure: str = "") -> TableError:
    """Return the error that asks for the labels of a table that names none itself.

    Parameters
    ----------
    table : FileTable
    who : str
        What needs them.
    cure : str
        What else could be done, as the end of a sentence.
    """
    columns = [*table.rows.columns, *table.names]
    return TableError(
        f"{table.path}: {who} needs labels. Say with --label which column holds them (the columns "
        f"are {examples(columns)}){cure}."
    )
