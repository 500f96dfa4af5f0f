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
from workbench.studies.claims_page import (
    as_json,
    by_paper,
    cut,
    first_sentence,
    paper_page,
    read_page,
    table,
)
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
    return {"claims.md": table(verdicts), "claims.json": as_json(verdicts), **papers}


def rows_of(page):
    """Cells of the rows of a page's tables."""
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.splitlines()
        if line.startswith("| ")
    ]


class TestPage:
    def test_every_claim_has_a_row_with_what_was_measured(self, verdicts):
        pages = written(verdicts)
        assert list(pages) == ["claims.md", "claims.json", HO]
        rows = {tuple(row) for row in rows_of(pages[HO])}
        for one in verdicts:
            place = one.claim.source.removeprefix(f"{one.claim.paper}, ")
            assert f" {place}" in pages["claims.md"]
            said, ours = first_sentence(one.claim.statement), cut(one.figures)
            studies = ", ".join(one.claim.studies)
            row = (place, said, ours, f"*{one.word}*", studies)
            assert tuple(cell.replace("|", "∣") for cell in row) in rows
        assert "14 claims: 10 holds, 4 void at the paper's own settings." in pages["claims.md"]
        assert "\n## Void at the paper's own settings: 4\n" in pages["claims.md"]
        assert "## Studies" not in pages[HO]
        timed = [replace(part, minutes=8.25) for part in verdicts[0].evidence]
        page = paper_page([replace(verdicts[0], evidence=tuple(timed)), *verdicts[1:]])
        assert f"\n| study | minutes |\n|---|---|\n| {timed[0].study} | 8.25 |\n" in page
        assert pages[HO].startswith("# Ho, Jabbari, Vaughan 2013\n")
        assert pages["claims.md"].count(f"| [{verdicts[0].claim.paper}]({HO}) | ") == 2
        # Every row of a Markdown table has its head's number of cells.
        for table_ in re.findall(r"(?:^\|.*\n)+", "\n".join(pages.values()), re.MULTILINE):
            assert len({line.count("|") for line in table_.splitlines()}) == 1

    def test_a_claim_of_no_paper_has_a_page_too(self, verdicts):
        (verdict,) = (one for one in verdicts if one.claim.id == "adaptive-lemma-1")
        own = replace(verdict, claim=replace(verdict.claim, paper="", source="common practice"))
        pages = written([verdict, own])
        assert list(pages) == ["claims.md", "claims.json", HO, "papers/claims-of-no-paper.md"]
        said = "(papers/claims-of-no-paper.md) | common practice |"
        assert f"| [Claims of no paper]{said}" in pages["claims.md"]
        assert pages["papers/claims-of-no-paper.md"].startswith("# Claims of no paper\n")

    def test_figures_and_tables_stand_first(self, verdicts):
        """In the order of their numbers, some values beside the printed ones, and the picture."""
        first, second, third, *_ = verdicts
        values = [Value(f"M = {m}", "0.5", f"0.{m} (0.1 to 0.9)") for m in (5, 6, 7, 8)]
        chart = Chart("c", "What is [seen].", pd.DataFrame({"x": [1]}), "x", "x", "x", "x")
        ruling = Ruling.refuted("Measured otherwise. More.").beside(*values, chart=chart)

        def placed(verdict, place, **more):
            source = f"{verdict.claim.paper}, {place}"
            return replace(verdict, claim=replace(verdict.claim, source=source), **more)

        shown = placed(first, "Figure 12(b)", ruling=ruling)
        earlier = placed(third, "Figure 2")
        page = paper_page([shown, placed(second, "Section 6, Figure 12(b)"), earlier])
        head, others = page.split("## Theorems and other claims")
        ours = "; ".join(f"{value.what}: {value.ours} (printed: 0.5)" for value in values[:2])
        assert [row[0] for row in rows_of(head)] == ["place", "Figure 2", "Figure 12(b)"]
        assert rows_of(head)[2][2:4] == [ours, "*refuted*"]
        assert rows_of(others)[1][0] == "Section 6, Figure 12(b)"
        assert f"**Figure 12(b)**\n\n![What is (seen).]({first.claim.id}.png)\n" in others

    def test_claims_about_lost_data_are_a_line_each_reason(self, verdicts):
        word, why = Word.NO_DATA, "The images are lost."
        lost = [
            replace(one, claim=replace(one.claim, studies=()), ruling=Ruling(word, why + more))
            for one, more in zip(verdicts[:2], ("", " By 5 rates."), strict=True)
        ]
        page = paper_page([*lost, *verdicts[2:]])
        places = ", ".join(
            one.claim.source.removeprefix("Ho, Jabbari, Vaughan 2013, ") for one in lost
        )
        assert f"## No data\n\n- {places}: {why}\n" in page
        assert page.count(why) == 1
        assert len(rows_of(page.split("## Studies")[0])) == len(verdicts) - 2 + 1

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("A holds. (Read as: mostly.)", "A holds."),
            ("F (times √S) grows. More.", "F (times √S) grows."),
            ("A: (Lŵ − 1)² is G. (Measured on public data sets.)", "A: (Lŵ − 1)² is G."),
            ("A holds; (The size is not known; n = 3.)", "A holds."),
        ],
    )
    def test_a_claim_stands_without_the_remark_on_how_it_was_read(self, text, said):
        assert first_sentence(text) == said

    @pytest.mark.parametrize(
        ("text", "beginning"),
        [
            ("Short, of 3.", "Short, of 3."),
            ("Less: a -0.1 ± 0.2, b -0.3 ± 0.4, c 0.5 ± 0.6.", "Less: a -0.1 ± 0.2."),
            ("By K, of all: 0.1 (K = 3), 0.2 (K = 5), 0.3.", "By K, of all: 0.1 (K = 3)."),
            (
                "At first 0.1 ± 0.2, then 0.3 ± 0.4, last 0.5.",
                "At first 0.1 ± 0.2, then 0.3 ± 0.4.",
            ),
            ("It is 0.1 ± 0.2, but (at 3, 4 and 5) it is 0.3.", "It is 0.1 ± 0.2."),
            ("Of 3 (one; two; three) all. And more of it", "Of 3 (one; two; three) all."),
            ("By kind: a 1; b 2; c 3; d 4; e 5; f 6; g 7", "By kind: a 1; b 2; c 3; d 4."),
            (
                "Nothing said. Then a number 5, far beyond. More.",
                "Nothing said. Then a number 5, far beyond.",
            ),
            (
                "No number at all; none; and none to come",
                "No number at all; none; and none to come",
            ),
        ],
    )
    def test_a_long_text_ends_with_an_item_that_has_a_number(self, text, beginning):
        assert cut(text, 30) == beginning

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
    assert f'"{workbench.__version__}"' in pages[0]["claims.json"]


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
        there = (page.parent / name).read_text("utf-8")
        assert there.split("---\n", 2)[-1] == text, name


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
    with pytest.raises(InputError, match=r"nothing\.json: no verdicts that can be read"):
        read_page(tmp_path / "nothing.md", PAPER)
