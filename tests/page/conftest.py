"""Report pages in a real browser: Debian's Chromium, driven by Playwright. TAMIS_COMMAND as in tests/command."""

import csv
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent.parent
COMMAND = Path(os.environ.get("TAMIS_COMMAND", ROOT / "build" / "tamis")).resolve()
SCREENSHOTS = Path(os.environ.get("TAMIS_SCREENSHOTS", ROOT / "build" / "screenshots"))
CHROMIUM = next(filter(None, map(shutil.which, [os.environ.get("TAMIS_CHROMIUM", ""), "chromium", "chromium-browser",
                                                "google-chrome"])), None)

HARMFUL = ["<script>alert(1)</script>", "</script><script>alert(2)</script>", "<img src=x onerror=alert(3)>", "{{7*7}}",
           "${alert(4)}", "javascript:alert(5)", "\x1b[31mred\x1b[0m", "__proto__", "constructor", "toString", "",
           "same", "same", "a\u202eb", "<!--", "]]>", "&lt;b&gt;", "\"quotes' and `ticks`", "\\u003cb\\u003e",
           "https://example.org/x.png", "l" * 4000, "datum.x", "signal", "<svg/onload=alert(6)>"]


# Of data sets, which are files: no slash.
HARMFUL_SETS = ["<img src=x onerror=alert(7)>", "__proto__", "<script>alert(8)<!--"]


pytest_plugins = ["skips"]


def pytest_sessionstart(session):
    if not COMMAND.is_file():
        pytest.exit(f"no command at {COMMAND}: run make build, or set TAMIS_COMMAND", returncode=2)


def run(*arguments):
    done = subprocess.run([str(COMMAND), *map(str, arguments), "--quiet"], capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr.decode()


def planted(rows, columns, clusters=3, informative=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, columns))
    X[:, :informative] += 4 * random.normal(size=(clusters, informative))[np.arange(rows) % clusters]
    return X


def write_csv(path, names, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *rows])
    return path


def save_set(path, seed):
    """In the form of the paper's: the first columns tell the classes apart, a little."""
    random = np.random.default_rng(seed)
    y = np.arange(80, dtype=np.int32) % 4
    X = random.normal(size=(80, 30))
    X[:, :6] += random.normal(size=(4, 6))[y]
    np.savez(path, X=X.astype(np.float32), y=y)


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """Pages of each kind, by name."""
    folder = tmp_path_factory.mktemp("pages")
    columns = len(HARMFUL)
    X = planted(120, columns)
    X[:, 9] = 1.5
    X[:, 12] = -X[:, 11]
    kinds = ["a", "b", "c"] * 40
    for name, names in {"harmful": HARMFUL, "clean": [f"feature {j}" for j in range(columns)]}.items():
        rows = [[f"r{i}", *map(repr, map(float, row)), kinds[i]] for i, row in enumerate(X)]
        path = write_csv(folder / f"{name}.csv", ["id", *names, "kind"], rows)
        common = [path, "--id", "id", "--labels", "kind"]
        run("select", *common, "-c", "3", "-k", "10", "--image", f"4x{columns // 4}", "-o", folder / name)
        run("compare", *common, "-k", "3,6,12", "--grid", "-m", "ufcm,maxvar,mcfs", "--repeats", "3", "-o",
            folder / f"{name}-compare")
    np.save(folder / "wide.npy", planted(300, 3000))
    run("select", folder / "wide.npy", "-m", "ufcm", "-c", "3", "-k", "100", "-o", folder / "wide")
    run("select", folder / "wide.npy", "-m", "lapscore", "-k", "100", "--resample", "3", "-o", folder / "direct")
    np.save(folder / "noise.npy", np.random.default_rng(3).normal(size=(150, 80)))
    run("select", folder / "noise.npy", "-o", folder / "noise")
    write_csv(folder / "tiny.csv", ["a", "b", "c"], [[1, 2, 3], [2, 4, 1], [3, 5, 9], [4, 1, 2]])
    run("select", folder / "tiny.csv", "-k", "2", "-m", "maxvar", "-o", folder / "tiny")
    long = [f"a long name that begins like all others, {j}" for j in range(30)]
    write_csv(folder / "long.csv", long, planted(90, 30).round(4).tolist())
    run("select", folder / "long.csv", "-m", "ufcm", "-c", "3", "-k", "12", "-o", folder / "long")
    for kind, sets in {"harmful": HARMFUL_SETS, "clean": ["first", "second", "third"]}.items():
        data = folder / f"{kind}-sets"
        data.mkdir()
        for seed, name in enumerate(sets):
            save_set(data / f"{name}.npz", seed)
        words = [word for name in sets for word in ("--data", name)]
        run("reproduce", data, "--quick", *words, "-o", folder / f"{kind}-reproduce")
    run("demo", "-o", folder / "demo")
    names = ["demo", "harmful", "clean", "harmful-compare", "clean-compare", "harmful-reproduce", "clean-reproduce", "wide",
             "direct", "noise", "tiny", "long"]
    return {name: folder / name / "report.html" for name in names}


@pytest.fixture(scope="session")
def browser():
    if CHROMIUM is None:
        pytest.skip("no Chromium here (Debian package chromium, or TAMIS_CHROMIUM)")
    with sync_playwright() as playwright:
        # As root Chromium has no sandbox to give.
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        yield started
        started.close()


class Opened:
    """A page that is drawn, and all that was said and asked for meanwhile."""

    def __init__(self, browser, path, **options):
        options.setdefault("viewport", {"width": 1280, "height": 900})
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(30000)
        self.page = self.context.new_page()
        self.complaints, self.requests = [], []
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: (self.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.add_init_script("document.addEventListener('securitypolicyviolation',"
                                  " event => console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))")
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-drawn]", state="attached", timeout=60000)

    def eval(self, script, *arguments):
        return self.page.evaluate(script, *arguments)


@pytest.fixture
def open_page(browser):
    opened = []

    def open_one(path, **options):
        opened.append(Opened(browser, path, **options))
        return opened[-1]

    yield open_one
    for one in opened:
        one.context.close()
