"""Every option of every method through every door: the same result, or refused with a reason.

The doors are the native command, the selectors, `tamis.dask` and `select_genes`. Options come from the core's descriptions and
from the command's help, so a new one is walked, or fails here until somebody says where it is in Python.
"""

import re
import subprocess
import warnings

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from conftest import NATIVE, make, planted
from scipy import sparse
from test_doors import command

import tamis

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

pytestmark = [
    pytest.mark.skipif(not NATIVE.is_file(), reason=f"no native command at {NATIVE} (make build, or TAMIS_NATIVE)"),
    pytest.mark.filterwarnings("ignore"),  # each door warns in its own way
]

N, D, K = 120, 12, 4
NAMES = [f"c{j}" for j in range(D)]
METHODS = {method["name"]: method for method in tamis._core.methods()}
SPECIAL = {"sample": 60, "bound": 1.5, "scales": (2, 6), "dims": 2}  # values that the rule below would get wrong

# Where the other flags of `tamis select` are in Python.
PARAMETERS = {
    "--features": "n_features_to_select", "--scale": "scale", "--include": "include", "--exclude": "exclude",
    "--redundancy": "redundancy", "--missing": "missing", "--seed": "random_state", "--threads": "n_jobs",
    "--seeds": "seeds", "--resample": "resample", "--groups": "groups",
}  # fmt: skip
OF_SOME = {"--connectivity": "connectivity"}  # methods
ELSEWHERE = {
    **dict.fromkeys(
        ["--array", "--header", "--id", "--format", "--skip", "--thousands", "--transpose", "--labels"], "options of tamis.read"
    ),
    "--names": "X has names if it is a data frame",
    "--method": "the class, or `method` of select_genes",
    "--supervise": "supervised=True and y",
    "--sample-weight": "sample_weight of fit and of select_genes, for the methods that use weights",
    "--counts": "scanpy.pp.normalize_total and log1p",
    "--output": "report, to_frame and transform",
    "--json": "attributes of the selector",
    "--image": "report(image=)",
    "--figures": "tamis.plot.save_figures",
    "--checkpoint": "only the command resumes: a fit in Python returns when it is done",
    "--strict": "converged_, or warnings as errors",
    "--memory": "only the command limits the process",
    "--cpu": "TAMIS_CPU",
    "--config": "set_params",
    "--quiet": "warnings.filterwarnings",
    "--version": "tamis.__version__",
    "--help": "help(tamis.UFCM)",
}


# --- Values and doors ------------------------------------------------------------------------------------------------


def another(option):
    """A value that is allowed and not the default."""
    if option["name"] in SPECIAL:
        return SPECIAL[option["name"]]
    if option["type"] == "yes/no":
        return not option["default"]
    if option["type"] == "one of":
        return next(word for word in reversed(option["range"].split(", ")) if word != option["default"])
    if option["type"] == "integer":
        return 3 if option["default"] != 3 else 4
    return option["default"] / 2 if option["default"] else 0.5


def spelled(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ",".join(map(str, value)) if isinstance(value, tuple) else repr(value) if isinstance(value, float) else str(value)


def cases():
    for method in METHODS.values():
        for option in method["options"]:
            value = another(option)
            yield pytest.param(method["name"], option, value, id=f"{method['name']}-{option['name']}")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A path, and the same table as a frame."""
    frame = pd.DataFrame(planted(N, D, seed=8) * np.where(np.arange(D) % 4 == 3, 20, 1), columns=NAMES)
    path = tmp_path_factory.mktemp("parity") / "x.csv"
    frame.to_csv(path, index=False, float_format="%.17g")
    return path, frame


def clusters_of(name, given):
    has = any(option["name"] == "clusters" for option in METHODS[name]["options"])
    return {"n_clusters": 3} if has and "n_clusters" not in given else {}


def by_command(table, name, *words):
    given = {"n_clusters": 0} if "--clusters" in words else {}
    clusters = ["-c", 3] if clusters_of(name, given) else []
    return command(table[0], "-m", name, "-k", K, *clusters, *words)


def by_selector(X, name, module=tamis, **options):
    kind = getattr(module, METHODS[name]["python_name"])
    return kind(**{"n_features_to_select": K, **clusters_of(name, options), **options}).fit(X)


def by_genes(frame, name, **options):
    adata = ad.AnnData(frame.to_numpy(), var=pd.DataFrame(index=frame.columns))
    return tamis.select_genes(adata, K, method=name, inplace=False, **clusters_of(name, options), **options)


def same_scores(scores, printed):
    assert [None if np.isnan(one) else one for one in scores] == printed["scores"]


def same(selector, printed):
    same_scores(selector.scores_, printed)
    order = np.argsort(selector.ranking_)
    assert [j for j in order if selector.get_support()[j]] == printed["selected"]


def walk(table, name, words, options, genes=None):
    """The four doors; `genes`: the options of select_genes if they are others."""
    printed, (_, frame) = by_command(table, name, *words), table
    same(by_selector(frame, name, **options), printed)
    if METHODS[name]["remote"]:
        with dask.config.set(scheduler="synchronous"):
            parts = da.from_array(frame.to_numpy(), chunks=(50, -1))
            positions = {key: [NAMES.index(one) for one in options[key]] for key in ("include", "exclude") if key in options}
            same(by_selector(parts, name, tamis.dask, **{**options, **positions}), printed)
    else:
        assert not hasattr(tamis.dask, METHODS[name]["python_name"])
    found = by_genes(frame, name, **(options if genes is None else genes))
    same_scores(found["tamis_score"], printed)
    assert sorted(np.flatnonzero(found["tamis_selected"])) == sorted(printed["selected"])
    return printed


# --- The walk --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, option, value", list(cases()))
def test_every_option_of_every_method(table, name, option, value):
    printed = walk(table, name, [f"--{option['name']}", spelled(value)], {option["python_name"]: value})
    shown = printed["options"][option["name"]]
    assert shown == (list(value) if isinstance(value, tuple) else value), "the option was used"


SHARED = [
    (["--scale", "standard"], {"scale": "standard"}),
    (["--scale", "unit"], {"scale": "unit"}),
    (["--include", "c11,c7"], {"include": ["c11", "c7"]}),
    (["--exclude", "c0,c5"], {"exclude": ["c0", "c5"]}),
    (["--seed", "7"], {"random_state": 7}),
]


@pytest.mark.parametrize("words, options", SHARED, ids=lambda one: "".join(one) if isinstance(one, list) else "")
def test_options_that_all_methods_share(table, name, words, options):
    walk(table, name, words, options)


@pytest.mark.parametrize("word, value", [("0.5", 0.5), ("off", None)])
def test_redundancy(table, name, word, value):
    printed = by_command(table, name, "--redundancy", word)
    same(selector := by_selector(table[1], name, redundancy=value), printed)
    groups = [] if value is None else [group.tolist() for group in selector.redundancy_groups_]
    assert groups == [group["features"] if isinstance(group, dict) else group for group in groups_in(printed)]
    with pytest.raises(ValueError, match="has no option redundancy"):
        by_genes(table[1], name, redundancy=value)


def groups_in(printed):
    found = printed.get("redundancy") or printed["report"].get("redundancy") or {}
    return found.get("groups", [])


def test_missing_values(table, name, tmp_path):
    frame = table[1].copy()
    frame.iloc[[3, 8], [2, 6]] = np.nan
    frame.to_csv(tmp_path / "x.csv", index=False, float_format="%.17g")
    same(by_selector(frame, name, missing="mean"), by_command((tmp_path / "x.csv", frame), name, "--missing", "mean"))
    if METHODS[name]["remote"]:
        with pytest.raises(ValueError, match="missing = 'mean' changes numbers in memory only"):
            by_selector(da.from_array(frame.to_numpy()), name, tamis.dask, missing="mean")
    with pytest.raises(ValueError, match="has no option missing"):
        by_genes(frame, name, missing="mean")


def test_labels(table, name, tmp_path):
    frame, y = table[1], np.arange(N) % 3
    if not METHODS[name]["takes_classes"]:
        with pytest.raises(TypeError, match="supervised"):
            by_selector(frame, name, supervised=True)
        return
    frame.assign(y=y).to_csv(tmp_path / "x.csv", index=False, float_format="%.17g")
    printed = by_command((tmp_path / "x.csv", frame), name, "--supervise", "y")
    selector = make(name, n_features_to_select=K, supervised=True)
    same(selector.fit(frame, y), printed)
    on_dask = getattr(tamis.dask, METHODS[name]["python_name"])(**selector.get_params())
    same(on_dask.fit(da.from_array(frame.to_numpy()), da.from_array(y)), printed)
    with pytest.raises(ValueError, match="has no option supervised"):
        by_genes(frame, name, supervised=True)


def test_a_given_graph(table, name, tmp_path):
    frame, method = table[1], METHODS[name]
    squared = ((frame.to_numpy()[:, None] - frame.to_numpy()[None]) ** 2).sum(axis=2)
    W = sparse.csr_matrix(np.where(squared < np.quantile(squared, 0.1), 1.0, 0.0))
    sparse.save_npz(tmp_path / "w.npz", W)
    adata = ad.AnnData(frame.to_numpy(), obsp={"W": W})
    more = clusters_of(name, {})
    if method["graph_options"]:
        printed = by_command(table, name, "--connectivity", tmp_path / "w.npz")
        same(by_selector(frame, name, connectivity=W), printed)
        for graph in ("W", W, W.toarray()):
            found = tamis.select_genes(adata, K, method=name, inplace=False, connectivity=graph, **more)
            same_scores(found["tamis_score"], printed)
        with pytest.raises(AttributeError, match=f"tamis.dask has no {method['python_name']}, which needs all rows in one place"):
            getattr(tamis.dask, method["python_name"])
        with pytest.raises(ValueError, match="every method sees X alone"):
            tamis.compare(frame, methods=name, options={name: {"connectivity": W}})
        return
    words = [NATIVE, "select", table[0], "-m", name, "--connectivity", tmp_path / "w.npz"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "uses no graph of the rows" in done.stderr
    for module in (tamis, tamis.dask) if method["remote"] else (tamis,):
        with pytest.raises(TypeError, match="connectivity"):
            by_selector(frame, name, module, connectivity=W)
    with pytest.raises(ValueError, match="uses no graph of the cells, need one of lapscore, spec, mcfs, ndfs, rufs"):
        tamis.select_genes(adata, K, method=name, connectivity="W")


def test_weights(table, name, tmp_path):
    frame, weights = table[1], np.array([0, 1, 2.5, 1])[np.arange(N) % 4]
    frame.assign(w=weights).to_csv(tmp_path / "x.csv", index=False, float_format="%.17g")
    kind = getattr(tamis, METHODS[name]["python_name"])
    if not METHODS[name]["weighs"]:
        words = [NATIVE, "select", tmp_path / "x.csv", "-m", name, "-k", K, "--sample-weight", "w"]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=60)
        assert done.returncode == 2 and "ufcm, maxvar, css" in done.stderr, done.stderr
        with pytest.raises(TypeError, match="sample_weight"):
            kind().fit(frame, sample_weight=weights)
        assert not hasattr(kind, "set_fit_request")
        with pytest.raises(ValueError, match="does not use sample_weight, need ufcm, maxvar, css"):
            by_genes(frame, name, sample_weight=weights)
        return
    printed = by_command((tmp_path / "x.csv", frame), name, "--sample-weight", "w")
    assert printed["options"]["sample_weight"] == {"rows": 90, "total": weights.sum()}
    options = {"n_features_to_select": K, **clusters_of(name, {})}
    same(kind(**options).fit(frame, sample_weight=weights), printed)
    with dask.config.set(scheduler="synchronous"):
        on_dask = getattr(tamis.dask, METHODS[name]["python_name"])(**options)
        parts = da.from_array(frame.to_numpy(), chunks=(50, -1))
        same(on_dask.fit(parts, sample_weight=da.from_array(weights)), printed)
    same_scores(by_genes(frame, name, sample_weight=weights)["tamis_score"], printed)


def test_wrong_values_are_refused_by_every_door(table, name):
    for option in METHODS[name]["options"]:
        wrong, named = (("nosuch",) * 2 if option["type"] == "one of" else ("-1", -1)), option["python_name"]
        if option["type"] == "list of integers":
            wrong = ("-1", (-1,))
        words = [NATIVE, "select", table[0], "-m", name, f"--{option['name']}", wrong[0]]
        assert subprocess.run(words, capture_output=True, timeout=60).returncode == 2, option["name"]
        for fit in (by_selector, by_genes):
            with pytest.raises(ValueError, match=named):
                fit(table[1], name, **{named: wrong[1]})


def test_every_flag_has_its_place_in_python(name):
    done = subprocess.run([NATIVE, "select", "-m", name, "--help"], capture_output=True, text=True, timeout=60)
    flags = set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", done.stdout, re.MULTILINE))
    own = {f"--{option['name']}" for option in METHODS[name]["options"]}
    assert own <= flags
    unknown = flags - own - set(PARAMETERS) - set(OF_SOME) - set(ELSEWHERE)
    assert not unknown, f"{unknown}: make them parameters of the selectors, or say in ELSEWHERE where they are in Python"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parameters = set(make(name).get_params())
    assert set(PARAMETERS.values()) <= parameters
    assert ("connectivity" in parameters) == bool(METHODS[name]["graph_options"])
