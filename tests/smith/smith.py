"""Random runs of Tamis: a table, its file, a method and its options by the seed; then a few checks of what must hold of
every run. A seed that fails is printed as the command that repeats it.

    .venv/bin/python tests/smith/smith.py --tables 300     seeds 0 to 299
    .venv/bin/python tests/smith/smith.py --seed 12345     this one, with all that can be checked of it
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from checks import CHECKS, Case, check_document, random_checks  # noqa: E402
from runs import random_run  # noqa: E402
from tables import formats_of, random_table  # noqa: E402


def digest(path):
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def make_case(seed, folder):
    rng = np.random.default_rng(seed)
    table = random_table(rng)
    case = Case(rng, folder, table, random_run(rng, table))
    formats = formats_of(table)
    name = list(formats)[rng.integers(len(formats))]
    case.path, case.flags = formats[name](folder, table)
    return case, name


def try_seed(seed, every):
    """What is wrong with this seed: one line for each check that failed."""
    folder = Path(tempfile.mkdtemp(prefix=f"smith-{seed}-"))
    try:
        with np.errstate(all="ignore"):
            case, name = make_case(seed, folder)
            about = f"{case.table.kind} {case.table.X.dtype} {case.table.shape} as {name}; {' '.join(case.run.words())}"
            failures, before = [], digest(case.path)
            case.base = case.select("--threads", "1")
            checks = [check for check, (applies, _) in CHECKS.items() if applies(case)] if every else random_checks(case)
            for check in ([check_document] if case.went_well else []) + checks:
                failures += failure_of(check, case)
            if digest(case.path) != before:
                failures.append("the input was changed")
    except Exception as error:  # a door that breaks before any check
        about, failures = "", [words_of(error)]
    finally:
        shutil.rmtree(folder)
    return [f"{about}: {failure}" for failure in failures]


def failure_of(check, case):
    try:
        check(case)
        return []
    except Exception as error:
        return [f"{check.__name__}: {words_of(error)}"]


def words_of(error):
    if isinstance(error, AssertionError):
        return str(error).replace("\n", " | ")
    return "".join(traceback.format_exception(error)).replace("\n", " | ")


def work(first, count, step):
    """The seeds of one process. Each is announced, so that one that kills the process is known."""
    for seed in range(first, first + count, step):
        print("begin", seed, flush=True)
        for failure in try_seed(seed, every=False):
            print("failed", seed, failure, flush=True)


class Tally:
    def __init__(self):
        self.tried, self.failed = set(), {}

    def follow(self, child):
        """Takes in what one process says, until it ends."""
        seed = None
        for line in child.stdout:
            word, number, *rest = line.rstrip("\n").split(" ", 2)
            seed = int(number)
            self.tried.add(seed) if word == "begin" else self.fail(seed, rest[0])
        if child.wait() != 0:
            self.fail(seed, f"the process ended with {child.returncode}")

    def fail(self, seed, words):
        self.failed.setdefault(seed, []).append(words)
        print(f"{words}\n    repeat: .venv/bin/python tests/smith/smith.py --seed {seed}", flush=True)


def run_all(first, count, jobs):
    command = [sys.executable, __file__, "--step", str(jobs)]
    shares = [["--first", str(first + i), "--tables", str(count - i)] for i in range(min(jobs, count))]
    children = [subprocess.Popen([*command, *share], stdout=subprocess.PIPE, text=True) for share in shares]
    tally = Tally()
    with ThreadPoolExecutor(len(children)) as readers:
        list(readers.map(tally.follow, children))
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, help="only this one, with every check")
    parser.add_argument("--first", type=int, default=0, help="the first seed (0)")
    parser.add_argument("--tables", type=int, default=300, help="how many seeds (300)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (all cores)")
    parser.add_argument("--step", type=int, help=argparse.SUPPRESS)  # of one of several processes
    arguments = parser.parse_args()
    if arguments.step:
        return work(arguments.first, arguments.tables, arguments.step)
    if arguments.seed is not None:
        failures = try_seed(arguments.seed, every=True)
        print("\n".join(failures) if failures else f"seed {arguments.seed}: passed")
        return 1 if failures else 0
    tally = run_all(arguments.first, arguments.tables, arguments.jobs)
    print(f"{len(tally.tried) - len(tally.failed)} passed, {len(tally.failed)} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
