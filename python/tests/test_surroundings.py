"""Bad surroundings: one clear line each."""

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tamis
from tamis import _surroundings


def fails(code, **keywords):
    """The last line of a Python process that must fail."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, **keywords)
    assert done.returncode == 1, done.stderr
    return done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("module, package", [("numpy", "numpy"), ("scipy", "scipy"), ("sklearn", "scikit-learn")])
def test_a_missing_package_is_named(module, package):
    wanted = f"ImportError: tamis needs {package}, which is not installed: pip install {package}"
    block = f"import sys; sys.modules[{module!r}] = None\n"
    assert fails(block + "from tamis import UFCM") == wanted
    assert fails(block + "import tamis; tamis.GuidedUFCM()") == wanted


def test_the_command_reads_text_without_any_package(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,9\n2,1\n3,7\n")
    code = """import sys
for name in ("numpy", "scipy", "sklearn"): sys.modules[name] = None
sys.argv = ["tamis", "select", "x.csv", "-m", "maxvar", "--quiet"]
from tamis.__main__ import main
main()"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and "b" in done.stdout, done.stderr


@pytest.mark.parametrize("module", ["dask", "plot", "metrics"])
def test_a_module_that_is_imported_by_itself_names_a_missing_package(module):
    block = "import sys; sys.modules['numpy'] = None\n"
    assert fails(block + f"import tamis.{module}") == "ImportError: tamis needs numpy, which is not installed: pip install numpy"


@pytest.mark.parametrize("missing", ["numpy", "scipy"])
def test_a_reader_does_not_blame_the_file_where_a_package_is_missing(missing, tmp_path):
    import scipy.io

    scipy.io.savemat(tmp_path / "x.mat", {"X": [[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]]})
    code = f"""import sys
sys.modules[{missing!r}] = None
sys.argv = ["tamis", "select", "x.mat", "-m", "maxvar"]
from tamis.__main__ import main
main()"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 3
    assert done.stderr == f"tamis: x.mat: reading .mat needs {missing}: pip install {missing}\n"


def test_an_old_python_is_refused():
    with pytest.raises(ImportError, match="^tamis needs Python 3.10 or later; this is Python 3.9$"):
        _surroundings.require_python((3, 9, 18, "final", 0))
    source = Path(_surroundings.__file__).read_text()
    compile(source, "_surroundings.py", "exec")
    import ast

    ast.parse(source, feature_version=(3, 6))
    ast.parse(Path(tamis.__file__).read_text(), feature_version=(3, 8))


def test_a_module_for_another_python_is_explained(tmp_path):
    """The package without its compiled module, as pip --no-deps of another machine might leave it."""
    shutil.copytree(Path(tamis.__file__).parent, tmp_path / "tamis", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    (tmp_path / "tamis" / "_core.cpython-399-x86_64-linux-gnu.so").touch()
    line = fails("import tamis", cwd=tmp_path)
    assert line.startswith("ImportError: tamis: no compiled module for Python 3.") and "_core.cpython-399" in line


@pytest.mark.parametrize("words", [["-m", "tamis"], ["tamis"]], ids=" ".join)
def test_the_command_says_in_one_line_that_it_cannot_load(words, tmp_path):
    shutil.copytree(Path(tamis.__file__).parent, tmp_path / "lib" / "tamis", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    (tmp_path / "tamis").write_text("import sys\nfrom tamis.__main__ import main\nsys.exit(main())\n")  # as pip writes it
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "lib")}
    done = subprocess.run([sys.executable, *words, "--version"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("tamis: no compiled module for Python 3.") and done.stderr.count("\n") == 1


def test_an_old_glibc_is_explained():
    text = "/lib/x86_64-linux-gnu/libm.so.6: version `GLIBC_2.35' not found (required by /x/tamis/_core.so)"
    line = _surroundings.explain_missing_core(ImportError(text))
    assert "needs a newer glibc than this system has" in line and "pip install" in line and "\n" not in line
    text = "/lib/libstdc++.so.6: version `GLIBCXX_3.4.30' not found (required by x)"
    assert "newer libstdc++" in _surroundings.explain_missing_core(ImportError(text))
    assert "cannot be loaded: libz.so.1: no" in _surroundings.explain_missing_core(ImportError("libz.so.1:\n no"))


def test_versions_are_shown(capsys):
    tamis.show_versions()
    shown = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert shown["tamis"] == tamis.__version__ and "kernels" in shown["build"]
    assert shown["Python"] == sys.version.split()[0] and shown["numpy"][0].isdigit()
    text = io.StringIO()
    tamis.show_versions(text)
    assert text.getvalue().startswith("tamis ")


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc")
def test_import_starts_no_threads_and_leaves_the_environment_alone():
    code = """
import os
before = dict(os.environ)
import tamis
assert dict(os.environ) == before
print(len(os.listdir("/proc/self/task")))
"""
    environment = {key: value for key, value in os.environ.items() if key != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
