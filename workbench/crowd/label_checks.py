"""What to know of a label table before anything is made of it: repeats, and what classes mean."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import pandas as pd

from workbench.crowd.reading import as_number

RARE = 0.02
"""Share of the commoner spelling's labels below which a near miss is taken for a slip."""
LONG = 5
"""Letters that a class needs for one of them to be a slip."""
LONGEST = 60
"""Letters of a class at most for one of them to be looked for: more are a text."""
ABSTENTIONS = re.compile(
    r"skip(ped)?|abstain(ed)?|n/a|not applicable|dk|idk|unknown|unsure|undecided|uncertain|"
    r"not sure|no (answer|idea|opinion)|(i )?(do not|don'?t) know|"
    r"(can not|cannot|can'?t) (tell|say|decide)"
)
"""What is chosen in place of an answer."""
SEVERAL = re.compile(r"\s*[|,;]\s*")
"""What stands between answers that are one label."""


@dataclass(frozen=True)
class Repeats:
    """(task, worker) pairs that are labelled more than once.

    Attributes
    ----------
    pairs
        How many.
    in_conflict
        Of them, those whose labels differ.
    workers
        Whose they are.
    """

    pairs: int
    in_conflict: int
    workers: int


def repeats(labels: pd.DataFrame) -> Repeats:
    """Count the pairs that occur more than once in a table `task, worker, label`."""
    again = labels[labels.duplicated(["task", "worker"], keep=False)]
    kinds = again.groupby(["task", "worker"], sort=False)["label"].nunique()
    return Repeats(len(kinds), int((kinds > 1).sum()), again["worker"].nunique())


def classes_alike(counts: Mapping[str, int]) -> list[tuple[str, ...]]:
    """Find classes that are most likely one under several spellings, as "NO" and "no".

    Alike are names that differ in case, blanks or the form of their letters or number ("1.0" and
    "1"); and a rare one that a slip of one letter makes of a common one ("postive").

    Parameters
    ----------
    counts
        How often each class was named.

    Returns
    -------
    Groups of names, the commonest first.
    """
    groups = spelled_alike(counts)
    slips = _without_a_letter(name for name, many in counts.items() if RARE * many >= 1)
    for name, count in counts.items():
        near = [other for less in _letters_less(name) for other in slips.get(less, ())]
        for other in dict.fromkeys(near):
            slip = count <= RARE * counts[other] and one_slip(name.casefold(), other.casefold())
            if slip and spelling(name) != spelling(other):
                groups.append([name, other])
    return [tuple(sorted(names, key=lambda name: (-counts[name], name))) for names in groups]


def abstentions(classes: Iterable[str]) -> list[str]:
    """Find the classes that read as no answer: "skip", "don't know", or a mark alone, as "?".

    "-" beside "+" is an answer.
    """
    plain = {name: " ".join(re.split(r"[\s_]+", name.casefold())) for name in classes}
    signs = "+" in plain
    return [
        name
        for name, text in plain.items()
        if ABSTENTIONS.fullmatch(text.replace("’", "'").strip(" .!?()[]<>*"))
        or (not signs and all(unicodedata.category(letter)[0] in "PZ" for letter in text))
    ]


def several_answers(classes: Collection[str]) -> list[str]:
    """Find the classes that are several others in one, as "cat|dog" beside "cat" and "dog"."""
    names = frozenset(classes)
    parts = {name: SEVERAL.split(name) for name in classes}
    return [name for name, own in parts.items() if len(own) > 1 and names.issuperset(own)]


def ratings(classes: Collection[str]) -> list[float] | None:
    """Read classes as numbers; None where one is none, or there are two at most: usual codes."""
    numbers = [as_number(name) for name in classes]
    read = [number for number in numbers if number is not None and math.isfinite(number)]
    return read if len(read) == len(numbers) and len(set(read)) > 2 else None


def spelled_alike(counts: Iterable[str]) -> list[list[str]]:
    """Group the classes that differ in case, blanks or the form of letters or number alone."""
    same = defaultdict(list)
    for name in counts:
        same[spelling(name)].append(name)
    return [names for names in same.values() if len(names) > 1]


def _without_a_letter(names: Iterable[str]) -> dict[str, list[str]]:
    """Find names by what is left of them without one letter, or with all."""
    by_rest: dict[str, list[str]] = defaultdict(list)
    for name in names:
        for less in _letters_less(name):
            by_rest[less].append(name)
    return by_rest


def _letters_less(name: str) -> set[str]:
    """Give a name without each of its letters, and whole: what names one slip apart share."""
    text = name.casefold()
    if not LONG <= len(text) <= LONGEST:
        return set()
    return {text, *(text[:k] + text[k + 1 :] for k in range(len(text)))}


def one_slip(name: str, other: str) -> bool:
    """Whether a letter left out, added, mistaken or exchanged with the next makes the other."""
    if min(len(name), len(other)) < LONG or max(len(name), len(other)) > LONGEST or name == other:
        return False
    if abs(len(name) - len(other)) > 1:
        return False
    if len(name) > len(other):
        name, other = other, name
    first = next(
        (k for k, (a, b) in enumerate(zip(name, other, strict=False)) if a != b), len(name)
    )
    if any(letter.isdigit() for letter in other[first : first + 2]):
        return False  # "class1" and "class2" are two on purpose
    rest = name[first:], other[first:]
    if len(name) < len(other):
        return rest[0] == rest[1][1:]
    swapped = rest[0][1::-1] + rest[0][2:]
    return rest[0][1:] == rest[1][1:] or swapped == rest[1]


def spelling(name: str) -> str:
    """Write a class without case, blanks, marks at its ends, and the form of letters or number."""
    plain = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    number = as_number(plain)
    return plain.strip(" .!?\"'") if number is None else repr(number)
