"""Options of `tamis.read` for tables as programs export them."""

import numpy as np
import pytest

import tamis


@pytest.fixture
def export(tmp_path):
    path = tmp_path / "export"
    path.write_text("Report\na;b;c\n1,5;2;1.234\nNA;3;2.345\n4,5;7;-\n")
    return path


def test_every_option_of_text(export):
    table = tamis.read(export, format="csv", missing="mean", thousands=".")
    np.testing.assert_array_equal(table.X, [[1.5, 2, 1234], [3, 3, 2345], [4.5, 7, 1789.5]])
    assert table.feature_names == ["a", "b", "c"]
    assert len(table.notes) == 2 and "skipped" in table.notes[0] and "replaced by the mean" in table.notes[1]
    kept = tamis.read(export, format="csv", skip=1, missing="drop-columns", thousands=".")
    assert kept.feature_names == ["b"] and kept.excluded_columns == ["a", "c"]


def test_messages_name_parameters(export, tmp_path):
    with pytest.raises(ValueError, match="2 missing values in 2 of 3 columns.*missing='drop-rows'"):
        tamis.read(export, format="csv", thousands=".")
    with pytest.raises(ValueError, match="missing = zero"):
        tamis.read(export, format="csv", missing="zero")
    with pytest.raises(ValueError, match="skip = -1"):
        tamis.read(export, format="csv", skip=-1)
    with pytest.raises(ValueError, match="thousands = x"):
        tamis.read(export, format="csv", thousands="x")
    (tmp_path / "x.csv").write_text('a,b,c\n"1,234",x,y\n2,x,y\n')
    with pytest.raises(ValueError, match=r"""thousands=',' reads.*text_columns=\['b', 'c'\] leaves"""):
        tamis.read(tmp_path / "x.csv")


def test_missing_of_arrays(tmp_path):
    X = np.array([[1, np.nan, 3], [4, 5, 6], [7, 9, 9]], dtype=np.float32)
    np.save(tmp_path / "x.npy", X)
    table = tamis.read(tmp_path / "x.npy", missing="mean")
    assert table.X.dtype == np.float32
    np.testing.assert_array_equal(table.X, [[1, 7, 3], [4, 5, 6], [7, 9, 9]])
    np.testing.assert_array_equal(tamis.read(tmp_path / "x.npy", missing="drop-rows").X, X[1:])
    with pytest.raises(ValueError, match="on_disk"):
        tamis.read(tmp_path / "x.npy", missing="mean", on_disk=True)
