"""Series matrices of GEO: lines that describe the samples, then probes in rows.

Lines ``!Sample_title``, ``!Sample_geo_accession`` and so on become columns beside the values, named
``title``, ``geo_accession``. The cells of ``!Sample_characteristics_ch1`` say themselves what they
are about, ``tissue: liver``: each key becomes a column.
"""

from collections import defaultdict
from pathlib import Path

from semisift.io._formats._common import reading
from semisift.io._formats.gct import as_table, read_lines, split_line, write
from semisift.io._formats.text import decode
from semisift.io._guards import FileError, damaged, read_bytes
from semisift.io._options import TableOptions
from semisift.io._table import MISSING, FileTable
from semisift.utils._text import plural

__all__ = ["read", "write"]

BEGIN, END = "!series_matrix_table_begin", "!series_matrix_table_end"
SAMPLE = "!Sample_"
CHARACTERISTICS = "characteristics_"
FIRST_CHANNEL = "ch1"

# Between what several lines say of a sample under the same name.
AND = "; "


def read(path: Path, options: TableOptions) -> FileTable:
    """Read a series matrix, with samples in rows."""
    fixed = "a series matrix of GEO always has features in rows and samples in columns"
    with reading(path, "GEO series matrix", fixed=fixed, turn=options.transpose):
        text = decode(read_bytes(path), options.encoding)
        head, begin, rest = text.partition(f"\n{BEGIN}\n")
        if not begin:
            what = "after which the values stand. Is this a series matrix of GEO, whole?"
            raise FileError(f"there is no line {BEGIN}, {what}")
        body, end, _ = rest.partition(f"\n{END}")
        if not end:
            raise damaged(f"there is no line {END} after the values")
        names, _, body = body.partition("\n")
        heading, *samples = split_line(names)
        if not samples:
            raise FileError(f"the line after {BEGIN} names no sample.")
        if not body.strip():
            problem = "the file describes samples and holds no values, as those of sequencing do"
            cure = "They stand in a supplementary file of the series: give that one"
            raise FileError(f"{problem}. {cure}.")
        n_lines = head.count("\n") + 3  # and the lines of the mark and of the names
        frame = read_lines(body, len(samples) + 1, n_lines + 1)
        features = frame.to_series(0).fill_null("").str.strip_chars().to_list()
        return as_table(
            path,
            "geo",
            frame.drop(frame.columns[0]),
            options,
            features=(heading, features),
            samples=samples,
            about=_about_samples(head, samples),
        )


def _about_samples(head: str, samples: list[str]) -> dict[str, list[str | None]]:
    """Return what the lines before the values say of each sample, by the names of columns."""
    about_samples: dict[str, list[list[str]]] = defaultdict(lambda: [[] for _ in samples])
    pairs: dict[str, list[list[str]]] = defaultdict(lambda: [[] for _ in samples])
    for number, line in enumerate(head.split("\n"), start=1):
        if not line.startswith(SAMPLE):
            continue
        name, *cells = split_line(line.removeprefix(SAMPLE))
        if len(cells) != len(samples):
            given = plural(len(cells), "sample")
            raise damaged(f"line {number} gives {name} of {given}, and there are {len(samples)}")
        for i, cell in enumerate(cells):
            column, values, value = name, about_samples, cell
            if name.startswith(CHARACTERISTICS) and ":" in cell:
                key, _, value = cell.partition(":")
                channel = name.removeprefix(CHARACTERISTICS)
                column = key.strip() if channel == FIRST_CHANNEL else f"{key.strip()} ({channel})"
                values = pairs
            known = values[column][i]
            if value.strip() not in MISSING:
                known.append(value.strip())
    accessions = [AND.join(each) for each in about_samples.get("geo_accession", [])]
    if accessions and accessions != samples:
        raise damaged("its line !Sample_geo_accession names other samples than the table")
    for column, found in pairs.items():
        about_samples[f"{column} (characteristics)" if column in about_samples else column] = found
    return {
        column: [AND.join(each) or None for each in found]
        for column, found in about_samples.items()
    }
