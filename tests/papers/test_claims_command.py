"""`workbench claims`: what cannot be judged; what is, in `tests/core/api/test_payloads.py`."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import workbench as wb
from tests.core.cli.conftest import refused, run
from workbench.cli import main
from workbench.studies import quoted
from workbench.studies.quoted import Stamp

__all__ = ["refused", "run"]
STUDY, OTHER = "toy-example", "gold-estimates"


def test_bad_input_gets_one_line(refused, tmp_path):
    assert "give a path that ends in .md" in refused("claims", "--out", "c.txt")
    assert "none.sqlite" in refused("claims", "--store", tmp_path / "none.sqlite")
    assert "--keep: give the page as --out" in refused("claims", "--keep")


@pytest.mark.slow
def test_a_page_has_the_stamp_of_its_verdicts_and_of_those_it_keeps(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "claims.md"
    paper = tmp_path / "papers" / "ho-jabbari-vaughan-2013.md"
    for study in (STUDY, OTHER):
        wb.run_study(study, size="smoke", store=f"{study}.sqlite", processes=1)

    def write(study, *options):
        words = ["claims", "--store", f"{study}.sqlite", "--out", "claims.md", *options]
        ran = CliRunner().invoke(main, words)
        assert ran.exit_code == 0, ran.output
        assert f"written: papers/{paper.name}" in ran.output
        assert quoted.quoted(paper) == quoted.quoted(page)  # both studies are of this paper
        return quoted.quoted(page)

    assert write(STUDY) == Stamp(wb.__version__, (STUDY,))
    assert set(write(OTHER, "--keep").studies) == {STUDY, OTHER}
    # What is kept of an earlier page is of an earlier release, and so is the page.
    kept = page.with_suffix(".json")
    text = kept.read_text("utf-8")
    kept.write_text(text.replace(f'"{wb.__version__}"', '"1.0.0"'), "utf-8")
    assert write(OTHER, "--keep").release == "1.0.0"
    assert write(OTHER) == Stamp(wb.__version__, (OTHER,))
