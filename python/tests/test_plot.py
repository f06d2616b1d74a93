"""Pictures: what is drawn is what was found."""

import subprocess
import sys

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import VarianceThreshold

import tamis
from tamis import plot

pytestmark = pytest.mark.filterwarnings("ignore:column standard deviations differ")


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:300], y[:300]


@pytest.fixture(scope="module")
def ufcm(digits):
    return tamis.UFCM(n_features_to_select=20, n_clusters=10, alpha=0.5).fit(digits[0])


@pytest.fixture(scope="module")
def frame(digits):
    X, y = digits
    options = {"mcfs": {"n_components": 10_000}}  # which fails
    methods = ["maxvar", "ufcm", "mcfs"]
    return tamis.compare(X, n_features=(4, 8, 16), y=y, n_repeats=3, methods=methods, options=options)


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    """Nothing is shown, no setting is changed, every picture can be rendered."""
    monkeypatch.setattr(pyplot, "show", lambda *_: pytest.fail("shown"))
    before = dict(matplotlib.rcParams)
    yield
    assert dict(matplotlib.rcParams) == before
    for number in pyplot.get_fignums():
        pyplot.figure(number).canvas.draw()
    pyplot.close("all")


def line(ax, label):
    (found,) = [one for one in ax.get_lines() if one.get_label() == label]
    return found


def points(line_):
    return [np.asarray(part).tolist() for part in line_.get_data()]


def band(ax, color, x):
    """Lower and upper edge of the band of that colour at x."""
    wanted = matplotlib.colors.to_rgb(color)
    (found,) = [one for one in ax.collections if np.allclose(one.get_facecolor()[0][:3], wanted)]
    corners = found.get_paths()[0].vertices
    heights = corners[corners[:, 0] == x, 1]
    return heights.min(), heights.max()


# --- Scores ------------------------------------------------------------------------------------------------------


def test_score_curve_is_the_sorted_scores(ufcm):
    ax = plot.score_curve(ufcm)
    best_first = np.sort(ufcm.scores_)[::-1].tolist()
    assert points(line(ax, "all features")) == [list(range(1, 65)), best_first]
    assert points(line(ax, "selected: 20")) == [list(range(1, 21)), best_first[:20]]
    assert ax.get_xlabel() == "rank of the feature"
    assert ax.get_ylabel() == "score"


def test_score_curve_of_all_features_marks_none(digits):
    ax = plot.score_curve(tamis.LaplacianScore().fit(digits[0]))
    assert not [one for one in ax.get_lines() if one.get_label().startswith("selected")]


def with_scores(scores):
    """A selector that found these."""
    selector = tamis.MaxVariance(1).fit(np.random.default_rng(0).normal(size=(5, len(scores))))
    selector.scores_ = np.asarray(scores, dtype=float)
    selector.ranking_ = np.argsort(np.argsort(-selector.scores_, kind="stable"), kind="stable") + 1
    return selector


def knees(ax):
    return [one.get_xdata()[0] for one in ax.get_lines() if one.get_label().startswith("knee")]


@pytest.mark.parametrize(
    ("scores", "knee"),
    [
        ([10, 9, 1, 0.5, 0.25, 0], [3]),  # from 9 to 1 it falls, then it creeps
        ([0, 0, 100, 0, 0, 0, 0, 0], [2]),
        ([3, 3, 3, 3], []),  # flat
        ([4, 3, 2, 1], []),  # straight
        ([9, 8.9, 8.5, 0], []),  # falls ever faster
        ([2, 1], []),
        ([1], []),
    ],
)
def test_knee_is_where_the_curve_turns_flat(scores, knee):
    assert knees(plot.score_curve(with_scores(scores))) == knee


# --- Objective ---------------------------------------------------------------------------------------------------


def test_objective_by_iteration_with_terms(ufcm):
    ax = plot.objective(ufcm)
    assert points(line(ax, "objective")) == [list(range(1, ufcm.n_iter_ + 1)), ufcm.objective_.tolist()]
    (right,) = [one for one in ax.figure.axes if one is not ax]
    terms = ufcm.report_["terms"]
    assert set(terms) == {"scatter", "within", "sparsity"}
    for name, term in terms.items():
        assert points(line(right, name))[1] == (term / np.abs(term).max()).tolist()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["objective", *terms]
    assert ax.get_title() == f"UFCM: converged after {ufcm.n_iter_} iterations"
    assert ax.get_xlabel() == "iteration"
    assert ax.get_ylabel() == "objective"


def test_objective_after_one_iteration(digits):
    with pytest.warns(UserWarning):
        selector = tamis.UFCM(n_clusters=3, max_iter=1).fit(digits[0])
    ax = plot.objective(selector)
    assert points(line(ax, "objective")) == [[1], selector.objective_.tolist()]
    assert ax.get_title() == "UFCM: stopped after 1 iteration"


def test_no_objective_is_said(digits):
    with pytest.raises(ValueError, match="^objective: MaxVariance has no objective_, need a method that optimizes one"):
        plot.objective(tamis.MaxVariance().fit(digits[0]))


# --- Images ------------------------------------------------------------------------------------------------------


def test_image_shows_scores_of_selected_pixels(ufcm):
    ax = plot.image_mask(ufcm, (8, 8))
    (image,) = ax.get_images()
    shown = image.get_array()
    assert (~shown.mask).tolist() == ufcm.get_support().reshape(8, 8).tolist()
    assert shown.data.tolist() == ufcm.scores_.reshape(8, 8).tolist()
    assert ax.get_title() == "UFCM: 20 of 64 pixels"


def test_image_that_is_not_square(ufcm):
    (image,) = plot.image_mask(ufcm, np.array([4, 16])).get_images()
    assert image.get_array().shape == (4, 16)
    assert bool(image.get_array().mask[1, 3]) is not bool(ufcm.get_support()[19])


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((8, 9), r"^image_mask: shape = \(8, 9\) has 72 pixels, need n_features_in_ = 64$"),
        (64, r"^image_mask: shape = 64, need two counts \(rows, columns\)$"),
        ((4, 4, 4), r"need two counts \(rows, columns\)$"),
        ((-8, -8), r"need two counts \(rows, columns\)$"),
        ((8.0, 8.0), r"need two counts \(rows, columns\)$"),
    ],
)
def test_shapes_that_do_not_fit(ufcm, shape, message):
    with pytest.raises(ValueError, match=message):
        plot.image_mask(ufcm, shape)


# --- Curves over the number of features --------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["accuracy", "nmi", "adjusted_rand"])
def test_curves_and_bands_are_the_frame(frame, measure):
    ax = plot.feature_count_curve(frame, measure=measure)
    for name in ("maxvar", "ufcm", "random"):
        rows = frame[frame.method == name]
        drawn = line(ax, name)
        assert points(drawn) == [[4, 8, 16], rows[measure].tolist()]
        for _, row in rows.iterrows():
            low, high = row[measure] - row[f"{measure}_sd"], row[measure] + row[f"{measure}_sd"]
            assert band(ax, drawn.get_color(), row.n_features) == (low, high)
    level = frame.loc[frame.method == "allfea", measure].item()
    assert set(points(line(ax, "all features"))[1]) == {level}
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"maxvar", "ufcm", "random", "all features"}
    assert ax.get_xticks().tolist() == [4, 8, 16]
    assert ax.get_xlabel() == "number of features"


def test_redundancy_has_no_bands(frame):
    ax = plot.feature_count_curve(frame, measure="redundancy")
    assert points(line(ax, "ufcm"))[1] == frame[frame.method == "ufcm"].redundancy.tolist()
    assert len(ax.collections) == 0


def test_curves_have_colours_of_their_own(digits):
    ax = plot.feature_count_curve(tamis.compare(digits[0], n_features=[3, 60]), measure="redundancy")
    curves = [one for one in ax.get_lines() if one.get_marker() != "None"]
    assert len(curves) == len({one.get_color() for one in curves}) == len({one.get_marker() for one in curves}) == 12
    assert ax.get_xscale() == "log"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["3", "60"]


def test_frames_that_cannot_be_drawn(frame, digits):
    unlabelled = tamis.compare(digits[0], n_features=[3], methods="maxvar")
    with pytest.raises(ValueError, match=r"'accuracy' is not in the frame \(tamis.compare without y\), need one of: r"):
        plot.feature_count_curve(unlabelled)
    with pytest.raises(ValueError, match="measure = 'speed' is not in the frame, need one of: accuracy, nmi, adj"):
        plot.feature_count_curve(frame, measure="speed")
    with pytest.raises(ValueError, match="^feature_count_curve: need the result of tamis.compare"):
        plot.feature_count_curve(pd.DataFrame({"a": [1]}))
    with pytest.raises(ValueError, match="^feature_count_curve: no method has a value for accuracy"):
        plot.feature_count_curve(frame[frame.status == "failed"])


# --- All of them -------------------------------------------------------------------------------------------------

BY_SELECTOR = (plot.score_curve, plot.objective, lambda selector, **words: plot.image_mask(selector, (8, 8), **words))


@pytest.mark.parametrize("draw", BY_SELECTOR)
def test_selectors_that_cannot_be_drawn(draw, digits):
    with pytest.raises(NotFittedError, match="UFCM instance is not fitted yet"):
        draw(tamis.UFCM())
    with pytest.raises(ValueError, match="need a fitted tamis selector$"):
        draw("ufcm")
    with pytest.raises(ValueError, match="VarianceThreshold has no scores_ and ranking_, need a tamis selector$"):
        draw(VarianceThreshold().fit(digits[0]))


@pytest.mark.parametrize("draw", [*BY_SELECTOR, plot.feature_count_curve])
def test_axes_given_are_used_and_no_figure_is_made(draw, ufcm, frame):
    given = matplotlib.figure.Figure().add_subplot()
    assert draw(frame if draw is plot.feature_count_curve else ufcm, ax=given) is given
    given.figure.canvas.draw()
    assert pyplot.get_fignums() == []
    draw(frame if draw is plot.feature_count_curve else ufcm)
    assert len(pyplot.get_fignums()) == 1


def test_matplotlib_is_needed_only_to_draw():
    code = """
import sys
sys.modules["matplotlib"] = None  # as where it is not installed
import tamis
selector = tamis.MaxVariance(1).fit([[0.0, 1.0], [1.0, 3.0]])
try:
    tamis.plot.score_curve(selector)
except ImportError as error:
    assert str(error) == "tamis.plot needs matplotlib: pip install 'tamis[plot]'", error
else:
    sys.exit("no error")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr


# --- Figures of pages ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(digits, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    np.savez(folder / "digits.npz", X=digits[0], y=digits[1])
    words = ["compare", "digits.npz", "--labels", "y", "-k", "4,8", "-m", "ufcm,maxvar", "--repeats", "2", "-o", "out"]
    subprocess.run([sys.executable, "-m", "tamis", *words, "--quiet"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder / "out" / "report.html"


def test_figures_of_a_page_have_its_titles_and_a_legend(page, tmp_path):
    paths = plot.save_figures(page, tmp_path / "pictures")
    assert paths == [tmp_path / "pictures" / f"figure-{i}.svg" for i in range(1, len(paths) + 1)]
    assert sorted(paths) == sorted((tmp_path / "pictures").iterdir())
    svg = paths[0].read_text(encoding="utf-8")
    for words in ("ACC by number of features", "ufcm", "maxvar", "random", "all features"):
        assert f">{words}<" in svg, words
    assert svg.count('stroke="#1f5fa8"') >= 1 and svg.count('stroke="#6b7480"') >= 2  # a method; the controls


def test_figures_that_cannot_be_had(page, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="figures = 'gif', need svg or png"):
        plot.save_figures(page, tmp_path, "gif")
    (tmp_path / "other.html").write_text("<html>")
    with pytest.raises(ValueError, match="not a tamis report page"):
        plot.save_figures(tmp_path / "other.html", tmp_path / "pictures")
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(ImportError, match=r"tamis\[figures\]"):
        plot.save_figures(page, tmp_path / "pictures")
    assert not (tmp_path / "pictures").exists()


# --- Clusters and redundancy -----------------------------------------------------------------------------------------


def test_heat_map_and_profile(ufcm, digits):
    X, _ = digits
    ax = plot.heat_map(ufcm, 8)
    values = ax.images[0].get_array()
    order = [j for j in np.argsort(ufcm.ranking_) if ufcm.get_support()[j]][:8]
    means = np.array([X[ufcm.labels_ == k][:, order].mean(axis=0) for k in range(10)]) - X[:, order].mean(axis=0)
    np.testing.assert_allclose(values, (means / np.abs(means).max(axis=0)).T, atol=1e-9)
    assert [one.get_text() for one in ax.get_yticklabels()] == [f"x{j}" for j in order]
    ax = plot.profile(ufcm, 8)
    lines = [one for one in ax.get_lines() if one.get_label().startswith("cluster")]
    assert len(lines) == 10
    np.testing.assert_allclose(lines[3].get_ydata(), values[:, 3], atol=1e-12)
    assert f"({(ufcm.labels_ == 3).sum()} rows)" in lines[3].get_label()
    for draw in (plot.heat_map, plot.profile):
        with pytest.raises(ValueError, match="MaxVariance has no clusters"):
            draw(tamis.MaxVariance(3).fit(X))
        with pytest.raises(ValueError, match="n_features = 0"):
            draw(ufcm, 0)


def test_scatter(ufcm, digits):
    X, _ = digits
    ax = plot.scatter(ufcm, X)
    drawn = np.concatenate([one.get_offsets() for one in ax.collections])
    wanted = np.concatenate([(X @ ufcm.components_[:2].T)[ufcm.labels_ == k] for k in range(10)])
    np.testing.assert_allclose(drawn, wanted, atol=1e-9)
    selector = tamis.MaxVariance(5).fit(X)
    (points,) = plot.scatter(selector, pd.DataFrame(X)).collections
    columns = selector.transform(X) - selector.transform(X).mean(axis=0)
    _, size, _ = np.linalg.svd(columns, full_matrices=False)
    np.testing.assert_allclose(np.linalg.norm(points.get_offsets(), axis=0), size[:2])
    assert len(plot.scatter(tamis.MaxVariance(1).fit(X), X).collections) == 1
    for drawn in (plot.scatter, plot.redundancy):
        with pytest.raises(ValueError, match="X has 4 columns, need the 64 of the fit"):
            drawn(ufcm, X[:, :4])
    with pytest.raises(ValueError, match="X has 10 rows, need the 300"):
        plot.scatter(ufcm, X[:10])


def test_redundancy(digits):
    X = np.column_stack([digits[0][:, 20:26], digits[0][:, 21] * 2 + 1])
    selector = tamis.MaxVariance(6).fit(X)
    ax = plot.redundancy(selector, X)
    names = [one.get_text() for one in ax.get_yticklabels()]
    order = [int(name[1:]) for name in names]
    np.testing.assert_allclose(ax.images[0].get_array(), np.abs(np.corrcoef(X[:, order].T)), atol=1e-9)
    assert abs(order.index(1) - order.index(6)) == 1, "copies stand next to each other"


def test_names_on_axes_are_only_text(digits):
    names = ["$x^2$", "<b>", "a\nb", "n" * 300, "\x1b[0m", "\u00e9"]
    frame = pd.DataFrame(digits[0][:, 20:26], columns=names)
    ax = plot.heat_map(tamis.UFCM(n_clusters=3).fit(frame))
    texts = [one.get_text() for one in ax.get_yticklabels()]
    assert max(map(len, texts)) <= 24 and r"\$x^2\$" in texts and "a?b" in texts


def test_left_out_features_have_no_place_in_the_curve(digits):
    selector = tamis.MaxVariance(5, exclude=[30, 31]).fit(digits[0])
    assert len(line(plot.score_curve(selector), "all features").get_xdata()) == 62
