"""The native command and the Python call give the same numbers, to the last bit, for one file, options and seed."""

import json
import subprocess

import numpy as np
import pytest
import scipy.io
from conftest import NATIVE, make, planted
from scipy import sparse

import tamis

pytestmark = [
    pytest.mark.skipif(not NATIVE.is_file(), reason=f"no native command at {NATIVE} (make build, or TAMIS_NATIVE)"),
    pytest.mark.filterwarnings("ignore"),  # each door warns in its own way
]

N, D, C = 150, 40, 3


def command(path, *words):
    words = [str(NATIVE), "select", str(path), "--json", "--quiet", *map(str, words)]
    done = subprocess.run(words, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def agree(selector, printed):
    """Every number that both doors give."""
    assert np.array_equal(selector.scores_, printed["scores"])  # JSON holds as many digits as it takes
    order = np.argsort(selector.ranking_)
    assert order[: selector.get_support().sum()].tolist() == printed["selected"]
    clusters = printed["clusters"]
    assert hasattr(selector, "labels_") == (clusters is not None)
    if clusters is not None:
        assert selector.labels_.tolist() == clusters
    report = printed["report"]
    assert getattr(selector, "objective_", np.array([])).tolist() == report["objective"]
    assert {key: value.tolist() for key, value in selector.report_["terms"].items()} == report["terms"]
    assert (selector.report_["status"], selector.report_["path"]) == (report["status"], report["path"])
    assert selector.report_["passes"] == report["passes"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("doors")
    X = planted(N, D, C, seed=1)
    holes = np.where(np.abs(X) > 1, X, 0)
    np.save(folder / "f8.npy", X)
    np.save(folder / "f4.npy", X.astype("f4"))
    np.save(folder / "i2.npy", np.round(10 * X).astype(">i2"))
    np.save(folder / "columns.npy", np.asfortranarray(X))
    np.save(folder / "wide.npy", planted(30, 400, C, seed=2))
    np.savez(folder / "labels.npz", X=X, y=np.where(np.arange(N) % 5 == 0, -1, np.arange(N) % C))
    np.savetxt(folder / "x.csv", X, delimiter=",", header=",".join(f"c{j}" for j in range(D)), comments="", fmt="%.17g")
    sparse.save_npz(folder / "sparse.npz", sparse.csr_matrix(holes))
    scipy.io.mmwrite(folder / "x.mtx", sparse.coo_matrix(holes), precision=17)
    return folder


def numbers(path):
    """The numbers of a file by another way than tamis.read."""
    if path.suffix == ".npy":
        return np.load(path)
    if path.suffix == ".csv":
        return np.loadtxt(path, delimiter=",", skiprows=1)
    return sparse.load_npz(path) if path.suffix == ".npz" else scipy.io.mmread(path).tocsr()


FILES = ["f8.npy", "f4.npy", "i2.npy", "columns.npy", "wide.npy", "x.csv", "sparse.npz", "x.mtx"]


@pytest.mark.parametrize("file", FILES)
def test_every_method_on_every_file(folder, file, name):
    printed = command(folder / file, "-m", name, *(["-c", C] if "n_clusters" in make(name).get_params() else []))
    agree(make(name, n_clusters=C).fit(numbers(folder / file)), printed)
    agree(make(name, n_clusters=C).fit(tamis.read(folder / file)), printed)


@pytest.mark.parametrize("seed", [1, 12345, 2**64 - 1])
def test_seeds_and_threads(folder, name, seed):
    clusters = ["-c", 5] if "n_clusters" in make(name).get_params() else []
    printed = command(folder / "f8.npy", "-m", name, *clusters, "--seed", seed, "--threads", 1 + seed % 3)
    for threads in (1, 3):
        agree(make(name, n_clusters=5, random_state=seed, n_jobs=threads).fit(np.load(folder / "f8.npy")), printed)


OPTIONS = [
    ("ufcm", ["-c", 4, "--alpha", 0.1, "--p", 0.5, "--dims", 2, "--iterations", 7, "--tolerance", 0],
     {"n_clusters": 4, "alpha": 0.1, "p": 0.5, "n_components": 2, "max_iter": 7, "tol": 0}),
    ("ufcm", ["-c", 4, "--beta", 3.7, "--restarts", 3], {"n_clusters": 4, "beta": 3.7, "n_init": 3}),
    ("ufcm", ["-c", 1, "--sparsity", 0.05], {"n_clusters": 1, "sparsity": 0.05}),
    ("guided", ["-c", 4, "--neighbors", 9, "--runs", 2, "--scales", "2,6", "--sample", 60, "--evidence", "off"],
     {"n_clusters": 4, "n_neighbors": 9, "n_runs": 2, "scales": [2, 6], "sample_size": 60, "evidence": False}),
    ("lapscore", ["--neighbors", 9, "--weights", "binary"], {"n_neighbors": 9, "weights": "binary"}),
    ("lapscore", ["--bandwidth", 0.1], {"bandwidth": 0.1}),
    ("spec", ["-c", 4, "--function", 3], {"n_clusters": 4, "function": 3}),
    ("mcfs", ["-c", 4, "--active", 7, "--normalize", "yes", "--ridge", 1e-3],
     {"n_clusters": 4, "n_active": 7, "normalize": True, "ridge": 1e-3}),
    ("ndfs", ["-c", 4, "--alpha", 0.3, "--laplacian", "plain", "--clip", "no"],
     {"n_clusters": 4, "alpha": 0.3, "laplacian": "plain", "clip": False}),
    ("rufs", ["-c", 4, "--nu", 0.3, "--iterations", 2, "--weights", "cosine"],
     {"n_clusters": 4, "nu": 0.3, "max_iter": 2, "weights": "cosine"}),
]  # fmt: skip


@pytest.mark.parametrize("method, words, options", OPTIONS)
def test_options(folder, method, words, options):
    printed = command(folder / "f8.npy", "-m", method, *words)
    agree(make(method, **options).fit(np.load(folder / "f8.npy")), printed)


@pytest.mark.parametrize("wanted, kept", [(7, 7), (0.1, 4), (0.33, None), (0.999, None), (D, D)])
def test_counts_and_fractions(folder, wanted, kept):
    printed = command(folder / "x.csv", "-m", "ufcm", "-k", wanted, "-c", C)
    selector = tamis.UFCM(wanted, n_clusters=C).fit(tamis.read(folder / "x.csv"))
    agree(selector, printed)
    assert kept in (None, selector.get_support().sum())
    assert sorted(printed["names"]) == sorted(selector.get_feature_names_out())


def test_supervised(folder):
    printed = command(folder / "labels.npz", "-c", C, "--supervise", "y")
    table = tamis.read(folder / "labels.npz", labels="y")
    agree(tamis.UFCM(n_clusters=C, supervised=True).fit(table, table.labels["y"]), printed)
    with np.load(folder / "labels.npz") as file:
        agree(tamis.UFCM(n_clusters=C, supervised=True).fit(file["X"], file["y"]), printed)


def test_defaults(folder):
    X = np.load(folder / "f8.npy")
    agree(tamis.GuidedUFCM().fit(X), command(folder / "f8.npy"))
    agree(tamis.GuidedUFCM(5).fit(X), command(folder / "f8.npy", "-k", 5))
    agree(tamis.UFCM(5).fit(X), command(folder / "f8.npy", "-m", "ufcm", "-k", 5))


def test_words_for_the_same_thing(folder):
    """Options and what the data decided are printed as Python resolves them."""
    printed = command(folder / "f8.npy", "-m", "ufcm", "-c", C)
    selector = tamis.UFCM(n_clusters=C).fit(np.load(folder / "f8.npy"))
    method = next(method for method in tamis._core.methods() if method["name"] == "ufcm")
    spelled = {option["name"]: option["python_name"] for option in method["options"]}
    shared = {key: value for key, value in printed["options"].items() if key in spelled}
    assert set(shared) == set(spelled)
    for key, value in shared.items():
        given = selector.get_params()[spelled[key]]
        assert value in (given, selector.report_["resolved"].get(spelled[key])), key
