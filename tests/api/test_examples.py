"""The examples in the front door's docstrings run, and say what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pandas as pd
import pytest

import workbench.api
from workbench.crowd.datasets import DATA_VARIABLE

MODULES = [name for _, name, _ in pkgutil.iter_modules(workbench.api.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(DATA_VARIABLE, raising=False)  # no example may need data from elsewhere
    module = importlib.import_module(f"workbench.api.{name}")
    with pd.option_context("display.width", 100):
        failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert not failed
