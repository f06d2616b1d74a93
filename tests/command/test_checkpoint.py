"""--checkpoint: a run that is killed at any moment is taken up again, and ends in the same bytes."""

import random
import signal
import subprocess
import time

import numpy as np
import pytest
from conftest import COMMAND, PYTHON_COMMAND, SANITIZED, planted, refused, same, select, tamis, write_npy

OPTIONS = ["-c", "5", "--tolerance", "0", "--iterations", "40", "--restarts", "3", "--threads", "1"]


def table(folder, rows=20000, columns=40):
    return write_npy(folder / "x.npy", planted(rows, columns))


def kill_at(seconds, *words):
    """True where the run was killed, false where it was done before."""
    child = subprocess.Popen([str(COMMAND), *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        assert child.wait(seconds) == 0, child.stderr.read()
        return False
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGKILL)
        child.wait()
        return True
    finally:
        child.stderr.close()


@pytest.mark.parametrize("options", [[], ["--alpha", "0.4"], ["--alpha", "3"]], ids=["alpha 1", "alpha .4", "alpha 3"])
def test_killed_again_and_again(tmp_path, options):
    path, state, rng = table(tmp_path), tmp_path / "run.state", random.Random(0)
    start = time.perf_counter()
    whole = select(path, *OPTIONS, *options)
    duration = time.perf_counter() - start
    words = ["select", path, *OPTIONS, *options, "--checkpoint", state, "--json"]
    kills, seen = 0, set()
    while kills < (3 if SANITIZED or PYTHON_COMMAND else 10):
        if not kill_at(rng.uniform(0.1, 0.9) * duration, *words):
            assert not state.exists()
            continue
        kills += 1
        seen.add(state.read_bytes() if state.exists() else b"")
    assert any(seen)
    same(whole, select(*words[1:-1]))
    assert not state.exists() and [file.name for file in tmp_path.iterdir()] == ["x.npy"]


@pytest.fixture
def killed(tmp_path):
    """A table, and the state of a run that was killed after some iterations."""
    path, state = table(tmp_path), tmp_path / "run.state"
    words = ["select", path, "-c", "5", "--tolerance", "0", "--iterations", "100000", "--checkpoint", state]
    seconds = 1.0
    while not state.exists():
        assert kill_at(seconds, *words)
        seconds *= 2
    return words, state


def test_says_where_it_went_on(tmp_path):
    path, state = table(tmp_path), tmp_path / "run.state"
    words = ["select", path, "-c", "5", "--tolerance", "0", "--iterations", "150", "--checkpoint", state]
    while not state.exists():
        kill_at(0.5, *words)
    run = tamis(*words)
    assert run.code == 0 and "went on from" in run.err and "run.state at iteration" in run.err, str(run)


@pytest.mark.hostile
def test_another_run_is_refused(killed, tmp_path):
    words, state = killed
    before = state.read_bytes()
    for change in [["--seed", "1"], ["--alpha", "2"], ["--scale", "standard"], ["--exclude", "3"]]:
        refused(tamis(*words, *change, "--quiet"), 2, "run.state", "another run")
    X = np.load(words[1])
    for changed in [X[:-1], X[::-1], X + np.eye(*X.shape) * 1e-9]:
        refused(tamis("select", write_npy(tmp_path / "y.npy", changed), *words[2:], "--quiet"), 2, "another run")
    refused(tamis(*words, "-m", "maxvar", "--quiet"), 2, "maxvar")
    assert state.read_bytes() == before


@pytest.mark.hostile
def test_damage_is_refused(killed):
    words, state = killed
    good, rng = state.read_bytes(), random.Random(1)
    for i in range(10 if SANITIZED or PYTHON_COMMAND else 100):
        spoilt = bytearray(good)
        at = rng.randrange(len(good)) if i % 2 else rng.randrange(200)
        if i % 3 == 0:
            spoilt = spoilt[:at]
        elif i % 3 == 1:
            spoilt[at] ^= 1 << rng.randrange(8)
        else:
            spoilt[at:at] = b"x"
        state.write_bytes(spoilt)
        refused(tamis(*words, "--quiet"), 3, "run.state")
        assert state.read_bytes() == spoilt


@pytest.mark.hostile
def test_places_that_cannot_hold_it(tmp_path):
    path = write_npy(tmp_path / "x.npy", planted())
    refused(tamis("select", path, "-c", "3", "--checkpoint", tmp_path, "--quiet"), 2, "checkpoint")
    refused(tamis("select", path, "-c", "3", "--checkpoint", "/proc/none/x", "--quiet"), (2, 5))
    (tmp_path / "text").write_text("precious")
    refused(tamis("select", path, "-c", "3", "--checkpoint", tmp_path / "text", "--quiet"), 3, "not a checkpoint")
    assert (tmp_path / "text").read_text() == "precious"
