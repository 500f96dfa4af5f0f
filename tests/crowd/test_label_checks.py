"""Repeats, agreement, and classes that are most likely one."""

import time
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from workbench.crowd.label_checks import agreement, classes_alike, one_slip, repeats
from workbench.crowd.votes import Votes


def test_repeats_are_counted_by_pair():
    rows = [("a", "u", "x"), ("a", "u", "x"), ("a", "u", "y"), ("a", "v", "x"), ("b", "u", "x")]
    rows += [("b", "v", "y"), ("b", "v", "y")]
    found = repeats(pd.DataFrame(rows, columns=["task", "worker", "label"]))
    assert (found.pairs, found.in_conflict, found.workers) == (2, 1, 2)
    none = repeats(pd.DataFrame(rows[3:5], columns=["task", "worker", "label"]))
    assert (none.pairs, none.in_conflict, none.workers) == (0, 0, 0)


@pytest.mark.parametrize(
    ("counts", "groups"),
    [
        ({"no": 40, "yes": 30, "NO": 3}, [("no", "NO")]),
        ({"1": 40, "1.0": 3, "2": 30}, [("1", "1.0")]),
        ({"very good": 10, "Very  good ": 2, "bad": 4}, [("very good", "Very  good ")]),
        ({"positive": 400, "postive": 2, "negative": 300}, [("positive", "postive")]),
        ({"positive": 400, "postiive": 2}, [("positive", "postiive")]),
        ({"ｙes": 2, "yes": 9}, [("yes", "ｙes")]),
        ({"class1": 400, "class2": 1}, []),
        ({"positive": 40, "postive": 20}, []),
        ({"cat": 400, "car": 1}, []),
        ({"0": 10, "1": 10, "-1": 2}, []),
        ({"true": 1, "false": 5}, []),
    ],
)
def test_classes_written_in_two_ways_are_found(counts, groups):
    assert classes_alike(counts) == groups


def test_a_slip_is_one_letter():
    assert one_slip("neutral", "nuetral")
    assert one_slip("neutral", "neutrel")
    assert one_slip("neutral", "neutrals")
    assert one_slip("eutral", "neutral")
    assert not one_slip("neutral", "neutral")
    assert not one_slip("neutral", "nuertal")
    assert not one_slip("neutral", "neutered")


@pytest.mark.parametrize("seed", range(4))
def test_agreement_is_that_of_the_pairs_one_by_one(seed):
    """By the definition: one less observed over expected disagreement, over ordered pairs."""
    rng = np.random.default_rng(seed)
    pairs = [(i, j) for i in range(9) for j in range(5) if rng.random() < 0.6]
    table = pd.DataFrame(pairs, columns=["task", "worker"])
    table["label"] = rng.choice(list("abc"), len(table))
    found = agreement(Votes.of(table))
    tasks = [given.tolist() for _, given in table.groupby("task")["label"] if len(given) > 1]
    within = [(a != b, 1 / (len(t) - 1)) for t in tasks for a, b in permutations(t, 2)]
    whole = [a != b for a, b in permutations([label for t in tasks for label in t], 2)]
    assert found.pairs == len(within) / 2
    assert found.pairwise == pytest.approx(1 - np.mean([differ for differ, _ in within]))
    observed = np.average([d for d, _ in within], weights=[w for _, w in within])
    assert found.alpha == pytest.approx(1 - observed / np.mean(whole))


def test_agreement_without_pairs_or_of_one_class():
    table = pd.DataFrame({"task": [1, 2], "worker": ["a", "a"], "label": ["x", "y"]})
    assert agreement(Votes.of(table)).pairwise is None
    table = pd.DataFrame({"task": [1, 1], "worker": ["a", "b"], "label": ["x", "x"]})
    found = agreement(Votes.of(table))
    assert (found.pairwise, found.alpha, found.pairs) == (1.0, None, 1)


def test_slips_are_those_of_all_pairs_of_classes():
    rng = np.random.default_rng(5)
    names = {"".join(rng.choice(list("abC"), size)) for size in rng.integers(4, 7, 300)}
    counts = {name: int(rng.choice([1, 3, 60, 400])) for name in sorted(names)}
    slips = [
        (other, name)
        for name, other in permutations(counts, 2)
        if counts[name] <= 0.02 * counts[other] and one_slip(name.casefold(), other.casefold())
    ]
    assert len(slips) > 50
    assert sorted(group for group in classes_alike(counts) if group in slips) == sorted(slips)


def test_many_classes_are_looked_at_in_time_linear_in_them():
    counts = {f"{'abcdefghij'[k % 10]}{k:05d} and more": 1 + 99 * (k % 2) for k in range(20_000)}
    started = time.process_time()
    assert classes_alike(counts) == []
    assert time.process_time() - started < 10
