"""Runs the command and measures it as a user would: wall and CPU seconds and peak memory of the whole process."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

COMMAND = Path(os.environ.get("TAMIS_COMMAND", Path(__file__).resolve().parent.parent / "build" / "tamis")).resolve()

# A process started from here would inherit this one's peak memory, so a small one starts and times it.
LAUNCHER = """
import json, os, subprocess, sys, time
start = time.perf_counter()
child = subprocess.Popen(sys.argv[2:], stdout=open(sys.argv[1], "wb"))
_, status, usage = os.wait4(child.pid, 0)
cpu = usage.ru_utime + usage.ru_stime
print(json.dumps([time.perf_counter() - start, cpu, usage.ru_maxrss * 1024, os.waitstatus_to_exitcode(status)]))
"""


@dataclass
class Run:
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    result: dict


def run_command(arguments, folder):
    """`tamis ARGUMENTS --json`; its standard output goes through a file in `folder`."""
    output = Path(folder) / "stdout.json"
    words = [str(COMMAND), *map(str, arguments), "--quiet", "--json"]
    launched = subprocess.run([sys.executable, "-S", "-c", LAUNCHER, str(output), *words], stdout=subprocess.PIPE, check=True)
    seconds, cpu_seconds, peak, code = json.loads(launched.stdout)
    if code != 0:
        sys.exit(f"{' '.join(words)}: exit code {code}")
    return Run(seconds, cpu_seconds, peak, json.loads(output.read_text()))
