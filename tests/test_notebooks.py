"""Notebooks for a seminar: one idea each, kept as they were run, with an exercise at the end."""

from __future__ import annotations

import ast
import importlib
import json
import re
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

import workbench as wb

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "notebooks"
if not FOLDER.exists():
    pytest.skip("no notebooks beside the tests", allow_module_level=True)

MOST_BYTES, MOST_LINES, MOST_WORDS = 300_000, 28, 90
WIDEST = 90
"""Characters of a line that the site shows whole beside its menu."""
OF_THE_MACHINE = re.compile(
    r"(?<![\w.<])/(?:home|root|tmp|work|usr|var|opt|mnt|Users|private)/|[A-Z]:\\|\d{4}-\d\d-\d\d"
)
"""Folders, and the date of a run."""
CUT = re.compile(r"…|\.\.\.|\bmore rows\b")
REPR = re.compile(r"object at 0x|<(?:Figure|Picture|Axes|function|bound method|class)\b")
TIMES = re.compile(r"^(?:seconds|time)\b|\b\d[\d.]* (?:s|ms|sec|seconds|minutes)\b", re.MULTILINE)
"""What the next run would show otherwise."""
OLD_NAMES = re.compile(
    r"workbench\.(?:papers|bench)\b|WORKBENCH_SMALL|until-sure|from workbench\.api"
    r"|\b(?:simulate|sequential|time_limit|duplicates|gold_types|shard|control|route)="
    r"|labels_seen|\.genies\b|crowd\.formats\.Export"
)
"""What `docs/from-2-to-3.md` says is gone, as a notebook might have used it."""
PRIVATE_WORDS = re.compile(
    r"\b(?:told|floors?|dear|dearer|dearest|coins?|nought|atoms?|genies?|upright)\b", re.IGNORECASE
)
DEFINED = {"rung": "We call each way a *rung*"}
"""Words that a notebook uses after it has said what they mean."""


def read(path):
    return json.loads(path.read_text("utf-8"))


def cells(path, kind="code"):
    return [cell for cell in read(path)["cells"] if cell["cell_type"] == kind]


def source(cell):
    return "".join(cell["source"])


def tags(cell):
    return cell["metadata"].get("tags", [])


def shown(path):
    """Texts of all outputs; a table as HTML too."""
    for cell in cells(path):
        for output in cell["outputs"]:
            data = {k: v for k, v in output.get("data", {}).items() if k.startswith("text/")}
            yield from map("".join, (*data.values(), output.get("text", "")))


def without_code(text):
    return re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)


MATHS = re.compile(r"\$\$.+?\$\$|(?<!\\)\$(?=\S)[^$\n]*[^\s$]\$(?!\w)", re.DOTALL)


def stray_dollars(markdown):
    """Dollars that are no mathematics, and mathematics that holds words: prices read as such."""
    text = without_code(markdown)
    plain = [re.sub(r"\\text\{[^}]*\}|\\[A-Za-z]+", "", found) for found in MATHS.findall(text)]
    rest = re.findall(r"(?<!\\)\$.{0,20}", MATHS.sub("", text))
    return [*rest, *(found for found in plain if re.search(r"[A-Za-z]{3,}", found))]


def figures(text):
    """Numbers with a decimal point, or of three digits and more; no years of papers."""
    text = re.sub(r"(?<=\d)[,_](?=\d{3})", "", re.sub(r"\b(?:19|20)\d\d\b(?=[);])", "", text))
    return set(re.findall(r"(?<![\w.])(?:\d+\.\d+|\d{3,})(?![\w]|\.\d)", text))


@pytest.fixture(params=sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def path(request):
    return request.param


def test_all_are_there():
    begin = [path.stem[:2] for path in sorted(FOLDER.glob("*.ipynb"))]
    assert begin == ["01", "02", "03", "04", "05", "06", "07"]


def test_the_page_of_notebooks_leads_to_each_of_them():
    page = ROOT / "docs" / "notebooks" / "index.md"
    if not page.exists():
        pytest.skip("no docs beside the tests")
    links = re.findall(r"\]\((\S+\.ipynb)\)", page.read_text("utf-8"))
    led = [(page.parent / link).resolve() for link in links]
    assert led == sorted(FOLDER.resolve().glob("*.ipynb"))


def test_what_is_imported_of_ours_is_public(path):
    tree = ast.parse("\n".join(map(source, cells(path))))
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    named = [ast.unparse(one) for one in imports]
    assert "import workbench as wb" in named
    for one in imports:
        if isinstance(one, ast.ImportFrom) and one.module.split(".")[0] == "workbench":
            assert {name.name for name in one.names} <= set(
                importlib.import_module(one.module).__all__
            )
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    used = {a.attr for a in attributes if isinstance(a.value, ast.Name) and a.value.id == "wb"}
    assert used <= set(wb.__all__)


def test_sizes_stand_in_one_cell_and_small_ones_in_the_metadata(path):
    (given,) = [cell for cell in cells(path) if "parameters" in tags(cell)]
    targets = [
        leaf.id
        for node in ast.parse(source(given)).body
        for target in node.targets
        for leaf in ast.walk(target)
        if isinstance(leaf, ast.Name)
    ]
    assert given == cells(path)[0]
    assert set(read(path)["metadata"]["small"]) <= set(targets)
    assert "WORKBENCH_" not in "".join(map(source, cells(path)))


def test_it_begins_with_an_idea_and_ends_with_an_exercise_whose_answer_is_folded(path):
    texts = cells(path, "markdown")
    assert source(texts[0]).startswith("# ")
    assert source(texts[-1]).split("## ")[-1].startswith("Exercise")
    answers = [cell for cell in cells(path) if "hide-cell" in tags(cell)]
    assert answers
    assert answers == cells(path)[-len(answers) :]
    assert all(answer["metadata"]["jupyter"]["source_hidden"] for answer in answers)


def test_no_walls(path):
    for cell in cells(path):
        assert len(source(cell).splitlines()) <= MOST_LINES, source(cell)
    for cell in cells(path, "markdown"):
        for part in source(cell).split("\n#"):
            assert len(part.split()) <= MOST_WORDS, part


def test_it_is_kept_as_it_was_run(path):
    """From top to bottom, every cell that shows something with what it showed, no error."""
    code = cells(path)
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    for cell in code:
        kinds = {output["output_type"] for output in cell["outputs"]}
        assert kinds <= {"stream", "execute_result", "display_data"}
        assert not [one for one in cell["outputs"] if one.get("name") == "stderr"]
        shows = isinstance(ast.parse(source(cell)).body[-1], ast.Expr)
        assert cell["outputs"] or not shows or "remove-output" in tags(cell)
        assert set(cell["metadata"]) <= {"tags", "mystnb", "jupyter"}  # Jupyter notes when it ran


def test_every_picture_says_what_it_shows(path):
    for cell in cells(path):
        for output in cell["outputs"]:
            if "image/png" in output.get("data", {}):
                alt = cell["metadata"]["mystnb"]["image"]["alt"]
                assert len(alt) > 40
                assert output["metadata"]["image/png"]["alt"] == alt
                assert "".join(output["data"]["text/plain"]) == alt


def test_nothing_of_the_machine(path):
    assert path.stat().st_size < MOST_BYTES
    for text in shown(path):
        assert not OF_THE_MACHINE.findall(text)
        assert not TIMES.findall(text)
        assert not REPR.findall(text)
        assert "\r" not in text


def test_no_line_is_cut_or_runs_off_the_page(path):
    alts = {cell["metadata"].get("mystnb", {}).get("image", {}).get("alt") for cell in cells(path)}
    for text in shown(path):
        assert not CUT.findall(text)
        lines = [] if text in alts else re.sub(r"<[^>]*>", "", text).splitlines()
        assert not [line for line in lines if len(line) > WIDEST]
    for cell in cells(path):
        assert not [line for line in source(cell).splitlines() if len(line) > WIDEST]


def test_no_dollar_is_read_as_mathematics(path):
    for cell in cells(path, "markdown"):
        assert stray_dollars(source(cell)) == []
    assert not [text for text in shown(path) if text.startswith("<") and "$" in text]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("A label costs $5 at most.", True),
        ("It costs $5 or $6 a task.", True),
        ("It costs $5 for a task of $C$.", True),
        ("It costs \\$5 or \\$6; `$HOME` is code.", False),
        ("Let $p_{ij}$ be her skill and $v = \\hat q\\,\\hat x - 1$.", False),
        ("$$\\sum_i \\min_{S \\text{ covers } i} c_S$$", False),
    ],
)
def test_prices_are_not_taken_for_formulas(text, fault):
    assert bool(stray_dollars(text)) == fault


def test_no_old_names_and_no_private_words(path):
    texts = [source(cell) for cell in read(path)["cells"]]
    assert not [found for text in texts for found in OLD_NAMES.findall(text)]
    assert not [found for text in texts for found in PRIVATE_WORDS.findall(text)]
    for word, meaning in DEFINED.items():
        before = "\n".join(texts).partition(meaning)[0]
        assert not re.search(rf"\b{word}s?\b", before, re.IGNORECASE)


def test_what_the_prose_names_is_there(path):
    for cell in cells(path, "markdown"):
        text = source(cell)
        assert set(re.findall(r"`wb\.(\w+)", text)) <= set(wb.__all__)
        places = re.findall(r"\]\(([^)#]+)\)|`((?:docs|notebooks)/[^`]+)`", text)
        for beside, below in places:
            assert (FOLDER / beside if beside else ROOT / below).exists()


def test_figures_of_the_prose_are_those_of_the_cells(path):
    """Numbers in sentences stand in what a cell shows, or in its code."""
    there = figures("\n".join([*shown(path), *map(source, cells(path))]))
    for cell in cells(path, "markdown"):
        text = MATHS.sub("", without_code(source(cell)))
        assert figures(text) <= there, text


def test_figures_are_found_in_sentences():
    text = "Liu (2015): 2,000 tasks, 0.958 against 90.8 %, v1.2.3, 12 workers (Ho 2013)."
    assert figures(text) == {"2000", "0.958", "90.8"}


def test_the_runner_shrinks_and_tidies():
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("nbclient")
    if not (ROOT / ".ci" / "notebooks").exists():
        pytest.skip("no .ci beside the tests")
    loader = SourceFileLoader("runner", str(ROOT / ".ci" / "notebooks"))
    runner = module_from_spec(spec_from_loader("runner", loader))
    loader.exec_module(runner)
    v4 = nbformat.v4
    given = v4.new_code_cell("n = 9", metadata={"tags": ["parameters"]})
    book = v4.new_notebook(cells=[given, v4.new_code_cell("n")], metadata={"small": {"n": 2}})
    runner.shrink(book)
    assert [cell.source for cell in book.cells] == ["n = 9", "n = 2", "n"]

    def printed(text):
        return v4.new_output("stream", text=text)

    drawn = v4.new_output("display_data", data={"image/png": "…"})
    cell = v4.new_code_cell(metadata={"mystnb": {"image": {"alt": "A line"}}})
    cell.outputs = [printed("\r 0%| 0/2"), printed("\r100%| 2/2\n"), printed("done\n"), drawn]
    runner.tidy(cell)
    assert [output.get("text") for output in cell.outputs] == ["done\n", None]
    assert cell.outputs[1].metadata["image/png"]["alt"] == "A line"
    cell.metadata["tags"] = ["remove-output"]
    runner.tidy(cell)
    assert cell.outputs == []
