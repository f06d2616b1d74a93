"""Readers of the formats that the core does not read: Parquet, Arrow and Feather, AnnData, 10x in HDF5, zarr,
MATLAB; and text in containers, which the core reads (packed.py).

Arguments and errors follow the rules of the core's own readers (docs/formats.md). Libraries are imported on use. Files are
not trusted: sizes are checked against the available memory before anything is allocated, structure is checked before it
is followed, and any error of a library becomes one line. One gap remains: the HDF5 library itself may crash on a file whose
internal structure is damaged.

Reading has two steps, as in the core (tamis/data/table.h): `open_foreign` reads everything except the numbers and
describes them; then they are loaded, or streamed to a store on disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from .arrow import open_arrow, open_parquet
from .hdf5 import open_h5, open_h5ad
from .matlab import open_mat
from .packed import PACKED, Packed
from .request import MissingReader, Parts, ReadError, Request, TooLarge, Unread, WrongName
from .words import one_line
from .zarr import open_zarr

__all__ = ["MissingReader", "Opened", "Parts", "ReadError", "TooLarge", "WrongName", "open_foreign", "read_foreign"]

# Each returns parts whose X is Unread; what must stay open until it is read is left to the stack.
_READERS: dict[str, Callable[[Request, ExitStack], Parts]] = {
    ".parquet": open_parquet,
    ".pq": open_parquet,
    ".arrow": open_arrow,
    ".ipc": open_arrow,
    ".feather": open_arrow,
    ".h5ad": open_h5ad,
    ".h5": open_h5,
    ".mat": open_mat,
    ".zarr": open_zarr,
}


class Opened:
    """A file of which everything is read but the numbers."""

    def __init__(self, request: Request, parts: Parts, files: ExitStack):
        self._request, self._parts, self._files = request, parts, files

    @property
    def rows(self) -> Unread | None:
        """What the rows are like, where they could be streamed."""
        return self._parts.X if self._parts.X.stream is not None else None

    def load(self) -> Parts:
        """Everything; once."""
        with self._last() as numbers:
            self._parts.X = numbers.load()
            return self._parts

    def leave_on_disk(self, sink: Any) -> Parts:
        """Everything but the numbers, which the sink is given; instead of `load`."""
        with self._last() as numbers:
            self._parts.X = None
            numbers.stream(sink)
            return self._parts

    @contextmanager
    def _last(self) -> Iterator[Unread]:
        with self._files, _one_line_complaints(self._request):
            yield self._parts.X


def open_foreign(
    path: str | os.PathLike[str],
    *,
    array: str = "X",
    id_column: str = "",
    labels: tuple[str, ...] | list[str] = (),
    text_columns: tuple[str, ...] | list[str] = (),
    transpose: bool = False,
    memory_limit: int = 0,
    whole_process: bool = False,
    format: str = "",
    missing_kept: bool = False,
) -> Opened | Packed:
    """Open a file and read everything except its numbers; its extension selects the reader.

    Parameters
    ----------
    path : path
        .parquet .pq .arrow .ipc .feather .h5ad .h5 .mat, or a folder .zarr; .zip .xz .zst .xlsx
    array : str
        The layer of an AnnData file, the array of a zarr group, or the variable of a MATLAB file.
    id_column : str
        The column with the row identifiers; "" for none.
    labels : sequence of str
        Columns (of a table, of obs) or variables to read as labels. Names not found are ignored: they may be
        files.
    text_columns : sequence of str
        Columns that may hold text or missing values; such a column is left out where it does.
    transpose : bool
        Whether the columns of the file are the samples.
    memory_limit : int
        In bytes, for the table; 0 for the memory of the machine.
    whole_process : bool
        Whether the limit is for all that the process holds, buffers of the reader included.
    format : str
        An extension without its point, in place of that of the path.
    missing_kept : bool
        Whether nulls and NaN of dense tables become NaN; otherwise they are rejected.

    Returns
    -------
    Opened
        Its rows could be streamed where it is a table of Parquet, Arrow, AnnData or zarr, unless its matrix is stored
        by columns or to be transposed. `Packed` for text in a container.

    Raises
    ------
    ReadError
        The file does not hold what is asked for; WrongName and TooLarge are kinds of it. A ValueError.
    MissingReader
        The library that reads the format is not installed. An ImportError.
    OSError
        The file cannot be read.
    """
    request = Request(
        path=os.fsdecode(path),
        array=array,
        id_column=id_column,
        labels=tuple(dict.fromkeys(labels)),
        text_columns=tuple(text_columns),
        transpose=transpose,
        memory_limit=memory_limit or os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        whole_process=whole_process,
        format=format,
        missing_kept=missing_kept,
    )
    if request.ending in PACKED:
        with ExitStack() as files, _one_line_complaints(request):
            packed = PACKED[request.ending](request, files)
            packed.files = files.pop_all()
            return packed
    opener = _READERS.get(request.ending)
    if opener is None:
        raise request.refuse("unknown file extension, need ", " ".join([*_READERS, *PACKED]))
    if opener is not open_zarr:
        with open(request.path, "rb"):  # the system reports best why a file cannot be read
            pass
    with ExitStack() as files, _one_line_complaints(request):
        return Opened(request, opener(request, files), files.pop_all())


def read_foreign(path: str | os.PathLike[str], **options: Any) -> Parts:
    """Open and load."""
    return open_foreign(path, **options).load()


@contextmanager
def _one_line_complaints(request: Request) -> Iterator[None]:
    try:
        yield
    except (ReadError, MissingReader):
        raise
    except MemoryError as error:
        raise TooLarge(f"{request.where}: not enough memory ({one_line(error)})") from error
    except Exception as error:  # errors of libraries on broken files: any type, any number of lines
        if isinstance(error, OSError) and error.errno is not None:
            raise
        if isinstance(error, ModuleNotFoundError) and error.name:  # as NumPy itself, which readers import where they need it
            package = error.name.partition(".")[0]
            raise MissingReader(f"reading {request.ending} needs {package}: pip install {package}") from error
        raise request.refuse("cannot be read as ", request.ending, ": ", one_line(error)) from error
