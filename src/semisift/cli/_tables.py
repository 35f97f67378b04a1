"""How tables are read: what ``rank``, ``select`` and ``compare`` have in common."""

from dataclasses import dataclass
from typing import Any

import click

from semisift._words import examples
from semisift.exceptions import TableError
from semisift.tables import FORMATS, Choices, LabelChoice, ReadOptions, Table


@dataclass(frozen=True, kw_only=True)
class TableRequest:
    """What the user said of tables: a field for each of `DATASET_OPTIONS`, by its name."""

    label: str | None
    id_: str | None
    drop: tuple[str, ...]
    unlabelled: tuple[str, ...]
    missing: Any
    na: tuple[str, ...]
    categorical: Any
    category: tuple[str, ...]
    transpose: bool
    format_: str | None
    matrix: str | None
    append_unlabelled: bool
    separator: str | None
    encoding: str
    header: bool | None
    decimal_comma: bool

    def check_reading(self) -> None:
        """Refuse what no table can be read with."""
        if self.separator is not None and len(self.read_options.separator or "") != 1:
            raise click.BadParameter(
                "must be a single character, or tab.", param_hint="--separator"
            )
        if self.format_ is not None and self.format_ not in FORMATS:
            raise click.BadParameter(f"must be one of {', '.join(FORMATS)}.", param_hint="--format")

    @property
    def read_options(self) -> ReadOptions:
        """How to read the file."""
        return ReadOptions(
            transpose=self.transpose,
            matrix=self.matrix,
            separator="\t" if self.separator in ("tab", "\\t") else self.separator,
            encoding=self.encoding,
            header=self.header,
            decimal_comma=self.decimal_comma,
            append_unlabelled=self.append_unlabelled,
            drop=self.drop,
        )

    def choices(self, labels_table: Table | None = None) -> Choices:
        """What was decided about the table."""
        return Choices(
            label=LabelChoice(self.label, labels_table, self.unlabelled, self.id_),
            id=self.id_,
            drop=self.drop,
            missing=self.missing,
            categorical=self.categorical,
            categories=self.category,
            missing_values=self.na,
            decimal_comma=self.decimal_comma,
        )


def labels_are_not_named(table: Table, who: str, cure: str = "") -> TableError:
    """Return the error that asks for the labels of a table that names none itself.

    Parameters
    ----------
    table : Table
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
