"""Selectors of Dask's data: the bits of memory, whatever the chunks, the schedulers and the deaths of workers."""

import pickle
import random
import re
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest
from conftest import child, planted, same_fit
from limits import at_rest
from scipy import sparse
from sklearn.base import clone

import tamis

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore:column standard deviations"
)
METHODS = tuple(tamis.dask.__all__)
BLOCK = 2048  # rows; a constant of the program


def on_dask(method, **options):
    return getattr(tamis.dask, method)(**options)


def in_memory(method, X, **options):
    return getattr(tamis, method)(**options).fit(X)


def same_work(a, b):
    """The same result by the same path."""
    same_fit(a, b)
    for name in ("passes", "path", "iterations", "resolved", "warnings"):
        assert a.report_[name] == b.report_[name], name


# --- The same bits ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunks", [(BLOCK, 12), (3000, 5), (1000, 12), (9001, 12), ((4000, 1, 5000), (1, 11))])
@pytest.mark.parametrize("method", METHODS)
def test_chunks_do_not_matter(method, chunks):
    X = planted(n=9001)
    fit = on_dask(method, n_features_to_select=4).fit(da.from_array(X, chunks=chunks))
    same_work(fit, in_memory(method, X, n_features_to_select=4))


@pytest.mark.parametrize("scale", ["none", "standard", "minmax", "unit", "auto"])
@pytest.mark.parametrize("method", METHODS)
def test_columns_and_scales(method, scale):
    X = planted(n=5000) * np.where(np.arange(12) % 3, 1, 50)
    options = {"n_features_to_select": 4, "include": [11], "exclude": [0, 7], "scale": scale}
    fit = on_dask(method, **options).fit(da.from_array(X, chunks=(BLOCK, -1)))
    same_work(fit, in_memory(method, X, **options))
    assert fit.get_support()[11] and np.isnan(fit.scores_[[0, 7]]).all()


@pytest.mark.parametrize("method", [method for method in METHODS if method != "FSPCA"])  # which needs a number
def test_as_many_features_as_are_worth_it(method):
    X = planted(n=5000, d=70, informative=20)
    fit = on_dask(method, n_features_to_select="auto").fit(da.from_array(X, chunks=(BLOCK, -1)))
    same_fit(fit, in_memory(method, X, n_features_to_select="auto"))
    assert method == "SparseKMeans" or fit.alignment_.max() > 0  # it counts its weights instead


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
def test_schedulers_do_not_matter(scheduler):
    X = planted(n=5000)
    with dask.config.set(scheduler=scheduler, num_workers=2):
        fit = on_dask("MaxVariance").fit(da.from_array(X, chunks=(BLOCK, -1)))
    same_work(fit, in_memory("MaxVariance", X))


@pytest.mark.parametrize("rows", [2, 3, 100, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 5 * BLOCK + 17])
def test_any_number_of_rows_will_do(rows):
    X = planted(n=rows)
    fit = on_dask("UFCM", n_clusters=2, max_iter=5).fit(da.from_array(X, chunks=(BLOCK, -1)))
    same_work(fit, in_memory("UFCM", X, n_clusters=2, max_iter=5))


@pytest.mark.parametrize(
    "options", [{"alpha": 0.1}, {"alpha": 5.0, "beta": 3.0}, {"p": 0.5}, {"beta": 0.0}, {"n_components": 3}]
)
def test_every_path_through_ufcm_is_the_same(options):
    X = planted(n=7000, d=30)
    options = {"n_clusters": 3, "max_iter": 8, **options}
    same_work(on_dask("UFCM", **options).fit(da.from_array(X, chunks=(BLOCK, -1))), in_memory("UFCM", X, **options))


@pytest.mark.parametrize(
    "rows, columns, options",
    [(40, 300, {}), (2500, 400, {"alpha": 0.5}), (2100, 4200, {}), (270_000, 5, {}), (70_000, 80, {"beta": 100.0})],
    ids=["few rows", "products", "wide", "from a sample", "rough start"],
)
def test_every_shape_takes_the_path_of_memory(rows, columns, options):
    X = planted(n=rows, d=columns).astype(np.float32)
    options = {"n_clusters": 3, "max_iter": 3, "tol": 0, **options}
    same_work(on_dask("UFCM", **options).fit(da.from_array(X, chunks=(BLOCK, -1))), in_memory("UFCM", X, **options))


@pytest.mark.parametrize("kind", ["float32", "float16", "int8", "uint16", "int64", "bool", ">f8"])
@pytest.mark.parametrize("method", METHODS)
def test_element_types_do_not_matter(method, kind):
    X = (planted(n=5000) > 0.5).astype(kind) if kind == "bool" else np.rint(planted(n=5000)).clip(0, 100).astype(kind)
    fit = on_dask(method).fit(da.from_array(X, chunks=(2500, 12)))
    same_work(fit, in_memory(method, X))
    same_fit(fit, in_memory(method, X.astype(np.float64)))


@pytest.mark.parametrize("method", METHODS)
def test_a_large_offset_changes_little_and_nothing_against_memory(method):
    X = planted(n=5000) + 1e8
    fit = on_dask(method, n_features_to_select=4).fit(da.from_array(X, chunks=(BLOCK, -1)))
    same_work(fit, in_memory(method, X, n_features_to_select=4))
    assert np.array_equal(fit.get_support(), in_memory(method, X - 1e8, n_features_to_select=4).get_support())


@pytest.mark.parametrize("method", METHODS)
def test_constant_columns_come_last(method):
    X = planted(n=5000)
    X[:, 3], X[:, 7] = 0.1, 5
    fit = on_dask(method).fit(da.from_array(X, chunks=(BLOCK, -1)))
    same_work(fit, in_memory(method, X))
    assert {fit.ranking_[3], fit.ranking_[7]} == {11, 12} and fit.scores_[3] == fit.scores_[7] == 0
    with pytest.raises(ValueError, match="no variation: all 12 columns are constant"):
        on_dask(method).fit(da.zeros((5000, 12), chunks=(BLOCK, -1)))


@pytest.mark.parametrize("method", METHODS)
def test_sparse_chunks(method):
    X = sparse.random(6000, 20, density=0.2, format="csr", random_state=0)
    pieces = [dask.delayed(X[first : first + 1700]) for first in range(0, 6000, 1700)]
    arrays = [
        da.from_delayed(piece, shape=(min(1700, 6000 - 1700 * i), 20), dtype=X.dtype, meta=sparse.csr_matrix((0, 0)))
        for i, piece in enumerate(pieces)
    ]
    fit = on_dask(method, n_features_to_select=4).fit(da.concatenate(arrays))
    same_work(fit, in_memory(method, X, n_features_to_select=4))


def test_supervised_by_arrays_of_either_kind():
    X, y = planted(n=5000), np.arange(5000) % 3
    y[::7] = -1
    D = da.from_array(X, chunks=(BLOCK, -1))
    wanted = tamis.UFCM(n_clusters=3, supervised=True).fit(X, y)
    same_work(on_dask("UFCM", n_clusters=3, supervised=True).fit(D, y), wanted)
    same_work(on_dask("UFCM", n_clusters=3, supervised=True).fit(D, da.from_array(y, chunks=1000)), wanted)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        on_dask("UFCM", supervised=True).fit(D, y[:-1])


# --- Data frames, names, transform -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_data_frames_bring_names(method):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(planted(n=5000), columns=[f"gene {j}" for j in range(12)])
    frame["gene 5"] = np.arange(5000) % 4
    frame["gene 6"] = frame["gene 6"].astype(np.float32)
    table = dd.from_pandas(frame, npartitions=7)
    fit = on_dask(method, n_features_to_select=3).fit(table[table["gene 5"] >= 0])  # partitions of unknown length
    wanted = in_memory(method, frame, n_features_to_select=3)
    same_work(fit, wanted)
    assert np.array_equal(fit.get_feature_names_out(), wanted.get_feature_names_out())
    pd.testing.assert_frame_equal(fit.transform(table).compute(), frame[wanted.get_feature_names_out()])
    assert np.array_equal(fit.transform(frame), wanted.transform(frame))
    with pytest.raises(ValueError, match="feature names of X differ"):
        fit.transform(table.rename(columns={"gene 1": "gene one"}))
    with pytest.raises(ValueError, match=r"column 'gene 5' \(.*\) of X contains no numbers"):
        on_dask(method).fit(table.assign(**{"gene 5": "word"}))


def test_nullable_columns_are_numbers_and_their_gaps_are_refused():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame({"a": pd.array(np.arange(3000) % 7, dtype="Int64"), "b": np.arange(3000) % 3})
    table = dd.from_pandas(frame, npartitions=2)
    same_fit(on_dask("MaxVariance").fit(table), in_memory("MaxVariance", frame.astype(float)))
    frame.loc[2500, "a"] = pd.NA
    with pytest.raises(ValueError, match="row 2500, column 0: NaN, need finite numbers"):
        on_dask("MaxVariance").fit(dd.from_pandas(frame, npartitions=2))


def test_transform_is_lazy_where_the_data_are():
    X = planted(n=3000)
    D = da.from_array(X, chunks=(1000, 5))
    fit = on_dask("UFCM", n_features_to_select=4).fit(D)
    assert isinstance(fit.transform(D), da.Array)
    assert np.array_equal(fit.transform(D).compute(), fit.transform(X)) and fit.transform(X).shape == (3000, 4)
    with pytest.raises(ValueError, match="X has 11 features, but UFCM is expecting 12"):
        fit.transform(D[:, :11])


def test_they_are_selectors_like_the_others():
    for method in METHODS:
        selector, plain = on_dask(method, random_state=3), getattr(tamis, method)(random_state=3)
        assert selector.get_params() == plain.get_params() and clone(selector).get_params() == plain.get_params()
        assert isinstance(selector, type(plain))
        fit = selector.fit(da.from_array(planted(n=3000), chunks=(BLOCK, -1)))
        kept = pickle.loads(pickle.dumps(fit))
        assert type(kept) is getattr(tamis.dask, method)
        same_fit(kept, fit)


def test_unknown_lengths_are_computed_and_the_array_stays_as_it_is():
    X = planted(n=5000)
    D = da.from_array(X, chunks=(1000, -1))
    some = D[D[:, 0] > 0]
    same_work(on_dask("UFCM").fit(some), in_memory("UFCM", X[X[:, 0] > 0]))
    assert np.isnan(some.shape[0])


# --- What is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row, value", [(0, np.nan), (3, -np.inf), (4999, np.inf), (2048, np.nan)])
@pytest.mark.parametrize("method", METHODS)
def test_bad_values_are_named_as_in_memory(method, row, value):
    X = planted(n=5000)
    X[row, 7] = value
    X[4999, 11] = np.nan
    said = []
    for fit in (in_memory, lambda method, X: on_dask(method).fit(da.from_array(X, chunks=(BLOCK, 3)))):
        with pytest.raises(ValueError) as error:
            fit(method, X)
        said.append(str(error.value))
    # In memory they are counted too; there, another pass over the chunks would be needed.
    assert said[0].startswith(said[1]) and said[1].startswith(f"row {row}, column 7:")


@pytest.mark.parametrize(
    "X, words",
    [
        (np.zeros((5, 2)), "UFCM: X is ndarray, need a Dask array or data frame; for other data use tamis.UFCM"),
        (da.zeros((5, 2, 2)), "UFCM: X has 3 dimensions, need 2"),
        (da.zeros((5, 2), dtype=complex), "UFCM: X has elements of type complex128, need real numbers"),
        (da.zeros((5, 2), chunks=5, dtype=object), "UFCM: X has elements of type object, need real numbers"),
        (da.zeros((1, 2)), "UFCM: X of shape (1, 2), need at least 2 rows and 1 column"),
        (
            da.ma.masked_array(da.ones((5, 2))),
            "UFCM: X has chunks of type MaskedArray, need NumPy arrays or scipy.sparse matrices",
        ),
        (
            da.from_delayed(dask.delayed(np.ones)((5, 2)), (6, 2), float),
            "X: a chunk of shape (5, 2) and type float64 at row 0, need (6, 2) real numbers",
        ),
    ],
    ids=["numpy", "cube", "complex", "objects", "one row", "masked", "lies"],
)
def test_what_is_no_table_is_refused(X, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        on_dask("UFCM").fit(X)


def test_options_are_checked_as_in_memory():
    D = da.from_array(planted(n=3000), chunks=(BLOCK, -1))
    for options in ({"n_clusters": 0}, {"alpha": "much"}, {"n_features_to_select": 13}, {"n_clusters": 4000}):
        with pytest.raises(ValueError) as wanted:
            tamis.UFCM(**options).fit(planted(n=3000))
        with pytest.raises(ValueError, match=re.escape(str(wanted.value))):
            on_dask("UFCM", **options).fit(D)


def test_errors_of_the_callers_own_tasks_come_through():
    def load(block):
        raise OSError("no such shard")

    X = da.zeros((5000, 3), chunks=(BLOCK, -1)).map_blocks(load, dtype=float, meta=np.empty((0, 0)))
    selector = on_dask("UFCM")
    with pytest.raises(OSError, match="no such shard"):
        selector.fit(X)
    assert not hasattr(selector, "scores_") and pickle.loads(pickle.dumps(selector))


# --- The graph -------------------------------------------------------------------------------------------------------


def test_tasks_grow_as_chunks_times_requests():
    """At most two tasks a chunk and one a merge in every request: passes over the data, steps of k-means, samples."""
    X = planted(n=32 * BLOCK, d=6)
    for blocks in (1, 2, 4, 32):
        fit = on_dask("UFCM", n_clusters=3, max_iter=4, tol=0).fit(da.from_array(X, chunks=(blocks * BLOCK, -1)))
        chunks, passes, requests = (fit.report_[name] for name in ("chunks", "passes", "requests"))
        assert chunks == 32 // blocks
        assert chunks * passes <= fit.report_["tasks"] <= 3 * chunks * requests


def test_the_tasks_that_are_counted_are_those_that_run(monkeypatch):
    ran = []
    for name in ("_partial", "_result", "_merge"):
        task = getattr(tamis.dask, name)
        monkeypatch.setattr(tamis.dask, name, lambda *words, task=task, name=name: ran.append(name) or task(*words))
    D = da.from_array(planted(n=8 * BLOCK, d=6), chunks=(BLOCK, -1))
    fit = on_dask("UFCM", n_clusters=3, max_iter=4, tol=0).fit(D)
    assert len(ran) == fit.report_["tasks"] and {"_partial", "_result", "_merge"} == set(ran)


def test_the_projected_rows_stay_where_the_rows_are(monkeypatch):
    """Of what belongs to rows, labels alone come to the client; and what was left with the rows is let go in the end."""
    came, left = {}, []
    run = tamis.dask._Passes.__call__

    def recorded(self, name, *words):
        results, kept = run(self, name, *words)
        came[name] = max(came.get(name, 0), sum(one.nbytes for one in results))
        if kept is not None:
            left.append(weakref.ref(kept))
        return results, kept

    monkeypatch.setattr(tamis.dask._Passes, "__call__", recorded)
    n, clusters = 8 * BLOCK, 3
    X = planted(n=n, d=6)
    D = da.from_array(X, chunks=(BLOCK, -1))
    words = {"n_clusters": clusters, "redundancy": None}
    same_work(on_dask("UFCM", **words).fit(D), in_memory("UFCM", X, **words))
    assert came.pop("gather_labels") <= 4 * n + 8 * 8
    sample = 8192  # rows at most for new starts, of two numbers each
    assert came.pop("take_points") <= 8 * 2 * sample + 8 * 100
    assert max(came.values()) < 2 * n, came
    assert left and all(one() is None for one in left)


# --- Workers of their own ---------------------------------------------------------------------------------------------


class Cluster:
    """A scheduler here, and workers that are processes of their own and that nobody starts again."""

    def __init__(self):
        distributed = pytest.importorskip("distributed")
        self.workers = []
        where = {"dashboard_address": None, "protocol": "tcp", "host": "127.0.0.1"}
        self._scheduler = distributed.LocalCluster(n_workers=0, **where)
        self.client = distributed.Client(self._scheduler)

    def start(self, count):
        words = [sys.executable, "-W", "ignore", "-m", "distributed.cli.dask_worker", self._scheduler.scheduler_address]
        words += ["--no-nanny", "--nthreads", "1", "--no-dashboard", "--memory-limit", "0"]
        for _ in range(count):
            self.workers.append(subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def wait_for(self, count):
        """So many workers at least, some of them new where there are fewer."""
        self.start(max(count - len(self.workers), 0))
        self.client.wait_for_workers(count, timeout=300)

    def kill(self, worker):
        worker.kill()
        worker.wait()
        self.workers.remove(worker)

    def close(self):
        for worker in list(self.workers):
            self.kill(worker)
        self.client.close()
        self._scheduler.close()


@pytest.fixture(scope="module")
def cluster():
    cluster = Cluster()
    yield cluster
    cluster.close()


OPTIONS = {"n_features_to_select": 4, "n_clusters": 3, "alpha": 0.5, "max_iter": 4, "tol": 0}


def test_workers_may_die_at_any_time(cluster):
    """Three workers; one killed in each of five runs, while another comes; then one alone."""
    X = planted(n=6 * BLOCK + 5)
    wanted = in_memory("UFCM", X, **OPTIONS)
    cluster.wait_for(3)
    D = da.from_array(X, chunks=(BLOCK, -1)).persist()
    on_dask("MaxVariance").fit(D)  # workers have loaded what they need
    begin = time.monotonic()
    same_work(on_dask("UFCM", **OPTIONS).fit(D), wanted)
    duration = time.monotonic() - begin
    for _ in range(5):
        victim = cluster.workers[0]
        timer = threading.Timer(random.uniform(0, duration), victim.kill)
        timer.start()
        fit = on_dask("UFCM", **OPTIONS).fit(D)
        timer.join()
        cluster.kill(victim)
        cluster.start(1)
        same_work(fit, wanted)
    for worker in cluster.workers[1:]:
        cluster.kill(worker)
    cluster.wait_for(1)
    same_work(on_dask("UFCM", **OPTIONS).fit(D), wanted)


def test_bad_values_are_named_by_workers_too(cluster):
    cluster.wait_for(1)
    X = planted(n=3 * BLOCK)
    X[2 * BLOCK + 9, 4] = np.nan
    with pytest.raises(ValueError, match=f"row {2 * BLOCK + 9}, column 4: NaN, need finite numbers"):
        on_dask("MaxVariance").fit(da.from_array(X, chunks=(BLOCK, -1)))


def test_no_worker_left_is_an_error(cluster):
    cluster.wait_for(1)
    D = da.from_array(planted(n=10 * BLOCK), chunks=(BLOCK, -1))
    timer = threading.Timer(0.5, lambda: [worker.kill() for worker in cluster.workers])
    timer.start()
    begin = time.monotonic()
    with dask.config.set({"tamis.no-worker-timeout": "2s"}):
        with pytest.raises(RuntimeError, match="tamis.dask: no workers left, and none joined within 2 s"):
            on_dask("UFCM", **{**OPTIONS, "max_iter": 1000}).fit(D)
    assert time.monotonic() - begin < 60
    for worker in list(cluster.workers):
        cluster.kill(worker)


def test_ctrl_c_stops_a_fit():
    code = """
import _thread, sys, threading, time
import dask.array as da, numpy as np, tamis.dask
def slow(block):
    time.sleep(0.2)
    return block
X = da.random.default_rng(0).normal(size=(20 * 2048, 5), chunks=(2048, 5)).map_blocks(slow)
tamis.dask.MaxVariance().fit(da.ones((2, 2)) * np.arange(2)[:, None])
threading.Timer(1.0, _thread.interrupt_main).start()
begin = time.monotonic()
try:
    tamis.dask.UFCM(max_iter=1000, tol=0).fit(X)
except KeyboardInterrupt:
    print("stopped", time.monotonic() - begin)
"""
    word, seconds = child(code)
    assert word == "stopped" and float(seconds) < at_rest(3)
