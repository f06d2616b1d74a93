"""Comparison and evaluation: the numbers of the command, and the frame around them."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

import tamis
from tamis.metrics import redundancy

pytestmark = pytest.mark.filterwarnings("ignore:column standard deviations differ")
MEASURES = ("accuracy", "nmi", "adjusted_rand")
# The native command where a build of it is named, else the one that the package brings.
COMMAND = [os.environ["TAMIS_COMMAND"]] if "TAMIS_COMMAND" in os.environ else [sys.executable, "-m", "tamis"]


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:300], y[:300]


@pytest.fixture
def files(digits, tmp_path):
    X, y = digits
    np.savez(tmp_path / "digits.npz", X=X, y=y)
    return tmp_path


def run_command(folder, *words):
    words = [*COMMAND, *words, "--json", "--quiet"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def measured(row, labelled=True):
    """The measures of a row of the frame in the form of the command's JSON."""
    out = {"features": row.n_features, "redundancy": row.redundancy}
    if labelled:
        out |= {name: {"mean": row[name], "sd": row[f"{name}_sd"]} for name in MEASURES}
        if pd.notna(row["accuracy_best"]):
            out["best"] = {name: row[f"{name}_best"] for name in MEASURES}
    return out


def difference(row):
    """The difference from the best method in the form of the command's JSON."""
    if pd.isna(row.against_best):
        return None
    return {"mean": row.against_best, "low": row.against_best_low, "high": row.against_best_high,
            "clear": row.against_best_clear}  # fmt: skip


def without(values, *keys):
    return {key: value for key, value in values.items() if key not in keys}


def rows_of(frame, name):
    return [row for _, row in frame[frame.method == name].iterrows()]


def check_against_command(frame, document, labelled):
    assert [one["name"] for one in document["methods"]] == list(frame.method.unique())[: len(document["methods"])]
    for method in document["methods"]:
        rows = rows_of(frame, method["name"])
        assert frame.attrs["selected"][method["name"]] == method["selected"]
        sizes = [without(size, "accuracy_p", "against_best") for size in method["sizes"]]
        assert [measured(row, labelled) for row in rows] == sizes
        assert {row.status for row in rows} == {method["status"]}
        if labelled:
            assert [row.accuracy_p for row in rows] == [size["accuracy_p"] for size in method["sizes"]]
            assert [difference(row) for row in rows] == [size["against_best"] for size in method["sizes"]]
    assert [measured(row, labelled) for row in rows_of(frame, "random")] == [
        without(band, "subsets") for band in document["random"]
    ]
    assert [measured(row, labelled) for row in rows_of(frame, "allfea")] == [document["all"]]
    for one in document["overlap"]:
        shares = pd.DataFrame(frame.attrs["overlap"][one["features"]]).loc[one["names"], one["names"]]
        assert shares.to_numpy().tolist() == one["matrix"]


def test_numbers_are_those_of_the_command(digits, files):
    X, y = digits
    document = run_command(
        files, "compare", "digits.npz", "--labels", "y", "-k", "5,0.25", "--repeats", "3", "--seed", "7",
        "--set", "ufcm.alpha=0.1", "--set", "mcfs.normalize=yes", "--set", "lapscore.neighbors=4", "--scale", "minmax",
    )  # fmt: skip
    options = {"UFCM": {"alpha": 0.1, "beta": None}, "mcfs": {"normalize": True}, "LaplacianScore": {"n_neighbors": 4}}
    frame = tamis.compare(
        X, n_features=(5, 0.25), y=y, n_repeats=3, random_state=7, options=options, scale="minmax", n_jobs=1
    )
    check_against_command(frame, document, labelled=True)
    assert frame.n_features.tolist() == [5, 16] * (len(document["methods"]) + 1) + [64]  # and random subsets; all
    assert frame.attrs["options"]["n_clusters"] == document["options"]["clusters"] == 10
    assert frame.attrs["options"]["n_features"] == document["options"]["features"]


def test_differences_from_the_best_are_paired(digits):
    """The mean is that of the accuracies; an interval that leaves out 0 is clear; one start has none."""
    X, y = digits
    frame = tamis.compare(X, n_features=[5, 16], y=y, methods=["ufcm", "maxvar", "lapscore"], n_repeats=4)
    ranked = frame[frame.method.isin(["ufcm", "maxvar", "lapscore"])]
    for _, rows in ranked.groupby("n_features"):
        assert np.allclose(rows.against_best, rows.accuracy - rows.accuracy.max())
        best = rows.loc[rows.accuracy.idxmax()]
        assert (best.against_best, best.against_best_low, best.against_best_high, best.against_best_clear) == (0, 0, 0, False)
        assert (rows.against_best_low <= rows.against_best).all() and (rows.against_best <= rows.against_best_high).all()
        leaves_out = (rows.against_best_low > 0) | (rows.against_best_high < 0)
        assert rows.against_best_clear.tolist() == leaves_out.tolist()
    others = frame[~frame.method.isin(["ufcm", "maxvar", "lapscore"])]
    assert others.against_best.isna().all() and others.against_best_clear.isna().all()
    single = tamis.compare(X, n_features=5, y=y, methods="maxvar", n_repeats=1)
    assert single.against_best.isna().all() and "against_best" not in tamis.compare(X, n_features=5, methods="maxvar")


def test_numbers_are_those_of_the_command_without_classes(digits, files):
    document = run_command(files, "compare", "digits.npz", "-m", "ufcm,maxvar,spec")
    frame = tamis.compare(digits[0], methods=["UFCM", "MaxVariance", "SPEC"])
    check_against_command(frame, document, labelled=False)
    assert frame.n_features.tolist() == [20, 50, 64] * 4 + [64]
    assert not {"accuracy", "accuracy_p", "nmi_sd"} & set(frame.columns)
    assert frame.attrs["options"]["n_clusters"] == document["options"]["clusters"]
    assert document["notes"] == []  # pixels share a unit
    assert frame.attrs["notes"] == [f"n_clusters = {document['options']['clusters']} (default)"]


def test_notes_name_the_words_of_python(digits):
    units = np.logspace(-2, 2, digits[0].shape[1])
    notes = tamis.compare(digits[0] * units, methods=["MaxVariance"]).attrs["notes"]
    assert len(notes) == 2 and "scale='minmax'" in notes[1] and "--scale" not in notes[1]


def test_grid_is_that_of_the_command(digits, files):
    X, y = digits
    words = ("compare", "digits.npz", "--labels", "y", "-k", "4,9", "--repeats", "2", "-m", "ufcm,maxvar,lapscore")
    document = run_command(files, *words, "--grid", "--set", "ufcm.alpha=0.5")
    methods, options = ("ufcm", "maxvar", "lapscore"), {"ufcm": {"alpha": 0.5}}
    frame = tamis.compare(X, None, [4, 9], y, n_repeats=2, grid=True, methods=methods, options=options)
    check_against_command(frame, document, labelled=True)
    for method in document["methods"]:
        for row, size in zip(rows_of(frame, method["name"]), method["grid"]["sizes"], strict=True):
            found = [row.label_best, row.grid_median, row.grid_worst, row.evaluations]
            assert found == [size["label_best"], size["median"], size["worst"], size["evaluations"]]
            renamed = {"neighbors": "n_neighbors"}
            best = {renamed.get(name, name): float(value) for name, value in size["label_best_options"].items()}
            assert row.best_options == best
        runs = frame.attrs["grid"][method["name"]]
        accuracies = [[size["accuracy"]["mean"] for size in run["sizes"]] for run in method["grid"]["runs"]]
        assert [list(run["accuracy"].values()) for run in runs] == accuracies
    best = rows_of(frame, "ufcm")[0]
    assert set(best.best_options) == {"sparsity", "p"}  # alpha was given, so it is no axis
    again = tamis.compare(
        X, None, [4], y, n_repeats=2, methods="ufcm", options={"ufcm": {"alpha": 0.5, **best.best_options}}
    )
    assert again.accuracy[0] == best.label_best
    assert pd.isna(rows_of(frame, "random")[0].evaluations)


def test_evaluation_is_that_of_the_command(digits, files):
    X, y = digits
    chosen = [42, 28, 34, 5]
    (files / "list.txt").write_text("\n".join(map(str, chosen)))
    words = ("evaluate", "digits.npz", "--labels", "y", "--list", "list.txt", "--repeats", "3", "--seed", "5")
    document = run_command(files, *words)
    frame = tamis.evaluate(X, y, chosen, n_repeats=3, random_state=5)
    assert frame.index.tolist() == ["given", "all", "max_variance", "random"]
    assert frame.attrs["selected"] == chosen
    for name in ("given", "all", "max_variance"):
        assert measured(frame.loc[name]) == document["scores"][name]
    band = document["scores"]["random"]
    expected = {name: without(band[name], "p") for name in MEASURES}
    assert measured(frame.loc["random"]) == {**without(band, "subsets"), **expected}
    assert [frame.loc["given", f"{name}_p"] for name in MEASURES] == [band[name]["p"] for name in MEASURES]


def test_features_may_be_given_in_every_way(digits):
    X, y = digits
    selector = tamis.MaxVariance(4).fit(X)
    positions = selector.get_support(indices=True)
    frame = pd.DataFrame(X, columns=[f"pixel{j}" for j in range(64)])
    expected = tamis.evaluate(X, y, positions, n_repeats=2, n_subsets=3)
    for table, features in (
        (X, selector),
        (X, selector.get_support()),
        (X, positions[::-1].tolist()),
        (frame, [f"pixel{j}" for j in positions]),
        (tamis.Table(X, feature_names=list(frame.columns)), [f"pixel{j}" for j in positions]),
    ):
        pd.testing.assert_frame_equal(
            tamis.evaluate(table, y, features, n_repeats=2, n_subsets=3), expected, check_exact=True
        )
    given = expected.loc["given", [name for name in expected.columns if not name.endswith("_p")]]
    assert given.tolist() == expected.loc["max_variance", given.index].tolist()
    assert expected.loc["given", "redundancy"] == redundancy(X, positions)


def test_tables_of_every_kind_agree(digits):
    X, y = digits
    timing = ["seconds", "bytes"]
    call = {"n_features": [6], "n_repeats": 2, "methods": ["maxvar", "ufcm"]}
    expected = tamis.compare(X, y=y, **call)
    names = [f"pixel{j}" for j in range(64)]
    before = X.tobytes()
    for table, classes in (
        (pd.DataFrame(X, columns=names), pd.Series(y).map("class {}".format)),
        (np.asfortranarray(X), y.tolist()),
        (X.astype(np.uint8), y.astype(str)),
    ):
        found = tamis.compare(table, y=classes, **call)
        pd.testing.assert_frame_equal(found.drop(columns=timing), expected.drop(columns=timing), check_exact=True)
    assert X.tobytes() == before
    assert "selected_names" not in expected.attrs
    thin = tamis.compare(sparse.csr_array(X), y=y, **call)
    assert thin.attrs["selected"] == expected.attrs["selected"]
    assert thin.redundancy.to_numpy() == pytest.approx(expected.redundancy.to_numpy(), abs=1e-9)
    assert thin.accuracy.to_numpy() == pytest.approx(expected.accuracy.to_numpy(), abs=0.02)  # ties of the k-means


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "anndata", "tamis"])
def test_names_of_tables_are_known(digits, kind):
    module = pytest.importorskip(kind)
    X, y = digits
    names = [f"pixel{j}" for j in range(64)]
    frame = pd.DataFrame(X, columns=names)
    make = {
        "pandas": lambda: frame,
        "polars": lambda: module.DataFrame(X, schema=names),
        "pyarrow": lambda: module.Table.from_pandas(frame),
        "anndata": lambda: module.AnnData(X, var=pd.DataFrame(index=names)),
        "tamis": lambda: module.Table(X, feature_names=names),
    }
    table = make[kind]()
    kept = tamis.compare(table, n_features=5, methods=["maxvar", "spec"]).attrs
    assert kept["selected"] == tamis.compare(X, n_features=5, methods=["maxvar", "spec"]).attrs["selected"]
    assert kept["selected_names"] == {one: [names[j] for j in places] for one, places in kept["selected"].items()}
    assert tamis.evaluate(table, y, ["pixel9", "pixel3"], n_repeats=1, n_subsets=1).attrs["selected"] == [9, 3]


def test_threads_and_unlabelled_rows(digits):
    X, y = digits
    y = y.astype(object)
    y[::7] = None
    call = {"y": y, "n_features": 8, "n_repeats": 2, "methods": "UFCM"}
    one, two = tamis.compare(X, n_jobs=1, **call), tamis.compare(X, n_jobs=2, **call)
    pd.testing.assert_frame_equal(one.drop(columns=["seconds", "bytes"]), two.drop(columns=["seconds", "bytes"]))
    assert one.attrs["options"]["n_clusters"] == 10


def test_failed_method_is_a_row(digits):
    X = digits[0][:4]
    wanted = {"n_components": 9}
    frame = tamis.compare(X, n_clusters=2, n_features=[2, 3], methods=["maxvar", "mcfs"], options={"mcfs": wanted})
    failed = frame[frame.method == "mcfs"]
    assert failed.n_features.tolist() == [2, 3]
    assert failed.status.tolist() == ["failed", "failed"]
    assert failed.error.str.match(r"MCFS: n_components = 9, need 1\.\.n-1 = 3$").all()
    assert failed[["redundancy", "seconds", "iterations"]].isna().all(axis=None)
    assert list(frame.attrs["selected"]) == ["maxvar"]
    worked = frame[frame.method == "maxvar"]
    assert worked.status.tolist() == ["direct", "direct"]
    assert worked.error.tolist() == [None, None]


def test_frames_survive_what_people_do_with_them(digits, tmp_path):
    frame = tamis.compare(*digits[:1], n_features=[3, 6], y=digits[1], n_repeats=2, methods=["maxvar", "spec"])
    both = pd.concat([frame, frame])
    assert both.attrs["selected"] == frame.attrs["selected"]
    json.dumps(frame.attrs)
    frame.to_parquet(tmp_path / "frame.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "frame.parquet"), frame)
    assert frame.pivot(index="method", columns="n_features", values="nmi").loc["spec"].notna().sum() == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"n_clusters": 301}, r"^compare: n_clusters = 301, need 1\.\.n = 300$"),
        ({"n_clusters": 2.0}, r"^compare: n_clusters = 2.0, need a count of at least 1$"),
        ({"n_features": 65}, r"^n_features = 65, need 1\.\.64$"),
        ({"n_features": [1.0]}, r"^compare: n_features = 1.0, need counts of at least 1 or fractions below 1$"),
        ({"n_features": []}, r"^compare: n_features is empty, need counts"),
        ({"n_features": [True]}, r"^compare: n_features = True, need counts"),
        ({"methods": ["ufcm", "x"]}, r"^compare: method 'x', need one of: guided, ufcm, maxvar"),
        ({"methods": []}, r"^compare: 0 methods, need at least one of: guided, ufcm"),
        ({"methods": ["ufcm", "UFCM"]}, r"^compare: method ufcm twice, need once$"),
        ({"options": {"spec": {"n_neighbors": 0}}}, r"^SPEC: n_neighbors = 0, need x >= 1$"),
        ({"options": {"spec": {"n_neighbors": 2.5}}}, r"^SPEC: n_neighbors = 2.5, need an integer >= 1$"),
        ({"options": {"spec": {"n_neighbors": None}}}, r"^SPEC: n_neighbors = None, need an integer >= 1$"),
        ({"options": {"spec": {"neighbors": 3}}}, r"^compare: SPEC has no option 'neighbors', need one of: n_clus"),
        ({"options": {"mcfs": {"normalize": 1}}}, r"^MCFS: normalize = 1, need True or False$"),
        ({"options": {"spec": {"function": 1}}, "methods": "ufcm"}, r"^compare: a setting of spec, which is not com"),
        ({"scale": "log"}, r"^scale = log, need none, standard, minmax, unit or auto$"),
        ({"y": [1, 2]}, r"^compare: 2 labels in y, need n = 300$"),
        ({"y": [None] * 300}, r"^compare: no row has a label, need at least 1$"),
        ({"grid": True}, r"^compare: grid=True needs y: classes to score the settings$"),
        ({"n_repeats": 0}, r"^compare: n_repeats = 0, need a count of at least 1$"),
    ],
)
def test_requests_that_cannot_be_met(digits, call, message):
    with pytest.raises(ValueError, match=message):
        tamis.compare(digits[0], **call)


def test_data_and_features_that_cannot_be(digits):
    X, y = digits
    broken = X.copy()
    broken[3, 4] = np.nan
    for call in (lambda: tamis.compare(broken), lambda: tamis.evaluate(broken, y, [0])):
        with pytest.raises(ValueError, match="row 3, column 4: NaN, need finite numbers"):
            call()
    with pytest.raises(ValueError, match=r"^evaluate: feature 64, need 0 \.\. 63$"):
        tamis.evaluate(X, y, [64])
    with pytest.raises(ValueError, match=r"^evaluate: n_subsets = 0, need a count of at least 1$"):
        tamis.evaluate(X, y, [4], n_subsets=0)


def test_pandas_is_needed_only_where_a_frame_is_made():
    code = """
import sys
sys.modules["pandas"] = None  # as where it is not installed
import tamis
assert tamis.metrics.redundancy([[0.0, 1.0], [1.0, 0.0]]) > 0.99
try:
    tamis.compare([[0.0, 1.0], [1.0, 0.0]])
except ImportError as error:
    assert str(error) == "tamis.compare and tamis.evaluate need pandas: pip install 'tamis[compare]'", error
else:
    sys.exit("no error")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr


def test_options_that_are_lists(digits):
    X = digits[0]
    wanted = {"guided": {"scales": [3, 5], "n_neighbors": np.int64(4)}}
    frame = tamis.compare(X, n_features=[5], methods=["guided"], options=wanted)
    assert frame.status[0] == "direct" or frame.error[0] is None
    alone = tamis.GuidedUFCM(5, scales=(3, 5), n_neighbors=4).fit(X)
    assert frame.attrs["selected"]["guided"] == np.argsort(alone.ranking_)[:5].tolist()
    with pytest.raises(ValueError, match=r"^GuidedUFCM: scales = 'x', need a sequence of integers >= 2"):
        tamis.compare(X, n_features=[5], methods=["guided"], options={"guided": {"scales": "x"}})


@pytest.mark.parametrize("how", ["mean", "median", "drop-columns", "drop-rows"])
@pytest.mark.parametrize("masked", [False, True])
def test_missing_values(digits, how, masked):
    X, y = np.array(digits[0], dtype=float), np.asarray(digits[1])
    hole = np.zeros(X.shape, dtype=bool)
    hole[3, 30] = hole[9, 20] = True
    given = np.ma.MaskedArray(X, hole) if masked else np.where(hole, np.nan, X)
    rows, columns = np.arange(len(X)), np.arange(X.shape[1])
    if how == "drop-rows":
        rows = np.setdiff1d(rows, [3, 9])
    if how == "drop-columns":
        columns = np.setdiff1d(columns, [30, 20])
    fill = {"mean": np.nanmean, "median": np.nanmedian}.get(how, np.nanmean)(np.where(hole, np.nan, X), axis=0)
    whole = np.where(hole, fill, X)[np.ix_(rows, columns)]
    keywords = {"n_repeats": 2, "methods": "maxvar", "n_features": [4]}
    frame, wanted = tamis.compare(given, y=y, missing=how, **keywords), tamis.compare(whole, y=y[rows], **keywords)
    assert frame.accuracy.tolist() == wanted.accuracy.tolist()
    assert frame.attrs["selected"]["maxvar"] == columns[wanted.attrs["selected"]["maxvar"]].tolist()
    chosen = [21, 33, 42]
    scores = tamis.evaluate(given, y, chosen, n_repeats=2, missing=how)
    alike = tamis.evaluate(whole, y[rows], np.searchsorted(columns, chosen), n_repeats=2)
    assert scores.accuracy.tolist() == alike.accuracy.tolist() and scores.attrs["selected"] == chosen
    assert any("missing value" in note or "value" in note for note in scores.attrs["notes"])


def test_missing_values_that_are_refused(digits):
    X, y = np.array(digits[0], dtype=float), digits[1]
    X[3, 30] = np.nan
    for call in (lambda **more: tamis.compare(X, y=y, **more), lambda **more: tamis.evaluate(X, y, [30], **more)):
        with pytest.raises(ValueError, match="row 3, column 30"):
            call()
        with pytest.raises(ValueError, match="missing = 'zero', need 'refuse', 'drop-rows', 'drop-columns', 'mean', 'median'"):
            call(missing="zero")
    with pytest.raises(ValueError, match="feature 30 has missing values, and missing = 'drop-columns' leaves it out"):
        tamis.evaluate(X, y, [30], missing="drop-columns")
