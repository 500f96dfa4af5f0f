"""The theorem, by enumeration of every set of errors and every path through the code that is used.

The means are taken of what `AuditState` does at made-up points, with the chances that it states.
"""

from __future__ import annotations

import copy
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from tests.core.release import some
from workbench.auditing import bets, design, state
from workbench.auditing.draws import DrawPoint
from workbench.auditing.forecast import LEAST_RATE
from workbench.auditing.state import AuditState, most_wrong
from workbench.auditing.strata import Strata


def made_state(sizes, sure=0, error=0.3, risk=0.3, odds=None):
    """An audit of bins of some sizes, the last `sure` of them without answers."""
    bins = np.repeat(np.arange(len(sizes)), sizes)
    odds = np.linspace(-3.0, 1.0, len(sizes)) if odds is None else np.array(odds)
    is_sure = np.arange(len(sizes)) >= len(sizes) - sure
    return AuditState(Strata(bins, odds, is_sure), error, risk)


def children(audit):
    """Every draw that may come next, with its chance."""
    now = audit.prepare()  # the plan stays, so that it is not made again for each draw
    left = audit._urns.left
    mass = left * now.q
    correct = float(now.correct)
    for bin_, count in enumerate(left.astype(int).tolist()):
        for place in range(count):
            at = (2 * place + 1 << 127) // count
            if bin_ == int(now.target) and correct > 0:
                yield correct / count, DrawPoint(0.0, 0.0, at)
            if correct < 1 and now.q[bin_] > 0:
                middle = (mass[:bin_].sum() + mass[bin_] / 2) / mass.sum()
                # The chance that is stated, not the one that it comes to after division.
                yield (1 - correct) * float(now.q[bin_]), DrawPoint(1.0 - 2.0**-53, middle, at)


def walk(audit, errors, chance=1.0):
    """Every path: its chance and the state after each draw."""
    yield chance, audit
    if not audit.left:
        return
    for step, point in children(audit):
        follower = copy.deepcopy(audit)
        drawn = follower.draw(point)
        follower.hear(len(follower.draws) - 1, bool(errors[drawn.task]))
        yield from walk(follower, errors, chance * step)


def mean_evidence(audit, errors):
    """Mean of K at the true T after each number of draws, up to where the claim has come true."""
    total = sum(errors)
    means = dict.fromkeys(range(audit.tasks + 1), 0.0)
    for chance, reached in walk(audit, errors):
        finds = np.cumsum([0, *map(bool, reached.heard)])
        false = int((total - finds[:-1] > reached.most).sum())
        log = float(bets.log_evidence(*reached._counted(false), total))
        means[reached.counted] += chance * math.exp(log)
        if total - finds[-1] > reached.most:
            assert reached.evidence <= log + 1e-12
    return means


def error_sets(audit):
    """Every set of errors that holds the tasks without an answer."""
    sure = audit.strata.sure[audit.strata.bin]
    for errors in itertools.product((False, True), repeat=audit.tasks):
        if all(wrong for wrong, certain in zip(errors, sure, strict=True) if certain):
            yield errors


@pytest.fixture
def often(monkeypatch):
    """A plan after every second check: paths are short."""
    monkeypatch.setattr(design, "EVERY", 2)
    monkeypatch.setattr(design, "GROWTH", 1.0)


@pytest.mark.parametrize(("sizes", "sure"), [((1, 1), 0), ((2, 1), 1)])
def test_evidence_has_mean_one_under_the_truth(often, sizes, sure):
    audit = made_state(sizes, sure)
    for errors in error_sets(audit):
        for mean in mean_evidence(audit, errors).values():
            assert mean == pytest.approx(1.0, abs=1e-12)


@pytest.mark.release
@pytest.mark.parametrize(
    ("sizes", "sure"), [((1, 2), 0), ((1, 1, 1), 0), ((3,), 0), ((2, 2), 0), ((1, 2, 1), 1)]
)
def test_evidence_has_mean_one_under_the_truth_of_more_tasks(often, sizes, sure):
    audit = made_state(sizes, sure)
    for errors in error_sets(audit):
        for mean in mean_evidence(audit, errors).values():
            assert mean == pytest.approx(1.0, abs=1e-12)


BROKEN = {
    "a forecast left out": ("expected", lambda *a, good: good(*a) * 0.9),
    "chances not of all that are left": ("chances", lambda *a, good: good(*a) * 0.97),
    "bets that know nothing of the past": (
        "chances",
        lambda r, n, s, e, w, good: good(1 - r, n, s, e, w) * 1.02,
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_wrong_formula_is_seen(often, monkeypatch, name):
    attribute, broken = BROKEN[name]
    good = getattr(bets, attribute)
    monkeypatch.setattr(bets, attribute, lambda *a: broken(*a, good=good))
    audit = made_state((1, 1), 0)
    off = [
        abs(mean - 1)
        for errors in error_sets(audit)
        for mean in mean_evidence(audit, errors).values()
    ]
    assert max(off) > 1e-4


@pytest.mark.release
@pytest.mark.parametrize(("error", "risk"), [(0.0001, 0.5), (0.26, 0.4)])
def test_no_false_certificate_beyond_the_risk(often, error, risk):
    worst = 0.0
    audit = made_state((2, 2), 0, error=error, risk=risk)
    for errors in [(True, False, False, False), (True, True, False, False), (False,) * 3 + (True,)]:
        false = 0.0

        def follow(reached, chance, errors=errors):
            nonlocal false
            if reached.certified:
                false += chance * (sum(errors) - reached.corrected > reached.most)
                return
            for step, point in children(reached) if reached.left else ():
                follower = copy.deepcopy(reached)
                drawn = follower.draw(point)
                follower.hear(len(follower.draws) - 1, bool(errors[drawn.task]))
                follow(follower, chance * step)

        follow(audit, 1.0)
        worst = max(worst, false)
    assert worst <= risk


@pytest.mark.parametrize("seed", some(range(30), 3))
def test_the_theorem_in_fractions(seed):
    """One step, any chances, forecasts and errors: every factor has mean 1, exactly."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    weight = [Fraction(int(x)) for x in rng.integers(1, 50, n)]
    q = [w / sum(weight) for w in weight]
    r = [Fraction(int(x), 100) for x in rng.integers(1, 100, n)]
    found = int(rng.integers(0, 5))
    known = int(rng.integers(0, n))
    largest = 1 / max(sum(r) + max((1 - r[j]) / q[j] for j in range(n)) - known, Fraction(1, 100))
    for errors in itertools.product((0, 1), repeat=n):
        total = found + sum(errors)
        estimate = [found + sum(r) + (errors[j] - r[j]) / q[j] for j in range(n)]
        for fraction in (Fraction(98, 100), Fraction(1, 3)):
            factor = [1 + fraction * largest * (total - a) for a in estimate]
            assert sum(x * y for x, y in zip(q, factor, strict=True)) == 1
            assert min(factor) > 0 or sum(errors) < known


def random_bins(rng):
    count = int(rng.integers(1, 6))
    left = rng.integers(0, 30, count).astype(float)
    left[0] += 1
    sure = np.zeros(count, dtype=bool)
    sure[-1] = count > 1 and rng.random() < 0.4
    return rng.uniform(LEAST_RATE, 1 - LEAST_RATE, count), left, sure


@pytest.mark.parametrize("seed", some(range(40), 4))
def test_chances_sum_to_one_and_every_factor_is_positive_and_grows(seed):
    rng = np.random.default_rng(seed)
    rate, left, sure = random_bins(rng)
    q = bets.chances(rate, left, sure, bets.EVEN)
    assert (left * q).sum() == pytest.approx(1.0, abs=1e-13)
    assert (q[(left > 0) & ~sure] > 0).all()
    assert (q[sure] == 0).all()
    known = int(rng.integers(0, (left * sure).sum() + left[~sure].sum() + 1))
    bet = bets.largest_bet(rate, q, left, sure, known)
    base = bets.expected(rate, left, sure)
    for wrong in (0, 1):
        drawn = (left > 0) & ~sure
        estimate = base + (wrong - rate[drawn]) / q[drawn]
        least = 1 + bets.FRACTIONS[:, None] * bet * (known - estimate)
        assert (least > 0.019).all()  # at T = S + known, the least there can be
    estimate = base + (1 - rate[left > 0][:1]) / q[left > 0][:1] if not sure[0] else np.zeros(1)
    series = estimate, np.array([bet]), np.array([0.7])
    values = [float(bets.log_evidence(*series, T)) for T in range(known, known + 20)]
    assert values == sorted(values)


def test_bets_weigh_one_in_all():
    assert bets.WEIGHTS.sum() == pytest.approx(1.0, abs=1e-15)
    assert len(bets.WEIGHTS) - 1 == len(bets.FRACTIONS) == 12
    assert 0 < bets.FRACTIONS.min() < bets.FRACTIONS.max() < 1


@pytest.mark.parametrize("seed", some(range(20), 3))
def test_the_bet_of_a_draw_grows_fastest(seed):
    rng = np.random.default_rng(seed)
    rate, left, _ = random_bins(rng)
    sure = np.zeros(len(left), dtype=bool)
    q = bets.chances(rate, left, sure, bets.EVEN)
    bet = bets.largest_bet(rate, q, left, sure, 0.0)
    spare = np.asarray(rng.uniform(-1, 2) * (left * rate).sum())
    low, high = bets.OWN_RANGE

    def growth(fraction):
        bins = left > 0
        x = bet * np.array([spare + rate / q, spare - (1 - rate) / q])[:, bins]
        chance = (left * q * np.array([1 - rate, rate]))[:, bins]
        return (chance * np.log1p(fraction * x)).sum()

    best = growth(float(bets.own_fraction(rate, q, left, bet, spare)))
    assert best >= max(growth(f) for f in np.linspace(low, high, 400)) - 1e-5


@pytest.mark.parametrize("seed", some(range(60), 4))
def test_the_least_number_refuted(seed):
    rng = np.random.default_rng(seed)
    t, least, more = int(rng.integers(0, 40)), int(rng.integers(1, 9)), int(rng.integers(-2, 60))
    estimate, bet = rng.normal(8, 6, t), rng.random(t) * 0.02
    own = rng.random(t)
    need, near = float(rng.random() * 3), int(rng.integers(0, 90))
    refuted = [
        T for T in range(least, least + more) if bets.log_evidence(estimate, bet, own, T) >= need
    ]
    expected = min(refuted, default=least + more)
    assert bets.refuted_from((estimate, bet, own), least, least + more - 1, need, near) == expected


def test_how_many_may_be_wrong_is_read_as_a_decimal():
    assert most_wrong(0.29, 100) == 29  # 0.29 × 100 is 28.999… as floats
    assert most_wrong(0.1, 30) == 3
    assert most_wrong(0.07, 100) == 7


def test_the_order_of_words_has_no_bearing_on_the_evidence():
    def run(order):
        audit = made_state((5, 4, 3), error=0.2)
        for number in range(6):
            audit.draw(DrawPoint(0.9, 0.1 + 0.14 * number, number << 120))
        for number in order:
            audit.hear(number, number in (1, 4))
        return audit.evidence, audit.bound(), audit.certified

    assert run(range(6)) == run([5, 3, 1, 0, 2, 4])


def test_what_waits_does_not_count():
    audit = made_state((5, 4, 3), error=0.2)
    for number in range(3):
        audit.draw(DrawPoint(0.9, 0.3, number << 126))
    audit.hear(1, False)
    audit.hear(2, False)
    assert audit.counted == 0
    assert audit.evidence == 0
    assert audit.bound() == audit.tasks
    audit.hear(0, False)
    assert audit.counted == 3


def test_a_refusal_is_wrong_and_stays_so():
    audit = made_state((4,), error=0.26, risk=0.4)  # one of four may be wrong
    for number in range(4):
        audit.draw(DrawPoint(0.9, 0.5, 0))
        audit.hear(number, True, refused=True)
        assert audit.bound() >= number + 1
    assert not audit.certified
    audit = made_state((4,), error=0.26, risk=0.4)
    for number in range(3):
        audit.draw(DrawPoint(0.9, 0.5, 0))
        audit.hear(number, True)
    assert audit.certified
    assert audit.bound() <= 1


def test_evidence_is_kept_as_it_is_computed_anew():
    rng = np.random.default_rng(5)
    audit = made_state((30, 20, 10), error=0.1, risk=0.05)
    for number in range(50):
        audit.draw(DrawPoint(*rng.random(2), int(rng.integers(2**62)) << 66))
        audit.hear(number, bool(rng.random() < 0.2), refused=bool(rng.random() < 0.02))
        anew = bets.log_evidence(*audit._counted(), audit.tested)
        assert audit.evidence == pytest.approx(float(anew), abs=1e-9)
    rows = audit.bounds(10_000)
    assert rows[0] == (0, 60)
    assert rows[-1][0] == 50
    assert state.ROUNDING > 0
