import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.selection.rules import algorithm_1, top
from workbench.selection.scoring import scores, set_score
from workbench.selection.selecting import select


def random_gain(rng):
    """Gains with ties, of skills 0 and 1 among them, and negative ones."""
    m, L = int(rng.integers(1, 15)), int(rng.integers(2, 7))
    n = np.full(m, rng.integers(2, 8)) if rng.random() < 0.5 else rng.integers(2, 12, m)
    skill = rng.choice([0.0, 1 / L, 0.5, 0.8, 1.0], m)
    known = scores(rng.binomial(n, skill), n, L)
    return known.gain if rng.random() < 0.7 else known.plug_in - rng.choice([0, 0.5, 3.0])


def best_of_all(gain, budget):
    """Highest F̂ of any set of each size: an exhaustive search, all subsets at once."""
    m = len(gain)
    sets = (np.arange(1, 2**m)[:, None] >> np.arange(m)) & 1
    size = sets.sum(axis=1)
    score = (sets @ gain) / np.sqrt(size)
    return np.array([score[size == k].max() for k in range(1, min(budget, m) + 1)])


def test_theorem_4_against_every_subset():
    """150 random inputs: as good as any set, and the smallest of those; and Pareto optimal."""
    rng = np.random.default_rng(7)
    for _ in range(150):
        gain = random_gain(rng)
        budget = int(rng.integers(1, len(gain) + 3))
        found = algorithm_1(gain, budget, seed=0)
        by_size = best_of_all(gain, budget)
        assert found.score == pytest.approx(by_size.max(), abs=1e-9)
        assert set_score(gain[found.chosen]) == pytest.approx(found.score, abs=1e-9)
        np.testing.assert_allclose(found.curve, by_size, atol=1e-9)
        smaller = by_size[: len(found.chosen) - 1]
        assert (smaller < found.score - 1e-12).all()
        assert len(set(found.chosen.tolist())) == len(found.chosen) <= budget


def test_all_negative_is_said():
    found = algorithm_1([-1.0, -0.5, -2.0], 3, seed=0)
    assert found.chosen.tolist() == [1]
    assert "no worker is shown to be better than guessing" in found.note
    nobody = algorithm_1([-np.inf, -np.inf], 2, seed=0)
    assert not len(nobody.chosen)
    assert nobody.score is None
    assert "no worker can be scored" in nobody.note
    assert top([-np.inf], 2, seed=0).note == "no worker qualifies"
    assert not len(algorithm_1([], 2, seed=0).chosen)
    assert not len(top([], 2, seed=0).chosen)
    zeros = algorithm_1([0.0, -1.0, 0.0], 3, seed=0)
    assert zeros.score == 0
    assert len(zeros.chosen) == 1
    assert zeros.note
    assert sorted(zeros.tied) == [0, 2]


GAINS = st.lists(
    st.sampled_from([-np.inf, -1.0, 0.0, 0.3, 0.3, 0.7, 1.0]) | st.floats(-2, 2),
    min_size=1,
    max_size=12,
).map(np.array)


@given(GAINS, st.integers(1, 14), st.integers(0, 1000))
def test_order_does_not_matter(gain, budget, seed):
    found = algorithm_1(gain, budget, seed=0)
    turn = np.random.default_rng(seed).permutation(len(gain))
    other = algorithm_1(gain[turn], budget, seed=1)
    assert (gain[turn][other.chosen] == gain[found.chosen]).all()
    assert (other.curve == found.curve).all()
    assert set(turn[other.tied]) == set(found.tied)
    if not len(found.tied):
        assert set(turn[other.chosen]) == set(found.chosen)


def as_printed(gain, budget):
    """Algorithm 1 line by line, but for equals in the order of indices."""
    ranked = sorted(np.flatnonzero(gain > -np.inf), key=lambda j: (-gain[j], j))[:budget]
    total, curve = 0.0, []
    for k, j in enumerate(ranked, start=1):
        total += gain[j]
        curve.append(total / k**0.5)
    least = max(curve) - 1e-12 * abs(max(curve))
    k = next(k for k, F in enumerate(curve, start=1) if least <= F)
    return ranked[:k], curve


@pytest.mark.parametrize("rule", [top, algorithm_1])
def test_ties_are_drawn_fairly(rule):
    gain = np.array([1.0, 0.9, 0.9, 0.9, 0.9])
    drawn = [rule(gain, 3, seed=seed) for seed in range(300)]
    assert all(set(one.tied) == {1, 2, 3, 4} and one.chosen[0] == 0 for one in drawn)
    pairs = dict.fromkeys(itertools.combinations(range(1, 5), 2), 0)
    for one in drawn:
        pairs[tuple(sorted(one.chosen[1:].tolist()))] += 1
    count = np.array(list(pairs.values()))
    assert ((count - 50) ** 2 / 50).sum() < 25.7  # χ² of 5 degrees, one in 10,000
    assert top(gain, 3, seed=1, ties="first").chosen.tolist() == [0, 1, 2]
    assert not len(top(gain, 1, seed=1).tied)
    assert not len(top(gain, 5, seed=1).tied)


def test_rules_on_one_crowd():
    known = scores([9, 1, 7, 6, 5, 0], [10, 10, 10, 10, 10, 1], 2)

    def chosen(rule, budget=3, **options):
        return select(known, budget, rule, seed=0, **options).chosen.tolist()

    assert chosen("top-skill") == [0, 2, 3]
    assert set(chosen("top-informative", 2)) == {0, 1}
    assert chosen("threshold") == [0, 2, 3]
    assert chosen("threshold", 5) == [0, 2, 3]
    assert chosen("threshold", threshold=0.65) == [0, 2]
    assert set(chosen("selected", 5)) <= set(chosen("plug-in", 5))
    assert set(chosen("random", 10)) == {0, 1, 2, 3, 4}
    assert chosen("random") == chosen("random")
    assert select(known, 3, "threshold", threshold=0.95, seed=0).note == "no worker qualifies"
    seen = {tuple(sorted(select(known, 2, "random", seed=s).chosen)) for s in range(200)}
    assert len(seen) == 10


# ---- evidence ----

PAIRS = st.lists(
    st.tuples(st.sampled_from([-1.0, -0.0, 0.0, 0.5, 1.0, -np.inf]), st.integers(0, 3)),
    min_size=1,
    max_size=9,
)


@pytest.mark.release
@given(PAIRS, st.integers(1, 10), st.integers(0, 5), st.sampled_from([algorithm_1, top]))
def test_of_equals_who_has_shown_more_comes_first(pairs, budget, seed, rule):
    """As listed by hand: by value, then by evidence; who is equal in both is drawn among."""
    value, evidence = np.array(pairs).T
    found = rule(value, budget, seed=seed, evidence=evidence)
    plain = rule(value, budget, seed=seed)
    assert len(found.chosen) == len(plain.chosen)
    assert found.curve.tolist() == plain.curve.tolist()
    place = [(x + 0.0, e) for x, e in pairs]
    chosen = [place[j] for j in found.chosen]
    ranked = sorted((one for one in place if one[0] > -np.inf), reverse=True)
    assert chosen == ranked[: len(chosen)]
    out = [place[j] for j in range(len(place)) if j not in found.chosen]
    straddling = chosen and chosen[-1] in out
    assert {place[j] for j in found.tied} == ({chosen[-1]} if straddling else set())
    assert len(found.tied) == (place.count(chosen[-1]) if straddling else 0)
