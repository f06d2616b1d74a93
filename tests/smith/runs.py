"""Random runs: a method, its options by the names of both doors, and how the doors are called."""

import json
import os
import subprocess
import sys
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
NATIVE = Path(os.environ.get("TAMIS_NATIVE", ROOT / "build" / "tamis"))
PATIENCE = 120  # seconds; a run that takes longer hangs
REFUSALS = (2, 3, 4)  # exit codes that a random table or option may earn

CLASSES = {"guided": "GuidedUFCM", "ufcm": "UFCM", "maxvar": "MaxVariance", "lapscore": "LaplacianScore", "spec": "SPEC",
           "mcfs": "MCFS", "ndfs": "NDFS", "rufs": "RUFS", "css": "CSS",
           "sparsekm": "SparseKMeans", "fspca": "FSPCA", "udfs": "UDFS"}

# Flag -> name in Python, values. An option is given in one of three runs.
GRAPH = {"neighbors": ("n_neighbors", [1, 2, 5, 9]), "bandwidth": ("bandwidth", [0.5, 3.0]),
         "weights": ("weights", ["heat", "binary", "cosine"])}
CLUSTERS = {"clusters": ("n_clusters", [1, 2, 3, 5])}
OPTIONS = {
    "guided": {**CLUSTERS, "neighbors": ("n_neighbors", [2, 5, 9]), "runs": ("n_runs", [1, 3]),
               "scales": ("scales", [(2, 6), (3,)]), "sample": ("sample_size", [20, 60]),
               "evidence": ("evidence", [True, False])},
    "ufcm": {**CLUSTERS, "alpha": ("alpha", [0.0, 0.1, 0.5, 1.0, 3.0]), "sparsity": ("sparsity", [0.0, 0.05, 1.0]),
             "beta": ("beta", [0.0, 1.0, 50.0]), "p": ("p", [0.5, 1.0, 1.5, 2.0]), "dims": ("n_components", [1, 2, 3]),
             "restarts": ("n_init", [1, 3]), "iterations": ("max_iter", [1, 4, 25]), "tolerance": ("tol", [0.0, 1e-3]),
             "order": ("order", ["norm", "qr"])},
    "maxvar": {},
    "lapscore": GRAPH,
    "spec": {**CLUSTERS, **GRAPH, "function": ("function", [1, 2, 3])},
    "mcfs": {**CLUSTERS, **GRAPH, "dims": ("n_components", [1, 3]), "active": ("n_active", [1, 4]),
             "normalize": ("normalize", [True, False]), "ridge": ("ridge", [0.0, 1e-3])},
    "ndfs": {**CLUSTERS, **GRAPH, "alpha": ("alpha", [0.1, 1.0, 10.0]), "beta": ("beta", [0.1, 10.0]),
             "gamma": ("gamma", [1e4, 1e8]), "laplacian": ("laplacian", ["normalized", "plain"]), "clip": ("clip", [True, False]),
             "iterations": ("max_iter", [1, 5]), "restarts": ("n_init", [1, 3])},
    "rufs": {**CLUSTERS, **GRAPH, "alpha": ("alpha", [0.1, 1.0, 10.0]), "beta": ("beta", [0.1, 10.0]), "nu": ("nu", [0.0, 1.0]),
             "iterations": ("max_iter", [1, 3]), "restarts": ("n_init", [1, 3])},
    "sparsekm": {**CLUSTERS, "bound": ("bound", [1.0, 1.5, 3.0]), "permutations": ("n_permutations", [1, 3]),
                 "restarts": ("n_init", [1, 3]), "iterations": ("max_iter", [1, 5]), "tolerance": ("tol", [0.0, 1e-3])},
    "udfs": {**CLUSTERS, "gamma": ("gamma", [0.01, 1.0]), "ridge": ("ridge", [1.0, 1e3]), "neighbors": ("n_neighbors", [2, 9]),
             "iterations": ("max_iter", [1, 5])},
    "fspca": {"dims": ("n_components", [1, 2]), "iterations": ("max_iter", [1, 4])},
    "css": {"swaps": ("n_swaps", [1, 5]), "standardize": ("standardize", [True, False])},
}
SCALES = ["none"] * 6 + ["standard", "minmax", "unit"]
METHODS = list(OPTIONS)


@dataclass
class Run:
    """`tamis select` without its file."""

    method: str
    options: dict = field(default_factory=dict)  # by flag
    features: object = None  # a count, a fraction, "auto", "all" or None
    scale: str = "none"
    seed: int = 0
    include: tuple = ()
    exclude: tuple = ()

    def words(self):
        words = ["-m", self.method, "--seed", str(self.seed)]
        for flag, value in self.options.items():
            words += [f"--{flag}", as_word(value)]
        words += [] if self.features is None else ["-k", str(self.features)]
        words += [] if self.scale == "none" else ["--scale", self.scale]
        for flag, columns in (("--include", self.include), ("--exclude", self.exclude)):
            words += [flag, ",".join(map(str, columns))] if columns else []
        return words

    @property
    def is_plain_call(self):
        """Nothing that the selectors of Python do not have."""
        return self.scale == "none" and not self.include and not self.exclude

    def keywords(self):
        named = {OPTIONS[self.method][flag][0]: value for flag, value in self.options.items()}
        features = None if self.features == "all" else self.features
        if self.features is not None:
            named["n_features_to_select"] = features
        return {**named, "random_state": self.seed}


def as_word(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def random_run(rng, table, method=None):
    method = method or str(rng.choice(METHODS))
    run = Run(method, seed=int(rng.choice([0, 1, 2**40])))
    for flag, (_, values) in OPTIONS[method].items():
        if flag == "clusters" or rng.random() < 1 / 3:
            run.options[flag] = values[rng.integers(len(values))]
    d = table.shape[1]
    run.features = [None, None, "all", int(rng.integers(1, d + 1)), 0.4, "auto"][rng.integers(6)]
    run.scale = str(rng.choice(SCALES))
    if d > 3 and rng.random() < 0.15:
        columns = rng.permutation(d)
        run.include, run.exclude = tuple(sorted(map(int, columns[:1]))), tuple(sorted(map(int, columns[1:3])))
    return run


# --- The doors ---------------------------------------------------------------------------------------------------------


@dataclass
class Ended:
    words: list
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out, parse_constant=not_json)

    def __str__(self):
        return f"exit {self.code}: {' '.join(self.words)}\n    stderr: {self.err[:300]!r}"


def not_json(word):
    raise AssertionError(f"{word} is not JSON")


def command(*words, stdin=None, program=None):
    """Runs the native command, or another one, to its end; what no run may do is checked here."""
    words = [*(program or [str(NATIVE)]), *map(str, words)]
    done = subprocess.run(words, input=stdin, capture_output=True, timeout=PATIENCE)
    ended = Ended(words, done.returncode, done.stdout.decode(), done.stderr.decode())
    assert ended.code in (0, *REFUSALS), str(ended)
    if ended.code:
        one_line = ended.err.count("\n") == 1 and ended.err.startswith("tamis: ") and ended.err.endswith("\n")
        assert one_line and (ended.out == "" or words[1] == "compare"), str(ended)  # compare also prints what failed
    return ended


def select(path, run, *flags, program=None, stdin=None):
    return command("select", path, *run.words(), "--json", "--quiet", *flags, program=program, stdin=stdin)


PYTHON_COMMAND = [sys.executable, "-W", "ignore", "-m", "tamis"]


def fit(run, X, module=None):
    """A selector fitted through Python, or the words of its refusal."""
    import tamis

    selector = getattr(module or tamis, CLASSES[run.method])(**run.keywords())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return selector.fit(X), None
        except (ValueError, MemoryError) as error:
            return None, str(error)


def chosen(selector):
    order = np.argsort(selector.ranking_)
    return order[: selector.get_support().sum()].tolist()
