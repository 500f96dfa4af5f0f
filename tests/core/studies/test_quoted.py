"""Pages that show figures: their stamps, and whether their studies give these results today."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import workbench as wb
from workbench.base import registry
from workbench.base.errors import InputError
from workbench.studies import probe, quoted
from workbench.studies.attempt import attempt
from workbench.studies.quoted import Quoting, Stamp
from workbench.studies.request import request
from workbench.studies.source import Source
from workbench.studies.store import Store

STUDY, OTHER = "halves", "leaderboard"
TEXT = """
from workbench.studies.study import Analysis, Parameter, Size, Study

def trial(params, streams):
    return {"y": params["x"] / 2}

SIZE = Size(({"x": [1, 2, 3, 4]},), 2)
SIZES = dict.fromkeys(("smoke", "small", "paper"), SIZE)
STUDY = Study("halves", "Halves", "none", {"x": Parameter(int, 1, "x")}, SIZES, trial,
              lambda trials: Analysis(("a",)))
"""
TODAY = wb.__version__


@pytest.fixture(autouse=True)
def plugin(tmp_path, monkeypatch):
    """A study of one's own, and its probe; nothing of it stays loaded."""
    monkeypatch.setattr(registry, "_shared", {*registry._shared})
    monkeypatch.setattr(registry, "_loaded", {**registry._loaded})
    monkeypatch.setattr(registry, "_registered", {**registry._registered})
    path = tmp_path / "halves.py"
    path.write_text(TEXT, "utf-8")
    registry.load_plugin(path)
    probe.renew(Source.of(STUDY))
    return path


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "studies.sqlite"
    trials = request(STUDY).plan
    with Store.open(path, write=True) as opened:
        opened.remember(trials)
        opened.write([attempt(trials.source, one) for one in trials.trials()])
    return path


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "finding.md"
    path.write_text("# What was measured\n\nA line ---\n", "utf-8")
    return path


@pytest.fixture
def smoke(monkeypatch):
    """Count smoke sweeps, which are not run: they give what the probe has, or what is set here."""
    other = {}
    runs = []

    def measured(source):
        runs.append(source.load().name)
        return other.get(source.load().name, probe.read_probe(source))

    monkeypatch.setattr(probe, "run_probe", measured)
    other["runs"] = runs
    return other


def stamped(page, release=TODAY, studies=(STUDY,)):
    page.write_text(f"---\nrelease: {release}\nstudies: [{', '.join(studies)}]\n---\n# A\n")
    return page


def test_a_stamp_is_written_at_the_head_once_however_often(store, page):
    body = page.read_text("utf-8")
    assert quoted.quoted(page) is None
    row = quoted.stamp(page, store)
    assert row == Stamp(TODAY, (STUDY,)) == quoted.quoted(page)
    assert row.text() == f"figures of release {TODAY}, of {STUDY}"
    assert page.read_text("utf-8") == f"---\nrelease: {TODAY}\nstudies: [{STUDY}]\n---\n{body}"
    assert quoted.stamp(page, store) == row
    assert page.read_text("utf-8").count("studies:") == 1


def test_figures_of_several_releases_are_of_the_oldest(store, page, monkeypatch):
    stamped(page, "1.10.0", ["whole-crowds"])
    assert quoted.stamp(page, store) == Stamp("1.10.0", ("whole-crowds", STUDY))
    stamped(page, "1.10.0")
    assert quoted.stamp(page, store) == Stamp(TODAY, (STUDY,))  # renewed, all of it
    whole = Store.table

    def mixed(self, study, version=None):
        return whole(self, study, version).assign(
            **{quoted.MADE_BY: [TODAY] * 7 + ["1.9.0"]},
        )

    monkeypatch.setattr(Store, "table", mixed)
    assert quoted.stamp(page, store).release == "1.9.0"


def test_a_page_is_stale_where_its_study_gives_other_results(page, smoke):
    assert quoted.stale([page]) == [Quoting(page, "names neither a release nor studies")]
    stamped(page)
    assert quoted.stale([page]) == []
    before = probe.read_probe(Source.of(STUDY))
    first = {**before.rows[0], "status": "error"}
    smoke[STUDY] = replace(before, rows=(first, *before.rows[1:]))
    (row,) = quoted.stale([page.parent])
    assert row.stale
    assert row.reason == (
        f"{STUDY} gives other records than its probe: status in 1 of {len(before.rows)} trials "
        "(ok before, error now)"
    )


def test_once_the_probe_is_renewed_a_page_of_an_earlier_release_is_listed_as_such(page, smoke):
    since = probe.read_probe(Source.of(STUDY)).since
    stamped(page, "1.9.10")
    (row,) = quoted.stale([page])
    assert not row.stale
    assert row.reason == f"shows figures of release 1.9.10; others come of {STUDY} since {since}"
    assert quoted.stale([stamped(page, since)]) == []
    assert quoted.stale([stamped(page, "10.0.0")]) == []


def test_each_study_is_run_once_and_only_those_that_are_named(page, smoke):
    other = page.with_name("other.md")
    stamped(page, studies=[STUDY, OTHER])
    stamped(other)
    empty = stamped(page.with_name("times.md"), studies=[])
    assert quoted.stale([page, other, empty, page]) == []
    assert sorted(smoke["runs"]) == sorted([OTHER, STUDY])


def test_a_study_that_is_gone_or_has_no_probe_is_told(page, smoke, tmp_path, monkeypatch):
    stamped(page, studies=["no-such", STUDY])
    monkeypatch.setattr(probe, "probe_path", lambda source: tmp_path / "none.csv")
    reason = quoted.stale([page])[0].reason
    assert "there is no study no-such" in reason
    assert f"{STUDY} has no probe (workbench study probe {STUDY} writes one)" in reason


def test_what_cannot_be_read_is_one_line(store, page):
    for head in ("release: 2", "studies: [x]", "release: 2.0.0\nstudies: x"):
        page.write_text(f"---\n{head}\n---\n# A page\n", "utf-8")
        with pytest.raises(InputError, match="give release and list of studies at its head"):
            quoted.stale([page])
    page.write_text("# A page\n", "utf-8")
    with pytest.raises(InputError, match=f"no trials of {OTHER} as it is now"):
        quoted.stamp(page, store, [OTHER])


def notebook(path, source, **metadata):
    cells = [{"cell_type": "markdown", "source": [OTHER]}]
    cells += [{"cell_type": "code", "source": source.splitlines(keepends=True)}]
    path.write_text(json.dumps({"cells": cells, "metadata": metadata}), "utf-8")
    return path


def test_of_a_folder_those_that_show_figures(page, smoke):
    """Pages that have a stamp and all findings, at any depth; notebooks."""
    other = page.parent / "findings" / "other.md"
    other.parent.mkdir()
    for path in (other, other.parent / "index.md"):
        path.write_text("# Nothing named\n", "utf-8")
    book = notebook(page.parent / "book.ipynb", "import workbench as wb\nwb.check")
    old = stamped(page.with_name("old.md"), studies=["no-such"])
    assert {row.page for row in quoted.stale([page.parent])} == {other, book, old}


def test_a_notebook_names_the_studies_in_its_code(tmp_path, smoke):
    source = 'import workbench as wb\nwb.run_study("halves")'
    path = notebook(tmp_path / "book.ipynb", source)
    assert quoted.notebook_stamp(path) == Stamp(TODAY, (STUDY,))
    notebook(path, source, workbench={"release": TODAY, "studies": [STUDY]})
    assert quoted.stale([path]) == []
    assert smoke["runs"] == [STUDY]
