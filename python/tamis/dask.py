"""Selectors for Dask arrays and data frames (``pip install 'tamis[dask]'``). The data stay on the workers.

It has the methods whose passes over the data can all run on workers, among them GuidedUFCM, UFCM and MaxVariance.

>>> import tamis.dask
>>> tamis.dask.UFCM(n_features_to_select=50, n_clusters=10).fit(X.persist())

The selector runs in the client; each of its passes over the data is a graph of pure tasks, one per chunk of rows and one
per merge of two. Sums follow the core's tree over blocks of rows, so the result is bit for bit that of ``tamis.UFCM`` on the
same rows in memory, whatever the chunks, the scheduler and the number of workers. Data are recomputed in every pass unless
they are persisted. docs/distributed.md describes the costs, and what happens when workers die.
"""

import asyncio
import concurrent.futures
import contextlib
import sys
import time
import uuid

from ._surroundings import require_packages

require_packages()

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from . import _core, _selectors
from ._core_data import core_data
from ._documentation import weighted_fit
from ._frames import blanked

__all__ = [method["python_name"] for method in _core.methods() if method["remote"]]

_BLOCK = _core.block_rows
_CHUNK_BYTES = 2**27  # target size if chunks must be joined along the columns
_NO_WORKER = "tamis.no-worker-timeout"  # key in Dask's configuration
_NO_WORKER_DEFAULT = "30s"
_LARGE_GRAPH = "distributed.admin.large-graph-warning-threshold"


class _OnDask:
    """Mixin that makes a selector work on Dask collections."""

    def fit(self, X, y=None):
        """Rank the features of X.

        Parameters
        ----------
        X : Dask array (n_samples, n_features) with dense or scipy.sparse chunks, or Dask data frame of numbers
            Recomputed in every pass unless it is persisted.
        y : NumPy or Dask array of shape (n_samples,), default=None
            Classes of the rows, -1 for unlabeled rows. Ignored unless ``supervised=True``.

        Returns
        -------
        self
        """
        return self._fit_there(X, y)

    def _fit_there(self, X, y, sample_weight=None):
        if getattr(self, "supervised", False) and _is_dask(y):
            y = np.asarray(y.compute())
        if _is_dask(sample_weight):
            sample_weight = np.asarray(sample_weight.compute())
        try:
            self._fit(X, y, sample_weight)
            self.report_.update(self._passes.statistics())
        finally:
            self.__dict__.pop("_passes", None)
        return self

    def transform(self, X):
        """Reduce X to the selected features, in the order they have in X.

        Parameters
        ----------
        X : Dask array or data frame, or anything that ``tamis.UFCM`` accepts, of shape (n_samples, n_features)

        Returns
        -------
        X_r : of shape (n_samples, n_selected_features); lazy if X is
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
            raise ValueError(f"{type(self).__name__}: the feature names of X differ from those seen in fit")
        return X.iloc[:, chosen.tolist()]

    def _rows_to_predict(self, X):
        if not _is_dask(X):
            return super()._rows_to_predict(X)
        where, names = type(self).__name__, list(X.columns) if _is_frame(X) else None
        if names is not None:
            self._require_names(names)
            X = X.map_partitions(blanked, self._excluded)
        X = _blocked(_array(X, where), where)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(f"{where}: X has {X.shape[1]} features, need {self.n_features_in_}")
        return _remote_rows(X, _Passes(X), where)

    def _rows_to_report(self, X, where):
        raise ValueError(f"{where}: a page needs rows in memory; fit tamis.{type(self).__name__} to X.compute(), or to a sample")

    def _data(self, X):
        where = type(self).__name__
        names = list(X.columns) if _is_frame(X) else []
        named = bool(names) and all(isinstance(name, str) for name in names)
        if _is_frame(X) or getattr(X, "ndim", 0) == 2:
            self._find_columns(names if named else None, len(names) if _is_frame(X) else X.shape[1])
        if _is_frame(X) and self._excluded:
            X = X.map_partitions(blanked, self._excluded)
        X = _blocked(_array(X, where), where)
        n, d = X.shape
        self.n_features_in_ = d
        self._keep_if("feature_names_in_", np.asarray(names, dtype=object) if named else None)
        self._passes = _Passes(X)
        return _remote_rows(X, self._passes, where), n


def _remote_rows(X, passes, where):
    """The rows for the core; some of them are taken on the workers, lazily, and cut into chunks anew."""

    def take(rows):
        some = _blocked(X[rows], where)
        return _remote_rows(some, passes.of(some), where)

    n, d = X.shape
    is_sparse = sparse.issparse(X._meta)
    return _core.RemoteRows(n, d, is_sparse, 0 if is_sparse else n * d, passes, take)


_fit_with_weights = weighted_fit(
    _OnDask._fit_there,
    _OnDask.fit,
    "NumPy or Dask array of shape (n_samples,), or a number; default=None\n"
    "    Weights of the rows, at least 0: a row of weight w counts as w rows. They are sent to the workers in every pass.",
)


def _selector(name):
    """The selector of that name, of Dask's data."""
    kind = getattr(_selectors, name)
    own = {"fit": _fit_with_weights} if kind._method["weighs"] else {}
    return type(name, (_OnDask, kind), {"__doc__": kind.__doc__, "__module__": __name__, **own})


globals().update({name: _selector(name) for name in __all__})


def __getattr__(name):
    if any(name == method["python_name"] for method in _core.methods()):
        raise AttributeError(f"tamis.dask has no {name}, which needs all rows in one place: fit tamis.{name} to X.compute(), or "
                             f"to a sample; there are {', '.join(__all__)}")  # fmt: skip
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# --- The table -------------------------------------------------------------------------------------------------------


def _is_dask(X):
    return hasattr(X, "__dask_graph__")


def _is_frame(X):
    return _is_dask(X) and hasattr(X, "columns") and hasattr(X, "map_partitions")


def _array(X, where):
    """X as a Dask array of known shape."""
    if _is_frame(X):
        return _array_of_frame(X, where)
    # If X is a Dask array, dask.array has been imported.
    if "dask.array" not in sys.modules or not isinstance(X, sys.modules["dask.array"].Array):
        need = f"need a Dask array or data frame; for other data use tamis.{where}"
        raise ValueError(f"{where}: X is {type(X).__name__}, {need}")
    if X.ndim != 2:
        raise ValueError(f"{where}: X has {X.ndim} dimensions, need 2")
    if any(np.isnan(length) for length in X.shape):
        X = X.copy()  # do not modify the caller's array
        X.compute_chunk_sizes()
    return X


def _array_of_frame(X, where):
    import dask
    import dask.array as da

    bad = [f"{name!r} ({kind})" for name, kind in zip(X.columns, X.dtypes) if not _counts(kind)]
    if bad:
        more = f" and {len(bad) - 5} more" if len(bad) > 5 else ""
        columns = f"column{'s' if len(bad) > 1 else ''} {', '.join(bad[:5])}{more} of X"
        raise ValueError(
            f"{where}: {columns} contain{'' if len(bad) > 1 else 's'} no numbers; convert them to numbers, or leave them out "
            "with exclude="
        )
    kinds = [kind if isinstance(kind, np.dtype) else np.dtype(np.float64) for kind in X.dtypes]
    kind = np.result_type(*kinds) if kinds else np.dtype(np.float64)
    lengths = X.map_partitions(len).compute()
    parts = [
        da.from_delayed(dask.delayed(_frame_numbers)(part, kind), shape=(int(length), len(kinds)), dtype=kind)
        for part, length in zip(X.to_delayed(), lengths)
        if length > 0
    ]
    return da.concatenate(parts) if parts else da.zeros((0, len(kinds)))


def _counts(kind):
    """Whether a pandas type (NumPy, nullable or Arrow) is numeric."""
    return getattr(kind, "kind", None) in ("b", "i", "u", "f")


def _frame_numbers(part, kind):
    return part.to_numpy(dtype=kind, na_value=np.nan) if kind.kind == "f" else part.to_numpy(dtype=kind)


def _blocked(X, where):
    """The same array in chunks of whole rows, 2^k blocks each except the last, close to its present chunks."""
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
    # With pure tasks: other ways to move rows do not survive the death of a worker.
    return X.rechunk({0: min(blocks * _BLOCK, n), 1: d}, method="tasks")


# --- The passes ------------------------------------------------------------------------------------------------------


class _Passes:
    """Runs passes over the chunks of an array on behalf of the core."""

    def __init__(self, X):
        import dask

        self._others = []
        (X,) = dask.optimize(X)
        self._graph = dict(X.__dask_graph__())
        self._chunks = [row[0] for row in X.__dask_keys__()]
        self._shape, self._sparse = X.shape, sparse.issparse(X._meta)
        self._first = np.concatenate([[0], np.cumsum(X.chunks[0])]).tolist()
        self._token = uuid.uuid4().hex
        self._count = self._tasks = self._sent = self._received = 0

    def __call__(self, name, shared, by_row, rows, merged, reads, leaves):
        """The results of the chunks that start before row `rows`, or their merged result; and what the pass left."""
        from dask.task_spec import DataNode, Task, TaskRef

        self._count += 1
        # Dask's dashboard groups tasks by the prefix of their key.
        prefix, token = "tamis-" + name.replace("_", "-"), f"{self._token}-{self._count}"
        # Copied, since a cancelled task may outlive the core's buffers.
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

    def of(self, X):
        """Passes over another array, whose traffic is counted with these."""
        self._others.append(_Passes(X))
        return self._others[-1]

    def statistics(self):
        """Traffic between the selector and the workers."""
        own = {
            "chunks": len(self._chunks),
            "requests": self._count,
            "tasks": self._tasks,
            "bytes_sent": self._sent,
            "bytes_received": self._received,
        }
        for other in self._others:
            own |= {name: own[name] + count for name, count in other.statistics().items() if name != "chunks"}
        return own


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
    """The next level of the tree: neighbors merged in pairs; an odd last one is passed on."""
    from dask.task_spec import Task, TaskRef

    above = level[::2]
    for i in range(len(level) // 2):
        key = (prefix, len(level), i)
        graph[key] = Task(key, _merge, name, TaskRef(level[2 * i]), TaskRef(level[2 * i + 1]))
        above[i] = key
    return above


def _partial(version, name, shared, first, shape, is_sparse, leaves, chunk, *by_row):
    """The partial result of a pass for one chunk, and what the pass leaves with it, if anything; runs on a worker."""
    if version != _core.version:
        raise RuntimeError(f"tamis.dask: this worker has tamis {_core.version}, the client has {version}, need the same version")
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
    """The values of keys, computed by the active scheduler, and the nodes that stand for the values of `left` in later
    graphs. `size` is the number of bytes of the graph that a pass must send."""
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
    """The client of dask.distributed that ``dask.compute`` would use; None if it would use another scheduler."""
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
        raise ValueError("tamis.dask: the client is asynchronous, need asynchronous=False")
    limit = parse_bytes(dask.config.get(_LARGE_GRAPH, "10MB"))
    with dask.config.set({_LARGE_GRAPH: limit + 2 * size}):  # these bytes are intended, so Dask should not warn about them
        futures = client.compute(wanted)
    try:
        return _gathered(client, futures[:count]), futures[count:]
    except (KilledWorker, CommClosedError, asyncio.CancelledError, concurrent.futures.CancelledError) as error:
        raise RuntimeError(f"tamis.dask: the cluster lost the requested results: {error}") from error
    except BaseException:
        with contextlib.suppress(Exception):
            client.cancel(futures)
        raise


def _gathered(client, futures):
    """The values of the futures. Without any worker left, they would wait forever."""
    import dask
    from dask.utils import parse_timedelta

    patience = parse_timedelta(dask.config.get(_NO_WORKER, _NO_WORKER_DEFAULT))
    values = asyncio.run_coroutine_threadsafe(client.gather(futures, asynchronous=True), client.loop.asyncio_loop)
    none_since = None
    while True:
        try:
            return values.result(timeout=1.0)
        except (TimeoutError, concurrent.futures.TimeoutError):  # two different types before Python 3.11
            if values.done():
                raise
        if client.status != "running":
            raise RuntimeError("tamis.dask: the client lost its scheduler")
        if client.nthreads():
            none_since = None
            continue
        none_since = none_since or time.monotonic()
        if time.monotonic() - none_since > patience:
            raise RuntimeError(f"tamis.dask: no workers left, and none joined within {patience:g} s ({_NO_WORKER})")
