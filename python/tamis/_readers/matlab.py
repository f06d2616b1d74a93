"""MATLAB files: versions 4 to 7.2 by SciPy, 7.3 (HDF5) by h5py."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from math import prod
from typing import Any, BinaryIO

from .hdf5 import HDF5File, require_counts
from .numbers import compressed_rows, dense_numbers, number_type, require_shape
from .request import Flag, Parts, ReadError, Request, Unread
from .words import as_word, label_words, listed, printable

_MATLAB_NUMBERS = {"double", "single", "logical", "sparse"} | {f"{u}int{b}" for u in ("", "u") for b in (8, 16, 32, 64)}


@dataclass
class _Variables:
    """The variables of a MATLAB file: shape and class of each, and how to read one."""

    kinds: dict[str, tuple[tuple[int, ...], str]]
    matrix: Callable[[str], Any]  # -> X as the core accepts it
    words: Callable[[str], Any]  # -> one value per row


def open_mat(request: Request, files: ExitStack) -> Parts:
    with open(request.path, "rb") as file:
        head = file.read(520)
    if b"\x89HDF\r\n\x1a\n" in (head[:8], head[512:520]):
        return _mat_parts(request, _mat73_variables(request, files.enter_context(HDF5File(request))))
    return _mat_parts(request, _mat5_variables(request))


def _mat_parts(request: Request, variables: _Variables) -> Parts:
    name = _chosen_variable(request, variables.kinds)
    shape, kind = variables.kinds[name]
    if kind not in _MATLAB_NUMBERS or len(shape) != 2:
        what = f"of {len(shape)} dimensions" if kind in _MATLAB_NUMBERS else f"of class {printable(kind)}"
        raise request.refuse("variable ", printable(name), " is ", what, ", need a matrix of real numbers")
    rows, columns = shape[::-1] if request.transpose else shape
    require_shape(request, rows, columns)
    unread = Unread((rows, columns), lambda: variables.matrix(name))
    parts = Parts(X=unread, format="mat", label_choices=list(variables.kinds))
    for word in request.labels:
        if word in variables.kinds:
            parts.labels[word] = label_words(_mat_vector(request, variables, word, "labels " + printable(word), rows))
    if request.id_column:
        if request.id_column not in variables.kinds:
            missing, has = printable(request.id_column), listed(list(variables.kinds))
            raise request.wrong_name("no variable ", missing, " for the identifiers, it has ", has)
        what, need = ("names of columns", columns) if request.transpose else ("row identifiers", rows)
        parts.row_ids = label_words(_mat_vector(request, variables, request.id_column, what, need))
    if request.transpose:
        parts.names, parts.row_ids = parts.row_ids, parts.names
    require_counts(request, parts)
    return parts


def _chosen_variable(request: Request, kinds: dict[str, tuple[tuple[int, ...], str]]) -> str:
    """The requested variable; if the default does not exist, the only one that can be a table."""
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
    raise request.wrong_name("no variable ", printable(request.array), ", ", Flag("array"), " takes one of ", listed(list(kinds)))


def _mat_vector(request: Request, variables: _Variables, name: str, what: str, need: int) -> Any:
    """A variable of `need` values; it is not read if it has any other number."""
    import numpy as np

    shape, kind = variables.kinds[name]
    if kind not in _MATLAB_NUMBERS | {"char", "cell"} or kind == "sparse":
        raise request.refuse("variable ", printable(name), " is of class ", printable(kind), ", need numbers or text")
    if kind != "char" and (len(shape) != 2 or 1 not in shape):
        raise request.refuse("variable ", printable(name), " is not a vector")
    count = prod(shape[:1] if kind == "char" else shape)
    if count != need:
        raise request.refuse(count, " ", what, " for ", need)
    values = np.asarray(variables.words(name)).ravel()
    if values.dtype.kind == "c" or values.dtype.kind == "f" and np.isinf(values).any():
        raise request.refuse("variable ", printable(name), " is complex or infinite, need numbers or text")
    return values


def _mat5_variables(request: Request) -> _Variables:
    import numpy as np

    scipy_io = request.load("scipy.io")
    elements: dict[str, _Mat5Variable] = {}
    with open(request.path, "rb") as file:
        for element in _mat5_elements(request, file):
            elements.setdefault(element.name, element)
    kinds = {name: (element.shape, element.kind) for name, element in elements.items()}
    if not elements:  # version 4, or no variables
        listed = scipy_io.whosmat(request.path, appendmat=False)
        kinds = {name: (tuple(map(int, shape)), kind) for name, shape, kind in listed}

    def load(name: str) -> Any:
        with open(request.path, "rb") as file:
            if name not in elements:
                shape, kind = kinds[name]
                request.require_memory(0 if kind == "sparse" else prod(shape))  # at least a byte each
                return scipy_io.loadmat(file, variable_names=[name])[name]
            elements[name].open(request, file).check()
            return scipy_io.loadmat(_OneVariable(elements[name], file), variable_names=[name])[name]

    def matrix(name: str) -> Any:
        found = load(name)
        if found.dtype.kind == "c":
            raise request.refuse("variable ", printable(name), " is complex, need real numbers")
        if not hasattr(found, "tocsc"):
            return dense_numbers(request, found.view(np.uint8) if kinds[name][1] == "logical" else found)
        if found.format != "csc":  # version 4; SciPy checks these triples itself
            found = found.tocsc()
        return compressed_rows(request, found.data, found.indices, found.indptr, found.shape, by_rows=False).load()

    def words(name: str) -> Any:
        found = load(name)
        return _cell_words(request, name, found) if kinds[name][1] == "cell" else found

    return _Variables(kinds, matrix, words)


class _Inflated:
    """Reads sequentially from a zlib stream inside a file."""

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


@dataclass
class _Mat5Variable:
    """The position of a variable in a version 5 file, and its header."""

    begin: int  # of its element, after the tag
    size: int
    order: Any  # of bytes: "little" or "big"
    packed: bool
    name: str = ""
    shape: tuple[int, ...] = ()
    kind: str = ""

    def stream(self, file: BinaryIO) -> Any:
        """Its inner element, from the tag on."""
        file.seek(self.begin if self.packed else self.begin - 8)
        return _Inflated(file, self.size) if self.packed else file

    def open(self, request: Request, file: BinaryIO) -> _MatlabElement:
        stream = self.stream(file)
        stream.read(8)
        return _MatlabElement(request, stream, self.order, self.packed)


def _mat5_elements(request: Request, file: BinaryIO) -> Iterator[_Mat5Variable]:
    """The variables of a version 5 file, found without inflating more than their headers; of version 4 none."""
    order = {b"IM": "little", b"MI": "big"}.get(file.read(128)[126:128])
    while order is not None:
        tag = file.read(8)
        if len(tag) < 8:
            return
        kind, size = (int.from_bytes(part, order) for part in (tag[:4], tag[4:]))
        found = _Mat5Variable(file.tell(), size, order, packed=kind == 15)
        if found.packed:
            kind = int.from_bytes(found.stream(file).read(4), order)
        if kind == 14:
            found.name, found.shape, found.kind = found.open(request, file).describe()
            yield found
        file.seek(found.begin + size)


class _OneVariable:
    """A version 5 file that holds one variable and is inflated while it is read.

    SciPy inflates in pieces of up to 130 MB, even for variables that it skips, and joins them.
    """

    def __init__(self, variable: _Mat5Variable, file: BinaryIO):
        file.seek(0)
        head = file.read(128)
        self._stream = variable.stream(file)
        self._front = head + self._stream.read(8)  # SciPy seeks back and forth here, and only forward afterwards
        self._at, self._reached = 0, len(self._front)

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + (self._at if whence == 1 else 0)
        return self._at

    def read(self, size: int = -1) -> bytes:
        if self._at < len(self._front):
            out = self._front[self._at : self._at + size]
        elif self._at < self._reached:
            raise ValueError("the variable would have to be read twice")
        else:
            self._stream.read(self._at - self._reached)  # the padding that SciPy skipped
            out = self._stream.read(size)
            self._reached = self._at + len(out)
        self._at += len(out)
        return out


class _MatlabElement:
    """One matrix of a version 5 file, read as a stream of tagged parts."""

    _ITEM = {1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 9: 8, 12: 8, 13: 8, 16: 1, 17: 2, 18: 4}  # bytes by type
    _CELL, _CHAR, _SPARSE, _NUMBERS = 1, 4, 5, range(6, 16)
    _KINDS = ["", "cell", "struct", "object", "char", "sparse", "double", "single"]
    _KINDS += [f"{u}int{b}" for b in (8, 16, 32, 64) for u in ("", "u")] + ["function", "opaque"]
    # Bytes that SciPy takes: for a cell, for a letter, and for a sparse entry until its rows are compressed.
    _CELL_BYTES, _LETTER_BYTES, _ENTRY_BYTES = 400, 12, 30

    def __init__(self, request: Request, stream: Any, order: str, packed: bool):
        self._request, self._stream, self._order, self._packed = request, stream, order, packed
        self._bytes = 0

    def describe(self) -> tuple[str, tuple[int, ...], str]:
        """Name, shape and class, as SciPy's whosmat calls them."""
        flags = self._flags()
        kind = flags & 0xFF
        if kind not in range(1, len(self._KINDS)) or self._KINDS[kind] == "opaque":  # without a shape
            return "None", (), "opaque"
        shape, name = tuple(self._integers(self._part())), self._part().decode("latin-1")
        return name or "__function_workspace__", shape, "logical" if flags >> 9 & 1 else self._KINDS[kind]

    def check(self) -> None:
        """Rejects what crashes SciPy's reader, parts of unknown type, and what does not fit in the memory limit."""
        self._check_matrix(depth=0)
        if self._packed and self._stream.read(1):  # and zlib compares its checksum
            raise self._broken()

    def _check_matrix(self, depth: int) -> None:
        flags = self._flags()
        kind, is_complex = flags & 0xFF, flags >> 11 & 1
        count = prod(self._integers(self._part()))
        self._part()  # the name
        if kind == self._CELL and depth == 0:
            self._take(count * self._CELL_BYTES)
            for _ in range(count):
                tag = self._stream.read(8)
                if int.from_bytes(tag[:4], self._order) != 14:
                    raise self._broken()
                if int.from_bytes(tag[4:], self._order):
                    self._check_matrix(depth + 1)
        elif kind == self._CHAR:
            self._skip_part(lambda size, item: size // item * self._LETTER_BYTES)
        elif kind == self._SPARSE:
            self._skip_part(lambda size, item: size // item * self._ENTRY_BYTES)
            for _ in range(2 + is_complex):
                self._skip_part(lambda size, item: size)
        elif kind in self._NUMBERS:
            for _ in range(1 + is_complex):
                self._skip_part(lambda size, item: size * (2 if self._packed else 1))  # joined from pieces
        elif depth > 0:
            raise self._request.refuse("a cell is not text")

    def _take(self, size: int) -> None:
        self._bytes += size
        self._request.require_memory(self._bytes)

    def _flags(self) -> int:
        flags = self._integers(self._part())
        if len(flags) != 2:
            raise self._broken()
        return flags[0]

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

    def _skip_part(self, bytes_of: Callable[[int, int], int]) -> None:
        """Skips a part if there is memory for it: `bytes_of(its size, the size of an item)`."""
        kind, size, within = self._tag()
        self._take(bytes_of(size, self._ITEM[kind]))
        padding = 0 if within is not None else -size % 8
        left = 0 if within is not None else size + padding
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
            raise request.refuse("variable ", printable(name), ": a cell is not text")
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
        return dense_numbers(request, h5.values(found, name).T)

    def sparse(group: Any, shape: tuple[int, ...]) -> Any:
        ends = h5.values(h5.get(group, "jc"), "jc")
        if h5.get(group, "data") is None and not ends.any():  # a matrix of zeros has neither values nor rows
            data, rows = np.empty(0), np.empty(0, np.int32)
        else:
            data, rows = (h5.values(h5.get(group, part), part) for part in ("data", "ir"))
        return compressed_rows(request, data, rows, ends, (shape[0], shape[1]), by_rows=False).load()

    def words(name: str) -> Any:
        kind, found = kinds[name][1], found_here[name]
        if kind == "char":
            return np.array([text_of(row) for row in np.atleast_2d(h5.values(found, name).T)])
        if kind != "cell":
            return h5.values(found, name).T
        if not h5.is_reference(found):
            raise request.refuse("variable ", printable(name), ": a cell is not text")
        cells = h5.values(found, name).T
        out = np.empty(cells.shape, object)
        for at, reference in np.ndenumerate(cells):
            out[at] = cell_of(name, h5.file[reference])
        return out

    def cell_of(name: str, cell: Any) -> str:
        if not h5.is_dataset(cell) or as_word(cell.attrs.get("MATLAB_class", "")) != "char":
            raise request.refuse("variable ", printable(name), ": a cell is not text")
        return "" if cell.attrs.get("MATLAB_empty") else text_of(h5.values(cell, name).ravel())

    def text_of(codes: Any) -> str:
        return codes.astype("<u2").tobytes().decode("utf-16-le", "replace")

    return _Variables(kinds, matrix, words)
