"""examples/laboratory.py: everything as printed, and exit 1 as soon as one number is not."""

import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "laboratory.py"


@pytest.fixture(scope="module")
def laboratory():
    if not EXAMPLE.exists():
        pytest.skip(f"{EXAMPLE} is not part of this installation")
    spec = importlib.util.spec_from_file_location("laboratory", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["laboratory"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["laboratory"]


@pytest.fixture
def copied(lab_data, tmp_path):
    folder = tmp_path / "lab"
    shutil.copytree(lab_data / "lab", folder)
    for path in [folder, *folder.iterdir()]:
        path.chmod(0o755)
    return folder


def test_every_number_is_the_printed_one(laboratory, lab_data, tmp_path, capsys):
    assert laboratory.main([str(lab_data / "lab"), "--out", str(tmp_path / "figures")]) == 0
    printed = capsys.readouterr().out
    assert "52 of 52 numbers and tables are the printed ones." in printed
    assert "DIFFERS" not in printed
    for name in ("roc.tsv", "roc_eps1.tsv", "bayes-error.tsv", "bayes-error_eps1.tsv"):
        assert (tmp_path / "figures" / name).exists()
    assert np.loadtxt(tmp_path / "figures" / "bayes-error.tsv", skiprows=1).shape == (21, 3)


@pytest.mark.parametrize("name", ["labels", "labels_eps1", "labels_infpar", "labels_infpar_eps1"])
def test_corrupted_labels_end_with_exit_1(laboratory, copied, capsys, name):
    path = copied / f"commedia_{name}.npy"
    labels = np.load(path)
    labels[[0, -1]] = labels[[-1, 0]]
    np.save(path, labels)
    assert laboratory.main([str(copied)]) == 1
    assert "DIFFERS" in capsys.readouterr().out


def test_tercets_under_another_canticas_name_end_with_exit_1(laboratory, copied, capsys):
    inferno, paradiso = copied / "inferno.txt", copied / "paradiso.txt"
    text = inferno.read_bytes()
    inferno.write_bytes(paradiso.read_bytes())
    paradiso.write_bytes(text)
    assert laboratory.main([str(copied)]) == 1
    assert capsys.readouterr().out.count("DIFFERS") > 10


def test_labels_cut_short_end_with_exit_1(laboratory, copied):
    for name in ("labels", "labels_infpar"):
        path = copied / f"commedia_{name}.npy"
        np.save(path, np.load(path)[:-1])
    assert laboratory.main([str(copied)]) == 1


@pytest.mark.parametrize("name", ["purgatorio.txt", "commedia_ll.npy"])
def test_a_missing_file_is_named(laboratory, copied, capsys, name):
    (copied / name).unlink()
    assert laboratory.main([str(copied)]) == 1
    assert name in capsys.readouterr().err


def test_a_text_in_another_encoding_is_refused(laboratory, copied, capsys):
    path = copied / "inferno.txt"
    path.write_bytes(path.read_bytes().decode("latin-1").encode("utf-16"))
    assert laboratory.main([str(copied)]) == 1
    assert "inferno.txt looks like UTF-16" in capsys.readouterr().err
