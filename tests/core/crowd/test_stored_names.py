"""Names of files are names, whatever DuckDB would take them for."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

import workbench as wb
from tests.core.release import some
from workbench.base.errors import InputError

pytest.importorskip("pyarrow", reason="needs crowd-workbench[parquet]")
pytest.importorskip("duckdb", reason="needs crowd-workbench[duckdb]")

NAMES = [
    *(chr(code) for code in range(1, 128) if not chr(code).isalnum() and chr(code) not in "/\\"),
    *("[12]", "[!1]", "[a-z]", "**", "?*[", "[*]", "[[]", "{a,b}", "%20", "k=v*", "é", "\u2028"),
]


def labels(task: str, answer: str = "yes") -> pd.DataFrame:
    return pd.DataFrame({"task": [task] * 3, "worker": ["a", "b", "c"], "label": answer})


def tasks(source, folder) -> list[str]:
    result = wb.aggregate(source, save=folder / "answers.parquet")
    return result.to_frame()["task"].tolist()


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A folder whose files and folders have every special character in their names."""
    folder = tmp_path_factory.mktemp("names")
    for decoy in ("a1b", "a2b", "ab", "aXb"):
        labels(f"decoy {decoy}").to_parquet(folder / f"{decoy}.parquet")
    made = {}
    for name in NAMES:
        path = folder / f"a{name}b.parquet"
        try:
            labels(repr(name)).to_parquet(path)
        except OSError:  # a file system that has no such names
            continue
        made[name] = path
    return folder, made


@pytest.mark.release
def test_a_folder_is_read_file_by_file_whatever_their_names(folders, tmp_path):
    folder, made = folders
    result = tasks(folder, tmp_path)
    assert len(result) == len(set(result)) == 4 + len(made)
    assert result == wb.aggregate(folder).to_frame()["task"].tolist()


@pytest.mark.parametrize("name", some(["*", "[12]", "'", "k=[v]"], 2))
def test_a_folder_may_be_called_so_too(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    decoys = ("1", "x")
    for folder in (name, *decoys):
        (tmp_path / folder).mkdir()
        labels(folder).to_parquet(tmp_path / folder / "f.parquet")
    for source in (name, Path(name) / "f.parquet", tmp_path / name):
        assert tasks(source, tmp_path) == [name]


def test_answers_are_saved_and_read_again_under_any_name(tmp_path):
    source = tmp_path / "labels.parquet"
    labels("t").to_parquet(source)
    labels("decoy").assign(score=0.0).to_parquet(tmp_path / "a1.parquet")
    result = wb.aggregate(source, save=tmp_path / "a[1].parquet")
    assert result.to_frame()["task"].tolist() == ["t"]
    (tmp_path / "link.parquet").symlink_to(tmp_path / "a[1].parquet")
    wb.aggregate(source, save=tmp_path / "link.parquet")
    assert (tmp_path / "link.parquet").is_symlink()


@pytest.mark.skipif(os.sep != "/", reason="a backslash parts folders here")
@pytest.mark.parametrize(("name", "said"), [("a\\*b", "rename it"), ("a\udc80b", "no Unicode")])
def test_names_that_no_pattern_fits_are_refused(name, said, tmp_path):
    path = tmp_path / f"{name}.parquet"
    try:
        path.write_bytes(b"PAR1")
    except OSError:
        pytest.skip("no such names here")
    with pytest.raises(InputError, match=said):
        wb.aggregate(tmp_path, save=tmp_path.parent / "answers.parquet")
