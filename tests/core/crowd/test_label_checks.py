"""Repeats, agreement, and classes that are most likely one."""

import time
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from workbench.crowd.label_checks import (
    abstentions,
    classes_alike,
    one_slip,
    ratings,
    repeats,
    several_answers,
)


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


@pytest.mark.parametrize(
    ("classes", "found"),
    [
        (["yes", "no", "Skip", "Don’t know", "n/a", "not_sure"], [2, 3, 4, 5]),
        (["?", "a", "(unsure)", "I don't know."], [0, 2, 3]),
        (["-", "yes"], [0]),
        (["-", "+"], []),
        (["pass", "fail", "none", "0", "👍", "👎", "other"], []),
    ],
)
def test_abstentions_are_read(classes, found):
    assert abstentions(classes) == [classes[at] for at in found]


def test_several_answers_are_those_of_which_each_is_a_class():
    classes = ["a", "b", "c d", "a|b", "a, c d", "b;e", "a|"]
    assert several_answers(classes) == ["a|b", "a, c d"]


def test_ratings_are_three_numbers_or_more():
    assert ratings(["1", "2", "3.5"]) == [1, 2, 3.5]
    for classes in (["0", "1"], ["1", "2", "good"], ["1", "1.0", "2"], ["1", "2", "inf"], []):
        assert ratings(classes) is None


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


@pytest.mark.release
def test_many_classes_are_looked_at_in_time_linear_in_them():
    counts = {f"{'abcdefghij'[k % 10]}{k:05d} and more": 1 + 99 * (k % 2) for k in range(20_000)}
    started = time.process_time()
    assert classes_alike(counts) == []
    assert time.process_time() - started < 10
