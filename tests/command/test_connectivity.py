"""--connectivity: a graph of the rows that is given, in place of one of nearest rows."""

import gzip

import numpy as np
import pytest
import scipy.io
from conftest import planted, refused, same, select, tamis, write_csv, write_npy
from scipy import sparse

N = 90
GRAPHS = ["lapscore", "spec", "mcfs", "ndfs", "rufs"]


def nearest(X, k=5):
    """W = max(W, W') of the k nearest rows, heat weights with t the mean distance: by brute force."""
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    t = np.sqrt(squared).mean()
    np.fill_diagonal(squared, np.inf)
    W = np.zeros_like(squared)
    for i, row in enumerate(squared):
        for j in np.argsort(row, kind="stable")[:k]:
            W[i, j] = W[j, i] = np.exp(-row[j] / (2 * t * t))
    return W


@pytest.fixture
def X():
    return planted(N, 9, 3, informative=5, seed=3)


@pytest.fixture
def table(tmp_path, X):
    return write_npy(tmp_path / "x.npy", X)


@pytest.fixture
def graph(tmp_path, X):
    sparse.save_npz(tmp_path / "w.npz", sparse.csr_matrix(nearest(X)))
    return tmp_path / "w.npz"


def words(name):
    return ["-m", name, "-k", "4", *([] if name == "lapscore" else ["-c", "3"])]


@pytest.mark.parametrize("name", GRAPHS)
def test_the_graph_of_nearest_rows_gives_what_the_method_gives(table, graph, name):
    with_graph, without = (select(table, *words(name), *more) for more in (["--connectivity", graph], []))
    assert with_graph["selected"] == without["selected"]
    scores = np.array(without["scores"])
    rounding = {"ndfs": 1e-8, "rufs": 1e-6}.get(name, 1e-11)
    assert np.abs(np.array(with_graph["scores"]) - scores).max() <= rounding * np.abs(scores).max()


def save_sparse(path, W, form):
    sparse.save_npz(path, sparse.csr_matrix(W).asformat(form), compressed=form == "csr")


FILES = {
    "csr.npz": lambda path, W: save_sparse(path, W, "csr"),
    "csc.npz": lambda path, W: save_sparse(path, W, "csc"),
    "coo.npz": lambda path, W: save_sparse(path, W, "coo"),
    "general.mtx": lambda path, W: scipy.io.mmwrite(path, sparse.coo_matrix(W), precision=17, symmetry="general"),
    "symmetric.mtx": lambda path, W: scipy.io.mmwrite(path, sparse.coo_matrix(W), precision=17, symmetry="symmetric"),
    "packed.mtx.gz": lambda path, W: path.write_bytes(gzip.compress(market(W))),
    "dense.npy": np.save,
    "dense.npz": lambda path, W: np.savez(path, X=W),
    "columns.npy": lambda path, W: np.save(path, np.asfortranarray(W)),
    "text.csv": lambda path, W: np.savetxt(path, W, delimiter=",", fmt="%.17g"),
}


def market(W):
    import io

    text = io.BytesIO()
    scipy.io.mmwrite(text, sparse.coo_matrix(W), precision=17)
    return text.getvalue()


@pytest.mark.parametrize("file", FILES)
def test_every_form_of_the_matrix(table, graph, tmp_path, X, file):
    FILES[file](tmp_path / file, nearest(X))
    wanted = select(table, *words("lapscore"), "--connectivity", graph)
    found = select(table, *words("lapscore"), "--connectivity", tmp_path / file)
    assert found["scores"] == wanted["scores"] and found["selected"] == wanted["selected"]


def test_the_document_says_what_was_used(table, graph):
    found = select(table, *words("spec"), "--connectivity", graph)
    assert found["options"]["connectivity"] == str(graph)
    assert not {"neighbors", "weights", "bandwidth", "recall"} & set(found["options"]) and found["options"]["function"] == 2
    assert found["report"]["path"] == "given graph, function 2"
    assert found["report"]["resolved"]["edges"] == sparse.load_npz(graph).nnz / 2
    assert "connectivity" not in select(table, *words("spec"))["options"]


def test_the_page_says_what_was_used(table, graph, tmp_path):
    assert tamis("select", table, *words("lapscore"), "--connectivity", graph, "-o", tmp_path / "out").code == 0
    page = (tmp_path / "out" / "report.html").read_text()
    assert "given graph" in page and "w.npz" in page and "number of nearest neighbors" not in page


def test_threads_change_nothing(table, graph):
    runs = [select(table, *words("mcfs"), "--connectivity", graph, "--threads", threads) for threads in (1, 3)]
    same(*runs)


def test_the_table_may_be_text(table, graph, tmp_path, X):
    wanted = select(table, *words("lapscore"), "--connectivity", graph)
    found = select(write_csv(tmp_path / "x.csv", X), *words("lapscore"), "--connectivity", graph)
    assert found["scores"] == wanted["scores"]


@pytest.mark.native
def test_rows_on_disk(tmp_path):
    """The graph is in memory, and counts."""
    n = 30000
    np.save(tmp_path / "x.npy", planted(n, 100, 3, informative=5))
    ring = sparse.coo_matrix((np.ones(n), (np.arange(n), (np.arange(n) + 3) % n)), (n, n)).tocsr()
    sparse.save_npz(tmp_path / "w.npz", ring.maximum(ring.T))
    words_of = ["-m", "lapscore", "-k", "4", "--redundancy", "off", "--threads", "1", "--connectivity", tmp_path / "w.npz"]
    runs = [select(tmp_path / "x.npy", *words_of, *limit) for limit in ([], ["--memory", "24MB"])]
    assert [run["data"]["storage"] for run in runs] == ["memory", "disk"]
    assert runs[0]["scores"] == runs[1]["scores"]


def test_rows_that_are_dropped_leave_the_graph(tmp_path, X):
    W = nearest(X)
    kept = np.setdiff1d(np.arange(N), [4, 40, 89])
    holes = X.copy()
    holes[[4, 40, 89], [1, 2, 3]] = np.nan
    np.save(tmp_path / "holes.npy", holes)
    np.save(tmp_path / "kept.npy", X[kept])
    np.save(tmp_path / "w.npy", W)
    np.save(tmp_path / "w_kept.npy", W[np.ix_(kept, kept)])
    words_of = [*words("lapscore"), "--connectivity"]
    found = select(tmp_path / "holes.npy", *words_of, tmp_path / "w.npy", "--missing", "drop-rows")
    assert found["scores"] == select(tmp_path / "kept.npy", *words_of, tmp_path / "w_kept.npy")["scores"]
    run = tamis("select", tmp_path / "holes.npy", *words_of, tmp_path / "w_kept.npy", "--missing", "drop-rows", "--quiet")
    refused(run, [2], "a graph of 87 rows", "90 before --missing drop-rows")


@pytest.mark.parametrize("repeats", [["--resample", "3"], ["--seeds", "3"]])
def test_repeated_runs(table, graph, repeats):
    name = "lapscore" if "--resample" in repeats else "spec"
    if "--seeds" in repeats:
        repeats = [*repeats, "--function", "3"]
    found = select(table, *words(name), "--connectivity", graph, *repeats)
    assert found["stability"]["runs"] == 3


def test_isolated_rows_are_named(tmp_path, table, X):
    W = nearest(X)
    W[5] = W[:, 5] = 0
    np.save(tmp_path / "w.npy", W)
    found = select(table, *words("lapscore"), "--connectivity", tmp_path / "w.npy")
    assert found["report"]["resolved"]["isolated_rows"] == 1
    assert any("1 of 90 rows has no edge" in warning for warning in found["report"]["warnings"])


REFUSED = {
    "one way": (lambda W: np.triu(W), "need a symmetric matrix"),
    "negative": (lambda W: -W, "need finite weights >= 0"),
    "infinite": (lambda W: np.where(W > 0, np.inf, 0), "need finite weights >= 0"),
    "not a number": (lambda W: np.where(W > 0, np.nan, 0), "need finite weights >= 0"),
    "no edge": (lambda W: np.eye(N), "need an edge"),
    "not square": (lambda W: W[:, :-1], "90 x 89"),
    "of other rows": (lambda W: W[:50, :50], "a graph of 50 rows, the table has 90"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_one_line(tmp_path, table, X, case):
    change, words_of = REFUSED[case]
    W = change(nearest(X))
    np.save(tmp_path / "w.npy", W)
    sparse.save_npz(tmp_path / "w.npz", sparse.csr_matrix(W))
    for file in ("w.npy", "w.npz"):
        run = tamis("select", table, *words("lapscore"), "--connectivity", tmp_path / file)
        refused(run, [2, 3], words_of, str(tmp_path / file))


@pytest.mark.parametrize(
    "idle", [["--neighbors", "9"], ["--weights", "binary"], ["--bandwidth", "0.5"], ["--recall", "0.5"]]
)
def test_options_of_the_other_graph_are_refused(table, graph, idle):
    run = tamis("select", table, *words("spec"), "--connectivity", graph, *idle)
    refused(run, [2], idle[0][2:], "is used instead")


@pytest.mark.parametrize("name", ["guided", "maxvar", "udfs"])
def test_methods_without_a_graph_refuse_it(table, graph, name):
    refused(tamis("select", table, "-m", name, "--connectivity", graph), [2], name, "lapscore, spec, mcfs, ndfs, rufs")


def test_comparisons_refuse_it(table, graph):
    refused(tamis("compare", table, "--connectivity", graph), [2], "every method sees the table alone")


def test_no_such_file(table, tmp_path):
    refused(tamis("select", table, *words("lapscore"), "--connectivity", tmp_path / "no.npz"), [3, 5], "no.npz")


def test_the_limit_counts_the_graph(tmp_path):
    """A dense graph that the limit has no room for is refused before anything is computed."""
    n = 3000
    np.save(tmp_path / "x.npy", planted(n, 4, 3, informative=2))
    np.save(tmp_path / "w.npy", np.ones((n, n), dtype=np.float32))
    run = tamis("select", tmp_path / "x.npy", "-m", "lapscore", "--connectivity", tmp_path / "w.npy", "--memory", "60MB")
    refused(run, [4], "the limit is 57.3 MiB")
