"""The register, and the page written from a store."""

import re
from pathlib import Path

import pytest

import workbench
from tests.core.studies.serial import Serial
from tests.papers.made_up import Tables, all_tables, claims_of
from workbench.base.errors import InputError
from workbench.studies.catalog import claims, studies, studies_needed
from workbench.studies.claiming import Word
from workbench.studies.claims_page import markdown, read_page
from workbench.studies.executors import Limits
from workbench.studies.judging import judge
from workbench.studies.run import run
from workbench.studies.source import Source
from workbench.studies.store import Store
from workbench.studies.study_plan import StudyPlan

PAPER = [one for one in claims_of("adaptive") if "figure" not in one.id]


class TestRegister:
    def test_claims_are_decided_by_studies_of_the_catalog(self):
        assert studies_needed()
        assert set(studies_needed()) <= set(studies())
        for claim in claims():
            assert claim.least >= 8
            assert claim.statement.endswith((".", ")"))


@pytest.fixture(scope="module")
def verdicts():
    return judge(Tables(all_tables()), PAPER)


class TestPage:
    def test_everything_is_on_it(self, verdicts):
        text = markdown(verdicts)
        for one in verdicts:
            assert f"\n## {one.claim.id}\n" in text
            for part in (one.claim.source, one.claim.statement, f"**Verdict: {one.word}.**"):
                assert part in text
            assert one.figures in text
        assert "14 claims: 10 holds, 4 void at the paper's own settings." in text
        assert "| weighted-vote | 40 | 0 | 0 | 0 | 1 | 0.0 |" in text
        # Every row of a Markdown table has its head's number of cells.
        for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
            assert len({line.count("|") for line in table.splitlines()}) == 1

    def test_an_empty_store(self):
        verdicts = judge(Tables({}))
        for one in verdicts:
            assert one.word is (Word.UNMEASURED if one.claim.studies else Word.NO_DATA)
        missing = sum(bool(one.claim.studies) for one in verdicts)
        assert f"{missing} not yet measured" in markdown(verdicts)


def test_a_real_store_read_twice(tmp_path):
    """Trials kept on disk, the page written from them, closed, opened, written again: same text."""
    source = Source.of("gold-estimates")
    size = source.load().sizes["smoke"]
    pages = []
    with Store.open(tmp_path / "store.sqlite", write=True) as store:
        asked = StudyPlan.of(source, size.sweep, 2)
        run(asked, store=store, executor=Serial(), limits=Limits())
        pages.append(markdown(judge(store)))
    for _ in range(2):
        with Store.open(tmp_path / "store.sqlite") as store:
            verdicts = judge(store)
            pages.append(markdown(verdicts))
    assert len(set(pages)) == 1
    rulings = {one.claim.id: one.word for one in verdicts}
    assert rulings["adaptive-lemma-2"] is rulings["adaptive-lemma-3"] is Word.HOLDS
    assert rulings["adaptive-lemma-1"] is Word.UNMEASURED
    assert f"| {workbench.__version__} |" in pages[0]


def test_published_page_is_of_this_register():
    """docs/claims.md has every claim as it is stated now, each with a verdict."""
    text = (Path(__file__).parents[2] / "docs" / "claims.md").read_text(encoding="utf-8")
    for claim in claims():
        assert f"\n## {claim.id}\n\n{claim.source}\n\n**Claim.** {claim.statement}\n" in text
    assert f"**Verdict: {Word.UNMEASURED}.**" not in text


def test_a_page_is_renewed_in_part(verdicts, tables, tmp_path):
    """What the store has no trials of stays as the page has it, to the letter."""
    page = tmp_path / "claims.md"
    whole = markdown(verdicts)
    page.write_text(whole, "utf-8")
    assert markdown(list(read_page(page, PAPER).values())) == whole
    votes = tables["weighted-vote"].assign(error_hired=0.06)
    keep = read_page(page, PAPER)
    renewed = judge(Tables({"weighted-vote": votes}), PAPER, keep=keep)
    changed = [one.claim.id for one in renewed if one != keep[one.claim.id]]
    assert changed == ["adaptive-requirement"]
    with pytest.raises(InputError, match=r"nothing\.md: not a page of claims"):
        read_page(tmp_path / "nothing.md", PAPER)
