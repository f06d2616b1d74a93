"""What is built and installed: stubs, versions, a wheel that runs elsewhere."""

import inspect
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import tamis

ROOT = Path(__file__).resolve().parents[2]


def run(*words, **keywords):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=600, **keywords)
    assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def test_the_stubs_are_in_step_with_the_core():
    run(sys.executable, ROOT / "tools" / "make_stubs", "--check", cwd="/")


def test_the_stubs_agree_with_the_package_at_run_time(tmp_path):
    """mypy's stubtest compares names, arguments and defaults of what is imported with what the stubs say."""
    pytest.importorskip("mypy")
    config = tmp_path / "mypy.ini"
    config.write_text("[mypy]\nignore_missing_imports = True\n")
    run(sys.executable, "-m", "mypy.stubtest", "--mypy-config-file", config, "tamis._selectors", "tamis.dask", cwd=tmp_path)


def test_typed_programs_check(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "mypy.ini").write_text("[mypy]\nstrict = True\nignore_missing_imports = True\n"
                                       "[mypy-sklearn.*]\nfollow_imports = skip\n")
    good = "import tamis\nselector = tamis.UFCM(10, alpha=0.5)\nscores = selector.fit([[1.0]]).scores_.sum()\n"
    (tmp_path / "good.py").write_text(good)
    run(sys.executable, "-m", "mypy", "good.py", cwd=tmp_path)
    (tmp_path / "bad.py").write_text(good + "tamis.UFCM(alpha='much')\ntamis.UFCM(clusters=3)\n")
    bad = subprocess.run([sys.executable, "-m", "mypy", "bad.py"], cwd=tmp_path, capture_output=True, text=True)
    assert 'Argument "alpha"' in bad.stdout and 'Unexpected keyword argument "clusters"' in bad.stdout, bad.stdout


def test_the_stub_of_the_package_names_what_the_package_has():
    stub = (ROOT / "python" / "tamis" / "__init__.pyi").read_text()
    assert set(re.findall(r" as (\w+)$", stub, flags=re.M)) == set(tamis.__all__) - {"__version__"}
    for name in tamis.__all__:
        assert getattr(tamis, name) is not None


def test_there_is_a_class_for_every_method_and_on_dask_for_those_that_can():
    import tamis.dask

    described = tamis._core.methods()
    assert {method["python_name"] for method in described} <= set(tamis.__all__)
    assert tamis.dask.__all__ == [method["python_name"] for method in described if method["remote"]]
    for name in tamis.dask.__all__:
        kind = getattr(tamis.dask, name)
        assert issubclass(kind, getattr(tamis, name)) and kind.__module__ == "tamis.dask" and kind.__doc__


def test_every_public_thing_is_documented():
    for name in tamis.__all__:
        assert name == "__version__" or (inspect.getdoc(getattr(tamis, name)) or "").strip(), name


def test_the_requirements_of_pip_and_of_make_are_the_same():
    project = (ROOT / "pyproject.toml").read_text()
    pinned = re.search(r"^requires = \[(.*)\]", project, flags=re.M).group(1)
    listed = [line for line in (ROOT / "requirements-build.txt").read_text().splitlines() if not line.startswith("#")]
    assert re.findall(r'"([^"]+)"', pinned) == listed


def test_the_citation_names_this_version():
    assert f"\nversion: {tamis.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_every_license_of_a_part_is_in_the_expression():
    """SPDX identifiers of pyproject.toml against the table of third_party/README.md."""
    expression = re.search(r'^license = "(.*)"$', (ROOT / "pyproject.toml").read_text(), flags=re.M).group(1)
    table = (ROOT / "third_party" / "README.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \|.*\| (.*) \|$", table, flags=re.M)
    assert {name for name, _ in rows} == {path.parent.name for path in (ROOT / "third_party").glob("*/LICENSE")}
    known = r"BSD-3-Clause|ISC|MIT|0BSD|Unlicense|CC BY 4.0|GPL-3.0"
    named = {word for _, licenses in rows for word in re.findall(known, licenses)}
    assert {word.replace("-or-later", "").replace("-", " ") for word in re.findall(r"[\w.-]+", expression)} == {
        "MIT", "AND", "WITH", "GCC exception 3.1", *(word.replace("-", " ") for word in named)}


def test_the_licenses_are_those_of_the_packages_that_were_built_in():
    """Texts in third_party/ against the packages of the build."""
    from importlib.metadata import distribution, files

    for folder, package in (("openblas", "scipy-openblas32"), ("nanobind", "nanobind")):
        (original,) = (path for path in files(package) if "LICENSE" in path.name)
        text = distribution(package).locate_file(original).read_text()
        assert (ROOT / "third_party" / folder / "LICENSE").read_text() == text, folder
    (header,) = (path for path in files("nanobind") if path.name == "robin_map.h")
    comment = distribution("nanobind").locate_file(header).read_text().partition("/**")[2].partition("*/")[0]
    assert (ROOT / "third_party" / "robin_map" / "LICENSE").read_text().split() == comment.replace("*", " ").split()


def test_a_wheel_runs_in_another_environment(tmp_path):
    """Built from the tree by pip; installed with its dependencies where nothing else is; run there."""
    prebuilt = ROOT / "build"
    if not (prebuilt / "libtamis_app.a").is_file():
        pytest.skip("no build of the library in build/")
    words = (f"cmake.define.TAMIS_PREBUILT={prebuilt}", f"build-dir={prebuilt}/python")
    settings = [f"--config-settings={word}" for word in words]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", *settings, "-w", tmp_path, ROOT)
    (wheel,) = tmp_path.glob("tamis-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"tamis/py.typed", "tamis/_selectors.pyi", "tamis/_core.pyi", "tamis/__init__.pyi"} <= set(names)
    assert not [name for name in names if name.endswith((".a", ".h", ".cmake"))]
    licenses = {name.partition("/licenses/")[2] for name in names if "/licenses/" in name}
    parts = {"CLI11/LICENSE", "vega/LICENSE", "vega/LICENSE-vega-lite", "vega/LICENSE-bundled", "openblas/LICENSE",
             "nanobind/LICENSE", "robin_map/LICENSE", "digits/LICENSE"}
    assert licenses == {"LICENSE", *(f"third_party/{part}" for part in parts)}

    run(sys.executable, "-m", "venv", tmp_path / "other")
    python = tmp_path / "other" / "bin" / "python"
    run(python, "-m", "pip", "--disable-pip-version-check", "-q", "install", wheel)
    assert run(tmp_path / "other" / "bin" / "tamis", "--version").splitlines()[0] == f"tamis {tamis.__version__}"
    code = (
        "import numpy as np, tamis; X = np.random.default_rng(0).normal(size=(60, 8)); X[:30, 2] += 9\n"
        "print(tamis.__file__, tamis.UFCM(1, n_clusters=2).fit(X).get_support(indices=True))"
    )
    out = run(python, "-c", code, cwd=tmp_path)
    assert str(tmp_path) in out and out.strip().endswith("[2]"), out


def test_the_source_distribution_holds_the_sources_alone(tmp_path):
    build = pytest.importorskip("scikit_build_core.build")
    code = f"from scikit_build_core.build import build_sdist; build_sdist({str(tmp_path)!r})"
    run(sys.executable, "-c", code, cwd=ROOT)
    (archive,) = tmp_path.glob(f"tamis-{tamis.__version__}.tar.gz")
    assert build is not None and archive.stat().st_size < 2e6
    names = {name.split("/", 1)[1] for name in tarfile.open(archive).getnames()}
    assert {"CMakeLists.txt", "tamis/select/ufcm/ufcm.cpp", "app/command.cpp", "python/tamis/_selectors.py", "LICENSE"} <= names
    assert not [name for name in names if name.startswith((".venv", "build", "tests")) or name.endswith(".so")]
