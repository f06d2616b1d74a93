"""What tamis runs in: checked when it is imported, and shown by `show_versions`. Python 3.6 can read this file."""

import os
import platform
import re
import sys
from contextlib import contextmanager
from importlib.util import find_spec

_NEEDED = {"numpy": "numpy", "scipy": "scipy", "sklearn": "scikit-learn"}  # module -> package
_OPTIONAL = ("pandas", "polars", "pyarrow", "anndata", "h5py", "zarr", "dask", "distributed", "matplotlib", "openpyxl",
             "zstandard", "vl-convert-python")


def require_python(version):
    if tuple(version[:2]) < (3, 10):
        raise ImportError(f"tamis needs Python 3.10 or later; this is Python {version[0]}.{version[1]}")


def is_command():
    """Whether this process is the command, `tamis` or `python -m tamis`, which has begun to load."""
    program = (getattr(sys, "argv", None) or [""])[0]
    words = getattr(sys, "orig_argv", [])  # from Python 3.10 on
    module = words[words.index("-m") + 1] if program == "-m" and "-m" in words[:-1] else ""
    return module == "tamis" or os.path.basename(program) in ("tamis", "tamis.exe")


@contextmanager
def one_blas_thread():
    """OpenBLAS, once loaded, starts a thread for every core, and each spins for some 30 ms before it sleeps. Our copy of it
    needs none of them: it is called from threads of our own."""
    name = "OPENBLAS_NUM_THREADS"
    if name in os.environ:
        yield
        return
    os.environ[name] = "1"
    try:
        yield
    finally:
        del os.environ[name]


def explain_missing_core(error):
    """Why the compiled module could not be loaded, in one line."""
    text = " ".join(str(error).split())
    if text.startswith("tamis needs Python"):
        return text
    library = re.search(r"version [`'](\w+)_([\d.]+)' not found", text)
    if library:
        name = {"GLIBC": "glibc", "GLIBCXX": "libstdc++", "CXXABI": "libstdc++"}.get(library.group(1), library.group(1))
        found = f" ({platform.libc_ver()[1]})" if name == "glibc" and platform.libc_ver()[0] == "glibc" else ""
        return (f"tamis: this build needs a newer {name} than this system has{found}; install a wheel for this system, "
                "or build the source distribution here: pip install tamis-*.tar.gz")
    folder = os.path.dirname(os.path.abspath(__file__))
    built = sorted(name for name in os.listdir(folder) if name.startswith("_core.") and not name.endswith(".pyi"))
    if find_spec(__package__ + "._core") is None:
        python = f"Python {sys.version_info[0]}.{sys.version_info[1]} on {platform.machine()}"
        return f"tamis: no compiled module for {python} in {folder} ({', '.join(built) or 'none at all'})"
    return "tamis: its compiled module cannot be loaded: " + text


def missing_package(error):
    """What to install where a package is missing that tamis cannot do without; None for other modules."""
    package = _NEEDED.get((error.name or "").partition(".")[0])
    return package and f"tamis needs {package}, which is not installed: pip install {package}"


def require_packages():
    """For modules that are imported without the package's help."""
    for module in _NEEDED:
        if find_spec(module) is None:
            raise ImportError(missing_package(ImportError(name=module)))


def _facts():
    """(name, version or what is known) of everything that may decide how tamis behaves."""
    from importlib import metadata

    from . import _core

    first, second = _core.version_text().split("\n")
    yield "tamis", first.partition(" ")[2]
    yield "build", second
    yield "Python", sys.version.split()[0]
    yield "system", f"{platform.platform()}, {os.cpu_count() or 0} CPUs"
    for package in (*_NEEDED.values(), *_OPTIONAL):
        try:
            yield package, metadata.version(package)
        except metadata.PackageNotFoundError:
            yield package, "not installed"


def show_versions(file=None):
    """Prints the versions of tamis, of what it was built with, and of the packages that it uses; for reports of problems.

    Parameters
    ----------
    file : object with a `write` method, default=None
        Where to print; None is the standard output.
    """
    facts = list(_facts())
    width = max(len(name) for name, _ in facts)
    for name, version in facts:
        print(f"{name:{width}}  {version}", file=file)
