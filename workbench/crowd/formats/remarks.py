"""What is odd of labels, as far as their names tell: said where they are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from workbench.base.arrays import Names
from workbench.crowd.coded import CodedLabels, folded
from workbench.crowd.kinds import Classes
from workbench.crowd.label_checks import abstentions, classes_alike, spelling
from workbench.crowd.reading import as_number, listing, show

MOST_CLASSES = 1000
"""Classes at most among which near misses are looked for."""
FREE = 20
"""Different labels from which on, were they half of all, they are no classes."""
CODES = {"-1", "-9", "-99", "-999", "9", "99", "999", "9999"}
"""What stands for "no value" beside codes of classes that it is no neighbour of."""


def remarks(export: CodedLabels) -> list[str]:
    """Warn of names that are alike, of what may be no answer, no class or no label."""
    votes = export.votes
    notes = []
    of_classes = isinstance(votes.kind, Classes)
    if of_classes and len(votes.classes) <= MOST_CLASSES:
        counts = np.bincount(votes.label, minlength=len(votes.classes)).tolist()
        order = export.labels["label"].cat.categories
        many = dict(zip(votes.classes, counts, strict=True))
        notes += [
            f"warning: classes {listing(group)} are spelled alike and count as different ones; "
            "write them alike, or join them by `fold`"
            if len({spelling(name) for name in group}) == 1
            else f"warning: class {show(group[1])} looks like a slip of {show(group[0])}"
            for group in classes_alike({name: many[name] for name in order})
        ]
    for what, names in (("tasks", votes.tasks), ("workers", votes.workers)):
        notes += _alike(what, names, folded, "`fold` joins them")
        notes += _alike(what, names, _number, "write them alike if they are the same number")
    mute = _no_answers(votes.classes.tolist()) if of_classes else []
    if mute:
        notes.append(
            f"warning: {listing(mute)} may be no answer, and counts as a class; `skip` "
            f"{_typed(','.join(mute))} leaves it out"
        )
    return [*notes, *(_misread(export) if of_classes else [])]


def _typed(text: str) -> str:
    """Text as it is typed in a shell."""
    return f'"{text}"' if " " in text else text


def _alike(what: str, names: Names, by: Callable[[str], str], mend: str) -> list[str]:
    """Warn of names that something makes the same."""
    same: dict[str, list[str]] = {}
    for name in names:
        same.setdefault(by(name), []).append(name)
    groups = [group for group in same.values() if len(group) > 1]
    if not groups:
        return []
    more = f", and {len(groups) - 1} more such" if len(groups) > 1 else ""
    return [
        f"warning: {what} {listing(groups[0])}{more} are spelled alike and count as different "
        f"ones; {mend}"
    ]


def _number(name: str) -> str:
    number = as_number(name) if name[:1] in "0123456789+-." else None
    return name if number is None else f"{number!r}"


def _no_answers(classes: Sequence[str]) -> list[str]:
    """Find the classes that read as no answer, and codes for it beside those of classes."""
    none = [name for name in classes if name.casefold() == "none"]
    numbers = {name: as_number(name) for name in classes}
    rest = [n for name, n in numbers.items() if name not in CODES or name == "9"]
    whole = [n for n in rest if n is not None and n.is_integer() and n >= 0]
    codes = []
    if len(whole) == len(rest) > 1:
        far = {n for name, n in numbers.items() if name in CODES and n is not None}
        codes = [
            name
            for name in classes
            if name in CODES and numbers[name] in far and _is_far(numbers[name], whole)
        ]
    return [*abstentions(classes), *none, *codes]


def _is_far(number: float | None, others: Sequence[float]) -> bool:
    """Whether a number is below 0, or far above all others."""
    return number is not None and (number < 0 or number > 2 * max(others) + 2)


def _misread(export: CodedLabels) -> list[str]:
    """Warn of labels that hardly repeat, and of a first row that has nothing in common."""
    votes, notes = export.votes, []
    if len(votes.classes) > max(FREE, len(votes) / 2):
        notes.append(
            f"warning: {len(votes.classes)} of {len(votes)} labels are different: are they free "
            "text, or is another column the label?"
        )
    elif len(votes) > len(votes.classes) + 1 and all(
        (code == code[0]).sum() == 1 for code in (votes.task, votes.worker, votes.label)
    ):
        first = (
            names[code[0]]
            for names, code in (
                (votes.tasks, votes.task),
                (votes.workers, votes.worker),
                (votes.classes, votes.label),
            )
        )
        notes.append(
            f"warning: the first row ({listing([*first])}) shares neither task nor worker nor "
            "label with any other: is it a second header?"
        )
    return notes
