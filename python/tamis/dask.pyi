# Made by tools/make_stubs from the core's descriptions of methods.
from typing import Any

from typing_extensions import Self

from . import _selectors

__all__ = ["GuidedUFCM", "UFCM", "MaxVariance"]

class GuidedUFCM(_selectors.GuidedUFCM):
    def fit(self, X: Any, y: Any = None) -> Self: ...
    def transform(self, X: Any) -> Any: ...

class UFCM(_selectors.UFCM):
    def fit(self, X: Any, y: Any = None) -> Self: ...
    def transform(self, X: Any) -> Any: ...

class MaxVariance(_selectors.MaxVariance):
    def fit(self, X: Any, y: Any = None) -> Self: ...
    def transform(self, X: Any) -> Any: ...
