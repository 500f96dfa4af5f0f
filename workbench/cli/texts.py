"""What the parameters of a front-door function are for, read from its docstring.

Help texts are said once, where the function says them: the first paragraph of a parameter is the
help of the option of its name, and what follows it is of the function alone. "As for …" says
nothing here: another function of the command has it. The source is parsed, not imported, so that
help is there at once.
"""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


@functools.cache
def parameters(function: str) -> dict[str, str]:
    """Read what the parameters of a function, or the fields of a dataclass, are for.

    Parameters
    ----------
    function
        Module of `workbench.api`, or of another room, and name in it: "hiring:hire",
        "collection.setup:People".

    Raises
    ------
    LookupError
        There is none of this name, or it has no docstring.
    """
    module, _, name = function.partition(":")
    path = ROOT.joinpath(*(module if "." in module else f"api.{module}").split("."))
    tree = ast.parse(path.with_suffix(".py").read_text(encoding="utf-8"))
    for node in reversed(tree.body):  # overloads, which say nothing, go before what they are of
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return of_docstring(ast.get_docstring(node) or "")
    raise LookupError(f"{path} has no {name}")


def of_docstring(docstring: str) -> dict[str, str]:
    """Read the first paragraph of each parameter of a docstring (numpydoc)."""
    _, _, section = docstring.partition("\nParameters\n----------\n")
    section = re.split(r"\n\n(?=\S[^\n]*\n-{3,}\n)", section)[0]
    texts = {}
    for entry in re.split(r"\n(?=\S)", section):
        names, _, body = entry.partition("\n")
        paragraph = " ".join(body.split("\n\n")[0].split()).replace("`", "")
        if not paragraph.startswith("As for "):
            texts.update(dict.fromkeys(names.split(", "), paragraph))
    return texts
