"""What the owner says of the questions: a Markdown file, shown on each worker's page.

    # Birds
    Is there a bird in the picture?

    Answer *yes* also where only a part of it is seen.

The first heading is the page's title, the paragraph after it the question, all that follows the
instructions and examples. The page is given a tree of elements, never HTML: HTML in the file is
text, links lead to the web alone, and pictures come from hosts that the owner allows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from workbench.base.errors import InputError
from workbench.base.writing import read_whole
from workbench.serve.shown import allowed

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

Tree: TypeAlias = list[Any]
"""Texts, and elements as [tag, attributes, parts of it …]."""
LONGEST = 100_000
"""Bytes of a file."""
_PLAIN = {
    **{name: name for name in ("strong", "em", "blockquote", "hr", "table")},
    **{name: name for name in ("thead", "tbody", "tr", "th", "td")},
    "paragraph": "p",
    "bullet_list": "ul",
    "ordered_list": "ol",
    "list_item": "li",
    "hardbreak": "br",
}


class Instructions(NamedTuple):
    """Title and question, texts that may be empty, and the instructions."""

    title: str = ""
    question: str = ""
    instructions: Tree = []  # noqa: RUF012  (nobody changes it)


def read_instructions(path: str | Path, hosts: Collection[str]) -> Instructions:
    """Read a file.

    Parameters
    ----------
    path
        A text in Markdown.
    hosts
        Hosts whose pictures are shown.

    Raises
    ------
    InputError
        It cannot be read, is no text, or is too long.
    """
    try:
        content = read_whole(Path(path))
        text = content.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({' '.join(str(error).split())})") from None
    if len(content) > LONGEST:
        raise InputError(f"{path}: has more than {LONGEST} bytes: say it in fewer words")
    return instructions_of(text, hosts)


def instructions_of(text: str, hosts: Collection[str]) -> Instructions:
    """Take a text in Markdown apart."""
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    rest = list(SyntaxTreeNode(reader.parse(text)).children)
    title = question = ""
    if rest and rest[0].type == "heading":
        title = _words(rest.pop(0))
        if rest and rest[0].type == "paragraph":
            question = _words(rest.pop(0))
    return Instructions(title, question, _tree(rest, hosts))


def _words(node: SyntaxTreeNode) -> str:
    if node.type in ("softbreak", "hardbreak"):
        return " "
    if node.type in ("text", "code_inline"):
        return node.content
    return "".join(_words(child) for child in node.children)


def _tree(nodes: Iterable[SyntaxTreeNode], hosts: Collection[str]) -> Tree:
    tree: Tree = []
    for node in nodes:
        inner = _tree(node.children, hosts)
        match node.type:
            case "text":
                tree.append(node.content)
            case "softbreak":
                tree.append(" ")
            case "code_inline":
                tree.append(["code", {}, node.content])
            case "fence" | "code_block":
                tree.append(["pre", {}, node.content])
            case "heading":  # the page's title is the only one of the first order
                tree.append([f"h{max(int(node.tag[1]), 2)}", {}, *inner])
            case "link" if str(node.attrs.get("href", "")).startswith(("https://", "http://")):
                away = {
                    "href": node.attrs["href"],
                    "target": "_blank",
                    "rel": "noopener noreferrer",
                }
                tree.append(["a", away, *inner])
            case "image" if allowed(str(node.attrs.get("src", "")), hosts):
                tree.append(["img", {"src": node.attrs["src"], "alt": _words(node)}])
            case kind if kind in _PLAIN:
                tree.append([_PLAIN[kind], {}, *inner])
            case _:  # what is not allowed is what it says
                tree += inner
    return tree
