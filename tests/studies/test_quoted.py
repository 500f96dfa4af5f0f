"""Pages that quote figures: the trials that they name, and whether these are of today."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.base.errors import InputError
from workbench.studies import quoted

STUDY = "toy-example"


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "studies.sqlite"
    wb.run_study(STUDY, size="smoke", store=path, processes=1)
    return path


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "finding.md"
    path.write_text("# What was measured\n\nA line ---\n", "utf-8")
    return path


def test_a_page_is_of_today_once_stamped_and_stale_when_code_changes(store, page, monkeypatch):
    assert [row.reason for row in quoted.stale([page])] == ["names no trials"]
    body = page.read_text("utf-8")
    rows = quoted.stamp(page, store)
    assert [(row.study, row.seeds) for row in rows] == [(STUDY, (0,))]
    assert rows[0].trials > 0
    assert page.read_text("utf-8").endswith(body)
    assert quoted.stale([page]) == []
    assert quoted.stamp(page, store) == rows  # once, however often
    assert page.read_text("utf-8").count("trials:") == 2

    monkeypatch.setattr(quoted, "code_digest", lambda source: "0" * 64)
    (row,) = quoted.stale([page.parent])
    assert row.page == page
    assert f"trials of {STUDY} by code {rows[0].code}" in row.reason


def test_trials_of_several_codes_are_of_none(store, page, monkeypatch):
    from workbench.studies.store import Store

    whole = Store.table

    def mixed(self, study, version=None):
        table = whole(self, study, version)
        table.loc[0, "environment.code"] = "f" * 64
        return table

    monkeypatch.setattr(Store, "table", mixed)
    assert quoted.stamp(page, store)[0].code == ""
    assert "several days" in quoted.stale([page])[0].reason


def test_what_cannot_be_read_is_one_line(store, page):
    page.write_text("---\ntrials: [{study: x}]\n---\n# A page\n", "utf-8")
    with pytest.raises(InputError, match="its head is no list of trials"):
        quoted.stale([page])
    page.write_text("# A page\n", "utf-8")
    with pytest.raises(InputError, match="no trials of calibration as it is now"):
        quoted.stamp(page, store, ["calibration"])
