"""--checkpoint: a run that is killed at any moment is taken up again, and ends in the same bytes."""

import hashlib
import random
import signal
import struct
import subprocess
import time

import numpy as np
import pytest
from conftest import COMMAND, PYTHON_COMMAND, SANITIZED, planted, refused, same, select, tamis, write_npy

OPTIONS = ["-m", "ufcm", "-c", "5", "--tolerance", "0", "--iterations", "40", "--restarts", "3", "--threads", "1"]


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
    words = ["select", path, "-m", "ufcm", "-c", "5", "--tolerance", "0", "--iterations", "100000", "--checkpoint", state]
    seconds = 1.0
    while not state.exists():
        assert kill_at(seconds, *words)
        seconds *= 2
    return words, state


def test_says_where_it_went_on(tmp_path):
    path, state = table(tmp_path), tmp_path / "run.state"
    words = ["select", path, "-m", "ufcm", "-c", "5", "--tolerance", "0", "--iterations", "150", "--checkpoint", state]
    while not state.exists():
        kill_at(0.5, *words)
    run = tamis(*words)
    assert run.code == 0 and "resumed from" in run.err and "run.state at iteration" in run.err, str(run)


@pytest.mark.hostile
def test_another_run_is_refused(killed, tmp_path):
    words, state = killed
    before = state.read_bytes()
    weights = write_npy(tmp_path / "w.npy", np.arange(20000) % 3)
    for change in [["--seed", "1"], ["--alpha", "2"], ["--scale", "standard"], ["--exclude", "3"], ["--sample-weight", weights]]:
        refused(tamis(*words, *change, "--quiet"), 2, "run.state", "another run")
    X = np.load(words[1])
    for changed in [X[:-1], X[::-1], X + np.eye(*X.shape) * 1e-9]:
        refused(tamis("select", write_npy(tmp_path / "y.npy", changed), *words[2:], "--quiet"), 2, "another run")
    refused(tamis(*[("maxvar" if word == "ufcm" else word) for word in words[:6]], *words[-2:], "--quiet"), 2, "maxvar")
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
    refused(tamis("select", path, "-m", "ufcm", "-c", "3", "--checkpoint", tmp_path, "--quiet"), 2, "checkpoint")
    refused(tamis("select", path, "-m", "ufcm", "-c", "3", "--checkpoint", "/proc/none/x", "--quiet"), (2, 5))
    (tmp_path / "text").write_text("precious")
    refused(tamis("select", path, "-m", "ufcm", "-c", "3", "--checkpoint", tmp_path / "text", "--quiet"), 3, "not a checkpoint")
    assert (tmp_path / "text").read_text() == "precious"


@pytest.mark.hostile
def test_files_of_others_stay(tmp_path):
    path = write_npy(tmp_path / "x.npy", planted())
    home = tmp_path / "home"
    home.mkdir()
    names = [".bashrc.backup", ".vimrc.before", ".rc.backup", ".rc.123456", ".11rc.tamis-abcdef", "rc.tamis-abcdef"]
    for name in names:
        (home / name).write_text("precious")
    (home / ".rc.tamis-folder").mkdir()
    (home / ".rc.tamis-linked").symlink_to(tmp_path / "x.npy")
    (home / ".rc.tamis-dead00").write_text("of a run that was killed")
    select(path, "-m", "ufcm", "-c", "3", "--checkpoint", home / "rc")
    assert sorted(file.name for file in home.iterdir()) == sorted([*names, ".rc.tamis-folder", ".rc.tamis-linked"])
    assert all((home / name).read_text() == "precious" for name in names) and path.exists()


@pytest.mark.hostile
def test_the_result_is_not_the_checkpoint(tmp_path):
    path, out = write_npy(tmp_path / "x.npy", planted()), tmp_path / "out"
    for state in [out / "selection.json", out / ".." / "out" / "report.html"]:
        refused(tamis("select", path, "-c", "3", "-o", out, "--checkpoint", state, "--quiet"), 2, "checkpoint")


@pytest.mark.hostile
@pytest.mark.parametrize("out, state", [
    ("./out", "out/selection.json"), ("out", "./out/selection.json"), ("out/", "out//ranking.csv"), ("{}/out", "out/report.html"),
    ("out", "{}/out/clusters.csv"), ("./out", "out/../out/ranking.csv"), ("link/out", "real/out/selection.json"),
    ("out", "out"), ("./out/", "out"), ("out/of/it", "out"), ("out", "out/.tamis-commit"),
])
def test_the_result_is_not_the_checkpoint_however_it_is_spelled(tmp_path, out, state):
    """Where nothing of both is there yet."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    write_npy(tmp_path / "x.npy", planted())
    places = ["-o", out.format(tmp_path), "--checkpoint", state.format(tmp_path)]
    refused(tamis("select", "x.npy", "-m", "ufcm", "-c", "3", "--quiet", *places, cwd=tmp_path), 2, "checkpoint")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["link", "real", "x.npy"]


def test_a_checkpoint_may_stand_in_the_folder_of_results(tmp_path):
    path, out = write_npy(tmp_path / "x.npy", planted()), tmp_path / "out"
    select(path, "-m", "ufcm", "-c", "3", "-o", out, "--checkpoint", out / "state")
    assert (out / "selection.json").exists() and not (out / "state").exists()


@pytest.mark.hostile
def test_no_name_is_refused(tmp_path):
    path = write_npy(tmp_path / "x.npy", planted())
    refused(tamis("select", path, "-m", "ufcm", "-c", "3", "--checkpoint", ""), 2, "checkpoint", "empty name")


def test_a_result_that_is_lost_leaves_the_checkpoint(tmp_path):
    path, state = write_npy(tmp_path / "x.npy", planted()), tmp_path / "state"
    words = ["select", path, "-m", "ufcm", "-c", "3", "--checkpoint", state]
    with open("/dev/full", "w") as full:
        assert tamis(*words, stdout=full).code == 5
    assert state.exists()
    same(select(*words[1:-2]), select(*words[1:]))
    assert not state.exists()


def parts(file):
    """Key and state of a checkpoint."""
    rest = file.split(b"\n", 2)[2]
    size, rest = rest.split(b"\n", 1)
    return rest[: int(size)], bytearray(rest[int(size) :])


def joined(key, state):
    """The file, its sum correct."""
    covered = b"%d\n" % len(key) + key + state
    return b"tamis checkpoint 1\n" + hashlib.sha256(covered).hexdigest().encode() + b"\n" + covered


def changed(state, rng):
    """One number, or the length."""
    state, at = bytearray(state), 4 * rng.randrange(len(state) // 4 - 1)
    numbers = [0, 1, 2**31, 2**62, -1, -(2**40), rng.randrange(100)]
    reals = [float("nan"), float("inf"), 1e300, -1.0, 0.5, 1e-3]
    word = rng.choice([struct.pack("<q", rng.choice(numbers)), struct.pack("<d", rng.choice(reals)),
                       struct.pack("<i", rng.choice([-1, 3, 7, 2**30, -(2**31), 1]))])
    state[at : at + len(word)] = word
    return state[:at] if rng.random() < 0.1 else state


@pytest.mark.hostile
@pytest.mark.parametrize("options", [[], ["--alpha", "0.4"]], ids=["alpha 1", "alpha .4"])
def test_changed_states_are_refused(tmp_path, options):
    """Whatever a state says behind a correct sum: one line, or the result that the run would have had."""
    path, state, rng = write_npy(tmp_path / "x.npy", planted(60, 6)), tmp_path / "run.state", random.Random(3)
    words = [path, "-m", "ufcm", "-c", "3", "--tolerance", "0", *options, "--checkpoint", state, "--iterations"]
    key, good, at = b"", b"", 0
    while at < 500:  # converged, however slow the machine is
        kill_at(0.5, "select", *words, 10**9)
        if state.exists():
            key, good = parts(state.read_bytes())
            at = struct.unpack_from("<q", good)[0]
    last = at + 5
    key = key.replace(b"iterations=1000000000\n", b"iterations=%d\n" % last)
    state.write_bytes(joined(key, good))
    whole = select(*words, last)
    assert whole["report"]["resumed_at"] == at
    for _ in range(12 if SANITIZED or PYTHON_COMMAND else 150):
        state.write_bytes(joined(key, changed(good, rng)))
        run = tamis("select", *words, last, "--json", "--quiet")
        if run.code == 0:
            assert np.allclose(run.json["scores"], whole["scores"], atol=1e-6), str(run)
        else:
            refused(run, 3, "run.state", "damaged")
