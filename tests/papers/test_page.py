"""The register, and the page written from a store."""

import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import workbench
from tests.core.studies.serial import Serial
from tests.papers.made_up import Tables, all_tables, claims_of
from workbench.base.errors import InputError
from workbench.studies import Chart, Ruling, Value
from workbench.studies.catalog import claims, studies, studies_needed
from workbench.studies.claiming import Word
from workbench.studies.claims_page import by_paper, paper_page, read_page, shortened, table
from workbench.studies.executors import Limits
from workbench.studies.judging import judge, minutes_at_paper_size
from workbench.studies.run import run
from workbench.studies.source import Source
from workbench.studies.store import Store
from workbench.studies.study_plan import StudyPlan
from workbench.studies.trials import points_of

HO = "papers/ho-jabbari-vaughan-2013.md"
PAPER = [
    one
    for one in claims_of("adaptive")
    if "figure" not in one.id and one.id != "adaptive-correction"
]


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


def written(verdicts):
    """All pages, by their paths from the table's folder."""
    papers = {name: paper_page(those) for name, those in by_paper(verdicts).items()}
    return {"claims.md": table(verdicts), **papers}


class TestPage:
    def test_everything_is_on_them(self, verdicts):
        pages = written(verdicts)
        assert list(pages) == ["claims.md", HO]
        for one in verdicts:
            assert f"| *{one.word}* |" in pages["claims.md"]
            assert f"[{one.claim.source}]({HO}#{one.claim.id}) |" in pages["claims.md"]
            assert f"\n### {one.claim.id}\n" in pages[HO]
            for part in (one.claim.source, one.claim.statement, f"**Verdict: {one.word}.**"):
                assert part in pages[HO]
            assert one.figures in pages[HO]
        counts = "14 claims: 10 holds, 4 void at the paper's own settings."
        assert counts in pages["claims.md"]
        assert "| weighted-vote | 40 | 0 | 0 | 0 | 1 | 0.0 | – |" in pages[HO]
        assert pages[HO].startswith("# Ho, Jabbari, Vaughan 2013\n")
        # Every row of a Markdown table has its head's number of cells.
        for rows in re.findall(r"(?:^\|.*\n)+", "\n".join(pages.values()), re.MULTILINE):
            assert len({line.count("|") for line in rows.splitlines()}) == 1

    def test_a_claim_of_no_paper_has_a_page_too(self, verdicts):
        (verdict,) = (one for one in verdicts if one.claim.id == "adaptive-lemma-1")
        own = replace(verdict, claim=replace(verdict.claim, paper="", source="common practice"))
        pages = written([verdict, own])
        assert list(pages) == ["claims.md", HO, "papers/claims-of-no-paper.md"]
        link = "[common practice](papers/claims-of-no-paper.md#adaptive-lemma-1)"
        assert link in pages["claims.md"]
        assert pages["papers/claims-of-no-paper.md"].startswith("# Claims of no paper\n")

    def test_figures_and_tables_stand_first(self, verdicts):
        """The paper's words beside ours, and what makes them; no claim without a figure."""
        first, second, *_ = verdicts
        values = [Value(f"M = {m}", "0.5", f"0.{m} (0.1 to 0.9)") for m in (5, 6, 7, 8)]
        chart = Chart("c", "What is [seen].", pd.DataFrame({"x": [1]}), "x", "x", "x", "x")
        ruling = Ruling.refuted("Measured otherwise. More.").beside(*values, chart=chart)
        parts = tuple(replace(part, minutes=2.5) for part in first.evidence)
        shown = replace(
            first,
            claim=replace(first.claim, source=f"{first.claim.paper}, Figure 12(b)"),
            ruling=ruling,
            evidence=parts,
        )
        elsewhere = f"{first.claim.paper}, Section 6, Figure 12(b)"
        second = replace(second, claim=replace(second.claim, source=elsewhere))
        page = paper_page([shown, second])
        head = page[: page.index("## Claims")]
        link = f"[Figure 12](#{first.claim.id})"
        ours = "; ".join(f"{value.what}: {value.ours} (printed: 0.5)" for value in values[:3])
        said = shortened(first.claim.statement).replace("|", "∣")
        assert f"| {link} | {said} | {ours} | *does not reproduce* |" in head
        command = f"`workbench study run {parts[0].study} --size paper`"
        assert f"| Figure 12 | {command} | 2.5 |" in head
        assert second.claim.id not in head
        assert f"| M = 8 | 0.5 | {values[3].ours} |" in page
        assert f"![What is (seen).]({first.claim.id}.png)" in page
        assert paper_page([second]).count("\n## ") == 1

    def test_an_empty_store(self):
        verdicts = judge(Tables({}))
        for one in verdicts:
            if one.claim.studies:
                assert one.word is Word.UNMEASURED
            else:  # no data, or none needed
                assert one.word in (Word.NO_DATA, Word.CORRECTED)
        missing = sum(bool(one.claim.studies) for one in verdicts)
        assert f"{missing} not yet measured" in table(verdicts)


@pytest.mark.slow
def test_a_real_store_read_twice(tmp_path):
    """Trials kept on disk, the page written from them, closed, opened, written again: same text."""
    source = Source.of("gold-estimates")
    size = source.load().sizes["smoke"]
    pages = []
    with Store.open(tmp_path / "store.sqlite", write=True) as store:
        asked = StudyPlan.of(source, size.sweep, 2)
        run(asked, store=store, executor=Serial(), limits=Limits())
        pages.append(written(judge(store)))
    for _ in range(2):
        with Store.open(tmp_path / "store.sqlite") as store:
            verdicts = judge(store)
            pages.append(written(verdicts))
    assert pages[0] == pages[1] == pages[2]
    rulings = {one.claim.id: one.word for one in verdicts}
    assert rulings["adaptive-lemma-2"] is rulings["adaptive-lemma-3"] is Word.HOLDS
    assert rulings["adaptive-lemma-1"] is Word.UNMEASURED
    assert f"| {workbench.__version__} |" in pages[0][HO]


def test_minutes_are_those_of_the_paper_s_size():
    study = Source.of("toy-example").load()
    size = study.sizes["paper"]
    trials = len(points_of(study, size.sweep)) * size.repetitions
    timed = pd.DataFrame({"seconds": [1.0, 3.0]})
    assert minutes_at_paper_size(study, timed) == pytest.approx(trials * 2 / 60, rel=0.05)
    assert minutes_at_paper_size(study, timed.drop(columns="seconds")) is None


def test_every_picture_of_a_claim_is_there_and_shown():
    folder = Path(__file__).parents[2] / "docs" / "papers"
    linked = [
        name
        for page in folder.glob("*.md")
        for name in re.findall(r"^!\[[^\]]+\]\((.*)\)$", page.read_text("utf-8"), re.MULTILINE)
    ]
    assert "adaptive-correction.png" in linked
    assert sorted(linked) == sorted(path.name for path in folder.glob("*.png"))


def test_published_page_is_of_this_register():
    """docs/ has every claim as it is stated now, each with a verdict, in the form of today."""
    page = Path(__file__).parents[2] / "docs" / "claims.md"
    kept = read_page(page, claims())
    assert list(claims()) == [kept[claim.id].claim for claim in claims()]
    found = [kept[claim.id] for claim in claims()]
    assert Word.UNMEASURED not in {one.word for one in found}
    for name, text in written(found).items():
        assert (page.parent / name).read_text("utf-8").split("---\n", 2)[2] == text, name


def test_a_page_is_renewed_in_part(verdicts, tables, tmp_path):
    """What the store has no trials of stays as the page has it, to the letter."""
    first, *others = verdicts
    ruling = replace(first.ruling, numbers=(Value("M = 5", "0.5", "0.4"),), caption="Seen.")
    verdicts = [replace(first, ruling=ruling), *others]
    page, whole = tmp_path / "claims.md", written(verdicts)
    (tmp_path / HO).parent.mkdir()
    for name, text in whole.items():
        (tmp_path / name).write_text(text, "utf-8")
    assert written(list(read_page(page, PAPER).values())) == whole
    votes = tables["weighted-vote"].assign(error_hired=0.06)
    keep = read_page(page, PAPER)
    renewed = judge(Tables({"weighted-vote": votes}), PAPER, keep=keep)
    changed = [one.claim.id for one in renewed if one != keep[one.claim.id]]
    assert changed == ["adaptive-requirement"]
    with pytest.raises(InputError, match=r"nothing\.md: not a page of claims"):
        read_page(tmp_path / "nothing.md", PAPER)
