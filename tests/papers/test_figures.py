"""Pages and notebooks with figures say of which release they are and which studies made them."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.studies import probe, quoted
from workbench.studies.catalog import studies
from workbench.studies.source import Source

ROOT = Path(__file__).parents[2]
# The site copies notebooks into docs.
PAGES = [
    page.relative_to(ROOT)
    for page in quoted._pages([ROOT / "docs", ROOT / "notebooks"])
    if page.parent != ROOT / "docs" / "notebooks"
]


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_a_page_has_a_stamp_of_studies_that_have_probes(page):
    stamp = quoted.quoted(ROOT / page)
    assert stamp is not None
    for name in stamp.studies:
        assert name in studies()
        assert probe.read_probe(Source.of(name)) is not None, name
    if page.suffix == quoted.NOTEBOOK:
        assert set(stamp.studies) == set(quoted.notebook_stamp(ROOT / page).studies)


def test_there_are_pages_and_no_probe_of_a_study_that_is_gone():
    assert len(PAGES) > 30
    there = {probe.probe_path(Source.of(name)).resolve() for name in studies()}
    kept = {
        path.resolve()
        for room in ("papers", "workbench")
        for path in (ROOT / room).rglob("probes/*")
    }
    assert kept == there
