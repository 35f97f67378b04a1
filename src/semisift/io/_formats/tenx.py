"""A folder of 10x Genomics: a matrix of genes and cells with the names of both."""

from collections.abc import Sequence
from pathlib import Path

from semisift.io._formats._common import choose_names, columns_kept, create, reading, told_apart
from semisift.io._formats.mtx import read_matrix, write_matrix
from semisift.io._guards import FileError, naming, read_bytes
from semisift.io._options import TableOptions
from semisift.io._table import FileTable, from_matrix

FILES = {
    "matrix": ("matrix.mtx.gz", "matrix.mtx"),
    "features": ("features.tsv.gz", "features.tsv", "genes.tsv.gz", "genes.tsv"),
    "barcodes": ("barcodes.tsv.gz", "barcodes.tsv"),
}


def read(path: Path, options: TableOptions) -> FileTable:
    """Read a folder of 10x.

    Parameters
    ----------
    path : Path
        With a matrix, features (or genes) and barcodes, packed or not.
    options : TableOptions

    Returns
    -------
    FileTable
        Cells in rows, though the files have them in columns: the form says so. Genes are called by
        their symbols; where a symbol stands more than once, with the id in parentheses.
    """
    fixed = "a folder of 10x always has genes in rows and cells in columns"
    with reading(path, "10x", fixed=fixed, turn=options.transpose):
        files = {role: _find(path, names) for role, names in FILES.items()}
        matrix, pattern = read_matrix(files["matrix"])
        features = _lines(files["features"], matrix.shape[0], "genes")
        barcodes = _lines(files["barcodes"], matrix.shape[1], "cells")
        cells = [line.split("\t") for line in features]
        ids = [cell[0] for cell in cells]
        symbols = [cell[1] if len(cell) > 1 else cell[0] for cell in cells]
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
    """Write a folder with the same three files.

    Parameters
    ----------
    table : FileTable
        As `read` returned it, perhaps with fewer columns.
    path : Path
        The new folder.
    """
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
    """Return what genes are called, by their symbols unless the user says otherwise, and notes."""
    if options.names_from is None:
        return told_apart(symbols, ids), ()
    return choose_names({"id": ids, "name": symbols}, ids, options.names_from)


def _find(folder: Path, candidates: tuple[str, ...]) -> Path:
    for name in candidates:
        if (folder / name).is_file():
            return folder / name
    raise FileError(
        f"the folder has no {' or '.join(candidates)}. A folder of 10x has matrix.mtx, "
        "features.tsv (or genes.tsv) and barcodes.tsv, each of them perhaps packed (.gz)."
    )


def _lines(file: Path, size: int, what: str) -> list[str]:
    """Return the lines of a file, which must be as many as its side of the matrix."""
    with naming(file):
        text = read_bytes(file)
        try:
            lines = text.decode().splitlines()
        except UnicodeDecodeError as error:
            line = text.count(b"\n", 0, error.start) + 1
            raise FileError(
                f"line {line} is not text in UTF-8. The file is damaged: make it again."
            ) from error
        empty = next((i for i, line in enumerate(lines, start=1) if not line.strip()), None)
        if empty is not None:
            raise FileError(f"line {empty} is empty, where a name must stand.")
        if len(lines) != size:
            matrix = _find(file.parent, FILES["matrix"]).name
            raise FileError(
                f"{len(lines)} {what} for {size} {what} of {matrix}. The three files must be of "
                "the same run."
            )
        return lines
