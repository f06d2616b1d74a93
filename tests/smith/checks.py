"""What must hold of any run on any table. Each check takes a Case, and is tried where `applies` says so."""

import csv
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from runs import NATIVE, PYTHON_COMMAND, REFUSALS, Ended, Run, chosen, command, fit, select
from scipy import sparse
from tables import BLOCK, STAY_ON_DISK, Table, formats_of

GRAPH_DEFAULTS = {"neighbors": 5, "bandwidth": None, "weights": "heat"}
TIE = 1e-9  # of the largest score
# Copies of a column tie. Guided, css and MCFS leave a copy for later on purpose.
COPIES_COME_LATER = {"css", "guided", "mcfs"}
SELECT_FIELDS = {"tamis", "method", "options", "data", "selected", "names", "scores", "clusters", "report"}
REPORT_FIELDS = {"status", "iterations", "objective", "terms", "path", "seconds", "passes", "peak_bytes", "seed"}


@dataclass
class Case:
    rng: np.random.Generator
    folder: Path
    table: Table
    run: Run
    path: Path = None
    flags: list = None
    base: Ended = None

    @property
    def went_well(self):
        return self.base.code == 0

    def select(self, *flags, **keywords):
        return select(self.path, self.run, *self.flags, *flags, **keywords)

    def another(self, name, X):
        """The same run on other numbers."""
        np.save(self.folder / name, X)
        return select(self.folder / name, self.run, "--threads", "1")


def same(a, b, what, passes=True):
    """Two results of `select` agree to the last bit, or both are refused for one reason."""
    assert a.code == b.code, f"{what}: {a}\n  {b}"
    if a.code:
        return
    a, b = a.json, b.json
    for key in ("selected", "scores", "clusters", "share", "evidence", "alignment"):
        assert a.get(key) == b.get(key), f"{what}: {key} differs: {differing(a.get(key), b.get(key))}"
    for key in ["objective", "terms", "iterations", "status", "path"] + ["passes"] * passes:
        assert a["report"][key] == b["report"][key], f"{what}: report.{key}: {a['report'][key]} and {b['report'][key]}"


def differing(a, b):
    if not a or not b or len(a) != len(b):
        return f"{str(a)[:80]} and {str(b)[:80]}"
    at = next(i for i in range(len(a)) if a[i] != b[i])
    return f"at {at}: {a[at]!r} and {b[at]!r}"


def numbers(scores):
    return np.array([np.nan if score is None else score for score in scores])


def largest_difference(a, b):
    """Of two lists of scores, as a part of the largest."""
    a, b = numbers(a), numbers(b)
    assert np.array_equal(np.isnan(a), np.isnan(b)), "other columns are left out"
    return np.nanmax(np.abs(a - b)) / (np.nanmax(np.abs(a)) or 1.0)


# --- The result itself ---------------------------------------------------------------------------------------------------


def check_document(case):
    result, (n, d) = case.base.json, case.table.shape
    assert SELECT_FIELDS <= set(result) and REPORT_FIELDS <= set(result["report"]), sorted(result)
    assert (result["data"]["rows"], result["data"]["features"]) == (n, d), result["data"]
    scores, selected = numbers(result["scores"]), result["selected"]
    assert len(scores) == d and np.isfinite(np.delete(scores, case.run.exclude)).all(), "scores"
    assert np.isnan(scores[list(case.run.exclude)]).all(), "an excluded column has a score"
    assert len(set(selected)) == len(selected) == len(result["names"]) and set(selected) <= set(range(d)), "selected"
    assert not set(selected) & set(case.run.exclude) and set(case.run.include) <= set(selected), "include, exclude"
    check_count(case, len(selected))
    if not case.run.include:
        check_order(scores, selected)
    clusters = result["clusters"]
    assert clusters is None or (len(clusters) == n and min(clusters) >= -1), "clusters"
    check_objective(case, result["report"])


def check_count(case, count):
    wanted, available = case.run.features, case.table.shape[1] - len(case.run.exclude)
    if isinstance(wanted, int):
        assert count == wanted, f"{count} columns of {wanted}"
    elif wanted == "all" or (wanted is None and case.run.method not in ("guided", "sparsekm")):
        assert count == available, f"{count} columns of {available}"
    else:
        assert 1 <= count <= available, f"{count} columns"


def check_order(scores, selected):
    ordered = scores[selected]
    assert (np.diff(ordered) <= TIE * np.nanmax(np.abs(scores))).all(), "the selection does not follow the scores"
    left = np.delete(scores, selected)
    assert not left.size or np.nanmax(left) <= ordered[-1] + TIE * np.nanmax(np.abs(scores)), "a better column is left out"
    for a, b in zip(selected, selected[1:]):
        assert scores[a] != scores[b] or a < b, f"columns {a} and {b} tie, the lower index comes first"


def check_objective(case, report):
    """UFCM's never falls, RUFS's never rises."""
    objective = np.array(report["objective"], float)
    assert np.isfinite(objective).all() and len(objective) in (0, report["iterations"]), "objective"
    if case.run.method == "ufcm":
        size = np.abs(report["terms"]["scatter"]) + case.run.options.get("alpha", 1.0) * np.abs(report["terms"]["within"])
        assert (np.diff(objective) >= -1e-10 * size[1:]).all(), f"the objective falls: {objective}"
    if case.run.method == "rufs":
        assert (np.diff(objective) <= 1e-9 * np.abs(objective[1:])).all(), f"the objective rises: {objective}"


# --- Same bits -----------------------------------------------------------------------------------------------------------


def check_threads(case):
    for threads in (2, 3):
        other = case.select("--threads", threads)
        same(case.base, other, f"{threads} threads")
        assert case.base.err == other.err, f"{threads} threads: {case.base}\n  {other}"


def check_stability(case):
    """Runs on half samples leave the selection as it is; what they say has the same bits at any number of threads."""
    flags = (str(case.rng.choice(["--seeds", "--resample"])), "3")
    first, second = (case.select(*flags, "--threads", threads) for threads in (1, 3))
    assert first.code == second.code and first.err == second.err, f"{first}\n  {second}"
    if case.base.code or first.code:  # a half may have too few rows, or nothing that varies
        assert first.code in (2, 3) if case.went_well else first.code, f"{case.base}\n  {first}"
        return
    same(case.base, first, "with " + flags[0], passes=False)
    stable = first.json["stability"]
    assert stable == second.json["stability"], f"{flags}: {stable} and {second.json['stability']}"
    known = [j for j, value in enumerate(stable["frequency"]) if value is not None]
    assert known == [j for j, score in enumerate(first.json["scores"]) if score is not None] == sorted(stable["consensus"])
    assert all(1 <= stable["rank_low"][j] <= stable["mean_rank"][j] <= stable["rank_high"][j] <= len(known) for j in known)
    assert np.isclose(sum(stable["frequency"][j] for j in known), np.mean(stable["counts"]))
    assert stable["index"] is None or -0.5 - 1e-9 <= stable["index"] <= 1


def check_given_graph(case):
    """A graph of the rows gives the same bits in any form and at any number of threads; idle options are refused."""
    n = case.table.shape[0]
    rows, columns = case.rng.integers(n, size=(2, 3 * n))
    W = sparse.coo_matrix((case.rng.random(3 * n), (rows, columns)), (n, n)).tocsr()
    W = W.maximum(W.T)
    np.save(case.folder / "graph.npy", W.toarray())
    sparse.save_npz(case.folder / "graph.npz", W)
    first = case.select("--connectivity", case.folder / "graph.npy", "--threads", 1)
    same(first, case.select("--connectivity", case.folder / "graph.npz", "--threads", 3), "forms of a graph")
    assert first.code in (0, *REFUSALS), str(first)
    idle = [flag for flag, value in GRAPH_DEFAULTS.items() if case.run.options.get(flag, value) != value]
    assert first.code or not idle, f"{idle}: {first}"


def weights_file(case, weights):
    path = case.folder / "weights.txt"
    path.write_text("".join(f"{weight}\n" for weight in weights))
    return path


def check_weights(case):
    """Weights that are all 1 change no bit; whole weights are as good as rows that are repeated."""
    n = case.table.shape[0]
    ones = case.select("--sample-weight", weights_file(case, [1] * n), "--threads", 3)
    if case.run.features == "auto":
        assert ones.code in REFUSALS, str(ones)
        return
    same(case.base, ones, "weights of 1")
    if case.base.code or not is_double(case) or case.run.method != "maxvar":
        return
    weights = case.rng.integers(1, 4, n) * (case.rng.random(n) < 0.8)
    weights[:2] = 1
    repeated = case.another("repeated.npy", np.repeat(case.table.dense, weights, axis=0))
    np.save(case.folder / "once.npy", case.table.dense)
    once = select(case.folder / "once.npy", case.run, "--sample-weight", weights_file(case, weights), "--threads", "1")
    assert once.code == repeated.code, f"weights {weights.tolist()}: {once}\n  {repeated}"
    if once.code == 0:
        found = largest_difference(once.json["scores"], repeated.json["scores"])
        assert found <= 1e-9, f"weights: scores differ by {found:.1e} of the largest from those of repeated rows"


def check_formats(case):
    names = list(formats_of(case.table))
    name = names[case.rng.integers(len(names))]
    folder = case.folder / "other"
    folder.mkdir()
    path, flags = formats_of(case.table)[name](folder, case.table)
    same(case.base, select(path, case.run, *flags), f"format {name}")
    if name in ("csv", "decimal comma"):
        same(case.base, select("-", case.run, stdin=path.read_bytes()), f"format {name} from a pipe")


def check_output_folder(case):
    out = case.folder / "out"
    ended = case.select("-o", out)
    same(case.base, ended, "-o")
    if not case.went_well:
        assert not out.exists(), f"a refused run left {out}"
        return
    result = ended.json
    reduced = {"selected.npy", "selected.csv", "selected.mtx"}
    names = {path.name for path in out.iterdir()}
    always = {"ranking.csv", "selection.json", "report.html"} | ({"clusters.csv"} if result["clusters"] else set())
    assert always <= names - reduced <= always | {"clusters.csv"} and len(names & reduced) == 1, names  # or of the guide
    assert (out / "selection.json").read_text() == ended.out, "selection.json is not what --json prints"
    rows = list(csv.DictReader((out / "ranking.csv").read_text().splitlines()))
    ranking = [int(row["index"]) for row in rows]
    ranked = [j for j in range(case.table.shape[1]) if j not in case.run.exclude]
    assert sorted(ranking) == ranked, "ranking.csv is not a permutation"
    kept = [j for j, row in zip(ranking, rows) if row["selected"] in ("1", "true", "yes")]
    assert sorted(kept) == sorted(result["selected"]), "ranking.csv selects other columns"
    assert case.run.include or ranking[: len(kept)] == result["selected"], "ranking.csv has another order"
    if "selected.npy" in names:
        kept = np.load(out / "selected.npy")
        assert np.array_equal(kept, case.table.dense[:, sorted(result["selected"])].astype(kept.dtype)), "selected.npy"


def check_python_command(case):
    same(case.base, case.select(program=PYTHON_COMMAND), "python -m tamis")


# --- Python's doors ------------------------------------------------------------------------------------------------------


def same_fit(case, selector, refusal, what):
    assert (refusal is not None) == (case.base.code != 0), f"{what}: {refusal}, but {case.base}"
    if refusal is not None:
        return
    result = case.base.json
    assert selector.scores_.tolist() == result["scores"], f"{what}: {differing(selector.scores_.tolist(), result['scores'])}"
    assert chosen(selector) == result["selected"], f"{what}: selected"
    assert sorted(selector.ranking_) == list(range(1, len(selector.ranking_) + 1)), f"{what}: ranking_ is no permutation"
    if result["clusters"] is not None:
        assert selector.labels_.tolist() == result["clusters"], f"{what}: labels_"
    assert getattr(selector, "objective_", np.array([])).tolist() == result["report"]["objective"], f"{what}: objective_"


def check_python(case):
    before = case.table.X.copy()
    same_fit(case, *fit(case.run, case.table.X), "fit(X)")
    unchanged = abs(before - case.table.X).nnz == 0 if case.table.is_sparse else np.array_equal(before, case.table.X)
    assert unchanged, "X was changed"


def read_flags(flags):
    return {"transpose": "--transpose" in flags, **({"array": flags[flags.index("--array") + 1]} if "--array" in flags else {})}


def check_reader(case):
    """Any format that Python reads, from memory or disk."""
    import tamis

    formats = formats_of(case.table, foreign=True)
    name = list(formats)[case.rng.integers(len(formats))]
    folder = case.folder / "read"
    folder.mkdir()
    path, flags = formats[name](folder, case.table)
    on_disk = name in STAY_ON_DISK
    same_fit(case, *fit(case.run, tamis.read(path, on_disk=on_disk, **read_flags(flags))), f"read({name}, on_disk={on_disk})")


def check_dask(case):
    import dask
    import dask.array as da

    import tamis.dask

    chunks = int(case.rng.choice([case.table.shape[0], BLOCK, max(1, case.table.shape[0] // 3)]))
    columns = int(case.rng.integers(1, case.table.shape[1] + 1))
    with dask.config.set(scheduler="synchronous"):
        X = da.from_array(case.table.X, chunks=(chunks, columns))
        same_fit(case, *fit(case.run, X, tamis.dask), f"dask, chunks {chunks} x {columns}")


# --- Invariance ----------------------------------------------------------------------------------------------------------


def check_permuted_columns(case):
    order = case.rng.permutation(case.table.shape[1])
    other = case.another("permuted.npy", case.table.dense[:, order])
    assert other.code == case.base.code, f"permuted: {case.base}\n  {other}"
    found = largest_difference(np.array(case.base.json["scores"])[order], other.json["scores"])
    bound = 1e-9 if case.run.method in ("maxvar", "lapscore", "spec") else 1e-3 if case.run.method == "rufs" else 1e-5
    assert found <= bound, f"permuted columns: scores differ by {found:.1e} of the largest, need {bound}"


def check_units(case):
    exponent = int(case.rng.choice([-60, -7, 1, 12, 80]))
    other = case.another("units.npy", case.table.dense * 2.0**exponent)
    assert other.code == case.base.code, f"units 2^{exponent}: {case.base}\n  {other}"
    assert other.json["selected"] == case.base.json["selected"], f"units 2^{exponent}: another selection"


def check_copies(case):
    X, d = case.table.dense, case.table.shape[1]
    copied = case.rng.integers(0, d, int(case.rng.integers(1, 4)))
    ended = case.another("copies.npy", np.hstack([X, X[:, copied]]))
    assert ended.code == 0, f"copies of {copied}: {ended}"
    scores = numbers(ended.json["scores"])
    gaps = np.abs(scores[copied] - scores[d:]) / (np.abs(scores).max() or 1.0)
    assert (gaps <= TIE).all(), f"copies of columns {copied.tolist()}: scores differ by {gaps.max():.1e} of the largest"


# --- Resumed runs --------------------------------------------------------------------------------------------------------


def check_resumed(case):
    """Killed once its state is written; a run that is done before is no failure."""
    state, flags = case.folder / "state", ["--tolerance", "0", "--iterations", "300", "--threads", "1"]
    options = {flag: value for flag, value in case.run.options.items() if f"--{flag}" not in flags}
    run = Run(**{**vars(case.run), "options": options})
    whole = select(case.path, run, *case.flags, *flags)
    words = [str(NATIVE), "select", str(case.path), *run.words(), *case.flags, *flags, "--checkpoint", str(state), "--quiet"]
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while child.poll() is None and not state.exists():
        time.sleep(0.001)
    child.send_signal(signal.SIGKILL)
    child.wait()
    resumed = select(case.path, run, *case.flags, *flags, "--checkpoint", state)
    same(whole, resumed, "resumed", passes=False)
    assert not state.exists(), "the state is left"


# --- The other commands --------------------------------------------------------------------------------------------------


def check_info(case):
    result = command("info", case.path, *case.flags, "--json", "--quiet").json
    X, data = case.table.dense, result["data"]
    assert (data["rows"], data["features"], data["not_finite"]) == (*X.shape, 0), data
    assert data["zeros"] == int((X == 0).sum()), f"zeros: {data['zeros']}"
    extremes = np.array([X.min(), X.max()], float)
    assert np.allclose([data["min"], data["max"]], extremes, rtol=0, atol=1e-15 * np.abs(extremes).max()), extremes
    assert data["constant"] == [j for j in range(X.shape[1]) if (X[:, j] == X[0, j]).all()], data["constant"]
    for column, first in data["duplicates"]:
        assert first < column and np.array_equal(X[:, column], X[:, first]), f"{column} is no copy of {first}"
    distinct = len(np.unique(X + 0.0, axis=1).T)
    constants = X[0, data["constant"]] + 0.0
    copies = X.shape[1] - distinct
    assert len(data["duplicates"]) in (copies, copies - len(constants) + len(np.unique(constants))), "duplicates"
    assert set(result["forecast"]) and all(one["seconds"] >= 0 and one["peak_bytes"] > 0 for one in result["forecast"].values())


def check_compare(case):
    k, c = int(case.rng.integers(1, case.table.shape[1] + 1)), int(case.rng.integers(1, 4))
    methods = [str(name) for name in case.rng.permutation(["maxvar", "lapscore", "spec", "ufcm", "ndfs"])[:2]]
    words = ["compare", case.path, *case.flags, "-m", ",".join(methods), "-k", k, "-c", c, "--repeats", "2", "--json", "--quiet"]
    ended, other = command(*words, "--threads", "1"), command(*words, "--threads", "2")
    assert ended.code == other.code, f"{ended}\n  {other}"
    for row, twin in zip(ended.json["methods"] if ended.code == 0 else [], other.json["methods"] if ended.code == 0 else []):
        alone = select(case.path, Run(row["name"], {"clusters": c} if row["name"] != "lapscore" else {}, features=k), *case.flags)
        assert row["selected"] == twin["selected"] and row.get("sizes") == twin.get("sizes"), f"compare, threads: {row['name']}"
        assert row["selected"] == (alone.json["selected"] if alone.code == 0 else []), f"compare and select: {row['name']}"


def check_evaluate(case):
    n, d = case.table.shape
    labels, listed = case.folder / "labels.txt", case.folder / "list.txt"
    labels.write_text("".join(f"{word}\n" for word in case.rng.integers(0, 3, n)))
    columns = case.rng.permutation(d)[: case.rng.integers(1, d + 1)].tolist()
    listed.write_text("".join(f"{j}\n" for j in columns))
    words = ["evaluate", case.path, *case.flags, "--labels", labels, "--list", listed, "--repeats", "2", "--json", "--quiet"]
    ended, other = command(*words, "--threads", "1"), command(*words, "--threads", "2")
    assert ended.code == other.code, f"{ended}\n  {other}"
    if ended.code:
        return
    result, twin = ended.json, other.json
    assert result["selected"] == columns, result["selected"]
    result["options"].pop("threads"), twin["options"].pop("threads")
    assert result == twin, "evaluate, threads"


# --- Which of them apply -------------------------------------------------------------------------------------------------

CONTINUOUS = {"blobs", "noise"}  # no two distances tie, so that rounding does not choose between neighbours


def is_double(case):
    return not case.table.is_sparse and case.table.X.dtype == np.float64


def is_one_of_many(case):
    """The embedding of a graph in many parts, which the report says."""
    return any("one choice of many" in warning for warning in case.base.json["report"]["warnings"])


def may_permute(case):
    steady = case.table.plain or (case.table.kind in CONTINUOUS and case.run.method in ("maxvar", "lapscore"))
    return case.went_well and is_double(case) and case.run.is_plain_call and steady and not is_one_of_many(case)


def is_scale_free(case):
    absolute = {"beta", "bandwidth", "ridge"} & set(case.run.options)
    return case.run.method not in ("ndfs", "rufs", "udfs") and not absolute


def may_change_units(case):
    return case.went_well and is_double(case) and is_scale_free(case) and case.table.kind in CONTINUOUS


def may_copy(case):
    late = case.run.method in COPIES_COME_LATER or case.run.options.get("order") == "qr"
    return case.went_well and is_double(case) and case.run.is_plain_call and not late


def plain_call(case):
    return case.run.is_plain_call


def has_graph(case):
    return case.run.method in ("lapscore", "spec", "mcfs", "ndfs", "rufs") and case.table.shape[0] <= 2000


def has_weights(case):
    return case.run.method in ("ufcm", "maxvar", "css")


def on_dask(case):
    return case.run.is_plain_call and not case.table.is_sparse and case.run.method in ("guided", "ufcm", "maxvar")


def always(case):
    return True


# Check -> where it applies, how often it is drawn.
CHECKS = {
    check_threads: (always, 4),
    check_stability: (always, 2),
    check_given_graph: (has_graph, 4),
    check_weights: (has_weights, 4),
    check_formats: (always, 6),
    check_output_folder: (always, 2),
    check_python_command: (always, 0.15),
    check_python: (plain_call, 4),
    check_reader: (plain_call, 4),
    check_dask: (on_dask, 4),
    check_permuted_columns: (may_permute, 3),
    check_units: (may_change_units, 3),
    check_copies: (may_copy, 4),
    check_resumed: (lambda case: case.run.method == "ufcm", 2),
    check_info: (always, 1),
    check_compare: (always, 1),
    check_evaluate: (always, 1),
}


def random_checks(case, count=3):
    there = [check for check, (applies, _) in CHECKS.items() if applies(case)]
    weights = np.array([CHECKS[check][1] for check in there], float)
    picked = case.rng.choice(len(there), min(count, len(there)), replace=False, p=weights / weights.sum())
    return [there[i] for i in picked]
