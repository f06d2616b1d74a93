# Made by tools/make_stubs from the core's descriptions of methods.
from . import dask as dask
from . import metrics as metrics
from . import plot as plot
from ._apply import apply as apply
from ._compare import compare as compare
from ._compare import evaluate as evaluate
from ._core import NoVariation as NoVariation
from ._fitted import report as report
from ._genes import select_genes as select_genes
from ._selectors import CSS as CSS
from ._selectors import FSPCA as FSPCA
from ._selectors import MCFS as MCFS
from ._selectors import NDFS as NDFS
from ._selectors import RUFS as RUFS
from ._selectors import SPCAFS as SPCAFS
from ._selectors import SPEC as SPEC
from ._selectors import UDFS as UDFS
from ._selectors import UFCM as UFCM
from ._selectors import GuidedUFCM as GuidedUFCM
from ._selectors import LaplacianScore as LaplacianScore
from ._selectors import MaxVariance as MaxVariance
from ._selectors import SparseKMeans as SparseKMeans
from ._surroundings import show_versions as show_versions
from ._table import Table as Table
from ._table import read as read

__version__: str
__all__: list[str]
