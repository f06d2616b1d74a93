"""--counts (library size, log1p), --scale auto, and warnings about columns in every command."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse
from conftest import planted, refused, select, tamis, write_npy

pytestmark = pytest.mark.shared


def counts(rows=80, columns=60, seed=0):
    """Molecules of genes in cells of different depth; a few genes take most of them."""
    rng = np.random.default_rng(seed)
    rate = rng.gamma(0.4, 2.0, columns) * rng.gamma(1.0, 1.0, (rows, 1))
    rate[:, :3] *= 60
    return rng.poisson(rate).astype(float)


def normalized(X):
    total = X.sum(axis=1, keepdims=True)
    return np.log1p(X / np.where(total == 0, 1, total) * 1e4)


@pytest.mark.parametrize("kind", ["csv", "npy", "npy-int", "mtx", "npz-float32"])
def test_counts_are_normalized_as_defined(tmp_path, kind):
    X = counts()
    X[5] = 0  # an empty row stays
    path = tmp_path / ("a." + kind.split("-")[0])
    if kind == "csv":
        pd.DataFrame(X.astype(int)).to_csv(path, index=False, header=[f"g{j}" for j in range(60)])
    elif kind == "mtx":
        scipy.io.mmwrite(path, scipy.sparse.csr_matrix(X))
    elif kind == "npz-float32":
        scipy.sparse.save_npz(path, scipy.sparse.csr_matrix(X.astype(np.float32)))
    else:
        np.save(path, X.astype(np.int32) if kind == "npy-int" else X)
    result = select(path, "-m", "maxvar", "--counts")
    expected = normalized(X).var(axis=0, ddof=1)
    np.testing.assert_allclose(result["scores"], expected, rtol=1e-12, atol=1e-14)
    assert result["options"]["counts"] is True and result["report"]["warnings"] == []
    assert select(path, "-m", "maxvar")["options"]["counts"] is False


def test_the_sum_of_a_row_is_over_all_columns(tmp_path):
    X = counts()
    result = select(write_npy(tmp_path / "a.npy", X), "-m", "maxvar", "--counts", "--exclude", "0,1")
    np.testing.assert_allclose(result["scores"][2:], normalized(X).var(axis=0, ddof=1)[2:], rtol=1e-12)


def test_the_reduced_table_has_the_counts_themselves(tmp_path):
    X = counts()
    path = write_npy(tmp_path / "a.npy", X)
    assert tamis("select", path, "-m", "maxvar", "-k", "4", "--counts", "-o", tmp_path / "out").code == 0
    chosen = sorted(json.loads((tmp_path / "out" / "selection.json").read_text())["selected"])
    np.testing.assert_array_equal(np.load(tmp_path / "out" / "selected.npy"), X[:, chosen])


@pytest.mark.parametrize("value", [-1.0, 0.5])
def test_what_is_no_count_is_refused(tmp_path, value):
    X = counts()
    X[7, 3] = value
    refused(tamis("select", write_npy(tmp_path / "a.npy", X), "--counts"), 3, "a.npy", "row 7, column 3", f": {value:g}",
            "whole numbers of at least 0")
    scipy.io.mmwrite(tmp_path / "a.mtx", scipy.sparse.csr_matrix(X))
    refused(tamis("select", tmp_path / "a.mtx", "--counts"), 3, "row 7, column 3")


def test_rows_on_disk_are_refused(tmp_path):
    path = write_npy(tmp_path / "a.npy", np.ones((60_000, 200)) + np.arange(200))
    refused(tamis("select", path, "-m", "maxvar", "--counts", "--memory", "60MB", "--quiet"), 4, "--counts", "--memory")


def test_the_other_commands_take_counts(tmp_path):
    path = write_npy(tmp_path / "a.npy", counts())
    (tmp_path / "y.txt").write_text("".join(f"{i % 2}\n" for i in range(80)))
    (tmp_path / "list.txt").write_text("3\n4\n5\n")
    compared = tamis("compare", path, "-m", "maxvar", "-k", "5", "--counts", "--json").json
    assert compared["methods"][0]["selected"] == select(path, "-m", "maxvar", "-k", "5", "--counts")["selected"]
    assert compared["options"]["counts"] is True
    evaluated = tamis("evaluate", path, "--labels", tmp_path / "y.txt", "--list", tmp_path / "list.txt", "--counts", "--json")
    assert evaluated.json["options"]["counts"] is True
    assert tamis("info", path, "--counts", "--json").json["data"]["max"] == pytest.approx(normalized(counts()).max(), rel=1e-12)


def test_raw_counts_are_warned_about_in_select_compare_and_info(tmp_path):
    path = write_npy(tmp_path / "a.npy", counts())
    for words in (["select", path, "-m", "maxvar"], ["compare", path, "-m", "maxvar", "-k", "5"]):
        assert "look like raw counts" in tamis(*words).err
        assert "look like raw counts" not in tamis(*words, "--counts").err
    assert "look like raw counts" in tamis("info", path).out


# --- --scale auto -----------------------------------------------------------------------------------------------------


def pixels(seed=0):
    X = np.random.default_rng(seed).integers(0, 256, (80, 64)).astype(float)
    X[0], X[1] = 0, 255
    X[:, :20] = np.minimum(X[:, :20], 2)  # dark ones
    return X


TABLES = {
    "pixels": (pixels, "none", "whole numbers from 0"),
    "yes and no": (lambda: (np.random.default_rng(0).random((80, 30)) < np.linspace(0.004, 0.5, 30)).astype(float), "none",
                   "within -1..1"),
    "alike": (lambda: planted(80, 8), "none", "differ only by a factor"),
    "log counts": (lambda: normalized(counts()), "none", "similar values"),
    "units": (lambda: planted(80, 8) * [1, 1e3, 1, 1e-2, 50, 1, 1, 1], "standard", "units seem to differ"),
}


@pytest.mark.parametrize("name", TABLES)
def test_scale_auto_goes_by_the_units(tmp_path, name):
    make, scale, reason = TABLES[name]
    path = write_npy(tmp_path / "a.npy", make())
    run = tamis("select", path, "-m", "lapscore", "--scale", "auto", "--json")
    assert run.code == 0 and run.err.count("--scale auto: " + scale) == 1 and reason in run.err, str(run)
    options = run.json["options"]
    assert options["scale"] == scale and reason in options["scale_reason"]
    same = select(path, "-m", "lapscore", "--scale", scale)
    assert run.json["scores"] == same["scores"] and same["options"]["scale_reason"] is None
    info = tamis("info", path, "--json").json["data"]
    assert (info["scale"], info["scale_reason"]) == (scale, options["scale_reason"])
    compared = tamis("compare", path, "-m", "lapscore", "-k", "3", "--scale", "auto", "--json")
    assert compared.json["options"]["scale"] == scale and reason in compared.err


def test_scale_auto_names_the_columns_and_works_in_evaluate(tmp_path):
    frame = pd.DataFrame(planted(80, 4) * [1, 1e4, 1, 1], columns=["age", "income", "height", "weight"])
    frame.to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "y.txt").write_text("".join(f"{i % 3}\n" for i in range(80)))
    (tmp_path / "list.txt").write_text("age\n")
    run = tamis("evaluate", tmp_path / "a.csv", "--labels", tmp_path / "y.txt", "--list", tmp_path / "list.txt", "--scale",
                "auto", "--json")
    assert "(columns income and " in run.err and run.json["options"]["scale"] == "standard"
    refused(tamis("select", tmp_path / "a.csv", "--scale", "some"), 2, "unit or auto")


def test_compare_warns_about_identifiers_by_name(tmp_path):
    frame = pd.DataFrame(planted(80, 4), columns=list("abcd"))
    frame.insert(1, "customer", 1000 + 3 * np.arange(80))
    frame.loc[3, "c"] = -9999
    frame.to_csv(tmp_path / "a.csv", index=False)
    run = tamis("compare", tmp_path / "a.csv", "-m", "maxvar,lapscore", "-k", "2", "--json")
    assert run.err.count("column customer rises from row to row") == 1
    assert run.err.count("column c: 1 value like -9999") == 1
    assert any("customer" in note for note in run.json["notes"])
    assert "rises" not in tamis("compare", tmp_path / "a.csv", "-m", "maxvar", "-k", "2", "--exclude", "customer").err
