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
    ["apply", "x.csv"],
    ["evaluate", "x.csv"],
    ["completion", "tcsh"],
]


@pytest.mark.parametrize("words", BAD, ids=" ".join)
def test_a_printed_message_is_in_the_list(words, tmp_path):
    rows = "\n".join(",".join(map(str, row)) for row in np.arange(40).reshape(10, 4) ** 2 % 7)
    files = {"x.csv": "a,b,c,d\n" + rows, "short.csv": "a,b\n1,2\n3\n", "bad.mtx": "%%MatrixMarket x\n", "bad.npy": "no",
             "bad.svm": "1 0:3\n", "constant.csv": "a,b\n1,2\n1,2\n1,2\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    done = subprocess.run([NATIVE, *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode in (2, 3, 4, 5), done
    found = [one for one in messages.find(done.stderr) if re.search(r"[a-z]{3}", one)]
    assert found, done.stderr
