"""Selectors of Dask arrays and data frames (``pip install 'tamis[dask]'``): the data stay on the workers.

There are those whose passes over the data can all run there: GuidedUFCM, UFCM and MaxVariance among them.

>>> import tamis.dask
>>> tamis.dask.UFCM(n_features_to_select=50, n_clusters=10).fit(X.persist())

The selector itself runs here; each of its passes over the data is a graph of pure tasks, one for each chunk of rows and
one for each merge of two. Sums follow the program's tree over blocks of rows, so the result has the bits of
``tamis.UFCM`` on the same rows in memory, whatever the chunks, the scheduler and the number of workers. Data are
computed anew in every pass unless they are persisted. docs/distributed.md has the costs and what happens when workers
die.
"""

import asyncio
import concurrent.futures
import contextlib
import sys
import time
import uuid

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from . import _core, _selectors
from ._core_data import core_data

__all__ = [method["python_name"] for method in _core.methods() if method["remote"]]

_BLOCK = _core.block_rows
_CHUNK_BYTES = 2**27  # aimed at where columns must be joined, and chunks of many rows would become too large
_NO_WORKER = "tamis.no-worker-timeout"  # of Dask's configuration
_NO_WORKER_DEFAULT = "30s"
_LARGE_GRAPH = "distributed.admin.large-graph-warning-threshold"


class _OnDask:
    """What makes a selector one of Dask's data."""

    def fit(self, X, y=None):
        """Rank the features of X.

        Parameters
        ----------
        X : Dask array (n_samples, n_features), dense or of scipy.sparse chunks, or Dask data frame of numbers
            Computed anew in every pass unless it is persisted.
        y : array of shape (n_samples,), of Dask or not, default=None
            Classes of the rows, -1 where unlabelled. Ignored unless ``supervised=True``.

        Returns
        -------
        self
        """
        if getattr(self, "supervised", False) and _is_dask(y):
            y = np.asarray(y.compute())
        try:
            self._fit(X, y)
            self.report_.update(self._passes.statistics())
        finally:
            self.__dict__.pop("_passes", None)
        return self

    def transform(self, X):
        """Reduce X to the selected features, in the order they have in X.

        Parameters
        ----------
        X : Dask array or data frame, or what ``tamis.UFCM`` takes, of shape (n_samples, n_features)

        Returns
        -------
        X_r : of shape (n_samples, n_selected_features); lazy where X is
        """
        if not _is_dask(X):
            return super().transform(X)
        check_is_fitted(self, "scores_")
        chosen = np.flatnonzero(self.get_support())
        columns = len(X.columns) if _is_frame(X) else X.shape[1]
        if columns != self.n_features_in_:
            expected = f"{type(self).__name__} is expecting {self.n_features_in_} features"
            raise ValueError(f"X has {columns} features, but {expected}")
        if not _is_frame(X):
            return X[:, chosen]
        if not np.array_equal(getattr(self, "feature_names_in_", X.columns), X.columns):
            raise ValueError(f"{type(self).__name__}: X has other feature names than the table it was fitted on")
        return X.iloc[:, chosen.tolist()]

    def _data(self, X):
        where = type(self).__name__
        names = list(X.columns) if _is_frame(X) else []
        X = _blocked(_array(X, where), where)
        n, d = X.shape
        self.n_features_in_ = d
        named = bool(names) and all(isinstance(name, str) for name in names)
        self._keep_if("feature_names_in_", np.asarray(names, dtype=object) if named else None)
        self._passes = _Passes(X)
        is_sparse = sparse.issparse(X._meta)
        return _core.RemoteRows(n, d, is_sparse, 0 if is_sparse else n * d, self._passes), n


def _selector(name):
    """The selector of that name, of Dask's data."""
    kind = getattr(_selectors, name)
    return type(name, (_OnDask, kind), {"__doc__": kind.__doc__, "__module__": __name__})


globals().update({name: _selector(name) for name in __all__})


# --- The table -------------------------------------------------------------------------------------------------------


def _is_dask(X):
    return hasattr(X, "__dask_graph__")


def _is_frame(X):
    return _is_dask(X) and hasattr(X, "columns") and hasattr(X, "map_partitions")


def _array(X, where):
    """X as a Dask array of known shape."""
    if _is_frame(X):
        return _array_of_frame(X)
    # Whoever has a Dask array has imported dask.array.
    if "dask.array" not in sys.modules or not isinstance(X, sys.modules["dask.array"].Array):
        need = f"need a Dask array or data frame; tamis.{where} takes the rest"
        raise ValueError(f"{where}: X is {type(X).__name__}, {need}")
    if X.ndim != 2:
        raise ValueError(f"{where}: X has {X.ndim} dimensions, need 2")
    if any(np.isnan(length) for length in X.shape):
        X = X.copy()  # the caller's stays as it is
        X.compute_chunk_sizes()
    return X


def _array_of_frame(X):
    import dask
    import dask.array as da

    kinds = [np.dtype(np.float64) if not isinstance(kind, np.dtype) else kind for kind in X.dtypes]
    for name, given, kind in zip(X.columns, X.dtypes, kinds):
        if kind.kind not in "biuf" or not _counts(given):
            raise ValueError(f"X: column {name!r} is of type {given}, need numbers")
    kind = np.result_type(*kinds) if kinds else np.dtype(np.float64)
    lengths = X.map_partitions(len).compute()
    parts = [
        da.from_delayed(dask.delayed(_frame_numbers)(part, kind), shape=(int(length), len(kinds)), dtype=kind)
        for part, length in zip(X.to_delayed(), lengths)
        if length > 0
    ]
    return da.concatenate(parts) if parts else da.zeros((0, len(kinds)))


def _counts(kind):
    """Whether a type of pandas, be it NumPy's, nullable or Arrow's, is one of numbers."""
    return getattr(kind, "kind", None) in ("b", "i", "u", "f")


def _frame_numbers(part, kind):
    return part.to_numpy(dtype=kind, na_value=np.nan) if kind.kind == "f" else part.to_numpy(dtype=kind)


def _blocked(X, where):
    """The same array in chunks of whole rows, 2^k blocks each but for the last, near the chunks it has."""
    n, d = X.shape
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{where}: X has elements of type {X.dtype}, need real numbers")
    plain = isinstance(X._meta, np.ndarray) and not isinstance(X._meta, np.ma.MaskedArray)
    if not plain and not sparse.issparse(X._meta):
        kind = type(X._meta).__name__
        raise ValueError(f"{where}: X has chunks of type {kind}, need NumPy arrays or scipy.sparse matrices")
    if n < 2 or d < 1:
        raise ValueError(f"{where}: X of shape {X.shape}, need at least 2 rows and 1 column")
    rows = max(X.chunks[0])
    if X.numblocks[1] > 1 and not sparse.issparse(X._meta):
        rows = min(rows, _CHUNK_BYTES // (d * X.dtype.itemsize))
    blocks = 1 << max((rows // _BLOCK).bit_length() - 1, 0)
    # By pure tasks: other ways to move rows do not survive the death of a worker.
    return X.rechunk({0: min(blocks * _BLOCK, n), 1: d}, method="tasks")


# --- The passes ------------------------------------------------------------------------------------------------------


class _Passes:
    """Runs passes over the chunks of an array, as the core asks for them."""

    def __init__(self, X):
        import dask

        (X,) = dask.optimize(X)
        self._graph = dict(X.__dask_graph__())
        self._chunks = [row[0] for row in X.__dask_keys__()]
        self._shape, self._sparse = X.shape, sparse.issparse(X._meta)
        self._first = np.concatenate([[0], np.cumsum(X.chunks[0])]).tolist()
        self._token = uuid.uuid4().hex
        self._count = self._tasks = self._sent = self._received = 0

    def __call__(self, name, shared, by_row, rows, merged, reads, leaves):
        """The results of the chunks that begin before row `rows`, or the one that they merge to; and what was left."""
        from dask.task_spec import DataNode, Task, TaskRef

        self._count += 1
        # Dask's dashboard shows tasks by the words that come first.
        prefix, token = "tamis-" + name.replace("_", "-"), f"{self._token}-{self._count}"
        # Copied, since a task that is no longer wanted may outlive what they show.
        told = f"{prefix}-shared-{token}"
        graph, level, left, size = {told: DataNode(told, np.array(shared))}, [], [], shared.nbytes
        for c, chunk in enumerate(self._chunks):
            first, last = self._first[c], self._first[c + 1]
            if first >= rows:
                break
            own = [one.task(c) if isinstance(one, _Left) else np.array(one[first:last]).reshape(-1) for one in by_row]
            size += sum(one.nbytes for one in own if isinstance(one, np.ndarray))
            shape = (last - first, self._shape[1])
            key = (f"{prefix}-{token}", c)
            words = (_core.version, name, TaskRef(told), first, shape, self._sparse, leaves)
            graph[key] = Task(key, _partial, *words, TaskRef(chunk) if reads else None, *own)
            if leaves:
                left.append(key)
                key = (f"{prefix}-result-{token}", c)
                graph[key] = Task(key, _result, TaskRef(left[-1]))
            level.append(key)
        while merged and len(level) > 1:
            level = _merged_level(graph, f"{prefix}-merge-{token}", name, level)
        self._tasks += len(graph) - 1
        self._sent += size
        known = {key: node for one in by_row if isinstance(one, _Left) for key, node in one.nodes.items()}
        data = self._graph if reads else {}
        results, nodes = _compute({**data, **known, **graph}, level, left, size)
        self._received += sum(one.nbytes for one in results)
        return results, _Left(nodes) if leaves else None

    def statistics(self):
        """What is worth knowing of the traffic between the selector and the workers."""
        return {
            "chunks": len(self._chunks),
            "requests": self._count,
            "tasks": self._tasks,
            "bytes_sent": self._sent,
            "bytes_received": self._received,
        }


class _Left:
    """What a pass has left with the chunks: their keys, in order, and for each a future, or the value without a cluster.

    Futures are given back, and what they stand for is forgotten, when the core lets go of this."""

    def __init__(self, nodes):
        self.nodes = nodes
        self._keys = list(nodes)

    def task(self, c):
        from dask.task_spec import TaskRef

        return TaskRef(self._keys[c])


def _merged_level(graph, prefix, name, level):
    """The next level of the tree: neighbours merged, a last one without a neighbour as it is."""
    from dask.task_spec import Task, TaskRef

    above = level[::2]
    for i in range(len(level) // 2):
        key = (prefix, len(level), i)
        graph[key] = Task(key, _merge, name, TaskRef(level[2 * i]), TaskRef(level[2 * i + 1]))
        above[i] = key
    return above


def _partial(version, name, shared, first, shape, is_sparse, leaves, chunk, *by_row):
    """What a pass makes of one chunk, and where it leaves something with it, that too; runs on a worker."""
    if version != _core.version:
        raise RuntimeError(f"tamis.dask: this worker has tamis {_core.version}, the client {version}, need the same")
    own = [one[1] if isinstance(one, tuple) else one for one in by_row]
    block = None if chunk is None else core_data(_checked(chunk, first, shape, is_sparse))
    both = _core.remote_partial(name, shared, own, block, shape[0], first)
    return both if leaves else both[0]


def _checked(chunk, first, shape, is_sparse):
    if sparse.issparse(chunk) != is_sparse:
        said = "sparse" if is_sparse else "not sparse"
        raise ValueError(f"X: a chunk of type {type(chunk).__name__} at row {first}, but the array's _meta is {said}")
    if not is_sparse:
        chunk = np.asarray(chunk)
    if chunk.shape != shape or chunk.dtype.kind not in "biuf":
        found = f"a chunk of shape {chunk.shape} and type {chunk.dtype} at row {first}"
        raise ValueError(f"X: {found}, need {shape} real numbers")
    return chunk


def _result(both):
    return both[0]


def _merge(name, left, right):
    return _core.remote_merge(name, left, right)


# --- Dask ------------------------------------------------------------------------------------------------------------


def _compute(graph, keys, left, size):
    """The values of keys, by the scheduler that is in force, and the nodes that stand for the values of `left` in graphs
    to come. `size` bytes of the graph are what a pass must send."""
    import dask
    from dask.delayed import Delayed
    from dask.task_spec import DataNode

    wanted = [Delayed(key, graph) for key in [*keys, *left]]
    client = _client(dask)
    if client is not None:
        results, futures = _compute_on(client, wanted, len(keys), size)
        return results, dict(zip(left, futures))
    values = dask.compute(*wanted)
    return list(values[: len(keys)]), {key: DataNode(key, value) for key, value in zip(left, values[len(keys) :])}


def _client(dask):
    """The client of dask.distributed that ``dask.compute`` would use; None where that is another scheduler."""
    if "distributed" not in sys.modules:
        return None
    if dask.config.get("scheduler", None) not in (None, "distributed", "dask.distributed"):
        return None
    from distributed.client import default_client

    try:
        return default_client()
    except ValueError:
        return None


def _compute_on(client, wanted, count, size):
    """The values of the first `count`, and futures of the others."""
    import dask
    from dask.utils import parse_bytes
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    if client.asynchronous:
        raise ValueError("tamis.dask: the client is asynchronous, need one that waits (asynchronous=False)")
    limit = parse_bytes(dask.config.get(_LARGE_GRAPH, "10MB"))
    with dask.config.set({_LARGE_GRAPH: limit + 2 * size}):  # Dask warns of data in the graph, which these are not
        futures = client.compute(wanted)
    try:
        return _gathered(client, futures[:count]), futures[count:]
    except (KilledWorker, CommClosedError, asyncio.CancelledError, concurrent.futures.CancelledError) as error:
        raise RuntimeError(f"tamis.dask: the cluster lost what was asked of it: {error}") from error
    except BaseException:
        with contextlib.suppress(Exception):
            client.cancel(futures)
        raise


def _gathered(client, futures):
    """Their values. Tasks that no worker is left for would wait for ever."""
    import dask
    from dask.utils import parse_timedelta

    patience = parse_timedelta(dask.config.get(_NO_WORKER, _NO_WORKER_DEFAULT))
    values = asyncio.run_coroutine_threadsafe(client.gather(futures, asynchronous=True), client.loop.asyncio_loop)
    none_since = None
    while True:
        try:
            return values.result(timeout=1.0)
        except (TimeoutError, concurrent.futures.TimeoutError):  # two before Python 3.11
            if values.done():
                raise
        if client.status != "running":
            raise RuntimeError("tamis.dask: the client has lost its scheduler")
        if client.nthreads():
            none_since = None
            continue
        none_since = none_since or time.monotonic()
        if time.monotonic() - none_since > patience:
            raise RuntimeError(f"tamis.dask: no worker is left, and none has come for {patience:g} s ({_NO_WORKER})")
