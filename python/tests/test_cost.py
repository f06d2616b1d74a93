"""What Python costs over the core: memory of a fit, milliseconds of a call, the time to import."""

import statistics
import time

import numpy as np
import pytest
from conftest import SELECTORS, child, make
from limits import at_rest

import tamis

# --- Memory ----------------------------------------------------------------------------------------------------------

MEMORY = """
import sys
import numpy as np
from conftest import make
from scipy import sparse

name, n, d, layout = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]

def status(key):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(key + ":"))

selector = make(name, n_clusters=8, max_iter=1, tol=0, n_init=1, n_jobs=2)
selector.fit(np.random.default_rng(0).standard_normal((300, 40)))  # whatever is loaded on use is loaded
if layout == "csr":
    steps = np.random.default_rng(0).integers(20, size=(n, d // 20), dtype=np.int32)
    columns = (np.arange(0, d, 20, dtype=np.int32) + steps).ravel()
    offsets = d // 20 * np.arange(n + 1, dtype=np.int32)
    X = sparse.csr_array((columns + 0.5, columns, offsets), shape=(n, d))
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
else:
    X = np.empty((n, d), order=layout)
    rows = np.random.default_rng(0).standard_normal((min(n, 500), d))
    for i in range(0, n, 500):
        X[i : i + 500] = rows[: n - i] * (1 + i / n)
    size = X.nbytes
open("/proc/self/clear_refs", "w").write("5")  # the peak starts again from here
before = status("VmRSS")
selector.fit(X)
print((status("VmHWM") - before) / size)
"""


def can_reset_the_peak():
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        return False
    return True


@pytest.mark.skipif(not can_reset_the_peak(), reason="the peak of resident memory is read from Linux's /proc")
@pytest.mark.parametrize(
    "method, rows, columns, layout",
    [
        ("ufcm", 100_000, 300, "C"),
        ("ufcm", 2_000, 10_000, "C"),
        ("ufcm", 1_000, 30_000, "C"),
        ("ufcm", 300, 100_000, "C"),
        ("lapscore", 300, 100_000, "C"),
        ("ndfs", 300, 100_000, "C"),
        ("maxvar", 100_000, 300, "C"),
        ("maxvar", 100_000, 300, "F"),
        ("maxvar", 100_000, 1_000, "csr"),
    ],
)
def test_memory_of_a_fit(method, rows, columns, layout, record_property):
    """At most 30 % of the table over the table itself, which is read in place; with two threads."""
    share = float(child(MEMORY, method, rows, columns, layout)[0])
    record_property("memory over that of X", round(share, 3))
    assert share <= 0.3


# --- Time ------------------------------------------------------------------------------------------------------------


def test_overhead_of_a_call(name, record_property):
    """A fit takes less than 5 ms over what the core itself reports."""
    X = np.random.default_rng(0).standard_normal((1000, 100))
    selector = make(name, max_iter=2, tol=0, n_init=1)

    def over():
        start = time.perf_counter()
        selector.fit(X)
        return 1000 * (time.perf_counter() - start - selector.report_["seconds"])

    milliseconds = statistics.median(over() for _ in range(15))
    record_property("milliseconds over the core", round(milliseconds, 2))
    assert milliseconds < at_rest(5)


IMPORTS = """
import sys, time
import sklearn.feature_selection
theirs = set(sys.modules)
middle = time.perf_counter()
import tamis
if len(sys.argv) > 1:
    getattr(tamis, sys.argv[1])
end = time.perf_counter()
print(1000 * (end - middle), *sorted(sys.modules.keys() - theirs))
"""
HEAVY = {"pandas", "matplotlib", "anndata", "dask", "pyarrow", "polars", "h5py"}
# scikit-learn itself loads pandas where it is installed.
BEFORE = "import sys, numpy as np, sklearn.feature_selection; theirs = set(sys.modules); "


@pytest.mark.parametrize("words", [[], ["UFCM"]], ids=["tamis", "tamis.UFCM"])
def test_import(words, record_property):
    """Under 100 ms over scikit-learn."""
    milliseconds, *modules = child(IMPORTS, *words)
    record_property("milliseconds", milliseconds)
    assert not HEAVY & set(modules)
    assert float(milliseconds) < at_rest(100)


def test_import_alone():
    """Before any selector is named, not even numpy is loaded."""
    assert not {"sklearn", "numpy", "scipy"} & set(child("import sys, tamis; dir(tamis); print(*sys.modules)"))


def test_a_fit_loads_nothing_heavy():
    fit = "import tamis; tamis.UFCM(n_clusters=2).fit(np.random.rand(50, 5)); print(*(set(sys.modules) - theirs))"
    loaded = set(child(BEFORE + fit))
    assert "tamis._selectors" in loaded and not HEAVY & loaded


def test_names_of_the_package():
    assert all(getattr(tamis, kind.__name__) is kind for kind in SELECTORS.values())
    selectors = {kind.__name__ for kind in SELECTORS.values()}
    assert set(dir(tamis)) >= selectors | {"read", "compare", "select_genes", "metrics", "plot"}
    with pytest.raises(AttributeError, match="nosuch"):
        _ = tamis.nosuch
