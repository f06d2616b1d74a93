"""What a run says on a terminal before it starts."""

import subprocess

import numpy as np
import pytest
from conftest import seen_on_a_terminal, tamis


def errors_on_a_terminal(*words):
    return seen_on_a_terminal(*words, stdout=subprocess.DEVNULL)[0]


@pytest.fixture
def long_run(tmp_path):
    """A table that lapscore needs minutes for, and refuses at once, since no column varies."""
    np.lib.format.open_memmap(tmp_path / "a.npy", mode="w+", dtype=np.uint8, shape=(200_000, 200)).flush()
    return tmp_path / "a.npy"


def test_a_run_of_minutes_says_so_on_a_terminal_only(long_run):
    words = ["select", long_run, "-m", "lapscore"]
    seen = errors_on_a_terminal(*words)
    assert "minutes; Ctrl-C stops" in seen, seen
    assert "Ctrl-C stops" not in tamis(*words).err
    assert "Ctrl-C stops" not in errors_on_a_terminal(*words, "--quiet")
    assert "Ctrl-C stops" not in errors_on_a_terminal("select", long_run, "-m", "maxvar")
    assert "minutes; Ctrl-C stops" in errors_on_a_terminal("compare", long_run, "-m", "lapscore,maxvar", "-k", "5")
