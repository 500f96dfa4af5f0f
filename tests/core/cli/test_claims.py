"""`workbench claims`: what cannot be judged; what is, in `tests/core/api/test_payloads.py`."""

from __future__ import annotations

from click.testing import CliRunner

import workbench as wb
from workbench.cli import main
from workbench.studies import quoted

STUDY, OTHER = "toy-example", "gold-estimates"


def test_bad_input_gets_one_line(refused, tmp_path):
    assert "give a path that ends in .md" in refused("claims", "--out", "c.txt")
    assert "none.sqlite" in refused("claims", "--store", tmp_path / "none.sqlite")
    assert "--keep: give the page as --out" in refused("claims", "--keep")


def test_a_page_names_the_trials_of_its_verdicts_and_of_those_it_keeps(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "claims.md"
    for study in (STUDY, OTHER):
        wb.run_study(study, size="smoke", store=f"{study}.sqlite", processes=1)

    def write(study, *options):
        words = ["claims", "--store", f"{study}.sqlite", "--out", "claims.md", *options]
        ran = CliRunner().invoke(main, words)
        assert ran.exit_code == 0, ran.output
        return {row.study: row for row in quoted.quoted(page)}

    first = write(STUDY)
    assert first.keys() == {STUDY}
    assert first[STUDY].trials > 0
    assert quoted.stale([page]) == []
    both = write(OTHER, "--keep")
    assert both.keys() == {STUDY, OTHER}
    assert both[STUDY] == first[STUDY]
    assert quoted.stale([page]) == []
    # Without a head nobody can tell what ran the trials of the verdicts that stand.
    _, body = quoted._parted(page)
    page.write_text(body, "utf-8")
    kept = write(OTHER, "--keep")[STUDY]
    assert (kept.seeds, kept.trials, kept.code) == (first[STUDY].seeds, first[STUDY].trials, "")
    assert [row.reason for row in quoted.stale([page])] == [
        f"{kept.trials:,} trials of {STUDY} by code of several days or not on record"
    ]
    assert write(OTHER).keys() == {OTHER}
