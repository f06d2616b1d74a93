"""AnnData (.h5ad) and 10x (.h5), by h5py. AnnData in zarr is read here too: a TableFile is of either kind."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import Any, Protocol

from .numbers import compressed_rows, dense_numbers, number_type, require_shape, stream_dense_rows
from .request import Flag, Parts, Request, Unread
from .words import as_word, as_words, label_words, listed, printable, quoted


class TableFile(Protocol):
    """Groups and arrays by name; everything is checked before it is read."""

    file: Any  # the root

    def names(self, group: Any) -> list[str]: ...

    def get(self, group: Any, name: str) -> Any: ...

    def is_group(self, found: Any) -> bool: ...

    def is_dataset(self, found: Any) -> bool: ...

    def require_here(self, found: Any, what: str) -> None: ...

    def values(self, found: Any, what: str) -> Any: ...


class HDF5File:
    """An HDF5 file; links to other files are rejected."""

    def __init__(self, request: Request):
        self._request = request
        self._h5py = request.load("h5py")
        self.file = self._h5py.File(request.path, "r")

    def __enter__(self) -> HDF5File:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def names(self, group: Any) -> list[str]:
        return list(group) if self.is_group(group) else []

    def get(self, group: Any, name: str) -> Any:
        """A group or dataset, or None."""
        if not self.is_group(group) or not name or name not in group:
            return None
        if isinstance(group.get(name, getlink=True), self._h5py.ExternalLink):
            raise self._request.refuse(printable(name), " is stored in another file")
        found = group[name]
        if found.file.filename != self.file.filename:
            raise self._request.refuse(printable(name), " is stored in another file")
        return found

    def is_group(self, found: Any) -> bool:
        return isinstance(found, self._h5py.Group)

    def is_dataset(self, found: Any) -> bool:
        return isinstance(found, self._h5py.Dataset)

    def is_reference(self, found: Any) -> bool:
        return self._h5py.check_ref_dtype(found.dtype) is not None

    def values(self, found: Any, what: str) -> Any:
        """A whole dataset, in memory."""
        self.require_here(found, what)
        self._request.require_memory(found.size * found.dtype.itemsize)
        return found[()]

    def require_here(self, found: Any, what: str) -> None:
        """Requires a dataset in this file, of plausible size."""
        if not self.is_dataset(found) or found.shape is None:
            raise self._request.refuse("no array ", printable(what))
        if found.is_virtual or found.external:
            raise self._request.refuse(printable(what), " is stored in another file")
        # No filter compresses by more than a factor of a thousand; chunks of zeros may be omitted, within reason.
        claimed = found.size * found.id.get_type().get_size()
        there = os.path.getsize(self._request.path)
        if claimed > (there if found.chunks is None else max(1100 * there, 1 << 28)):
            raise self._request.refuse(printable(what), ": claims ", claimed, " bytes in a file of ", there)


def open_h5(request: Request, files: ExitStack) -> Parts:
    h5 = files.enter_context(HDF5File(request))
    if "matrix" in h5.file and "X" not in h5.file:
        return _tenx_parts(request, h5)
    if "obs" in h5.file and "var" in h5.file:
        return anndata_parts(request, h5)
    raise request.refuse("neither AnnData (X, obs, var) nor 10x (matrix), it has ", listed(h5.names(h5.file)))


def open_h5ad(request: Request, files: ExitStack) -> Parts:
    h5 = files.enter_context(HDF5File(request))
    if "obs" not in h5.file or "var" not in h5.file:
        raise request.refuse("not AnnData, it needs obs and var and has ", listed(h5.names(h5.file)))
    return anndata_parts(request, h5)


def anndata_parts(request: Request, h5: TableFile, format: str = "h5ad") -> Parts:
    # Small parts first: most usage errors are found here.
    matrix = _anndata_matrix(request, h5)
    obs, var = _Frame(request, h5, "obs"), _Frame(request, h5, "var")
    labelled = var if request.transpose else obs
    parts = Parts(X=None, format=format, label_choices=labelled.columns())
    for word in request.labels:
        if word in parts.label_choices:
            parts.labels[word] = label_words(labelled.column(word))
    if request.id_column and request.id_column not in obs.columns():
        has = listed(obs.columns())
        raise request.wrong_name("no column ", printable(request.id_column), " for the identifiers, obs has ", has)
    parts.row_ids = as_words(obs.column(request.id_column) if request.id_column else obs.index())
    parts.names = as_words(var.index())
    if request.transpose:
        parts.names, parts.row_ids = parts.row_ids, parts.names
    parts.X = dense_array(request, h5, matrix) if h5.is_dataset(matrix) else _sparse_array(request, h5, matrix)
    require_counts(request, parts)
    return parts


def _anndata_matrix(request: Request, h5: TableFile) -> Any:
    """The group or dataset of X or of a layer."""
    name = request.array
    layers = h5.get(h5.file, "layers")
    found = h5.get(h5.file, "X") if name == "X" else h5.get(layers, name.removeprefix("layers/"))
    if found is None:
        choices = [n for n in ("X",) if n in h5.file] + [f"layers/{n}" for n in h5.names(layers)]
        takes = (", ", Flag("array"), " takes one of ", listed(choices)) if choices else (" and no layers",)
        raise request.wrong_name("no array ", printable(name), *takes)
    return found


def dense_array(request: Request, h5: TableFile, found: Any) -> Unread:
    """The numbers of a two-dimensional array."""
    if found.shape is None or len(found.shape) != 2:
        has = "empty" if found.shape is None else f"of {len(found.shape)} dimensions"
        raise request.refuse("array ", printable(request.array), " is ", has, ", need 2 dimensions")
    kind = number_type(found.dtype)
    if kind is None:
        raise request.refuse("array ", printable(request.array), " is of type ", found.dtype, ", need real numbers")
    shape = found.shape[::-1] if request.transpose else found.shape
    require_shape(request, *shape)
    h5.require_here(found, request.array)

    def load() -> Any:
        return dense_numbers(request, h5.values(found, request.array))

    def stream(sink: Any) -> None:
        stream_dense_rows(request, found, found.chunks[0] if found.chunks else 1, sink)

    return Unread(shape, load, None if request.transpose else stream, kind)


def _sparse_array(request: Request, h5: TableFile, group: Any) -> Unread:
    kind = as_word(group.attrs.get("encoding-type", group.attrs.get("h5sparse_format", "")))
    if kind.removesuffix("_matrix") not in ("csr", "csc"):
        what = f"array {printable(request.array)}"
        raise request.refuse(what, " is ", quoted(kind), ", need a dense, CSR or CSC matrix")
    shape = group.attrs.get("shape", group.attrs.get("h5sparse_shape"))
    return _compressed(request, h5, group, shape, by_rows=kind.startswith("csr"))


def _compressed(request: Request, h5: TableFile, group: Any, shape: Any, by_rows: bool) -> Unread:
    import numpy as np

    shape = np.asarray(shape).ravel()
    if shape.dtype.kind not in "iu" or len(shape) != 2 or (shape < 0).any():
        raise request.refuse("the shape of the sparse matrix must be two counts")
    data, indices = (h5.get(group, name) for name in ("data", "indices"))
    h5.require_here(data, "data")
    h5.require_here(indices, "indices")
    indptr = h5.values(h5.get(group, "indptr"), "indptr")
    return compressed_rows(request, data, indices, indptr, (int(shape[0]), int(shape[1])), by_rows)


class _Frame:
    """obs or var: a group of columns or, in old files, one compound array."""

    def __init__(self, request: Request, h5: TableFile, name: str):
        self._request, self._h5, self._name = request, h5, name
        self._read_elem = request.load("anndata.io").read_elem
        self._found = h5.get(h5.file, name)
        self._old = None if h5.is_group(self._found) else self._read_elem(self._found)

    def columns(self) -> list[str]:
        if self._old is not None:
            return [str(name) for name in self._old.columns]
        index = self._index_name()
        return [name for name in self._found if name != index and not name.startswith("__")]

    def column(self, name: str) -> Any:
        if self._old is not None:
            return self._old[name]
        found = self._h5.get(self._found, name)
        self._require_plain(found, name)
        values = self._read_elem(found)
        if getattr(values, "ndim", 0) != 1:
            raise self._request.refuse(self._name, " ", printable(name), " is not a column")
        return values

    def index(self) -> Any:
        return self._old.index if self._old is not None else self.column(self._index_name())

    def _index_name(self) -> str:
        return as_word(self._found.attrs.get("_index", "_index"))

    def _require_plain(self, found: Any, name: str) -> None:
        """Everything that read_elem will read."""
        if found is None:
            raise self._request.refuse(self._name, " has no column ", printable(name))
        for part in [found] if self._h5.is_dataset(found) else [self._h5.get(found, n) for n in found]:
            self._h5.require_here(part, f"{self._name}/{name}")
            self._request.require_memory(part.size * part.dtype.itemsize)


def require_counts(request: Request, parts: Parts) -> None:
    rows, columns = parts.X.shape
    counts = [("names of columns", parts.names, columns), ("row identifiers", parts.row_ids, rows)]
    counts += [(f"labels {printable(word)}", words, rows) for word, words in parts.labels.items()]
    for what, words, need in counts:
        if words is not None and len(words) != need:
            raise request.refuse(len(words), " ", what, " for ", need)


def _tenx_parts(request: Request, h5: HDF5File) -> Parts:
    """Cell Ranger's file: genes x cells by columns, which is cells x genes by rows."""
    matrix = h5.get(h5.file, "matrix")
    shape = h5.values(h5.get(matrix, "shape"), "matrix/shape")
    parts = Parts(X=None, format="10x")
    parts.names = as_words(h5.values(h5.get(h5.get(matrix, "features"), "name"), "matrix/features/name"))
    parts.row_ids = as_words(h5.values(h5.get(matrix, "barcodes"), "matrix/barcodes"))
    if request.transpose:
        parts.names, parts.row_ids = parts.row_ids, parts.names
    parts.X = _compressed(request, h5, matrix, shape[::-1], by_rows=True)
    require_counts(request, parts)
    return parts
