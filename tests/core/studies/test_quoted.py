"""Pages that quote figures: the trials that they name, and whether these are of today."""

from __future__ import annotations

import json

import pytest

import workbench as wb
from workbench.base.errors import InputError
from workbench.studies import code, quoted

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
        table.loc[0, "environment.workbench"] = "f" * 64
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


def test_of_a_folder_those_that_quote_figures(store, page):
    """Pages that name trials and all findings, at any depth; notebooks."""
    other = page.parent / "findings" / "other.md"
    other.parent.mkdir()
    for path in (other, other.parent / "index.md"):
        path.write_text("# Nothing named\n", "utf-8")
    book = page.parent / "book.ipynb"
    cells = [{"cell_type": "code", "source": ["import workbench as wb\n", "wb.check"]}]
    book.write_text(json.dumps({"cells": cells, "metadata": {}}), "utf-8")
    assert {row.page for row in quoted.stale([page.parent])} == {other, book}
    quoted.stamp(page, store)
    (page.parent / "old.md").write_text(page.read_text("utf-8").replace("code: ", "code: 0"))
    assert {row.page.name for row in quoted.stale([page.parent])} == {
        "old.md",
        "other.md",
        book.name,
    }


def test_a_notebook_is_of_today_until_what_it_uses_changes(tmp_path, monkeypatch):
    path, metadata = tmp_path / "book.ipynb", {}
    source = 'import workbench as wb\nwb.check\nwb.run_study("toy-example")'

    def write(source):
        cells = [{"cell_type": "markdown", "source": ["words"]}]
        cells += [{"cell_type": "code", "source": source.splitlines(keepends=True)}]
        path.write_text(json.dumps({"cells": cells, "metadata": metadata}), "utf-8")

    write(source)
    assert [row.reason for row in quoted.stale([path])] == ["does not say what code it was run by"]
    metadata["workbench"] = {"code": quoted.notebook_digest(path)}
    write(source)
    assert quoted.stale([path]) == []
    write(source + "  # a comment")
    assert quoted.stale([path]) == []
    for changed in ("toy-example", "wb.check"):
        write(source.replace(changed, changed[:-1]))
        assert "run by code" in quoted.stale([path])[0].reason
    write(source)
    trial = code._module("crowd_papers.adaptive_assignment.toy_example", _file("toy_example"))
    monkeypatch.setattr(trial, "tree", code.ast.parse("x = 1"))
    assert "run by code" in quoted.stale([path])[0].reason


def _file(name):
    return code.ROOTS["workbench"] / "papers" / "adaptive_assignment" / f"{name}.py"


def test_what_no_study_measures_has_its_package_and_day(page):
    row = quoted.stamp_measured(page, "benchmarks")
    assert quoted.measured(page) == (row,)
    assert quoted.stale([page.parent]) == []
    page.write_text(page.read_text("utf-8").replace(row.code, "''"), "utf-8")
    assert "benchmarks of code not on record" in quoted.stale([page])[0].reason
