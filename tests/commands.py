"""Calls of the command line, and a table for them."""

import polars as pl
from click.testing import CliRunner

from semisift.cli import main
from tests.conftest import make_data

FEATURES = [f"x{j}" for j in range(8)]


def write_table(folder):
    """Write table.csv: eight features, an id and few labels."""
    data = make_data()
    frame = pl.DataFrame(data.X, schema=FEATURES)
    labels = [None if code < 0 else "AB"[code] for code in data.y]
    frame = frame.with_columns(
        pl.Series("label", labels), pl.Series("id", [f"s{i}" for i in range(len(labels))])
    )
    frame.write_csv(folder / "table.csv")
    return folder


def call(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result
