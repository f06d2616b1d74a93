"""Running the core: threads, seeds, progress bar, warnings."""

import numbers
import os
import sys
import warnings

import joblib
import numpy as np
from sklearn.exceptions import ConvergenceWarning


def thread_count(n_jobs):
    """The number of threads for `n_jobs`; results do not depend on it.

    None means all cores that this process may use, but one inside a joblib worker, and never more than OMP_NUM_THREADS,
    which joblib and others set so that concurrent processes share the cores.
    """
    if n_jobs is not None:
        if not isinstance(n_jobs, numbers.Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
            raise ValueError(f"n_jobs = {n_jobs!r}, need None, a count, or -1 for all cores")
        return joblib.effective_n_jobs(int(n_jobs))
    backend, _ = joblib.parallel.get_active_backend()
    if (backend.nesting_level or 0) > 0:
        return 1
    limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    cores = joblib.cpu_count()
    return min(cores, int(limit)) if limit.isdigit() and int(limit) > 0 else cores


def repeats(wanted, name):
    """None or a number of runs, for the core, which knows how many there may be."""
    if wanted is None:
        return None
    if isinstance(wanted, numbers.Integral) and not isinstance(wanted, (bool, np.bool_)) and abs(wanted) < 2**63:
        return int(wanted)
    raise ValueError(f"{name} = {wanted!r}, need None, or 2..1000")


def seed_of(random_state):
    """The core's seed: the integer itself, as in the command and C++, or one drawn from the given generator."""
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        if not 0 <= random_state < 2**64:
            raise ValueError(f"random_state = {random_state}, need 0 .. 2^64 - 1")
        return int(random_state)
    if random_state is None:
        return int(np.random.default_rng().integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    raise ValueError(f"random_state = {random_state!r}, need an integer, a RandomState, a Generator or None")


class ProgressBar:
    """One line on standard error, redrawn as the core reports."""

    def __init__(self, name):
        self._name = name
        self._length = 0

    def __call__(self, stage, fraction, line):
        line = f"{self._name} {line}"
        sys.stderr.write("\r" + line.ljust(self._length))
        sys.stderr.flush()
        self._length = len(line)

    def close(self):
        if self._length:
            sys.stderr.write("\n")
            sys.stderr.flush()


def progress_for(verbose, name):
    """A line of progress if `verbose` is set, else None."""
    return ProgressBar(name) if verbose else None


def warn_all(found, stacklevel):
    """Raises the core's warnings, pairs of a kind and a message, as Python warnings."""
    for kind, message in found:
        category = ConvergenceWarning if kind == "convergence" else UserWarning
        warnings.warn(message, category, stacklevel=stacklevel + 1)
