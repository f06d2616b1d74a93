"""--figures: the figures of a page as pictures. The Python package's command draws them, the native one says who does."""

import json
import re

import numpy as np
import pytest
from conftest import planted, refused, tamis, write_csv

pytestmark = pytest.mark.shared

needs_python = pytest.mark.python  # the native command draws nothing


@pytest.fixture
def table(tmp_path):
    return write_csv(tmp_path / "x.csv", planted(60, 6), ["a", "b", "<i>&\"'", "d", "e", "f"])


def figures_of(page):
    text = page.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="figures">(.*?)</script>', text, re.S).group(1))


@pytest.mark.native
@pytest.mark.parametrize("words", [["select"], ["compare", "-c", "3"]])
def test_the_native_command_says_who_draws(table, tmp_path, words):
    refused(tamis(*words, table, "-o", tmp_path / "out", "--figures", "svg"), 2, "figures = svg", "tamis[figures]", "report.html")
    assert not (tmp_path / "out").exists()


def test_what_is_refused_before_any_work(table, tmp_path):
    for words in (["select", table], ["compare", table], ["reproduce", tmp_path]):
        refused(tamis(*words, "-o", tmp_path / "out", "--figures", "gif"), 2, "figures = gif", "svg or png")
    for command in ("select", "compare"):
        refused(tamis(command, table, "--figures", "svg"), 2, command, "--output")
    assert not (tmp_path / "out").exists()


@needs_python
@pytest.mark.parametrize("words", [["select", "-c", "3"], ["compare", "-c", "3", "-k", "2,4", "-m", "ufcm,maxvar"]])
def test_every_figure_of_the_page_is_a_picture(table, tmp_path, words):
    run = tamis(words[0], table, *words[1:], "-o", tmp_path / "out", "--figures", "svg", timeout=60)
    assert run.code == 0, str(run)
    count = len(figures_of(tmp_path / "out" / "report.html"))
    pictures = sorted(path.name for path in (tmp_path / "out" / "figures").iterdir())
    assert count >= 2 and pictures == [f"figure-{i}.svg" for i in range(1, count + 1)]
    for name in pictures:
        svg = (tmp_path / "out" / "figures" / name).read_text(encoding="utf-8")
        assert svg.startswith("<svg") and "mark-" in svg and "<i>" not in svg and "href" not in svg


@needs_python
def test_pictures_of_the_experiments(tmp_path):
    random = np.random.default_rng(0)
    y = np.arange(60, dtype=np.int32) % 3
    np.savez(tmp_path / "some.npz", X=(random.normal(size=(60, 20)) + y[:, None]).astype(np.float32), y=y)
    words = ["reproduce", tmp_path, "--data", "some", "--quick", "-m", "ufcm,maxvar", "-o", tmp_path / "out"]
    assert tamis(*words, "--figures", "png", timeout=60).code == 0
    pictures = list((tmp_path / "out" / "figures").iterdir())
    assert len(pictures) == len(figures_of(tmp_path / "out" / "report.html")) == 7
    assert all(path.suffix == ".png" and path.read_bytes().startswith(b"\x89PNG") for path in pictures)
