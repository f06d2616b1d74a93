"""How the tests call the built command: TAMIS_COMMAND, or build/tamis. One suite for the native one and Python's."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from limits import at_rest

ROOT = Path(__file__).resolve().parent.parent.parent
COMMAND = Path(os.environ.get("TAMIS_COMMAND", ROOT / "build" / "tamis")).resolve()
DATA = Path(os.environ.get("TAMIS_DATA", ROOT.parent / "shared" / "data"))
SANITIZED = "asan" in str(COMMAND)
# The package's command is a script. It starts slower and reads as the native one, so files are cut by larger steps.
PYTHON_COMMAND = COMMAND.is_file() and COMMAND.open("rb").read(2) == b"#!"
INTERPRETER_BYTES = 10e6 if PYTHON_COMMAND else 0  # resident before the command has done anything


pytest_plugins = ["skips", "seeds"]


def pytest_sessionstart(session):
    if not COMMAND.is_file():
        pytest.exit(f"no command at {COMMAND}: run make build, or set TAMIS_COMMAND", returncode=2)


def is_for_this_command(item):
    marks = {mark.name for mark in item.iter_markers()}
    if "shared" in marks and "python" not in marks and PYTHON_COMMAND and not os.environ.get("TAMIS_ALL"):
        return False
    absent = {"native": PYTHON_COMMAND, "python": not PYTHON_COMMAND, "unsanitized": SANITIZED}
    return not any(absent.get(mark) for mark in marks)


def pytest_collection_modifyitems(config, items):
    """What is not meant for the command at hand is left out; it is not skipped, since nothing is missing."""
    left_out = [item for item in items if not is_for_this_command(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def needs_data(name):
    return pytest.mark.skipif(not (DATA / name).is_file(), reason=f"no {name} in {DATA} (TAMIS_DATA)")


@dataclass
class Run:
    code: int
    out: str
    err: str
    seconds: float

    @property
    def json(self):
        return json.loads(self.out)

    def __str__(self):
        return f"exit {self.code} after {self.seconds:.2f} s\nstdout: {self.out[:500]!r}\nstderr: {self.err[:2000]!r}"


def tamis(*arguments, stdin=None, stdout=subprocess.PIPE, timeout=30, cwd=None, env=None):
    """Runs the command to its end."""
    start = time.perf_counter()
    done = subprocess.run([str(COMMAND), *map(str, arguments)], input=stdin, stdout=stdout, stderr=subprocess.PIPE,
                          timeout=timeout * (4 if SANITIZED else 1), cwd=cwd, env={**os.environ, **(env or {})})
    out = (done.stdout or b"").decode("utf-8", "backslashreplace")
    return Run(done.returncode, out, done.stderr.decode("utf-8", "backslashreplace"), time.perf_counter() - start)


def seen_on_a_terminal(*arguments, columns=80, **keywords):
    """What the command prints on a terminal of that width; its exit code too."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    streams = {"stdout": follower, "stderr": follower, **keywords}
    child = subprocess.Popen([COMMAND, *map(str, arguments)], **streams)
    os.close(follower)
    seen = b""
    try:
        while piece := os.read(leader, 65536):
            seen += piece
    except OSError:  # the other end is closed
        pass
    os.close(leader)
    return seen.decode(), child.wait()


def select(*arguments, **keywords):
    """The JSON of a successful `tamis select`."""
    run = tamis("select", *arguments, "--json", **keywords)
    assert run.code == 0, f"select {arguments}: {run}"
    return run.json


def refused(run, codes, *words, seconds=5):
    """Exit with one of the codes, exactly one line of error that holds the words, no result, in bounded time."""
    codes = (codes,) if isinstance(codes, int) else codes
    assert run.code in codes, str(run)
    assert run.out == "", str(run)
    assert run.err.startswith("tamis: ") and run.err.endswith("\n") and run.err.count("\n") == 1, str(run)
    for word in words:
        assert str(word).lower() in run.err.lower(), f"{word!r} is not in the message: {run}"
    assert run.seconds < at_rest(seconds), str(run)


# A process started from here would inherit this one's peak memory, so a small one starts and measures it.
LAUNCHER = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024)
"""


def peak_memory(*arguments):
    """Exit code, and peak resident bytes of the command."""
    words = [sys.executable, "-S", "-c", LAUNCHER, str(COMMAND), *map(str, arguments)]
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True, timeout=60)
    code, peak = done.stdout.split()
    return int(code), int(peak)


def planted(n=120, d=12, c=3, informative=4, seed=0):
    """Rows around c centres that differ in the first columns; noise of deviation 1 in all."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, :informative] += 6 * rng.standard_normal((c, informative))[np.arange(n) % c]
    return X


def write_csv(path, X, names=None, separator=",", ids=None, end="\n"):
    """Numbers at 17 digits."""
    lines = []
    if names is not None:
        lines.append(separator.join(names))
    for i, row in enumerate(X):
        cells = [repr(float(x)) for x in row]
        lines.append(separator.join(cells if ids is None else [str(ids[i]), *cells]))
    path.write_bytes((end.join(lines) + end).encode())
    return path


def write_npy(path, X):
    np.save(path, X)
    return path


def same(a, b):
    """Two results of `select` agree to the last bit."""
    for key in ("selected", "scores", "clusters"):
        assert a[key] == b[key], f"{key} differs"
    for key in ("objective", "terms", "iterations", "status", "path"):
        assert a["report"][key] == b["report"][key], f"report.{key} differs"


def close(a, b, tolerance):
    """Scores agree to a fraction of the largest."""
    a, b = np.array(a["scores"], float), np.array(b["scores"], float)
    assert np.max(np.abs(a - b)) <= tolerance * np.max(np.abs(a)), np.max(np.abs(a - b)) / np.max(np.abs(a))
