"""Ranks and selects the genes of an AnnData in place.

The matrix goes to the core as it is in memory. This module adds the single-cell side: names, batches, and where the results
are written.
"""

import numbers
import sys
from typing import NamedTuple

import numpy as np
from scipy import sparse

from . import _core
from ._backed import BackedRows, CopiedRows
from ._core_data import core_data
from ._inputs import feature_groups, graph_of, graph_weights, row_weights
from ._running import progress_for, repeats, seed_of, thread_count, warn_all

_METHODS = {method["name"]: method for method in _core.methods()}
_PYTHON_NAMES = {method["python_name"]: method["name"] for method in _METHODS.values()}

_SAMPLED_ROWS = 1000  # rows checked for raw counts
_LARGEST_CODE = 2  # integers up to this may be presence markers or genotypes
_CHUNK = 1 << 20  # numbers checked at a time, to keep the memory for checks small
_TIE = 1e-9  # relative to the largest score, as in the core


def select_genes(
    adata,
    n_top=2000,
    *,
    batch_key=None,
    include=None,
    exclude=None,
    groups=None,
    layer=None,
    method="guided",
    n_clusters=None,
    scale="none",
    random_state=0,
    n_jobs=None,
    verbose=0,
    inplace=True,
    key_added=None,
    gene_symbols=None,
    seeds=None,
    resample=None,
    connectivity=None,
    sample_weight=None,
    **options,
):
    """Select the genes that carry the structure of the cells.

    Expects normalized, log-transformed values. ``adata.X`` (or the layer) is never modified and never made dense;
    sparse rows (CSR) of float32 or float64 are read in place. ``adata.raw`` is not used.

    Parameters
    ----------
    adata : AnnData
        Cells x genes, at least 2 cells. A view becomes a copy when the result is written to it, as always in anndata.
        If the file is opened in backed mode, the matrix is never loaded: guided and maxvar read the rows in pieces from the
        file, the other methods from a temporary copy on disk (in TMPDIR). A matrix stored by columns (CSC) is rejected.
    n_top : int or "auto", default=2000
        Number of genes to select, including those of `include`. "auto": chosen by the alignment with the groups of
        cells (not with `batch_key`).
    batch_key : str, default=None
        Column of ``.obs``. The method then runs on each batch separately, and genes are ordered by the median of
        their ranks over the batches, then by the mean, then by position. Within a batch, genes with equal scores share
        the mean of their ranks; genes that are constant there share the last ranks. Batches with fewer than
        ``max(2, n_clusters)`` cells, or in which nothing varies, are skipped with a warning.
    include, exclude : list of names, boolean mask over the genes, or name of a boolean column of ``.var``; default=None
        Genes that are always selected, and genes that are hidden from the method (they may contain any values, even
        NaN). A name refers to every gene with that name.
    groups : dict, one group per gene, or name of a column of ``.var``; default=None
        Genes that are selected as one, by name, or a group for every gene (None or NaN: by itself). `n_top` then counts
        groups. Not with `batch_key`.
    layer : str, default=None
        The layer to use instead of ``.X``.
    method : str, default="guided"
        The method, by its name in the command or in Python: "lapscore" or "LaplacianScore".
    n_clusters : int or None, default=None
        Number of clusters, for methods that use it. None: guided does not need it, others use their default.
    scale : {"none", "standard", "minmax", "unit", "auto"}, default="none"
        Divide genes by their standard deviation or range, or cells by their norm, on reading; per batch if there are
        batches. Nothing is shifted, so sparse data stay sparse.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the method's random numbers, the same for every batch.
    n_jobs : int or None, default=None
        Threads. None: all cores, but one inside a joblib worker. Results do not depend on it.
    verbose : int, default=0
        1 shows a line of progress on standard error.
    inplace : bool, default=True
        Write the result to `adata`; otherwise return it and leave `adata` unchanged.
    key_added : str, default=None
        What the columns in ``.var`` are called: with "highly_variable" they are ``highly_variable`` (the selected genes, as
        scanpy and the functions after it expect), ``highly_variable_score``, ``highly_variable_rank``, ... None:
        ``tamis_selected``, ``tamis_score``, ``tamis_rank``, ...
    gene_symbols : str, default=None
        Column of ``.var`` with the names that `include` and `exclude` use. None: ``.var_names``.
    seeds, resample : int or None, default=None
        Number of further runs that measure how stable the selection is: with the seeds after `random_state` (the first of
        so many is the selection itself), or on random halves of the cells. At most one of them, 2..1000, not with
        `batch_key`. See docs/stability.md.
    connectivity : str, sparse matrix or array of shape (n_obs, n_obs), default=None
        Graph of the cells that lapscore, spec, mcfs, ndfs and rufs use in place of one of nearest cells: a key of ``.obsp``, such
        as "connectivities" after ``scanpy.pp.neighbors``, or symmetric weights. With `batch_key`, the edges within each batch.
        See docs/graph.md.
    sample_weight : name of a column of ``.obs``, or array of shape (n_obs,); default=None
        Weights of the cells, at least 0, for a method that uses them (ufcm, maxvar, css): a cell of weight w counts as w
        cells. Batches with fewer than two cells of positive weight are skipped.
    **options
        Further options of the method, named as in its selector: ``alpha=0.5``, ``n_neighbors=10``.

    Returns
    -------
    None or DataFrame
        With ``inplace=False``, a frame indexed by gene with the columns that are otherwise written to ``.var``:

        ``tamis_score`` (float)
            Higher is better. The score of the method; with `batch_key`, the negated median rank. NaN for excluded genes.
        ``tamis_rank`` (float)
            A permutation of 1 .. the number of genes not excluded, 1 is best. NaN for excluded genes.
        ``tamis_selected`` (bool)
            True for exactly `n_top` genes: those of `include`, and the best of the rest.
        ``tamis_share``, ``tamis_evidence`` (float)
            With guided and without `batch_key`: the fraction of a gene's variance between the groups of cells, and its
            p-value (see `GuidedUFCM`).
        ``tamis_frequency``, ``tamis_rank_low``, ``tamis_rank_high`` (float)
            With `seeds` or `resample`: the fraction of the runs that select the gene, and its lowest and highest rank in
            the middle 90 % of them (in all if they are fewer than 20). NaN for excluded genes.

        ``.uns["tamis"]``, or ``.uns["tamis_KEY"]`` with ``key_added="KEY"``, describes the run: ``version, method, n_top, scale,
        random_state, params`` (the options),
        ``resolved`` (values determined from the data: an array each, one number per batch), ``warnings``; also ``layer``,
        ``connectivity`` (the key, or "matrix"), ``sample_weight`` (the column, or "array") and ``batches`` (``key, names,
        n_obs, skipped``) if given, and ``stability`` (``by, runs, rows, counts, text`` and, unless all genes are selected,
        ``index, variance, interval``). Options that are None are left out.

    Warns
    -----
    UserWarning
        If the values look like raw counts: in 1000 evenly spaced rows (all rows, if fewer) every value is a
        non-negative integer and some are above 2.

    Examples
    --------
    >>> tamis.select_genes(adata, n_top=2000)
    >>> adata = adata[:, adata.var["tamis_selected"]].copy()
    """
    _require_anndata(adata)
    method = _method_named(method)
    options, init = _checked_options(method, n_clusters, options, adata.n_obs)
    key = _checked_key(key_added)
    names = _symbols(adata, gene_symbols)
    included = _gene_mask(adata, include, "include", names)
    excluded = _gene_mask(adata, exclude, "exclude", names)
    grouped = _gene_groups(adata, groups, batch_key)
    weights = _cell_weights(adata, sample_weight)
    _check_counts(adata, n_top, included if grouped is None else np.zeros_like(included), excluded, batch_key)
    _check_repeats(seeds, resample, batch_key)
    graph = _graph(adata, connectivity, method)
    X, look = _matrix(adata, layer, method, excluded)
    early = look.warnings()
    warn_all(early, stacklevel=2)

    shared = {
        "options": options,
        "features": n_top if n_top == "auto" else int(n_top),
        "scale": scale,
        "include": np.flatnonzero(included).tolist(),
        "exclude": np.flatnonzero(excluded).tolist(),
        "seed": seed_of(random_state),
        "threads": thread_count(n_jobs),
        "words": {"features": "n_top", "--sample-weight": "sample_weight"},
        "seeds": repeats(seeds, "seeds"),
        "resample": repeats(resample, "resample"),
        "groups": grouped,
    }
    by_cell = _ByCell(init, graph, weights)
    if batch_key is None:
        result = _run(method, X, None, by_cell, shared, verbose, method["python_name"])
        score, order, batches, reports = result["scores"], result["ranking"], None, [result["report"]]
        guidance, stability = result["guidance"] or {}, result["stability"]
        n_top = len(result["selected"])
        if grouped is not None:
            included = np.isin(np.arange(adata.n_vars), result["selected"])
        found = list(result["warnings"])
    else:
        score, order, batches, reports, found = _over_batches(adata, method, X, batch_key, by_cell, shared, verbose)
        guidance, stability = {}, None
    found = look.warnings()[len(early) :] + found
    warn_all(found, stacklevel=2)

    columns = _columns(score, order, included, int(n_top), key)
    for name in ("share", "evidence"):
        if guidance.get(name) is not None:
            columns[f"{key or 'tamis'}_{name}"] = guidance[name]
    for name in ("frequency", "rank_low", "rank_high"):
        if stability is not None:
            columns[f"{key or 'tamis'}_{name}"] = np.where(np.isnan(score), np.nan, stability[name])
    if not inplace:
        import pandas

        return pandas.DataFrame(columns, index=adata.var_names)
    about = _description(method, options, init, shared, reports, [message for _, message in early + found])
    if connectivity is not None:
        about["connectivity"] = connectivity if isinstance(connectivity, str) else "matrix"
        about["params"] = {name: value for name, value in about["params"].items() if name not in method["graph_options"]}
    if layer is not None:
        about["layer"] = layer
    if sample_weight is not None:
        about["sample_weight"] = sample_weight if isinstance(sample_weight, str) else "array"
    if key is not None:
        about["key_added"] = key
    if batches is not None:
        about["batches"] = batches
    if stability is not None:
        about["stability"] = _about_stability(stability)
    for name, values in columns.items():
        adata.var[name] = values
    adata.uns["tamis" if key is None else f"tamis_{key}"] = about
    return None


# --- What was asked for -----------------------------------------------------------------------------------------------


def _require_anndata(adata):
    anndata = sys.modules.get("anndata")  # if it is not loaded, nothing can be an AnnData
    if anndata is None or not isinstance(adata, anndata.AnnData):
        raise TypeError(f"select_genes: adata is of type {type(adata).__name__}, need an AnnData")


def _method_named(name):
    found = _METHODS.get(_PYTHON_NAMES.get(name, name)) if isinstance(name, str) else None
    if found is None:
        raise ValueError(f"select_genes: method = {name!r}, need one of {', '.join([*_METHODS, *_PYTHON_NAMES])}")
    return found


def _checked_options(method, n_clusters, given, n_obs):
    """The options by their Python names, defaults filled in, and the initial label matrix or None."""
    options = {option["python_name"]: option["default"] for option in method["options"]}
    init = given.pop("init", "kmeans") if method["takes_init"] else "kmeans"
    if n_clusters is not None and "n_clusters" in options:
        options["n_clusters"] = n_clusters
    elif n_clusters is not None:
        given = {"n_clusters": n_clusters, **given}
    for name in given:
        if name not in options:
            known = [*options, *(["init"] if method["takes_init"] else [])]
            there_is = f"need one of {', '.join(known)}" if known else "it has no options"
            raise ValueError(f"select_genes: {method['python_name']} has no option {name}, {there_is}")
    return {**options, **given}, _checked_init(init, n_obs)


def _checked_init(init, n_obs):
    if isinstance(init, str) and init == "kmeans":
        return None
    init = np.ascontiguousarray(init, dtype=np.float64) if not isinstance(init, str) else np.empty(0)
    if init.ndim != 2 or len(init) != n_obs:
        raise ValueError(f"select_genes: init must be 'kmeans' or an array of shape (n_obs = {n_obs}, n_clusters)")
    return init


def _checked_key(key_added):
    if key_added is not None and (not isinstance(key_added, str) or not key_added or "/" in key_added):
        raise ValueError(f"select_genes: key_added = {key_added!r}, need None or a name for columns of .var")
    return key_added


def _symbols(adata, gene_symbols):
    """The names by which genes are included and excluded."""
    if gene_symbols is None:
        return adata.var_names
    if gene_symbols not in adata.var.columns:
        known = ", ".join(map(str, adata.var.columns)) or "none"
        raise ValueError(f"select_genes: gene_symbols = {gene_symbols!r} is not a column of .var (there are: {known})")
    import pandas

    return pandas.Index(adata.var[gene_symbols].astype(object), dtype=object)


def _gene_mask(adata, genes, what, symbols):
    """The genes as a boolean array, from names, a mask or the name of a column of `.var`."""
    if genes is None:
        return np.zeros(adata.n_vars, dtype=bool)
    if isinstance(genes, str):
        return _mask_column(adata, genes, what)
    index = getattr(genes, "index", None)
    values = genes.to_numpy() if hasattr(genes, "to_numpy") else np.asarray(list(genes), dtype=object)
    if len(values) and all(isinstance(value, (bool, np.bool_)) for value in values):
        if len(values) != adata.n_vars:
            raise ValueError(f"select_genes: {what} is a mask of {len(values)}, need n_vars = {adata.n_vars}")
        if hasattr(index, "equals") and type(index).__name__ != "RangeIndex" and not index.equals(adata.var_names):
            raise ValueError(f"select_genes: {what} is a mask whose index differs from var_names")
        return values.astype(bool)
    return _mask_of_names(symbols, values, what)


def _gene_groups(adata, groups, batch_key):
    """The group of each gene; None without groups."""
    if groups is None:
        return None
    if batch_key is not None:
        raise ValueError("select_genes: groups with batch_key, need one of them")
    if isinstance(groups, str):
        if groups not in adata.var.columns:
            raise ValueError(f"select_genes: groups = {groups!r} is not a column of .var")
        groups = adata.var[groups].to_numpy(dtype=object)
    return feature_groups(groups, adata.var_names, adata.n_vars, "select_genes")


def _graph(adata, connectivity, method):
    """The weights of the edges between cells, for the core to check; None without a graph."""
    if connectivity is None:
        return None
    if not method["graph_options"]:
        able = ", ".join(one["name"] for one in _METHODS.values() if one["graph_options"])
        raise ValueError(f"select_genes: {method['python_name']} uses no graph of the cells, need one of {able} for connectivity")
    connectivity = graph_of(connectivity, adata, "select_genes")
    graph_weights(connectivity, adata.n_obs, "select_genes")
    return connectivity.tocsr() if sparse.issparse(connectivity) else np.asarray(connectivity)


def _cell_weights(adata, sample_weight):
    """The weight of each cell; None without weights."""
    if isinstance(sample_weight, str):
        if sample_weight not in adata.obs.columns:
            raise ValueError(f"select_genes: sample_weight = {sample_weight!r} is not a column of .obs")
        sample_weight = adata.obs[sample_weight]
    return row_weights(sample_weight, adata.n_obs, "select_genes")


def _mask_column(adata, column, what):
    if column not in adata.var.columns:
        raise ValueError(
            f"select_genes: {what} = {column!r} is not a column of .var (give a single gene as a list: [{column!r}])"
        )
    values = adata.var[column]
    if values.dtype != bool and (str(values.dtype) != "boolean" or values.isna().any()):
        raise ValueError(f"select_genes: {what} = {column!r} is a column of {values.dtype}, need True or False")
    return values.to_numpy(dtype=bool)


def _mask_of_names(symbols, names, what):
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"select_genes: {what} contains {name!r}, need gene names, or one boolean per gene")
    mask = np.asarray(symbols.isin(names), dtype=bool)
    known = set(symbols[mask])
    unknown = [name for name in dict.fromkeys(names) if name not in known]
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        among = f"{len(symbols)} {symbols.name if symbols.name else 'var_names'}"
        raise ValueError(
            f"select_genes: {what}: {unknown[0]!r}{more} not among the {among}"
            + _core.did_you_mean(unknown[0], [name for name in symbols if isinstance(name, str)])
        )
    return mask


def _check_counts(adata, n_top, included, excluded, batch_key):
    if adata.n_obs < 2:
        raise ValueError(f"select_genes: {adata.n_obs} row{'' if adata.n_obs == 1 else 's'}, need at least 2")
    both = np.flatnonzero(included & excluded)
    if len(both):
        raise ValueError(f"select_genes: gene {adata.var_names[both[0]]!r} is both included and excluded, need one")
    available = adata.n_vars - int(excluded.sum())
    if isinstance(n_top, str) and n_top == "auto":
        if batch_key is not None:
            raise ValueError("select_genes: n_top = 'auto' with batch_key, need a number of genes")
        return
    if not isinstance(n_top, numbers.Integral) or isinstance(n_top, bool) or not 1 <= n_top <= available:
        raise ValueError(f"select_genes: n_top = {n_top!r}, need 1..{available}, the number of genes not excluded")
    if n_top < included.sum():
        raise ValueError(f"select_genes: n_top = {n_top}, need at least the {included.sum()} included")


def _check_repeats(seeds, resample, batch_key):
    given = [name for name, wanted in (("seeds", seeds), ("resample", resample)) if wanted is not None]
    if given and batch_key is not None:
        raise ValueError(f"select_genes: {given[0]} with batch_key: ranks over batches are not repeated, need one of them")


# --- The matrix -------------------------------------------------------------------------------------------------------


def _matrix(adata, layer, method, excluded):
    """The numbers (CSR, array, or rows in a file) and the object that checks them."""
    if layer is not None and layer not in adata.layers:
        raise ValueError(f"select_genes: layer = {layer!r}, need one of {sorted(adata.layers)}")
    X, where = (adata.X, "X") if layer is None else (adata.layers[layer], f"layer {layer!r}")
    look = _Look(adata, excluded, where)
    in_memory = isinstance(X, np.ndarray) or sparse.issparse(X)
    if adata.isbacked and not in_memory:
        _require_numbers(X, where)
        if not BackedRows.can_hold(X):
            raise ValueError(
                f"select_genes: {where} is stored by columns (CSC) in {adata.filename.name!r}, which cannot be read by rows; "
                "load it with adata.to_memory(), or write the file with compressed sparse rows (adata.X.tocsr())"
            )
        rows = BackedRows(X, look)
        return rows if method["one_pass"] else CopiedRows(rows, str(adata.filename)), look
    elif not in_memory:
        kind = type(X).__name__
        raise ValueError(f"select_genes: {where} is of type {kind}, need a NumPy array or a SciPy sparse matrix")
    _require_numbers(X, where)
    X = X.tocsr() if sparse.issparse(X) else np.asarray(X)
    look(np.arange(adata.n_obs), X)
    return X, look


def _require_numbers(X, where):
    if X.dtype.kind not in "fiub":
        raise ValueError(f"select_genes: {where} holds elements of type {X.dtype}, need real numbers")


class _Look:
    """Checks the numbers before the method sees them: rejects values that are not finite, and detects raw counts.

    Raw counts are non-negative integers in up to _SAMPLED_ROWS evenly spaced rows, with some above _LARGEST_CODE.
    """

    def __init__(self, adata, excluded, where):
        self._adata, self._excluded, self._where = adata, excluded, where
        sampled = np.linspace(0, adata.n_obs - 1, min(_SAMPLED_ROWS, adata.n_obs)).round().astype(np.int64)
        self._sampled = np.unique(sampled)
        self._whole, self._largest = True, 0

    def __call__(self, rows, X):
        """`X` holds these rows of the table, in increasing order."""
        self._check_finite(rows, X)
        for at in np.flatnonzero(np.isin(rows, self._sampled, assume_unique=True)):
            if self._whole:
                self._see(X.data[X.indptr[at] : X.indptr[at + 1]] if sparse.issparse(X) else X[at])

    def warnings(self):
        """Warnings about the rows seen so far, as the core gives them: kind and message."""
        if not self._whole or self._largest <= _LARGEST_CODE:
            return []
        message = (
            f"select_genes: {self._where} looks like raw counts; normalize first: "
            "scanpy.pp.normalize_total(adata, target_sum=1e4), then scanpy.pp.log1p(adata)"
        )
        return [("general", message)]

    def _see(self, values):
        if len(values) == 0:
            return
        if values.min() < 0 or (values.dtype.kind == "f" and (values != np.floor(values)).any()):
            self._whole = False
        self._largest = max(self._largest, values.max())

    def _check_finite(self, rows, X):
        """Rejects the first value that is not finite, with its row and column in the table; excluded genes are ignored."""
        if X.dtype.kind != "f":
            return
        for at, column, value in _not_finite(X):
            if not self._excluded[column]:
                row, names = rows[at], self._adata.var_names
                raise ValueError(
                    f"select_genes: {self._where}, row {row} ({self._adata.obs_names[row]!r}), column {column} "
                    f"({names[column]!r}): {value}, need finite numbers"
                )


def _not_finite(X):
    if sparse.issparse(X):
        for begin in range(0, len(X.data), _CHUNK):
            for at in begin + np.flatnonzero(~np.isfinite(X.data[begin : begin + _CHUNK])):
                yield int(np.searchsorted(X.indptr, at, side="right")) - 1, int(X.indices[at]), X.data[at]
        return
    step = max(1, _CHUNK // max(1, X.shape[1]))
    for begin in range(0, len(X), step):
        block = X[begin : begin + step]
        for row, column in np.argwhere(~np.isfinite(block)):
            yield begin + int(row), int(column), block[row, column]


def _rows_of(X, rows):
    """Some rows (None: all) for the core; in place if they are contiguous and need no conversion."""
    if isinstance(X, (BackedRows, CopiedRows)):
        return X.source(rows)
    if rows is None:
        return core_data(X)
    begin, end = int(rows[0]), int(rows[-1]) + 1
    if end - begin != len(rows):
        return core_data(X[rows])
    if not sparse.issparse(X) or X.dtype not in (np.float32, np.float64) or not X.has_canonical_format:
        return core_data(X[begin:end])
    offsets, columns, values, width = core_data(X)
    return offsets[begin : end + 1], columns, values, width


# --- Running ----------------------------------------------------------------------------------------------------------


class _ByCell(NamedTuple):
    """What belongs to single cells: first labels, a graph, weights; each None where it is not given."""

    init: np.ndarray | None
    graph: object
    weights: np.ndarray | None

    def keywords(self, rows):
        """For the core, of these cells; None: of all."""
        init, graph, weights = self
        if rows is not None:
            init, weights = (one if one is None else np.ascontiguousarray(one[rows]) for one in (init, weights))
            graph = None if graph is None else graph[rows][:, rows]
        return {"init": init, "weights": weights, "connectivity": None if graph is None else core_data(graph)}


def _run(method, X, rows, by_cell, shared, verbose, name):
    progress = progress_for(verbose, name)
    try:
        return _core.select(method["name"], _rows_of(X, rows), progress=progress, **by_cell.keywords(rows), **shared)
    finally:
        if progress:
            progress.close()


def _over_batches(adata, method, X, batch_key, by_cell, shared, verbose):
    """The negated median ranks, the order, the batches, their reports and warnings."""
    need = _rows_needed(shared["options"])
    ranks, used, skipped, reports, found = [], [], [], [], []
    for name, rows in _batches(adata, batch_key):
        if len(rows) < need:
            skipped.append((name, f"{len(rows)} row{'' if len(rows) == 1 else 's'}, need at least {need}"))
            continue
        weights = by_cell.weights
        if weights is not None and (weighed := int((weights[rows] > 0).sum())) < need:
            skipped.append((name, f"{weighed} row{'' if weighed == 1 else 's'} of positive weight, need at least {need}"))
            continue
        try:
            result = _run(method, X, rows, by_cell, shared, verbose, f"{method['python_name']} {name}")
        except _core.NoVariation:
            skipped.append((name, "no variation"))
            continue
        ranks.append(_shared_ranks(result["scores"]))
        used.append((name, len(rows)))
        reports.append(result["report"])
        found += [(kind, f"batch {name!r}: {message}") for kind, message in result["warnings"]]
    if not ranks:
        reasons = "; ".join(f"{name!r}: {reason}" for name, reason in skipped[:3])
        raise ValueError(f"select_genes: batch_key = {batch_key!r}: all {len(skipped)} batches were skipped; {reasons}")
    found = [("general", f"batch {name!r} was skipped: {reason}") for name, reason in skipped] + found
    score, order = _median_order(np.array(ranks))
    about = {
        "key": batch_key,
        "names": np.array([name for name, _ in used], dtype=object),
        "n_obs": np.array([count for _, count in used], dtype=np.int64),
        "skipped": np.array([name for name, _ in skipped], dtype=object),
    }
    return score, order, about, reports, found


def _rows_needed(options):
    n_clusters = options.get("n_clusters")
    return max(2, n_clusters) if isinstance(n_clusters, numbers.Integral) else 2  # the core rejects anything else


def _batches(adata, batch_key):
    """The name and the rows of each batch, by name."""
    if batch_key not in adata.obs.columns:
        raise ValueError(f"select_genes: batch_key = {batch_key!r} is not a column of .obs")
    column = adata.obs[batch_key]
    missing = np.flatnonzero(column.isna())
    if len(missing):
        raise ValueError(f"select_genes: .obs[{batch_key!r}] is missing for {len(missing)} rows, the first is row {missing[0]}")
    codes, names = column.factorize(sort=True)
    rows = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    return [(str(name), one) for name, one in zip(names, rows)]


def _shared_ranks(scores):
    """Ranks from 1, where equal scores share the mean of their ranks; NaN for NaN.

    Scores closer than 1e-9 of the largest are equal, as in the core: a run of them begins at its highest.
    """
    ranks = np.full(len(scores), np.nan)
    available = np.flatnonzero(~np.isnan(scores))
    order = available[np.argsort(-scores[available], kind="stable")]
    falling = -scores[order]
    tie = _TIE * np.abs(falling).max()
    begin = 0
    while begin < len(order):
        end = max(begin + 1, int(np.searchsorted(falling, falling[begin] + tie, side="right")))
        ranks[order[begin:end]] = (begin + 1 + end) / 2
        begin = end
    return ranks


def _median_order(ranks):
    """The negated median rank of each gene, and the genes by median, mean, position; `ranks` is batches x genes."""
    median = np.median(ranks, axis=0)
    order = np.lexsort((ranks.mean(axis=0), median))  # stable: then by position
    return -median, order[~np.isnan(median[order])]


# --- The result -------------------------------------------------------------------------------------------------------


def _columns(score, order, included, n_top, key):
    rank = np.full(len(score), np.nan)
    rank[order] = np.arange(1, len(order) + 1)
    others = order[~included[order]][: n_top - int(included.sum())]
    selected = included.copy()
    selected[others] = True
    values = {"score": np.array(score, dtype=np.float64), "rank": rank, "selected": selected}
    if key is None:
        return {f"tamis_{name}": value for name, value in values.items()}
    return {key: selected, f"{key}_score": values["score"], f"{key}_rank": rank}


def _about_stability(stability):
    """All but the numbers of single genes, which are in `.var`."""
    about = {name: stability[name] for name in ("by", "runs", "rows", "counts", "text")}
    if stability["index"] is not None:
        about |= {name: stability[name] for name in ("index", "variance")}
        about["interval"] = np.array(stability["interval"])
    return about


def _description(method, options, init, shared, reports, messages):
    """The contents of `.uns`: only what an .h5ad file can store, so nothing is None."""
    params = {name: np.array(value) if isinstance(value, tuple) else value for name, value in options.items()}
    params = {name: value for name, value in params.items() if value is not None}
    if method["takes_init"]:
        params["init"] = "kmeans" if init is None else "array"
    names = dict.fromkeys(name for report in reports for name in report["resolved"])
    resolved = {name: np.array([report["resolved"].get(name, np.nan) for report in reports]) for name in names}
    return {
        "version": _core.version,
        "method": method["name"],
        "n_top": shared["features"],
        "scale": shared["scale"],
        "random_state": shared["seed"],
        "params": params,
        "resolved": resolved,
        "warnings": np.array(messages, dtype=object),
    }
