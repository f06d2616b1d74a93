"""The code of the guides runs, block after block, as a reader would run it."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from conftest import NATIVE

DOCS = Path(__file__).resolve().parents[2] / "docs"


def run_commands(lines):
    """Command lines of a guide, by the native command."""
    environment = {**os.environ, "PATH": f"{NATIVE.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-e", "-c", lines], capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 0, f"{lines}\n{done.stderr}"


@pytest.mark.parametrize("name", ["python.md", "distributed.md", "lesson.md", "text.md", "sensors.md", "images.md",
                                  "gallery.md"])
def test_the_guide_runs(name, tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    text = (DOCS / name).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(python|sh)\n(.*?)^```", text, flags=re.S | re.M)
    assert len(blocks) > 2
    monkeypatch.chdir(tmp_path)
    names = {}
    for number, (language, block) in enumerate(blocks, 1):
        if language == "sh":
            run_commands(block)
        else:
            exec(compile(block, f"{name}, block {number}", "exec"), names)
