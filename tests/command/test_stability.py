"""How stable a selection is: --seeds and --resample, in what is printed and in the files of a run."""

import csv
import itertools
import json
import os
import signal
import subprocess
import time

import numpy as np
import pytest
from conftest import COMMAND, planted, refused, same, select, tamis, write_csv, write_npy

pytestmark = pytest.mark.shared

METHODS = [one["name"] for one in tamis("methods", "--json").json]
HOSTILE = list(itertools.product(["--seeds", "--resample"], ["0", "1", "-2", "1001", "1e3", "many", "9" * 30]))
SEEDLESS = ("maxvar", "css", "udfs")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Groups in some columns; the last column is constant."""
    X = np.hstack([planted(n=160, d=20, c=4, informative=8), np.full((160, 1), 3.0)])
    return write_npy(tmp_path_factory.mktemp("stability") / "a.npy", X)


def index_of(sets, d):
    """Nogueira, Sechidis & Brown (2018), definition 4, over `d` columns."""
    Z = np.array([[j in one for j in range(d)] for one in sets], dtype=float)
    p, k = Z.mean(axis=0), Z.sum(axis=1).mean()
    return 1 - len(Z) / (len(Z) - 1) * np.mean(p * (1 - p)) / (k / d * (1 - k / d))


@pytest.mark.parametrize("method", METHODS)
def test_seeds_are_runs_with_the_next_seeds(table, method):
    words = (table, "-m", method, "-k", "5", "--redundancy", "off")
    run = tamis("select", *words, "--seed", "7", "--seeds", "4", "--json", "--quiet")
    if method in SEEDLESS:
        refused(run, [2], method, "does not depend on the seed", "--resample 4")
        return
    found = run.json
    runs = [select(*words, "--seed", seed) for seed in range(7, 11)]
    assert found["selected"] == runs[0]["selected"] and found["scores"] == runs[0]["scores"]
    stable = found["stability"]
    sets = [set(run["selected"]) for run in runs]
    assert stable["frequency"] == [sum(j in one for one in sets) / 4 for j in range(21)]
    assert stable["index"] == pytest.approx(index_of(sets, 21))
    assert stable["interval"][0] <= stable["index"] <= stable["interval"][1] <= 1
    assert stable["by"] == "seeds" and stable["runs"] == 4 and stable["rows"] == 160 and stable["counts"] == [5] * 4
    assert sorted(stable["consensus"]) == list(range(21))
    means = [stable["mean_rank"][j] for j in stable["consensus"]]
    assert means == sorted(means) and np.mean(means) == pytest.approx(11)
    for low, mean, high in zip(stable["rank_low"], stable["mean_rank"], stable["rank_high"]):
        assert 1 <= low <= mean <= high <= 21


@pytest.mark.parametrize("method", METHODS)
def test_half_samples_of_every_method(table, method):
    words = (table, "-m", method, "-k", "5")
    found = select(*words, "--resample", "3")
    alone = select(*words)
    assert found["selected"] == alone["selected"] and found["scores"] == alone["scores"]
    stable = found["stability"]
    assert stable["by"] == "resample" and stable["rows"] == 80 and stable["frequency"][20] == 0
    assert sum(stable["frequency"]) == pytest.approx(5)
    assert found["stability"] == select(*words, "--resample", "3", "--threads", "1")["stability"]
    assert found["stability"] != select(*words, "--resample", "3", "--seed", "1")["stability"]


def test_planted_columns_are_stable(table):
    stable = select(table, "-m", "ufcm", "-c", "4", "-k", "8", "--resample", "10")["stability"]
    assert stable["index"] > 0.5
    assert set(stable["consensus"][:5]) < set(range(8))


def test_noise_is_not_stable(tmp_path):
    path = write_npy(tmp_path / "noise.npy", np.random.default_rng(3).normal(size=(200, 60)))
    assert select(path, "-m", "maxvar", "-k", "10", "--resample", "20")["stability"]["index"] < 0.6
    assert abs(select(path, "-m", "mcfs", "-k", "10", "--resample", "20")["stability"]["index"]) < 0.3


def test_the_files_of_a_run(table, tmp_path):
    out = tmp_path / "out"
    words = ("select", table, "-m", "ufcm", "-k", "5", "--exclude", "2,3", "-o", out, "--quiet")
    assert tamis(*words).code == 0
    with open(out / "ranking.csv", newline="") as file:
        assert "frequency" not in next(csv.reader(file))
    assert "stability" not in json.loads((out / "selection.json").read_text())
    run = tamis(*words, "--resample", "5")
    assert run.code == 0 and "stability" in run.out and "half samples; Nogueira's index" in run.out
    stable = json.loads((out / "selection.json").read_text())["stability"]
    with open(out / "ranking.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[-4:] == ["frequency", "rank_low", "rank_high", "column"] and len(rows) == 19
    for row in rows:
        j = int(row["index"])
        assert float(row["frequency"]) == stable["frequency"][j]
        assert [int(row["rank_low"]), int(row["rank_high"])] == [stable["rank_low"][j], stable["rank_high"][j]]
    assert stable["frequency"][2] is None and stable["rank_low"][3] is None
    page = (out / "report.html").read_text()
    assert "half samples select the feature" in page
    assert tamis("apply", out, table, "-o", tmp_path / "next", "--quiet").code == 0
    assert tamis("evaluate", table, "--list", out / "ranking.csv", "--labels", labels_of(tmp_path), "--quiet").code == 0


def labels_of(folder):
    (folder / "y.txt").write_text("".join(f"{i % 4}\n" for i in range(160)))
    return folder / "y.txt"


def test_a_line_for_people(table):
    shown = tamis("select", table, "-m", "ufcm", "-k", "5", "--seeds", "5").out
    line = next(line for line in shown.splitlines() if line.startswith("stability"))
    assert "seeds" in line
    plain = tamis("select", table, "-m", "ufcm", "-k", "5").out
    assert not any(line.startswith("stability") for line in plain.splitlines())


def test_from_disk_the_same_bits(tmp_path):
    X = planted(n=60000, d=60, c=4, informative=8)
    path = write_npy(tmp_path / "tall.npy", X)
    for words in (["--seeds", "2", "-m", "ufcm", "-c", "4"], ["--resample", "2", "-m", "maxvar"]):
        here = select(path, "-k", "5", "--redundancy", "off", *words, timeout=120)
        there = select(path, "-k", "5", "--redundancy", "off", "--memory", "35MB", *words, timeout=120)
        assert (here["data"]["storage"], there["data"]["storage"]) == ("memory", "disk")
        assert here["stability"] == there["stability"]
        assert there["report"]["peak_bytes"] < 35e6


def test_from_a_csv_file_with_labels_and_a_config(tmp_path):
    X = planted(n=90, d=10)
    path = write_csv(tmp_path / "a.csv", np.hstack([X, (np.arange(90) % 3)[:, None]]), [*(f"c{j}" for j in range(10)), "y"])
    given = select(path, "--supervise", "y", "-c", "3", "-k", "4", "--resample", "4")
    (tmp_path / "run.toml").write_text('supervise = "y"\nclusters = 3\nfeatures = 4\nresample = 4\n')
    same(given, select(path, "--config", tmp_path / "run.toml"))
    assert given["stability"]["rows"] == 45 and given["options"]["resample"] == 4


@pytest.mark.parametrize("flag, value", HOSTILE)
def test_hostile_numbers(table, flag, value):
    refused(tamis("select", table, f"{flag}={value}"), [2], f"{flag[2:]} = {value}, need 2..1000")


def test_what_does_not_go_together(table, tmp_path):
    refused(tamis("select", table, "--seeds", "2", "--resample", "2"), [2], "--seeds and --resample: need one of them, not both")
    state = tmp_path / "state"
    run = tamis("select", table, "-m", "ufcm", "--seeds", "2", "--checkpoint", state)
    refused(run, [2], "--checkpoint does not cover the runs of --seeds")
    assert not state.exists()


@pytest.mark.parametrize("rows", [2, 3, 4, 5])
def test_tables_of_few_rows(tmp_path, rows):
    path = write_npy(tmp_path / "few.npy", np.random.default_rng(1).normal(size=(rows, 6)))
    run = tamis("select", path, "-m", "maxvar", "-k", "2", "--resample", "3", "--json", "--quiet")
    if rows < 4:
        refused(run, [2], "--resample needs at least 4 rows", f"the table has {rows}")
    else:
        assert run.json["stability"]["rows"] == 2


def test_a_half_that_cannot_be_ranked_is_named(tmp_path):
    path = write_npy(tmp_path / "few.npy", np.random.default_rng(1).normal(size=(8, 6)))
    run = tamis("select", path, "-m", "ufcm", "-c", "6", "--resample", "3", "--quiet")
    refused(run, [2], "half sample 1 of 3: ufcm: clusters = 6")
    X = np.zeros((40, 3))
    X[0, 0] = 1.0  # half of the half samples are constant
    run = tamis("select", write_npy(tmp_path / "rare.npy", X), "-m", "maxvar", "-k", "1", "--resample", "20", "--quiet")
    refused(run, [3], "half sample", "of 20", "no variation")


def test_all_columns_selected(table):
    stable = select(table, "-m", "ufcm", "-k", "all", "--resample", "3")["stability"]
    assert stable["index"] is None and stable["interval"] is None and stable["frequency"] == [1] * 21
    stable = select(table, "-m", "ufcm", "-k", "3", "--include", "1,4,9", "--resample", "3")["stability"]
    assert stable["index"] is None


def test_interrupted_in_a_later_run(tmp_path):
    path = write_npy(tmp_path / "a.npy", planted(n=2000, d=200, c=8, informative=20))
    words = [COMMAND, "select", path, "-m", "ufcm", "-c", "8", "-o", tmp_path / "out", "--resample", "1000"]
    run = subprocess.Popen(list(map(str, words)), stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    time.sleep(2.0)
    os.kill(run.pid, signal.SIGINT)
    start = time.monotonic()
    out, error = run.communicate(timeout=10)
    assert run.returncode == 130 and time.monotonic() - start < 3 and out == b""
    assert not any((tmp_path / "out").glob("*")) if (tmp_path / "out").exists() else True
