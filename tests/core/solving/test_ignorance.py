"""What not knowing the workers must cost: against every stopping rule, and exact small cases."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from unknown_workers import Unknown, listed_labels

from workbench.base.errors import InputError
from workbench.solving.expert_informed import Expert, beta_prior, read_prior
from workbench.solving.ignorance import unknown_skills_bound

HALF = {0.8: 0.5, 0.5: 0.5}
SLOW = pytest.mark.release


def rules(most):
    """After which answers (number, right) a rule asks on; the first is always asked for."""
    states = [(n, right) for n in range(1, most) for right in range(n + 1)]
    for choice in itertools.product([False, True], repeat=len(states)):
        yield dict(zip(states, choice, strict=True)) | {(0, 0): True}


def played(rule, prior, most, mark):
    """Expected labels by mark, every worker's answers listed: `mark(kind, right others)`."""
    totals = {}
    for kind, (skill, share) in enumerate(prior.items()):
        for answers in itertools.product([0, 1], repeat=most):
            chance = share * math.prod(skill if a else 1 - skill for a in answers)
            for n in range(most):
                if not rule[n, sum(answers[:n])]:
                    break
                shown = mark(kind, sum(answers) - answers[n])
                totals[shown] = totals.get(shown, 0.0) + chance
    return totals


@settings(max_examples=12, deadline=None)
@given(
    skills=st.lists(st.floats(0.05, 0.99), min_size=1, max_size=3, unique=True),
    most=st.integers(1, 4),
    seed=st.integers(0, 10**6),
    counts=st.booleans(),
)
def test_a_worker_gains_the_most_of_all_rules(skills, most, seed, counts):
    """Trade by dynamic programming, and by listing all rules and all answers."""
    assume(skills != [0.5])
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(len(skills)))
    prior = dict(zip(skills, shares.tolist(), strict=True))
    expert = (Expert.others if counts else Expert.kinds)(prior, most)
    price = rng.uniform(0, 3, len(expert.weight))
    of_mark = np.append(price, 0.0)[expert.group]
    best = -math.inf
    for rule in rules(most):
        labels = played(rule, prior, most, lambda kind, others: others if counts else kind)
        gain = sum(count * (of_mark[mark] - 1.0) for mark, count in labels.items())
        best = max(best, gain)
    trade = expert.trade(price)
    assert trade.profit == pytest.approx(best, abs=1e-9)
    assert price @ trade.labels - trade.asked == pytest.approx(best, abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(
    skills=st.lists(st.floats(0.05, 0.95), min_size=1, max_size=3, unique=True),
    most=st.integers(1, 5),
    seed=st.integers(0, 10**6),
)
def test_what_other_answers_say_of_one(skills, most, seed):
    """A group's label is right, or wrong, at least as often as each answer of its marks."""
    assume(skills != [0.5])
    shares = np.random.default_rng(seed).dirichlet(np.ones(len(skills)))
    expert = Expert.others(dict(zip(skills, shares.tolist(), strict=True)), most)
    for others in range(most):
        chance = np.array(
            [
                share * math.comb(most - 1, others) * p**others * (1 - p) ** (most - 1 - others)
                for p, share in zip(skills, shares, strict=True)
            ]
        )
        right = float(chance @ skills / chance.sum())
        weight = abs(math.log(right / (1 - right)))
        group = expert.group[others]
        if group < 0:
            assert weight < 1e-12
        else:
            assert weight - 1e-9 <= expert.weight[group] <= weight + 0.05


@pytest.mark.parametrize(
    "most", [1, 2, *(pytest.param(n, marks=pytest.mark.release) for n in (3, 4))]
)
def test_guessers_come_at_the_least_ratio(most):
    """Of good workers and guessers the first expert's bound is (1 + r*) v, r* over all rules."""
    known = unknown_skills_bound({0.8: 1.0}, most, 100, 0.05).labels
    assert known == pytest.approx(332.8125, rel=1e-6)
    least = min(
        labels.get(1, 0.0) / labels[0]
        for labels in (played(rule, HALF, most, lambda kind, _others: kind) for rule in rules(most))
    )
    bound = unknown_skills_bound(HALF, most, 100, 0.05).kinds
    assert bound == pytest.approx(known * (1 + least), rel=3e-4)
    assert bound <= known * (1 + least) * (1 + 1e-9)


@pytest.mark.release
@pytest.mark.parametrize(
    ("epsilon", "most", "least"),
    [
        (0.05, 10, 5.34),
        pytest.param(0.0189, 50, 5.245, marks=pytest.mark.release),
        pytest.param(0.0189, 10, 7.66, marks=pytest.mark.release),
        pytest.param(0.05, 50, 3.72, marks=pytest.mark.release),
        pytest.param(0.05, 200, 3.43, marks=pytest.mark.release),
        pytest.param(0.0189, 200, 4.84, marks=pytest.mark.release),
    ],
)
def test_half_guess(epsilon, most, least):
    bound = unknown_skills_bound(HALF, most, 1000, epsilon).labels / 1000
    assert least <= bound <= least + 0.012


@pytest.mark.release
def test_more_can_be_asked_of_fewer():
    """Monotone: in labels a worker gives, in workers, in ε; gold tasks add to what she can give."""
    by_most = [unknown_skills_bound(HALF, most, 400, 0.05).labels for most in (1, 3, 10)]
    assert by_most == sorted(by_most, reverse=True)
    few, more = (unknown_skills_bound(HALF, 10, 400, 0.05, workers=m).labels for m in (360, 720))
    assert by_most[2] * (1 - 1e-3) <= more < few
    assert few / 400 >= 6.53
    assert unknown_skills_bound(HALF, 10, 400, 0.05, workers=200).labels == math.inf
    alone = unknown_skills_bound(HALF, 12, 6, 0.05).labels
    assert alone > unknown_skills_bound(HALF, 12, 6, 0.05, gold_tasks=6).labels * (1 + 1e-3)


def test_who_errs_as_often_as_not():
    """One answer of a worker who may be of .7 or .3 says nothing; of two, one judges the other."""
    prior = {0.7: 0.5, 0.3: 0.5}
    assert unknown_skills_bound(prior, 1, 100, 0.05).labels == math.inf
    assert math.isfinite(unknown_skills_bound(prior, 2, 100, 0.05).labels)


@pytest.mark.release
def test_a_spread_of_skills():
    prior = beta_prior(4.0, 2.0, 6)
    assert sum(prior.values()) == pytest.approx(1.0)
    assert 0.5 < min(prior) < max(prior) < 1.0
    mean = sum(skill * share for skill, share in prior.items())
    assert mean == pytest.approx(0.5 + 0.5 * 4 / 6, abs=5e-3)
    bound = unknown_skills_bound(prior, 10, 100, 0.05)
    assert bound.labels > unknown_skills_bound({max(prior): 1.0}, 10, 100, 0.05).labels


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ({0.8: 0.5}, "sum to 0.5"),
        ({1.2: 1.0}, "skills from 0 to 1"),
        ({0.5: 1.0}, "every worker guesses"),
        ({}, "0 kinds"),
    ],
)
def test_bad_priors(prior, message):
    with pytest.raises(InputError, match=message):
        unknown_skills_bound(prior, 10, 10, 0.05)


def test_bad_numbers():
    for text in ("beta:0:1", "beta:4", "0.8;0.5", "0.8:x"):
        with pytest.raises(InputError, match="prior"):
            read_prior(text)
    assert read_prior("0.8:0.5,0.5:0.5") == HALF
    assert read_prior("beta:4:2") == beta_prior(4.0, 2.0)
    for wrong in ({"capacity": 0}, {"epsilon": 0.5}, {"capacity": 5000, "tasks": 10**4}):
        with pytest.raises(InputError):
            unknown_skills_bound(
                **{"prior": HALF, "capacity": 9, "tasks": 9, "epsilon": 0.1} | wrong
            )


@pytest.mark.parametrize(
    ("prior", "most", "epsilon"),
    [
        ({0.95: 0.7, 0.5: 0.3}, 2, 0.2),
        ({0.95: 0.7, 0.5: 0.3}, 1, 0.3),
        pytest.param({0.9: 0.5, 0.2: 0.5}, 2, 0.45, marks=pytest.mark.release),
        pytest.param({0.9: 0.8, 0.7: 0.2}, 2, 0.16, marks=pytest.mark.release),
    ],
)
def test_the_exact_optimum_of_two_tasks_is_that_of_all_listed_histories(prior, most, epsilon):
    listed = listed_labels(prior, 2, 2, most, epsilon)
    assert listed is not None
    least = Unknown(prior, 2, 2, most).labels(epsilon, 40)
    assert least == pytest.approx(listed, rel=1e-5)
    bound = unknown_skills_bound(prior, most, 2, epsilon, workers=2)
    assert bound.labels <= listed * (1 + 1e-9)


@pytest.mark.parametrize(
    ("prior", "epsilon", "most"),
    [
        (prior, epsilon, most)
        if (at, most) == (1, 1)
        else pytest.param(prior, epsilon, most, marks=SLOW)
        for at, (prior, epsilon) in enumerate(
            [(HALF, 0.33), ({0.95: 0.8, 0.5: 0.2}, 0.12), ({0.95: 0.6, 0.3: 0.4}, 0.27)]
        )
        for most in (1, 3, 4)
    ],
)
def test_three_tasks_and_four_workers_exactly(prior, epsilon, most):
    """The best of all policies, which learns by agreement alone, is above both bounds."""
    least = Unknown(prior, 3, 4, most).labels(epsilon, 9)
    for workers in (4, None):
        bound = unknown_skills_bound(prior, most, 3, epsilon, workers=workers)
        if math.isinf(bound.labels):  # nobody can; then the price of an error is without end
            assert workers == 4
            assert least > 4 * most
        else:
            assert bound.kinds <= least
            assert bound.others <= least
