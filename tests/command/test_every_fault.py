"""Every allocation, thread, write, sync, rename, open and read fails in turn (faults.c): the run ends with 4 or 5 and one
line, with the old result or the new one whole and nothing left over; or it succeeds in spite of it.

The first and last faults of each kind are tried, and a spread sample between: TAMIS_FAULTS of them, so that 1000000 tries
every one, which takes hours."""

import errno
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import COMMAND, planted, tamis, write_npy

pytestmark = [pytest.mark.native, pytest.mark.unsanitized]

CODES = {"malloc": 4, "mmap": 4, "thread": 4, "write": 5, "sync": 5, "rename": 5, "create": 5, "open": 5, "read": 5}
ENDS, SAMPLED = 20, int(os.environ.get("TAMIS_FAULTS", 15))
VOLATILE = {"bytes", "peak_bytes", "forecast", "machine", "passes", "resumed_at", "run", "sha256"}  # besides all seconds


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    built = tmp_path_factory.mktemp("faults") / "faults.so"
    source = Path(__file__).with_name("faults.c")
    subprocess.run(["cc", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", built, source, "-ldl"], check=True)
    return built


def contents(folder):
    """Every file below, by its path; folders are there with None."""
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in sorted(folder.rglob("*"))}


def lasting(document):
    """A JSON document without what differs between two runs."""
    if isinstance(document, dict):
        return {key: lasting(value) for key, value in document.items()
                if key not in VOLATILE and "seconds" not in key}
    return [lasting(value) for value in document] if isinstance(document, list) else document


def essence(files):
    """What two runs of one command have in common: of JSON what lasts, of pages that they are whole, else the bytes."""
    found = {}
    for name, data in files.items():
        if name.endswith(".json"):
            found[name] = lasting(json.loads(data))
        else:
            found[name] = data.endswith(b"</html>\n") if name.endswith(".html") else data
    return found


def lacks_a_part(files):
    """compare and reproduce go on where one method or cell had no memory, and say so in the result."""
    return any(b'"error": "out of memory"' in data for name, data in files.items() if name.endswith(".json"))


class Job:
    """A command, the folder in which it runs, what is there before, and what a whole run makes of it."""

    def __init__(self, folder, library, words, earlier=(), results=("out",)):
        self.folder, self.library, self.words, self.results = folder, library, words, results
        write_npy(folder / "x.npy", planted(40, 6, informative=3))
        (folder / "sets").mkdir()
        np.savez(folder / "sets" / "tiny.npz", X=planted(24, 6, informative=3), y=np.arange(24) % 3)
        if earlier:
            assert tamis(*earlier, "--quiet", cwd=folder).code == 0
        self.before = contents(folder)
        done = self.run("write:0")
        assert done.returncode == 0 and done.stderr == b"", done
        self.after = essence(contents(self.folder))
        self.restore()

    def run(self, fault, error=errno.ENOSPC):
        log = self.folder.parent / "calls"
        environment = {**os.environ, "LD_PRELOAD": str(self.library), "TAMIS_FAULT": fault, "TAMIS_FAULT_ERRNO": str(error),
                       "TAMIS_FAULT_LOG": str(log), "TMPDIR": str(self.folder)}
        log.unlink(missing_ok=True)
        done = subprocess.run([str(COMMAND), *self.words, "--quiet"], cwd=self.folder, env=environment, timeout=60,
                              capture_output=True)
        self.calls = int(log.read_text()) if log.exists() else None
        return done

    def restore(self):
        for name in os.listdir(self.folder):
            if name not in self.before:
                shutil.rmtree(self.folder / name) if (self.folder / name).is_dir() else (self.folder / name).unlink()
        for name, data in self.before.items():
            path = self.folder / name
            if data is None:
                path.mkdir(exist_ok=True)
            elif not path.exists() or path.read_bytes() != data:
                path.write_bytes(data)

    def inputs(self, files):
        return {name: data for name, data in files.items() if not name.startswith(self.results)}

    def check(self, fault, done):
        """One line and the right code; the input as it was; the old result, or the new one whole."""
        where = f"{fault}: exit {done.returncode}, {done.stderr!r}"
        kind = fault.split(":")[0]
        assert done.returncode in (0, CODES[kind]), where
        told = done.stderr.count(b"\n") == 1 and done.stderr.startswith(b"tamis: ") and done.stderr.endswith(b"\n")
        assert done.stderr == b"" if done.returncode == 0 else told or (kind == "write" and done.stderr == b""), where
        if (self.folder / "out" / ".tamis-commit").exists():
            assert kind == "rename" and done.returncode == 5 and b"the next run" in done.stderr, where
            assert tamis("select", "x.npy", "-k", "99", "-o", "out", cwd=self.folder).code == 2
        left = contents(self.folder)
        assert self.inputs(left) == self.inputs(self.before), where
        assert not [name for name in left if ".tamis-" in name], f"{where}; {sorted(left)}"
        if done.returncode == 0 or left != self.before:
            self.check_result(left, done, where)

    def check_result(self, left, done, where):
        if not lacks_a_part(left):
            self.check_whole(where)

    def check_whole(self, where):
        found = essence(contents(self.folder))
        names = sorted({*found, *self.after})
        wrong = [name for name in names if found.get(name, "missing") != self.after.get(name, "left over")]
        assert not wrong, f"{where}; not as after a whole run: {wrong}"


class Resumable(Job):
    """A run that leaves what the next one goes on from, which ends in the same bytes."""

    def check_result(self, left, done, where):
        if done.returncode != 0 or lacks_a_part(left):
            again = tamis(*self.words, "--quiet", cwd=self.folder)
            assert again.code == 0 and again.err == "", f"{where}; then {again}"
        self.check_whole(where)


def select(k, *words, threads="1"):
    return ["select", "x.npy", "-m", "ufcm", "-c", "3", "--restarts", "2", "-k", k, "--threads", threads, *words, "-o", "out"]


GUIDED = ["select", "x.npy", "-k", "3", "--threads", "1"]
COMPARE = ["compare", "x.npy", "-m", "maxvar,lapscore", "-k", "2", "-c", "3", "--repeats", "2", "--threads", "1"]
REPRODUCE = ["reproduce", "sets", "--quick", "--data", "tiny", "--methods", "maxvar", "--threads", "1"]
JOBS = {
    "new folder": lambda *place: Job(*place, select("3")),
    "existing folder": lambda *place: Job(*place, select("3"), select("5")),
    "guided": lambda *place: Job(*place, [*GUIDED, "-o", "out"]),
    "two threads": lambda *place: Job(*place, select("3", threads="2")),
    "compare": lambda *place: Job(*place, [*COMPARE, "-o", "out"]),
    "checkpoint": lambda *place: Resumable(
        *place, select("3", "--tolerance", "0", "--checkpoint", "state"), results=("out", "state")
    ),
    "reproduce": lambda *place: Resumable(*place, [*REPRODUCE, "-o", "out"]),
}


def faults(total):
    """Which calls of so many to let fail: the first and the last ones, when the result is put in place, and a sample between."""
    rest = np.linspace(1, total, min(SAMPLED, total), dtype=int)
    return sorted({*range(1, min(ENDS, total) + 1), *range(max(1, total - ENDS), total + 1), *map(int, rest)} if total else [])


@pytest.mark.parametrize("later", ["", "+"], ids=["once", "from then on"])
@pytest.mark.parametrize("kind", CODES)
@pytest.mark.parametrize("name", JOBS)
def test_every_fault(tmp_path, library, name, kind, later):
    folder = tmp_path / "place"
    folder.mkdir()
    job = JOBS[name](folder, library)
    assert job.run(f"{kind}:0").returncode == 0
    total = job.calls
    job.restore()
    tried = faults(total)
    for n in tried:
        fault = f"{kind}:{n}{later}"
        job.check(fault, job.run(fault, errno.EIO if n % 2 else errno.ENOSPC))
        job.restore()
    with open(os.environ.get("TAMIS_FAULT_COUNT", os.devnull), "a") as count:
        count.write(f"{name}, {kind}{later}: {len(tried)} of {total}\n")
