"""--groups: columns that are selected as one."""

import csv
import gzip
import os
import threading

import numpy as np
import pytest
from conftest import planted, refused, same, select, tamis, write_csv, write_npy

pytestmark = pytest.mark.shared

NAMES = ["red", "green", "blue", "x@place", "y@place", "p", "q", "r"]
PAIRS = [("red", "color"), ("green", "color"), ("blue", "color"), ("p", "pair"), ("r", "pair")]
TEXT = "".join(f"{feature},{group}\n" for feature, group in PAIRS)


def one_hot(n=120):
    X = planted(n, 8, 3, informative=5)
    X[:, :3] = np.eye(3)[np.arange(n) % 3]
    return X


@pytest.fixture
def table(tmp_path):
    return write_csv(tmp_path / "x.csv", one_hot(), NAMES)


def groups_file(folder, text, name="groups.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


READ_ALIKE = {
    "header": "feature,group\n" + TEXT,
    "CRLF": TEXT.replace("\n", "\r\n"),
    "BOM": "\ufeff" + TEXT,
    "blank lines": "\n" + TEXT + "\n\n",
    "no newline at the end": TEXT[:-1],
    "tabs": TEXT.replace(",", "\t"),
    "semicolons": TEXT.replace(",", ";"),
    "quotes": "".join(f'"{feature}","{group}"\n' for feature, group in PAIRS),
    "positions": "0,color\n1,color\n2,color\n5,pair\n7,pair\n",
    "other names": TEXT.replace("color", "zebra").replace("pair", "1e3"),
    "another order": "".join(f"{feature},{group}\n" for feature, group in PAIRS[::-1]),
    "patterns": "re*,color\ngr*n,color\nblue,color\np,pair\nr,pair\n",
    "one per column": "color\ncolor\ncolor\na\nb\npair\nc\npair\n",
}


@pytest.mark.parametrize("text", READ_ALIKE.values(), ids=READ_ALIKE)
def test_files_that_say_the_same(table, tmp_path, text):
    wanted = select(table, "-k", "3", "--groups", groups_file(tmp_path, TEXT))
    same(wanted, select(table, "-k", "3", "--groups", groups_file(tmp_path, text, "others.csv")))


def test_compressed_and_from_a_pipe(table, tmp_path):
    wanted = select(table, "-k", "3", "--groups", groups_file(tmp_path, TEXT))
    same(wanted, select(table, "-k", "3", "--groups", groups_file(tmp_path, gzip.compress(TEXT.encode()), "g.csv.gz")))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(TEXT,))
    writer.start()
    same(wanted, select(table, "-k", "3", "--groups", pipe))
    writer.join()


def test_the_header_form_is_asked_for(table):
    found = select(table, "-m", "maxvar", "-k", "1", "--groups", "@header")
    assert found["names"] == ["x@place", "y@place"] and found["groups"][0]["name"] == "place"
    assert len(select(table, "-m", "maxvar", "-k", "1")["names"]) == 1


def test_results(table, tmp_path):
    out = tmp_path / "out"
    run = tamis("select", table, "-m", "css", "-k", "2", "--groups", groups_file(tmp_path, TEXT), "-o", out)
    assert run.code == 0 and "2 of 5 selected" in run.out, str(run)
    found = select(table, "-m", "css", "-k", "2", "--groups", tmp_path / "groups.csv")
    assert len(found["groups"]) == 2
    assert found["selected"] == [j for group in found["groups"] for j in group["selected"]]
    with open(out / "ranking.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[:5] == ["rank", "index", "name", "score", "selected"] and list(rows[0])[-2:] == ["group", "column"]
    assert {row["name"]: row["group"] for row in rows} == {name: dict(PAIRS).get(name, name) for name in NAMES}
    assert [int(row["index"]) for row in rows if row["selected"] == "1"] == found["selected"]
    page = (out / "report.html").read_text()
    assert "<th scope=\"col\">group<" in page and all(f"<td>{group}<" in page for group in ("color", "pair"))
    again = tamis("apply", out / "selection.json", table, "-o", tmp_path / "applied")
    assert again.code == 0, str(again)
    assert (tmp_path / "applied" / "selected.csv").read_bytes() == (out / "selected.csv").read_bytes()


def test_included_and_excluded_with_their_groups(table, tmp_path):
    groups = groups_file(tmp_path, TEXT)
    run = tamis("select", table, "-m", "maxvar", "-k", "1", "--include", "p", "--groups", groups)
    assert run.code == 0 and "1 more column of the same group is included" in run.err
    assert select(table, "-m", "maxvar", "-k", "1", "--include", "p", "--groups", groups)["names"] == ["p", "r"]
    left = select(table, "-m", "maxvar", "-k", "all", "--exclude", "green", "--groups", groups)
    assert not {"red", "green", "blue"} & set(left["names"])
    refused(tamis("select", table, "--include", "p", "--exclude", "r", "--groups", groups, "--quiet"), 2, "both included")


def test_memory_and_disk_agree(tmp_path):
    X = np.hstack([one_hot(4000)] * 4)
    path = write_npy(tmp_path / "x.npy", X)
    groups = groups_file(tmp_path, "".join(f"{j},g{j // 3}\n" for j in range(X.shape[1])))
    for method in ("css", "ufcm", "maxvar"):
        words = [path, "-m", method, "-k", "3", "--groups", groups, "--redundancy", "off"]
        wanted = select(*words)
        run = tamis("select", *words, "--memory", "1", "--json", "--quiet")
        least = run.err.rsplit("--memory ", 1)[1].strip()
        same(wanted, select(*words, "--memory", least))


@pytest.mark.hostile
@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("", 3, ["0 groups"]),
        ("feature,group\n", 3, ["0 groups"]),
        ("red,color\ngren,color\n", 2, ["no feature is named 'gren'", "did you mean 'green'"]),
        ("red,color\nred,other\n", 2, ["line 2", "'red'", "'color' already"]),
        ("red,color,1\n", 3, ["line 1"]),
        ("red,\n", 3, ["line 1"]),
        ("red,color\nblue\n", 3, ["line 2"]),
        ("a\nb\n", 3, ["2 groups", "8 features"]),
        ("99,color\n", 2, ["position 99", "0..7"]),
        (b"red,\0color\n", 3, ["groups.csv"]),
    ],
)
def test_what_is_no_file_of_groups(table, tmp_path, text, code, words):
    refused(tamis("select", table, "-k", "2", "--groups", groups_file(tmp_path, text)), code, "groups.csv", *words)


@pytest.mark.hostile
def test_refused(table, tmp_path):
    groups = groups_file(tmp_path, TEXT)
    refused(tamis("select", table, "-k", "6", "--groups", groups), 2, "features = 6, need 1..5, the number of groups")
    refused(tamis("select", table, "-k", "2", "--groups", tmp_path / "none.csv"), 5, "none.csv")
    refused(tamis("select", table, "-k", "2", "--groups", tmp_path), 3, "folder")
    refused(tamis("select", table, "-m", "css", "-k", "2", "--swaps", "1", "--groups", groups), 2, "swaps = 1 with groups")
    refused(tamis("select", table, "-m", "ufcm", "-c", "3", "-k", "2", "--order", "qr", "--groups", groups), 2, "order = qr")
    plain = write_npy(tmp_path / "plain.npy", one_hot())
    refused(tamis("select", plain, "-k", "2", "--groups", "@header"), 2, "NAME@GROUP")
