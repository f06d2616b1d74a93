"""A skipped test is one that lacks something. The reasons that may stand are here; any other fails the run."""

import re

import pytest

EXPECTED = [
    r"not an x86-64 machine",  # test_cpu.py compares digests of x86-64
    r"no [\w.]+ in .* \(TAMIS_DATA\)",  # the data sets of the experiments, which are not ours to ship
    r"no /proc",  # tests that count threads there
]
skipped = {}  # reason -> how many tests


def note(report):
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = str(report.longrepr[2]).removeprefix("Skipped: ")
        skipped[reason] = skipped.get(reason, 0) + 1


def unexpected():
    return {reason: count for reason, count in skipped.items() if not any(re.fullmatch(one, reason) for one in EXPECTED)}


pytest_runtest_logreport = note
pytest_collectreport = note


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    if unexpected() and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    for reason, count in unexpected().items():
        terminalreporter.write_line(f"SKIPPED {count}, which fails the run (see tests/skips.py): {reason}", red=True)
