"""Belief propagation over atoms: exact on trees; which fit is believed."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.special import logsumexp

from tests.core.release import some
from workbench.aggregation import AGGREGATORS, belief_choice, belief_sweeps
from workbench.aggregation.belief_choice import (
    CLEAR,
    HEATS,
    WRONG,
    choose,
    mean_temperature,
    orientation_odds,
)
from workbench.aggregation.belief_propagation import (
    EASE_PRIOR,
    HYPER,
    SHARE_PRIOR,
    KnownLabels,
    UnitLabels,
    begin,
    begin_from,
    fit,
)
from workbench.aggregation.belief_sweeps import BLOCK
from workbench.aggregation.beliefs import unit_labels
from workbench.aggregation.calibration import tempered
from workbench.aggregation.ebcc import ebcc
from workbench.aggregation.posteriors import Earlier
from workbench.aggregation.skill_grid import alike_coins, one_coin_grid, two_coins
from workbench.base.errors import InputError
from workbench.crowd.votes import Votes

NONE = np.zeros(0, dtype=np.int64)


def labels_of(rows, tasks, units, classes):
    task, unit, label = np.array(rows).T
    return UnitLabels(
        task, unit, label, NONE, NONE, NONE, tasks, units, classes, np.zeros(units, dtype=np.int64)
    )


def weights_of(labels):
    """Dirichlet weights of the shares: n tasks with a labels each weigh n/a by their labels."""
    by_task = [labels.label[labels.task == i] for i in range(labels.tasks)]
    shares = [
        np.bincount(each, minlength=labels.classes) / len(each) for each in by_task if len(each)
    ]
    return SHARE_PRIOR + len(shares) / (len(labels.task) / len(shares)) * np.mean(shares, axis=0)


def enumerated(labels, atoms, share, levels, ease, population):
    """Posterior of classes and log-evidence, over all classes, easinesses and atoms."""
    n, K = labels.tasks, labels.classes
    used = [j for j in range(labels.units) if (labels.unit == j).any()]
    total, mass = 0.0, np.zeros((n, K))
    states = list(product(range(K), range(len(levels))))
    for atom in product(range(len(atoms.prior)), repeat=len(used)):
        of = dict(zip(used, atom, strict=True))
        chance = np.prod([population[g] for g in atom])
        by_task = np.array([[share[c] * ease[s] for c, s in states] for _ in range(n)])
        for i, j, x in zip(labels.task, labels.unit, labels.label, strict=True):
            rows = atoms.chance[of[j]]
            by_task[i] *= [
                levels[s] * rows[c, x] + (1 - levels[s]) * rows[:, x].mean() for c, s in states
            ]
        for i, row in zip(labels.known.task, labels.known.chance, strict=True):
            by_task[i] *= [row[c] for c, _ in states]  # a known skill is hers on every task
        each = by_task.sum(axis=1)
        total += chance * each.prod()
        for i in range(n):
            rest = chance * np.delete(each, i).prod()
            for at, (c, _) in enumerate(states):
                mass[i, c] += rest * by_task[i, at]
    return mass / total, np.log(total)


@pytest.mark.parametrize("unequal", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("known", [[], [0, 0, 1, 2]])
def test_on_a_tree_posterior_and_evidence_are_exact(classes, unequal, known):
    """No two workers share two tasks, so that nothing said comes back to who said it.

    Labels of workers of known skill say nothing of a worker, and make no cycle.
    """
    atoms = two_coins() if classes == 2 else one_coin_grid((1 - np.eye(3)) / 2)
    some = np.arange(0, len(atoms.prior), 9 if classes == 2 else 3)
    prior = atoms.prior[some] / atoms.prior[some].sum()
    atoms = replace(atoms, chance=atoms.chance[some], prior=prior)
    labels = labels_of([(0, 0, 0), (0, 1, 1), (1, 1, 1), (1, 2, 0)], 3, 3, classes)
    chance = np.random.default_rng(classes).uniform(0.01, 0.99, (len(known), classes))
    labels = replace(labels, known=KnownLabels(np.array(known, dtype=np.int64), chance))
    start = begin(labels, atoms, np.full(classes, 1 / classes), unequal=unequal)
    last = start
    for _ in range(6):  # what is fitted stays as it was
        step = fit(labels, atoms, last, sweeps=1)
        last = replace(step, share=start.share, ease=start.ease, population=start.population)
    exact, evidence = enumerated(
        labels, atoms, start.share, start.levels, start.ease, start.population[0]
    )
    np.testing.assert_allclose(last.posterior, exact, atol=1e-9)
    priors = weights_of(labels) @ np.log(start.share)
    priors += (HYPER * atoms.prior * np.log(start.population)).sum()
    if unequal:
        priors += (np.array(EASE_PRIOR) * np.log(start.ease)).sum()
    assert step.evidence - priors == pytest.approx(evidence, abs=1e-9)


def crowd(n, m, skill, seed, share=0.5, asked=1.0):
    """Labels of two classes, and the truth; each pair is asked with a chance."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) >= share).astype(np.int64)
    right = rng.random((n, m)) < skill
    task, worker = np.nonzero(rng.random((n, m)) < asked)
    label = np.where(right, truth[:, None], 1 - truth[:, None])[task, worker]
    names = [np.array([f"{what}{at}" for at in range(size)]) for what, size in (("t", n), ("w", m))]
    return Votes(task, worker, label, *names, np.array(["a", "b"])), truth


def test_products_of_many_chances_are_sums_of_their_logarithms():
    """A worker with more labels than are multiplied at once, and one with fewer."""
    atoms = two_coins()
    rows = [(task, 0, task % 2) for task in range(3 * BLOCK + 5)] + [(0, 1, 1), (2, 1, 0)]
    labels = labels_of(rows, 3 * BLOCK + 5, 2, 2)
    start = begin(labels, atoms, np.full(2, 0.5), unequal=False)
    step = fit(labels, atoms, start, sweeps=1)
    expected = np.log(start.population[labels.kinds])
    for (task, unit, label), message in zip(rows, start.messages, strict=True):
        cavity = np.exp(start.joint[task] - message)[:, 0]
        expected[unit] += np.log(atoms.chance[:, :, label] @ (cavity / cavity.sum()))
    np.testing.assert_allclose(step.worker, expected, rtol=1e-12)


def plain_turn(labels, atoms, now):
    """One turn, a label at a time and in logarithms, as the module's docstring has it."""
    n, K, S, G = labels.tasks, labels.classes, len(now.levels), len(atoms.prior)

    def chance_of(rows, s, x):
        return s * rows[:, x] + (1 - s) * rows[:, x].mean()

    answered = np.zeros((len(labels.task), G))
    pairs = 0.0
    for at, (i, x) in enumerate(zip(labels.task, labels.label, strict=True)):
        cavity = np.exp(now.joint[i] - now.messages[at])
        cavity /= cavity.sum()
        for g, rows in enumerate(atoms.chance):
            for s, level in enumerate(now.levels):
                answered[at, g] += cavity[:, s] @ chance_of(rows, level, x)
    worker = np.log(now.population)[labels.kinds]
    s = now.ease @ now.levels
    for c, j, x in zip(labels.gold_class, labels.gold_unit, labels.gold_label, strict=True):
        worker[j] += np.log([chance_of(rows, s, x)[c] for rows in atoms.chance])
    for at, (i, j) in enumerate(zip(labels.task, labels.unit, strict=True)):
        if K > 2 and (labels.task == i).sum() == 1:
            answered[at] = answered[at].mean()  # alone on its task, it judges nobody
        worker[j] += np.log(answered[at])
    messages = np.zeros((len(labels.task), K, S))
    for at, (i, j, x) in enumerate(zip(labels.task, labels.unit, labels.label, strict=True)):
        without = np.exp(worker[j] - worker[j].max()) / answered[at]
        mean = np.einsum("g,gcx->cx", without / without.sum(), atoms.chance)
        messages[at] = np.log([chance_of(mean, level, x) for level in now.levels]).T
        cavity = np.exp(now.joint[i] - now.messages[at])
        pairs += np.log((cavity / cavity.sum() * np.exp(messages[at])).sum())
    joint = np.log(now.share)[:, None] + np.log(now.ease) + np.zeros((n, 1, 1))
    for i, message in zip(labels.task, messages, strict=True):
        joint[i] += message
    return joint, worker, messages, pairs


@pytest.mark.parametrize("part", [1, 7, 512])
@settings(max_examples=30)
@given(unit=st.lists(st.integers(0, 30), max_size=200))
def test_each_label_has_a_place_of_its_own_among_those_of_its_unit(part, unit):
    """Of every unit as many as the first of its part has labels; places without one are known."""
    unit = np.array(unit, dtype=np.int64)
    nothing = np.zeros(len(unit), dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(belief_sweeps, "PART", part)
        laid = belief_sweeps.ByUnit.of(nothing, unit, nothing, 1)
    owner = np.full(len(laid.empty), -1)
    for (place, first), (end, last) in pairwise(laid.parts.tolist()):
        owner[place:end] = np.repeat(laid.units[first:last], (end - place) // (last - first))
        assert last - first == 1 or end - place <= part
    np.testing.assert_array_equal(owner[laid.place], unit)
    assert len(np.unique(laid.place)) == len(unit)
    np.testing.assert_array_equal(np.flatnonzero(~laid.empty), np.sort(laid.place))
    assert sorted(laid.units.tolist()) == sorted(set(unit.tolist()))


@pytest.mark.parametrize("part", some([1, 7, 512], 2))
@pytest.mark.parametrize("unequal", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_turn_is_that_of_the_plain_form(classes, unequal, part, monkeypatch):
    """Units with one label, with many, with gold labels alone, and with none; of two types."""
    monkeypatch.setattr(belief_sweeps, "PART", part)
    rng = np.random.default_rng(classes)
    atoms = two_coins() if classes == 2 else one_coin_grid((1 - np.eye(3)) / 2)
    task, unit = rng.integers(0, 8, 40), rng.integers(0, 6, 40) ** 2 // 5
    task[0] = 8  # with one label
    gold = rng.integers(0, classes, 5)
    labels = UnitLabels(
        task,
        unit,
        rng.integers(0, classes, 40),
        gold,
        np.array([0, 0, 6, 7, 7]),
        rng.integers(0, classes, 5),
        11,
        9,
        classes,
        np.arange(9) % 2,
    )
    now = begin(labels, atoms, rng.dirichlet(np.ones(classes)), unequal=unequal)
    population = rng.dirichlet(np.ones(len(atoms.prior)), 2)
    now = fit(labels, atoms, replace(now, population=population), sweeps=2)
    after = fit(labels, atoms, now, sweeps=1)
    joint, worker, messages, pairs = plain_turn(labels, atoms, now)
    np.testing.assert_allclose(after.joint, joint, atol=1e-10)
    np.testing.assert_allclose(after.worker, worker, atol=1e-10)
    np.testing.assert_allclose(after.messages, messages, atol=1e-10)
    evidence = logsumexp(joint, axis=(1, 2)).sum() + logsumexp(worker, axis=1).sum() - pairs
    evidence += weights_of(labels) @ np.log(now.share)
    evidence += (HYPER * atoms.prior * np.log(now.population)).sum()
    if unequal:
        evidence += (np.array(EASE_PRIOR) * np.log(now.ease)).sum()
    assert after.evidence == pytest.approx(evidence, abs=1e-9)
    seen = np.isin(np.arange(9), [*unit, 0, 6, 7])
    atom = np.exp(worker - logsumexp(worker, axis=1, keepdims=True))
    for kind in range(2):
        total = HYPER * atoms.prior + atom[seen & (labels.kinds == kind)].sum(axis=0)
        np.testing.assert_allclose(after.population[kind], total / total.sum(), atol=1e-10)


def test_the_order_of_labels_does_not_matter():
    votes, _ = crowd(30, 8, np.linspace(0.55, 0.95, 8), 1)
    labels = unit_labels(votes, np.full(30, -1))
    rows = np.random.default_rng(2).permutation(len(labels.task))
    other = replace(
        labels, task=labels.task[rows], unit=labels.unit[rows], label=labels.label[rows]
    )
    atoms, half = two_coins(), np.full(2, 0.5)
    one, two = (
        fit(each, atoms, begin(each, atoms, half, unequal=True), sweeps=5)
        for each in (labels, other)
    )
    np.testing.assert_allclose(one.posterior, two.posterior, atol=1e-9)
    np.testing.assert_allclose(one.messages[rows], two.messages, atol=1e-9)


def test_mirror_images_have_opposite_odds():
    """The odds of a fit whose classes are interchanged are those against it, atoms allowing."""
    votes, _ = crowd(60, 12, np.linspace(0.6, 0.95, 12), 3)
    labels, atoms = unit_labels(votes, np.full(60, -1)), two_coins()
    now = fit(labels, atoms, begin(labels, atoms, np.full(2, 0.5), unequal=False))
    assert orientation_odds(labels, atoms, now) > 3.0
    few = replace(labels, task=labels.task[:12], unit=labels.unit[:12], label=labels.label[:12])
    now = fit(few, atoms, begin(few, atoms, np.full(2, 0.5), unequal=False))
    assert abs(orientation_odds(few, atoms, now)) < 1.0  # one label a worker tells next to nothing


def test_odds_are_those_of_all_shares_of_workers_worse_than_chance():
    rng = np.random.default_rng(5)
    votes, _ = crowd(40, 9, np.append(np.linspace(0.6, 0.95, 7), [0.05, 0.1]), 6)
    labels, atoms = unit_labels(votes, np.full(40, -1)), two_coins()
    kinds = np.array([0, 1] * 9)[: labels.units]
    labels = replace(labels, kinds=kinds)
    population = rng.dirichlet(5.0 * atoms.prior, 2) + 1e-6
    population /= population.sum(axis=1, keepdims=True)
    start = begin(labels, atoms, np.full(2, 0.5), unequal=False)
    now = replace(fit(labels, atoms, start, sweeps=3), population=population)
    right = np.trace(atoms.chance, axis1=1, axis2=2)
    chances = np.zeros((2, len(WRONG)))
    for way, sign in enumerate((1.0, -1.0)):
        for at, share in enumerate(WRONG):
            for unit in range(labels.units):
                crowd_of = population[kinds[unit]]
                of = {"good": 0.0, "bad": 0.0, "guess": 0.0}
                mass = dict(of)
                for atom, log_chance in enumerate(now.worker[unit] - now.worker[unit].max()):
                    better = sign * (right[atom] - 1.0)
                    name = "guess" if abs(better) <= CLEAR else "good" if better > 0.0 else "bad"
                    of[name] += np.exp(log_chance)
                    mass[name] += crowd_of[atom]
                able = mass["good"] + mass["bad"]
                means = (1.0 - share) * of["good"] / mass["good"] + share * of["bad"] / mass["bad"]
                chances[way, at] += np.log(able * means + of["guess"])
    expected = logsumexp(chances[0]) - logsumexp(chances[1])
    assert orientation_odds(labels, atoms, now) == pytest.approx(expected, abs=1e-8)


def test_of_two_ways_that_workers_suit_the_likelier_labels_decide(monkeypatch):
    """A fit that strangers suit is left for another that all labels suit far better."""
    votes, _ = crowd(60, 12, np.linspace(0.6, 0.95, 12), 3)
    labels, atoms = unit_labels(votes, np.full(60, -1)), two_coins()
    now = fit(labels, atoms, begin(labels, atoms, np.full(2, 0.5), unequal=False))
    monkeypatch.setattr(
        belief_choice,
        "orientation_odds",
        lambda _labels, _atoms, each: 7.0 if each.evidence < now.evidence - 5.0 else 3.0,
    )
    worse = replace(now, joint=now.joint[:, ::-1], evidence=now.evidence - 30.0)
    kept, orientation = belief_choice._oriented(labels, atoms, worse, lambda *_: now)
    assert kept is now
    assert orientation == 3.0
    kept, orientation = belief_choice._oriented(labels, atoms, now, lambda *_: worse)
    assert kept is now
    assert orientation == 3.0


def test_a_mirror_image_is_as_likely_as_the_fit_itself():
    """Ten are nearly always wrong and give most labels; each of the others eight.

    Begun by workers as they are beforehand the image of the fit lies 20 nats below it.
    """
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 400)
    skill = np.concatenate([np.full(10, 0.05), rng.uniform(0.6, 0.95, 90)])
    rows = [(task, worker) for task in range(8) for worker in range(100)]
    rows += [(task, worker) for task in range(8, 400) for worker in (task % 10, (task + 1) % 10)]
    task, unit = np.array(rows).T
    label = np.where(rng.random(len(rows)) < skill[unit], truth[task], 1 - truth[task])
    labels, atoms = labels_of(np.column_stack([task, unit, label]), 400, 100, 2), two_coins()
    joint = np.log(np.where(np.arange(2) == truth[:, None], 0.99, 0.01))[:, :, None]
    start = replace(begin(labels, atoms, np.full(2, 0.5), unequal=False), joint=joint)
    now = fit(labels, atoms, start, sweeps=300, settled=1e-5)
    population = belief_choice._interchanged(now.population, atoms)
    np.testing.assert_allclose(population.sum(axis=1), 1.0)
    turned = {name: getattr(now, name)[:, ::-1] for name in ("joint", "messages")}
    image = replace(now, **turned, share=now.share[::-1], population=population)
    other = fit(labels, atoms, image, settled=0.01)
    assert (other.posterior.argmax(axis=1) == truth).mean() < 0.1
    assert other.evidence == pytest.approx(now.evidence, abs=10.0)
    odds = orientation_odds(labels, atoms, now)
    assert odds > 50.0
    assert orientation_odds(labels, atoms, other) == pytest.approx(-odds, abs=5.0)


def test_a_label_that_is_foretold_too_surely_heats():
    """Tasks seem sure after four labels; those that come then contradict, or agree."""
    atoms, heats = two_coins(), []
    for later in (0, 1):
        rows = [(task, unit, 0) for task in range(40) for unit in range(4)]
        rows += [(task, 4 + task % 2, later) for task in range(40)]
        labels = labels_of(rows, 40, 6, 2)
        now = begin(labels, atoms, np.full(2, 0.5), unequal=False)
        heats.append(mean_temperature(labels, now))
    assert HEATS[0] < heats[0] < heats[1] < HEATS[-1]


def test_a_temperature_comes_of_tasks_of_which_nothing_is_left_open():
    """After two thousand labels of a task the chance of a class is below the least number."""
    votes, _ = crowd(3, 2500, 0.97, 12)
    labels = unit_labels(votes, np.full(3, -1))
    start = begin(labels, two_coins(), np.full(2, 0.5), unequal=True)
    now = fit(labels, two_coins(), start)
    assert now.posterior.min() == 0.0
    assert 1.0 <= mean_temperature(labels, now) < 1.5


def test_without_labels_there_is_an_even_belief():
    labels = replace(labels_of([(0, 0, 0)], 3, 2, 2), task=NONE, unit=NONE, label=NONE)
    chosen = choose(labels, np.full(2, 0.5))
    np.testing.assert_allclose(chosen.fit.posterior, 0.5)
    assert mean_temperature(labels, chosen.fit) > 1.0


@pytest.mark.release
def test_starts_that_are_compared_on_some_tasks_end_where_all_do(monkeypatch):
    """Tasks alike: of a part of the labels the evidence for unequal easiness may be another."""
    monkeypatch.setattr(belief_choice, "EASE_GAIN", np.inf)
    votes, truth = crowd(300, 20, np.where(np.arange(20) < 12, 0.85, 0.5), 8, asked=0.4)
    labels = unit_labels(votes, np.full(300, -1))
    whole, part = (choose(labels, np.full(2, 0.5), most=most) for most in (None, 500))
    assert len(part.fit.messages) == len(labels.task)
    apart = np.abs(whole.fit.posterior - part.fit.posterior)
    assert apart.mean() < 0.01
    assert (part.fit.posterior.argmax(axis=1) != truth).mean() < 0.1


def test_a_fit_that_is_certain_has_few_rivals_and_goes_on_with_all_labels(monkeypatch):
    """The choice is made on some labels; where it falls on the earlier fit, that is kept."""
    monkeypatch.setattr(belief_choice, "EASE_GAIN", np.inf)
    votes, _ = crowd(200, 40, np.where(np.arange(40) < 30, 0.85, 0.5), 8, asked=0.4)
    labels, turns, chosen = unit_labels(votes, np.full(200, -1)), [], []
    plain = belief_sweeps.ByUnit.turn
    warm = choose(labels, np.full(2, 0.5)).fit
    monkeypatch.setattr(
        belief_sweeps.ByUnit,
        "turn",
        lambda *all_of: (turns.append(len(all_of[0].task)), plain(*all_of))[1],
    )
    for certain in (10.0, np.inf):
        monkeypatch.setattr(belief_choice, "CERTAIN", certain)
        chosen.append(choose(labels, np.full(2, 0.5), warm, most=1000))
        turns.append(-1)
    few = turns.index(-1)
    assert turns.count(len(labels.task)) <= 4
    assert few < (len(turns) - few) // 2
    np.testing.assert_allclose(chosen[0].fit.posterior, chosen[1].fit.posterior, atol=0.02)


def test_a_fit_that_is_certain_to_be_mirrored_is_turned_round():
    """Every start is tried then."""
    votes, truth = crowd(200, 40, np.where(np.arange(40) < 30, 0.85, 0.5), 8, asked=0.4)
    labels = unit_labels(votes, np.full(200, -1))
    right = begin(labels, two_coins(), np.full(2, 0.5), unequal=False)
    right = fit(labels, two_coins(), right)
    mirrored = replace(right, worker=right.worker[:, mirror_of(two_coins())])
    warm = begin_from(labels, two_coins(), mirrored)
    assert (warm.posterior.argmax(axis=1) == truth).mean() < 0.1
    chosen = choose(labels, np.full(2, 0.5), warm, most=1000)
    assert (chosen.fit.posterior.argmax(axis=1) != truth).mean() < 0.1


def mirror_of(grid):
    """Of each point that with the classes interchanged, or the nearest."""
    apart = np.abs(grid.chance[:, None] - grid.chance[:, ::-1]).sum(axis=(2, 3))
    return apart.argmin(axis=1)


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("rare", marks=pytest.mark.release),
        pytest.param("unequal", marks=pytest.mark.release),
        "liars",
    ],
)
def test_starts_that_went_the_same_way_need_no_second_one(kind, monkeypatch):
    """Fewer turns, and the same fit as where every start goes on."""
    skill = {"rare": 0.75, "unequal": 0.9, "liars": np.where(np.arange(24) % 3, 0.9, 0.1)}[kind]
    votes, _ = crowd(200, 24, skill, 9, 0.8 if kind == "rare" else 0.5, asked=0.3)
    if kind == "unequal":
        rng = np.random.default_rng(10)
        guess = (rng.random(200) < 0.4)[votes.task]
        votes = replace(votes, label=np.where(guess, rng.integers(0, 2, len(guess)), votes.label))
    labels, turns = unit_labels(votes, np.full(200, -1)), []
    plain = belief_sweeps.ByUnit.turn
    monkeypatch.setattr(
        belief_sweeps.ByUnit, "turn", lambda *all_of: (turns.append(1), plain(*all_of))[1]
    )
    fits = []
    for alike in (belief_choice.ALIKE, 0.0):
        monkeypatch.setattr(belief_choice, "ALIKE", alike)
        fits.append((choose(labels, np.full(2, 0.5)).fit, len(turns)))
    (few, fewer), (every, total) = fits
    assert fewer < total - fewer
    assert few.evidence == pytest.approx(every.evidence, abs=0.5)
    np.testing.assert_allclose(few.posterior, every.posterior, atol=0.02)


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_as_an_aggregator_it_beats_the_majority(share):
    skill = np.where(np.arange(30) % 3 == 0, 0.93, 0.55)
    votes, truth = crowd(200, 30, skill, 5, share, asked=0.25)
    own, plain = (
        AGGREGATORS[name].call(votes, seed=0) for name in ("belief-propagation", "majority")
    )
    assert (own.label != truth).mean() < (plain.label != truth).mean() - 0.02
    assert abs(own.info["class_prior"][0] - share) < 0.1
    good, bad = own.info["skill"][skill > 0.9], own.info["skill"][skill < 0.6]
    assert good.min() > bad.max()
    wrong = (own.label != truth).mean()
    assert wrong <= 1.3 * (1.0 - own.info["confidence"].mean()) + 0.03


def test_single_labels_are_taken_at_their_word():
    """Of five classes, by workers with habits: nobody can be judged where nobody else answers."""
    rng = np.random.default_rng(8)
    truth, n = rng.choice(5, 300, p=[0.1, 0.15, 0.25, 0.2, 0.3]), 300
    worker = rng.integers(0, 20, n)
    label = np.where(rng.random(n) < 0.6, truth, rng.choice(5, n, p=[0.1, 0.1, 0.1, 0.1, 0.6]))
    names = [
        np.array([f"{what}{at:03d}" for at in range(size)]) for what, size in (("t", n), ("w", 20))
    ]
    votes = Votes(np.arange(n), worker, label, *names, np.array(list("abcde")))
    own = AGGREGATORS["belief-propagation"].call(votes, seed=0)
    assert (own.label == label).mean() > 0.95
    labels = unit_labels(votes, np.full(n, -1))
    chosen = choose(labels, np.full(5, 0.2))
    skill = np.exp(chosen.fit.worker - logsumexp(chosen.fit.worker, axis=1, keepdims=True))
    np.testing.assert_allclose(skill, skill[0] + np.zeros((20, 1)), atol=1e-9)


def test_shares_rest_on_labels_that_were_not_chosen_by_their_like():
    """Doubted tasks have more labels: the first of each say how frequent classes are."""
    labels = labels_of([(0, 0, 0), (1, 0, 1), (1, 1, 0), (1, 2, 0)], 3, 3, 2)
    np.testing.assert_allclose(labels.shares, weights_of(labels))
    np.testing.assert_allclose(labels.shares - SHARE_PRIOR, [5 / 6, 1 / 6])
    first = replace(labels, first_shares=np.array([0.5, 0.5]))
    np.testing.assert_allclose(first.shares - SHARE_PRIOR, [0.5, 0.5])


@pytest.mark.slow
def test_where_tasks_are_of_unequal_easiness_two_fits_are_averaged():
    """Experts are right on all tasks, the others on the easy ones."""
    hard = (np.arange(150) < 50)[:, None]
    skill = np.where(hard, np.where(np.arange(30) < 5, 0.95, 0.4), 0.93)
    votes, _ = crowd(150, 30, skill, 17)
    labels = unit_labels(votes, np.full(150, -1))
    chosen = choose(labels, np.full(2, 0.5))
    assert len(chosen.fit.levels) > 1 == len(chosen.alike.levels)
    own = AGGREGATORS["belief-propagation"].call(votes, seed=0)
    coins = alike_coins()
    single = fit(labels, coins, begin(labels, coins, np.full(2, 0.5), unequal=False))
    unequal, alike, one = (
        tempered(each.posterior, mean_temperature(labels, each))
        for each in (chosen.fit, chosen.alike, single)
    )
    together = ebcc(votes, restarts=2, seed=0).info["posterior"]
    mean = ((unequal + alike) / 2 + one + together) / 3
    np.testing.assert_allclose(own.info["posterior"], mean, atol=1e-12)
    assert np.abs(unequal - alike).max() > 0.1
    assert own.info["variant"].endswith("tasks alike, unequal tasks, one skill, EBCC, averaged")


def test_coins_alike_are_right_as_often_in_either_class():
    atoms = alike_coins()
    np.testing.assert_array_equal(atoms.chance[:, 0, 0], atoms.chance[:, 1, 1])
    assert atoms.chance[:, 0, 0].min() < 0.5 < atoms.chance[:, 0, 0].max()
    assert atoms.prior.sum() == pytest.approx(1.0)


def test_known_classes_judge_workers_and_stay():
    """Nine in ten are liars: a few known classes turn the others round."""
    votes, truth = crowd(120, 10, np.where(np.arange(10) < 1, 0.8, 0.1), 6)
    known = np.where(np.arange(120) < 20, truth, -1)
    blind = AGGREGATORS["belief-propagation"].call(votes, seed=0)
    told = AGGREGATORS["belief-propagation"].call(votes, earlier=Earlier(known), seed=0)
    assert (blind.label != truth).mean() > 0.9
    assert (told.label != truth).mean() < 0.1
    assert (told.label[:20] == truth[:20]).all()
    again = AGGREGATORS["belief-propagation"].call(
        votes, earlier=Earlier(known, told.info["fit"]), seed=0
    )
    np.testing.assert_array_equal(again.label, told.label)


def test_a_fit_of_another_model_is_refused():
    votes, _ = crowd(10, 4, 0.8, 7)
    other = AGGREGATORS["bwa"].call(votes, seed=0).info["fit"]
    with pytest.raises(InputError, match="fit of BWA"):
        AGGREGATORS["belief-propagation"].call(votes, earlier=Earlier(fit=other), seed=0)
