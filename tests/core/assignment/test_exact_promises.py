"""Exact errors held to ε: against the cheapest of all plans, and never above what was asked."""

import itertools

import numpy as np
import pandas as pd
import pytest

from crowd_models.gains import gain_of
from tests.core.release import some
from workbench.accuracy.error_rate import vote_errors
from workbench.accuracy.likeliest import likeliest_error
from workbench.aggregation.voting import log_odds_weights
from workbench.assignment import two_classes
from workbench.assignment.cover_plan import TopUp
from workbench.assignment.make_plan import AssignmentTerms, Confusions, confusions, make_plan
from workbench.assignment.two_classes import TwoClasses
from workbench.base.errors import InputError
from workbench.solving import Solution, Termination
from workbench.solving.exact_error import TooManySetsError
from workbench.solving.highs import RunOptions

CLOSE = 1 + 1e-9


def cheapest(skill, tasks, capacity, epsilon, *, mean=False):
    """Fewest labels of all plans that keep epsilon, of each task or in the mean; None for none."""
    limit = (2 if mean else 1) * epsilon
    sets = np.array(list(itertools.product([False, True], repeat=len(skill))))
    one = np.broadcast_to(skill, sets.shape)
    errors = vote_errors(one, log_odds_weights(one), sets)[0]
    fine = [(s, e) for s, e in zip(sets, errors, strict=True) if e <= limit * CLOSE]
    totals = [
        sum(int(s.sum()) for s, _ in plan)
        for plan in itertools.product(fine, repeat=tasks)
        if (sum(s.astype(int) for s, _ in plan) <= capacity).all()
        and sum(e for _, e in plan) <= tasks * limit / (2 if mean else 1) * CLOSE
    ]
    return min(totals, default=None)


def planned(skill, epsilon, promise="each"):
    terms = AssignmentTerms(2, epsilon, promise=promise)
    return make_plan(pd.Series(skill), pd.Series("all", index=["a", "b"]), terms)


@pytest.mark.parametrize("seed", some(range(12), 3))
def test_small_crowds_against_all_plans(seed):
    rng = np.random.default_rng(seed)
    skill, epsilon = rng.uniform(0.55, 0.95, 4), rng.uniform(0.04, 0.35)
    best = cheapest(skill, 2, 2, epsilon)
    made = planned(skill, epsilon)
    if best is None:
        assert not len(made.table)
        assert made.message.startswith("There is no plan")
        return
    assert made.message is None
    assert made.error_exact.max() <= epsilon * CLOSE
    assert len(made.table) == best
    assert made.claim.proven


@pytest.mark.parametrize("seed", some(range(8), 3))
def test_small_crowds_in_the_mean_against_all_plans(seed):
    rng = np.random.default_rng(seed)
    skill, epsilon = rng.uniform(0.6, 0.95, 4), rng.uniform(0.08, 0.3)
    best = cheapest(skill, 2, 2, epsilon, mean=True)
    made = planned(skill, epsilon, "mean")
    if best is None:
        assert not len(made.table)
        assert made.message is not None
        return
    assert made.error_exact.mean() <= epsilon * CLOSE
    assert made.error_exact.max() <= 2 * epsilon * CLOSE
    assert len(made.table) == best
    assert made.claim.bound <= best * CLOSE


def test_of_two_classes_told_apart_alike_the_worst_class_is_any():
    """Ties are settled by lot, so the vote errs as often whichever class is true."""
    rng = np.random.default_rng(5)
    for _ in range(3):
        skill, epsilon = rng.uniform(0.6, 0.95, 4), rng.uniform(0.1, 0.35)
        each, by_class = planned(skill, epsilon), planned(skill, epsilon, "class")
        assert each.table.equals(by_class.table)


@pytest.mark.release
def test_never_more_labels_than_by_the_bound_nor_errors_above_epsilon():
    rng = np.random.default_rng(0)
    for epsilon in (0.08, 0.2):
        skills = pd.DataFrame(rng.uniform(0.5, 0.98, (12, 2)), columns=["x", "y"])
        tasks = pd.Series(["x", "y"] * 4)
        exact, bound = (
            make_plan(skills, tasks, AssignmentTerms(6, epsilon, promise=promise))
            for promise in ("each", "bound")
        )
        assert exact.error_exact.max() <= epsilon * (1 + 1e-9)
        assert bound.error_bound.max() <= epsilon * (1 + 1e-9)
        assert len(exact.table) <= len(bound.table)


def test_a_vote_with_the_plans_weights_errs_as_told():
    skills = pd.Series([0.9, 0.8, 0.75, 0.7, 0.6], index=list("abcde"))
    made = make_plan(skills, pd.Series("all", index=[1, 2]), AssignmentTerms(2, 0.12))
    rng = np.random.default_rng(0)
    for task, error in zip([1, 2], made.error_exact, strict=True):
        own = made.table[made.table["task"] == task]
        p, w = skills[own["worker"]].to_numpy(), own["weight"].to_numpy()
        lean = np.where(rng.random((40_000, len(p))) < p, w, -w).sum(axis=1)
        wrong = np.where(np.abs(lean) < 1e-12, 0.5, lean < 0).mean()
        assert wrong == pytest.approx(error, abs=4 * np.sqrt(error / 40_000))


def test_a_worker_who_hardly_errs_outvotes_two_who_err_a_little():
    """Weights cut at a skill of .999 would let the two win, and break the bound."""
    skills = pd.Series([1 - 1e-9, 0.998, 0.998])
    made = make_plan(skills, pd.Series("all", index=[0]), AssignmentTerms(1, 3e-7, promise="bound"))
    assert len(made.table) == 3
    assert made.error_exact[0] <= made.error_bound[0] <= 3e-7


@pytest.mark.parametrize("least", [None, 2])
def test_the_vote_errs_as_asked_where_sets_are_too_many(monkeypatch, least):
    """Covers stand in, less what a task can spare; no bound is above the cost."""
    skills = pd.Series([0.9, 0.85, 0.8, 0.75, 0.7, 0.65])
    tasks = pd.Series("all", index=range(3))
    terms = AssignmentTerms(3, 0.2, least=least)
    by_sets = make_plan(skills, tasks, terms)

    def too_many(*_, **__):
        raise TooManySetsError("too many")

    monkeypatch.setattr(two_classes, "exact_error_solution", too_many)
    covered = make_plan(skills, tasks, terms)
    bound = make_plan(skills, tasks, AssignmentTerms(3, 0.2, least=least, promise="bound"))
    assert covered.error_exact.max() <= 0.2 * CLOSE
    assert (covered.table["task"].value_counts() >= (least or 0)).all()
    assert len(by_sets.table) <= len(covered.table) <= len(bound.table)
    assert covered.claim.checked <= len(by_sets.table) * CLOSE


def test_a_search_out_of_time_is_no_proof_that_there_is_no_plan(monkeypatch):
    """Nothing is found by sets, nor by covers: that is all that is said."""
    late = Solution("ip", "arrays", Termination.TIME_LIMIT)
    for name in ("exact_error_solution", "solve"):
        monkeypatch.setattr(two_classes, name, lambda *_, **__: late)
    program = TwoClasses(
        np.full((4, 9), 0.7),
        gain_of("bhattacharyya"),
        np.zeros(4, int),
        TopUp(np.zeros((4, 9), bool)),
        np.full(9, 4.0),
    )
    made = program.keep(0.2, "each", RunOptions(time_limit=2.0))
    assert made.chosen is None
    assert made.solution.certificate.status != "infeasible"
    assert made.solution.termination is not Termination.INFEASIBLE


class TestTotal:
    SKILLS = pd.Series([0.9, 0.85, 0.8, 0.75, 0.7, 0.65])
    TASKS = pd.Series("all", index=range(4))

    @pytest.mark.release
    def test_more_money_never_errs_more_and_is_never_overspent(self):
        costs = pd.Series([3.0, 2.5, 2.0, 1.5, 1.0, 0.5])
        errors = []
        for total in (2.0, 8.0, 30.0):
            terms = AssignmentTerms(4, None, costs, total=total)
            made = make_plan(self.SKILLS, self.TASKS, terms)
            assert costs[made.table["worker"]].sum() <= total + 1e-9
            errors.append(made.error_exact.max())
        assert errors == sorted(errors, reverse=True)
        assert errors[-1] < 0.1 < errors[0]

    @pytest.mark.release
    def test_what_an_error_costs_buys_that_error(self):
        asked = make_plan(self.SKILLS, self.TASKS, AssignmentTerms(4, 0.2, promise="bound"))
        bought = make_plan(
            self.SKILLS, self.TASKS, AssignmentTerms(4, None, total=len(asked.table))
        )
        assert bought.error_bound.max() <= 1.01 * asked.error_bound.max()

    def test_epsilon_and_total_exclude_each_other(self):
        for epsilon, total in ((None, None), (0.1, 5.0)):
            with pytest.raises(InputError, match="give `epsilon`"):
                AssignmentTerms(1, epsilon, total=total)


class TestSeveralClasses:
    def crowd(self, seed=0, tasks=150, workers=10, classes="xyz"):
        rng = np.random.default_rng(seed)
        true = rng.choice(list(classes), tasks)
        rows = [
            (i, j, true[i] if rng.random() < 0.55 + 0.04 * j else rng.choice(list(classes)))
            for i in range(tasks)
            for j in range(workers)
        ]
        return pd.DataFrame(rows, columns=["task", "worker", "label"]), pd.Series(true)

    def test_errors_are_those_of_the_likeliest_class(self):
        known = confusions(*self.crowd())
        tasks = pd.Series("all", index=range(6))
        made = make_plan(known, tasks, AssignmentTerms(4, 0.08))
        for task, error in enumerate(made.error_exact):
            own = made.table.loc[made.table["task"] == task, "worker"].to_numpy()
            assert error == pytest.approx(
                likeliest_error(known.confusion[0, own], known.prior).probability
            )
        assert made.error_exact.max() <= 0.08
        assert made.table.groupby("worker").size().max() <= 4

    def test_who_may_label_what(self):
        known = confusions(*self.crowd())
        pairs = pd.DataFrame(
            [(i, j) for i in range(4) for j in range(10) if (i + j) % 2], columns=["task", "worker"]
        )
        tasks = pd.Series("all", index=range(4))
        made = make_plan(known, tasks, AssignmentTerms(4, 0.2, availability=pairs))
        assert set(made.table[["task", "worker"]].itertuples(index=False, name=None)) <= set(
            pairs.itertuples(index=False, name=None)
        )
        assert made.error_exact.max() <= 0.2

    def test_a_worker_without_gold_gets_no_task(self):
        labels, gold = self.crowd()
        more = pd.DataFrame({"task": [999], "worker": [77], "label": ["x"]})
        made = make_plan(
            confusions(pd.concat([labels, more]), gold),
            pd.Series("all", index=range(3)),
            AssignmentTerms(3, 0.2),
        )
        assert made.without_history == (77,)
        assert 77 not in set(made.table["worker"])

    def test_what_cannot_be_told_apart_is_named(self):
        blunt = np.array([[0.8, 0.1, 0.1], [0.1, 0.45, 0.45], [0.1, 0.45, 0.45]])
        known = Confusions(
            np.stack([[blunt] * 4]),
            np.full(3, 1 / 3),
            list("xyz"),
            pd.DataFrame({"all": [0.57] * 4}),
        )
        made = make_plan(known, pd.Series("all", index=[0]), AssignmentTerms(1, 0.05))
        assert "There is no plan" in made.message
        assert "confuse y with z most" in made.message.replace("'", "")

    def test_lemma_1_is_refused(self):
        with pytest.raises(InputError, match="goes with promise"):
            make_plan(
                confusions(*self.crowd()),
                pd.Series("all", index=[0]),
                AssignmentTerms(1, 0.05, gain="hoeffding"),
            )
        with pytest.raises(InputError, match="is for labels of two classes, here are 3"):
            make_plan(
                confusions(*self.crowd()),
                pd.Series("all", index=[0]),
                AssignmentTerms(1, 0.05, promise="bound", gain="hoeffding"),
            )
