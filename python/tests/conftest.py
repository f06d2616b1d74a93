"""What the tests of the Python package share."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before SciPy is imported: scikit-learn's checks of array_api input need it

import tamis  # noqa: E402

pytest_plugins = ["skips", "seeds"]

ROOT = Path(__file__).resolve().parents[2]
NATIVE = Path(os.environ.get("TAMIS_NATIVE", ROOT / "build" / "tamis"))
GOLDEN = ROOT / "tests" / "golden"

SELECTORS = {method["name"]: getattr(tamis, method["python_name"]) for method in tamis._core.methods()}


def planted(n=120, d=12, c=3, informative=4, seed=0):
    """Rows around c centres that differ in the first columns; noise of deviation 1 in all."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, :informative] += 6 * rng.standard_normal((c, informative))[np.arange(n) % c]
    return X


def make(name, **options):
    """A selector with 3 clusters, where it has clusters; options that it does not have are left out."""
    kind = SELECTORS[name]
    known = kind().get_params()
    return kind(**{key: value for key, value in {"n_clusters": 3, **options}.items() if key in known})


def same_fit(a, b):
    """Two fitted selectors agree to the last bit."""
    assert np.array_equal(a.get_support(), b.get_support())
    for name in ("scores_", "ranking_", "share_", "evidence_", "alignment_", "labels_", "components_", "cluster_centers_",
                 "objective_"):
        assert hasattr(a, name) == hasattr(b, name), name
        if hasattr(a, name):
            assert np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True), name


def child(code, *words, timeout=60):
    """The words that a Python process of its own printed; it must end well."""
    paths = os.pathsep.join([os.path.dirname(os.path.dirname(tamis.__file__)), os.path.dirname(__file__)])
    command = [sys.executable, "-W", "ignore", "-c", code, *map(str, words)]
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split()


@pytest.fixture(params=SELECTORS)
def name(request):
    """Each method in turn."""
    return request.param
