"""The examples in docstrings run, and say what they say."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pandas as pd
import pytest

import crowd_models
import workbench
from workbench.crowd.datasets import DATA_VARIABLE

MODULES = [
    ".".join(path.relative_to(root.parent).with_suffix("").parts)
    for root in (Path(crowd_models.__file__).parent, Path(workbench.__file__).parent)
    for path in sorted(root.rglob("*.py"))
    if ">>>" in path.read_text("utf-8")
]


DEAR = tuple(
    f"workbench.{name}"
    for name in (
        "api.auditing",
        "api.collection_audit",
        "api.comparing",
        "api.learning",
        "api.ranking",
        "api.sampling",
        "solving.ignorance",
        "testing",
    )
)
LANES = {**dict.fromkeys(DEAR, pytest.mark.slow), "workbench.api.studying": pytest.mark.release}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=LANES.get(name, ())) for name in MODULES]
)
def test_examples(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(DATA_VARIABLE, raising=False)  # no example may need data from elsewhere
    module = importlib.import_module(name)
    with pd.option_context("display.width", 100):
        failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert not failed
