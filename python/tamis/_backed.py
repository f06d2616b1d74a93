"""Rows of an .h5ad file in backed mode, read in pieces: the matrix is never loaded as a whole."""

import os

import numpy as np
from scipy import sparse

from . import _core
from ._core_data import core_data
from ._readers.request import Parts, Unread

_PIECE_BYTES = 2**25  # read at a time, if a block of the core is smaller
_SPARSE_SHARE = 0.1  # assumed density of a sparse matrix when choosing the size of a piece


class BackedRows:
    """A matrix on disk, read by rows. `look(rows, block)` is called once for every row, before anything else sees it."""

    def __init__(self, X, look):
        self._X, self._look = X, look
        self.shape, self.dtype = X.shape, X.dtype
        self.is_sparse = hasattr(X, "to_memory")

    @staticmethod
    def can_hold(X):
        """Whether X can be read by rows: an array, or compressed sparse rows."""
        return getattr(X, "format", "csr") == "csr" and len(X.shape) == 2

    def source(self, rows=None):
        """A source for the core: these rows (increasing positions), or all."""
        rows = np.arange(self.shape[0]) if rows is None else np.asarray(rows)
        stored = 0 if self.is_sparse else len(rows) * self.shape[1]
        run, take = _Passes(self, rows), lambda some: self.source(rows[some])
        return _core.RemoteRows(len(rows), self.shape[1], self.is_sparse, stored, run, take)

    def piece_rows(self):
        """Rows read at a time: a power of two of the core's blocks."""
        row = max(1, self.shape[1]) * (12 * _SPARSE_SHARE if self.is_sparse else self.dtype.itemsize)
        blocks = max(1, int(_PIECE_BYTES / row) // _core.block_rows)
        return _core.block_rows << (blocks.bit_length() - 1)

    def read(self, rows):
        """Some rows (increasing positions) as an array or CSR."""
        begin, end = int(rows[0]), int(rows[-1]) + 1
        if end - begin == len(rows):
            return self._slice(begin, end)
        parts, step = [], self.piece_rows()
        for first in range(begin, end, step):
            here = rows[np.searchsorted(rows, first) : np.searchsorted(rows, first + step)]
            if len(here):
                parts.append(self._slice(first, min(first + step, end))[here - first])
        return sparse.vstack(parts, format="csr") if self.is_sparse else np.concatenate(parts)

    def look(self, rows, block):
        self._look(rows, block)

    def indptr(self):
        """Where the entries of each sparse row begin."""
        return np.asarray(self._X.group["indptr"], dtype=np.int64)

    def _slice(self, begin, end):
        block = self._X[begin:end]
        return block.tocsr() if self.is_sparse else np.asarray(block)


class CopiedRows:
    """The same rows for methods that read them many times: copied, a piece at a time, to a temporary file of the core."""

    def __init__(self, backed, path):
        self._backed, self._path = backed, path
        self.shape, self.dtype = backed.shape, backed.dtype

    def source(self, rows=None):
        """A source for the core: these rows (increasing positions), or all."""
        copy = _Copy(self._backed, np.arange(self.shape[0]) if rows is None else np.asarray(rows))
        read = _core.read(os.fsencode(self._path), reader=lambda path, **options: copy, on_disk=True, format="h5ad")
        return read["X"]


class _Copy:
    """What the core asks of an open file (tables.cpp): the rows as they will be on disk, and the rows."""

    def __init__(self, backed, rows):
        self._backed, self._rows = backed, rows
        kind = core_data(_one_zero(backed))
        kind = kind[2].dtype if backed.is_sparse else kind.dtype
        self.rows = Unread((len(rows), backed.shape[1]), self.load, dtype=kind, offsets=self._offsets())

    def load(self):
        rows = self._rows
        block = self._backed.read(rows)
        self._backed.look(rows, block)
        return Parts(core_data(block), format="h5ad")

    def leave_on_disk(self, sink):
        step = self._backed.piece_rows()
        for first in range(0, len(self._rows), step):
            rows = self._rows[first : first + step]
            block = self._backed.read(rows)
            self._backed.look(rows, block)
            sink.add(core_data(block))
        return Parts(None, format="h5ad")

    def _offsets(self):
        if not self._backed.is_sparse:
            return None
        lengths = np.diff(self._backed.indptr())[self._rows]
        return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _one_zero(backed):
    zero = np.zeros((1, 1), dtype=backed.dtype)
    return sparse.csr_matrix(zero) if backed.is_sparse else zero


class _Passes:
    """Runs passes over the rows on behalf of the core, merging along the core's tree."""

    def __init__(self, backed, rows):
        self._backed, self._looked = backed, False
        self._rows = rows

    def __call__(self, name, shared, by_row, rows, merged, reads, leaves):
        """The results of the pieces that start before row `rows`, or their merged result; and what the pass left."""
        step, levels, results, left = self._backed.piece_rows(), [], [], []
        for first in range(0, min(rows, len(self._rows)), step):
            last = min(first + step, len(self._rows))
            own = [_part_of(one, first, last, step) for one in by_row]
            block = core_data(self._read(first, last)) if reads else None
            result, rest = _core.remote_partial(name, shared, own, block, last - first, first)
            results.append(result)
            left.append(rest)
            levels.append(0)
            while merged and len(levels) > 1 and levels[-1] == levels[-2]:
                _merge_last(name, results, levels)
        while merged and len(levels) > 1:
            _merge_last(name, results, levels)
        self._looked = self._looked or (reads and rows >= len(self._rows))
        return results, left

    def _read(self, first, last):
        rows = self._rows[first:last]
        block = self._backed.read(rows)
        if not self._looked:
            self._backed.look(rows, block)
        return block


def _part_of(argument, first, last, step):
    """What belongs to the rows of one piece, of an array or of what was left by piece."""
    if isinstance(argument, list):
        return argument[first // step]
    return np.ascontiguousarray(argument[first:last]).reshape(-1)


def _merge_last(name, results, levels):
    right, _ = results.pop(), levels.pop()
    results[-1] = _core.remote_merge(name, results[-1], right)
    levels[-1] += 1
