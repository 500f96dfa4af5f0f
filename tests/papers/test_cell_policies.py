"""A policy of a notebook's cell goes through a study, in other processes, and anew once edited."""

from __future__ import annotations

import workbench as wb
from tests.core.api.test_policies import cell, text

__all__ = ["cell"]


def test_a_study_runs_it_elsewhere_and_anew_where_the_cell_has_changed(cell, tmp_path):
    def ran():
        return wb.run_study(
            "assignment-policies",
            size="smoke",
            set={"policy": ["few first", "greedy"], "information": ["true"], "crowd": ["spread"]},
            repetitions=1,
            processes=2,
            store=tmp_path / "s.sqlite",
        )

    cell(text())
    first = ran()
    assert first.failed == 0
    assert set(first.table["policy"]) == {"few first", "greedy"}
    assert ran().progress.done == 0
    cell("# A comment more.\n" + text())
    assert ran().progress.done == 0
    cell(text(end="back", step="[::-1]"))
    again = ran()
    assert (again.progress.changed, again.failed) == (len(first.table), 0)
    assert again.progress.parts == ("few-first.py",)
    page = again.report(tmp_path / "page.html").path.read_text("utf-8")
    assert "--plugin few-first.py" in page
