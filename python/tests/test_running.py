"""Long calls beside the rest of a program: the GIL, Ctrl-C, threads, forks, joblib, the progress bar."""

import contextlib
import io
import os
import re
import signal
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from conftest import SELECTORS, child, make, planted, same_fit
from limits import at_rest

import tamis
from tamis import _core, _running

pytestmark = pytest.mark.filterwarnings("ignore:MCFS. the graph is in", "ignore:RUFS. not converged")

X = planted(200, 15)
CORES = len(os.sched_getaffinity(0))


def long_fit(n_jobs=None, **options):
    """A second of work or so."""
    return tamis.UFCM(n_clusters=10, tol=0, max_iter=100, n_jobs=n_jobs, **options)


LONG = np.random.default_rng(0).standard_normal((20000, 100))


def test_the_gil_is_released():
    """Another thread counts on while a fit runs: it is never kept out for long."""
    longest, stop = 0.0, False

    def count():
        nonlocal longest
        last = time.perf_counter()
        while not stop:
            time.sleep(0)  # gives way, so that whoever holds the GIL may take all of it
            now = time.perf_counter()
            longest, last = max(longest, now - last), now

    thread = threading.Thread(target=count)
    thread.start()
    start = time.perf_counter()
    long_fit(n_jobs=1).fit(LONG)
    seconds = time.perf_counter() - start
    stop = True
    thread.join()
    assert seconds > 0.2, "too short to tell"
    assert longest < seconds / 2, (longest, seconds)


# --- Ctrl-C ----------------------------------------------------------------------------------------------------------

INTERRUPTED = """
import signal, threading, time
import numpy as np
from conftest import SELECTORS, make

SHAPES = {name: (20000, 200) for name in SELECTORS} | {
    "guided": (8000, 400), "maxvar": (40000, 500), "lapscore": (40000, 100), "spec": (40000, 100), "mcfs": (20000, 100),
    "ndfs": (8000, 200), "rufs": (8000, 200),
}
numbers = np.random.default_rng(0).standard_normal(max(n * d for n, d in SHAPES.values()))
small = numbers[:2000].reshape(200, 10)


def interrupt():
    global sent
    time.sleep(0.25)
    sent = time.perf_counter()
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


for name, (n, d) in SHAPES.items():
    X = numbers[: n * d].reshape(n, d)
    expected = make(name, max_iter=2, tol=0).fit(small).scores_
    threading.Thread(target=interrupt).start()
    try:
        while True:  # a method that is quick starts again
            make(name, n_clusters=10, max_iter=100000, tol=0, n_init=50).fit(X)
    except KeyboardInterrupt:
        print(name, time.perf_counter() - sent)
    assert np.array_equal(make(name, max_iter=2, tol=0).fit(small).scores_, expected)  # and Python goes on
"""


def test_ctrl_c(record_property):
    words = child(INTERRUPTED)
    seconds = dict(zip(words[::2], map(float, words[1::2]), strict=True))
    record_property("seconds until KeyboardInterrupt", seconds)
    assert set(seconds) == set(SELECTORS) and max(seconds.values()) < at_rest(2)


def test_ctrl_c_with_a_handler_of_ones_own():
    """A handler that returns lets the fit go on; one that raises ends it with what it raised."""

    class Enough(Exception):
        pass

    calls = []

    def raising(*_):
        raise Enough

    before = signal.getsignal(signal.SIGALRM)
    try:
        signal.signal(signal.SIGALRM, lambda *_: calls.append(1))
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        same_fit(long_fit().fit(LONG), long_fit().fit(LONG))
        assert calls == [1]
        signal.signal(signal.SIGALRM, raising)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(Enough):
            tamis.UFCM(n_clusters=10, tol=0, max_iter=100000).fit(LONG)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# --- Threads ---------------------------------------------------------------------------------------------------------


def test_fits_in_threads_at_once(name):
    tables = [planted(150, 12, seed=seed) for seed in range(8)]
    serial = [make(name).fit(table) for table in tables]
    with ThreadPoolExecutor(4) as pool:
        for found, expected in zip(pool.map(lambda table: make(name).fit(table), tables), serial, strict=True):
            same_fit(found, expected)


def test_any_number_of_threads_gives_the_same_bits(name):
    expected = make(name, n_jobs=1).fit(X)
    for n_jobs in (2, 5, -1, None):
        same_fit(make(name, n_jobs=n_jobs).fit(X), expected)


def test_limits_of_threadpoolctl_do_not_change_the_bits(name):
    threadpoolctl = pytest.importorskip("threadpoolctl")
    expected = make(name).fit(X)
    for limit in (1, 4):
        with threadpoolctl.threadpool_limits(limits=limit):
            same_fit(make(name).fit(X), expected)


def test_numpy_keeps_its_threads():
    """The core's BLAS is its own: what numpy's may use stays as it was."""
    threadpoolctl = pytest.importorskip("threadpoolctl")

    def of_numpy():
        pools = threadpoolctl.threadpool_info()
        return {one["filepath"]: one["num_threads"] for one in pools if "tamis" not in one["filepath"]}

    before = of_numpy()
    make("ufcm").fit(X)
    assert {path: count for path, count in of_numpy().items() if path in before} == before


def most_threads(work):
    """The most threads that this process had while work() ran, over those it had before."""
    stop, most = False, 0
    time.sleep(0.2)  # for threads of earlier work to be gone
    before = len(os.listdir("/proc/self/task")) + 1  # and the watcher

    def watch():
        nonlocal most
        while not stop:
            most = max(most, len(os.listdir("/proc/self/task")))
            time.sleep(0.002)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        work()
    finally:
        stop = True
        thread.join()
    return most - before


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts threads in /proc")
def test_no_more_threads_than_asked_for():
    make("ufcm").fit(X)  # whatever starts once has started
    for n_jobs in (1, 3, CORES):
        assert most_threads(lambda n=n_jobs: long_fit(n).fit(LONG)) <= n_jobs - 1, n_jobs


def test_thread_count(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert _running.thread_count(None) == joblib.cpu_count()
    assert [_running.thread_count(n) for n in (1, 3, -1, np.int64(2))] == [1, 3, joblib.cpu_count(), 2]
    monkeypatch.setenv("OMP_NUM_THREADS", "1,2")
    assert _running.thread_count(None) == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert _running.thread_count(None) == joblib.cpu_count()


# --- Processes -------------------------------------------------------------------------------------------------------

FORKS = """
import multiprocessing, os, sys
from conftest import make, planted

def work(name):
    return make(name, n_jobs=2).fit(planted(150, 12)).scores_.tobytes()

if __name__ == "__main__":
    names = ["ufcm", "lapscore", "ndfs", "rufs"]
    expected = [work(name) for name in names]  # threads have run before the fork
    if sys.argv[2] == "os":
        for name, one in zip(names, expected):
            reading, writing = os.pipe()
            if os.fork() == 0:
                os.write(writing, work(name))
                os._exit(0)
            os.close(writing)
            found = open(reading, "rb").read()
            assert found == one and os.wait()[1] == 0
        assert [work(name) for name in names] == expected  # and the parent goes on
    else:
        with multiprocessing.get_context(sys.argv[2]).Pool(2) as pool:
            assert pool.map(work, names) == expected
    print("same")
"""


@pytest.mark.parametrize("way", ["os", "fork", "spawn"])
def test_after_a_fork(way, tmp_path):
    (tmp_path / "forks.py").write_text(FORKS)
    run = "import runpy, sys; runpy.run_path(sys.argv[1], run_name='__main__')"
    assert child(run, tmp_path / "forks.py", way) == ["same"]


def fit_and_count(name, X):
    """Scores, and the threads that n_jobs=None came to."""
    return make(name).fit(X).scores_, _running.thread_count(None)


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_joblib(backend):
    jobs = [(name, planted(150, 12, seed=seed)) for name in ("ufcm", "mcfs") for seed in range(3)]
    expected = [fit_and_count(*job)[0] for job in jobs]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parallel = joblib.Parallel(n_jobs=2, backend=backend, timeout=60)
        found = parallel(joblib.delayed(fit_and_count)(*job) for job in jobs)
    for (scores, threads), one in zip(found, expected, strict=True):
        assert np.array_equal(scores, one)
        assert threads == 1, "workers side by side must not take all the cores each"


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts threads in /proc")
def test_joblib_threads_are_not_multiplied():
    """Fits in joblib's threads add none to those that joblib has anyway."""

    def work(call, *words):
        joblib.Parallel(n_jobs=2, backend="threading")(joblib.delayed(call)(*words) for _ in range(2))

    work(long_fit().fit, LONG)  # whatever starts once has started
    idle = most_threads(lambda: work(time.sleep, 0.3))
    assert most_threads(lambda: work(long_fit().fit, LONG)) <= idle


# --- The progress bar ------------------------------------------------------------------------------------------------


def test_nothing_is_printed(name, capfd):
    make(name).fit(X)
    assert capfd.readouterr() == ("", "")


def test_a_progress_bar_where_asked_for(name, capfd):
    make(name, verbose=1).fit(X)
    out, err = capfd.readouterr()
    assert out == "" and err.endswith("\n") and err.count("\n") == 1
    last = err.rstrip("\n").split("\r")[-1]
    assert last.rstrip() == SELECTORS[name].__name__ + " done"


def test_the_count_of_iterations_only_grows():
    with contextlib.redirect_stderr(io.StringIO()) as err:
        long_fit(verbose=1).fit(LONG)
    done = [int(count.replace(",", "")) for count in re.findall(r"([\d,]+) of (?:at most )?[\d,]+ iter", err.getvalue())]
    assert done == sorted(done) and len(done) >= 2


def test_verbose_changes_no_number(name):
    with contextlib.redirect_stderr(io.StringIO()):
        same_fit(make(name, verbose=1).fit(X), make(name).fit(X))


def test_a_bar_is_ended_before_an_error():
    bad = X.copy()
    bad[3, 3] = np.nan
    with contextlib.redirect_stderr(io.StringIO()) as err, pytest.raises(ValueError):
        make("ufcm", verbose=1).fit(bad)
    assert err.getvalue() == "" or err.getvalue().endswith("\n")


def test_what_the_callback_raises_surfaces():
    class Enough(Exception):
        pass

    def stop(stage, fraction, line):
        assert isinstance(stage, str) and (fraction is None or 0 <= fraction <= 1) and isinstance(line, str)
        raise Enough("of this")

    for threads in (1, 4):
        with pytest.raises(Enough, match="of this"):
            _core.select("ufcm", LONG, {"n_clusters": 10, "max_iter": 100000, "tol": 0}, threads=threads, progress=stop)
    same_fit(make("ufcm").fit(X), make("ufcm").fit(X))


def test_a_broken_standard_error_surfaces():
    class Closed(io.StringIO):
        def write(self, _):
            raise BrokenPipeError("gone")

    with contextlib.redirect_stderr(Closed()), pytest.raises(BrokenPipeError):
        long_fit(verbose=1).fit(LONG)
