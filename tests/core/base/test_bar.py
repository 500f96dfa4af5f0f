"""A bar, and what is said where none can be drawn."""

from __future__ import annotations

import sys

import pytest

from workbench.api.meter import meter
from workbench.base.bar import bar
from workbench.base.errors import InputError


@pytest.mark.parametrize("make", [lambda: bar("trials", "mine"), lambda: meter(True, "trials")])
def test_a_bar_counts_to_the_end_and_closes(capsys, make):
    show = make()
    show(1, 4)
    show(4, 4)
    assert "4/4 [" in capsys.readouterr().out


def test_without_tqdm_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(InputError, match=r"^`progress`: a bar needs tqdm; pip"):
        meter(True, "trials")
