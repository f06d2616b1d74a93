"""Every method on the paper's six image sets: the table of docs/which.md.

    .venv/bin/python bench/which.py [--sets coil20,orl] [--methods guided,css] [--limit 900]

ACC and NMI in percent are those of `tamis compare` at 50 and 100 columns, means over the sets; mcfs, fspca and ufcm --exact aim
at a number of columns and run once for each. CPU: seconds of `tamis select -k 100 --redundancy off` with one thread, the sum
over the sets. A method that takes more than --limit seconds of CPU on a set is left out there, and the last column says so.
Every set is printed first. Data: ../shared/data or TAMIS_DATA.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from command import run_command

DATA = Path(os.environ.get("TAMIS_DATA", Path(__file__).resolve().parent.parent.parent / "shared" / "data"))
SETS = "coil20,mnist_s,orl,umist,usps,yaleb"
METHODS = "guided,mcfs,css,ufcm,spcafs,maxvar,fspca,exact,lapscore,ndfs,rufs,udfs,sparsekm"
NAMES = {"exact": "`ufcm --exact`", "allfea": "all columns", "random": "random columns"}
SIZES = (50, 100)
AIMING = ("mcfs", "fspca", "exact")  # at a number of columns
WITHOUT_CLUSTERS = ("guided", "css", "maxvar", "lapscore")


def classes_of(path):
    import numpy as np

    with np.load(path, allow_pickle=False) as file:
        return len(np.unique(file["y"]))


def cpu_seconds(path, method, classes, limit, folder):
    """Of `tamis select`; None if it takes longer than the limit."""
    words = ["select", path, "--labels", "y", "-m", "ufcm" if method == "exact" else method, "-k", 100, "--redundancy", "off"]
    words += ["--threads", 1] + (["--exact"] if method == "exact" else [])
    words += [] if method in WITHOUT_CLUSTERS else ["-c", classes]
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))  # what is started from here has it, too
    try:
        return run_command(words, folder).cpu_seconds
    except (SystemExit, subprocess.CalledProcessError):
        return None
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def measured(path, methods, sizes, folder, *more):
    """{method or row: [(ACC, NMI) by size]}"""
    names = ",".join(methods)
    words = ["compare", path, "--labels", "y", "-m", names, "-k", ",".join(map(str, sizes)), *more]
    result = run_command(words, folder).result
    found = {one["name"]: one["sizes"] for one in result["methods"]}
    found |= {"random": result["random"], "allfea": [result["all"]] * len(sizes)}
    percent = lambda size: tuple(100 * size[measure]["mean"] for measure in ("accuracy", "nmi"))  # noqa: E731
    return {name: [percent(size) for size in rows] for name, rows in found.items()}


def of_set(path, methods, limit, folder):
    """{method: (ACC 50, NMI 50, ACC 100, NMI 100, CPU)}"""
    classes, seconds = classes_of(path), {}
    for method in methods:
        seconds[method] = cpu_seconds(path, method, classes, limit, folder)
        print(f"{path.stem} {method}: {seconds[method]} s", file=sys.stderr, flush=True)
    within = [method for method in methods if seconds[method] is not None]
    values = measured(path, [m for m in within if m not in AIMING] or ["maxvar"], SIZES, folder)
    for method in (m for m in within if m in AIMING):
        name, more = ("ufcm", ["--set", "ufcm.exact=yes"]) if method == "exact" else (method, [])
        values[method] = [measured(path, [name], [size], folder, *more)[name][0] for size in SIZES]
    rows = {method: [*sum(values[method], ()), seconds[method]] for method in within}
    return rows | {name: [*sum(values[name], ()), None] for name in ("allfea", "random")}


def table(by_set, methods):
    """The means over the sets, and the sum of the seconds; best first."""
    lines = []
    for method in [*methods, "allfea", "random"]:
        rows = [rows[method] for rows in by_set.values() if method in rows]
        if not rows:
            continue
        means = [sum(row[i] for row in rows) / len(rows) for i in range(4)]
        cpu = "" if rows[0][4] is None else f"{sum(row[4] for row in rows):.1f}"
        missing = [name for name, rows in by_set.items() if method not in rows]
        lines.append((means, method, cpu + (f" without {', '.join(missing)}" if missing else "")))
    lines.sort(key=lambda line: (line[1] in ("allfea", "random"), -line[0][0] - line[0][2]))
    print("| method | ACC 50 | NMI 50 | ACC 100 | NMI 100 | CPU |\n|---|---|---|---|---|---|")
    for means, method, cpu in lines:
        print(f"| {NAMES.get(method, f'`{method}`')} | {' | '.join(f'{mean:.1f}' for mean in means)} | {cpu} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--limit", type=int, default=900)
    arguments = parser.parse_args()
    methods, by_set = arguments.methods.split(","), {}
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.sets.split(","):
            by_set[name] = of_set(DATA / f"{name}.npz", methods, arguments.limit, folder)
            print(f"\n{name}")
            table({name: by_set[name]}, methods)
    print(f"\nmeans over {len(by_set)} sets, sum of CPU seconds")
    table(by_set, methods)


if __name__ == "__main__":
    main()
