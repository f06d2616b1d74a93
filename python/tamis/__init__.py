"""Unsupervised feature selection: the few columns that carry the structure of a table.

>>> from tamis import GuidedUFCM
>>> GuidedUFCM().fit_transform(X)

Everything is loaded on first use, so importing tamis is cheap.
"""

import sys
from importlib import import_module

from ._surroundings import explain_missing_core, is_command, missing_package, one_blas_thread, require_python

try:
    require_python(sys.version_info)
    with one_blas_thread():
        from . import _core
    from ._core import version as __version__
except ImportError as _error:
    if is_command():  # a line, as of any other error
        sys.exit(explain_missing_core(_error))
    raise ImportError(explain_missing_core(_error)) from None

_HOMES = {
    **{method["python_name"]: "_selectors" for method in _core.methods()},
    "Table": "_table",
    "read": "_table",
    "apply": "_apply",
    "compare": "_compare",
    "evaluate": "_compare",
    "report": "_fitted",
    "select_genes": "_genes",
    "NoVariation": "_core",
    "show_versions": "_surroundings",
}
_MODULES = ("dask", "metrics", "plot")

__all__ = ["__version__", *_HOMES, *_MODULES]


def _load(module):
    try:
        return import_module("." + module, __name__)
    except ModuleNotFoundError as error:
        message = missing_package(error)
        if message is None:
            raise
    raise ImportError(message)


def __getattr__(name):
    if name in _HOMES:
        value = getattr(_load(_HOMES[name]), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return _load(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
