"""The pages of the documentation: what is generated, the links between them, and that every message can be found."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import NATIVE, ROOT

import tamis

sys.path.insert(0, str(ROOT / "tools"))
from docs import messages, reference  # noqa: E402


@pytest.fixture(scope="module")
def pages():
    make_docs = runpy.run_path(str(ROOT / "tools" / "make_docs"))
    return {**make_docs["source_pages"](), **make_docs["reference_pages"]()}


def anchors(text):
    """As the site names headings."""
    names = re.findall(r"^#+ (.+)$", text, flags=re.M)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", name).strip().lower()) for name in names}


def test_every_page_is_in_the_navigation_and_every_link_leads_to_a_page(pages):
    settings = runpy.run_path(str(ROOT / "tools" / "make_docs"))["settings"](pages)
    assert set(re.findall(r"([\w/-]+\.md)$", settings, flags=re.M)) == set(pages)
    for page, text in pages.items():
        text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
        for target in re.findall(r"\]\(((?!https?:)[^)\s]+)\)", text):
            file, _, fragment = target.partition("#")
            path = str((Path("/") / Path(page).parent / file).resolve())[1:] if file else page
            assert path in pages or path == "everything.html" or (ROOT / "docs" / path).is_file(), f"{page}: {target}"
            assert not fragment or fragment in anchors(pages[path]), f"{page}: {target}"


def test_the_reference_has_every_option_and_every_public_name(pages):
    for method in tamis._core.methods():
        for option in method["options"]:
            assert f"| `--{option['name']}` | `{option['python_name']}` |" in pages["reference/methods.md"]
    for name in set(tamis.__all__) - {"__version__"}:
        assert f"## tamis.{name}\n" in pages["reference/python.md"]
    assert set(reference.command_pages(NATIVE)) == {page[18:-3] for page in pages if page.startswith("reference/command-")}


BAD = [
    ["select", "x.csv", "-k", "0"],
    ["select", "x.csv", "-k", "99"],
    ["select", "x.csv", "--scale", "odd"],
    ["select", "x.csv", "-m", "nothing"],
    ["select", "x.csv", "--alpha", "1"],
    ["select", "x.csv", "-m", "ufcm", "--p", "3"],
    ["select", "x.csv", "--threads", "0"],
    ["select", "x.csv", "--memory", "lots"],
    ["select", "none.csv"],
    ["select", "short.csv"],
    ["select", "bad.mtx"],
    ["select", "bad.npy"],
    ["select", "bad.svm"],
    ["select", "constant.csv"],
    ["select", "x.csv", "--include", "zz"],
    ["select", "x.csv", "--frobnicate"],
    ["select", "x.csv", "--exlude", "a"],
    ["select", "x.csv", "y.csv"],
    ["selct", "x.csv"],
    ["frobnicate"],
    ["select", "x.csv", "-k"],
    ["select", "text.csv"],
    ["select", "percent.csv"],
    ["select", "dates.csv"],
    ["select", "two_bad.csv"],
    ["select", "missing.csv"],
    ["select", "folder"],
    ["apply", "broken.json", "x.csv", "-o", "out"],
    ["apply", "cut.json", "x.csv", "-o", "out"],
    ["apply", "x.csv"],
    ["evaluate", "x.csv"],
    ["completion", "tcsh"],
]


@pytest.mark.parametrize("words", BAD, ids=" ".join)
def test_a_printed_message_is_in_the_list(words, tmp_path):
    rows = "\n".join(",".join(map(str, row)) for row in np.arange(40).reshape(10, 4) ** 2 % 7)
    files = {"x.csv": "a,b,c,d\n" + rows, "short.csv": "a,b\n1,2\n3\n", "bad.mtx": "%%MatrixMarket x\n", "bad.npy": "no",
             "bad.svm": "1 0:3\n", "constant.csv": "a,b\n1,2\n1,2\n1,2\n", "text.csv": "a,b\n1,2\n3,x\n4,4\n",
             "percent.csv": "a,b\n1,2%\n3,5%\n4,4%\n", "dates.csv": "a,b\n1,2020-01-31\n3,2020-02-01\n4,2020-02-02\n",
             "two_bad.csv": "a,b,c\n1,x,y\n3,x,z\n4,x,y\n", "missing.csv": "a,b\n1,2\nNA,3\n4,5\n",
             "broken.json": '{"a": 1,, }', "cut.json": '{"a": '}
    (tmp_path / "folder").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    done = subprocess.run([NATIVE, *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode in (2, 3, 4, 5), done
    line = done.stderr.removeprefix("tamis: ").splitlines()[0]
    assert said(line) > 0.15, (line, messages.find(line))


def said(line):
    """The share of the line's letters that the message in the list which fits best has."""
    return max((messages.letters(one) for one in messages.find(line)), default=0) / messages.letters(line)


@pytest.mark.parametrize("line", [
    "x.parquet: reading .parquet needs pyarrow: pip install 'tamis[io]'",
    "tamis needs numpy, which is not installed: pip install numpy",
    "tamis.plot needs matplotlib: pip install 'tamis[plot]'",
    "x.h5ad: neither AnnData (X, obs, var) nor 10x (matrix), it has a, b",
    "--features: 1 required NUMBER missing",
])
def test_a_message_of_python_or_of_the_parser_is_in_the_list(line):
    assert said(line) > 0.25, messages.find(line)


def test_every_entry_of_the_list_says_something():
    """No fragment that would be found in any line."""
    listed = [one for kind in messages.all_messages().values() for one in kind]
    assert len(listed) > 500 and min(map(messages.letters, listed)) >= messages.LEAST_LETTERS
    assert messages.find("x.csv: a line about nothing in particular, which no message is like") == []
