"""Text in .zip, .xz, .zst and .xlsx: Python's command reads it, the native one names the way."""

import lzma
import zipfile

import numpy as np
import pytest
from conftest import planted, refused, same, select, tamis, write_csv

X = planted(40, 5).round(3)
NAMES = list("abcde")


@pytest.fixture
def twin(tmp_path):
    return write_csv(tmp_path / "twin.csv", X, NAMES)


def zipped(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)
    return path


@pytest.mark.native
@pytest.mark.parametrize("ending", ["zip", "xz", "zst", "xlsx"])
def test_the_native_command_names_the_way(tmp_path, ending):
    (tmp_path / f"x.csv.{ending}").write_bytes(b"anything")
    refused(tamis("select", tmp_path / f"x.csv.{ending}"), 3, "Python package", "tamis.read")


@pytest.mark.python
def test_packed_text_is_read(tmp_path, twin):
    expected = select(twin, "-m", "maxvar")
    same(select(zipped(tmp_path / "x.zip", x_csv=twin.read_bytes()), "-m", "maxvar"), expected)
    tabs = twin.read_text().replace(",", "\t")
    same(select(zipped(tmp_path / "t.zip", folder__x_tsv=tabs), "-m", "maxvar"), expected)
    (tmp_path / "x.csv.xz").write_bytes(lzma.compress(twin.read_bytes()))
    same(select(tmp_path / "x.csv.xz", "-m", "maxvar"), expected)
    (tmp_path / "y.xz").write_bytes(lzma.compress(twin.read_bytes()))
    refused(tamis("select", tmp_path / "y.xz"), 3, "y.xz", "need text")


@pytest.mark.python
def test_zstandard_is_read(tmp_path, twin):
    zstandard = pytest.importorskip("zstandard")
    (tmp_path / "x.csv.zst").write_bytes(zstandard.compress(twin.read_bytes()))
    same(select(tmp_path / "x.csv.zst", "-m", "maxvar"), select(twin, "-m", "maxvar"))
    (tmp_path / "y.csv.zst").write_bytes(b"no zst")
    refused(tamis("select", tmp_path / "y.csv.zst"), 3, "y.csv.zst")


@pytest.mark.python
def test_options_and_complaints_of_text_hold(tmp_path, twin):
    holes = twin.read_text().replace("\n", "\nNA,1,2,3,4\n", 1)
    path = zipped(tmp_path / "x.zip", x_csv=holes)
    refused(tamis("select", path, "-m", "maxvar"), 3, "x.zip: 1 missing value", "line 2, column a")
    same(select(path, "-m", "maxvar", "--missing", "drop-rows"), select(twin, "-m", "maxvar"))


@pytest.mark.python
def test_broken_and_ambiguous_archives_are_refused(tmp_path, twin):
    refused(tamis("select", zipped(tmp_path / "two.zip", a_csv="1,2\n", b_csv="3,4\n")), 3, "2 files", "a.csv, b.csv")
    refused(tamis("select", zipped(tmp_path / "none.zip")), 3, "0 files")
    refused(tamis("select", zipped(tmp_path / "n.zip", x_npy="1,2\n")), 3, "x.npy", "need text")
    whole = lzma.compress(twin.read_bytes())
    for name, content in [("x.csv.xz", whole[:-20]), ("y.csv.xz", b"no xz"), ("x.zip", b"no zip")]:
        (tmp_path / name).write_bytes(content)
        refused(tamis("select", tmp_path / name), 3, name)


@pytest.mark.python
def test_a_bomb_is_refused_before_it_fills_the_memory(tmp_path):
    bomb = tmp_path / "x.csv.xz"
    bomb.write_bytes(lzma.compress(b"a,b\n" + b"1,2\n" * 30_000_000))
    refused(tamis("select", bomb, "--memory", "300MB"), 4, "x.csv.xz", seconds=30)


@pytest.mark.python
def test_what_is_not_installed_is_named(tmp_path):
    for name, library in [("x.csv.zst", "zstandard"), ("x.xlsx", "openpyxl")]:
        try:
            __import__(library)
        except ImportError:
            (tmp_path / name).write_bytes(b"anything")
            refused(tamis("select", tmp_path / name), 3, library, "pip install")


@pytest.mark.python
def test_sheets_are_read(tmp_path, twin):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Export of today"])
    for row in [NAMES, *X.tolist()]:
        sheet.append(row)
    book.save(tmp_path / "x.xlsx")
    same(select(tmp_path / "x.xlsx", "-m", "maxvar"), select(twin, "-m", "maxvar"))
    book.create_sheet("other")
    book.save(tmp_path / "y.xlsx")
    refused(tamis("select", tmp_path / "y.xlsx"), 2, "2 sheets", "other")
    same(select(tmp_path / "y.xlsx", "-m", "maxvar", "--array", sheet.title), select(twin, "-m", "maxvar"))


@pytest.mark.python
def test_nulls_of_parquet_follow_missing(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"a": [1, None, 3, 7], "b": [1.5, 2.5, float("nan"), 4.0], "c": [1, 2, 3, 5]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "x.parquet")
    refused(tamis("select", tmp_path / "x.parquet", "-m", "maxvar"), 3, "null")
    result = select(tmp_path / "x.parquet", "-m", "maxvar", "--missing", "drop-rows")
    np.testing.assert_allclose(result["scores"], np.var([[1, 1.5, 1], [7, 4, 5]], axis=0, ddof=1))
    assert result["data"]["rows"] == 2
    result = select(tmp_path / "x.parquet", "-m", "maxvar", "--missing", "median")
    np.testing.assert_allclose(result["scores"][0], np.var([1, 3, 3, 7], ddof=1))
