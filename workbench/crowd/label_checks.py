"""What to know of a label table before anything is made of it: repeats, agreement, classes."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from workbench.crowd.reading import as_number
from workbench.crowd.votes import Votes

RARE = 0.02
"""Share of the commoner spelling's labels below which a near miss is taken for a slip."""
LONG = 5
"""Letters that a class needs for one of them to be a slip."""
LONGEST = 60
"""Letters of a class at most for one of them to be looked for: more are a text."""


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


@dataclass(frozen=True)
class Agreement:
    """How far labels of the same task agree.

    Attributes
    ----------
    pairwise
        Share of the pairs of labels of a task that are equal; None without a pair.
    alpha
        Krippendorff's α of nominal labels: 1 where all agree, 0 by chance, below it worse; None
        without a pair, or where only one class is used.
    pairs
        How many pairs there are.
    """

    pairwise: float | None
    alpha: float | None
    pairs: int


def agreement(votes: Votes) -> Agreement:
    """Measure how far labels of the same task agree.

    Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C, from the
    coincidences o_ck of labels within tasks of two labels or more.
    """
    L = max(len(votes.classes), 1)
    at, count = np.unique(votes.task * L + votes.label, return_counts=True)
    labels = np.bincount(votes.task, minlength=len(votes.tasks)).astype(np.float64)
    of = labels[at // L]
    at, count, of = at[of > 1], count[of > 1], of[of > 1]
    pairs = float((labels * (labels - 1)).sum())
    if not pairs:
        return Agreement(None, None, 0)
    equal = count * (count - 1)
    by_class = np.bincount(at % L, weights=count)
    n = by_class.sum()
    expected = n * n - (by_class**2).sum()
    observed = n - (equal / (of - 1)).sum()
    alpha = float(1 - (n - 1) * observed / expected) if expected else None
    return Agreement(float(equal.sum() / pairs), alpha, int(pairs) // 2)


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
            if slip and _spelling(name) != _spelling(other):
                groups.append([name, other])
    return [tuple(sorted(names, key=lambda name: (-counts[name], name))) for names in groups]


def spelled_alike(counts: Iterable[str]) -> list[list[str]]:
    """Group the classes that differ in case, blanks or the form of letters or number alone."""
    same = defaultdict(list)
    for name in counts:
        same[_spelling(name)].append(name)
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


def _spelling(name: str) -> str:
    plain = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    number = as_number(plain)
    return plain.strip(" .!?\"'") if number is None else repr(number)
