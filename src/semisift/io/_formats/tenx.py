"""A folder of 10x Genomics: a matrix of genes and cells with the names of both."""

from collections.abc import Sequence
from pathlib import Path

from semisift.io._formats._common import choose_names, columns_kept, create, reading, with_ids
from semisift.io._formats.mtx import read_matrix, write_matrix
from semisift.io._guards import FileError, error_context, read_bytes
from semisift.io._options import TableOptions
from semisift.io._table import FileTable, from_matrix

FILES = {
    "matrix": ("matrix.mtx.gz", "matrix.mtx"),
    "features": ("features.tsv.gz", "features.tsv", "genes.tsv.gz", "genes.tsv"),
    "barcodes": ("barcodes.tsv.gz", "barcodes.tsv"),
}
FIXED = "10x always has genes in rows and cells in columns"


def read(path: Path, options: TableOptions) -> FileTable:
    """Read a folder of 10x, with cells in rows.

    Genes are called by their symbols; where a symbol stands more than once, with the id in
    parentheses.
    """
    with reading(path, "10x", fixed=FIXED, turn=options.transpose):
        files = {role: _find(path, names) for role, names in FILES.items()}
        matrix, pattern = read_matrix(files["matrix"])
        features = _lines(files["features"], matrix.shape[0], "genes", files["matrix"])
        barcodes = _lines(files["barcodes"], matrix.shape[1], "cells", files["matrix"])
        cells = [line.split("\t") for line in features]
        ids, symbols = [cell[0] for cell in cells], [cell[:2][-1] for cell in cells]
        names, notes = gene_names(ids, symbols, options)
        return from_matrix(
            path,
            "10x",
            matrix.T,
            options,
            names=names,
            row_names=[line.partition("\t")[0] for line in barcodes],
            notes=notes,
            details={
                "features": features,
                "files": {role: file.name for role, file in files.items()},
                "pattern": pattern,
            },
        )


def write(table: FileTable, path: Path) -> None:
    """Write a new folder with the same three files."""
    path.mkdir()
    details, files = table.details, table.details["files"]
    write_matrix(path / files["matrix"], table.values.T, pattern=details["pattern"])
    kept = [details["features"][j] for j in columns_kept(table)]
    for role, lines in (("features", kept), ("barcodes", table.row_names or [])):
        with create(path / files[role]) as file:
            file.write("".join(f"{line}\n" for line in lines).encode())


def gene_names(
    ids: Sequence[str], symbols: Sequence[str], options: TableOptions
) -> tuple[list[str], tuple[str, ...]]:
    """Return the names of genes, by their symbols unless the user says otherwise, and notes."""
    if options.names_from is None:
        return with_ids(symbols, ids), ()
    return choose_names({"id": ids, "name": symbols}, ids, options.names_from)


def _find(folder: Path, candidates: tuple[str, ...]) -> Path:
    for name in candidates:
        if (folder / name).is_file():
            return folder / name
    rule = (
        "10x writes matrix.mtx, features.tsv (or genes.tsv) and barcodes.tsv, packed (.gz) or not"
    )
    raise FileError(f"the folder has no {' or '.join(candidates)}. {rule}.")


def _lines(file: Path, size: int, what: str, matrix: Path) -> list[str]:
    """Return the lines of a file, which must be as many as its side of the matrix."""
    with error_context(file):
        text = read_bytes(file)
        try:
            lines = text.decode().splitlines()
        except UnicodeDecodeError as error:
            line = text.count(b"\n", 0, error.start) + 1
            problem = f"line {line} is not text in UTF-8"
            raise FileError(f"{problem}. The file is damaged: make it again.") from error
        empty = next((i for i, line in enumerate(lines, start=1) if not line.strip()), None)
        if empty is not None:
            raise FileError(f"line {empty} is empty, where a name must stand.")
        if len(lines) != size:
            rule = "The three files must be of the same run"
            raise FileError(f"{len(lines)} {what} for {size} {what} of {matrix.name}. {rule}.")
        return lines
