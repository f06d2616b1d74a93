"""Small files that ask for gigabytes: refused in one line, in memory of the order of the limit, or of the file."""

import gzip
import io
import struct

import numpy as np
import pytest
import scipy.io
from conftest import peak_memory, planted, refused, same, select, tamis, write_npy
from limits import at_rest

pytestmark = [pytest.mark.hostile, pytest.mark.unsanitized, pytest.mark.shared]

LIMIT = 100 << 20
PROGRAM = 100e6  # of the process beside what the limit is for: libraries and Python
UNLIMITED = 300e6  # what a small file may take without --memory


def packed(*pieces, times=1):
    """gzip of the first piece so many times, and of the others once."""
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=6) as file:
        for _ in range(times):
            file.write(pieces[0])
        for piece in pieces[1:]:
            file.write(piece)
    return buffer.getvalue()


def text_array(item, count):
    header = f"{{'descr': '{item}', 'fortran_order': False, 'shape': ({count},), }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header


MTX = b"%%MatrixMarket matrix coordinate real general\n"
NUMBERED = [b"".join(b"w%d,%d\n" % (i, i % 7) for i in range(k, k + 100_000)) for k in range(0, 2_000_000, 100_000)]

# name of the file, bytes, arguments, exit code, words of the message; {} is the file, x.npy a good table
LIMITED = {
    "blank lines of labels": ("y.txt.gz", lambda: packed(b"\n" * (1 << 20), b"a\n", times=55), "x.npy --labels {}", 3,
                              ["y.txt.gz: line 57671681", "50 rows"]),
    "header of long names": ("x.csv.gz", lambda: packed((b"a" * 100 + b",") * 10_000, b"a\n1,2\n", times=350), "{}", 4,
                             ["x.csv.gz: line 1", "the limit is 100 MiB"]),
    "header of short names": ("x.csv.gz", lambda: packed(b"a," * (1 << 19), b"a\n1,2\n", times=24), "{}", 4,
                              ["x.csv.gz: line 1"]),
    "row identifiers": ("x.csv.gz", lambda: packed(b"id,a\n", *NUMBERED), "{} --id id", 4, ["x.csv.gz: line"]),
    "distinct labels": ("x.csv.gz", lambda: packed(b"id,a\n", *NUMBERED), "{} --labels id", 4, ["x.csv.gz: line"]),
    "distinct words of a list": ("list.gz", lambda: packed(b"", *NUMBERED), "x.npy --exclude @{}", 4, ["list.gz: line"]),
    "comment of a matrix": ("x.mtx.gz", lambda: packed(MTX + b"%", *[b"x" * (1 << 20)] * 300), "{}", 3,
                            ["x.mtx.gz: line 2: longer than"]),
    "row of libsvm": ("x.svm.gz", lambda: packed(b"1 1:1", *[b" " * (1 << 20)] * 200), "{}", 4, ["x.svm.gz: line 1"]),
    "empty rows of libsvm": ("x.svm.gz", lambda: packed(b"1\n" * (1 << 19), b"1 1:1\n", times=60), "{}", 3, ["x.svm.gz"]),
}


def in_folder(folder, name, content, arguments):
    write_npy(folder / "x.npy", planted(50, 5))
    (folder / name).write_bytes(content)
    return ["select", *(arguments.format(folder / name).replace("x.npy", str(folder / "x.npy")).split()), "-c", "2"]


@pytest.mark.parametrize("case", LIMITED)
def test_the_memory_limit_holds_while_reading(tmp_path, case):
    name, content, arguments, code, words = LIMITED[case]
    command = [*in_folder(tmp_path, name, content(), arguments), "--memory", LIMIT]
    refused(tamis(*command), code, *words, seconds=10)
    exit_code, peak = peak_memory(*command)
    assert exit_code == code and peak < LIMIT + PROGRAM, (exit_code, peak)


def test_names_are_read_one_by_one(tmp_path):
    X, names = write_npy(tmp_path / "x.npy", planted(50, 5)), tmp_path / "names.txt.gz"
    names.write_bytes(packed(b"a\n" * (1 << 19), times=100))
    command = ["select", X, "-c", "2", "--names", names, "--memory", 1 << 30]
    refused(tamis(*command), 3, "names.txt.gz: 52428800 names, need 5")
    code, peak = peak_memory(*command)
    assert code == 3 and peak < PROGRAM, (code, peak)


@pytest.mark.parametrize("content", ["numbers", "empty arrays", "text", "members"])
def test_the_document_of_apply(tmp_path, content):
    X, document = write_npy(tmp_path / "x.npy", planted(50, 5)), tmp_path / "x.json"
    piece = {"numbers": "[" + "0," * 4_000_000 + "0]", "empty arrays": "[" + "[]," * 2_000_000 + "[]]",
             "text": '"' + "a" * 90_000_000 + '"', "members": "{" + ",".join(f'"{i}":0' for i in range(700_000)) + "}"}[content]
    document.write_text('{"method": "ufcm", "selected": ' + piece + "}")
    command = ["apply", document, X, "-o", tmp_path / "out", "--memory", LIMIT]
    refused(tamis(*command), 4, "x.json", "the limit is", seconds=10)
    code, peak = peak_memory(*command)
    assert code == 4 and peak < LIMIT + PROGRAM, (code, peak)


def test_info_of_a_header_that_no_row_fills(tmp_path):
    (tmp_path / "x.csv.gz").write_bytes(packed(b"a," * (1 << 19), b"a\n1,2\n", times=24))
    refused(tamis("info", tmp_path / "x.csv.gz"), 3, "line 1: 12582913 columns, but no row has more than 2 cells", seconds=10)
    code, peak = peak_memory("info", tmp_path / "x.csv.gz")
    assert code == 3 and peak < UNLIMITED, (code, peak)


def test_info_of_short_rows_under_a_wide_header(tmp_path):
    (tmp_path / "x.csv").write_bytes(b",".join(b"c%d" % j for j in range(5000)) + b"\n" + b"1\n2\n" * 200_000)
    run = tamis("info", tmp_path / "x.csv", "--json")
    assert run.code == 0 and "line 2" in run.json["problem"] and run.seconds < at_rest(10), str(run)
    assert [column["missing"] for column in run.json["columns"][:3]] == [0, 400_000, 400_000]


def test_info_of_distinct_words(tmp_path):
    (tmp_path / "x.csv.gz").write_bytes(packed(b"id,a\n", *NUMBERED))
    command = ["info", tmp_path / "x.csv.gz", "--memory", LIMIT]
    code, peak = peak_memory(*command)
    assert code == 0 and peak < LIMIT + PROGRAM, (code, peak)


UNLIMITED_CASES = {
    "labels of no letters": ("y.npy", lambda: text_array("<U0", 70_000_000), "x.npy --labels {}", 3, ["70000000 labels"]),
    "column 2^24 of libsvm": ("x.svm", lambda: b"1 1:1 2:2\n0 1:2\n1 16777216:1\n", "{}", 3, ["16777216", "4 entries"]),
    "column 2^24 that is zero": ("x.svm", lambda: b"1 1:1 2:2\n0 1:2\n1 16777216:0\n", "{}", 3, ["16777216"]),
    "last row of many": ("x.mtx.gz", lambda: packed(MTX, b"1000000000 3 400000000\n1 1 2\n1000000000 1 5\n"), "{}", 3,
                         ["line 4", "ends after 2 of 400000000"]),
    "columns of zeros": ("x.mtx.gz", lambda: packed(b"", MTX, b"3 30000000 300000\n", b"1 1 0\n" * 300_000), "{}", 3,
                         ["30000000", "0 entries"]),
    "first column of a symmetric array": (
        "x.mtx.gz", lambda: packed(b"%%MatrixMarket matrix array real symmetric\n30000 30000\n", b"1\n" * 30000), "{}", 3,
        ["ends before column 1"]),
}


@pytest.mark.parametrize("case", UNLIMITED_CASES)
def test_a_small_file_takes_little_memory_without_a_limit(tmp_path, case):
    name, content, arguments, code, words = UNLIMITED_CASES[case]
    command = in_folder(tmp_path, name, content(), arguments)
    refused(tamis(*command), code, *words)
    exit_code, peak = peak_memory(*command)
    assert exit_code == code and peak < UNLIMITED, (exit_code, peak)


def test_a_million_columns_may_be_empty(tmp_path):
    (tmp_path / "x.svm").write_bytes(b"1 1:1 2:2\n0 1:2\n1 1048576:1\n")
    code, peak = peak_memory("select", tmp_path / "x.svm", "-c", "2", "--quiet")
    assert code == 0 and peak < UNLIMITED, (code, peak)


def test_a_list_takes_each_word_once(tmp_path):
    X = write_npy(tmp_path / "x.npy", planted(50, 5))
    (tmp_path / "list.gz").write_bytes(packed(b"3\n" * (1 << 19), b"1\n", times=60))  # 63 MB of text
    command = ["select", X, "-c", "2", "--exclude", f"@{tmp_path / 'list.gz'}", "--memory", LIMIT]
    same(select(*command[1:]), select(X, "-c", "2", "--exclude", "1,3"))
    code, peak = peak_memory(*command)
    assert code == 0 and peak < LIMIT + PROGRAM, (code, peak)


@pytest.mark.python
@pytest.mark.parametrize("case", ["table", "labels", "cells", "another variable"])
def test_matlab(tmp_path, case):
    table, many = planted(50, 5), np.zeros((4_000_000, 8))
    cells = np.full((400_000, 1), "", object)
    variables = {"table": {"X": many}, "labels": {"X": table, "y": many}, "cells": {"X": table, "y": cells},
                 "another variable": {"Z": many, "X": table}}[case]
    scipy.io.savemat(tmp_path / "x.mat", variables, do_compression=True)
    labels = ["--labels", "y"] if "y" in variables else []
    command = ["select", tmp_path / "x.mat", "-c", "2", *labels, "--memory", 256 << 20]
    expected = {"table": 4, "labels": 3, "cells": 3, "another variable": 0}[case]
    if expected:
        refused(tamis(*command), expected, "x.mat", {"table": "the limit is"}.get(case, "y"))
    code, peak = peak_memory(*command)
    assert code == expected and peak < UNLIMITED, (code, peak)
