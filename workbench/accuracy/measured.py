"""How often answers are wrong, counted on gold: the one place that says *measured*.

Counted are all control tasks that were asked about. One without an answer is wrong, for the method
as for what stands beside it: who leaves the hard half of the tasks blank errs on no fewer of them.

A rule is measured on the gold that it learns from. A model says how often a vote errs if workers
err independently; real workers err on the same hard tasks. What holds for any crowd is to hide the
gold of a few control tasks, fit the rule again without it (skills, weights, the choice of workers
or the prices of a plan: all that rests on gold) and look whether its labels for them are right:
cross-validation, one task at a time where there are few.

The count of errors is taken as it is for the interval: with s errors on c control tasks and
Jeffreys' prior the error rate has the distribution Beta(s + ½, c − s + ½), and the errors on N
further tasks the beta-binomial one. The rules of different folds are not the same, nor independent,
so that the mean of their losses varies by more than that of c independent ones. How much more
depends on how far labels hang on single control tasks, which shows: where a control task's label
changes once its own gold is known. The counts are divided by 1 + (share of labels that
change)/(error rate), 2 at most, which is what Nadeau and Bengio's correction comes to when each
task is left out once; a rule that does not look at gold keeps them whole.

The point is the plain share: a model that takes errors for independent is wrong in the same
direction on most crowds, and drawing the share toward it made it too low.

Sources: Geisser (1975), "The predictive sample reuse method"; Brown, Cai, DasGupta (2001),
"Interval estimation for a binomial proportion"; Nadeau, Bengio (2003), "Inference for the
generalization error".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.crowd.gold_rule import GoldRule, majority_loss
from workbench.crowd.loss import MeasuredCost, Stakes, measure_cost
from workbench.crowd.votes import Votes

MOST_FOLDS = 20
"""Times that a rule is fitted without a part of the gold, at most."""
INTERVAL, BEYOND_CHANCE = 1.645, 2.576
"""Standard errors: half the 90 % interval of a difference, and what one beyond chance takes."""
QUANTILES = 25
"""Numbers of errors that stand for their distribution."""
LISTED = 20_000
"""Tasks left of which the errors are counted one by one; more are taken for infinitely many."""


@dataclass(frozen=True, eq=False)
class MeasuredError:
    """What errors on control tasks say of the tasks that are left.

    Attributes
    ----------
    error_measured
        Share of the control tasks with a wrong answer or none. None without control tasks.
    error_interval
        Holds that share among the tasks left with the given confidence.
    error_independent
        What a rule's errors would be if workers erred independently: the mean over the tasks
        left, or over the control tasks where none is. None where the rule does not say.
    tasks_measured
        Control tasks.
    wrong
        Expected number of wrong answers among them, blanks among these: ties count their share.
    blank
        Control tasks without an answer.
    tasks_left
        Tasks the interval is for; None for any number of further tasks.
    unstable
        Share of control tasks' labels that change when their own gold is known.
    met
        Of a plan, share of control tasks whose votes meet the requirement; None of other rules.
    confidence, folds
        As asked, and how often the rule was fitted again; 0 where nothing rests on the gold.
    counted
        Indices of the control tasks.
    loss
        Chance that the answer is wrong on each of them, 1 without one, shape of `counted`.
    named
        Chance of each class to be named on each of them, shape (c, L), NaN without an answer; None
        where only errors were counted.
    """

    error_measured: float | None
    error_interval: tuple[float, float]
    error_independent: float | None
    tasks_measured: int
    wrong: float
    blank: int
    tasks_left: int | None
    unstable: float
    met: float | None
    confidence: float
    folds: int
    counted: IntArray
    loss: FloatArray
    named: FloatArray | None = None

    def answered(self) -> MeasuredError:
        """The same of the control tasks that have an answer: for where no other was asked about."""
        if self.named is None or not self.blank:
            return self
        there = ~np.isnan(self.named).any(axis=1)
        return count_errors(
            self.loss[there],
            self.counted[there],
            self.tasks_left,
            independent=self.error_independent,
            unstable=self.unstable,
            met=self.met,
            confidence=self.confidence,
            folds=self.folds,
            named=self.named[there],
        )

    def cost(
        self, stakes: Stakes, gold: IntArray, majority: MajorityError | None = None
    ) -> MeasuredCost | None:
        """Measure what the answers cost, and everybody's majority beside them.

        Parameters
        ----------
        stakes
            What errors cost.
        gold
            Class of the control tasks, −1 of all others, shape (n,).
        majority
            On the same tasks.

        Returns
        -------
        None without control tasks.
        """
        if self.named is None or not self.tasks_measured:
            return None
        order = np.argsort(self.counted)
        return measure_cost(
            stakes,
            gold[self.counted[order]],
            self.named[order],
            spread=_spread(self.wrong, self.tasks_measured, self.unstable),
            beside=None if majority is None else majority.loss,
        )


def count_errors(
    wrong: FloatArray,
    control: IntArray,
    left: int | None = None,
    *,
    independent: float | None = None,
    unstable: float = 0.0,
    met: float | None = None,
    confidence: float = 0.9,
    folds: int = 0,
    named: FloatArray | None = None,
) -> MeasuredError:
    """Count the errors of answers that saw nothing of the gold that judges them.

    Parameters
    ----------
    wrong
        Chance that the answer to each control task is wrong, shape (c,); NaN without an answer.
    control
        Indices of the control tasks, shape (c,): all that were asked about and have gold.
    left
        How many further tasks the interval is for; None or 0 for any number.
    independent, unstable, met, confidence, folds, named
        As `MeasuredError` has them.
    """
    empty = np.isnan(wrong)
    loss = np.where(empty, 1.0, wrong)
    total, tasks = float(loss.sum()), len(loss)
    within = error_interval(total, tasks, left or None, unstable=unstable, confidence=confidence)
    return MeasuredError(
        error_measured=total / tasks if tasks else None,
        error_interval=within,
        error_independent=independent,
        tasks_measured=tasks,
        wrong=total,
        blank=int(empty.sum()),
        tasks_left=left or None,
        unstable=unstable,
        met=met,
        confidence=confidence,
        folds=folds,
        counted=control,
        loss=loss,
        named=named,
    )


def measure_error(
    rule: GoldRule,
    gold: IntArray,
    *,
    left: IntArray | None = None,
    further: int | None = None,
    most_folds: int = MOST_FOLDS,
    confidence: float = 0.9,
    seed: Seed = 0,
) -> MeasuredError:
    """Measure how often a rule is wrong, by fitting it without a part of its gold at a time.

    Parameters
    ----------
    rule
        Fits on gold, the class of each task with −1 where hidden, and labels tasks.
    gold
        True class of the control tasks, −1 for all others, shape (n,).
    left
        Indices of the tasks that the error is wanted for; None for all without gold. Without any
        the interval is for the rate in any number of further tasks.
    further
        How many tasks lie ahead, where none of them is recorded (then `left` is empty).
    most_folds
        The control tasks are left out one by one, or in so many parts where there are more.
    confidence
        Of the interval, half of the rest beyond either end.
    seed
        Of the partition.

    Raises
    ------
    InputError
        Fewer than two folds, or a confidence outside (0, 1).
    """
    most = checks.count("most_folds", most_folds, 2)
    checks.inside("confidence", confidence)
    control = np.flatnonzero(gold >= 0)
    parts = folds(len(control), most, seed=seed)
    fitted = rule(gold)
    answers = fitted.label(control)
    loss, changed = np.full((2, len(control)), np.nan)
    named = np.full(answers.chance.shape, np.nan)
    met = None if answers.met is None else np.zeros(len(control), dtype=np.bool_)
    for part in parts:
        hidden = gold.copy()
        hidden[control[part]] = -1
        without = rule(hidden)
        answers_without = without.label(control[part])
        loss[part] = answers_without.loss(gold[control[part]])
        named[part] = answers_without.chance
        # A label given with the gold alone, or without it alone, is a change too; none is none.
        moved = 0.5 * np.abs(answers_without.chance - answers.chance[part]).sum(axis=1)
        both = ~answers_without.labelled & ~answers.labelled[part]
        changed[part] = np.where(both, 0.0, np.where(np.isnan(moved), 1.0, moved))
        if met is not None and answers_without.met is not None:
            met[part] = answers_without.met
    away = np.flatnonzero(gold < 0) if left is None else np.asarray(left, dtype=np.int64)
    chance = fitted.independent_error(away if len(away) else control)
    return count_errors(
        loss,
        control,
        len(away) or further,
        independent=_mean(chance),
        unstable=float(changed.mean()) if len(control) else 0.0,
        met=None if met is None or not len(met) else float(met.mean()),
        confidence=confidence,
        folds=len(parts),
        named=named,
    )


def folds(tasks: int, most: int, *, seed: Seed) -> list[IntArray]:
    """Part places 0 … tasks − 1 at random into at most so many folds, sizes within one."""
    if not tasks:
        return []
    order = stream(seed, "folds").permutation(tasks)
    return [np.sort(part) for part in np.array_split(order, min(tasks, most))]


def less_by_a_standard_error(less: FloatArray) -> bool:
    """Whether one way errs less than another on hidden tasks, by a standard error at least.

    Parameters
    ----------
    less
        Loss of the other less that of the one, by task.
    """
    if len(less) < 2:
        return False
    return bool(less.mean() > less.std(ddof=1) / np.sqrt(len(less)))


def _mean(chance: FloatArray) -> float | None:
    chance = chance[~np.isnan(chance)]
    return float(chance.mean()) if len(chance) else None


@dataclass(frozen=True)
class MajorityError:
    """How often everybody's majority is wrong, and what it takes.

    Attributes
    ----------
    error
        Share of wrong answers; those that tie count by their share, one without labels as wrong.
    labels
        Labels a task, in the mean.
    loss
        Chance that it is wrong on each task, by index of the task.
    """

    error: float
    labels: float
    loss: FloatArray

    @property
    def tasks(self) -> int:
        """How many tasks."""
        return len(self.loss)


def majority_error(votes: Votes, gold: IntArray, tasks: IntArray) -> MajorityError | None:
    """Measure a majority vote on control tasks, which it does not learn from.

    Parameters
    ----------
    votes
        Labels of everybody.
    gold
        Class of the control tasks, −1 of all others, shape (n,).
    tasks
        Indices of the control tasks that count.

    Returns
    -------
    None where there is no such task.
    """
    if not len(tasks):
        return None
    counted = np.full_like(gold, -1)
    counted[tasks] = gold[tasks]
    wrong = majority_loss(votes, counted)
    loss = np.where(np.isnan(wrong), 1.0, wrong)
    labels = int((counted[votes.task] >= 0).sum())
    return MajorityError(float(loss.mean()), labels / len(tasks), loss)


@dataclass(frozen=True)
class Difference:
    """By how much a method errs more than another on the same control tasks.

    Attributes
    ----------
    more
        Its share of wrong answers less the other's.
    low, high
        90 % interval of that difference.
    beyond_chance
        Whether the 99 % interval excludes 0.
    """

    more: float
    low: float
    high: float
    beyond_chance: bool


def difference(measured: MeasuredError, other: MajorityError) -> Difference:
    """Compare errors on the same control tasks, in pairs.

    One task more on which each alone errs keeps the interval honest where few tasks differ: two
    methods that err alike on all forty tasks are not proven to err alike on the next. The variance
    is that of the paired differences, larger by the factor by which the method's own labels hang
    on single control tasks.

    Source: Agresti, Min (2005), "Simple improved confidence intervals for comparing matched
    proportions": half a task added to each of the four cells.

    Raises
    ------
    InputError
        They were counted on different tasks.
    """
    worse = measured.loss[np.argsort(measured.counted)] - other.loss
    if len(worse) != measured.tasks_measured or not len(worse):
        raise InputError("two errors are compared on the same tasks: count both on all of them")
    tasks = len(worse) + 2.0
    center = float(worse.sum()) / tasks
    squares = float((worse**2).sum()) + 1.0
    spread = _spread(measured.wrong, measured.tasks_measured, measured.unstable)
    error = float(np.sqrt(max(squares - tasks * center**2, 0.0) * spread)) / tasks
    return Difference(
        float(worse.mean()),
        max(center - INTERVAL * error, -1.0),
        min(center + INTERVAL * error, 1.0),
        abs(center) > BEYOND_CHANCE * error,
    )


def error_interval(
    wrong: float,
    tasks: int,
    left: int | None,
    *,
    unstable: float = 0.0,
    confidence: float = 0.9,
) -> tuple[float, float]:
    """Interval for the share of wrong labels among N further tasks, from s wrong of c.

    Parameters
    ----------
    wrong, tasks
        s and c; s need not be whole.
    left
        N; None for any number.
    unstable
        Share of the c labels that change when their own gold is known.
    confidence
        Of the interval.

    Returns
    -------
    low, high
        Of no more than half of the remaining probability the share lies below `low`, or above
        `high`.

    Raises
    ------
    InputError
        More wrong than tasks, or less than none.
    """
    if not 0 <= wrong <= tasks:
        raise InputError(f"wrong is {wrong:g} of {tasks} tasks: give a number from 0 to {tasks}")
    spread = _spread(wrong, tasks, unstable)
    a, b = wrong / spread + 0.5, (tasks - wrong) / spread + 0.5
    tail = (1.0 - confidence) / 2.0
    if left is None or left > LISTED:
        from scipy.special import betaincinv

        low, high = betaincinv(a, b, [tail, 1.0 - tail])
        # As Brown, Cai, DasGupta: none wrong does not rule out that none ever is.
        return float(low) if wrong else 0.0, float(high) if wrong < tasks else 1.0
    below = np.cumsum(_beta_binomial(left, a, b))
    ends = np.searchsorted(below, [tail, 1.0 - tail - 1e-12])
    low, high = np.minimum(ends, left) / max(left, 1)
    return float(low), float(high)


def expected_radius(
    error: float, tasks: int, left: int | None, *, confidence: float = 0.9
) -> float:
    """Half the width that `error_interval` is expected to have: what control tasks buy.

    Parameters
    ----------
    error
        Error rate, from 0 to 1: errors on the control tasks are binomial.
    tasks, left
        Control tasks c, and tasks left N; None for any number.
    confidence
        Of the interval.
    """
    from scipy.special import gammaln, xlogy

    k = np.arange(tasks + 1.0)
    choose = gammaln(tasks + 1.0) - gammaln(k + 1.0) - gammaln(tasks - k + 1.0)
    chance = np.cumsum(np.exp(choose + xlogy(k, error) + xlogy(tasks - k, 1.0 - error)))
    counts = np.minimum(np.searchsorted(chance, (np.arange(QUANTILES) + 0.5) / QUANTILES), tasks)
    ends = [
        error_interval(float(wrong), tasks, left, confidence=confidence)
        for wrong in counts.tolist()
    ]
    return float(np.mean([high - low for low, high in ends])) / 2.0


def least_rmse(error: float, tasks: int, left: int) -> float:
    """Root mean square error below which no estimate is, of c control tasks for N others.

    √(e(1 − e)(1/c + 1/N)): the error rate of both parts is e, and neither shows it exactly.
    """
    return float(np.sqrt(error * (1.0 - error) * (1.0 / tasks + 1.0 / left)))


def _spread(wrong: float, tasks: int, unstable: float) -> float:
    """What the counts are divided by, from 1 to 2."""
    rate = (wrong + 0.5) / (tasks + 1.0)
    return 1.0 + min(unstable / rate, 1.0)


def _beta_binomial(trials: int, a: float, b: float) -> FloatArray:
    """Probability of 0, 1, …, N in the beta-binomial distribution, shape (N + 1,)."""
    from scipy.special import betaln, gammaln

    k = np.arange(trials + 1.0)
    choose = gammaln(trials + 1.0) - gammaln(k + 1.0) - gammaln(trials - k + 1.0)
    chance = np.exp(choose + betaln(k + a, trials - k + b) - betaln(a, b))
    whole: FloatArray = chance / chance.sum()
    return whole
