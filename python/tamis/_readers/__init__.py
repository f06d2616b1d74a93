"""Readers of the formats that the core does not read: Parquet, Arrow and Feather, AnnData, 10x in HDF5, zarr,
MATLAB.

Arguments and errors follow the rules of the core's own readers (docs/formats.md). Libraries are imported on use. Files are
not trusted: sizes are checked against the available memory before anything is allocated, structure is checked before it
is followed, and any error of a library becomes one line. One gap remains: the HDF5 library itself may crash on a file whose
internal structure is damaged.
"""

from __future__ import annotations

import os
from typing import Any, Callable

from .arrow import read_arrow, read_parquet
from .hdf5 import read_h5, read_h5ad
from .matlab import read_mat
from .request import MissingReader, Parts, ReadError, Request, TooLarge, WrongName
from .words import one_line
from .zarr import read_zarr

__all__ = ["MissingReader", "Parts", "ReadError", "TooLarge", "WrongName", "read_foreign"]

_READERS: dict[str, Callable[[Request], Parts]] = {
    ".parquet": read_parquet,
    ".pq": read_parquet,
    ".arrow": read_arrow,
    ".ipc": read_arrow,
    ".feather": read_arrow,
    ".h5ad": read_h5ad,
    ".h5": read_h5,
    ".mat": read_mat,
    ".zarr": read_zarr,
}


def read_foreign(
    path: str | os.PathLike[str],
    *,
    array: str = "X",
    id_column: str = "",
    labels: tuple[str, ...] | list[str] = (),
    text_columns: tuple[str, ...] | list[str] = (),
    transpose: bool = False,
    memory_limit: int = 0,
    sink: Any = None,
) -> Parts:
    """Read a file; its extension selects the reader.

    Parameters
    ----------
    path : path
        .parquet .pq .arrow .ipc .feather .h5ad .h5 .mat, or a folder .zarr
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
    sink : _core.RowSink, optional
        Is asked whether it takes the rows, before any is read, and then given them piece by piece: a table of Parquet,
        Arrow, AnnData or zarr, unless its matrix is stored by columns or to be transposed.

    Returns
    -------
    Parts

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
        sink=sink,
    )
    reader = _READERS.get(request.ending)
    if reader is None:
        raise request.refuse("unknown file extension, need ", " ".join(_READERS))
    if reader is not read_zarr:
        with open(request.path, "rb"):  # the system reports best why a file cannot be read
            pass
    try:
        return reader(request)
    except (ReadError, MissingReader):
        raise
    except MemoryError as error:
        raise TooLarge(f"{request.where}: not enough memory ({one_line(error)})") from error
    except Exception as error:  # errors of libraries on broken files: any type, any number of lines
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise request.refuse("cannot be read as ", request.ending, ": ", one_line(error)) from error
