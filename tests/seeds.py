"""TAMIS_SEED_SWEEP=N gives every Python test other random tables than its own, one set for each N: what a test claims must
not hinge on the seed it happens to use."""

import os

import numpy as np

SWEEP = int(os.environ.get("TAMIS_SEED_SWEEP", "0"))


def pytest_configure(config):
    if SWEEP == 0:
        return
    original = np.random.default_rng
    np.random.default_rng = lambda seed=None: original(seed + 1000003 * SWEEP if isinstance(seed, int) else seed)
