"""Arrays and AnnData in zarr folders, by zarr."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from .hdf5 import anndata_parts, dense_array, require_counts
from .request import Flag, Parts, Request
from .words import as_words, label_words, listed, printable


class ZarrFile:
    """A folder of groups and arrays; nothing is ever unpickled."""

    def __init__(self, request: Request):
        self._request = request
        self._zarr = request.load("zarr")
        self.file = self._zarr.open(request.path, mode="r")

    def names(self, group: Any) -> list[str]:
        return list(group) if self.is_group(group) else []

    def get(self, group: Any, name: str) -> Any:
        """A group or array, or None."""
        return group[name] if self.is_group(group) and name and name in group else None

    def is_group(self, found: Any) -> bool:
        return isinstance(found, self._zarr.Group)

    def is_dataset(self, found: Any) -> bool:
        return isinstance(found, self._zarr.Array)

    def values(self, found: Any, what: str) -> Any:
        """A whole array, in memory."""
        self.require_here(found, what)
        self._request.require_memory(found.size * found.dtype.itemsize)
        return found[...]

    def require_here(self, found: Any, what: str) -> None:
        """Requires an array of plausible size that contains no pickled objects."""
        if not self.is_dataset(found):
            raise self._request.refuse("no array ", printable(what))
        if "pickle" in _names_of_codecs(found.metadata.to_dict()):
            raise self._request.refuse(printable(what), ": contains pickled objects, need numbers or text")
        # As for HDF5: no codec compresses by more than a factor of a thousand; chunks of zeros may be omitted.
        # A chunk is always decoded whole, even if the array is smaller.
        together = math.prod(getattr(found, "shards", None) or found.chunks)
        claimed = max(found.size, together) * found.dtype.itemsize
        there = _bytes_below(os.path.join(self._request.path, found.path))
        if claimed > max(1100 * there, 1 << 28):
            raise self._request.refuse(printable(what), ": claims ", claimed, " bytes in files of ", there)


def _names_of_codecs(metadata: Any) -> set[str]:
    """The names of all codecs in the metadata of an array, version 2 or 3."""
    found: set[str] = set()
    for part in metadata.values() if isinstance(metadata, dict) else metadata:
        if isinstance(part, (dict, list, tuple)):
            found |= _names_of_codecs(part)
        elif isinstance(part, str):
            found.add(part.lower().rpartition(".")[2])
        elif hasattr(part, "get_config"):  # of numcodecs
            found |= _names_of_codecs(part.get_config())
        elif hasattr(part, "to_dict"):
            found |= _names_of_codecs(part.to_dict())
    return found


def _bytes_below(folder: str) -> int:
    return sum(os.path.getsize(path) for path in _files_below(folder))


def _files_below(folder: str) -> Iterator[str]:
    for where, _, names in os.walk(folder):
        yield from (os.path.join(where, name) for name in names)


def open_zarr(request: Request, files: ExitStack) -> Parts:
    if not os.path.isdir(request.path):
        raise request.refuse("not a folder, need a zarr folder")
    file = ZarrFile(request)
    if file.is_group(file.file) and "obs" in file.file and "var" in file.file:
        return anndata_parts(request, file, "zarr")
    matrix = file.file if file.is_dataset(file.file) else file.get(file.file, request.array)
    choices = sorted(name for name in file.names(file.file) if file.is_dataset(file.file[name]))
    if matrix is None:
        takes = (", ", Flag("array"), " takes one of ", listed(choices)) if choices else (", it has no arrays",)
        raise request.wrong_name("no array ", printable(request.array), *takes)
    if not file.is_dataset(matrix):
        raise request.refuse(printable(request.array), " is a group without obs and var, need an array or AnnData")
    if request.id_column and request.id_column not in choices:
        raise request.wrong_name("no array ", printable(request.id_column), " for the identifiers, it has ", listed(choices))
    parts = Parts(X=None, format="zarr", label_choices=[name for name in choices if name != request.array])
    for word in request.labels:
        if word in parts.label_choices:
            parts.labels[word] = label_words(_list(request, file, word))
    if request.id_column:
        parts.row_ids = as_words(_list(request, file, request.id_column))
    parts.X = dense_array(request, file, matrix)
    require_counts(request, parts)
    return parts


def _list(request: Request, file: ZarrFile, name: str) -> Any:
    values = file.values(file.get(file.file, name), name)
    if values.ndim != 1:
        raise request.refuse(printable(name), " has ", values.ndim, " dimensions, need one value per row")
    return values
