"""Errors measured on gold: against plain nested loops, SciPy, and crowds that break the model."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import betabinom, binomtest

from tests.core.release import some
from workbench.accuracy.error_rate import vote_error
from workbench.accuracy.measured import (
    LISTED,
    MajorityError,
    count_errors,
    difference,
    error_interval,
    expected_radius,
    folds,
    least_rmse,
    majority_error,
    measure_error,
)
from workbench.aggregation.labelling import KnownBeforehand, label_tasks
from workbench.aggregation.vote_rules import vote_rule
from workbench.aggregation.voting import linear_weights, log_odds_weights
from workbench.assignment.joint_rules import joint_plan_rule
from workbench.assignment.plan_rules import PlanTerms, plan_rule
from workbench.base.errors import InputError
from workbench.crowd.empirical_bayes import pooled_skills
from workbench.crowd.gold_rule import FittedRule, RuleLabels, VotesByTask, chances
from workbench.crowd.votes import Votes
from workbench.selection.hire import HireOptions, hire
from workbench.selection.hire_rules import hire_rule
from workbench.selection.hired_vote import HiredVote
from workbench.selection.scoring import scores
from workbench.selection.selecting import select


def crowd(rng, tasks=60, workers=7, skill=0.75, missing=0.3, classes=2, hard=0.0):
    """A label table and truth; on a share `hard` of the tasks everybody errs together."""
    truth = rng.integers(classes, size=tasks)
    right = rng.random((tasks, workers)) < skill
    right[rng.random(tasks) < hard] = False
    other = (truth[:, None] + rng.integers(1, classes, size=right.shape)) % classes
    label = np.where(right, truth[:, None], other)
    task, worker = np.nonzero(rng.random(right.shape) >= missing)
    table = pd.DataFrame(
        {
            "task": [f"t{i}" for i in task],
            "worker": [f"w{j}" for j in worker],
            "label": [f"c{k}" for k in label[task, worker]],
        }
    )
    names = [f"t{i}" for i in range(tasks)]
    votes = Votes.of(
        table,
        tasks=names,
        workers=[f"w{j}" for j in range(workers)],
        classes=[f"c{k}" for k in range(classes)],
    )
    return table, votes, truth


def hidden(truth, control):
    gold = np.full(len(truth), -1)
    gold[control] = truth[control]
    return gold


class Spy(FittedRule):
    """A rule that notes which gold it saw, and is right by coins that depend on it."""

    def __init__(self, truth, rng):
        self.truth, self.rng, self.seen = truth, rng, []

    def __call__(self, gold):
        self.seen.append(gold.copy())
        return self

    def label(self, tasks):
        self.asked = tasks
        if len(self.seen) > 1:
            assert (self.seen[-1][tasks] == -1).all()
        chance = np.zeros((len(tasks), 2))
        chance[np.arange(len(tasks)), self.truth[tasks]] = 1.0
        return RuleLabels(chance)

    def independent_error(self, tasks):
        return np.full(len(tasks), 0.25)


@pytest.mark.parametrize("controls", [1, 2, 7, 20, 21, 130])
def test_every_control_task_is_hidden_once_and_nothing_else(controls):
    rng = np.random.default_rng(controls)
    truth = rng.integers(2, size=200)
    control = rng.permutation(200)[:controls]
    spy = Spy(truth, rng)
    found = measure_error(spy, hidden(truth, control))
    times = np.zeros(200, dtype=int)
    for seen in spy.seen[1:]:
        times += (hidden(truth, control) >= 0) & (seen < 0)
    assert (times[control] == 1).all()
    assert times.sum() == controls
    assert found.folds == len(spy.seen) - 1 == min(controls, 20)
    assert found.tasks_measured == controls
    assert found.tasks_left == 200 - controls
    assert found.wrong == 0
    assert found.error_independent == 0.25


def test_without_control_tasks_nothing_is_measured():
    truth = np.zeros(20, dtype=int)
    found = measure_error(Spy(truth, None), np.full(20, -1))
    assert found.error_measured is None
    assert found.error_independent == pytest.approx(0.25)
    assert found.tasks_measured == found.folds == 0
    low, high = found.error_interval
    assert low <= 0.05
    assert high >= 0.95


@pytest.mark.parametrize(
    ("method", "classes"),
    some(
        [
            ("weighted-log-odds", 4),
            ("weighted-log-odds", 2),
            ("majority", 4),
            ("weighted-linear", 2),
            ("weighted-linear", 4),
            ("majority", 2),
        ],
        3,
    ),
)
def test_votes_are_measured_as_by_labelling_again_without_each_task(method, classes):
    rng = np.random.default_rng(classes)
    table, votes, truth = crowd(rng, classes=classes, missing=0.5)
    present = set(table["task"])
    control = [i for i in rng.permutation(60)[:12] if f"t{i}" in present]
    wrong = []
    for i in control:
        rest = pd.Series({f"t{j}": f"c{truth[j]}" for j in control if j != i})
        asked = pd.Series({f"t{i}": f"c{truth[i]}"})
        known = KnownBeforehand(rest if method != "majority" else None, asked)
        wrong.append(1.0 - label_tasks(table, method, known, seed=0).accuracy)
    found = measure_error(vote_rule(votes, method), hidden(truth, control))
    assert found.wrong == pytest.approx(sum(wrong))
    assert found.tasks_measured == len(control)


def test_hiring_is_measured_as_by_hiring_again_without_each_task():
    rng = np.random.default_rng(5)
    table, votes, truth = crowd(rng, workers=9, skill=rng.uniform(0.5, 0.95, 9), missing=0.2)
    control = np.arange(15)

    def choose(answers):
        known = scores(answers.correct, answers.answered, 2)
        chosen = select(known, 4, seed=0, by_evidence=True).chosen
        return HiredVote(chosen, linear_weights(known.skill[chosen], 2))

    wrong, tasks = 0.0, 0
    for i in control:
        rest = pd.Series({f"t{j}": f"c{truth[j]}" for j in control if j != i})
        hired = hire(table, rest, 4, HireOptions("selected", allow_below_chance=True))
        skill = hired.table.set_index("worker")["skill"]
        lead = dict.fromkeys("01", 0.0)
        mine = table[(table["task"] == f"t{i}") & table["worker"].isin(hired.chosen)]
        for row in mine.itertuples():
            lead[row.label[1]] += 2 * skill[row.worker] - 1
        tasks += 1
        wrong += len(mine) == 0
        true = str(truth[i])
        if len(mine):
            ahead = lead[true] - max(v for k, v in lead.items() if k != true)
            wrong += 0.5 if abs(ahead) < 1e-9 else float(ahead < 0)
    found = measure_error(hire_rule(votes, choose), hidden(truth, control))
    assert found.wrong == pytest.approx(wrong)
    assert found.tasks_measured == tasks


@pytest.mark.release
def test_the_measure_sees_hard_tasks_where_the_model_does_not():
    measured, alone, actual, kept = [], [], [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        _, votes, truth = crowd(rng, tasks=240, workers=9, skill=0.85, missing=0.1, hard=0.15)
        control = rng.permutation(240)[:40]
        gold = hidden(truth, control)
        rule = vote_rule(votes, "weighted-log-odds")
        found = measure_error(rule, gold)
        left = np.flatnonzero(gold < 0)
        actual.append(np.nanmean(rule(gold).label(left).loss(truth[left])))
        measured.append(found.error_measured)
        alone.append(found.error_independent)
        kept.append(np.nanmean(rule(gold).label(control).loss(truth[control])))
    assert np.mean(actual) == pytest.approx(0.15, abs=0.02)
    assert np.mean(alone) < 0.05
    assert np.mean(measured) == pytest.approx(np.mean(actual), abs=0.03)


@pytest.mark.release
def test_a_choice_that_is_kept_judges_itself_too_well():
    """The broken formula: without fitting anew the chosen look better than they are."""
    anew, kept, actual = [], [], []
    for seed in range(24):
        rng = np.random.default_rng(seed)
        _, votes, truth = crowd(rng, tasks=200, workers=40, skill=0.6, missing=0.0)
        control = np.arange(10)
        gold = hidden(truth, control)

        def choose(answers):
            chosen = np.argsort(-answers.correct, kind="stable")[:3]
            return HiredVote(chosen, np.ones(3))

        rule = hire_rule(votes, choose)
        found, left = measure_error(rule, gold), np.flatnonzero(gold < 0)
        anew.append(found.wrong / found.tasks_measured)
        kept.append(rule(gold).label(control).loss(truth[control]).mean())
        actual.append(rule(gold).label(left).loss(truth[left]).mean())
    doubt = np.std(anew) / np.sqrt(24)
    assert np.mean(anew) == pytest.approx(np.mean(actual), abs=3 * doubt)
    assert np.mean(kept) < np.mean(actual) - 6 * doubt


@given(
    st.integers(0, 60), st.floats(0, 1), st.integers(1, 400), st.floats(0, 1), st.floats(0.5, 0.99)
)
@settings(max_examples=40, deadline=None)
def test_the_interval_is_scipys_beta_binomial(tasks, share, left, unstable, confidence):
    wrong = share * tasks
    low, high = error_interval(wrong, tasks, left, confidence=confidence)
    law = betabinom(left, wrong + 0.5, tasks - wrong + 0.5)
    tail = (1 - confidence) / 2
    assert law.cdf(low * left - 1 + 1e-6) <= tail + 1e-9
    assert law.sf(high * left + 1e-6) <= tail + 1e-9
    if low > 0:  # no narrower one would do
        assert law.cdf(low * left + 1e-6) >= tail - 1e-9
    wide = error_interval(wrong, tasks, left, unstable=unstable, confidence=confidence)
    spread = wide[1] - wide[0]
    assert spread >= high - low - 2.0 / left or tasks == 0


def test_many_tasks_left_are_as_any_number_of_them():
    many = error_interval(4, 40, LISTED)
    any_number = error_interval(4, 40, None)
    assert many == pytest.approx(any_number, abs=1e-3)
    assert error_interval(4, 40, LISTED + 1) == any_number


def test_impossible_counts_are_told():
    with pytest.raises(InputError, match="wrong is 3 of 2 tasks"):
        error_interval(3, 2, 10)


@pytest.mark.parametrize("error", some([0.03, 0.1, 0.25, 0.45], 3))
def test_of_independent_tasks_the_interval_holds_nine_in_ten(error):
    rng = np.random.default_rng(7)
    held = []
    for controls in (10, 40, 100):
        for _ in range(300):
            wrong = rng.random(controls + 300) < error
            low, high = error_interval(wrong[:controls].sum(), controls, 300)
            held.append(low <= wrong[controls:].mean() <= high)
    assert 0.86 <= np.mean(held) <= 0.96


@pytest.mark.parametrize("seed", range(5))
def test_the_measured_error_is_the_share_of_wrong_labels_and_drawn_toward_nothing(seed):
    """Ten votes by hand, whatever the model believes of them."""
    rng = np.random.default_rng(seed)
    _, votes, truth = crowd(rng, tasks=40, skill=0.6)
    gold = hidden(truth, rng.permutation(40)[:25])
    found = measure_error(vote_rule(votes, "majority"), gold, most_folds=25)
    wrong = []
    for task in np.flatnonzero(gold >= 0):
        counts = np.bincount(votes.label[votes.task == task], minlength=2)
        best = np.flatnonzero(counts == counts.max())
        wrong.append(1 - (truth[task] in best) / len(best) if counts.sum() else 1.0)
    assert found.error_measured == pytest.approx(np.mean(wrong))
    assert found.wrong == pytest.approx(np.sum(wrong))
    assert len(found.counted) == found.tasks_measured == len(wrong)


@pytest.mark.parametrize("seed", range(5))
def test_everybodys_majority_counts_ties_by_their_share_and_no_label_as_wrong(seed):
    rng = np.random.default_rng(seed)
    table, votes, truth = crowd(rng, tasks=30, workers=4, classes=3, missing=0.5)
    chosen = rng.permutation(30)[:12]
    wrong, labels = [], 0
    for task in chosen:
        own = table["label"][table["task"] == f"t{task}"].value_counts()
        best = set(own.index[own == own.max()])
        wrong.append(1 - (f"c{truth[task]}" in best) / max(len(best), 1))
        labels += int(own.sum())
    found = majority_error(votes, truth, chosen)
    assert found.error == pytest.approx(np.mean(wrong))
    assert (found.labels, found.tasks) == (pytest.approx(labels / 12), 12)
    in_order = np.array(wrong)[np.argsort(chosen)]
    assert found.loss == pytest.approx(in_order)
    assert majority_error(votes, truth, np.zeros(0, dtype=int)) is None


def test_a_task_without_an_answer_is_wrong():
    found = count_errors(np.array([0.0, np.nan, 0.5, np.nan]), np.array([3, 1, 2, 8]), 10)
    assert (found.wrong, found.blank, found.tasks_measured) == (2.5, 2, 4)
    assert found.error_measured == 0.625
    assert found.error_interval == error_interval(2.5, 4, 10)
    assert found.loss.tolist() == [0.0, 1.0, 0.5, 1.0]


def test_blank_tasks_of_a_rule_are_counted_among_all_tasks_and_change_nothing():
    """The rule answers one task in two, whether it knows their gold or not."""
    truth = np.arange(40) % 2

    def rule(gold):
        fitted = Spy(truth, None)
        fitted.label = lambda tasks: RuleLabels(
            np.where((tasks % 4 < 2)[:, None], np.eye(2)[truth[tasks]], np.nan)
        )
        return fitted

    found = measure_error(rule, hidden(truth, np.arange(20)))
    assert (found.error_measured, found.blank, found.unstable) == (0.5, 10, 0.0)
    assert found.tasks_left == 20


def compared(worse):
    """Differences of losses, task by task, as measured and majority in different orders."""
    worse = np.asarray(worse, dtype=float)
    order = np.random.default_rng(1).permutation(len(worse))
    base = np.where(worse < 0, 1.0, 0.0)
    measured = count_errors((base + worse)[order], order)
    return difference(measured, MajorityError(float(base.mean()), 3.0, base))


@pytest.mark.parametrize(
    ("only_one", "only_other", "beyond"),
    [(6, 0, False), (8, 0, True), (20, 8, False), (24, 6, True)],
)
def test_a_difference_is_beyond_chance_where_the_exact_test_says_so_at_one_in_a_hundred(
    only_one, only_other, beyond
):
    """McNemar's exact test on the tasks where one of two alone errs."""
    found = compared([1.0] * only_one + [-1.0] * only_other + [0.0] * 70)
    exact = binomtest(only_one, only_one + only_other).pvalue
    assert (exact < 0.01) == beyond
    assert found.beyond_chance == beyond
    assert found.more == pytest.approx((only_one - only_other) / (only_one + only_other + 70))
    assert found.low < found.more < found.high


def test_two_that_never_differ_are_not_proven_alike():
    found = compared(np.zeros(40))
    assert found.more == 0.0
    assert found.low == pytest.approx(-found.high)
    assert 0.0 < found.high < 0.1
    assert not found.beyond_chance


@pytest.mark.release
@pytest.mark.parametrize("better", [0.0, 0.04])
def test_the_interval_of_a_difference_holds_and_chance_is_rarely_denied(better):
    """Paired errors that hang together: of 4,000 draws the interval holds nine in ten or more."""
    rng = np.random.default_rng(5)
    held, denied = [], []
    for tasks in (30, 100):
        for _ in range(2000):
            kind = rng.choice(4, tasks, p=[0.7, 0.1, 0.1 + better / 2, 0.1 - better / 2])
            found = compared(np.array([0.0, 0.0, -1.0, 1.0])[kind])
            held.append(found.low <= -better <= found.high)
            denied.append(found.beyond_chance)
    assert 0.88 <= np.mean(held) <= 0.97
    if not better:
        assert np.mean(denied) < 0.015


def test_folds_part_the_tasks():
    for tasks, most in ((0, 5), (3, 5), (17, 5), (100, 50)):
        parts = folds(tasks, most, seed=1)
        joined = np.sort(np.concatenate([*parts, np.zeros(0, dtype=int)]))
        assert joined.tolist() == list(range(tasks))
        sizes = [len(part) for part in parts]
        assert not sizes or max(sizes) - min(sizes) <= 1


def test_votes_are_found_by_task():
    rng = np.random.default_rng(3)
    _, votes, truth = crowd(rng, missing=0.8)
    by_task = VotesByTask(votes)
    tasks = rng.permutation(60)[:20]
    rows, place = by_task.rows(tasks)
    laid = sorted(zip(place, by_task.votes.worker[rows], by_task.votes.label[rows], strict=True))
    plain = sorted(
        (int(np.flatnonzero(tasks == i)[0]), j, k)
        for i, j, k in zip(votes.task, votes.worker, votes.label, strict=True)
        if i in tasks
    )
    assert laid == plain
    correct, answered = by_task.answers(hidden(truth, tasks))
    for j in range(7):
        mine = (votes.worker == j) & np.isin(votes.task, tasks)
        assert answered[j] == mine.sum()
        assert correct[j] == (votes.label[mine] == truth[votes.task[mine]]).sum()


def test_ties_share_the_chance_and_silence_has_none():
    share = chances(np.array([0, 0, 2, 2, 2]), np.array([0, 1, 1, 1, 0]), np.ones(5), (3, 3))
    assert share[0].tolist() == [0.5, 0.5, 0.0]
    assert np.isnan(share[1]).all()
    assert share[2].tolist() == [0.0, 1.0, 0.0]


def test_pooled_skills_find_the_crowd_they_were_drawn_from():
    rng = np.random.default_rng(0)
    skill = rng.beta(8, 2, 400)
    answered = rng.integers(0, 12, 400)
    correct = rng.binomial(answered, skill)
    pooled = pooled_skills(correct, answered)
    assert pooled[answered == 0] == pytest.approx(0.8, abs=0.04)
    share = np.where(answered > 0, correct / np.maximum(answered, 1), 0.5)
    assert ((pooled - skill) ** 2).mean() < 0.6 * ((share - skill) ** 2).mean()
    assert pooled_skills([0, 0], [0, 0]).tolist() == [0.5, 0.5]


def test_a_plan_buys_the_cheapest_gain_until_the_requirement_is_met():
    rng = np.random.default_rng(2)
    _, votes, truth = crowd(rng, tasks=80, workers=12, skill=rng.uniform(0.55, 0.95, 12))
    gold = hidden(truth, np.arange(24))
    terms = PlanTerms(np.array([0.2]), np.full(12, 40), np.array([80]), gain="hoeffding")
    fitted = plan_rule(votes, terms)(gold)
    left = np.arange(40, 80)
    found = fitted.label(left)
    correct, answered = VotesByTask(votes).answers(gold)
    skill = pooled_skills(correct, answered)
    gain, need = (2 * skill - 1) ** 2, 2 * np.log(1 / 0.2)
    for place, i in enumerate(left):
        there = votes.worker[votes.task == i]
        total = gain[there].sum()
        assert found.met[place] == (total >= need - 1e-9)
        rows, _, met = fitted._bought(np.array([i]))
        bought = fitted.by_task.votes.worker[rows]
        assert set(bought) <= set(there)
        reached = gain[bought].sum()
        assert met[0] == (reached >= need - 1e-9)
        if found.met[place]:  # not one label more than it takes
            assert reached - gain[bought[-1]] < need
        rate = fitted.rate[0]
        unbought = np.setdiff1d(there, bought)
        if len(unbought) and len(bought):
            assert rate[bought].max() <= rate[unbought].min() + 1e-9


def test_a_plan_of_exact_errors_buys_until_the_vote_errs_as_seldom_as_a_planned_one():
    rng = np.random.default_rng(2)
    _, votes, truth = crowd(rng, tasks=60, workers=12, skill=rng.uniform(0.55, 0.95, 12))
    target = np.array([0.04, 0.1, 0.3])
    terms = PlanTerms(np.array([0.2]), np.full(12, 40), np.array([60]), errors=(target,))
    fitted = plan_rule(votes, terms)(hidden(truth, np.arange(24)))
    asked = set()
    for i in range(40, 60):
        rows, _, met = fitted._bought(np.array([i]))
        skill = fitted.skill[0, fitted.by_task.votes.worker[rows]]
        error = vote_error(skill, log_odds_weights(skill)).probability
        asked.add(float(fitted.target[i]))
        if met[0]:
            assert error <= fitted.target[i] + 1e-9
            fewer = vote_error(skill[:-1], log_odds_weights(skill[:-1])).probability
            assert not len(skill) or fewer > fitted.target[i]
        else:  # all who answered, and still not enough
            assert len(rows) == (votes.task == i).sum()
    assert asked == set(target.tolist())


def test_scarce_workers_are_spared_where_their_time_has_a_price():
    """Of two gains alike but for capacity, the rule takes the one with time to spare."""
    rng = np.random.default_rng(4)
    _, votes, truth = crowd(rng, tasks=60, workers=6, skill=0.9, missing=0.0)
    gold = hidden(truth, np.arange(60))
    capacity = np.array([5, 5, 5, 60, 60, 60])
    fitted = plan_rule(votes, PlanTerms(np.array([0.2]), capacity, np.array([60])))(gold)
    assert fitted.rate[0, :3].min() > 0
    assert np.isfinite(fitted.rate).all()
    plain = 1.0 / fitted.worth[0]
    assert (fitted.rate[0] >= plain - 1e-9).all()
    assert fitted.rate[0, 3:] == pytest.approx(plain[3:])


def test_of_several_classes_a_plan_takes_sets_that_keep_the_promise():
    rng = np.random.default_rng(3)
    _, votes, truth = crowd(rng, tasks=160, classes=3, skill=rng.uniform(0.5, 0.9, 7))
    with pytest.raises(InputError, match="this rule takes two"):
        plan_rule(votes, PlanTerms(np.array([0.1]), np.full(7, 10), np.array([60])))
    gold, capacity = hidden(truth, np.arange(100)), np.full(7, 40)
    rule = joint_plan_rule(votes, PlanTerms(np.array([0.4]), capacity, np.array([60])))
    fitted, left = rule(gold), np.arange(100, 160)
    assert fitted.time.max() > 0
    found, wrong = fitted.label(left), fitted.independent_error(left)
    for place, i in enumerate(left):
        own = votes.task == i
        there = dict(zip(votes.worker[own].tolist(), votes.label[own].tolist(), strict=True))
        kept = {}
        for size in range(len(there) + 1):
            for who in itertools.combinations(sorted(there), size):
                if fitted.problem.error(0, np.isin(np.arange(7), who)) <= 0.4:
                    kept[who] = sum(1.0 + fitted.time[j] for j in who)
        assert found.met[place] == bool(kept)
        cheap = [who for who, cost in kept.items() if cost <= 1.1 * min(kept.values())]
        for who in cheap or [tuple(there)]:
            likely = fitted.prior * np.prod(
                [fitted.confusion[0, j, :, there[j]] for j in who], axis=0
            )
            if wrong[place] == pytest.approx(1 - likely.max() / likely.sum()):
                assert found.chance[place] == pytest.approx((likely == likely.max()) * 1.0)
                break
        else:
            pytest.fail(f"task {i}: no cheap set votes so")


def test_the_same_seed_gives_the_same_measure():
    rng = np.random.default_rng(8)
    _, votes, truth = crowd(rng, tasks=150)
    gold = hidden(truth, np.arange(70))
    rule = plan_rule(votes, PlanTerms(np.array([0.2]), np.full(7, 60), np.array([80])), seed=3)
    one, two = (measure_error(rule, gold, most_folds=7, seed=5) for _ in range(2))
    assert repr(one) == repr(two)
    assert 0 <= one.met <= 1


@pytest.mark.parametrize(("controls", "tasks", "error"), [(20, 120, 0.15), (80, 400, 0.05)])
def test_what_gold_buys_is_what_the_intervals_of_real_gold_are_wide(controls, tasks, error):
    """The line of `check` against intervals of gold drawn among tasks whose votes err so often."""
    rng, width, held, off = np.random.default_rng(5), [], [], []
    for _ in range(400):
        wrong = rng.random(tasks) < error
        low, high = error_interval(float(wrong[:controls].sum()), controls, tasks - controls)
        width.append(high - low)
        held.append(low <= wrong[controls:].mean() <= high)
        off.append(wrong[:controls].mean() - wrong[controls:].mean())
    said = expected_radius(error, controls, tasks - controls)
    assert abs(np.mean(width) / 2 - said) < 4 * np.std(width) / 2 / 20 + 0.02 * said
    assert np.mean(held) > 0.9 - 3 * np.sqrt(0.09 / 400)
    floor = least_rmse(error, controls, tasks - controls)
    assert np.sqrt(np.mean(np.square(off))) == pytest.approx(floor, rel=0.12)
    half = expected_radius(error, controls, None) / 2
    assert expected_radius(error, 4 * controls, None) == pytest.approx(half, rel=0.15)
