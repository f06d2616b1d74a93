"""What comes out: the JSON, the folder of -o, names that mean harm, and writing that fails."""

import csv
import json
import os
import signal
import subprocess
import time
from html.parser import HTMLParser

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from conftest import COMMAND, planted, refused, select, tamis, write_csv, write_npy


def test_json_shape(tmp_path):
    X = planted(90, 7)
    path = write_csv(tmp_path / "x.csv", X, [f"col{j}" for j in range(7)])
    result = select(path, "-m", "ufcm", "-c", "3", "-k", "4", "--exclude", "col6", "--seed", "5")
    assert isinstance(result["tamis"], str) and result["method"] == "ufcm"
    options = result["options"]
    assert options["clusters"] == 3 and options["alpha"] == 1 and options["p"] == 1 and options["restarts"] == 10
    assert (result["data"]["rows"], result["data"]["features"]) == (90, 7)
    assert len(result["selected"]) == 4 and result["names"] == [f"col{j}" for j in result["selected"]]
    assert len(result["scores"]) == 7 and result["scores"][6] is None and all(s >= 0 for s in result["scores"][:6])
    assert len(result["clusters"]) == 90 and set(result["clusters"]) == {0, 1, 2}
    report = result["report"]
    assert report["status"] in ("converged", "max_iterations") and report["iterations"] == len(report["objective"])
    assert set(report["terms"]) == {"scatter", "within", "sparsity"}
    assert all(len(term) == report["iterations"] for term in report["terms"].values())
    assert report["seed"] == 5 and report["seconds"] > 0 and report["passes"] > 1 and report["peak_bytes"] > 1e6
    assert isinstance(report["path"], str) and report["path"]


def test_the_terms_make_the_objective(tmp_path):
    result = select(write_npy(tmp_path / "x.npy", planted(90, 7)), "-m", "ufcm", "-c", "3", "--alpha", "0.5", "--beta", "20")
    terms = {name: np.array(values) for name, values in result["report"]["terms"].items()}
    weighted = terms["scatter"] - 0.5 * terms["within"] - 20 * terms["sparsity"]
    np.testing.assert_allclose(result["report"]["objective"], weighted, rtol=1e-9)
    scores = np.array(result["scores"])
    np.testing.assert_allclose(terms["sparsity"][-1], np.sum(np.sqrt(scores**2 + 1e-10)), rtol=1e-9)


def test_k_as_a_fraction_and_everything_without(tmp_path):
    path = write_npy(tmp_path / "x.npy", planted(90, 10))
    assert len(select(path, "-c", "3", "-k", "0.3")["selected"]) == 3
    assert len(select(path, "-c", "3", "-k", "0.0001")["selected"]) == 1
    assert sorted(select(path, "-c", "3")["selected"]) == list(range(10))
    assert len(select(path, "-c", "3", "-k", "10")["selected"]) == 10


def test_include_and_exclude(tmp_path):
    path = write_npy(tmp_path / "x.npy", planted(90, 10))
    result = select(path, "-c", "3", "-k", "2", "--include", "9")
    assert 9 in result["selected"]
    result = select(path, "-c", "3", "--exclude", "0,1")
    assert not {0, 1} & set(result["selected"]) and result["scores"][:2] == [None, None]


def test_a_table_for_people(tmp_path):
    run = tamis("select", write_csv(tmp_path / "x.csv", planted(90, 6), "abcdef"), "-c", "3", "-k", "2")
    assert run.code == 0 and len(run.out.splitlines()) >= 3 and "\x1b" not in run.out


def test_quiet(tmp_path):
    run = tamis("select", write_npy(tmp_path / "x.npy", planted(90, 6)), "--quiet", "--json")
    assert run.code == 0 and run.err == ""


def test_clusters_not_given_are_announced(tmp_path):
    run = tamis("select", write_npy(tmp_path / "x.npy", planted(90, 6)), "-m", "ufcm", "--json")
    assert run.code == 0 and run.json["options"]["clusters"] == 8 and "8" in run.err


def test_warning_when_scales_differ(tmp_path):
    X = planted(90, 6) * [1, 1, 1, 1, 1, 1000]
    run = tamis("select", write_npy(tmp_path / "x.npy", X), "-c", "3", "--json")
    assert run.code == 0 and "scale" in run.err.lower()


def test_strict(tmp_path):
    path = write_npy(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((200, 30)))
    run = tamis("select", path, "-m", "ufcm", "-c", "5", "--iterations", "1", "--json")
    assert run.code == 0 and run.json["report"]["status"] == "max_iterations"
    assert tamis("select", path, "-m", "ufcm", "-c", "5", "--iterations", "1", "--json", "--strict").code == 6


@pytest.mark.parametrize("name", ["x.csv", "x.npy", "x.mtx"])
def test_output_folder(tmp_path, name):
    X = planted(60, 8)
    path = tmp_path / name
    if name == "x.csv":
        write_csv(path, X, [f"c{j}" for j in range(8)])
    elif name == "x.npy":
        write_npy(path, X)
    else:
        scipy.io.mmwrite(path, scipy.sparse.coo_matrix(X), precision=17)
    out = tmp_path / "out"
    result = select(path, "-c", "3", "-k", "3", "-o", out)
    table = f"selected{path.suffix}"
    assert set(os.listdir(out)) == {"report.html", "ranking.csv", "selection.json", table, "clusters.csv"}
    with open(out / "clusters.csv", newline="") as file:
        clusters = list(csv.reader(file))
    assert clusters == [["row", "cluster"], *([str(i), str(k)] for i, k in enumerate(result["clusters"]))]

    with open(out / "ranking.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) == 1 + 8
    assert json.loads((out / "selection.json").read_text())["selected"] == result["selected"]
    chosen = sorted(result["selected"])
    if name == "x.csv":
        with open(out / table, newline="") as file:
            cells = list(csv.reader(file))
        assert sorted(cells[0]) == sorted(f"c{j}" for j in chosen)
        columns = [int(c[1:]) for c in cells[0]]
        np.testing.assert_array_equal(np.array(cells[1:], float), X[:, columns])
    elif name == "x.npy":
        Y = np.load(out / table)
        assert any(np.array_equal(Y, X[:, order]) for order in (chosen, result["selected"]))
    else:
        Y = scipy.io.mmread(out / table).toarray()
        assert any(np.array_equal(Y, X[:, order]) for order in (chosen, result["selected"]))


def test_output_folder_is_replaced_whole(tmp_path):
    path = write_npy(tmp_path / "x.npy", planted(60, 8))
    select(path, "-c", "3", "-k", "3", "-o", tmp_path / "out")
    (tmp_path / "out" / "mine.txt").write_text("kept")
    select(path, "-c", "3", "-k", "5", "-o", tmp_path / "out")
    assert (tmp_path / "out" / "mine.txt").read_text() == "kept"
    assert len(json.loads((tmp_path / "out" / "selection.json").read_text())["selected"]) == 5
    assert not [name for name in os.listdir(tmp_path / "out") if "tmp" in name.lower()]


def test_a_failed_run_leaves_the_earlier_result(tmp_path):
    path = write_npy(tmp_path / "x.npy", planted(60, 8))
    select(path, "-c", "3", "-k", "3", "-o", tmp_path / "out")
    before = {name: (tmp_path / "out" / name).read_bytes() for name in os.listdir(tmp_path / "out")}
    bad = planted(60, 8)
    bad[5, 5] = np.nan
    refused(tamis("select", write_npy(path, bad), "-c", "3", "-o", tmp_path / "out"), 3)
    assert {name: (tmp_path / "out" / name).read_bytes() for name in os.listdir(tmp_path / "out")} == before
    refused(tamis("select", path, "-c", "3", "-o", tmp_path / "new"), 3)
    assert not (tmp_path / "new").exists()


def test_output_that_would_overwrite_the_input(tmp_path):
    path = write_npy(tmp_path / "selected.npy", planted(60, 8))
    before = path.read_bytes()
    refused(tamis("select", path, "-c", "3", "-o", tmp_path), (2, 5))
    refused(tamis("select", path, "-c", "3", "-o", path), (2, 5))
    (tmp_path / "folder").mkdir()
    os.link(path, tmp_path / "folder" / "selected.npy")
    refused(tamis("select", path, "-c", "3", "-o", tmp_path / "folder"), (2, 5))
    assert path.read_bytes() == before


def test_output_places_that_cannot_be_written(tmp_path):
    path = write_npy(tmp_path / "x.npy", planted(60, 8))
    refused(tamis("select", path, "-c", "3", "-o", "/proc/tamis"), (2, 5))
    refused(tamis("select", path, "-c", "3", "-o", "/dev/full"), (2, 5))
    os.mkfifo(tmp_path / "fifo")
    refused(tamis("select", path, "-c", "3", "-o", tmp_path / "fifo"), (2, 5))
    if os.geteuid() != 0:
        (tmp_path / "locked").mkdir(mode=0o500)
        refused(tamis("select", path, "-c", "3", "-o", tmp_path / "locked"), 5)


@pytest.mark.hostile
def test_input_from_a_fifo_and_from_a_device(tmp_path):
    os.mkfifo(tmp_path / "x.csv")
    command = subprocess.Popen([str(COMMAND), "select", str(tmp_path / "x.csv"), "-c", "3"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.3)
    command.send_signal(signal.SIGINT)  # nobody writes to it
    assert command.wait(timeout=2) == 130
    command.communicate()
    for device in ("/dev/full", "/dev/zero", "/dev/null"):
        refused(tamis("select", device, "-c", "3", timeout=10), 3, device)


def test_standard_output_is_full(tmp_path):
    path = write_npy(tmp_path / "x.npy", planted(60, 8))
    for options in ([], ["--json"]):
        with open("/dev/full", "wb") as full:
            refused(tamis("select", path, "-c", "3", *options, stdout=full), 5)


def test_standard_output_is_closed_early(tmp_path):
    path = write_npy(tmp_path / "x.npy", planted(20000, 8))
    command = subprocess.Popen([str(COMMAND), "select", str(path), "-c", "3", "--json", "--quiet"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    command.stdout.close()
    err = command.stderr.read().decode()
    assert command.wait(timeout=20) == 0 and err == "", (command.returncode, err)  # as for head: nobody wants the rest


HARMFUL = ["<script>alert(1)</script>", "{{7*7}}", "=cmd|' /C calc'!A0", "../../x", "\x1b[31mred\x1b[0m", "+1+1", "@SUM(A1)",
           "-2+3", '"><img src=x onerror=alert(1)>', "</script><script>alert(2)</script>", "a\u202eb", "name, with; \"quotes\""]


class Elements(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.policies, self.handlers = [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.handlers += [name for name, _ in attributes if name.startswith("on")]
        values = dict(attributes)
        if tag == "meta" and (values.get("http-equiv") or "").lower() == "content-security-policy":
            self.policies.append(values["content"])


@pytest.mark.hostile
def test_harmful_names(tmp_path):
    X = planted(60, len(HARMFUL))
    path = tmp_path / "x.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HARMFUL)
        writer.writerows(X.tolist())
    out = tmp_path / "deep" / "er" / "out"
    os.makedirs(out.parent)
    result = select(path, "-c", "3", "-o", out)
    assert [HARMFUL[j] for j in result["selected"]] == result["names"]  # exact in JSON
    assert sorted(os.listdir(tmp_path)) == ["deep", "x.csv"] and os.listdir(out.parent) == ["out"]

    run = tamis("select", path, "-c", "3")
    assert run.code == 0 and not set(run.out + run.err) & {"\x1b", "\u202e", "\0"}

    for name in ("ranking.csv", "selected.csv"):
        with open(out / name, newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        for cell in cells:
            if cell[:1] in ("=", "+", "-", "@", "\t", "\r"):
                float(cell)  # only numbers may begin like a formula


@pytest.mark.hostile
def test_harmful_names_on_the_page(tmp_path):
    X = planted(60, len(HARMFUL))
    elements = {}
    for kind, names in {"harmful": HARMFUL, "clean": [f"c{j}" for j in range(len(HARMFUL))]}.items():
        with open(tmp_path / "x.csv", "w", newline="") as file:
            csv.writer(file).writerows([names, *X.tolist()])
        select(tmp_path / "x.csv", "-c", "3", "-o", tmp_path / kind)
        page = (tmp_path / kind / "report.html").read_text(encoding="utf-8")
        elements[kind] = Elements()
        elements[kind].feed(page)
        assert elements[kind].policies, "the page sets no content security policy"
    assert elements["harmful"].tags == elements["clean"].tags
    assert elements["harmful"].handlers == elements["clean"].handlers


@pytest.mark.hostile
def test_names_that_are_no_utf8_repeated_or_empty(tmp_path):
    path = tmp_path / "x.csv"
    rows = "".join(",".join(map(repr, row)) + "\n" for row in planted(40, 5).tolist())
    path.write_bytes(b"\x80\xff\xfe,b,b,,e\n" + rows.encode())
    result = select(path, "-m", "maxvar", "-o", tmp_path / "out")
    named = dict(zip(result["selected"], result["names"]))
    assert named == {0: "\ufffd\ufffd\ufffd", 1: "b", 2: "b", 3: "", 4: "e"}
    assert json.loads((tmp_path / "out" / "selection.json").read_bytes())["names"] == result["names"]
    path.write_bytes(b"\xff\xfe\x80,b,b,,e\n" + rows.encode())
    refused(tamis("select", path, "-c", "3"), 3, "x.csv", "UTF-16")


def test_bytes_of_a_result_repeat(tmp_path):
    path = write_npy(tmp_path / "x.npy", planted(60, 8))
    for name in ("a", "b"):
        select(path, "-c", "3", "-k", "3", "-o", tmp_path / name)
    for name in ("ranking.csv", "selected.npy"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.unsanitized
@pytest.mark.native  # Python takes more memory of its own
@pytest.mark.parametrize("method", ["ufcm", "maxvar", "lapscore", "spec", "mcfs", "ndfs", "rufs"])
@pytest.mark.parametrize("shape, density", [((3000, 40), 1), ((1500, 400), 1), ((150, 3000), 1), ((2500, 60), 0.1)])
def test_forecast_of_memory(tmp_path, method, shape, density):
    """A little above the peak; bench/forecast.py has more shapes, and tighter bounds."""
    X = planted(*shape)
    if density < 1:
        kept = np.random.default_rng(1).random(shape) < density
        scipy.sparse.save_npz(tmp_path / "x.npz", scipy.sparse.csr_matrix(X * kept), compressed=False)
    else:
        np.save(tmp_path / "x.npy", X)
    result = select(next(tmp_path.iterdir()), "-m", method, "-c", "3", "--threads", "2")
    assert 0.88 < result["forecast"]["peak_bytes"] / result["report"]["peak_bytes"] < 1.4


def test_every_command_ends_with_what_comes_next(tmp_path):
    X = planted(90, 9)
    write_csv(tmp_path / "x.csv", np.column_stack([X, np.arange(90) % 3]), [*(f"col{j}" for j in range(9)), "y"])
    common = {"cwd": tmp_path}
    assert tamis("select", "x.csv", "--exclude", "y", "-m", "maxvar", "-k", "2", "-o", "out", **common).code == 0
    listed = tamis("evaluate", "x.csv", "--labels", "y", "--list", "out/ranking.csv", "--top=2", **common)
    assert listed.out.endswith("\n\nNext: tamis compare x.csv --labels y -k 2\n"), str(listed)
    again = tamis(*listed.out.splitlines()[-1].removeprefix("Next: tamis ").split(), "--repeats", "2", "-m", "maxvar", **common)
    assert again.code == 0, str(again)
    applied = tamis("apply", "out", "x.csv", "-o", "other", **common)
    assert applied.out.endswith("\n\nWritten to other: selected.csv, applied.json\nNext: tamis info other/selected.csv\n")
    assert tamis("info", "other/selected.csv", **common).code == 0
    demo = tamis("demo", timeout=60, **common)
    assert "\n20 of 64 columns selected; " in demo.out and demo.out.endswith("\nNext: tamis select YOUR.csv\n"), str(demo)


def test_the_page_counts_what_could_be_selected(tmp_path):
    table = write_csv(tmp_path / "x.csv", planted(90, 9), [f"col{j}" for j in range(9)])
    run = tamis("select", table, "-m", "maxvar", "-k", "2", "--exclude", "col8", "-o", tmp_path / "out")
    assert "2 of 8 columns selected" in run.out
    assert "selected 2 of 8 features (1 more excluded)" in (tmp_path / "out" / "report.html").read_text()


def test_a_run_ends_with_what_was_written_and_the_next_command(tmp_path):
    table_csv = write_csv(tmp_path / "x.csv", planted(90, 7), [f"col{j}" for j in range(7)])
    run = tamis("select", table_csv, "-m", "ufcm", "-c", "2", "-k", "2", "-o", tmp_path / "out")
    assert run.code == 0, str(run)
    *_, written, following = run.out.splitlines()
    files = "report.html, ranking.csv, selection.json, selected.csv, clusters.csv"
    assert written == f"Written to {tmp_path / 'out'}: {files}"
    assert following == f"Next: tamis apply {tmp_path / 'out'} OTHER.csv -o reduced"
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8").replace("\u00a0", " ")
    verdict = json.loads((tmp_path / "out" / "selection.json").read_text())["verdict"]
    assert all(sentence in run.out for sentence in verdict) and verdict[0] in page
    assert f"tamis select {table_csv.name} -m ufcm -c 2 -k 2 -o out" in page.replace("<span>", "").replace("</span>", "")
    assert str(tmp_path) not in page  # nobody else needs to know our folders
    assert tamis("select", table_csv).out.endswith(f"\nFor a page and files: tamis select {table_csv} -o result\n")


def test_clusters_of_an_earlier_run_do_not_stay(tmp_path):
    path = write_csv(tmp_path / "x.csv", planted(90, 7), [f"col{j}" for j in range(7)])
    out = tmp_path / "out"
    select(path, "-m", "maxvar", "-k", "3", "-o", out)
    assert not (out / "clusters.csv").exists()
    select(path, "-m", "ufcm", "-c", "3", "-k", "3", "--exclude", "col1", "-o", out)
    assert len((out / "clusters.csv").read_text().splitlines()) == 1 + 90
    select(path, "-m", "maxvar", "-k", "3", "-o", out)
    assert (out / "clusters.csv").read_text() == "row,cluster\n"


def test_clusters_have_the_names_of_rows_and_are_empty_where_unknown(tmp_path):
    X = planted(120, 7)
    lines = ["id," + ",".join(f"c{j}" for j in range(7))] + [f"=r{i}," + ",".join(map(str, row)) for i, row in enumerate(X)]
    (tmp_path / "x.csv").write_text("\n".join(lines) + "\n")
    select(tmp_path / "x.csv", "--id", "id", "--sample", "60", "-o", tmp_path / "out")
    with open(tmp_path / "out" / "clusters.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [f"'=r{i}" for i in range(120)]  # no formula for a spreadsheet
    assert sum(row["cluster"] != "" for row in rows) == 60
