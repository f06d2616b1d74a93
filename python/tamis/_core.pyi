# Made by tools/make_stubs.
"""The compiled core of tamis."""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray

from tamis import NoVariation as NoVariation


version: str = '0.2.0'

default_repeats: int = 10

default_subsets: int = 20

default_redundancy: float = 0.8

class RemoteRows:
    """
    Rows that live elsewhere; run() runs a pass where they are, take() gives some of them.
    """

    def __init__(self, rows: int, cols: int, sparse: bool, nonzeros: int, run: object, take: object | None = None) -> None: ...

block_rows: int = 2048

def remote_partial(pass_name: str, shared: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], by_row: Sequence[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]], chunk: object | None, rows: int, first: int) -> tuple:
    """
    What a pass makes of one chunk of rows (None where it reads none), whose first is row `first` of all, and what it leaves with it (or None).
    """

def remote_merge(pass_name: str, left: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], right: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> object:
    """What it makes of two neighbors."""

class DiskRows:
    """Rows that stay on disk; every pass reads them."""

    @property
    def shape(self) -> tuple: ...

    @property
    def dtype(self) -> str: ...

    @property
    def sparse(self) -> bool: ...

class RowSink:
    """Takes the rows of a file that are not to be in memory."""

    def add(self, data: object, first_column: int = 0) -> None: ...

class Fitted:
    """The request and result of a selection, without the rows."""

def selection_page(fitted: Fitted, data: object, names: Sequence[str], path: str, image: str = '', words: dict = {}) -> object:
    """The page that the command would write, as HTML."""

def cluster_means(fitted: Fitted, data: object) -> dict:
    """
    The means of the clusters over the columns that the method saw: as they are, and as it saw them (None: the same but for the scale of the columns).
    """

def nearest_means(data: object, columns: Sequence[int], column_scale: object | None, unit_rows: bool, center: object, directions: object, offset: object, threads: int = 0) -> object:
    """The cluster of each row: tamis/cluster/means.h."""

def version_text() -> str:
    """What `tamis --version` prints."""

def methods() -> list:
    """Every method with its options: name, type, default, range, help."""

def select(method: str, data: object, options: dict, features: object | None = None, scale: str = 'none', include: Sequence[int] = [], exclude: Sequence[int] = [], classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, init: object | None = None, seed: int = 0, threads: int = 0, memory: int = 0, progress: object | None = None, words: dict = {}, names: Sequence[str] | None = None, redundancy: float | None = None, seeds: int | None = None, resample: int | None = None, groups: Sequence[str] | None = None, connectivity: object | None = None, weights: object | None = None) -> dict:
    """
    One selection, as `tamis select` does it. With `names` (empty: there are none) it warns about doubtful columns. `groups`: one for each feature, '' where it is a group by itself. `connectivity`: a graph of the rows.
    """

def compare(data: object, methods: Sequence[str], features: list, clusters: int, scale: str = 'none', classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, settings: dict = {}, repeats: int = 10, grid: bool = False, seed: int = 0, threads: int = 0, memory: int = 0, progress: object | None = None, words: dict = {}, names: Sequence[str] | None = None) -> dict:
    """Methods side by side, as `tamis compare`."""

def evaluate(data: object, classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], features: Sequence[int], clusters: int, repeats: int = 10, subsets: int = 20, seed: int = 0, threads: int = 0, progress: object | None = None, words: dict = {}) -> dict:
    """What a list of features is worth, as `tamis evaluate`."""

def clustering_accuracy(truth: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], clusters: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float: ...

def normalized_mutual_info(truth: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], clusters: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float: ...

def adjusted_rand(truth: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], clusters: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float: ...

def redundancy(data: object, features: Sequence[int], threads: int = 0) -> float: ...

def read(path: bytes, array: str = 'X', header: str = 'auto', id_column: str = '', labels: Sequence[str] = [], text_columns: Sequence[str] = [], transpose: bool = False, on_disk: bool = False, missing: str = 'refuse', thousands: str = '', format: str = '', skip: int = 0, reader: object | None = None, memory: int = 0, words: dict = {}) -> dict:
    """A table of any format that the core or `reader` reads."""

def without_missing(data: object, missing: str, names: Sequence[str] = [], words: dict = {}) -> dict:
    """
    An array without its missing values, as `--missing` drops or fills them in: X, the columns and the rows that are left (None: all), and a note.
    """

def read_selection(text: bytes, where: str) -> dict:
    """
    The columns of a selection.json: positions, names (empty if the table had none), features, id_column.
    """

def complete_result(folder: bytes) -> None:
    """Completes a result that a killed run had committed to the folder."""

def peek_names(path: bytes) -> list:
    """
    The names in the first line of a CSV file; empty for other formats and where there are none.
    """

def find_columns(positions: Sequence[int], names: Sequence[str], features: int, where: str, table_names: Sequence[str], table_features: int, left_out: Sequence[str] = []) -> list[int]:
    """
    The positions of the selected columns in another table, as `tamis apply` finds them.
    """

def named_features(words: Sequence[str], names: Sequence[str], where: str) -> list[int]:
    """
    The positions of columns by name or pattern, as `--include` and `--exclude` find them.
    """

def did_you_mean(word: str, names: Sequence[str]) -> str:
    """
    What a message adds where one of the names is close to the word (; did you mean 'x'?), else nothing.
    """

def run_command(words: Sequence[bytes], reader: object, saver: object | None = None) -> int:
    """The command; the process is its own."""
