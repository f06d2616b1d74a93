"""The other sub-commands, labels, the options file and being interrupted."""

import json
import os
import re
import signal
import subprocess
import time

import numpy as np
import pytest
from conftest import COMMAND, DATA, needs_data, planted, refused, same, select, tamis, write_csv, write_npy
from limits import at_rest


def test_version_and_help():
    run = tamis("--version")
    assert run.code == 0 and re.search(r"\d+\.\d+\.\d+", run.out)
    run = tamis("--help")
    assert run.code == 0 and "select" in run.out and run.err == ""
    for name in ("select", "methods", "info", "demo"):
        run = tamis(name, "--help")
        assert run.code == 0 and run.out and run.err == "", name


def test_methods():
    run = tamis("methods")
    assert run.code == 0 and "ufcm" in run.out
    run = tamis("methods", "ufcm")
    assert run.code == 0
    for option in ("clusters", "alpha", "beta", "sparsity", "dims", "restarts", "iterations", "tolerance"):
        assert option in run.out
    refused(tamis("methods", "nosuch"), 2, "nosuch", "ufcm")
    assert "ufcm" in json.dumps(tamis("methods", "--json").json)


def test_info(tmp_path):
    X = planted(50, 6)
    X[:, 2] = 7
    X[:, 5] = X[:, 1]
    path = write_csv(tmp_path / "x.csv", X, "abcdef")
    run = tamis("info", path)
    assert run.code == 0 and re.search(r"\b50 rows x 6 features\b", run.out)
    assert re.search(r"(?m)^constant .*\bc$", run.out) and re.search(r"(?m)^duplicates .*\bf = b$", run.out)
    data = tamis("info", path, "--json").json["data"]
    assert (data["rows"], data["features"], data["names"]) == (50, 6, list("abcdef"))
    assert (data["constant"], data["duplicates"], data["not_finite"]) == ([2], [[5, 1]], 0)
    assert (data["min"], data["max"]) == (X.min(), X.max())


def test_info_counts_missing_values(tmp_path):
    X = planted(50, 6)
    X[3, 2] = np.nan
    X[[4, 9], 5] = np.inf, -np.inf
    path = write_npy(tmp_path / "x.npy", X)
    run = tamis("info", path)
    assert run.code == 0 and re.search(r"(?m)^missing +3 .*\bf2, f5$", run.out), str(run)
    data = tamis("info", path, "--json").json["data"]
    assert (data["not_finite"], data["columns_not_finite"]) == (3, [2, 5])


def test_demo(tmp_path):
    run = tamis("demo", cwd=tmp_path, timeout=60)
    assert run.code == 0 and len(run.out.splitlines()) > 5, str(run)
    assert "1797" in run.out and "CC BY 4.0" in run.out and "tamis-demo/report.html" in run.out
    assert [path.name for path in (tmp_path / "tamis-demo").iterdir()] == ["report.html"]
    assert tamis("demo", "-o", tmp_path / "other", cwd=tmp_path, timeout=60).code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "tamis-demo"]
    assert tamis("demo", cwd=tmp_path, timeout=60).code == 0  # its own page is replaced


def test_demo_leaves_the_files_of_others_alone(tmp_path):
    page = tmp_path / "tamis-demo" / "report.html"
    page.parent.mkdir()
    page.write_text("<html>mine")
    run = tamis("demo", cwd=tmp_path, timeout=60)
    assert run.code == 0 and "1797" in run.out and "report.html" not in run.out
    assert "no page was written" in run.err and "was not written by tamis" in run.err
    refused(tamis("demo", "-o", page.parent, cwd=tmp_path), 2, "was not written by tamis", "-o DIR")
    assert page.read_text() == "<html>mine" and len(list(tmp_path.rglob("*"))) == 2
    page.unlink()
    page.parent.rmdir()
    page.parent.write_text("no folder")
    assert tamis("demo", cwd=tmp_path, timeout=60).code == 0 and page.parent.read_text() == "no folder"
    refused(tamis("demo", "-o", page.parent, cwd=tmp_path), 2, "is a file; -o needs a folder")


def test_demo_as_json_writes_only_what_was_asked_for(tmp_path):
    run = tamis("demo", "--json", cwd=tmp_path, timeout=60)
    assert run.code == 0 and len(run.json["selected"]) == 20 and list(tmp_path.iterdir()) == []
    assert tamis("demo", "--json", "-o", "out", cwd=tmp_path, timeout=60).json["selected"] == run.json["selected"]
    assert (tmp_path / "out" / "report.html").is_file()


@pytest.fixture
def labelled(tmp_path):
    X = planted(90, 6)
    lines = ["a,b,c,d,e,f,y"] + [",".join(map(repr, row)) + f",k{i % 3}" for i, row in enumerate(X.tolist())]
    (tmp_path / "x.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "x.csv", lines


def partition(labels):
    return {frozenset(np.flatnonzero(np.array(labels) == k).tolist()) for k in set(labels)}


def test_supervise_fixes_the_clusters(labelled):
    path, _ = labelled
    result = select(path, "-c", "3", "--supervise", "y")
    assert partition(result["clusters"]) == partition([i % 3 for i in range(90)])
    assert sorted(result["names"]) == list("abcdef")


def test_classes_of_all_rows_are_the_clusters(labelled):
    path, _ = labelled
    run = tamis("select", path, "-m", "ufcm", "--supervise", "y", "--json")
    assert "using 8 clusters" not in run.err and run.json["options"]["clusters"] == 3, str(run)
    assert run.json["scores"] == select(path, "-c", "3", "-m", "ufcm", "--supervise", "y")["scores"]


def test_only_the_third_function_of_spec_has_clusters(labelled):
    path, _ = labelled
    assert "clusters" not in tamis("select", path, "--exclude", "y", "-m", "spec").err
    assert "using 8 clusters" in tamis("select", path, "--exclude", "y", "-m", "spec", "--function", "3").err


def test_supervise_by_a_file_and_by_an_npz_array(tmp_path, labelled):
    path, _ = labelled
    expected = select(path, "-c", "3", "--supervise", "y")
    X, y = planted(90, 6), np.arange(90) % 3
    np.savez(tmp_path / "x.npz", X=X, y=y)
    assert select(tmp_path / "x.npz", "-c", "3", "--supervise", "y")["scores"] == expected["scores"]
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", y)
    assert select(tmp_path / "x.npy", "-c", "3", "--supervise", tmp_path / "y.npy")["scores"] == expected["scores"]
    (tmp_path / "y.csv").write_text("\n".join(map(str, y)) + "\n")
    assert select(tmp_path / "x.npy", "-c", "3", "--supervise", tmp_path / "y.csv")["scores"] == expected["scores"]


@pytest.mark.parametrize("blank", ["", "-1"])
def test_partial_labels(labelled, blank):
    path, lines = labelled
    for i in range(1, 91):
        if i % 2:
            lines[i] = lines[i].rsplit(",", 1)[0] + "," + blank
    path.write_text("\n".join(lines) + "\n")
    clusters = select(path, "-c", "3", "--supervise", "y")["clusters"]
    labelled_rows = [i for i in range(90) if (i + 1) % 2 == 0]
    assert partition([clusters[i] for i in labelled_rows]) == partition([i % 3 for i in labelled_rows])
    assert all(cluster in (0, 1, 2) for cluster in clusters)


def test_labels_that_do_not_fit(tmp_path, labelled):
    path, _ = labelled
    refused(tamis("select", path, "-m", "ufcm", "-c", "2", "--supervise", "y"), 2, "3", "2")
    np.savez(tmp_path / "x.npz", X=planted(90, 6), y=np.arange(80) % 3)
    refused(tamis("select", tmp_path / "x.npz", "-m", "ufcm", "-c", "3", "--supervise", "nosuch"), 2, "nosuch", "y")
    refused(tamis("select", tmp_path / "x.npz", "-m", "ufcm", "-c", "3", "--supervise", "y"), 3, "80", "90")


def test_more_clusters_than_classes(labelled):
    path, _ = labelled
    assert len(select(path, "-c", "5", "--supervise", "y")["clusters"]) == 90


def test_config_file(tmp_path):
    path = write_npy(tmp_path / "x.npy", planted(90, 6))
    (tmp_path / "run.toml").write_text("clusters = 3\nalpha = 0.5\nseed = 4\n")
    result = select(path, "-m", "ufcm", "--config", tmp_path / "run.toml")
    assert result["options"]["clusters"] == 3 and result["options"]["alpha"] == 0.5 and result["report"]["seed"] == 4
    same(result, select(path, "-m", "ufcm", "-c", "3", "--alpha", "0.5", "--seed", "4"))
    assert select(path, "-m", "ufcm", "--config", tmp_path / "run.toml", "--alpha", "2")["options"]["alpha"] == 2  # the line wins
    (tmp_path / "bad.toml").write_text("clusters = many\n")
    refused(tamis("select", path, "-m", "ufcm", "--config", tmp_path / "bad.toml"), 2)
    (tmp_path / "bad.toml").write_text("nosuch = 1\n")
    refused(tamis("select", path, "-m", "ufcm", "--config", tmp_path / "bad.toml"), 2, "nosuch")
    refused(tamis("select", path, "-m", "ufcm", "--config", tmp_path / "absent.toml"), (2, 5), "absent.toml")


@pytest.mark.parametrize("when", [0.3, 1.0])
def test_ctrl_c(tmp_path, when):
    path = write_npy(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((60000, 40)))
    command = subprocess.Popen([str(COMMAND), "select", str(path), "-m", "ufcm", "-c", "30", "--tolerance", "0",
                                "--iterations", "100000", "--restarts", "50", "--json", "-o", str(tmp_path / "out")],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(when)
    assert command.poll() is None, "it ended before it could be interrupted"
    command.send_signal(signal.SIGINT)
    start = time.perf_counter()
    out, err = command.communicate(timeout=30)
    assert command.returncode == 130 and time.perf_counter() - start < at_rest(2)
    assert out == b"" and err.decode().splitlines()[-1].startswith("tamis: ")
    assert not (tmp_path / "out").exists() and os.listdir(tmp_path) == ["x.npy"]


def test_evaluate(tmp_path):
    np.savez(tmp_path / "x.npz", X=planted(90, 8), y=np.arange(90) % 3)
    (tmp_path / "good.txt").write_text("0\n1\n2  # a comment\n")
    (tmp_path / "noise.txt").write_text("5\n6\n7\n")
    given = {}
    for name in ("good", "noise"):
        run = tamis("evaluate", tmp_path / "x.npz", "--labels", "y", "--list", tmp_path / f"{name}.txt", "--json")
        assert run.code == 0, str(run)
        given[name] = run.json["scores"]["given"]
    assert given["good"]["accuracy"]["mean"] == 1 and given["good"]["nmi"]["mean"] == 1
    assert given["noise"]["accuracy"]["mean"] < 0.7 and given["noise"]["nmi"]["mean"] < 0.3
    assert tamis("evaluate", tmp_path / "x.npz", "--labels", "y", "--list", tmp_path / "good.txt").code == 0


def test_evaluate_takes_a_ranking(tmp_path):
    np.savez(tmp_path / "x.npz", X=planted(90, 8), y=np.arange(90) % 3)
    chosen = select(tmp_path / "x.npz", "-c", "3", "-k", "3", "-o", tmp_path / "out")["selected"]
    words = ["evaluate", tmp_path / "x.npz", "--labels", "y", "--list", tmp_path / "out" / "ranking.csv", "--json"]
    assert tamis(*words).json["selected"] == chosen
    assert tamis(*words, "--top", "2").json["selected"] == chosen[:2]
    assert tamis(*words, "--top", "8").json["scores"]["given"]["features"] == 8


def test_evaluate_finds_selected_columns_by_name(tmp_path):
    rng = np.random.default_rng(5)
    columns = {f"c{j}": np.round(rng.normal(size=60) + (4 * (np.arange(60) % 3) if j in (2, 6) else 0), 6) for j in range(8)}

    def written(name, order):
        lines = [",".join([*order, "kind"])]
        lines += [",".join([*(str(columns[one][i]) for one in order), "xyz"[i % 3]]) for i in range(60)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        return tmp_path / name

    first = written("first.csv", list(columns))
    assert tamis("select", first, "--labels", "kind", "-m", "maxvar", "-k", "2", "-o", tmp_path / "out").code == 0
    columns["new"] = rng.normal(size=60)
    other = written("other.csv", ["new", *reversed([f"c{j}" for j in range(8)])])
    for name in ("ranking.csv", "selection.json"):
        words = ["--labels", "kind", "--list", tmp_path / "out" / name, "--json"]
        here, there = tamis("evaluate", first, *words).json, tamis("evaluate", other, *words).json
        assert sorted(here["names"]) == sorted(there["names"]) == ["c2", "c6"], name
        assert here["scores"]["given"]["accuracy"] == there["scores"]["given"]["accuracy"], name
    renamed = written("renamed.csv", ["new", *(f"c{j}" for j in range(6))])
    refused(tamis("evaluate", renamed, "--labels", "kind", "--list", tmp_path / "out" / "ranking.csv", "--quiet"), 3,
            "1 of 2 selected columns is missing: 'c6'")
    refused(tamis("evaluate", first, "--labels", "kind", "--list", tmp_path / "out" / "selection.json", "--top", "1"), 2,
            "ranking.csv")


def test_evaluate_refuses(tmp_path):
    np.savez(tmp_path / "x.npz", X=planted(90, 8), y=np.arange(90) % 3)
    (tmp_path / "list.txt").write_text("0\n1\n")
    (tmp_path / "wrong.txt").write_text("0\n8\n")
    (tmp_path / "empty.txt").write_text("# nothing\n")
    data, labels = tmp_path / "x.npz", ["-c", "3", "--labels", "y"]
    refused(tamis("evaluate", data, "--list", tmp_path / "list.txt"), 2, "labels")
    refused(tamis("evaluate", data, *labels), 2, "list")
    refused(tamis("evaluate", data, *labels, "--list", tmp_path / "wrong.txt"), 2, "8")
    refused(tamis("evaluate", data, *labels, "--list", tmp_path / "empty.txt"), 3, "empty.txt")
    refused(tamis("evaluate", data, *labels, "--list", tmp_path / "absent.txt"), 5, "absent.txt")
    refused(tamis("evaluate", data, "--labels", "nosuch", "--list", tmp_path / "list.txt"), 2, "nosuch")
    refused(tamis("evaluate", data, *labels, "--list", tmp_path / "list.txt", "--top", "3"), 2, "3", "2")


# Clusters, and the median final objective of bench/plain_ufcm.py over five seeds at alpha 1, beta 10, p 1.
PLAIN = {"umist": (20, 4808.0), "orl": (40, 2763.2), "coil20": (20, 59269.0), "usps": (10, 105315.6), "yaleb": (38, 106645.9)}


@needs_data("orl.npz")
@pytest.mark.parametrize("name", PLAIN)
def test_paper_data_reach_the_plain_objective(tmp_path, name):
    with np.load(DATA / f"{name}.npz") as file:
        X = file["X"]
    path = write_npy(tmp_path / "x.npy", X / 255 if X.dtype == np.uint8 else X.astype(float))
    clusters, plain = PLAIN[name]
    options = ("-m", "ufcm", "-c", clusters, "--alpha", "1", "--beta", "10", "--p", "1")
    runs = [select(path, *options, "--seed", seed, timeout=60) for seed in range(3)]
    best = max(run["report"]["objective"][-1] for run in runs)
    assert best >= 0.995 * plain, best / plain
