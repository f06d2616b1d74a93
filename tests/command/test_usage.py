"""What is refused before or while reading: options out of range, files that are not there, tables too small."""

import os

import numpy as np
import pytest
from conftest import planted, refused, select, tamis, write_csv, write_npy

pytestmark = pytest.mark.hostile


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_npy(tmp_path_factory.mktemp("usage") / "x.npy", planted(30, 6))


@pytest.mark.parametrize("options", [
    ["-k", "0"], ["-k", "-1"], ["-k", "7"], ["-k", "1.5"], ["-k", "many"], ["-k", "nan"], ["-k", "-0.5"], ["-k", "1e30"],
    ["-c", "0"], ["-c", "-3"], ["-c", "31"], ["-c", "2.5"], ["-c", "99999999999999999999"],
    ["--p", "0"], ["--p", "-1"], ["--p", "2.1"], ["--p", "nan"], ["--p", "x"],
    ["--alpha", "-1"], ["--alpha", "nan"], ["--alpha", "inf"], ["--beta", "-1"], ["--beta", "nan"], ["--beta", "inf"],
    ["--sparsity", "-1"], ["--sparsity", "nan"],
    ["--dims", "0"], ["--dims", "7"], ["--restarts", "-1"], ["--iterations", "0"], ["--tolerance", "-1"],
    ["--threads", "-1"], ["--threads", "x"], ["--seed", "-1"], ["--seed", "x"],
    ["--memory", "lots"], ["--memory", "-1"], ["--scale", "log"], ["--header", "perhaps"], ["-m", "nosuch"], ["--nosuch"],
    ["--include", "99"], ["--exclude", "nosuch"], ["surplus"],
], ids=" ".join)
def test_option_out_of_range(table, options):
    refused(tamis("select", table, *([] if "-c" in options else ["-c", "3"]), *options), 2)


def test_the_message_says_what_arrived_and_what_is_allowed(table):
    refused(tamis("select", table, "-m", "ufcm", "-c", "31"), 2, "31", "30")
    refused(tamis("select", table, "-m", "ufcm", "-c", "3", "-k", "7"), 2, "7", "6")
    refused(tamis("select", table, "-m", "ufcm", "-c", "3", "--p", "2.5"), 2, "p = 2.5", "2")
    refused(tamis("select", table, "-c", "3", "-m", "nosuch"), 2, "nosuch", "ufcm")


def test_options_before_the_command(table):
    refused(tamis("--json", "select", table), 2, "--json stands before the command", "tamis select --json")


def test_yes_or_no_may_be_left_out(tmp_path, table):
    """The word after such an option is its value only where it says yes or no."""
    wanted = select(table, "-m", "ufcm", "-k", "2", "-c", "3", "--exact", "yes")
    for words in (["--exact", table, "-m", "ufcm"], [table, "-m", "ufcm", "--exact"], ["--exact=yes", table, "-m", "ufcm"],
                  [table, "--exact", "-m", "ufcm"], ["--exact", "true", table, "-m", "ufcm"]):
        assert select(*words, "-k", "2", "-c", "3")["scores"] == wanted["scores"], words
    plain = select("--exact", "no", table, "-m", "ufcm", "-k", "2", "-c", "3")
    assert plain["scores"] == select(table, "-m", "ufcm", "-k", "2", "-c", "3")["scores"] != wanted["scores"]


def test_a_config_of_bytes(table):
    refused(tamis("select", table, "--config", table), 2, "x.npy", "is not an option of tamis select")


def test_no_subcommand_and_unknown_subcommand():
    assert tamis().code == 2
    refused(tamis("nosuch"), 2)


def test_absent_file(tmp_path):
    refused(tamis("select", tmp_path / "absent.npy", "-c", "2"), 5, "absent.npy")
    refused(tamis("select", tmp_path / "absent.csv", "-c", "2"), 5, "absent.csv")


def test_a_folder_that_is_no_10x_folder(tmp_path):
    refused(tamis("select", tmp_path, "-c", "2"), 3, tmp_path.name)


@pytest.mark.parametrize("name", ["x.parquet", "x.h5ad", "x.mat", "x.xlsx", "x"])
def test_unknown_format(tmp_path, name):
    (tmp_path / name).write_bytes(b"PAR1 not ours")
    refused(tamis("select", tmp_path / name, "-c", "2"), 3, name)


@pytest.mark.native  # Python's reads them
@pytest.mark.parametrize("name", ["x.parquet", "x.feather", "x.h5ad", "x.mat"])
def test_the_native_command_names_the_python_door(tmp_path, name):
    (tmp_path / name).write_bytes(b"PAR1")
    refused(tamis("select", tmp_path / name, "-c", "2"), 3, name, "python")


@pytest.mark.parametrize("name", ["x.xls", "x.xlsm", "x.ods", "x.sav", "x.dta", "x.sas7bdat"])
def test_files_of_other_programs(tmp_path, name):
    (tmp_path / name).write_bytes(b"not ours")
    refused(tamis("select", tmp_path / name), 3, f"{name}: {name[1:]} files cannot be read; save it as .")


def test_unreadable_archives(tmp_path):
    (tmp_path / "x.csv.bz2").write_bytes(b"BZh9")
    refused(tamis("select", tmp_path / "x.csv.bz2"), 3, ".bz2 files cannot be read; unpack it or compress it as .gz")


def test_more_lines_skipped_than_there_are(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,4\n")
    refused(tamis("select", tmp_path / "x.csv", "--skip", "100"), 3, "0 rows", "--skip 100")


def test_apply_says_that_it_needs_a_selection(table, tmp_path):
    refused(tamis("apply", table, table, "-o", tmp_path / "out"), 3, "not a selection, need the selection.json")


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.npy", "x.npz", "x.mtx", "x.svm", "x.csv.gz", "x.mtx.gz"])
def test_empty_file(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    refused(tamis("select", tmp_path / name, "-c", "2"), 3, name)


def test_empty_standard_input():
    refused(tamis("select", "-", "-c", "2", stdin=b""), 3)


def test_header_only(tmp_path):
    (tmp_path / "x.csv").write_text("a,b,c\n")
    refused(tamis("select", tmp_path / "x.csv", "-c", "2"), 3, "row")


def test_one_row_says_how_many_are_needed(tmp_path):
    refused(tamis("select", write_npy(tmp_path / "x.npy", np.ones((1, 3))), "-c", "1"), 3, "2")
    refused(tamis("select", write_csv(tmp_path / "x.csv", np.ones((1, 3)), "abc"), "-c", "1"), 3, "2")


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)], ids=str)
def test_no_rows_or_no_columns(tmp_path, shape):
    refused(tamis("select", write_npy(tmp_path / "x.npy", np.empty(shape)), "-c", "1"), 3)


def test_all_constant(tmp_path):
    refused(tamis("select", write_npy(tmp_path / "x.npy", np.tile([1.0, 0.1, -3], (50, 1))), "-c", "2"), 3, "no variation")
    refused(tamis("select", write_csv(tmp_path / "x.csv", np.tile([1.0, 0.1], (50, 1)), "ab"), "-c", "2"), 3, "no variation")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_not_finite_in_an_array(tmp_path, value):
    X = planted(30, 6)
    X[17, 4] = value
    for dtype in ("<f8", "<f4", ">f8"):
        run = tamis("select", write_npy(tmp_path / "x.npy", X.astype(dtype)), "-c", "2")
        refused(run, 3, "row 17", "column 4")


@pytest.mark.parametrize("word", ["nan", "inf", "-inf", "1e999", "NaN", "Infinity"])
def test_not_finite_in_a_text_file(tmp_path, word):
    lines = ["a,b,c"] + [f"{i},{i * i % 7},{i % 3}" for i in range(20)]
    lines[12] = f"3,{word},1"
    (tmp_path / "x.csv").write_text("\n".join(lines) + "\n")
    refused(tamis("select", tmp_path / "x.csv", "-c", "2"), 3, "x.csv", "13", "b")


def test_memory_that_does_not_suffice(tmp_path):
    path = write_npy(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((20000, 200)))
    refused(tamis("select", path, "-c", "3", "--memory", "8MiB"), 4, "memory", seconds=1)


def test_the_input_is_never_changed(table):
    before = table.read_bytes(), os.stat(table).st_mtime_ns
    select(table, "-c", "3")
    tamis("select", table, "-c", "99")
    assert (table.read_bytes(), os.stat(table).st_mtime_ns) == before
