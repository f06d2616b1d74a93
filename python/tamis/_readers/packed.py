"""Text tables in containers: .zip, .xz and .zst, and the cells of .xlsx as CSV. The core reads what comes out.

Nothing is unpacked to disk: each gives a binary stream, of which the core reads a piece at a time and refuses what would
not fit in memory.
"""

from __future__ import annotations

import csv
import importlib
import io
import lzma
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

from .request import Flag, MissingReader, Request
from .words import listed, printable

_TEXT = (".csv", ".tsv", ".tab", ".txt", ".dat")


class Packed:
    """The text in a file: its name, whose extension tells the format, and a binary stream."""

    rows = None

    def __init__(self, request: Request, name: str, stream: Any):
        self.name, self._request, self._stream = name, request, stream
        self.files = ExitStack()  # what must stay open meanwhile
        self._ended = False

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; none at the end, however often it is asked."""
        if self._ended:
            return b""
        try:
            piece = self._stream.read(size)
        except Exception as error:  # errors of libraries on broken files: any type
            if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno is not None):
                raise
            raise self._request.refuse("cannot be read as ", self._request.ending, ": ", printable(error)) from error
        if not piece:
            self._ended = True
            self.files.close()
        return piece


def open_zip(request: Request, files: ExitStack) -> Packed:
    archive = files.enter_context(zipfile.ZipFile(request.path))
    members = [member for member in archive.infolist() if not member.is_dir() and not member.filename.startswith("__MACOSX/")]
    if len(members) != 1:
        names = listed([member.filename for member in members])
        raise request.refuse(len(members), " files, need an archive of one", f" (it has {names})" if names else "")
    return Packed(request, _text_name(request, members[0].filename), files.enter_context(archive.open(members[0])))


def open_xz(request: Request, files: ExitStack) -> Packed:
    return Packed(request, _inner_name(request), files.enter_context(lzma.open(request.path)))


def open_zst(request: Request, files: ExitStack) -> Packed:
    file = files.enter_context(open(request.path, "rb"))
    for module, opener in (("compression.zstd", "ZstdFile"), ("zstandard", "open")):
        try:
            library = importlib.import_module(module)
        except ImportError:
            continue
        return Packed(request, _inner_name(request), files.enter_context(getattr(library, opener)(file, "rb")))
    raise MissingReader("reading .zst needs zstandard: pip install zstandard (or unpack the file with zstd -d)")


def open_xlsx(request: Request, files: ExitStack) -> Packed:
    try:
        openpyxl = importlib.import_module("openpyxl")
    except ImportError as error:
        raise MissingReader("reading .xlsx needs openpyxl: pip install openpyxl (or save the sheet as CSV)") from error
    book = openpyxl.load_workbook(request.path, read_only=True, data_only=True)
    files.callback(book.close)
    if request.array != "X" and request.array not in book.sheetnames:
        raise request.wrong_name("no sheet ", printable(request.array), ", it has ", listed(book.sheetnames))
    if request.array == "X" and "X" not in book.sheetnames and len(book.sheetnames) > 1:
        raise request.wrong_name(len(book.sheetnames), " sheets, ", Flag("array"), " takes one of ", listed(book.sheetnames))
    sheet = book[request.array if request.array in book.sheetnames else book.sheetnames[0]]
    return Packed(request, "sheet.csv", _Pieces(_csv_lines(sheet.iter_rows(values_only=True))))


def _inner_name(request: Request) -> str:
    """table.csv.xz: table.csv."""
    return _text_name(request, os.path.splitext(os.path.basename(request.path))[0])


def _text_name(request: Request, name: str) -> str:
    if not name.lower().endswith(_TEXT):
        raise request.refuse("holds ", printable(name), ", need text: ", " ".join(_TEXT))
    return name


def _csv_lines(rows: Iterator[tuple[Any, ...]]) -> Iterator[bytes]:
    for row in rows:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow([_cell_text(value) for value in row])
        yield line.getvalue().encode()


def _cell_text(value: Any) -> str:
    if value is None:
        return ""
    return str(value).upper() if isinstance(value, bool) else str(value)


class _Pieces:
    """Lines as a stream of bytes."""

    def __init__(self, lines: Iterator[bytes]):
        self._lines, self._rest = lines, b""

    def read(self, size: int) -> bytes:
        pieces, held = [self._rest], len(self._rest)
        while held < size and (line := next(self._lines, None)) is not None:
            pieces.append(line)
            held += len(line)
        whole = b"".join(pieces)
        self._rest = whole[size:]
        return whole[:size]


PACKED: dict[str, Callable[[Request, ExitStack], Packed]] = {
    ".zip": open_zip,
    ".xz": open_xz,
    ".zst": open_zst,
    ".xlsx": open_xlsx,
}
