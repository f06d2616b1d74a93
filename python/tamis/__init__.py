"""Unsupervised feature selection: the few columns that carry the structure of a table.

>>> from tamis import GuidedUFCM
>>> GuidedUFCM().fit_transform(X)

Everything is loaded on first use, so importing tamis is cheap.
"""

from importlib import import_module

from . import _core
from ._core import version as __version__

_HOMES = {
    **{method["python_name"]: "_selectors" for method in _core.methods()},
    "Table": "_table",
    "read": "_table",
    "apply": "_apply",
    "compare": "_compare",
    "evaluate": "_compare",
    "select_genes": "_genes",
    "NoVariation": "_core",
}
_MODULES = ("dask", "metrics", "plot")

__all__ = ["__version__", *_HOMES, *_MODULES]


def __getattr__(name):
    if name in _HOMES:
        value = getattr(import_module("." + _HOMES[name], __name__), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
