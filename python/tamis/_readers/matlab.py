"""MATLAB files: versions 4 to 7.2 by SciPy, 7.3 (HDF5) by h5py."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any, Callable

from .hdf5 import HDF5File, require_counts
from .numbers import compressed_rows, dense_numbers, number_type, require_shape
from .request import Parts, ReadError, Request
from .words import as_word, label_words, listed, printable

_MATLAB_NUMBERS = {"double", "single", "logical", "sparse"} | {f"{u}int{b}" for u in ("", "u") for b in (8, 16, 32, 64)}


@dataclass
class _Variables:
    """The variables of a MATLAB file: shape and class of each, and how to read one."""

    kinds: dict[str, tuple[tuple[int, ...], str]]
    matrix: Callable[[str], Any]  # -> X as the core takes it
    words: Callable[[str], Any]  # -> one value a row


def read_mat(request: Request) -> Parts:
    with open(request.path, "rb") as file:
        head = file.read(520)
    if b"\x89HDF\r\n\x1a\n" in (head[:8], head[512:520]):
        with HDF5File(request) as h5:
            return _mat_parts(request, _mat73_variables(request, h5))
    return _mat_parts(request, _mat5_variables(request))


def _mat_parts(request: Request, variables: _Variables) -> Parts:
    name = _chosen_variable(request, variables.kinds)
    shape, kind = variables.kinds[name]
    if kind not in _MATLAB_NUMBERS or len(shape) != 2:
        what = f"of {len(shape)} dimensions" if kind in _MATLAB_NUMBERS else f"of class {printable(kind)}"
        raise request.refuse("variable ", printable(name), " is ", what, ", need a matrix of real numbers")
    parts = Parts(X=variables.matrix(name), format="mat", label_choices=list(variables.kinds))
    for word in request.labels:
        if word in variables.kinds:
            parts.labels[word] = label_words(_mat_vector(request, variables, word))
    if request.id_column:
        if request.id_column not in variables.kinds:
            missing, has = printable(request.id_column), listed(list(variables.kinds))
            raise request.wrong_name("no variable ", missing, " for the identifiers, it has ", has)
        parts.row_ids = label_words(_mat_vector(request, variables, request.id_column))
    if request.transpose:
        parts.names, parts.row_ids = parts.row_ids, parts.names
    require_counts(request, parts)
    return parts


def _chosen_variable(request: Request, kinds: dict[str, tuple[tuple[int, ...], str]]) -> str:
    """The variable asked for; where the default is not there, the only one that can be a table."""
    if request.array in kinds:
        return request.array
    tables = [
        name
        for name, (shape, kind) in kinds.items()
        if kind in _MATLAB_NUMBERS and len(shape) == 2 and min(shape) > 1 and name not in request.labels
    ]
    if request.array == "X" and len(tables) == 1:
        return tables[0]
    if not kinds:
        raise request.refuse("no variables")
    raise request.wrong_name("no variable ", printable(request.array), ", --array takes one of ", listed(list(kinds)))


def _mat_vector(request: Request, variables: _Variables, name: str) -> Any:
    import numpy as np

    kind = variables.kinds[name][1]
    if kind not in _MATLAB_NUMBERS | {"char", "cell"} or kind == "sparse":
        what = f"variable {printable(name)} is of class {printable(kind)}"
        raise request.refuse(what, ", need numbers or words")
    values = np.asarray(variables.words(name))
    if kind != "char" and (values.ndim != 2 or 1 not in values.shape):
        raise request.refuse("variable ", printable(name), " is not a vector")
    values = values.ravel()
    if values.dtype.kind == "c" or values.dtype.kind == "f" and np.isinf(values).any():
        raise request.refuse("variable ", printable(name), " is complex or infinite, need numbers or words")
    return values


def _mat5_variables(request: Request) -> _Variables:
    import numpy as np

    scipy_io = request.load("scipy.io")
    listed = scipy_io.whosmat(request.path, appendmat=False)
    kinds = {name: (tuple(map(int, shape)), kind) for name, shape, kind in listed}

    def load(name: str) -> Any:
        shape, kind = kinds[name]
        if kind != "sparse":
            request.require_memory(int(np.prod(shape, dtype=object)))  # at least a byte each
        _require_sound_mat5(request, name)
        return scipy_io.loadmat(request.path, appendmat=False, variable_names=[name])[name]

    def matrix(name: str) -> Any:
        found = load(name)
        if found.dtype.kind == "c":
            raise request.refuse("variable ", printable(name), " is complex, need real numbers")
        if not hasattr(found, "tocsc"):
            return dense_numbers(request, found.view(np.uint8) if kinds[name][1] == "logical" else found)
        if found.format != "csc":  # version 4; SciPy checks these triples itself
            found = found.tocsc()
        return compressed_rows(request, found.data, found.indices, found.indptr, found.shape, by_rows=False)

    def words(name: str) -> Any:
        found = load(name)
        return _cell_words(request, name, found) if kinds[name][1] == "cell" else found

    return _Variables(kinds, matrix, words)


class _Inflated:
    """Reads on in a zlib stream that stands in a file."""

    def __init__(self, file: Any, size: int):
        self._file, self._left = file, size
        self._inflate = zlib.decompressobj()

    def read(self, size: int) -> bytes:
        out = bytearray()
        while len(out) < size and not self._inflate.eof:
            packed = self._inflate.unconsumed_tail
            if not packed:
                packed = self._file.read(min(self._left, 1 << 16))
                self._left -= len(packed)
                if not packed:
                    break
            out += self._inflate.decompress(packed, size - len(out))
        return bytes(out)


def _require_sound_mat5(request: Request, name: str) -> None:
    """The structure of a variable of a version 5 file: SciPy's reader crashes where the type of a part is unknown."""
    with open(request.path, "rb") as file:
        head = file.read(128)
        order = {b"IM": "little", b"MI": "big"}.get(head[126:128])
        if order is None:  # version 4 has no such types
            return
        while True:
            tag = file.read(8)
            if len(tag) < 8:
                return
            kind, size = (int.from_bytes(part, order) for part in (tag[:4], tag[4:]))
            begin = file.tell()
            stream: Any = _Inflated(file, size) if kind == 15 else file
            if kind == 15:
                inner = stream.read(8)
                kind = int.from_bytes(inner[:4], order)
            if kind == 14:
                _MatlabElement(request, stream, order).check(name)
            file.seek(begin + size)


class _MatlabElement:
    """One matrix of a version 5 file, read as a stream of tagged parts."""

    _ITEM = {1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 9: 8, 12: 8, 13: 8, 16: 1, 17: 2, 18: 4}  # bytes by type
    _CELL, _CHAR, _SPARSE, _NUMBERS = 1, 4, 5, range(6, 16)

    def __init__(self, request: Request, stream: Any, order: str):
        self._request, self._stream, self._order = request, stream, order

    def check(self, name: str | None, depth: int = 0) -> None:
        """Refuses what is unsound, where it is the variable of this name (None: any)."""
        import numpy as np

        flags = self._integers(self._part())
        dims = self._integers(self._part())
        called = self._part().decode("latin-1")
        if name is not None and called != name:
            return
        if len(flags) != 2:
            raise self._broken()
        kind, is_complex = flags[0] & 0xFF, flags[0] >> 11 & 1
        if kind == self._CELL and depth == 0:
            count = int(np.prod(dims, dtype=object))
            for _ in range(count):
                tag = self._stream.read(8)
                if int.from_bytes(tag[:4], self._order) != 14:
                    raise self._broken()
                if int.from_bytes(tag[4:], self._order):
                    self.check(None, depth + 1)
        elif kind == self._CHAR or kind in self._NUMBERS:
            self._skip_parts(1 + is_complex)
        elif kind == self._SPARSE:
            self._skip_parts(3 + is_complex)
        elif depth > 0:
            raise self._request.refuse("a cell is not a word")

    def _broken(self) -> ReadError:
        return self._request.refuse("the file is broken: an element of an unknown type, or cut short")

    def _tag(self) -> tuple[int, int, bytes | None]:
        """Type, bytes, and the bytes themselves where they are within the tag."""
        tag = self._stream.read(8)
        first = int.from_bytes(tag[:4], self._order)
        kind, small = first & 0xFFFF, first >> 16
        size = small or int.from_bytes(tag[4:], self._order)
        if len(tag) < 8 or small > 4 or kind not in self._ITEM or size % self._ITEM[kind]:
            raise self._broken()
        return kind, size, tag[4 : 4 + small] if small else None

    def _part(self) -> bytes:
        """The bytes of a short part: flags, dimensions, the name."""
        _, size, within = self._tag()
        if within is not None:
            return within
        if size > 4096:
            raise self._broken()
        out = self._stream.read(size + -size % 8)
        return out[:size]

    def _integers(self, part: bytes) -> list[int]:
        return [int.from_bytes(part[at : at + 4], self._order) for at in range(0, len(part), 4)]

    def _skip_parts(self, count: int) -> None:
        for _ in range(count):
            _, size, within = self._tag()
            left = 0 if within is not None else size + -size % 8
            padding = 0 if within is not None else -size % 8
            while left > 0:
                passed = len(self._stream.read(min(left, 1 << 20)))
                if passed == 0 and left > padding:
                    raise self._broken()
                if passed == 0:
                    break
                left -= passed


def _cell_words(request: Request, name: str, cells: Any) -> Any:
    """A cell array of words, each a character array with one string or none."""
    import numpy as np

    out = np.empty(cells.shape, object)
    for at, cell in np.ndenumerate(cells):
        if cell.dtype.kind != "U" or cell.size > 1:
            raise request.refuse("variable ", printable(name), ": a cell is not a word")
        out[at] = cell.item() if cell.size else ""
    return out


def _mat73_variables(request: Request, h5: HDF5File) -> _Variables:
    import numpy as np

    def describe(found: Any) -> tuple[tuple[int, ...], str]:
        if h5.is_group(found):
            if "MATLAB_sparse" not in found.attrs:
                return (), as_word(found.attrs.get("MATLAB_class", "struct"))
            ends = h5.get(found, "jc")
            columns = ends.shape[0] - 1 if h5.is_dataset(ends) and ends.shape else 0
            return (int(found.attrs["MATLAB_sparse"]), columns), "sparse"
        shape = tuple(map(int, found[()])) if found.attrs.get("MATLAB_empty") and found.size < 32 else found.shape
        plain = number_type(found.dtype) is not None
        kind = as_word(found.attrs.get("MATLAB_class", "double" if plain else "unknown"))
        complex_pair = kind in _MATLAB_NUMBERS and not plain
        return tuple(reversed(shape or ())), "complex" if complex_pair else kind

    found_here = {name: h5.get(h5.file, name) for name in h5.file if not name.startswith("#")}
    kinds = {n: describe(v) for n, v in found_here.items() if h5.is_group(v) or h5.is_dataset(v)}

    def matrix(name: str) -> Any:
        shape, kind = kinds[name]
        found = found_here[name]
        if kind == "sparse":
            return sparse(found, shape)
        turned = shape[::-1] if request.transpose else shape
        require_shape(request, *turned)
        return dense_numbers(request, h5.values(found, name).T)

    def sparse(group: Any, shape: tuple[int, ...]) -> Any:
        ends = h5.values(h5.get(group, "jc"), "jc")
        if h5.get(group, "data") is None and not ends.any():  # a matrix of zeros has neither values nor rows
            data, rows = np.empty(0), np.empty(0, np.int32)
        else:
            data, rows = (h5.values(h5.get(group, part), part) for part in ("data", "ir"))
        return compressed_rows(request, data, rows, ends, (shape[0], shape[1]), by_rows=False)

    def words(name: str) -> Any:
        kind, found = kinds[name][1], found_here[name]
        if kind == "char":
            return np.array([text_of(row) for row in np.atleast_2d(h5.values(found, name).T)])
        if kind != "cell":
            return h5.values(found, name).T
        if not h5.is_reference(found):
            raise request.refuse("variable ", printable(name), ": a cell is not a word")
        cells = h5.values(found, name).T
        out = np.empty(cells.shape, object)
        for at, reference in np.ndenumerate(cells):
            out[at] = cell_of(name, h5.file[reference])
        return out

    def cell_of(name: str, cell: Any) -> str:
        if not h5.is_dataset(cell) or as_word(cell.attrs.get("MATLAB_class", "")) != "char":
            raise request.refuse("variable ", printable(name), ": a cell is not a word")
        return "" if cell.attrs.get("MATLAB_empty") else text_of(h5.values(cell, name).ravel())

    def text_of(codes: Any) -> str:
        return codes.astype("<u2").tobytes().decode("utf-16-le", "replace")

    return _Variables(kinds, matrix, words)
