"""tamis reproduce and tamis datasets: the paper's experiments, broken off and taken up again."""

import json
import os
import random
import signal
import subprocess
import time

import numpy as np
import pytest
from conftest import COMMAND, DATA, PYTHON_COMMAND, SANITIZED, needs_data, refused, tamis
from limits import at_rest

pytestmark = pytest.mark.shared

METHODS = "ufcm,maxvar,lapscore,ndfs,mcfs"
SIX = ["coil20", "mnist_s", "orl", "umist", "usps", "yaleb"]


def save_set(path, rows=60, columns=20, classes=3, seed=1, dtype=np.float32):
    random_numbers = np.random.default_rng(seed)
    y = np.arange(rows, dtype=np.int32) % classes
    X = random_numbers.normal(size=(rows, columns)) * 20 + 100
    X[:, : columns // 3] += 30 * y[:, None]
    np.savez_compressed(path, X=np.clip(X, 0, 255).astype(dtype), y=y)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    save_set(folder / "one.npz", rows=150, columns=40)
    save_set(folder / "two.npz", rows=90, columns=31, classes=4, seed=2, dtype=np.uint8)
    return folder


def arguments(data, out, *more, sets=("one", "two"), methods=METHODS):
    names = [word for name in sets for word in ("--data", name)]
    return ["reproduce", str(data), "-o", str(out), "--quick", "--methods", methods, *names, *map(str, more)]


@pytest.fixture(scope="module")
def unbroken(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    run = tamis(*arguments(data, out, "--threads", 1), timeout=60)
    assert run.code == 0, str(run)
    *_, verdict, _, written, following = run.out.splitlines()
    assert verdict.startswith("With its defaults (label-free), ufcm "), str(run)
    assert written == f"Written to {out}: report.html, report.json, cells.json"
    assert following.startswith(f"Next: tamis reproduce {data} -o {out} --methods {METHODS}") and "--quick" not in following
    return out


def cells_of(out):
    return (out / "cells.json").read_bytes()


# --- What is written -----------------------------------------------------------------------------------------------


def test_documents(unbroken):
    cells = json.loads(cells_of(unbroken))
    report = json.loads((unbroken / "report.json").read_text())
    assert cells["quick"] and report["quick"]
    assert [s["name"] for s in report["sets"]] == ["one", "two"]
    assert [s["divided_by"] for s in report["sets"]] == [1, 255]
    assert len(cells["cells"]) == len(report["cells"]) == len(list((unbroken / "cells").glob("*.json")))
    rows = report["tables"]["acc"]["rows"]
    assert [(r["set"], r["method"]) for r in rows] == [(s, m) for s in ("one", "two") for m in METHODS.split(",")]
    assert all(r["paper"] is None for r in rows)
    assert report["run"]["threads"] == 1 and report["run"]["cells_found"] == 0
    assert report["machine"]["cores"] >= 1
    assert not [p for p in unbroken.rglob(".*")], "temporary files are left"
    page = (unbroken / "report.html").read_text(encoding="utf-8")
    assert len(page) < 1.5e6 and page.endswith("</html>\n") and "Table 3" in page  # tests/page opens it


def test_tables_follow_from_the_cells(unbroken):
    cells = {c["id"]: c for c in json.loads(cells_of(unbroken))["cells"]}
    report = json.loads((unbroken / "report.json").read_text())
    for measure in ("acc", "nmi"):
        for row in report["tables"][measure]["rows"]:
            own = [c for c in cells.values() if c["key"]["set"] == row["set"]]
            tried = [(np.mean(s[measure]), s["features"]) for c in own
                     if c["key"]["method"] == row["method"] and c["grid"] for s in c["subsets"]]
            best, features = max(tried, key=lambda one: one[0])
            assert row["label_best"]["mean"] == pytest.approx(best)
            assert row["evaluations"] == len(tried)
            assert row["grid_median"] == pytest.approx(np.median([value for value, _ in tried]))
            assert row["grid_worst"] == pytest.approx(min(tried)[0])
            chosen = cells[row["label_best"]["cell"]]
            starts = next(s[measure] for s in chosen["subsets"] if s["features"] == row["label_best"]["features"])
            assert row["label_best"]["sd"] == pytest.approx(np.std(starts, ddof=1))
            everything = next(c for c in own if c["key"]["method"] == "allfea")["subsets"][0][measure]
            assert row["gain"] == pytest.approx(best - np.mean(everything))
            error = np.sqrt((np.var(starts, ddof=1) + np.var(everything, ddof=1)) / len(starts))
            assert row["gain_error"] == pytest.approx(error)
            band = next(c for c in own if c["key"]["method"] == "random"
                        and c["key"]["sizes"] == [row["label_best"]["features"]])
            means = [np.mean(s[measure]) for s in band["subsets"]]
            assert len(means) == 20
            assert row["label_best_random"]["p"] == pytest.approx((1 + sum(m >= best - 1e-15 for m in means)) / 21)


def test_guided_stands_beside_the_tables(data, unbroken, tmp_path):
    """Where the methods are not chosen, or guided is among them."""
    assert json.loads((unbroken / "report.json").read_text())["guided"] == {"acc": [], "nmi": []}
    run = tamis(*arguments(data, tmp_path / "out", sets=("one",), methods="maxvar,guided"))
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    (row,) = report["guided"]["acc"]
    assert row["set"] == "one" and set(row["label_best"]) == {"maxvar", "guided"}
    best = max(r["label_best"]["mean"] for r in report["tables"]["acc"]["rows"] if r["method"] == "maxvar")
    assert row["label_best"]["maxvar"]["mean"] == best
    assert row["clusters_unknown"]["features"] == row["clusters_given"]["features"] == 40  # narrow: kept whole
    assert row["clusters_unknown"]["mean"] == pytest.approx(row["allfea"]["mean"])
    assert row["clusters_given"]["settings"] == {"clusters": "3"}
    assert "Beside the paper: guided" in run.out


def test_json_is_the_report(data, unbroken, tmp_path):
    run = tamis(*arguments(data, unbroken, "--json"), timeout=60)
    assert run.code == 0 and run.json["tables"] == json.loads((unbroken / "report.json").read_text())["tables"]


# --- The same bytes ------------------------------------------------------------------------------------------------


def test_threads_do_not_matter(data, unbroken, tmp_path):
    assert tamis(*arguments(data, tmp_path / "out", "--threads", 2), timeout=60).code == 0
    assert cells_of(tmp_path / "out") == cells_of(unbroken)


def test_another_seed_is_another_result(data, unbroken, tmp_path):
    assert tamis(*arguments(data, tmp_path / "out", "--seed", 1), timeout=60).code == 0
    assert cells_of(tmp_path / "out") != cells_of(unbroken)


def await_first_cell(child, folder):
    while not (folder.is_dir() and any(p.suffix == ".json" for p in folder.iterdir())):
        assert child.poll() is None, "ended before its first cell"
        time.sleep(0.002)


@pytest.mark.parametrize("seed", range(2 if SANITIZED else 4))
def test_killed_and_resumed(data, unbroken, tmp_path, seed):
    """kill -9 at random moments, again and again, until a run comes to its end."""
    moments = random.Random(seed)
    kills = 0
    for _ in range(200):
        child = subprocess.Popen([str(COMMAND), *arguments(data, tmp_path / "out", "--threads", 2)],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            if kills == 0:  # when the first cell is there, so that there is always something to resume
                await_first_cell(child, tmp_path / "out" / "cells")
                raise subprocess.TimeoutExpired(child.args, 0)
            early = (0.12 + 0.05 * PYTHON_COMMAND) * (10 if SANITIZED else 1)
            code = child.wait(timeout=moments.uniform(0.02, early if kills < 4 else 3 * early))
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            child.wait()
            kills += 1
            continue
        assert code == 0
        break
    assert kills > 0
    assert cells_of(tmp_path / "out") == cells_of(unbroken)
    assert not [p for p in (tmp_path / "out").rglob(".*")], "temporary files are left"


def test_finished_cells_are_not_computed_again(data, unbroken):
    stamps = {p: p.stat().st_mtime_ns for p in (unbroken / "cells").iterdir()}
    before = cells_of(unbroken)
    assert tamis(*arguments(data, unbroken), timeout=60).code == 0
    assert {p: p.stat().st_mtime_ns for p in (unbroken / "cells").iterdir()} == stamps
    assert cells_of(unbroken) == before
    report = json.loads((unbroken / "report.json").read_text())
    assert report["run"]["cells_found"] == report["run"]["cells"]


def test_damaged_cells_are_computed_again(data, unbroken, tmp_path):
    out = tmp_path / "out"
    subprocess.run(["cp", "-r", str(unbroken), str(out)], check=True)
    files = sorted((out / "cells").iterdir())
    originals = [p.read_bytes() for p in files]
    files[0].write_bytes(b"")
    files[1].write_bytes(originals[1][: len(originals[1]) // 2])
    files[2].write_bytes(originals[2].replace(b"0.", b"1.", 1))
    files[3].write_bytes(originals[4])  # a whole cell, but another one
    files[4].write_bytes(b"[" * 1_000_000)
    files[5].unlink()
    os.mkfifo(files[5])
    files[6].write_bytes(os.urandom(5000))
    assert tamis(*arguments(data, out), timeout=60).code == 0
    assert cells_of(out) == cells_of(unbroken)
    assert json.loads((out / "report.json").read_text())["run"]["cells_found"] == len(files) - 7


def test_changed_data_are_computed_again(data, unbroken, tmp_path):
    sets = tmp_path / "sets"
    sets.mkdir()
    save_set(sets / "one.npz", seed=7)
    out = tmp_path / "out"
    subprocess.run(["cp", "-r", str(unbroken), str(out)], check=True)
    assert tamis(*arguments(sets, out, sets=("one",)), timeout=60).code == 0
    report = json.loads((out / "report.json").read_text())
    assert report["run"]["cells_found"] == 0
    np.savez(sets / "one.npz", **np.load(sets / "one.npz"))  # the same numbers, packed in another way
    assert tamis(*arguments(sets, out, sets=("one",)), timeout=60).code == 0
    report = json.loads((out / "report.json").read_text())
    assert report["run"]["cells_found"] == report["run"]["cells"]


def test_interrupted(data, tmp_path):
    save_set(tmp_path / "large.npz", rows=3000, columns=600, classes=30)
    command = [str(COMMAND), "reproduce", str(tmp_path), "-o", str(tmp_path / "out"), "--data", "large"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(1.0)
    child.send_signal(signal.SIGINT)
    start = time.perf_counter()
    out, err = child.communicate(timeout=60)
    assert time.perf_counter() - start < at_rest(2)
    assert child.returncode == 130 and out == b"" and err.decode().splitlines()[-1] == "tamis: interrupted"
    assert not (tmp_path / "out" / "cells.json").exists()


def test_two_at_once_are_kept_apart(data, tmp_path):
    save_set(tmp_path / "large.npz", rows=3000, columns=600, classes=30)
    command = ["reproduce", str(tmp_path), "-o", str(tmp_path / "out"), "--data", "large"]
    child = subprocess.Popen([str(COMMAND), *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.perf_counter() + 20
        while not (tmp_path / "out" / "cells").exists() and time.perf_counter() < deadline:
            time.sleep(0.02)
        time.sleep(0.2)
        refused(tamis(*command), 2, "another run")
    finally:
        child.kill()
        child.wait()


# --- Refusals ------------------------------------------------------------------------------------------------------


def test_missing_sets_are_all_named_before_anything_runs(data, tmp_path):
    refused(tamis("reproduce", data, "-o", tmp_path / "out"), 3, *SIX)
    assert not (tmp_path / "out").exists()
    refused(tamis(*arguments(data, tmp_path / "out", sets=("one", "absent"))), 3, "missing absent")


def test_only_named_files_are_read(data, tmp_path):
    (data / "broken.npz").write_bytes(b"not a zip")
    try:
        refused(tamis(*arguments(data, tmp_path / "out", sets=("broken",))), 3, "broken.npz")
        refused(tamis("reproduce", data, "-o", tmp_path / "out", "--quick"), 3, "coil20")  # not broken.npz
    finally:
        (data / "broken.npz").unlink()


@pytest.mark.parametrize("name", ["", ".", "..", "../one", "/etc/passwd", "a/b", ".one", "one\n/x"])
def test_hostile_names(data, tmp_path, name):
    refused(tamis(*arguments(data, tmp_path / "out", sets=(name,))), 2, "data = ")
    assert not (tmp_path / "out").exists()


def test_odd_names_are_only_names(tmp_path):
    odd = "\x1b[31m<b>&\"'; $(x) é"
    save_set(tmp_path / f"{odd}.npz", rows=30, columns=9)
    run = tamis(*arguments(tmp_path, tmp_path / "out", sets=(odd,), methods="maxvar"), timeout=60)
    assert run.code == 0 and "\x1b" not in run.out + run.err
    assert json.loads((tmp_path / "out" / "report.json").read_text())["sets"][0]["name"] == odd


def test_a_set_of_the_paper_must_be_that_set(tmp_path):
    save_set(tmp_path / "orl.npz")
    refused(tamis(*arguments(tmp_path, tmp_path / "out", sets=("orl",))), 3, "orl.npz", "400 x 1024")
    np.savez(tmp_path / "orl.npz", X=np.zeros((400, 1024), np.uint8), y=np.arange(400, dtype=np.int32) // 10)
    refused(tamis(*arguments(tmp_path, tmp_path / "out", sets=("orl",))), 3, "orl.npz", "SHA-256")


def test_bad_data(tmp_path):
    save_set(tmp_path / "one.npz")
    arrays = dict(np.load(tmp_path / "one.npz"))
    arrays["X"][5, 7] = np.nan
    np.savez(tmp_path / "one.npz", **arrays)
    refused(tamis(*arguments(tmp_path, tmp_path / "out", sets=("one",))), 3, "one.npz", "row 5")
    np.savez(tmp_path / "one.npz", X=arrays["X"])
    refused(tamis(*arguments(tmp_path, tmp_path / "out", sets=("one",))), (2, 3), "y")
    assert not (tmp_path / "out").exists()


def test_usage(data, tmp_path):
    refused(tamis("reproduce"), 2, "DIR")
    refused(tamis("reproduce", data), 2, "output")
    refused(tamis("reproduce", data / "one.npz", "-o", tmp_path / "o"), 2, "folder")
    refused(tamis(*arguments(data, tmp_path / "o", methods="nosuch")), 2, "nosuch", "ufcm")
    refused(tamis(*arguments(data, tmp_path / "o", methods="ufcm,ufcm")), 2, "twice")
    refused(tamis(*arguments(data, tmp_path / "o", sets=("one", "one"))), 2, "twice")
    (tmp_path / "file").write_text("x")
    refused(tamis(*arguments(data, tmp_path / "file")), 2, "folder")


# --- tamis datasets ------------------------------------------------------------------------------------------------


def test_datasets_lists_what_is_expected():
    run = tamis("datasets")
    assert run.code == 0 and all(f"{name}.npz" in run.out for name in SIX)
    assert "575 x 644" in run.out and "564" in run.out
    sets = tamis("datasets", "--json").json["sets"]
    assert [s["name"] for s in sets] == SIX and {s["state"] for s in sets} == {"unchecked"}


def test_datasets_checks_a_folder(tmp_path):
    run = tamis("datasets", tmp_path, "--json")
    assert run.code == 0 and {s["state"] for s in run.json["sets"]} == {"missing"}
    save_set(tmp_path / "orl.npz")
    (tmp_path / "usps.npz").write_bytes(b"no zip")
    run = tamis("datasets", tmp_path, "--json")
    states = {s["name"]: s for s in run.json["sets"]}
    assert run.code == 3 and states["orl"]["state"] == states["usps"]["state"] == "wrong"
    assert "60 x 20" in states["orl"]["reason"] and states["umist"]["state"] == "missing"
    refused(tamis("datasets", tmp_path / "absent"), 5)
    refused(tamis("datasets", tmp_path / "orl.npz"), 2, "folder")


@needs_data("orl.npz")
def test_datasets_knows_the_papers_data(tmp_path):
    run = tamis("datasets", DATA, "--json")
    assert run.code == 0 and {s["state"] for s in run.json["sets"]} == {"ok"}
    arrays = dict(np.load(DATA / "orl.npz"))
    np.savez(tmp_path / "orl.npz", **arrays)
    run = tamis("datasets", tmp_path, "--json")
    assert run.code == 0 and next(s for s in run.json["sets"] if s["name"] == "orl")["state"].startswith("ok, packed")
    arrays["X"][7, 7] ^= 1
    np.savez(tmp_path / "orl.npz", **arrays)
    assert tamis("datasets", tmp_path).code == 3
