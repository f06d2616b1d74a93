"""CSV, TSV, MatrixMarket, 10x folders and libsvm: read right, or refused with the line; never misread."""

import gzip
import os

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from conftest import close, planted, refused, same, select, tamis, write_npy

pytestmark = [pytest.mark.hostile, pytest.mark.shared]

ROWS = [[1, 10, 3], [2, 11, 1], [1.5, 30, 2], [2.5, 31, 5], [1, 32, 4], [2, 12, 3]]


def read(tmp_path, text, *options, name="x.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return tamis("select", path, "-c", "2", "--json", *options)


def lines(rows=ROWS, separator=",", decimal="."):
    return [separator.join(str(x).replace(".", decimal) for x in row) for row in rows]


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return select(write_npy(tmp_path_factory.mktemp("text") / "x.npy", np.array(ROWS)), "-c", "2")


READ_RIGHT = {
    "plain": "\n".join(["a,b,c", *lines()]) + "\n",
    "no newline at the end": "\n".join(["a,b,c", *lines()]),
    "CRLF": "\r\n".join(["a,b,c", *lines()]) + "\r\n",
    "UTF-16": "\n".join(["a,b,c", *lines()]).encode("utf-16"),
    "BOM": "\ufeff" + "\n".join(["a,b,c", *lines()]) + "\n",
    "blank lines at the end": "\n".join(["a,b,c", *lines()]) + "\n\n",
    "quoted header": "\n".join(['"a","b","c"', *lines()]) + "\n",
    "quoted cells": "\n".join(["a,b,c", *[",".join(f'"{x}"' for x in row) for row in ROWS]]) + "\n",
    "spaces around": "\n".join(["a,b,c", *[" , ".join(map(str, row)) for row in ROWS]]) + "\n",
    "signs and exponents": "\n".join(["a,b,c", *[",".join(f"{x:+e}" for x in row) for row in ROWS]]) + "\n",
}


@pytest.mark.parametrize("name", READ_RIGHT)
def test_csv_that_is_read_right(tmp_path, expected, name):
    run = read(tmp_path, READ_RIGHT[name])
    assert run.code == 0, str(run)
    same(run.json, expected)
    assert sorted(run.json["names"]) == ["a", "b", "c"]


def test_csv_without_a_header(tmp_path, expected):
    same(read(tmp_path, "\n".join(lines()) + "\n").json, expected)
    same(read(tmp_path, "\n".join(lines()) + "\n", "--header", "no").json, expected)
    run = read(tmp_path, "\n".join(["7,8,9", *lines()]) + "\n", "--header", "yes")
    same(run.json, expected)
    assert sorted(run.json["names"]) == ["7", "8", "9"]


def test_tsv_gzip_and_standard_input(tmp_path, expected):
    text = "\n".join(["a,b,c", *lines()]) + "\n"
    same(read(tmp_path, text.replace(",", "\t"), name="x.tsv").json, expected)
    same(read(tmp_path, gzip.compress(text.encode()), name="x.csv.gz").json, expected)
    halves = gzip.compress(text[:20].encode()) + gzip.compress(text[20:].encode())  # two members
    same(read(tmp_path, halves, name="x.csv.gz").json, expected)
    same(tamis("select", "-", "-c", "2", "--json", stdin=text.encode()).json, expected)


def test_csv_semicolons_with_decimal_comma(tmp_path, expected):
    same(read(tmp_path, "\n".join(["a;b;c", *lines(separator=";", decimal=",")]) + "\n").json, expected)
    same(read(tmp_path, "\n".join(["a;b;c", *lines(separator=";")]) + "\n").json, expected)


@pytest.mark.parametrize("locale", ["C", "de_DE.UTF-8", "tr_TR.UTF-8", "nonsense"])
def test_any_locale(tmp_path, expected, locale):
    path = tmp_path / "x.csv"
    path.write_text("\n".join(["a,b,c", *lines()]) + "\n")
    same(select(path, "-c", "2", env={"LC_ALL": locale, "LANG": locale}), expected)


REFUSED = {  # text, the words of the message
    "ragged, short": ("a,b,c\n1,2,3\n4,5\n6,7,8\n", ["x.csv", "3"]),
    "ragged, long": ("a,b,c\n1,2,3\n4,5,6,7\n6,7,8\n", ["x.csv", "3"]),
    "unclosed quote": ('a,b,c\n1,"2,3\n4,5,6\n', ["x.csv", "2"]),
    "unclosed quote in the header": ('a,"b,c\n1,2,3\n4,5,6\n', ["x.csv", "1"]),
    "text after a quote": ('a,b\n"1"2,3\n4,5\n', ["x.csv", "2"]),
    "NUL": ("a,b,c\n1,2,3\n4,\0,6\n6,7,8\n", ["x.csv", "3"]),
    "word": ("a,b,c\n1,2,3\n4,five,6\n6,7,8\n", ["x.csv", "3", "b", "five"]),
    "two numbers in a cell": ("a,b\n1,2 3\n4,5\n", ["x.csv", "2"]),
    "hexadecimal": ("a,b\n1,0x10\n4,5\n", ["x.csv", "2"]),
    "thousands": ('a,b\n1,"1,234"\n4,5\n', ["x.csv", "2"]),
    "number with a tail": ("a,b\n1,2e\n4,5\n", ["x.csv", "2"]),
    "blank line inside": ("a,b,c\n1,2,3\n\n4,5,6\n7,8,8\n", ["x.csv", "3"]),
    "UTF-16 cut in a character": ("a,b\n1,2\n3,4\n".encode("utf-16")[:-1], ["x.csv", "UTF-16"]),
    "binary": (bytes(range(256)) * 4, ["x.csv"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_csv_that_is_refused(tmp_path, name):
    text, words = REFUSED[name]
    refused(read(tmp_path, text), 3, *words)


@pytest.mark.parametrize("header", ["a,b,a", ",,"])
def test_names_may_repeat_and_be_empty(tmp_path, expected, header):
    run = read(tmp_path, "\n".join([header, *lines()]) + "\n")
    same(run.json, expected)
    assert run.json["names"] == [header.split(",")[j] for j in run.json["selected"]]


@pytest.mark.parametrize("word", ["NA", "", "NaN", "null", "?"])
def test_missing_values_are_refused_with_their_place(tmp_path, word):
    run = read(tmp_path, f"aa,bb,cc\n1,2,3\n4,{word},6\n6,7,8\n")
    refused(run, 3, "3", "bb")


@pytest.mark.unsanitized
def test_one_very_long_line(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"a,b\n" + b"1" * 100_000_000 + b"\n")
    refused(tamis("select", tmp_path / "x.csv", "-c", "2"), 3, "2", seconds=5)
    (tmp_path / "x.csv").write_bytes(b'a,b\n"' + b"1,2\n" * 25_000_000)
    refused(tamis("select", tmp_path / "x.csv", "-c", "2"), 3, "2", seconds=5)


def test_id_labels_and_excluded_columns_may_hold_text(tmp_path, expected):
    text = "sample,a,b,c,kind\n" + "".join(f"s{i},{line},k{i % 2}\n" for i, line in enumerate(lines()))
    refused(read(tmp_path, text), 3, "2", "sample")
    run = read(tmp_path, text, "--id", "sample", "--exclude", "kind")
    assert run.code == 0, str(run)
    np.testing.assert_array_equal([s for s in run.json["scores"] if s is not None], expected["scores"])
    assert sorted(run.json["names"]) == ["a", "b", "c"]


def test_gzip_malformed(tmp_path):
    whole = gzip.compress(("a,b\n" + "1,2\n3,5\n" * 200).encode())
    for bad in (whole[:-1], whole[: len(whole) // 2], whole[:12], whole[:3], whole[:-5] + b"\0" * 5, b"\x1f\x8b" + b"\xff" * 50):
        refused(read(tmp_path, bad, name="x.csv.gz"), 3, "x.csv.gz")


def mtx(body, kind="matrix coordinate real general"):
    return f"%%MatrixMarket {kind}\n{body}"


def test_mtx_is_read(tmp_path):
    X = planted(40, 6).round(3) * (np.random.default_rng(1).random((40, 6)) < 0.6)
    dense = select(write_npy(tmp_path / "x.npy", X), "-c", "3")
    scipy.io.mmwrite(tmp_path / "x.mtx", scipy.sparse.coo_matrix(X), precision=17)
    close(select(tmp_path / "x.mtx", "-c", "3"), dense, 1e-5)
    packed = tmp_path / "z.mtx.gz"
    packed.write_bytes(gzip.compress((tmp_path / "x.mtx").read_bytes()))
    same(select(packed, "-c", "3"), select(tmp_path / "x.mtx", "-c", "3"))
    scipy.io.mmwrite(tmp_path / "t.mtx", scipy.sparse.coo_matrix(X.T), precision=17)
    same(select(tmp_path / "t.mtx", "-c", "3", "--transpose"), select(tmp_path / "x.mtx", "-c", "3"))


def test_mtx_kinds(tmp_path):
    (tmp_path / "i.mtx").write_text(mtx("% a comment\n3 2 4\n1 1 5\n2 2 7\n3 1 1\n3 2 2\n", "matrix coordinate integer general"))
    assert select(tmp_path / "i.mtx", "-c", "2")["data"]["rows"] == 3
    (tmp_path / "p.mtx").write_text(mtx("3 2 2\n1 1\n2 2\n", "matrix coordinate pattern general"))
    (tmp_path / "r.mtx").write_text(mtx("3 2 2\n1 1 1\n2 2 1\n"))
    same(select(tmp_path / "p.mtx", "-c", "2"), select(tmp_path / "r.mtx", "-c", "2"))


@pytest.mark.parametrize("body", [
    "", "3 2\n", "3 2 1\n", "3 2 1\n4 1 5\n", "3 2 1\n0 1 5\n", "3 2 1\n1 3 5\n", "3 2 1\n-1 1 5\n", "3 2 1\n1 1 x\n",
    "3 2 1\n1 1 nan\n", "3 2 1\n1 1 1e999\n", "3 2 2\n1 1 5\n", "3 2 1\n1 1 5\n2 2 7\n", "-3 2 1\n1 1 5\n",
    "9999999999999999999999 2 1\n1 1 5\n", "3 2 99999999999999999\n1 1 5\n", "1000000000000000 10 1\n1 1 5\n",
    "3 2 1\n1 1\n", "3 2 1\n1 1 5 6\n", "0 0 0\n", "3.5 2 1\n1 1 5\n",
], ids=repr)
def test_mtx_malformed(tmp_path, body):
    (tmp_path / "x.mtx").write_text(mtx(body))
    refused(tamis("select", tmp_path / "x.mtx", "-c", "1"), (3, 4), "x.mtx", seconds=1)


@pytest.mark.parametrize("kind", ["matrix coordinate complex general", "matrix nonsense real general", "vector", ""])
def test_mtx_other_kinds(tmp_path, kind):
    (tmp_path / "x.mtx").write_text(mtx("3 2 1\n1 1 5\n", kind))
    refused(tamis("select", tmp_path / "x.mtx", "-c", "1"), 3, "x.mtx")
    (tmp_path / "y.mtx").write_text("3 2 1\n1 1 5\n")
    refused(tamis("select", tmp_path / "y.mtx", "-c", "1"), 3, "y.mtx")


def test_mtx_repeated_entry_is_summed(tmp_path):
    (tmp_path / "x.mtx").write_text(mtx("3 2 4\n1 1 2\n1 1 3\n2 2 7\n3 1 1\n"))
    (tmp_path / "y.mtx").write_text(mtx("3 2 3\n1 1 5\n2 2 7\n3 1 1\n"))
    same(select(tmp_path / "x.mtx", "-c", "2"), select(tmp_path / "y.mtx", "-c", "2"))


def tenx(folder, X, packed=True, genes=None):
    folder.mkdir()
    scipy.io.mmwrite(folder / "matrix.mtx", scipy.sparse.coo_matrix(X.T), precision=17)
    n, d = X.shape
    genes = genes or [f"ENSG{j}\tGENE{j}\tGene Expression" for j in range(d)]
    (folder / "features.tsv").write_text("\n".join(genes) + "\n")
    (folder / "barcodes.tsv").write_text("".join(f"AACG-{i}\n" for i in range(n)))
    if packed:
        for name in os.listdir(folder):
            (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
            (folder / name).unlink()
    return folder


@pytest.mark.parametrize("packed", [True, False])
def test_10x_folder_is_transposed(tmp_path, packed):
    X = np.random.default_rng(0).poisson(1.0, (50, 9)) * 1.0
    X[:25, 2] += 20
    result = select(tenx(tmp_path / "cells", X, packed), "-c", "2")
    assert (result["data"]["rows"], result["data"]["features"]) == (50, 9)
    assert result["selected"][0] == 2 and result["names"] == [f"GENE{j}" for j in result["selected"]]
    close(result, select(write_npy(tmp_path / "x.npy", X), "-c", "2"), 1e-5)


def test_10x_folder_with_a_wrong_number_of_names(tmp_path):
    X = np.random.default_rng(0).poisson(1.0, (20, 5)) * 1.0
    refused(tamis("select", tenx(tmp_path / "cells", X, genes=["a\tA", "b\tB"]), "-c", "2"), 3, "features")


def test_libsvm_is_read(tmp_path):
    X = planted(40, 6).round(3) * (np.random.default_rng(1).random((40, 6)) < 0.6)
    X[0, 5] = 1.5  # so that the last column is in the file
    entries = [" ".join(f"{j + 1}:{x!r}" for j, x in enumerate(row) if x) for row in X.tolist()]
    text = "".join(f"{i % 3} {row}\n" for i, row in enumerate(entries))
    for name in ("x.svm", "x.libsvm", "x.svmlight"):
        (tmp_path / name).write_text(text)
        close(select(tmp_path / name, "-c", "3"), select(write_npy(tmp_path / "x.npy", X), "-c", "3"), 1e-5)


@pytest.mark.parametrize("line", ["1 0:5", "1 -1:5", "1 2:5 1:3", "1 1:5 1:6", "1 1:x", "1 1:nan", "1 1:1e999", "1 x:1", "1 1",
                                  "1 1:", "1 :1", "1 99999999999999999999:1", "1 9000000000000000000:1", "x 1:2", "1 1:2:3"])
def test_libsvm_malformed(tmp_path, line):
    (tmp_path / "x.svm").write_text(f"1 1:2 2:3\n0 1:1\n{line}\n1 2:2\n")
    refused(tamis("select", tmp_path / "x.svm", "-c", "2"), 3, "x.svm", "line 3", seconds=1)
