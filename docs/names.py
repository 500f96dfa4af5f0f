"""The reference, as Markdown that is read in the repository too: `python docs/names.py` writes it.

What is public stands in the stubs `__init__.pyi`; each name's signature and texts are its own. The
site has the front door in short and the names of the rooms; pages with all of each docstring lie
in `reference/rooms`, which the site leaves out.
"""

from __future__ import annotations

import enum
import inspect
import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterator
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[1]
WHOLE_DOOR = "# `import workbench as wb`"
DOOR = f"""\
{WHOLE_DOOR}

Each name with its parameters, in short; those after `*` are given by name. `help(wb.plan)` and
{{download}}`a file <rooms/workbench.md>` have all of it: returns, errors, examples.

## Parameters of several functions
"""
ABOUT = """\
# For plugins and studies

Each room offers names to code outside the workbench, as `from workbench.aggregation import
majority`; the file of a room says what each does. Whatever is not there may change at any time.

| room | what it holds | names |
|---|---|---|
"""
ROOMS = (
    "crowd_models",
    *(f"workbench.{path.parent.name}" for path in sorted((ROOT / "workbench").glob("*/*.pyi"))),
)
WITH_METHODS = ("Collector", "Auditor")
"""Classes of the front door that one works with by their methods."""
HEADING = re.compile(r"^(?P<name>[A-Z][A-Za-z ]+)\n-{3,}\n", re.MULTILINE)
"""Of a section of a docstring in NumPy's form."""
LETTERS = {
    "AssignmentProblem": "formulations.md#letters",
    "TypedProblem": "formulations/typed_relaxation.md",
    "SelectionProblem": "formulations/fixed_size.md",
    "DaskCluster": "studies-on-clusters.md",
}
"""Where the site says what the fields of a problem, or of a cluster, are."""
SEVERAL = 2
"""Functions that say the same of a parameter, from which on it stands once, at the head."""
FLOOR = re.compile(r" \((?:ground floor|floor \d)\)")
"""Where a room stands in the house, which `docs/architecture.md` says."""
LISTS = ("Parameters", "Attributes")
"""Sections whose entries are names and what they mean."""
OUTCOMES = ("Returns", "Yields", "Raises")
"""Sections whose entries, if there are several, begin with a type."""
SENTENCE = re.compile(r"(?<=\.)\s+(?=[A-Z\"'])")
DEFAULT = re.compile(r" \[default: [^]]*\]")
"""In a text: the value stands beside the name of the parameter, unless it is None or False."""
WIDTH = 96


def write_names(folder: Path) -> None:
    """Write the pages of the front door and of the rooms, short and whole."""
    for name, text in pages().items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")


def pages() -> dict[str, str]:
    """All pages of the reference that are written here, by their paths from its folder."""
    written = {"front-door.md": _page([DOOR, *_short_door()])}
    written["rooms/workbench.md"] = _page([WHOLE_DOOR, *_whole_door()])
    listed = ABOUT
    for room in ROOMS:
        module = import_module(room)
        about, file = FLOOR.sub("", (module.__doc__ or "").splitlines()[0]), room.rpartition(".")[2]
        things = [(name, getattr(module, name)) for name in module.__all__]
        listed += f"| `{room}` | {about} | {{download}}`{file}.md <rooms/{file}.md>` |\n"
        parts = [f"# `{room}`", about, _table(things)]
        for name, thing in things:
            parts += _entry(name, thing, "##")
        written[f"rooms/{file}.md"] = _page(parts)
    written["rooms.md"] = listed
    return written


def sections(stub: str) -> Iterator[tuple[str, list[str]]]:
    """Give the headings of the front door's stub, its comments, and the names below each."""
    for part in re.split(r"^# (?!ruff)", stub, flags=re.MULTILINE)[1:]:
        yield part.splitlines()[0], re.findall(r"import \w+ as (\w+)", part)


def _page(parts: list[str]) -> str:
    return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def _sections() -> Iterator[tuple[str, list[tuple[str, object]]]]:
    """Give the headings of the front door, and the names and things below each."""
    import workbench

    for title, names in sections((ROOT / "workbench/__init__.pyi").read_text("utf-8")):
        yield title, [(name, getattr(workbench, name)) for name in names]


def _whole_door() -> Iterator[str]:
    for title, things in _sections():
        yield f"## {title}"
        yield _table(things, "wb.")
        for name, thing in things:
            yield from _entry(name, thing, "###")
            if name in WITH_METHODS:
                for method, own in _methods(thing):
                    yield from _entry(f"{name}.{method}", own, "####")


def _short_door() -> Iterator[str]:
    every = [(title, things) for title, things in _sections()]
    counts = Counter(row for _, things in every for _, thing in things for row in _short(thing))
    often = [row for row, count in counts.most_common() if count >= SEVERAL]
    shared = list({name: (name, text) for name, text in reversed(often)}.values())
    yield _list(sorted(shared))
    for title, things in every:
        yield f"## {title}"
        for name, thing in things:
            yield from _brief(name, thing, shared)
            if name in WITH_METHODS:
                yield "Its methods and properties:"  # else Markdown joins the two lists
                yield _list([(method, _clause(_line(own))) for method, own in _methods(thing)])


def _methods(kind: type) -> Iterator[tuple[str, object]]:
    for method, function in vars(kind).items():
        if not method.startswith("_") and inspect.getdoc(inspect.getattr_static(kind, method)):
            yield method, function


def _brief(name: str, thing: object, shared: Collection[tuple[str, str]] = ()) -> list[str]:
    """Heading, first line, and each parameter with its default and a sentence on it."""
    texts = {name: text for name, text in _short(thing) if (name, text) not in shared}
    if name in LETTERS:
        texts = {}
    parts = [f"### `{name}`", _line(thing), "\n".join(_rows(_called(thing) or [], texts))]
    return [*parts, f"[What they are](../{LETTERS[name]})."] if name in LETTERS else parts


def _rows(found: list[inspect.Parameter], texts: dict[str, str]) -> Iterator[str]:
    """Write parameters in order: several with one text, or with none, stand together."""
    entry = {one: names for names in texts for one in names.split(", ")}
    named = False
    for names, group in itertools.groupby(found, lambda one: entry.pop(one.name, "")):
        words, text = [], texts.get(names, "")
        for one in group:
            words += ["*"] if one.kind is one.KEYWORD_ONLY and not named else []
            named = named or one.kind is one.KEYWORD_ONLY
            words.append(_parameter(one, types=False))
            text = text if one.default in (None, False) else DEFAULT.sub("", text)
        yield f"- {', '.join(f'`{word}`' for word in words)}" + (f": {text}" if text else "")
    rest = [(names, text) for names, text in texts.items() if set(names.split(", ")) <= {*entry}]
    yield from _list(rest).splitlines()


def _short(thing: object) -> list[tuple[str, str]]:
    """Names of parameters, and the first sentence on each; nothing of what has it elsewhere."""
    parts = HEADING.split(inspect.getdoc(thing) or "")
    bodies = [body for title, body in zip(parts[1::2], parts[2::2], strict=True) if title in LISTS]
    entries = [entry for body in bodies for entry in _entries(body)]
    return [(name, _first(text)) for name, text in entries if not text.startswith("As for ")]


def _list(rows: list[tuple[str, str]]) -> str:
    return "\n".join(f"- `{name}`: {text}" for name, text in rows)


def _first(text: str) -> str:
    """First sentence of a text."""
    paragraph = " ".join(text.split("\n\n", maxsplit=1)[0].split())
    return SENTENCE.split(paragraph, maxsplit=1)[0].replace("$", r"\$")


def _entry(name: str, thing: object, level: str) -> list[str]:
    """Heading, signature and texts of a name; nothing of a value, which has no texts of its own."""
    if isinstance(thing, (classmethod, staticmethod)):
        thing = thing.__func__
    if isinstance(thing, property):
        return [f"{level} `{name}`", *_texts(thing)]
    if not (inspect.isroutine(thing) or isinstance(thing, type)):
        return []
    return [f"{level} `{name}`", _signature(name, thing), *_texts(thing)]


def _called(thing: object) -> list[inspect.Parameter] | None:
    """Parameters by which a thing is called; None of what is not called."""
    if isinstance(thing, type) and issubclass(thing, (enum.Enum, Exception)):
        return None
    try:
        found = inspect.signature(thing).parameters.values()  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return [one for one in found if one.name not in ("self", "cls")]


def _signature(name: str, thing: object) -> str:
    """How a thing is called, with the types as its code writes them."""
    words, named = [], False
    found = _called(thing)
    if found is None:
        return ""
    for one in found:
        if one.kind is one.KEYWORD_ONLY and not named:
            words.append("*")
        named = named or one.kind in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
        words.append(_parameter(one))
    line = f"{name}({', '.join(words)})"
    if len(line) > WIDTH:
        line = "\n    ".join([f"{name}(", *(f"{word}," for word in words)]) + "\n)"
    return f"```python\n{line}\n```"


def _parameter(one: inspect.Parameter, *, types: bool = True) -> str:
    stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
    text = f"{stars}{one.name}"
    if types and one.annotation is not one.empty:
        kind = one.annotation
        text += f": {kind if isinstance(kind, str) else inspect.formatannotation(kind)}"
    if one.default is one.empty:
        return text
    default = repr(one.default)
    if default.startswith("<"):  # an object, whose words are no code; of an enumeration its value
        default = repr(one.default.value) if isinstance(one.default, enum.Enum) else "..."
    return f"{text} = {default}" if types else f"{text}={default}"


def _texts(thing: object) -> Iterator[str]:
    """Write a docstring as Markdown: what it says first, then section by section."""
    first, *others = HEADING.split(inspect.getdoc(thing) or "")
    yield _prose(first)
    for title, body in zip(others[::2], others[1::2], strict=True):
        yield f"**{title}**"
        if title in LISTS:
            yield from (f"- `{name}`: {_indented(text)}" for name, text in _entries(body))
        elif re.search(r"^ ", body, re.MULTILINE) and title in OUTCOMES:
            yield from (f"- {name}: {_indented(text)}" for name, text in _entries(body))
        else:
            yield _prose(body)


def _entries(body: str) -> Iterator[tuple[str, str]]:
    """Names that begin a line, and what is said of each, which is indented."""
    for part in re.split(r"^(?=\S)", body, flags=re.MULTILINE):
        name, _, text = part.partition("\n")
        if name.strip():
            yield name.strip(), inspect.cleandoc(text)


def _indented(text: str) -> str:
    return _prose(text).replace("\n", "\n  ").replace("\n  \n", "\n\n")


def _prose(text: str) -> str:
    """Paragraphs as they are, and examples as code."""
    parts = []
    for part in re.split(r"\n{2,}", text.strip("\n")):
        code = part.lstrip().startswith(">>>")
        parts.append(f"```pycon\n{part}\n```" if code else part.replace("$", r"\$"))
    return "\n\n".join(parts)


def _table(things: list[tuple[str, object]], before: str = "") -> str:
    rows = [f"| `{before}{name}` | {_line(thing)} |" for name, thing in things]
    return "\n".join(["| name | what it is |", "|---|---|", *rows])


def _clause(line: str) -> str:
    """What a line says before its first colon or semicolon."""
    return f"{re.split(r'[:;] ', line.rstrip('.'), maxsplit=1)[0]}."


def _line(thing: object) -> str:
    """First line of a docstring; of a value, which has none of its own, its type."""
    own = inspect.isroutine(thing) or isinstance(thing, (type, property, classmethod))
    own = own or inspect.ismodule(thing)
    line = (inspect.getdoc(thing) or "").split("\n")[0] if own else f"`{type(thing).__name__}`"
    return re.sub(r"([<>*|])", r"\\\1", line)


if __name__ == "__main__":
    write_names(Path(__file__).parent / "reference")
