"""What is believed of tasks and workers while labels are bought, and what more labels can close.

The model is that of `workbench.aggregation.belief_propagation`: each worker is some point of a grid
of skills, each task has a class and an easiness. Between two refits a label moves only its own task
and worker. When there are so many times as many labels as at the last choice (`GROWTH`), the fit
begins anew at several shares of the classes, with tasks alike and of unequal easiness, and goes on
from the one of most evidence (`workbench.aggregation.belief_choice`); copies are looked for
(`copies`). Hidden tasks, whose class the model does not see, give a temperature and a floor: errors
that more labels would not cure.

`GridBeliefs` has, in this order: which labels count, what is believed of tasks, which tasks more
labels can close, what is believed of workers, and how labels and fits change all of it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from workbench.aggregation.belief_choice import (
    choose,
    mean_temperature,
    orientation_odds,
    pooled_errors,
)
from workbench.aggregation.belief_propagation import (
    GridFit,
    UnitLabels,
    begin,
    fit,
    mixed_rows,
    over_easiness,
)
from workbench.aggregation.calibration import Calibration, mean_calibration
from workbench.aggregation.posteriors import log, normalised
from workbench.aggregation.skill_grid import SkillGrid, one_coin_grid, two_coins
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.collection.belief_warnings import REVERSED, changed, contradicted
from workbench.collection.copies import CopySearch, contested, seem_very_good
from workbench.collection.exact_skills import KnownSkills, tempered_beside
from workbench.collection.merged_groups import MergedGroups
from workbench.collection.pool import NOTHING, Ledger, Questions
from workbench.crowd.loss import allowed_errors, cheapest

# Chosen on seeds 300 to 369 of the simulated crowds of docs/findings/until-trusted.md.
GROWTH, GROWTH_IN_DOUBT = 1.4, 1.2
"""The fit is chosen anew when there are so many times as many labels; and while right and wrong may
be interchanged."""
ORIENTED = 6.0
"""Log-odds at which right and wrong are no longer taken to be possibly interchanged: 400 to 1."""
HOPELESS = 0.055
"""What a label tells of a task, beside an easy one, below which it is left open: it would take
eighteen times the labels, or more."""
LEAST_LABELS = 6
"""Labels from which on a task may be called hopeless."""
SWEEPS, SETTLED = 8, 0.01
"""Turns of a refit that goes on, and the change of posteriors below which fits end: what is left
then is the slow creep of shares that the next fits go on with."""
# By judgement, not tuned.
COMPARED = 12_000
"""Labels by which several starts are compared, where there are more: for speed."""
COPIES_GROWTH = 1.04
"""Copies are looked for when there are so many times as many labels of the common tasks."""
LEAST_ROOM = 0.1
"""Share of ε that a floor must leave, for tasks to be labelled until they are below it."""
LEAST_HIDDEN = 5
"""Hidden tasks with labels from which on they are asked how far the posterior may be believed."""
ARRAYS = ("joint", "worker", "share", "ease", "levels", "population", "messages")


def evidence_behind(error: FloatArray | float) -> FloatArray:
    """Nats, as labels of an easy task tell them, that bring an even belief to such an error.

    In the mean over both classes: (1 − 2e) ln((1 − e)/e), shape as given. Source: Wald (1945).
    """
    error = np.clip(error, 1e-12, 1.0 - 1e-12)
    return np.asarray((1.0 - 2.0 * error) * np.log((1.0 - error) / error))


@dataclass(frozen=True, eq=False)
class TaskView:
    """What the policy asks of each task at every step, kept until the next label or fit.

    Attributes
    ----------
    posterior
        Of classes, shape (n, K).
    cost
        Expected cost of the cheapest answer, shape (n,). Where every error costs 1, that is the
        chance that the likeliest class is wrong.
    square
        Mean square of easiness, shape (n,).
    """

    posterior: FloatArray
    cost: FloatArray
    square: FloatArray

    def move(self, rows: IntArray, now: TaskView) -> None:
        """Take some tasks as they are now."""
        for each in fields(self):
            getattr(self, each.name)[rows] = getattr(now, each.name)


class GridBeliefs:
    """Posterior of tasks and workers, kept up label by label.

    Parameters
    ----------
    ledger
        What was asked and answered. What a worker of known skill says counts as her skill has it:
        she is not judged. Members of a group are one worker (`merged_groups`).
    common
        Tasks by whose answers workers are compared with one another; all by default.

    Attributes
    ----------
    grid
        What workers may be like.
    weight
        Posterior of the points of the grid, shape (T·m, G). A worker at each task type is a *unit*,
        `kind · m + worker`. Of a known skill the nearest point.
    right
        Believed chance that each worker is right, at the task type at which she seems best; shape
        (m,).
    known
        Workers whose skill is known; None without.
    known_gain
        What a label of each unit of known skill tells in nats, NaN of others; shape (T·m,).
    merged_groups
        Groups whose members count as one worker from the start; None without.
    merged
        Who speaks for each worker, shape (m,): herself, or the one whose copy she is found to be,
        or the first of her group.
    copies_in_doubt
        Whether labels do not say if some workers copy one another.
    orientation
        Log-odds that right and wrong are not interchanged, at least 0; infinite where that is no
        question.
    calibration
        Temperature and floor of the posterior: the temperature at which labels foretell one
        another, or both as hidden tasks have them.
    calibrated_by
        How many hidden tasks that were.
    """

    grid: SkillGrid
    models: BoolArray | None = None
    """Workers who are models that are believed together, shape (m,); None where none are."""
    newcomers_alike = True
    """Whether the same is believed of all who have not labelled, and whose skill is not known."""

    def __init__(self, ledger: Ledger, common: IntArray | None = None) -> None:
        self.ledger = ledger
        pool = ledger.pool
        self.m, self.K, self.T = len(pool.workers), len(pool.classes), len(pool.price)
        self.errors: FloatArray = (1.0 - np.eye(self.K)) / (self.K - 1)
        self.grid = self._grid()
        self.merged_groups = None
        if pool.group is not None and self.models is None:
            self.merged_groups = MergedGroups(pool.group, len(pool.tasks))
        self.merged: IntArray = self._unmerged()
        self.orientation, self.copies_in_doubt, self.chosen_at, self.compared = np.inf, False, 0, 0
        self.calibration, self.calibrated_by, self.least_floor = Calibration(1.0), 0, 0.0
        confusion = pool.confusion
        self.known = None if confusion is None else KnownSkills(pool, confusion)
        unknown = np.full(self.T * self.m, np.nan)
        self.known_gain: FloatArray = unknown if self.known is None else self.known.gain
        labels = self.unit_labels().none()  # those on record are heard like all others
        self.fit = begin(labels, self.grid, pool.share, unequal=False)
        self._known_messages: FloatArray = labels.known_messages
        self._weigh_workers()
        self._new_messages: list[FloatArray] = []
        self._view: TaskView | None = None
        self.common: IntArray = np.arange(len(pool.tasks)) if common is None else common

    def _grid(self) -> SkillGrid:
        return two_coins() if self.K == 2 else one_coin_grid(self.errors)

    # Which labels count, and for whom

    @property
    def labels(self) -> IntArray:
        """Labels that judge workers, in order of arrival, shape (k, 3): task, worker, class."""
        labels = self.ledger.labels
        if self.known is None and self.merged_groups is None:
            return labels
        return np.asarray(labels[self._first() & ~self._of_known(labels)])

    @property
    def counts(self) -> IntArray:
        """Labels of each task by whoever is not a model, shape (n,)."""
        return self.ledger.counts

    def _first(self) -> BoolArray:
        """Which labels of the ledger are the first of their group on a task, shape (k,)."""
        labels = self.ledger.labels
        if self.merged_groups is None:
            return np.ones(len(labels), dtype=bool)
        return self.merged_groups.first(labels)

    def _of_known(self, labels: IntArray, *, gold: bool = False) -> BoolArray:
        """Which of some labels are of workers whose skill is known, shape (k,)."""
        if self.known is None:
            return np.zeros(len(labels), dtype=bool)
        return self.known.of_known(labels, gold=gold)

    def _unmerged(self) -> IntArray:
        """Who speaks for each worker where nobody is found to copy, shape (m,): groups alone."""
        return np.arange(self.m) if self.merged_groups is None else self.merged_groups.leader

    def _counted(self, merged: IntArray | None = None) -> BoolArray:
        """Which `labels` count: of workers merged the first on each task, shape (k,)."""
        task, worker, _ = self.labels.T
        merged = self.merged if merged is None else merged
        counted: BoolArray = np.ones(len(task), dtype=bool)
        together = np.bincount(merged, minlength=self.m) > 1
        shared = np.flatnonzero(together[merged[worker]]) if together.any() else NOTHING.task
        if len(shared):
            pair = task[shared] * self.m + merged[worker[shared]]
            counted[shared] = False
            counted[shared[np.unique(pair, return_index=True)[1]]] = True
        return counted

    def unit_labels(self, merged: IntArray | None = None) -> UnitLabels:
        """Lay out the `labels` that count, by who speaks for each worker, and those of known skill.

        Parameters
        ----------
        merged
            Who speaks for each worker, shape (m,); None for `merged`.
        """
        pool = self.ledger.pool
        merged = self.merged if merged is None else merged
        task, worker, label = self.labels[self._counted(merged)].T
        # By first labels alone: doubted tasks have more labels, and would count more than once.
        first = label[np.unique(task, return_index=True)[1]]
        said = np.bincount(first, minlength=self.K) / max(len(first), 1)
        known = None
        if self.known is not None:
            labels = self.ledger.labels
            known = self.known.labels(labels[self._first() & self.known.of_known(labels)])
        return UnitLabels(
            task,
            pool.kind[task] * self.m + merged[worker],
            label,
            *self._gold_answers(),
            len(pool.tasks),
            self.T * self.m,
            self.K,
            np.repeat(np.arange(self.T), self.m),
            first_shares=said,
            known=known,
        )

    def _gold_answers(self) -> tuple[IntArray, IntArray, IntArray]:
        """Answers to gold tasks that judge workers: class, unit and answer, as `UnitLabels`."""
        pool, rows = self.ledger.pool, self.ledger.gold_labels
        judging = ~self._of_known(rows, gold=True)
        if self.merged_groups is not None:
            judging &= self.merged_groups.first_gold(rows)
        gold, worker, label = rows[judging].T
        unit = pool.gold_kind[gold] * self.m + self._unmerged()[worker]
        return pool.gold[gold], unit, label

    # What is believed of tasks

    def posterior(self) -> FloatArray:
        """Of each task, shape (n, K); it stays as it is when labels come."""
        return self._viewed().posterior.copy()

    def cost(self) -> FloatArray:
        """Expected cost of the cheapest answer to each task, until the next label; shape (n,).

        Where every error costs 1, that is the chance that the likeliest class is wrong.
        """
        return self._viewed().cost

    def _viewed(self) -> TaskView:
        if self._view is None:
            self._view = self._view_of()
        return self._view

    def _view_of(self, rows: IntArray | slice = slice(None)) -> TaskView:
        """What the fit says of some tasks, calibrated."""
        joint, levels = self.fit.joint[rows], self.fit.levels
        chance = np.exp(joint - joint.max(axis=(1, 2), keepdims=True))
        plain = chance.sum(axis=2)
        plain /= plain.sum(axis=1, keepdims=True)
        if self.calibration != Calibration(1.0):
            plain = self.calibration.apply(plain)
            if self.known is not None and not self.calibrated_by:
                plain = tempered_beside(joint, self._known_messages[rows], self.calibration)
        of_ease = chance.sum(axis=1)
        square = (of_ease @ levels**2) / of_ease.sum(axis=1)
        loss = self.ledger.pool.loss
        # Of the calibrated chances: what errors cost is a matter of the decision alone.
        cost = 1.0 - plain.max(axis=1) if loss is None else cheapest(plain, loss)[1]
        return TaskView(plain, cost, square)

    def _renew_view(self, moved: IntArray) -> None:
        """Bring the view up to date where labels have moved tasks."""
        if self._view is not None:
            self._view.move(moved, self._view_of(moved))

    def relative_gain(self) -> FloatArray:
        """What a label tells of each task, beside one that all workers find easy; shape (n,).

        The mean square of its easiness, over the temperature.
        """
        return np.asarray(self._viewed().square / self.calibration.temperature)

    def hidden_heard(self) -> IntArray:
        """Hidden tasks that have labels."""
        hidden = self.ledger.pool.hidden
        heard = self.ledger.counts > 0
        return np.flatnonzero(heard & (hidden >= 0)) if hidden is not None else np.zeros(0, int)

    # What more labels can close

    def hopeless(self) -> BoolArray:
        """Tasks that more labels would hardly decide, shape (n,)."""
        return np.asarray((self.relative_gain() < HOPELESS) & (self.counts >= LEAST_LABELS))

    def error_to_reach(self, epsilon: float) -> FloatArray:
        """Error to which labels must bring a task before the floor is added; 0 where none will do.

        With a floor λ and this error e, (1 − λ) e + λ (1 − 1/K) is to be ε. A floor that leaves
        hardly any room (`LEAST_ROOM`) is taken to leave none: ε is out of reach then. One number
        for all tasks; where errors have costs one for each, of its cheapest answer, shape (n,).
        """
        return self._of_answer(self._to_reach(self._allowed(epsilon)))

    def _to_reach(self, allowed: FloatArray) -> FloatArray:
        floor = self.calibration.floor
        room = allowed - floor * (1.0 - 1.0 / self.K)
        return np.asarray(np.where(room >= LEAST_ROOM * allowed, room / (1.0 - floor), 0.0))

    def _allowed(self, epsilon: float) -> FloatArray:
        """Error that closes a task: ε; where errors have costs by task and answer, shape (n, K)."""
        loss = self.ledger.pool.loss
        if loss is None:
            return np.asarray(epsilon)
        return allowed_errors(self._viewed().posterior, loss, epsilon)

    def _of_answer(self, by_class: FloatArray) -> FloatArray:
        """Column of each task's cheapest answer, shape (n,); as it is where errors cost 1."""
        loss = self.ledger.pool.loss
        if loss is None:
            return by_class
        answer, _ = cheapest(self._viewed().posterior, loss)
        return np.asarray(by_class[np.arange(len(answer)), answer])

    def closed_at_floor(self, epsilon: float) -> BoolArray:
        """Tasks that labels have brought as far as they can where ε is out of reach, shape (n,).

        Their error is ε before the floor is added, which alone keeps them open.
        """
        none: BoolArray = np.zeros(len(self.ledger.counts), dtype=bool)
        if self.ledger.pool.hidden is None:
            return none
        reach, posterior = self.error_to_reach(epsilon), self._viewed().posterior
        if (reach > 0.0).all():
            return none
        chance = posterior.max(axis=1)
        if self.ledger.pool.loss is not None:
            chance = self._of_answer(posterior)
        wrong = 1.0 - self._before_floor(chance)
        return np.asarray((reach == 0.0) & (wrong <= self._of_answer(self._allowed(epsilon))))

    def evidence_needed(self, epsilon: float) -> FloatArray:
        """Nats, as labels of an easy task tell them, that would close each task, shape (n,).

        Where ε is out of reach, to bring it to `closed_at_floor`. Where errors have costs, by the
        answer that fewest nats would close it with.
        """
        posterior, allowed = self._viewed().posterior, self._allowed(epsilon)
        reach = self._to_reach(allowed)
        goal = np.where(reach > 0.0, reach, allowed)
        required = evidence_behind(goal)
        if self.ledger.pool.loss is None:
            top = np.clip(self._before_floor(posterior.max(axis=1)), 1.0 / self.K, 1.0)
            short = required - evidence_behind(1.0 - top)
        else:
            chance = self._before_floor(posterior)
            so_far = np.sign(2.0 * chance - 1.0) * evidence_behind(1.0 - chance)
            closed = (self.cost() <= epsilon) | self.closed_at_floor(epsilon)
            short = np.where(closed, 0.0, (required - so_far).min(axis=1))
        return np.asarray(np.maximum(short, 0.0) / np.maximum(self.relative_gain(), 1e-9))

    def _before_floor(self, chance: FloatArray) -> FloatArray:
        """Chance of a class of each task before the floor is added, shape (n,)."""
        floor = self.calibration.floor
        return np.asarray((chance - floor / self.K) / (1.0 - floor))

    @property
    def floor(self) -> float:
        """Error that more labels do not cure, at least, as hidden tasks show it."""
        return self.least_floor * (1.0 - 1.0 / self.K)

    # What is believed of workers

    @property
    def copying(self) -> BoolArray:
        """Workers found to copy another, who are not asked any more, shape (m,)."""
        return np.asarray(self.merged != self._unmerged())

    def suspects(self) -> IntArray:
        """Workers who seem so good, after so many labels, that they may copy one another."""
        return np.flatnonzero(self._very_good() & ~self.copying)

    def contested(self) -> IntArray:
        """Common tasks on which half of the others contradict those who seem very good."""
        return contested(self.labels, self.common, self._very_good(), self.K)

    def _very_good(self) -> BoolArray:
        return seem_very_good(self.labels, self.right)

    @property
    def may_be_reversed(self) -> bool:
        """Whether right and wrong might be interchanged: neither labels nor hidden tasks tell.

        Most workers are better than chance: strangers' labels would tell.
        """
        return self.orientation < ORIENTED and self.orientation + self._odds_by_hidden() < ORIENTED

    def _odds_by_hidden(self) -> float:
        """Log-odds by the classes of hidden tasks that right and wrong are not interchanged."""
        truth, at = self.ledger.pool.hidden, self.hidden_heard()
        if self.K > 2 or truth is None:
            return 0.0
        chance = self._viewed().posterior[at]
        rows = np.arange(len(at))
        return float((log(chance[rows, truth[at]]) - log(chance[rows, 1 - truth[at]])).sum())

    def _weigh_workers(self) -> None:
        """Take the posterior of workers from the fit: a group's is one, a known skill one point."""
        self.weight = normalised(self.fit.worker.copy())[0]
        if self.merged_groups is not None:
            by_kind = self.weight.reshape(self.T, self.m, -1)
            self.weight = by_kind[:, self.merged_groups.leader].reshape(self.weight.shape)
        if self.known is not None:
            self.weight = self.known.points(self.grid, self.weight)
        self.right = self._chance_right(np.arange(self.m))

    def _chance_right(self, workers: IntArray) -> FloatArray:
        """Believed chance that each of k workers is right, of her best type, shape (k,)."""
        weight = self.weight.reshape(self.T, self.m, -1)[:, workers].max(axis=0)
        right = np.einsum("gcc->g", self.grid.chance) / self.K
        return np.asarray((weight * right).sum(axis=1))

    # A label comes

    def told(self, ask: Questions, label: IntArray) -> None:
        """Move the tasks and workers of labels that have just come."""
        if not len(label):
            return
        rows = np.column_stack([ask.task, ask.worker, label])
        known, first = self._of_known(rows, gold=ask.gold), np.ones(len(label), dtype=bool)
        if self.merged_groups is not None:
            asked = self.ledger.gold_labels
            first = self.merged_groups.first_gold(asked) if ask.gold else self._first()
            first = first[-len(label) :]
        if self.known is not None and not ask.gold:
            told = self.known.labels(rows[known & first])
            message = told.messages(len(self.counts))
            moved = np.unique(told.task)
            self.fit.joint[moved] += message[moved]
            self._known_messages[moved] += message[moved]
            self._renew_view(moved)
        rest = first & ~known
        if rest.any():
            self._learn_from(Questions(ask.task[rest], ask.worker[rest], ask.gold), label[rest])

    def _learn_from(self, ask: Questions, label: IntArray) -> None:
        """Move tasks and workers by labels whose workers' skill is not known."""
        pool = self.ledger.pool
        if ask.gold:
            unit = pool.gold_kind[ask.task] * self.m + self._unmerged()[ask.worker]
            log_chance = self._chance_of_gold_answers(pool.gold[ask.task], label)
        else:
            unit = pool.kind[ask.task] * self.m + self.merged[ask.worker]
            log_chance, message = self._messages(ask.task, unit, label)
            np.add.at(self.fit.joint, ask.task, message)
            self._new_messages.append(message)
            self._renew_view(np.unique(ask.task))
        np.add.at(self.fit.worker, unit, log_chance)
        touched = np.unique(unit)
        self.weight[touched] = normalised(self.fit.worker[touched].copy())[0]
        if self.merged_groups is not None:
            self._weigh_workers()
        else:
            workers = np.unique(touched % self.m)
            self.right[workers] = self._chance_right(workers)

    def _chance_of_gold_answers(self, truth: IntArray, label: IntArray) -> FloatArray:
        """Log-chance of answers to gold tasks, of the mean easiness, by point; shape (k, G)."""
        s = float(self.fit.ease @ self.fit.levels)
        even = self.grid.chance.mean(axis=1)[:, label].T
        return log(s * self.grid.chance[:, truth, label].T + (1.0 - s) * even)

    def _messages(
        self, task: IntArray, unit: IntArray, label: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """What new labels say of their workers, by point, and of their tasks; (k, G), (k, K, S).

        Logarithms: of workers by what was believed of the task, and of tasks by what was believed
        of the worker, before the label.
        """
        levels, joint = self.fit.levels, self.fit.joint[task]
        by_answer = self.grid.chance.transpose(2, 0, 1)[label]
        before = np.exp(joint - joint.max(axis=(1, 2), keepdims=True))
        before /= before.sum(axis=(1, 2), keepdims=True)
        rest = (before * (1.0 - levels)).sum(axis=(1, 2)) / self.K
        easy = (before * levels).sum(axis=2) + rest[:, None]
        log_chance = log(np.einsum("kc,kgc->kg", easy, by_answer))
        rows = np.einsum("kg,kgc->kc", self.weight[unit], by_answer)
        message = log(mixed_rows(rows, levels))
        if self.K > 2:  # a fit judges nobody by a label that is alone on its task
            many = np.bincount(task, minlength=len(self.counts))
            log_chance[(self.counts <= many)[task]] = 0.0
        if self.copying.any():
            repeated = ~self._counted()[-len(label) :]
            message[repeated], log_chance[repeated] = 0.0, 0.0
        return log_chance, message

    # Fits

    def refit(self, *, anew: bool = False) -> None:
        """Send all messages anew; now and then, or where it is asked for, choose the fit anew.

        Where only workers of known skill have labelled, there is nothing to fit: Bayes' rule.
        """
        if self.known is not None and not len(self.labels):
            self.fit = begin(self.unit_labels(), self.grid, self.ledger.pool.share, unequal=False)
        else:
            self._refit(anew=anew)
        self._new_messages, self._view = [], None
        self._known_messages = self.unit_labels().known_messages.copy()
        self._weigh_workers()
        self._calibrate()

    def _refit(self, *, anew: bool) -> None:
        size, compared = len(self.labels), int(np.isin(self.labels[:, 0], self.common).sum())
        due = anew or size > (GROWTH_IN_DOUBT if self.may_be_reversed else GROWTH) * self.chosen_at
        merged = self.merged
        if self.merged_groups is None and (due or compared > COPIES_GROWTH * self.compared):
            merged, self.copies_in_doubt = self.copy_search().merged(self.merged)
            self.compared = compared
        if not due and (merged == self.merged).all():
            labels = self.unit_labels()
            self.fit = fit(labels, self.grid, self.warm_start(), sweeps=SWEEPS, settled=SETTLED)
            self._new_messages = []
            if self.K == 2:
                before, odds = self.orientation, orientation_odds(labels, self.grid, self.fit)
                # Where the last choice could not tell, the mirror image was tried then.
                due, self.orientation = odds < 0.0 < before, max(odds, 0.0)
        if due or (merged != self.merged).any():
            self._choose(merged)

    def outgrown(self, growth: float) -> bool:
        """Whether there are more than so many times the labels by which the fit was chosen.

        Never while each fit is chosen, as right and wrong are in doubt.
        """
        return not self.may_be_reversed and len(self.labels) > growth * self.chosen_at

    def copy_search(self) -> CopySearch:
        """Search for copies by the labels so far."""
        return CopySearch(
            labels=self.labels,
            common=self.common,
            grid=self.grid,
            share=self.ledger.pool.share,
            workers=self.m,
            most=COMPARED,
            settled=SETTLED,
            unit_labels=self.unit_labels,
        )

    def _choose(self, merged: IntArray) -> None:
        """Keep the likeliest of several fits, copies being merged."""
        same, self.merged = (merged == self.merged).all(), merged
        self.chosen_at = len(self.labels)
        warm = self.warm_start() if same and self.K == 2 else None
        labels, share = self.unit_labels(), self.ledger.pool.share
        chosen = choose(labels, share, warm, self.errors, most=COMPARED, settled=SETTLED)
        self.fit, self.grid, self.orientation = chosen.fit, chosen.grid, chosen.orientation
        if self.K > 2:
            self.errors = pooled_errors(labels, self.fit)

    def warm_start(self) -> GridFit:
        """Start of a fit: the last one, with the messages of labels that came since."""
        size = len(self.labels)
        new = np.concatenate(self._new_messages) if self._new_messages else self.fit.messages[:0]
        kept = self._counted()[size - len(new) :]
        return replace(self.fit, messages=np.concatenate([self.fit.messages, new[kept]]))

    def _calibrate(self) -> None:
        """Believe as far as labels foretell each other, and as hidden tasks allow."""
        labels, self.calibration = self.unit_labels(), Calibration(1.0)
        if len(labels.task) or self.known is None:
            self.calibration = Calibration(mean_temperature(labels, self.fit))
        hidden, at = self.ledger.pool.hidden, self.hidden_heard()
        if hidden is None or len(at) < LEAST_HIDDEN:
            return
        self.calibrated_by = len(at)
        self.calibration, self.least_floor = mean_calibration(
            over_easiness(self.fit.joint[at]), hidden[at]
        )

    # What is said and saved

    def notes(self) -> list[str]:
        """Say what whoever reads the posterior must know of the workers."""
        hidden = self.ledger.pool.hidden
        tell = (
            hidden is not None and len(self.hidden_heard()) < (hidden >= 0).sum()
        )  # those to come
        lines = [REVERSED] if self.may_be_reversed and not tell else []
        if self.copying.any():
            lines.append(
                f"{int(self.copying.sum())} workers seem to copy others: their labels count once, "
                "and they are not asked any more"
            )
        hopeless = self.hopeless() & (self.counts > 0)
        if hopeless.any():
            lines.append(
                f"{int(hopeless.sum())} tasks are left open: workers disagree on them so much that "
                "more labels would hardly decide"
            )
        if self.floor > 0.01:
            lines.append(
                f"hidden tasks show that at least {100 * self.floor:.2g} % of the answers stay "
                "wrong however many labels are bought"
            )
        return lines + [line for line in (self._contradicted(), self._changed()) if line]

    def _contradicted(self) -> str:
        hidden, at = self.ledger.pool.hidden, self.hidden_heard()
        if hidden is None:
            return ""
        return contradicted(over_easiness(self.fit.joint[at]), hidden[at])

    def _changed(self) -> str:
        """A warning where workers change, by what their labels say of tasks and were to say."""
        task, worker, label = self.labels.T
        unit = self.ledger.pool.kind[task] * self.m + self.merged[worker]
        plain = over_easiness(self.fit.joint)[task]
        mean = np.einsum("ug,gcx->ucx", self.weight, self.grid.chance)[unit]
        expected = np.einsum("kc,kcx,kx->k", plain, mean, plain)
        return changed(worker, plain[np.arange(len(label)), label], expected)

    def state(self) -> dict[str, Any]:
        """Give all that the ledger does not hold."""
        return {
            **{name: getattr(self.fit, name).tolist() for name in ARRAYS},
            "new_messages": [message.tolist() for message in self._new_messages],
            "errors": self.errors.tolist(),
            "grid": {
                field.name: getattr(self.grid, field.name).tolist() for field in fields(SkillGrid)
            },
            "merged": self.merged.tolist(),
            "compared": self.compared,
            "chosen_at": self.chosen_at,
            "orientation": self.orientation if np.isfinite(self.orientation) else None,
            "undecided": self.copies_in_doubt,
            "calibration": [self.calibration.temperature, self.calibration.floor],
            "least_floor": self.least_floor,
            "calibrated_by": self.calibrated_by,
        }

    def resume(self, saved: dict[str, Any]) -> None:
        """Take up a `state`."""
        self.errors = np.array(saved["errors"], dtype=np.float64)
        # What the grid was made of is not what the next fit begins with.
        self.grid = SkillGrid(
            **{name: np.array(rows, dtype=np.float64) for name, rows in saved["grid"].items()}
        )
        self.merged = np.array(saved["merged"], dtype=np.int64)
        self.orientation = np.inf if saved["orientation"] is None else float(saved["orientation"])
        self.copies_in_doubt = bool(saved["undecided"])
        self.chosen_at, self.compared = int(saved["chosen_at"]), int(saved["compared"])
        self.calibration = Calibration(*saved["calibration"])
        self.least_floor = float(saved["least_floor"])
        self.calibrated_by = int(saved["calibrated_by"])
        levels = len(saved["levels"])
        shapes = {"joint": (-1, self.K, levels), "messages": (-1, self.K, levels)}
        arrays = {}
        for name in ARRAYS:
            array = np.array(saved[name], dtype=np.float64)
            arrays[name] = array.reshape(shapes[name]) if name in shapes else array
            expected = getattr(self.fit, name).shape
            if name in ("joint", "worker") and len(array) != expected[0]:
                raise ValueError(f"{name} has {len(array)} rows")
        self._view = None
        self.fit = GridFit(**arrays, evidence=-np.inf)
        self._new_messages = [
            np.array(part, dtype=np.float64).reshape(-1, self.K, levels)
            for part in saved["new_messages"]
        ]
        self._known_messages = self.unit_labels().known_messages.copy()
        self._weigh_workers()
