# Made by tools/make_stubs from the core's descriptions of methods and options.
from abc import ABCMeta
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import sparray, spmatrix
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Bunch
from typing_extensions import Self

class Selector(SelectorMixin, BaseEstimator, metaclass=ABCMeta):
    n_features_to_select: int | float | Literal["auto"] | None
    random_state: int | np.random.RandomState | np.random.Generator | None
    n_jobs: int | None
    verbose: int
    redundancy: float | None
    missing: Literal["refuse", "drop-columns", "mean", "median"]
    include: Any
    exclude: Any
    scale: Literal["none", "standard", "minmax", "unit", "auto"]
    seeds: int | None
    resample: int | None
    groups: Mapping[str | int, Any] | Sequence[Any] | NDArray[Any] | None
    scores_: NDArray[np.float64]
    ranking_: NDArray[np.int64]
    share_: NDArray[np.float64]
    evidence_: NDArray[np.float64]
    alignment_: NDArray[np.float64]
    labels_: NDArray[np.int32]
    components_: NDArray[np.float64]
    cluster_centers_: NDArray[np.float64]
    cluster_means_: NDArray[np.float64]
    objective_: NDArray[np.float64]
    n_iter_: int
    converged_: bool
    r2_: NDArray[np.float64]
    representative_: NDArray[np.int64]
    redundancy_groups_: list[NDArray[np.int64]]
    stability_: Bunch
    groups_: list[dict[str, Any]]
    report_: dict[str, Any]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def __init_subclass__(cls, method: str | None = None, **keywords: Any) -> None: ...
    def fit(self, X: Any, y: ArrayLike | None = None) -> Self: ...
    def transform(self, X: Any) -> Any: ...
    def predict(self, X: Any) -> NDArray[np.int32]: ...
    def to_frame(self) -> Any: ...
    def report(self, path: str | PathLike[str] = "report.html", X: Any = None, *, image: str | None = None) -> Self: ...
    def __sklearn_tags__(self) -> Any: ...

class GuidedUFCM(Selector, method="guided"):
    n_clusters: int | None
    n_neighbors: int
    n_runs: int
    scales: Sequence[int]
    sample_size: int
    evidence: bool
    def __init__(
        self,
        n_features_to_select: int | float | Literal["auto"] | None = "auto",
        n_clusters: int | None = None,
        n_neighbors: int = 5,
        n_runs: int = 4,
        scales: Sequence[int] = (3, 5, 8, 13, 21),
        sample_size: int = 4000,
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        evidence: bool = True,
        redundancy: float | None = 0.8,
        missing: Literal["refuse", "drop-columns", "mean", "median"] = "refuse",
        include: Any = None,
        exclude: Any = None,
        scale: Literal["none", "standard", "minmax", "unit", "auto"] = "none",
        seeds: int | None = None,
        resample: int | None = None,
        groups: Mapping[str | int, Any] | Sequence[Any] | NDArray[Any] | None = None,
    ) -> None: ...

class UFCM(Selector, method="ufcm"):
    n_clusters: int
    alpha: float
    sparsity: float
    beta: float | None
    p: float
    n_components: int | None
    n_init: int
    max_iter: int
    tol: float
    supervised: bool
    order: Literal["norm", "qr"]
    exact: bool
    def __init__(
        self,
        n_features_to_select: int | float | Literal["auto"] | None = None,
        n_clusters: int = 8,
        alpha: float = 1.0,
        sparsity: float = 0.3,
        beta: float | None = None,
        p: float = 1.0,
        n_components: int | None = None,
        n_init: int = 10,
        max_iter: int = 50,
        tol: float = 1e-06,
        supervised: bool = False,
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        order: Literal["norm", "qr"] = "norm",
        exact: bool = False,
        redundancy: float | None = 0.8,
        missing: Literal["refuse", "drop-columns", "mean", "median"] = "refuse",
        include: Any = None,
        exclude: Any = None,
        scale: Literal["none", "standard", "minmax", "unit", "auto"] = "none",
        seeds: int | None = None,
        resample: int | None = None,
        groups: Mapping[str | int, Any] | Sequence[Any] | NDArray[Any] | None = None,
    ) -> None: ...
    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self: ...
    def set_fit_request(self, *, sample_weight: bool | str | None = ...) -> Self: ...

class MaxVariance(Selector, method="maxvar"):
    def __init__(
        self,
        n_features_to_select: int | float | Literal["auto"] | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        redundancy: float | None = 0.8,
        missing: Literal["refuse", "drop-columns", "mean", "median"] = "refuse",
        include: Any = None,
        exclude: Any = None,
        scale: Literal["none", "standard", "minmax", "unit", "auto"] = "none",
        seeds: int | None = None,
        resample: int | None = None,
        groups: Mapping[str | int, Any] | Sequence[Any] | NDArray[Any] | None = None,
    ) -> None: ...
    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self: ...
    def set_fit_request(self, *, sample_weight: bool | str | None = ...) -> Self: ...

class LaplacianScore(Selector, method="lapscore"):
    n_neighbors: int
    bandwidth: float | None
    weights: Literal["heat", "binary", "cosine"]
    recall: float
    connectivity: spmatrix | sparray | ArrayLike | None
    def __init__(
        self,
        n_features_to_select: int | float | Literal["auto"] | None = None,
        n_neighbors: int = 5,
        bandwidth: float | None = None,
        weights: Literal["heat", "binary", "cosine"] = "heat",
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        recall: float = 0.98,
        redundancy: float | None = 0.8,
        missing: Literal["refuse", "drop-columns", "mean", "median"] = "refuse",
        include: Any = None,
        exclude: Any = None,
        scale: Literal["none", "standard", "minmax", "unit", "auto"] = "none",
        seeds: int | None = None,
        resample: int | None = None,
        groups: Mapping[str | int, Any] | Sequence[Any] | NDArray[Any] | None = None,
        connectivity: spmatrix | sparray | ArrayLike | None = None,
    ) -> None: ...

class SPEC(Selector, method="spec"):
    n_clusters: int
    function: int
    n_neighbors: int
    bandwidth: float | None
    weights: Literal["heat", "binary", "cosine"]
    recall: float
    connectivity: spmatrix | sparray | ArrayLike | None
    def __init__(
        self,
        n_features_to_select: int | float | Literal["auto"] | None = None,
        n_clusters: int = 8,
        function: int = 2,
        n_neighbors: int = 5,
        bandwidth: float | None = None,
        weights: Literal["heat", "binary", "cosine"] = "heat",
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        recall: float = 0.98,
        redundancy: float | None = 0.8,
        missing: Literal["refuse", "drop-columns", "mean", "median"] = "refuse",
        include: Any = None,
        exclude: Any = None,
        scale: Literal["none", "standard", "minmax", "unit", "auto"] = "none",
        seeds: int | None = None,
        resample: int | None = None,
        groups: Mapping[str | int, Any] | Sequence[Any] | NDArray[Any] | None = None,
        connectivity: spmatrix | sparray | ArrayLike | None = None,
    ) -> None: ...

class MCFS(Selector, method="mcfs"):
    n_clusters: int
    n_components: int | None
    n_active: int | None
    normalize: bool
    ridge: float
    n_neighbors: int
    bandwidth: float | None
    weights: Literal["heat", "binary", "cosine"]
    recall: float
    connectivity: spmatrix | sparray | ArrayLike | None
    def __init__(
        self,
        n_features_to_select: int | float | Literal["auto"] | None = None,
        n_clusters: int = 8,
        n_components: int | None = None,
        n_active: int | None = None,
        normalize: bool = False,
        ridge: float = 0.0,
        n_neighbors: int = 5,
        bandwidth: float | None = None,
        weights: Literal["heat", "binary", "cosine"] = "heat",
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        recall: float = 0.98,
        redundancy: float | None = 0.8,
        missing: Literal["refuse", "drop-columns", "mean", "median"] = "refuse",
        include: Any = None,
        exclude: Any = None,
        scale: Literal["none", "standard", "minmax", "unit", "auto"] = "none",
        seeds: int | None = None,
        resample: int | None = None,
        groups: Mapping[str | int, Any] | Sequence[Any] | NDArray[Any] | None = None,
        connectivity: spmatrix | sparray | ArrayLike | None = None,
    ) -> None: ...

class NDFS(Selector, method="ndfs"):
    n_clusters: int
    alpha: float
    beta: float
    gamma: float
    laplacian: Literal["normalized", "plain"]
    max_iter: int
    tol: float
    clip: bool
    n_init: int
    n_neighbors: int
    bandwidth: float | None
    weights: Literal["heat", "binary", "cosine"]
    init: Literal["kmeans"] | ArrayLike
    recall: float
    connectivity: spmatrix | sparray | ArrayLike | None
    def __init__(
        self,
        n_features_to_select: int | float | Literal["auto"] | None = None,
        n_clusters: int = 8,
        alpha: float = 1.0,
        beta: float = 1.0,
        gamma: float = 100000000.0,
        laplacian: Literal["normalized", "plain"] = "normalized",
        max_iter: int = 20,
        tol: float = 0.0,
        clip: bool = True,
        n_init: int = 10,
        n_neighbors: int = 5,
        bandwidth: float | None = None,
        weights: Literal["heat", "binary", "cosine"] = "heat",
        init: Literal["kmeans"] | ArrayLike = "kmeans",
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        recall: float = 0.98,
        redundancy: float | None = 0.8,
        missing: Literal["refuse", "drop-columns", "mean", "median"] = "refuse",
        include: Any = None,
        exclude: Any = None,
        scale: Literal["none", "standard", "minmax", "unit", "auto"] = "none",
        seeds: int | None = None,
        resample: int | None = None,
        groups: Mapping[str | int, Any] | Sequence[Any] | NDArray[Any] | None = None,
        connectivity: spmatrix | sparray | ArrayLike | None = None,
    ) -> None: ...

class RUFS(Selector, method="rufs"):
    n_clusters: int
    alpha: float
    beta: float
    nu: float
    mu: float
    shrink: float
    zeta: float
    n_init: int
    max_iter: int
    tol: float
    n_neighbors: int
    bandwidth: float | None
    weights: Literal["heat", "binary", "cosine"]
    init: Literal["kmeans"] | ArrayLike
    recall: float
    connectivity: spmatrix | sparray | ArrayLike | None
    def __init__(
        self,
        n_features_to_select: int | float | Literal["auto"] | None = None,
        n_clusters: int = 8,
        alpha: float = 1.0,
        beta: float = 1.0,
        nu: float = 1.0,
        mu: float = 0.1,
        shrink: float = 0.0001,
        zeta: float = 10000000.0,
        n_init: int = 10,
        max_iter: int = 10,
        tol: float = 0.0001,
        n_neighbors: int = 5,
        bandwidth: float | None = None,
        weights: Literal["heat", "binary", "cosine"] = "heat",
        init: Literal["kmeans"] | ArrayLike = "kmeans",
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        recall: float = 0.98,
        redundancy: float | None = 0.8,
        missing: Literal["refuse", "drop-columns", "mean", "median"] = "refuse",
        include: Any = None,
        exclude: Any = None,
        scale: Literal["none", "standard", "minmax", "unit", "auto"] = "none",
        seeds: int | None = None,
        resample: int | None = None,
        groups: Mapping[str | int, Any] | Sequence[Any] | NDArray[Any] | None = None,
        connectivity: spmatrix | sparray | ArrayLike | None = None,
    ) -> None: ...

class UDFS(Selector, method="udfs"):
    n_clusters: int
    gamma: float
    ridge: float
    n_neighbors: int
    max_iter: int
    tol: float
    def __init__(
        self,
        n_features_to_select: int | float | Literal["auto"] | None = None,
        n_clusters: int = 8,
        gamma: float = 0.1,
        ridge: float = 1000.0,
        n_neighbors: int = 15,
        max_iter: int = 20,
        tol: float = 1e-06,
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        redundancy: float | None = 0.8,
        missing: Literal["refuse", "drop-columns", "mean", "median"] = "refuse",
        include: Any = None,
        exclude: Any = None,
        scale: Literal["none", "standard", "minmax", "unit", "auto"] = "none",
        seeds: int | None = None,
        resample: int | None = None,
        groups: Mapping[str | int, Any] | Sequence[Any] | NDArray[Any] | None = None,
    ) -> None: ...

class SPCAFS(Selector, method="spcafs"):
    sparsity: float
    beta: float | None
    p: float
    n_components: int | None
    max_iter: int
    tol: float
    def __init__(
        self,
        n_features_to_select: int | float | Literal["auto"] | None = None,
        sparsity: float = 0.3,
        beta: float | None = None,
        p: float = 1.0,
        n_components: int | None = None,
        max_iter: int = 50,
        tol: float = 1e-06,
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        redundancy: float | None = 0.8,
        missing: Literal["refuse", "drop-columns", "mean", "median"] = "refuse",
        include: Any = None,
        exclude: Any = None,
        scale: Literal["none", "standard", "minmax", "unit", "auto"] = "none",
        seeds: int | None = None,
        resample: int | None = None,
        groups: Mapping[str | int, Any] | Sequence[Any] | NDArray[Any] | None = None,
    ) -> None: ...

class FSPCA(Selector, method="fspca"):
    n_components: int | None
    max_iter: int
    def __init__(
        self,
        n_features_to_select: int | float | Literal["auto"] | None = None,
        n_components: int | None = None,
        max_iter: int = 10,
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        redundancy: float | None = 0.8,
        missing: Literal["refuse", "drop-columns", "mean", "median"] = "refuse",
        include: Any = None,
        exclude: Any = None,
        scale: Literal["none", "standard", "minmax", "unit", "auto"] = "none",
        seeds: int | None = None,
        resample: int | None = None,
        groups: Mapping[str | int, Any] | Sequence[Any] | NDArray[Any] | None = None,
    ) -> None: ...

class CSS(Selector, method="css"):
    variance: float | None
    r2: float | None
    n_swaps: int
    standardize: bool
    def __init__(
        self,
        n_features_to_select: int | float | Literal["auto"] | None = None,
        variance: float | None = None,
        r2: float | None = None,
        n_swaps: int = 0,
        standardize: bool = True,
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        redundancy: float | None = 0.8,
        missing: Literal["refuse", "drop-columns", "mean", "median"] = "refuse",
        include: Any = None,
        exclude: Any = None,
        scale: Literal["none", "standard", "minmax", "unit", "auto"] = "none",
        seeds: int | None = None,
        resample: int | None = None,
        groups: Mapping[str | int, Any] | Sequence[Any] | NDArray[Any] | None = None,
    ) -> None: ...
    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self: ...
    def set_fit_request(self, *, sample_weight: bool | str | None = ...) -> Self: ...

class SparseKMeans(Selector, method="sparsekm"):
    n_clusters: int
    bound: float | None
    n_permutations: int
    n_init: int
    max_iter: int
    tol: float
    def __init__(
        self,
        n_features_to_select: int | float | Literal["auto"] | None = "auto",
        n_clusters: int = 8,
        bound: float | None = None,
        n_permutations: int = 25,
        n_init: int = 10,
        max_iter: int = 20,
        tol: float = 0.0001,
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        redundancy: float | None = 0.8,
        missing: Literal["refuse", "drop-columns", "mean", "median"] = "refuse",
        include: Any = None,
        exclude: Any = None,
        scale: Literal["none", "standard", "minmax", "unit", "auto"] = "none",
        seeds: int | None = None,
        resample: int | None = None,
        groups: Mapping[str | int, Any] | Sequence[Any] | NDArray[Any] | None = None,
    ) -> None: ...
