"""Tables as people have them: an index of pandas, positions that are typed, numbers that are no measurements."""

import json
import os
import subprocess

import numpy as np
import pandas as pd
import pytest
from conftest import COMMAND, planted, refused, select, tamis

NAMES = ["temperature", "pressure", "flow", "power", "voltage", "current", "speed", "torque"]


def readings(rows=60, seed=0):
    return pd.DataFrame(planted(rows, len(NAMES), seed=seed).round(3), columns=NAMES)


def save(path, frame, **options):
    frame.to_csv(path, **options)
    return path


def test_the_index_of_pandas_names_the_rows(tmp_path):
    frame = readings()
    plain = select(save(tmp_path / "plain.csv", frame, index=False), "-m", "maxvar", "-k", "3")
    for name, index in [("from 0", range(60)), ("from 1", range(1, 61))]:
        path = save(tmp_path / "a.csv", frame.set_index(pd.Index(index)))
        run = tamis("select", path, "-m", "maxvar", "-k", "3", "--json")
        assert run.code == 0 and "counts the rows" in run.err, f"{name}: {run}"
        assert run.json["names"] == plain["names"] and run.json["scores"] == plain["scores"]
        assert run.json["data"]["features"] == len(NAMES)
        assert run.json["columns"] == [j + 1 for j in run.json["selected"]]
    assert tamis("select", path, "-m", "maxvar", "-k", "3", "-o", tmp_path / "out").code == 0
    reduced = pd.read_csv(tmp_path / "out" / "selected.csv", index_col=0)
    assert reduced.index.tolist() == list(range(1, 61)) and reduced.shape == (60, 3)


def test_the_index_of_shards_goes_on(tmp_path):
    (tmp_path / "shards").mkdir()
    for k in range(3):
        save(tmp_path / "shards" / f"part-{k}.csv", readings().iloc[20 * k : 20 * k + 20])
    result = select(tmp_path / "shards", "-m", "maxvar")
    assert result["data"]["features"] == len(NAMES) and result["data"]["rows"] == 60


def test_the_index_of_a_slice_is_warned_about(tmp_path):
    path = save(tmp_path / "a.csv", readings(100).iloc[40:])
    assert "column 0 rises from row to row" in tamis("select", path, "-m", "maxvar").err
    assert select(path, "-m", "maxvar", "--id", "0")["data"]["features"] == len(NAMES)


def test_a_column_without_a_name_that_does_not_count_stays(tmp_path):
    frame = readings().set_index(pd.Index(np.random.default_rng(0).permutation(60)))
    result = select(save(tmp_path / "a.csv", frame), "-m", "maxvar")
    assert result["data"]["features"] == len(NAMES) + 1
    assert "as an index does; it is read as a feature; --id 0 takes it" in tamis("select", tmp_path / "a.csv", "-m", "maxvar").err
    assert select(tmp_path / "a.csv", "-m", "maxvar", "--id", "0")["data"]["features"] == len(NAMES)
    assert "counts the rows" not in tamis("select", tmp_path / "a.csv", "-m", "maxvar", "--exclude", "0").err


@pytest.mark.parametrize("name, values", [("customer", 100_000 + 7 * np.arange(60)),
                                          ("timestamp", 1_700_000_000 + 3600 * np.arange(60))])
def test_identifiers_and_times_are_warned_about(tmp_path, name, values):
    frame = readings()
    frame.insert(2, name, values)
    path = save(tmp_path / "a.csv", frame, index=False)
    run = tamis("select", path, "-m", "maxvar", "-k", "3", "--json")
    assert run.json["names"][0] == name
    assert f"column {name} rises from row to row" in run.err and f"--exclude {name}" in run.err
    assert any(name in warning for warning in run.json["report"]["warnings"])
    for cure in (["--exclude", name], ["--id", name]):
        assert "rises from row to row" not in tamis("select", path, "-m", "maxvar", *cure).err


@pytest.mark.parametrize("name, values", [("ts", 1714550400 + 60 * (np.arange(60) // 2)),
                                          ("date", 45413 + np.arange(60) / 24), ("x", 12.5 * np.arange(60)),
                                          ("newest_first", 1_700_000_000 - 3600 * np.arange(60))])  # fmt: skip
def test_times_in_other_forms_are_warned_about(tmp_path, name, values):
    frame = readings()
    frame.insert(2, name, values)
    run = tamis("select", save(tmp_path / "a.csv", frame, index=False), "-m", "maxvar", "-k", "3")
    assert f"column {name} {'falls' if name == 'newest_first' else 'rises'} from row to row" in run.err, str(run)
    assert f"--exclude {name}" in tamis("info", tmp_path / "a.csv").out.splitlines()[-1]


def test_years_in_any_order_are_a_feature(tmp_path):
    frame = readings()
    frame["year"] = np.random.default_rng(1).integers(1900, 2020, 60)
    assert "rises" not in tamis("select", save(tmp_path / "a.csv", frame, index=False), "-m", "maxvar").err


@pytest.fixture
def export(tmp_path):
    """id, temperature, note, pressure, ...: the features stand at 1, 3, 4, ..."""
    frame = readings()
    frame.insert(0, "id", [f"r{i}" for i in range(60)])
    frame.insert(2, "note", ["ok"] * 60)
    return save(tmp_path / "export.csv", frame, index=False)


def test_typed_positions_are_those_of_the_file(export):
    words = [export, "-m", "maxvar", "--id", "id", "--exclude", "note"]
    by_name = select(*words, "--exclude", "pressure")
    by_position = select(export, "-m", "maxvar", "--id", "0", "--exclude", "2,3")
    assert by_position["scores"] == by_name["scores"]
    assert by_name["options"]["exclude"] == [1], "positions among the features"
    assert by_name["scores"][1] is None and sum(score is None for score in by_name["scores"]) == 1
    assert select(*words, "--include", "9", "-k", "1")["names"] == ["torque"]
    refused(tamis("select", *words, "--include", "0"), 2, "column '0'", "identifiers")
    refused(tamis("select", *words, "--include", "10"), 2, "position 10, need 0..9")


def test_what_is_written_has_both_positions(tmp_path, export):
    result = select(export, "-m", "maxvar", "--id", "id", "--exclude", "note", "-k", "3", "-o", tmp_path / "out")
    header = export.read_text().splitlines()[0].split(",")
    assert [header[j] for j in result["columns"]] == result["names"]
    ranking = pd.read_csv(tmp_path / "out" / "ranking.csv")
    assert ranking.columns[-1] == "column"
    assert [header[j] for j in ranking["column"]] == ranking["name"].tolist()
    assert [NAMES[j] for j in ranking["index"]] == ranking["name"].tolist()
    shown = tamis("select", export, "-m", "maxvar", "--id", "id", "--exclude", "note", "-k", "1").out.splitlines()[:2]
    assert shown[0].split()[:4] == ["rank", "feature", "column", "name"]
    assert shown[1].split()[1:4] == [str(result["selected"][0]), str(result["columns"][0]), result["names"][0]]


def test_a_list_means_the_same_columns_however_the_table_is_read(tmp_path, export):
    classes = tmp_path / "classes.txt"
    classes.write_text("\n".join(str(i % 3) for i in range(60)))
    select(export, "-m", "maxvar", "--id", "id", "--exclude", "note", "-k", "3", "-o", tmp_path / "out")
    frame = pd.read_csv(export).drop(columns="note")
    other = save(tmp_path / "other.csv", frame.assign(note=0.0)[["id", "temperature", "note", *NAMES[1:]]], index=False)
    words = ["evaluate", other, "--id", "id", "--labels", classes, "--json", "--list"]
    by_ranking = tamis(*words, tmp_path / "out" / "ranking.csv").json
    assert by_ranking["names"] == json.loads((tmp_path / "out" / "selection.json").read_text())["names"]
    assert by_ranking["columns"] == json.loads((tmp_path / "out" / "selection.json").read_text())["columns"]
    (tmp_path / "list.txt").write_text("1\n4\n")
    assert tamis(*words, tmp_path / "list.txt").json["names"] == ["temperature", "flow"]


def test_a_list_comes_through_a_pipe(tmp_path):
    path = save(tmp_path / "a.csv", readings(), index=False)
    (tmp_path / "y.txt").write_text("\n".join(str(i % 3) for i in range(60)))
    assert tamis("select", path, "-m", "maxvar", "-k", "2", "-o", tmp_path / "out").code == 0
    script = f'{COMMAND} evaluate {path} --labels {tmp_path}/y.txt --json --quiet --list <(cat "$1")'
    for content, names in [("flow\nspeed\n", ["flow", "speed"]), ((tmp_path / "out" / "ranking.csv").read_text(), None)]:
        (tmp_path / "list").write_text(content)
        done = subprocess.run(["bash", "-c", script, "bash", str(tmp_path / "list")], capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)["names"]
        assert found == names if names else len(found) == 2
    script = f"{COMMAND} select {path} -m maxvar --json --quiet --exclude <(echo flow)"
    done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=60)
    assert json.loads(done.stdout)["scores"][2] is None


@pytest.mark.parametrize("names", [range(2001, 2009), np.round(400.5 + 12.25 * np.arange(8), 2), range(8)],
                         ids=["years", "wavelengths", "pandas"])
def test_a_header_of_numbers_is_warned_about(tmp_path, names):
    frame = readings()
    frame.columns = [str(name) for name in names]
    path = save(tmp_path / "a.csv", frame, index=False)
    run = tamis("select", path, "-m", "maxvar", "--json")
    assert run.json["data"]["rows"] == 61 and "--header yes" in run.err and "line 1" in run.err
    named = tamis("select", path, "-m", "maxvar", "--json", "--header", "yes")
    assert named.json["data"]["rows"] == 60 and "--header" not in named.err
    assert "--header" not in tamis("select", path, "-m", "maxvar", "--header", "no").err


def test_rows_that_all_rise_are_no_header(tmp_path):
    growth = np.cumsum(np.abs(planted(60, 8)), axis=1)
    np.savetxt(tmp_path / "a.csv", growth, delimiter=",")
    assert "--header" not in tamis("select", tmp_path / "a.csv", "-m", "maxvar").err


@pytest.mark.parametrize("name", ["report.html", "ranking.csv", "selection.json", "selected.csv", "clusters.csv"])
def test_files_of_others_are_not_overwritten(tmp_path, name):
    path = save(tmp_path / "a.csv", readings(), index=False)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text("<html>the quarterly report</html>\n")
    refused(tamis("select", path, "-m", "maxvar", "-o", tmp_path / "out"), 2, f"out/{name} was not written by tamis")
    assert (tmp_path / "out" / name).read_text() == "<html>the quarterly report</html>\n"
    assert os.listdir(tmp_path / "out") == [name]
    for _ in range(2):  # its own it replaces
        assert tamis("select", path, "-m", "maxvar", "-k", "2", "-o", tmp_path / "own").code == 0


def test_numbers_that_stand_for_missing_values_are_warned_about(tmp_path):
    frame = readings()
    frame.loc[[3, 17, 40], "pressure"] = -9999.0
    path = save(tmp_path / "a.csv", frame, index=False)
    run = tamis("select", path, "-m", "maxvar", "-k", "1", "--json")
    assert run.json["names"] == ["pressure"]
    assert "column pressure: 3 values like -9999" in run.err and "--exclude pressure" in run.err
    frame["pressure"] = -9999.0 + np.arange(60) % 7  # a column that simply has such values
    assert "-9999" not in tamis("select", save(path, frame, index=False), "-m", "maxvar").err


def test_raw_counts_are_warned_about(tmp_path):
    rng = np.random.default_rng(0)
    reads = rng.poisson(10.0 ** rng.uniform(-1.5, 2.5, 200) * rng.uniform(0.3, 3, 80)[:, None])
    path = save(tmp_path / "cells.csv", pd.DataFrame(reads, columns=[f"g{j}" for j in range(200)]), index=False)
    assert "raw counts" in tamis("select", path, "-m", "maxvar", "-k", "5").err
    shares = reads / reads.sum(axis=1, keepdims=True)
    logged = pd.DataFrame(np.log1p(1e4 * shares).round(4), columns=[f"g{j}" for j in range(200)])
    assert "raw counts" not in tamis("select", save(path, logged, index=False), "-m", "maxvar", "-k", "5").err


def test_raw_counts_without_zeros_are_warned_about(tmp_path):
    rng = np.random.default_rng(1)
    for genes in (300, 40):
        reads = rng.poisson(10.0 ** rng.uniform(1, 4, genes) * rng.uniform(0.5, 2, 40)[:, None])
        path = save(tmp_path / "bulk.csv", pd.DataFrame(reads, columns=[f"g{j}" for j in range(genes)]), index=False)
        run = tamis("select", path, "-m", "maxvar", "-k", "5")
        assert "raw counts" in run.err and "--scale" not in run.err, str(run)
        assert tamis("info", path).out.splitlines()[-1].endswith("--counts")
    ratings = pd.DataFrame(rng.integers(1, 8, (60, 40)), columns=[f"q{j}" for j in range(40)])
    pixels = pd.DataFrame((rng.random((60, 300)) * np.linspace(5, 255, 300)).round(), columns=[f"p{j}" for j in range(300)])
    for frame in (ratings, pixels):
        assert "raw counts" not in tamis("select", save(path, frame, index=False), "-m", "maxvar", "-k", "5").err


def test_equal_scores_are_warned_about(tmp_path):
    path = save(tmp_path / "a.csv", readings(), index=False)
    run = tamis("select", path, "-m", "maxvar", "--scale", "standard", "-k", "3")
    assert "all columns score the same after --scale standard" in run.err
    assert "score the same" not in tamis("select", path, "-m", "maxvar", "-k", "3").err
    assert "score the same" not in tamis("select", path, "-m", "lapscore", "--scale", "standard").err


def test_scaling_is_advised_only_where_units_differ(tmp_path):
    frame = readings()
    frame["power"] *= 1e5
    path = save(tmp_path / "a.csv", frame, index=False)
    run = tamis("select", path, "-m", "lapscore")
    assert "consider --scale standard" in run.err and "power" in run.err
    # Variances are all 1 after that.
    run = tamis("select", path, "-m", "maxvar")
    assert "consider --scale minmax" in run.err and "power" in run.err
    run = tamis("select", path, "-m", "maxvar", "--scale", "auto", "--json")
    assert run.json["options"]["scale"] == "none" and "score the same" not in run.err, str(run)
    rng = np.random.default_rng(0)
    counts = rng.poisson(10.0 ** rng.uniform(-1.5, 3.5, 40), (200, 40))  # reads of 40 genes
    counts[0] = 0
    path = save(tmp_path / "counts.csv", pd.DataFrame(counts, columns=[f"g{j}" for j in range(40)]), index=False)
    assert "--scale standard" not in tamis("select", path, "-m", "maxvar").err


def test_an_index_of_text_names_the_rows(tmp_path):
    frame = readings()
    plain = select(save(tmp_path / "plain.csv", frame, index=False), "-m", "maxvar", "-k", "3")
    path = save(tmp_path / "a.csv", frame.set_index(pd.Index([f"cell {i}" for i in range(60)])))
    run = tamis("select", path, "-m", "maxvar", "-k", "3", "-o", tmp_path / "out", "--json")
    assert run.code == 0 and 'holds text ("cell 0", ...)' in run.err, str(run)
    assert run.json["names"] == plain["names"] and run.json["scores"] == plain["scores"]
    reduced = pd.read_csv(tmp_path / "out" / "selected.csv", index_col=0)
    assert reduced.index.tolist() == [f"cell {i}" for i in range(60)]
    assert "--id" not in tamis("info", path).out, "the reader takes it by itself"
    # A column that is left out by position, or that names the rows by option, is not taken for one.
    assert tamis("select", path, "-m", "maxvar", "-k", "3", "--exclude", "0").err == ""
    assert tamis("select", path, "-m", "maxvar", "-k", "3", "--id", "0").err == ""


@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_missing_values_of_arrays_are_counted_and_cured(tmp_path, kind):
    X = readings().to_numpy()
    X[[4, 9, 9], [3, 0, 3]] = np.nan
    path = tmp_path / f"a.{kind}"
    np.save(path, X) if kind == "npy" else np.savez(path, X=X)
    refused(tamis("select", path, "-m", "maxvar"), [3], "row 4, column 3: NaN", "3 values are missing or infinite", "2 of 8",
            "--missing mean, median or drop-columns handles NaN")  # fmt: skip
    filled = select(path, "-m", "maxvar", "--missing", "mean")
    same = pd.DataFrame(X).fillna(pd.DataFrame(X).mean()).var().to_numpy()
    np.testing.assert_allclose(filled["scores"], same, rtol=1e-12)
    X[9, 0] = np.inf
    np.save(path, X) if kind == "npy" else np.savez(path, X=X)
    refused(tamis("select", path, "-m", "maxvar", "--missing", "mean", "--quiet"), [3], "row 9, column 0: inf")


def test_info_of_a_pipe_is_that_of_a_file(tmp_path):
    frame = readings().assign(city="Rome")
    path = save(tmp_path / "a.csv", frame, index=False)
    from_file = tamis("info", path, "--json").json
    from_pipe = tamis("info", "-", "--json", stdin=path.read_bytes()).json
    for document in (from_file, from_pipe):
        document["data"].pop("path"), document.pop("command"), document.pop("forecast")
    assert from_pipe == from_file
    shell = subprocess.run(
        ["bash", "-c", f"{COMMAND} info <(cat {path})"], capture_output=True, text=True, timeout=30, check=False
    )
    assert shell.returncode == 0 and "city" in shell.stdout and "--exclude city" in shell.stdout, shell
    refused(tamis("info", "-", stdin=b""), [3], "standard input", "0 rows")


def test_a_shard_of_one_row(tmp_path):
    frame = readings()
    whole = select(save(tmp_path / "whole.csv", frame, index=False), "-m", "maxvar", "-k", "3")
    folder = tmp_path / "shards"
    folder.mkdir()
    for i, part in enumerate([frame[:20], frame[20:21], frame[21:]]):
        save(folder / f"{i}.csv", part, index=False)
    shards = select(folder, "-m", "maxvar", "-k", "3")
    assert shards["scores"] == whole["scores"] and shards["data"]["rows"] == 60
    for path in folder.iterdir():
        path.unlink()
    save(folder / "0.csv", frame[:1], index=False)
    refused(tamis("select", folder, "-m", "maxvar"), [3], "1 row, need at least 2")


def test_documents_say_how_the_table_was_read(tmp_path):
    frame = readings().assign(id=[f"r{i}" for i in range(60)], kind=["a", "b"] * 30)
    frame.loc[3, "flow"] = np.nan
    path = save(tmp_path / "a.data", frame, index=False, sep=";")
    options = ["--missing", "median", "--id", "id", "--exclude", "kind", "--header", "yes", "--format", "csv"]
    document = select(path, "-m", "maxvar", "-k", "3", *options)
    given = {"missing": "median", "id": "id", "exclude": "kind", "header": "yes", "format": "csv"}
    assert document["data"]["reading"] == given
    counts = save(tmp_path / "b.csv", (frame[NAMES].fillna(0).abs() * 10).round(), index=False)
    assert select(counts, "-m", "maxvar", "--counts")["data"]["reading"] == {"counts": True}
    assert tamis("info", path, *options, "--json").json["data"]["reading"] == given
    assert select(counts, "-m", "maxvar")["data"]["reading"] == {}
    (tmp_path / "list.txt").write_text("flow\nspeed\n")
    evaluated = tamis("evaluate", path, *options[:4], "--labels", "kind", "--list", tmp_path / "list.txt", "--json")
    assert evaluated.code == 0 and evaluated.json["data"]["reading"] == {"missing": "median", "id": "id", "labels": "kind"}
