"""Sheets, files of expression and of single cells: what is read of them, and what is refused."""

import datetime
import gzip
import importlib
import struct
import warnings
import zipfile

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from scipy.sparse import csr_array

from semisift.cli import main
from semisift.exceptions import TableError
from semisift.io import read, read_table, write
from semisift.io._options import Reading, TableOptions

DAY = datetime.datetime(2020, 9, 2)

GEO = """!Series_title\t"A study, of ""livers\"""

!Sample_title\t"first"\t"second"\t"third"\t"fourth"
!Sample_geo_accession\t"GSM1"\t"GSM2"\t"GSM3"\t"GSM4"
!Sample_source_name_ch1\t"biopsy"\t"biopsy"\t"cells"\t"cells"
!Sample_characteristics_ch1\t"tissue: liver"\t"tissue: lung"\t"tissue: liver"\t""
!Sample_characteristics_ch1\t"age: 31"\t"sex: f"\t"age: 52"\t"no key"
!Sample_characteristics_ch1\t"time: 10:30"\t""\t""\t"title: sir"
!Sample_characteristics_ch2\t"tissue: pool"\t"tissue: pool"\t"tissue: pool"\t""
!Sample_description\t"a"\t""\t""\t""
!Sample_description\t"b"\t""\t"c"\t""
!series_matrix_table_begin
"ID_REF"\t"GSM1"\t"GSM2"\t"GSM3"\t"GSM4"
"1007_s_at"\t1.5\t-2\t0.3333333333333333\t4
"NA"\t\t2\tnull\t3e-12
!series_matrix_table_end
"""

GCT_2 = "#1.2\n2\t3\nName\tDescription\ts1\ts2\ts3\nE1\tTP53\t1\t2\t3\nE2\tTP53\t4\tna\t6\n"
GCT_3 = (
    "#1.3\n2\t3\t2\t2\nid\tsymbol\tlength\ts1\ts2\ts3\ncell\tna\tna\tA\tB\tna\n"
    "dose\tna\tna\t1\t2\t3\nE1\tTP53\t5\t1\t2\t3\nE2\tna\t7\t4\t5\t6\n"
)


def refused(path, message, **options):
    with pytest.raises(TableError, match=message) as caught:
        read_table(path, **options)
    assert path.name in str(caught.value)


# --- sheets ---------------------------------------------------------------------------------------


def book(path, rows, **others):
    """Write a sheet, and perhaps others after it."""
    openpyxl = pytest.importorskip("openpyxl")
    made = openpyxl.Workbook()
    made.active.title = "first"
    for name, lines in {"first": rows, **others}.items():
        sheet = made["first"] if name == "first" else made.create_sheet(name)
        for line in lines:
            sheet.append(line)
    made.save(path)
    return path


def test_a_sheet_is_read_as_text_tables_are(tmp_path):
    rows = [
        ["id", "exact", "as text", "few", "whole", "mixed", "switch", "day", "group", None],
        ["007", 1 / 3, "2.5", None, 1, 1 / 3, True, DAY, "a"],
        ["008", 1e-12, 3, "NA", 2, "NA", False, DAY, None],
        ["009", 5, "1.5", 0.5, 3, 2e-11, True, None, "b"],
        [None] * 9,
        [None, None, "  "],
    ]
    path = book(tmp_path / "t.xlsx", rows)
    table = read(path)
    kinds = [pl.String, pl.Float64, pl.Float64, pl.String, pl.Int64, pl.String, pl.Boolean]
    assert table.values.dtypes == [*kinds, pl.Datetime, pl.String]
    assert table.notes == ("2 empty rows at the end, left out.",)
    refused(path, r"column 8 \('day'\) holds dates or times", id="id", label="group")
    options = {"id": "id", "label": "group", "drop": "day"}
    refused(path, r"values are missing in 2 of 6.*line 2, column 4 \('few'\)", **options)
    data = read_table(path, missing="median", **options)
    assert data.row_names == ["007", "008", "009"]
    assert data.y.tolist() == ["a", None, "b"]
    assert data.X.T.tolist() == [
        [1 / 3, 1e-12, 5],
        [2.5, 3, 1.5],
        [0.5, 0.5, 0.5],
        [1, 2, 3],
        [1 / 3, (1 / 3 + 2e-11) / 2, 2e-11],  # with all decimals, though there is a word
        [1, 0, 1],
    ]


def test_a_table_may_start_anywhere_on_a_sheet(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    made = openpyxl.Workbook()
    for i, line in enumerate([[None, "a", "b"], ["r1", 1.5, 2], ["r2", 2.5, "x"], ["r3", 2, 3]]):
        for j, cell in enumerate(line):
            made.active.cell(4 + i, 3 + j, cell)
    made.save(tmp_path / "t.xlsx")
    refused(tmp_path / "t.xlsx", r"line 6, column 3 \('b'\): 'x' is not a number")
    data = read_table(tmp_path / "t.xlsx", drop="b")
    assert (data.row_names, data.X.tolist()) == (["r1", "r2", "r3"], [[1.5], [2.5], [2]])


def test_formulas_have_their_last_value_and_errors_are_missing(tmp_path):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as made:
        sheet = made.add_worksheet()
        sheet.write_row(0, 0, ["a", "b"])
        sheet.write_row(1, 0, [1, 2])
        sheet.write_formula(2, 0, "=A2+1", None, 2)
        sheet.write_formula(2, 1, "=1/0", None, "#DIV/0!")
    assert read(tmp_path / "t.xlsx").values.rows() == [(1, 2), (2, None)]


def test_sheets_are_chosen_by_name(tmp_path):
    path = book(tmp_path / "t.xlsx", [["a"], [1]], more=[["b"], [2]], nothing=[])
    data = read_table(path)
    assert data.notes == ["The first sheet, 'first', was read; there are also 'more' (matrix=...)."]
    assert data.feature_names == ["a"]
    other = read_table(path, matrix="more")
    assert (other.feature_names, other.notes) == (["b"], [])
    refused(path, "there is no such sheet. There is 'first', 'more', 'nothing'", matrix="tow")
    refused(path, "the sheet 'nothing' is empty. Name another.*'first', 'more'", matrix="nothing")
    assert read_table(book(tmp_path / "u.xlsx", [["a"], [1]], nothing=[])).notes == []


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "the sheet 'first' is empty"),
        ([["a", "b"]], "names but no row"),
        ([["a", "a"], [1, 2]], "'a' stands twice.*duplicates='number'"),
        ([[1, 2], [3, 4]], r"holds numbers \(1, 2, ...\).*header=False"),
        ([["Table 1"], ["a", "b", "c"], [1, 2, 3]], "a single cell, 'Table 1'.*a title, remove"),
        ([["a", None, "c"], [1, 2, 3]], "column 2 has no name"),
        ([["a", "b"], [1, "x"], [2, "y"]], "categories instead of numbers.*'b'"),
    ],
)
def test_sheets_that_are_no_table(tmp_path, rows, message):
    refused(book(tmp_path / "t.xlsx", rows), message)


def test_a_turned_sheet_and_names_that_became_dates(tmp_path):
    rows = [["gene", "s1", "s2"], [DAY, 1.5, 2.5], ["TP53", 3, 4]]
    data = read_table(book(tmp_path / "t.xlsx", rows), transpose=True)
    assert data.X.tolist() == [[1.5, 3], [2.5, 4]]
    assert data.row_names == ["s1", "s2"]
    assert data.notes == [
        "Dates as names of features, such as Excel makes of SEPT2: '2020-09-02 00:00:00'."
    ]
    unnamed = read_table(book(tmp_path / "u.xlsx", [[1, 2], [3, 4]]), header=False)
    assert (unnamed.feature_names, unnamed.X.tolist()) == (
        ["column_1", "column_2"],
        [[1, 2], [3, 4]],
    )


def test_other_programs_of_sheets(tmp_path):
    """LibreOffice and the old binary form of Excel, both made by hand."""
    rows = '<table:table-row><table:table-cell office:value-type="{}"><text:p>{}</text:p>'
    cell = '<table:table-cell office:value-type="float" office:value="{}"/></table:table-row>'
    parts = [rows.format("string", "a"), '<table:table-cell office:value-type="string">']
    parts += ["<text:p>b</text:p></table:table-cell></table:table-row>"]
    parts[0] += "</table:table-cell>"
    for i in range(3):
        parts.append(rows.format("string", f"r{i}") + "</table:table-cell>" + cell.format(i / 4))
    namespaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    with zipfile.ZipFile(tmp_path / "t.ods", "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr(
            "content.xml",
            f"<office:document-content {namespaces}><office:body><office:spreadsheet>"
            f'<table:table table:name="one">{"".join(parts)}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
    (tmp_path / "t.xls").write_bytes(as_xls([["a", "b"], ["r0", 0], ["r1", 0.25], ["r2", 0.5]]))
    for name in ("t.ods", "t.xls"):
        data = read_table(tmp_path / name, id="a")
        assert (data.row_names, data.X.tolist()) == (["r0", "r1", "r2"], [[0], [0.25], [0.5]])


def as_xls(rows):
    """Return an old file of Excel: records (BIFF 8) in one stream of a compound file."""

    def record(kind, data):
        return struct.pack("<HH", kind, len(data)) + data

    def text(value, size):
        return struct.pack(f"<{size}B", len(value), 0) + value.encode("latin-1")

    start = [record(0x809, struct.pack("<HHHHII", 0x600, kind, 0, 0, 0, 0)) for kind in (5, 16)]
    cells = []
    for i, line in enumerate(rows):
        for j, value in enumerate(line):
            place = struct.pack("<HHH", i, j, 0)
            if isinstance(value, str):
                data = place + struct.pack("<HB", len(value), 0) + value.encode("latin-1")
                cells.append(record(0x204, data))
            else:
                cells.append(record(0x203, place + struct.pack("<d", value)))
    sheet = struct.pack("<IH", 0, 0) + text("one", "B")
    end = record(0x0A, b"")
    offset = len(start[0]) + 4 + len(sheet) + len(end)
    sheet = struct.pack("<I", offset) + sheet[4:]
    stream = start[0] + record(0x85, sheet) + end + start[1] + b"".join(cells) + end
    stream += bytes(4096 - len(stream))  # shorter ones stand elsewhere
    n_sectors = len(stream) // 512
    chain = [0xFFFFFFFD, 0xFFFFFFFE, *range(3, n_sectors + 2), 0xFFFFFFFE]
    table = struct.pack("<128I", *chain, *[0xFFFFFFFF] * (128 - len(chain)))

    def entry(name, kind, child, first, size):
        letters = name.encode("utf-16-le") + bytes(2)
        none = 0xFFFFFFFF
        about = struct.pack("<HBBIII", len(letters), kind, 1, none, none, child)
        return letters.ljust(64, b"\0") + about + bytes(36) + struct.pack("<IQ", first, size)

    folder = entry("Root Entry", 5, 1, 0xFFFFFFFE, 0) + entry("Workbook", 2, 0xFFFFFFFF, 2, 4096)
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    head += struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    head += struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)
    head += struct.pack("<109I", 0, *[0xFFFFFFFF] * 108)
    return head + table + folder.ljust(512, b"\0") + stream


def test_sheets_that_are_damaged_hostile_or_locked(tmp_path, monkeypatch):
    path = book(tmp_path / "t.xlsx", [["a", "b"], *[[i, i] for i in range(500)]])
    good = path.read_bytes()
    path.write_bytes(good[: len(good) // 2])
    refused(path, "not a readable spreadsheet file: File is not a zip file")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    refused(path, "not a readable spreadsheet file: ")
    path.write_bytes(b"\xd0\xcf\x11\xe0" + bytes(600) + "EncryptedPackage".encode("utf-16-le"))
    refused(path, "protected by a password")
    corners = [["a"], *[[None]] * 5000, [*[None] * 16000, 1]]
    monkeypatch.setattr("semisift.io._formats._common.available_memory", lambda: 1)
    monkeypatch.setattr("semisift.io._formats._common.ADDRESSES_OF_LIBRARIES", 1 << 30)
    refused(book(path, corners), "memory allocation of .* failed")
    path.write_bytes(good)
    monkeypatch.setattr("semisift.utils._memory.available_memory", lambda: 40_000)
    refused(path, "its content, unpacked, needs .* of memory")


# --- GEO ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["GSE1_series_matrix.txt", "GSE1_series_matrix.txt.gz", "x.data"])
def test_geo(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(GEO.encode()) if name.endswith("gz") else GEO.encode())
    form = {"format": "geo"} if name == "x.data" else {}
    table = read(path, TableOptions(**form))
    assert (table.form, table.names) == ("geo", ["1007_s_at", "NA"])
    assert table.values.rows() == [(1.5, None), (-2, 2), (1 / 3, None), (4, 3e-12)]
    assert table.row_names == ["GSM1", "GSM2", "GSM3", "GSM4"]
    assert table.rows.to_dict(as_series=False) == {
        "title": ["first", "second", "third", "fourth"],
        "geo_accession": table.row_names,
        "source_name_ch1": ["biopsy", "biopsy", "cells", "cells"],
        "characteristics_ch1": [None, None, None, "no key"],
        "description": ["a; b", None, "c", None],
        "tissue": ["liver", "lung", "liver", None],
        "age": ["31", None, "52", None],
        "sex": [None, "f", None, None],
        "time": ["10:30", None, None, None],
        "title (characteristics)": [None, None, None, "sir"],
        "tissue (ch2)": ["pool", "pool", "pool", None],
    }
    refused(path, "values are missing in 1 of 2 columns: 'NA'", label="tissue", **form)
    data = read_table(path, label="tissue", id="title", missing="drop-columns", drop="GSM3", **form)
    assert data.y.tolist() == ["liver", "lung", None]
    assert data.row_names == ["first", "second", "fourth"]
    assert data.feature_names == ["1007_s_at"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("!series_matrix_table_begin", "", "there is no line !series_matrix_table_begin"),
        ("!series_matrix_table_end", "", "no line !series_matrix_table_end after the values"),
        ("\t2\tnull", "\t2", "line 15 has 4 cells, where 5 are expected"),
        ("\t-2\t", "\tlow\t", "feature '1007_s_at', sample 'GSM2': 'low' is not a number"),
        ('"NA"', '"1007_s_at"', "'1007_s_at' stands twice, for feature.*duplicates='number'"),
        ('"third"\t', "", "line 3 gives title of 3 samples, and there are 4"),
        ('n\t"GSM1"\t"GSM2"', 'n\t"GSM2"\t"GSM1"', "names other samples than the table"),
        (GEO[GEO.index('"1007_') : GEO.index("!series_matrix_table_end")], "", "supplementary"),
        ('"ID_REF"\t"GSM1"\t"GSM2"\t"GSM3"\t"GSM4"', '"ID_REF"', "names no sample"),
    ],
)
def test_geo_says_where(tmp_path, old, new, message):
    assert old in GEO
    (tmp_path / "a_series_matrix.txt").write_text(GEO.replace(old, new))
    refused(tmp_path / "a_series_matrix.txt", message, na="never" if "low" in new else ())


# --- gct ------------------------------------------------------------------------------------------


def test_gct(tmp_path):
    (tmp_path / "a.gct").write_text(GCT_2)
    table = read(tmp_path / "a.gct")
    assert (table.names, table.row_names) == (["E1", "E2"], ["s1", "s2", "s3"])
    assert table.values.rows() == [(1, 4), (2, None), (3, 6)]
    (tmp_path / "b.gct.gz").write_bytes(gzip.compress(GCT_3.encode()))
    data = read_table(tmp_path / "b.gct.gz", label="cell", names_from="symbol")
    assert (data.y.tolist(), data.feature_names) == (["A", "B", None], ["TP53", "E2"])
    assert data.table.rows["dose"].to_list() == ["1", "2", "3"]
    assert data.notes == ["1 feature has no name in 'symbol', called as usual."]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("#1.3", "#1.4", "first line must be #1.2 or #1.3.*got '#1.4'"),
        ("2\t3\t2\t2", "2\t3", "line 2 must hold 4 whole numbers in version #1.3: got '2"),
        ("2\t3\t2\t2", "2\t4\t2\t2", "tells of 4 samples after 3 columns, and line 3 has 6 names"),
        ("2\t3\t2\t2", "9\t3\t2\t2", "tells of 11 lines after the names, and there are 4"),
        ("2\t3\t2\t2", "0\t3\t2\t2", "the table is empty"),
        ("5\t6\n", "5\n", "line 7 has 5 cells, where 6 are expected"),
        ("s3", "s2", "'s2' stands twice, for sample 2 and sample 3"),
    ],
)
def test_gct_says_where(tmp_path, old, new, message):
    (tmp_path / "a.gct").write_text(GCT_3.replace(old, new))
    refused(tmp_path / "a.gct", message)


# --- 10x ------------------------------------------------------------------------------------------


X = csr_array(np.array([[0, 1, 2], [3, 0, 0], [0, 0, 4], [5, 6, 0]]))
IDS, SYMBOLS = ["E1", "E2", "E3"], ["A", "B", "A"]


def tenx(path, groups=("matrix",), **changed):
    """Write a file as Cell Ranger does; the group ``matrix`` is that of its new versions."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        for group in groups:
            new = group == "matrix"
            parts = {
                "data": X.data,
                "indices": X.indices,
                "indptr": X.indptr,
                "shape": np.array([3, 4], dtype=np.int32),
                "barcodes": np.array([f"AAAC-{i}".encode() for i in range(4)]),
                "features/id" if new else "genes": np.array(IDS, dtype="S"),
                "features/name" if new else "gene_names": SYMBOLS,
                **({"features/feature_type": ["Gene Expression"] * 3} if new else {}),
                **changed,
            }
            for name, part in parts.items():
                if part is not None:
                    file[f"{group}/{name}"] = part
    return path


@pytest.mark.parametrize("groups", [("matrix",), ("hg19",), ("hg19", "mm10")])
def test_tenx_h5(tmp_path, groups):
    path = tenx(tmp_path / "run.h5", groups)
    options = {}
    if len(groups) > 1:
        refused(path, "several genomes: 'hg19', 'mm10'. Name one of them by matrix=...")
        refused(path, "no such genome, but 'hg19', 'mm10'", matrix="mm9")
        options = {"matrix": "mm10"}
    data = read_table(path, normalize=False, **options)
    assert data.feature_names == ["A (E1)", "B", "A (E3)"]
    assert data.row_names == [f"AAAC-{i}" for i in range(4)]
    assert data.X.toarray().tolist() == X.toarray().tolist()
    assert read_table(path, **options).usual_total == 3.5
    assert read_table(path, names_from="id", **options).feature_names == IDS


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"barcodes": None}, "not the layout of 10x.*format='h5ad'"),
        ({"shape": np.array([3, 5])}, "needs 6 numbers for 5 rows: got 5"),
        ({"indices": np.array([1, 2, 0, 9, 0, 1])}, "stored value 4 claims column 9"),
        ({"features/name": ["A", "B"]}, "3 ids for 2 names of genes"),
        ({"barcodes": np.array([b"a"])}, "1 row names for 4 rows"),
    ],
)
def test_tenx_h5_unfit(tmp_path, changed, message):
    refused(tenx(tmp_path / "run.h5", **changed), message)


def test_a_store_of_text_that_never_ends(tmp_path):
    """The HDF5 library would walk in circles."""
    path = tenx(tmp_path / "run.h5")
    data = bytearray(path.read_bytes())
    start = data.index(b"GCOL") + 16
    data[start : start + 16] = bytes(16)
    path.write_bytes(data)
    refused(path, "a store of text in it is damaged")


# --- old files of AnnData -------------------------------------------------------------------------


def old_h5ad(path):
    """Write a file as AnnData did before version 0.7: arrays of records, and codes."""
    h5py = pytest.importorskip("h5py")
    values = np.array([[0.5, 1, 2], [3, 0, -1], [0, 0, 4], [5, 6, 0]] * 3, dtype=np.float32)
    obs = [(f"c{i}".encode(), [0, 1, -1][i % 3], i) for i in range(12)]
    with h5py.File(path, "w") as file:
        file["X"] = values
        file["obs"] = np.array(obs, dtype=[("index", "S3"), ("kind", "i1"), ("n", "<i8")])
        file["var"] = np.array([(name.encode(),) for name in "abc"], dtype=[("index", "S1")])
        file["uns/kind_categories"] = np.array([b"T", b"B"])
    return values


def test_old_files_of_anndata(tmp_path):
    path = tmp_path / "old.h5ad"
    values = old_h5ad(path)
    data = read_table(path, label="kind", drop="n")
    assert data.X.tolist() == values.tolist()
    assert data.y.tolist() == ["T", "B", None] * 4
    assert (data.feature_names, data.row_names[:2]) == (["a", "b", "c"], ["c0", "c1"])
    select(path, tmp_path / "small.h5ad", "--label", "kind")
    again = read_table(tmp_path / "small.h5ad", label="kind")
    assert (again.X.shape, again.y.tolist()) == ((12, 1), data.y.tolist())
    table = read(path, Reading(max_memory=100))
    assert table.is_stored
    with pytest.raises(TableError, match=r"version of AnnData before 0\.7 .*Allow more"):
        write(table.take_columns(np.array([0])), tmp_path / "other.h5ad")


# --- names of features ----------------------------------------------------------------------------


def test_names_from_a_column_of_var(tmp_path):
    anndata, pd = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    var = pd.DataFrame({"gene_ids": IDS, "symbol": ["P", None, "Q"]}, index=["a", "b", "c"])
    var["twice"] = pd.Categorical(["R", "S", "R"])
    obs = pd.DataFrame(index=[f"c{i}" for i in range(4)])
    data = anndata.AnnData(X.astype(np.float32).toarray(), obs=obs, var=var)
    data.write_h5ad(tmp_path / "t.h5ad")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what anndata plans for versions to come
        data.write_zarr(tmp_path / "t.zarr")
    for name in ("t.h5ad", "t.zarr"):
        path = tmp_path / name
        assert read_table(path, names_from="gene_ids").feature_names == IDS
        some = read_table(path, names_from="symbol", normalize=False)
        assert some.feature_names == ["P", "b", "Q"]
        assert some.notes == ["1 feature has no name in 'symbol', called as usual."]
        refused(path, "'R' stands twice", names_from="twice")
        numbered = read_table(path, names_from="twice", duplicates="number")
        assert numbered.feature_names == ["R", "S", "R (2)"]
        refused(path, "called so. There are 'gene_ids', 'symbol', 'twice'", names_from="gene")


def test_names_of_other_formats(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "matrix.mtx").write_text(
        "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 5\n"
    )
    (folder / "genes.tsv").write_text("g1\tA\ng2\tB\n")
    (folder / "barcodes.tsv").write_text("c1\nc2\nc3\n")
    assert read_table(folder, names_from="id").feature_names == ["g1", "g2"]
    refused(folder, "names_from='symbol'.*There are 'id', 'name'", names_from="symbol")
    (tmp_path / "a.gct").write_text(GCT_2)
    refused(tmp_path / "a.gct", "'TP53' stands twice", names_from="Description")
    refused(tmp_path / "a.gct", "There are 'Name', 'Description'", names_from="description")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    refused(tmp_path / "t.csv", "h5ad, zarr, 10x, 10x-h5, gct files: this is csv", names_from="a")


# --- packed text ----------------------------------------------------------------------------------

PACKED = {
    "t.csv": "a,b\n1,2\n3,4\n",
    "t.txt": "a;b\n1;2\n3;4\n",
    "t.tsv": "a\tb\n1\t2\n3\t4\n",
    "t.svmlight": "1 1:1 2:2\n2 1:3 2:4\n",
    "t.mtx": "%%MatrixMarket matrix array real general\n2 2\n1\n3\n2\n4\n",
    "t.arff": "@relation r\n@attribute a real\n@attribute b real\n@data\n1,2\n3,4\n",
    "t.gct": "#1.2\n2\t2\nName\tDescription\tp\tq\na\tna\t1\t3\nb\tna\t2\t4\n",
    "t_series_matrix.txt": (
        '!Sample_title\t"p"\t"q"\n!series_matrix_table_begin\n"ID_REF"\t"p"\t"q"\n'
        "a\t1\t3\nb\t2\t4\n!series_matrix_table_end\n"
    ),
}


@pytest.mark.parametrize("name", PACKED)
def test_every_text_may_be_packed(tmp_path, name):
    packed = gzip.compress(PACKED[name].encode())
    for path in (tmp_path / f"{name}.gz", tmp_path / name):  # by its ending, and by its start
        path.write_bytes(packed)
        found = read_table(path).X
        assert csr_array(found).toarray().tolist() == [[1, 2], [3, 4]]
        path.write_bytes(packed[:-6])
        refused(path, r"\(packed with gzip\) cannot be read: Compressed file ended before")
        damaged = bytearray(packed)
        damaged[-8] ^= 255
        path.write_bytes(damaged)
        refused(path, r"\(packed with gzip\) cannot be read: CRC check failed")
    (tmp_path / f"{name}.gz").write_text(PACKED[name])
    refused(tmp_path / f"{name}.gz", r"\(packed with gzip\) cannot be read: Not a gzipped file")


def test_a_packed_arff_is_written_back(tmp_path):
    path, target = tmp_path / "t.arff.gz", tmp_path / "small.arff.gz"
    rows = "".join(f"{i},{i % 2},{'ab'[i % 2]}\n" for i in range(1, 13)) + "13,1,?\n"
    head = "@relation r\n@attribute p real\n@attribute q real\n@attribute class {a,b}\n@data\n"
    path.write_bytes(gzip.compress((head + rows).encode()))
    select(path, target, "--drop", "p")
    written = gzip.decompress(target.read_bytes()).decode()
    assert written.replace("\n\n", "\n").startswith("@relation r\n@attribute q real\n")


# --- what is written ------------------------------------------------------------------------------


def select(path, target, *options):
    arguments = ["select", str(path), "--out", str(target), "--top", "1", "--method", "fisher"]
    result = CliRunner().invoke(main, [*arguments, "--quiet", *options])
    assert result.exit_code == 0, result.output
    return result


def rows_of(n_rows=8):
    """Names, labels without the last, a feature that tells them and one that does not."""
    kinds = [*("ab" * n_rows)[: n_rows - 1], ""]
    return [(f"r{i}", kinds[i], i % 2 + i / 100, i / 7) for i in range(n_rows)]


@pytest.mark.parametrize("target", ["small.csv", "small.tsv", "small.csv.gz", "small.parquet"])
def test_sheets_are_written_as_text_or_parquet(tmp_path, target):
    path = book(tmp_path / "t.xlsx", [["id", "kind", "good", "bad"], *rows_of()])
    select(path, tmp_path / target, "--label", "kind", "--id", "id")
    again = read_table(tmp_path / target, label="kind", id="id")
    assert again.feature_names == ["good"]
    assert again.y.tolist() == [*"abababa", None]
    assert again.X.ravel().tolist() == [row[2] for row in rows_of()]


@pytest.mark.parametrize("target", ["small.tsv", "small.parquet"])
@pytest.mark.parametrize("form", ["geo", "gct"])
def test_expression_is_written_with_samples_in_rows(tmp_path, target, form):
    names, kinds, good, bad = zip(*rows_of(), strict=True)
    lines = [["good", *good], ["bad", *bad]]
    if form == "geo":
        path = tmp_path / "a_series_matrix.txt"
        head = [["!Sample_title", *names], ["!Sample_characteristics_ch1"]]
        head[1] += [f"kind: {kind}" for kind in kinds]
        head += [["!series_matrix_table_begin"], ["ID_REF", *names]]
        lines += [["!series_matrix_table_end"]]
    else:
        path = tmp_path / "a.gct"
        head = [["#1.3"], [2, 8, 0, 1], ["id", *names], ["kind", *kinds]]
    path.write_text("".join("\t".join(map(str, line)) + "\n" for line in [*head, *lines]))
    select(path, tmp_path / target, "--label", "kind")
    id_ = {"id": "row_name"} if "parquet" in target else {}
    again = read_table(tmp_path / target, label="kind", **id_)
    assert (again.row_names, again.y.tolist()) == (list(names), [*kinds[:-1], None])
    assert (again.feature_names, again.X.ravel().tolist()) == (["good"], list(good))


def test_tenx_h5_is_written_as_npz(tmp_path):
    path = tenx(tmp_path / "run.h5")
    (tmp_path / "labels.csv").write_text("cell,kind\nAAAC-0,a\nAAAC-1,b\nAAAC-2,a\n")
    select(path, tmp_path / "small.npz", "--labels", str(tmp_path / "labels.csv"))
    again = read_table(tmp_path / "small.npz")
    assert again.row_names == [f"AAAC-{i}" for i in range(4)]
    assert again.feature_names == ["A (E1)"]
    assert again.X.toarray().ravel().tolist() == [0, 3, 0, 5]


@pytest.mark.parametrize(
    ("name", "endings"),
    [
        ("t.xlsx", ".csv or .tsv or .parquet"),
        ("t.gct", ".csv or .tsv or .parquet"),
        ("t.h5", ".npz"),
    ],
)
def test_forms_that_are_not_written_say_which_are(tmp_path, name, endings):
    (tmp_path / name).write_bytes(b"")
    arguments = ["select", str(tmp_path / name), "--out", str(tmp_path / f"small-{name}")]
    result = CliRunner().invoke(main, [*arguments, "--label", "kind"])
    assert result.exit_code == 2
    output = " ".join(result.stderr.replace("│", " ").split())
    assert f"files are read, not written: the name must end in {endings}." in output


def test_missing_libraries(tmp_path, monkeypatch):
    paths = {"fastexcel": tmp_path / "t.xlsx", "h5py": tenx(tmp_path / "t.h5")}
    paths["fastexcel"].write_bytes(b"")
    real = importlib.import_module

    def without(wanted, package=None):
        if wanted in paths:
            raise ImportError(wanted)
        return real(wanted, package)

    monkeypatch.setattr(importlib, "import_module", without)
    for library, extra in (("fastexcel", "excel"), ("h5py", "hdf5")):
        refused(paths[library], rf'{library}: pip install "semisift\[{extra}\]"')
