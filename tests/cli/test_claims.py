"""`workbench claims`: what cannot be judged; what is, in `tests/api/test_payloads.py`."""

from __future__ import annotations


def test_bad_input_gets_one_line(refused, tmp_path):
    assert "give a path that ends in .md" in refused("claims", "--out", "c.txt")
    assert "none.sqlite" in refused("claims", "--store", tmp_path / "none.sqlite")
    assert "--keep: give the page as --out" in refused("claims", "--keep")
