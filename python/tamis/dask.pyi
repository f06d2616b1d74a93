from typing import Any

from typing_extensions import Self

from . import _selectors

__all__ = ["UFCM", "MaxVariance"]

class UFCM(_selectors.UFCM):
    def fit(self, X: Any, y: Any = None) -> Self: ...
    def transform(self, X: Any) -> Any: ...

class MaxVariance(_selectors.MaxVariance):
    def fit(self, X: Any, y: Any = None) -> Self: ...
    def transform(self, X: Any) -> Any: ...
