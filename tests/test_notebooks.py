"""The notebooks go through the front door alone, and are kept as they were run."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

import workbench as wb

FOLDER = Path(__file__).parents[1] / "notebooks"
if not FOLDER.exists():
    pytest.skip("no notebooks beside the tests", allow_module_level=True)

MOST_IMPORTS, MOST_BYTES = 3, 400_000
LOGIC = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.For,
    ast.While,
    ast.With,
    ast.Try,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)
"""What a notebook leaves to the library."""
OF_THE_MACHINE = re.compile(
    r"(?<![\w.<])/(?:home|root|tmp|work|usr|var|opt|mnt|Users|private)/|[A-Z]:\\|\d{4}-\d\d-\d\d"
)
"""Folders, and the date of a run."""


def opened(path):
    """Code cells of a notebook."""
    book = json.loads(path.read_text("utf-8"))
    return [cell for cell in book["cells"] if cell["cell_type"] == "code"]


def trees(path):
    return [ast.parse("".join(cell["source"])) for cell in opened(path)]


def nodes(path, *kinds):
    return [node for tree in trees(path) for node in ast.walk(tree) if isinstance(node, kinds)]


@pytest.fixture(params=sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def path(request):
    return request.param


def test_all_are_there():
    begin = [path.stem[:2] for path in sorted(FOLDER.glob("*.ipynb"))]
    assert begin == ["01", "02", "03", "04", "05", "06", "07", "08", "09", "10"]


def test_one_import_is_enough(path):
    imports = nodes(path, ast.Import, ast.ImportFrom)
    assert len(imports) <= MOST_IMPORTS
    named = [ast.unparse(one) for one in imports]
    assert "import workbench as wb" in named
    ours = [one for one in named if "workbench" in one or "crowd_models" in one]
    assert ours == ["import workbench as wb"]
    used = {
        node.attr
        for node in nodes(path, ast.Attribute)
        if isinstance(node.value, ast.Name) and node.value.id == "wb"
    }
    assert used <= set(wb.__all__)
    assert used & {"simulate", "load", "read_labels"}  # it begins with a table


def test_no_logic(path):
    assert [ast.unparse(node) for node in nodes(path, *LOGIC)] == []


def test_it_is_kept_as_it_was_run(path):
    """From top to bottom, every cell that shows something with what it showed, no error."""
    cells = opened(path)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    for cell, tree in zip(cells, trees(path), strict=True):
        kinds = {output["output_type"] for output in cell["outputs"]}
        assert kinds <= {"stream", "execute_result", "display_data"}
        assert not [one for one in cell["outputs"] if one.get("name") == "stderr"]
        assert bool(cell["outputs"]) == isinstance(tree.body[-1], ast.Expr)
        assert not cell["metadata"]  # Jupyter notes there when it ran


def test_nothing_of_the_machine(path):
    assert path.stat().st_size < MOST_BYTES
    for cell in opened(path):
        for output in cell["outputs"]:
            data = {k: v for k, v in output.get("data", {}).items() if k.startswith("text/")}
            shown = ["".join(text) for text in (*data.values(), output.get("text", ""))]
            assert not [found for text in shown for found in OF_THE_MACHINE.findall(text)]
