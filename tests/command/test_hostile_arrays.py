"""Malformed .npy and .npz files: exit code 3 (or 4) within a second, one line, no large allocation, nothing executed."""

import gzip
import io
import os
import pickle
import struct
import subprocess
import time
import zipfile

import numpy as np
import pytest
import scipy.sparse
from conftest import (
    COMMAND,
    INTERPRETER_BYTES,
    PYTHON_COMMAND,
    SANITIZED,
    peak_memory,
    planted,
    refused,
    select,
    tamis,
    write_npy,
)

pytestmark = [pytest.mark.hostile, pytest.mark.shared]


def npy(header, body=b"", version=(1, 0), length=None):
    """The bytes of an .npy with any header."""
    header = header.encode("latin1")
    size = len(header) if length is None else length
    return b"\x93NUMPY" + bytes(version) + struct.pack("<H" if version[0] == 1 else "<I", size) + header + body


def describe(descr="'<f8'", order="False", shape="(4, 2)"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"


BODY = np.arange(8.0).tobytes()
NPY = {
    "wrong magic": b"\x93NUMPX\x01\x00" + b"x" * 100,
    "magic only": b"\x93NUMPY",
    "unknown version": npy(describe(), BODY, version=(9, 0)),
    "object dtype": npy(describe("'|O'"), pickle.dumps([1, 2, 3])),
    "structured dtype": npy(describe("[('a', '<f8'), ('b', '<f8')]"), BODY),
    "string dtype": npy(describe("'<U3'"), BODY * 4),
    "complex dtype": npy(describe("'<c16'"), BODY * 2),
    "date dtype": npy(describe("'<M8[ns]'"), BODY),
    "nonsense dtype": npy(describe("'<z9'"), BODY),
    "huge item size": npy(describe("'<f99999999999999999999'"), BODY),
    "huge shape": npy(describe(shape="(1000000000000000, 10)"), BODY),
    "product overflows": npy(describe(shape="(4294967296, 4294967296)"), BODY),
    "bytes overflow": npy(describe(shape="(2305843009213693952, 1)"), BODY),
    "number overflows": npy(describe(shape="(99999999999999999999999, 2)"), BODY),
    "negative": npy(describe(shape="(-4, 2)"), BODY),
    "both negative": npy(describe(shape="(-4, -2)"), BODY),
    "0-D": npy(describe(shape="()"), BODY),
    "3-D": npy(describe(shape="(2, 2, 2)"), BODY),
    "1-D": npy(describe(shape="(8,)"), BODY),
    "float shape": npy(describe(shape="(4.0, 2)"), BODY),
    "header length too long": npy(describe(), BODY, length=60000),
    "header length zero": npy(describe(), BODY, length=0),
    "header length 4 GB": npy(describe(), BODY, version=(2, 0), length=0xFFFFFFFF),
    "deep nesting": npy(describe(shape="(" * 60000), BODY),
    "deep nesting of the type": npy(describe(descr="[" * 60000), BODY),
    "no closing brace": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4, 2)", BODY),
    "missing key": npy("{'descr': '<f8', 'shape': (4, 2), }\n", BODY),
    "expression": npy(describe(shape="__import__('os').system('touch executed')"), BODY),
    "not ASCII": npy(describe(descr="'\xff\xfe'"), BODY),
    "short data": npy(describe(), BODY[:-1]),
    "no data": npy(describe()),
    "order is no truth value": npy(describe(order="maybe"), BODY),
}


@pytest.mark.parametrize("name", NPY)
def test_npy(tmp_path, name):
    (tmp_path / "x.npy").write_bytes(NPY[name])
    refused(tamis("select", "x.npy", "-c", "2", cwd=tmp_path), 3, "x.npy", seconds=1)
    assert os.listdir(tmp_path) == ["x.npy"]  # nothing was executed


def test_npy_pickle_is_not_executed(tmp_path):
    class Touch:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "executed"),)

    (tmp_path / "x.npy").write_bytes(npy(describe("'|O'", shape="(1, 1)"), pickle.dumps(Touch())))
    refused(tamis("select", tmp_path / "x.npy", "-c", "2"), 3, seconds=1)
    assert not (tmp_path / "executed").exists()


@pytest.mark.unsanitized
@pytest.mark.parametrize("name", ["huge shape", "product overflows", "header length 4 GB"])
def test_npy_makes_no_large_allocation(tmp_path, name):
    (tmp_path / "x.npy").write_bytes(NPY[name])
    code, peak = peak_memory("select", tmp_path / "x.npy", "-c", "2")
    assert code == 3 and peak < 60e6, (code, peak)


def test_npy_cut_at_every_byte(tmp_path):
    whole = write_npy(tmp_path / "x.npy", np.arange(8.0).reshape(4, 2)).read_bytes()
    for size in range(0, len(whole), 5 if SANITIZED or PYTHON_COMMAND else 1):
        (tmp_path / "x.npy").write_bytes(whole[:size])
        refused(tamis("select", tmp_path / "x.npy", "-c", "2"), 3, seconds=1)


def zip_bytes(members, compression=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


GOOD = npy(describe(shape="(4, 2)"), np.array([1.0, 2, 3, 1, 5, 6, 7, 3]).tobytes())


def test_npz_is_read(tmp_path):
    (tmp_path / "x.npz").write_bytes(zip_bytes({"X.npy": GOOD}))
    assert select(tmp_path / "x.npz", "-c", "2")["data"]["rows"] == 4
    (tmp_path / "y.npz").write_bytes(zip_bytes({"counts.npy": GOOD, "X.npy": b"junk"}))
    assert select(tmp_path / "y.npz", "--array", "counts", "-c", "2")["data"]["rows"] == 4


def test_npz_without_the_array_says_what_there_is(tmp_path):
    (tmp_path / "x.npz").write_bytes(zip_bytes({"counts.npy": GOOD, "y.npy": GOOD}))
    refused(tamis("select", tmp_path / "x.npz", "-c", "2", "--array", "Z"), 2, "Z", "counts")


@pytest.mark.parametrize("name", ["../X.npy", "/X.npy", "../../etc/x.npy", "a/../../X.npy"])
def test_npz_member_outside(tmp_path, name):
    (tmp_path / "x.npz").write_bytes(zip_bytes({name: GOOD}))
    refused(tamis("select", "x.npz", "-c", "2", cwd=tmp_path), 3, seconds=1)
    assert os.listdir(tmp_path) == ["x.npz"]


NPZ = {
    "not a zip": b"PK\x03\x04" + b"\0" * 50,
    "no directory": zip_bytes({"X.npy": GOOD})[:100],
    "member is junk": zip_bytes({"X.npy": b"junk"}),
    "member is an object array": zip_bytes({"X.npy": NPY["object dtype"]}),
    "member of huge shape": zip_bytes({"X.npy": NPY["huge shape"]}),
    "no members": zip_bytes({}),
    "wrong checksum": zip_bytes({"X.npy": GOOD}, zipfile.ZIP_STORED).replace(GOOD[-8:], b"\0" * 7 + b"\x11"),
    "bzip2 member": zip_bytes({"X.npy": GOOD}, zipfile.ZIP_BZIP2),
}


@pytest.mark.parametrize("name", NPZ)
def test_npz(tmp_path, name):
    (tmp_path / "x.npz").write_bytes(NPZ[name])
    refused(tamis("select", tmp_path / "x.npz", "-c", "2"), 3, "x.npz", seconds=1)


def test_npz_cut_at_many_places(tmp_path):
    whole = zip_bytes({"X.npy": GOOD})
    for size in range(0, len(whole), 16 if SANITIZED or PYTHON_COMMAND else 3):
        (tmp_path / "x.npz").write_bytes(whole[:size])
        refused(tamis("select", tmp_path / "x.npz", "-c", "2"), 3, seconds=1)


def test_npz_with_flipped_bytes_never_crashes(tmp_path):
    whole = zip_bytes({"X.npy": GOOD, "y.npy": GOOD})
    rng = np.random.default_rng(0)
    for _ in range(15 if SANITIZED or PYTHON_COMMAND else 60):
        bad = bytearray(whole)
        for at in rng.integers(len(bad), size=3):
            bad[at] = rng.integers(256)
        (tmp_path / "x.npz").write_bytes(bad)
        run = tamis("select", tmp_path / "x.npz", "-c", "2", "--json")
        if run.code != 0:
            refused(run, (2, 3, 4), seconds=1)


@pytest.mark.unsanitized
def test_bombs(tmp_path):
    bomb = npy(describe(shape="(4000000, 8)"), b"\0" * 256_000_000)
    (tmp_path / "x.npz").write_bytes(zip_bytes({"X.npy": bomb}))
    refused(tamis("select", tmp_path / "x.npz", "-c", "2", "--memory", "100MB"), 4)
    code, peak = peak_memory("select", tmp_path / "x.npz", "-c", "2", "--memory", "100MB")
    assert code == 4 and peak < 120e6, (code, peak)
    member = gzip.compress(b"1,2,3\n4,5,7\n" * 40000)
    (tmp_path / "x.csv.gz").write_bytes(member * 200)  # 16 million rows, 384 MB of numbers
    code, peak = peak_memory("select", tmp_path / "x.csv.gz", "-c", "2", "--memory", "100MB")
    assert code == 4 and peak < 150e6 + INTERPRETER_BYTES, (code, peak)


def sparse_npz(path, **changes):
    X = scipy.sparse.random(20, 6, density=0.5, format="csr", random_state=np.random.default_rng(0))
    arrays = {"indices": X.indices, "indptr": X.indptr, "format": np.array(b"csr"), "shape": np.array(X.shape), "data": X.data}
    np.savez(path, **{**arrays, **changes})
    return path


def test_sparse_npz_is_read(tmp_path):
    assert select(sparse_npz(tmp_path / "x.npz"), "-c", "2")["data"]["rows"] == 20


@pytest.mark.parametrize("changes", [
    {"indices": np.full(60, 6, np.int32)}, {"indices": np.full(60, -1, np.int32)},
    {"indptr": np.arange(21)[::-1].astype(np.int32)}, {"indptr": np.full(21, 2**40)}, {"indptr": np.zeros(3, np.int32)},
    {"indptr": np.full(21, -5, np.int32)}, {"shape": np.array([20, -6])}, {"shape": np.array([2**62, 2**62])},
    {"shape": np.array([20])}, {"format": np.array(b"bsr")}, {"data": np.ones(3)}, {"data": np.array(["a"] * 60)},
    {"data": np.full(60, np.nan)},
], ids=lambda changes: "-".join(f"{key}" for key in changes))
def test_sparse_npz_malformed(tmp_path, changes):
    refused(tamis("select", sparse_npz(tmp_path / "x.npz", **changes), "-c", "2"), 3, "x.npz", seconds=1)


def test_input_that_shrinks_while_it_is_read(tmp_path):
    # Whatever the moment, the end is a result or one line of error, never a crash by SIGBUS.
    for delay in (0.0, 0.02, 0.05, 0.1):
        path = write_npy(tmp_path / "x.npy", planted(60000, 60))
        child = subprocess.Popen([str(COMMAND), "select", str(path), "-c", "3", "--quiet", "--json"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(delay)
        os.truncate(path, 4096)
        _, err = child.communicate(timeout=60)
        assert child.returncode in (0, 3, 5), (delay, child.returncode, err)
