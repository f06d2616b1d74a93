"""Parquet, Feather, AnnData and MATLAB files: Python's command reads them, the native one names the Python door."""

import json
import os

import numpy as np
import pytest
from conftest import planted, refused, same, select, tamis, write_csv, write_npy

pytestmark = pytest.mark.python  # the native command names the Python door: test_usage.py

N, D, C = 90, 6, 3
X = planted(N, D, C)
Y = [f"k{i % C}" for i in range(N)]
NAMES = list("abcdef")


def write_table(path, numbers, extra=None):
    pytest.importorskip("pyarrow")
    import pyarrow
    import pyarrow.feather
    import pyarrow.parquet

    table = pyarrow.table({**{name: numbers[:, j] for j, name in enumerate(NAMES)}, **(extra or {"y": Y})})
    write = pyarrow.parquet.write_table if path.suffix == ".parquet" else pyarrow.feather.write_feather
    write(table, str(path))


def write_h5ad(path, numbers):
    pandas, anndata = pytest.importorskip("pandas"), pytest.importorskip("anndata")
    rows = pandas.DataFrame({"y": Y}, index=[f"r{i}" for i in range(N)])
    anndata.AnnData(numbers, rows, pandas.DataFrame(index=NAMES)).write_h5ad(path)


def write_mat(path, numbers):
    import scipy.io

    scipy.io.savemat(path, {"X": numbers, "y": np.arange(N) % C})


WRITERS = {".parquet": write_table, ".feather": write_table, ".h5ad": write_h5ad, ".mat": write_mat}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same table and labels in each format, and in one that both commands read."""
    folder = tmp_path_factory.mktemp("foreign")
    np.savez(folder / "twin.npz", X=X, y=np.arange(N) % C)
    (folder / "y.csv").write_text("\n".join(Y) + "\n")
    (folder / "list.txt").write_text("0\n1\n")
    return folder


def table(folder, ending):
    path = folder / f"x{ending}"
    if not path.exists():
        WRITERS[ending](path, X)
    return path


@pytest.mark.parametrize("ending", WRITERS)
def test_select_and_its_output_folder(folder, tmp_path, ending):
    out = tmp_path / "out"
    found = select(table(folder, ending), "-c", C, "-k", 2, "--labels", "y", "-o", out)
    same(found, select(folder / "twin.npz", "-c", C, "-k", 2))
    names = NAMES if ending != ".mat" else [f"f{j}" for j in range(D)]
    assert [names[j] for j in found["selected"]] == found["names"]
    assert (found["data"]["rows"], found["data"]["features"]) == (N, D)
    (reduced,) = set(os.listdir(out)) - {"ranking.csv", "selection.json", "report.html", "clusters.csv"}
    assert json.loads((out / "selection.json").read_text())["selected"] == found["selected"]
    variances = select(out / reduced, "-m", "maxvar")["scores"]  # either command reads what was written
    np.testing.assert_allclose(sorted(variances), sorted(X[:, found["selected"]].var(axis=0, ddof=1)), rtol=1e-12)


@pytest.mark.parametrize("ending", [".h5ad", ".mat"])
def test_supervise(folder, ending):
    words = ["-c", C, "--supervise", "y"]
    same(select(table(folder, ending), *words), select(folder / "twin.npz", *words))


def test_info(folder):
    run = tamis("info", table(folder, ".parquet"), "--labels", "y", "--json")
    assert run.code == 0 and run.json["data"]["rows"] == N and run.json["data"]["features"] == D, str(run)


@pytest.mark.parametrize("ending", [".feather", ".h5ad"])
def test_evaluate_by_a_column(folder, ending):
    words = ["--labels", "y", "--list", folder / "list.txt", "--json"]
    found, expected = tamis("evaluate", table(folder, ending), *words), tamis("evaluate", folder / "twin.npz", *words)
    assert found.code == 0, str(found)
    assert found.json["scores"] == expected.json["scores"]


@pytest.mark.parametrize("ending", [".parquet", ".mat"])
def test_compare(folder, ending):
    words = ["--labels", "y", "-k", "2,4", "-m", "ufcm,maxvar", "--json"]
    found, expected = tamis("compare", table(folder, ending), *words), tamis("compare", folder / "twin.npz", *words)
    assert found.code == 0, str(found)
    for ours, theirs in zip(found.json["methods"], expected.json["methods"], strict=True):
        assert (ours["selected"], ours["sizes"]) == (theirs["selected"], theirs["sizes"])


def test_labels_in_a_file_of_their_own(folder):
    found = select(table(folder, ".h5ad"), "-c", C, "--supervise", folder / "y.csv")
    same(found, select(folder / "twin.npz", "-c", C, "--supervise", "y"))


def test_text_must_be_named(tmp_path):
    path = tmp_path / "x.parquet"
    write_table(path, X, {"cell": [f"r{i}" for i in range(N)]})
    refused(tamis("select", path, "-c", C), 3, "x.parquet", "cell")
    csv = write_csv(tmp_path / "x.csv", X, ["cell", *NAMES], ids=[f"r{i}" for i in range(N)])
    same(select(path, "-c", C, "--id", "cell"), select(csv, "-c", C, "--id", "cell"))


def test_sparse_anndata(tmp_path):
    import scipy.sparse

    numbers = scipy.sparse.csr_matrix(np.where(X > 0, X, 0))
    write_h5ad(tmp_path / "x.h5ad", numbers)
    scipy.sparse.save_npz(tmp_path / "x.npz", numbers)
    same(select(tmp_path / "x.h5ad", "-c", C), select(tmp_path / "x.npz", "-c", C))


def test_variables_and_transpose(tmp_path):
    import scipy.io

    scipy.io.savemat(tmp_path / "x.mat", {"A": X, "B": 2 * X.T})
    expected = select(write_npy(tmp_path / "x.npy", X), "-c", C, "-m", "maxvar")
    same(select(tmp_path / "x.mat", "-c", C, "-m", "maxvar", "--array", "A"), expected)
    turned = select(tmp_path / "x.mat", "-c", C, "-m", "maxvar", "--array", "B", "--transpose")
    assert turned["scores"] == [4 * score for score in expected["scores"]]
    refused(tamis("select", tmp_path / "x.mat", "-c", C, "--array", "nosuch"), (2, 3), "nosuch", "A", "B")


@pytest.mark.parametrize("ending", WRITERS)
def test_broken_files(folder, tmp_path, ending):
    whole = table(folder, ending).read_bytes()
    path = tmp_path / f"x{ending}"
    for bad in (b"", whole[: len(whole) // 2]):
        path.write_bytes(bad)
        refused(tamis("select", path, "-c", C), 3, path.name)


@pytest.mark.parametrize("ending", [".parquet", ".h5ad", ".mat"])
def test_not_finite(tmp_path, ending):
    bad, path = X.copy(), tmp_path / f"x{ending}"
    bad[17, 4] = np.nan
    WRITERS[ending](path, bad)
    column = "column 4" if ending == ".mat" else "e"
    refused(tamis("select", path, "-c", C, "--labels", "y"), 3, path.name, "row 17", column)


def test_what_is_not_there(folder, tmp_path):
    refused(tamis("select", table(folder, ".h5ad"), "-c", C, "--labels", "nosuch"), 2, "nosuch", "y")
    for ending in WRITERS:
        refused(tamis("select", tmp_path / f"absent{ending}", "-c", C), 5, f"absent{ending}")


def test_options_out_of_range(folder):
    refused(tamis("select", table(folder, ".mat"), "-c", N + 1), 2, N + 1)
    refused(tamis("select", table(folder, ".mat"), "-c", C, "-k", D + 1), 2, D + 1, D)


def test_memory_that_does_not_suffice(tmp_path):
    import scipy.io

    scipy.io.savemat(tmp_path / "x.mat", {"X": np.zeros((5000, 200))})
    refused(tamis("select", tmp_path / "x.mat", "-c", C, "--memory", "4MB"), 4, "memory")
