"""Whether workers err independently, given the true class: what every bound here takes for granted.

Two things make errors go together. Tasks differ in difficulty, so that all workers err on the same
ones a little more often than chance has it; and some workers copy each other, or are one model
under several names. The first is seen in the mean correlation of errors, over all pairs of workers
who share tasks with gold; the second in pairs that stand out of it.

Worker j errs on task i of class c with her own rate r_jc. With the residual z = e − r, a pair is
described by T = Σ z_ij z_ik over the tasks it shares, the rates being those on these tasks: with
S_j = Σ z_ij², T/W, W = √(S_j S_k), is the correlation of their errors given the class, between −1
and 1. Under independence T has mean 0 and variance about V = Σ v_ij v_ik, v = r(1 − r). A pair
stands out by (T − ρW)/√(V + ½), ρ being the median correlation of pairs (weighted by W): ½ keeps
two rare errors on one task from weighing much. On the whole the rates are those on all gold answers
of a worker, and W = Σ √(v_ij v_ik).

Who errs on the same tasks need not copy: hard tasks differ from worker to worker. Workers who stand
out are said to copy where, of the tasks on which both err, they name the same wrong class more
often than two workers do by chance: with two classes there is one wrong class, and nobody can tell.

How large such figures get by chance is found by simulating crowds with the same workers, tasks and
rates: independent ones for the mean correlation, for pairs such as have the difficulty that the
median shows (one normal factor, as in probit analysis). Of `SIMULATED` crowds the largest figure of
all pairs counts, so that the chance of naming any pair wrongly is `LEVEL`, however many there are.

Sources: Efron, Tibshirani (1993), "An introduction to the bootstrap", Chapter 16 (Monte Carlo
tests); Westfall, Young (1993), "Resampling-based multiple testing" (the largest of many figures);
Yen (1984), "Effects of local item dependence" (correlated residuals); Kish (1965), "Survey
sampling", Section 5.4 (n/(1 + (n − 1)ρ)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import Seed, stream
from workbench.crowd.votes import Votes

SIMULATED = 199
"""Crowds drawn to judge a figure: the smallest chance that they can show is 1 in 200."""
LEVEL = 0.01
"""Chance of an alarm where there is nothing, for each of the tests."""
SHARED = 5
"""Gold tasks that a pair of workers must share to be looked at."""
DAMPING = 0.5
"""Added to the variance of T, in tasks on which both err."""
ALIKE = 0.5
"""Correlation of errors from which on workers who stand out are one group."""
NEARLY_ALL = 0.8
"""Share of wrong answers that makes a task one on which nearly all err."""
VOTERS = 3
"""Answers that such a task must have."""
MOST_WORKERS = 300
"""Workers whose pairs are looked at: those with the most gold answers."""
INFORMED = 1e-9
"""Weight of all pairs from which on their correlation is more than rounding."""
LISTED = 10**6
"""Pairs of answers to one task that are listed; of more, full matrices are multiplied."""
DENSE = 20
"""Products of full matrices that cost as much as a pair of answers that is listed."""
FACTORS: FloatArray = np.array([0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 0.95])
"""Shares of the common factor that are tried to find the difficulty."""
TRIES = 3
"""Crowds simulated with each of them."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two workers whose errors go together more than those of most.

    Attributes
    ----------
    first, second
        Indices of the workers.
    tasks, both_wrong, same_wrong
        Gold tasks that both answered, on how many of them both erred, and on how many of these
        they named the same class.
    correlation
        Of their errors, given the class.
    p_value
        Chance that any pair stands out so far where none does.
    """

    first: int
    second: int
    tasks: int
    both_wrong: int
    same_wrong: int
    correlation: float
    p_value: float


@dataclass(frozen=True, eq=False)
class ErrorCorrelation:
    """How far errors go together on the whole.

    Attributes
    ----------
    correlation
        Mean correlation of two workers' errors on a task, given its class.
    p_value
        Chance of a mean so high under independence, one in 200 at least; 1 where no two workers
        share tasks.
    hard, hard_expected, hard_judged
        Share of the gold tasks with `VOTERS` answers or more on which at least `NEARLY_ALL` of the
        answers are wrong; the same under independence; and how many tasks that is of.
    answers
        Mean number of answers on a gold task.
    """

    correlation: float
    p_value: float
    hard: float
    hard_expected: float
    hard_judged: int
    answers: float

    @property
    def shown(self) -> bool:
        """Whether the errors are shown to go together."""
        return self.p_value <= LEVEL

    def effective(self, workers: float | None = None) -> float:
        """`effective_workers` of so many on a task; of as many as answer one, by default."""
        return effective_workers(self.answers if workers is None else workers, self.correlation)


@dataclass(frozen=True, eq=False)
class Dependence:
    """How far a crowd's errors are from independent, and whose they are.

    Attributes
    ----------
    overall
        On the whole.
    correlations
        Of the errors of every pair that was looked at, shape (pairs,).
    typical
        Their median: what difficulty alone explains.
    pairs
        Pairs that stand out of it, the clearest first.
    groups
        Workers who are connected by such pairs with a correlation of `ALIKE` or more.
    copying
        Of each group, whether its members name the same wrong classes beyond chance.
    looked_at
        Workers whose pairs were looked at.
    """

    overall: ErrorCorrelation
    correlations: FloatArray
    typical: float
    pairs: tuple[Pair, ...]
    groups: tuple[tuple[int, ...], ...]
    copying: tuple[bool, ...]
    looked_at: int

    @property
    def dependent(self) -> bool:
        """Whether errors are shown to go together, of all or of some."""
        return self.overall.shown or bool(self.pairs)


def error_correlation(votes: Votes, gold: IntArray, *, seed: Seed = 0) -> ErrorCorrelation:
    """Look at how the errors on gold tasks go together on the whole.

    Parameters
    ----------
    votes
        Labels of n tasks by m workers, each pair once.
    gold
        True class of each task, −1 where it is not known, shape (n,).
    seed
        Of the simulated crowds.

    Returns
    -------
    ErrorCorrelation
        Without two workers who share a gold task nothing is shown: correlation 0, p-value 1.
    """
    answers = _Answers.of(votes, gold)
    rng = stream(seed, "independence")
    moments = answers.moments(answers.wrong)
    alone = [answers.independent(rng) for _ in range(SIMULATED)]
    above = sum(answers.moments(e).together >= moments.together - 1e-12 for e in alone)
    informed = moments.weight > INFORMED
    hard, judged = answers.hard(answers.wrong)
    return ErrorCorrelation(
        # Of few shared answers the rates of all can make it more than a correlation can be.
        correlation=float(np.clip(moments.together / moments.weight, -1, 1)) if informed else 0.0,
        p_value=(1 + above) / (1 + SIMULATED) if informed else 1.0,
        hard=hard,
        hard_expected=float(np.mean([answers.hard(e)[0] for e in alone])),
        hard_judged=judged,
        answers=len(answers.wrong) / max(answers.tasks, 1),
    )


def dependence(votes: Votes, gold: IntArray, *, seed: Seed = 0) -> Dependence:
    """Look at how the errors on gold tasks go together, and whose.

    Arguments as for `error_correlation`.
    """
    answers = _Answers.of(votes, gold)
    correlations, typical, pairs = _outstanding(answers, stream(seed, "pairs"))
    groups = _groups(pairs)
    return Dependence(
        overall=error_correlation(votes, gold, seed=seed),
        correlations=correlations,
        typical=typical,
        pairs=pairs,
        groups=groups,
        copying=tuple(_copying(group, pairs, answers) for group in groups),
        looked_at=int(answers.kept.sum()),
    )


def effective_workers(workers: float, correlation: float) -> float:
    """Independent workers whose mean varies as much as that of k correlated ones.

    A correlation below 0 counts as none: k are then worth k.
    """
    rho = min(max(correlation, 0.0), 1.0)
    return workers / (1.0 + max(workers - 1.0, 0.0) * rho)


@dataclass(frozen=True)
class _Moments:
    """Sums over all pairs of answers to a task: of z z′, of √(v v′) and of v v′."""

    together: float
    weight: float
    spread: float


@dataclass(frozen=True, eq=False)
class _Answers:
    """Answers to gold tasks: shape (k,) each, but `kept` (m,).

    `task` numbers the gold tasks, `true` is the class of each answer's task and `label` the one
    named, `cell` numbers worker and class; `kept` marks the workers whose pairs are looked at.
    """

    task: IntArray
    worker: IntArray
    true: IntArray
    label: IntArray
    cell: IntArray
    wrong: BoolArray
    tasks: int
    cells: int
    kept: BoolArray

    @classmethod
    def of(cls, votes: Votes, gold: IntArray) -> _Answers:
        asked = gold[votes.task] >= 0
        worker, true = votes.worker[asked], gold[votes.task[asked]]
        names, task = np.unique(votes.task[asked], return_inverse=True)
        m, classes = len(votes.workers), len(votes.classes)
        kept = np.zeros(m, dtype=np.bool_)
        labels = np.bincount(worker, minlength=m)
        kept[np.argsort(-labels, kind="stable")[:MOST_WORKERS]] = True
        return cls(
            task,
            worker,
            true,
            votes.label[asked],
            worker * classes + true,
            votes.label[asked] != true,
            len(names),
            m * classes,
            kept & (labels > 0),
        )

    def rates(self, wrong: BoolArray) -> FloatArray:
        """Error rate of each answer's worker and class, shape (k,)."""
        labels = np.bincount(self.cell, minlength=self.cells)
        erred = np.bincount(self.cell[wrong], minlength=self.cells)
        rate: FloatArray = (erred / np.maximum(labels, 1))[self.cell]
        return rate

    def named(self) -> IntArray:
        """The classes that somebody names wrongly."""
        return np.unique(self.label[self.wrong])

    def same_wrong_by_chance(self, members: set[int]) -> float:
        """Chance that two who err name the same class, by how often others name each."""
        others = self.wrong & ~np.isin(self.worker, list(members))
        counted = self.wrong if not others.any() else others
        chance, weight = 0.0, 0.0
        for c in np.unique(self.true[self.wrong]):
            named = np.bincount(self.label[counted & (self.true == c)]).astype(np.float64)
            many = float((self.wrong & (self.true == c)).sum())
            # Where nobody else errs on the class, two who do are alike for sure.
            alike = float((named**2).sum() / named.sum() ** 2) if named.sum() else 1.0
            chance, weight = chance + many * alike, weight + many
        return chance / weight if weight else 1.0

    def independent(self, rng: np.random.Generator) -> BoolArray:
        """Draw errors independently, at the rates of these answers."""
        drawn: BoolArray = rng.random(len(self.wrong)) < self.rates(self.wrong)
        return drawn

    def difficult(self, share: float, rng: np.random.Generator) -> BoolArray:
        """Draw errors that have a share of a normal factor in common on each task."""
        from scipy.special import ndtri

        common = np.sqrt(share) * rng.standard_normal(self.tasks)[self.task]
        own = np.sqrt(1.0 - share) * rng.standard_normal(len(self.task))
        drawn: BoolArray = common + own < ndtri(self.rates(self.wrong))
        return drawn

    def moments(self, wrong: BoolArray) -> _Moments:
        """Sum over the pairs of answers to each task; half of (Σx)² − Σx²."""
        rate = self.rates(wrong)
        z, v = wrong - rate, rate * (1.0 - rate)

        def pairs(x: FloatArray) -> float:
            sums = np.bincount(self.task, x, minlength=self.tasks)
            return float((sums**2).sum() - (x**2).sum()) / 2.0

        return _Moments(pairs(z), pairs(np.sqrt(v)), pairs(v))

    def hard(self, wrong: BoolArray) -> tuple[float, int]:
        """Share of the tasks on which nearly all err, and of how many."""
        labels = np.bincount(self.task, minlength=self.tasks)
        erred = np.bincount(self.task[wrong], minlength=self.tasks)
        judged = labels >= VOTERS
        count = int(judged.sum())
        bad = (erred >= NEARLY_ALL * labels - 1e-9) & judged
        return (float(bad.sum() / count) if count else 0.0), count


class _Block(NamedTuple):
    """Answers to the tasks of one class, as places in a matrix tasks × workers."""

    rows: IntArray
    task: IntArray
    worker: IntArray
    shape: tuple[int, int]

    @classmethod
    def of(cls, task: IntArray, worker: IntArray, rows: IntArray, workers: int) -> _Block:
        names, place = np.unique(task[rows], return_inverse=True)
        return cls(rows, place, worker[rows], (len(names), workers))

    def gram(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Σ x_ij y_ik over its tasks, for all pairs of workers, shape (m, m)."""
        matrices = np.zeros((2, *self.shape))
        matrices[0, self.task, self.worker] = first[self.rows]
        matrices[1, self.task, self.worker] = second[self.rows]
        product: FloatArray = matrices[0].T @ matrices[1]
        return product


class _Products:
    """Sums over the gold tasks that two workers share, for every pair that shares enough.

    Parameters
    ----------
    answers
        The answers; the pairs are those of the workers kept.

    Attributes
    ----------
    first, second, tasks
        Workers of each pair, and how many gold tasks they share, shape (pairs,).
    """

    def __init__(self, answers: _Answers) -> None:
        self._rows = np.flatnonzero(answers.kept[answers.worker])
        self._rows = self._rows[np.argsort(answers.task[self._rows], kind="stable")]
        task, worker = answers.task[self._rows], answers.worker[self._rows]
        self._true = answers.true[self._rows]
        self._classes = int(self._true.max(initial=0)) + 1
        m, size = len(answers.kept), np.bincount(task, minlength=answers.tasks)
        listed = (size.astype(np.float64) ** 2).sum() / 2.0
        # Products of full matrices are faster than a list of all pairs of answers to a task.
        dense = listed > LISTED or answers.tasks * m * m <= DENSE * listed
        self._full = bool(dense and answers.tasks * m <= 2**24)
        if self._full:
            self._blocks = [
                _Block.of(task, worker, np.flatnonzero(self._true == c), m)
                for c in range(self._classes)
            ]
            every = np.ones(len(task))
            shared = np.triu(sum(block.gram(every, every) for block in self._blocks), 1)
            self.first, self.second = np.nonzero(shared >= SHARED - 0.5)
            self.tasks = np.rint(shared[self.first, self.second]).astype(np.int64)
            return
        steps = range(1, int(size.max(initial=1)))
        none = np.zeros(0, dtype=np.int64)
        alike = [np.flatnonzero(task[:-step] == task[step:]) for step in steps]
        left = np.concatenate([none, *alike])
        right = np.concatenate(
            [none, *(rows + step for rows, step in zip(alike, steps, strict=True))]
        )
        swap = worker[left] > worker[right]
        left, right = np.where(swap, right, left), np.where(swap, left, right)
        names, pair, counts = np.unique(
            worker[left] * m + worker[right], return_inverse=True, return_counts=True
        )
        enough = counts >= SHARED
        self.first, self.second = np.divmod(names[enough], m)
        self.tasks = counts[enough]
        kept = enough[pair]
        self._left, self._right = left[kept], right[kept]
        self._pair = (np.cumsum(enough) - 1)[pair[kept]]

    def __len__(self) -> int:
        return len(self.first)

    def of(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Σ x_ij y_ik of each pair j, k by class of the task, from two values an answer.

        Returns
        -------
        Shape (pairs, classes).
        """
        x, y = first[self._rows], second[self._rows]
        if self._full:
            sums = [block.gram(x, y)[self.first, self.second] for block in self._blocks]
            return np.stack(sums, axis=1)
        place = self._pair * self._classes + self._true[self._left]
        product = np.bincount(
            place, x[self._left] * y[self._right], minlength=len(self) * self._classes
        )
        return product.astype(np.float64).reshape(len(self), self._classes)


@dataclass(frozen=True, eq=False)
class _PairFigures:
    """Correlation of each pair, shape (pairs,), their median, and how far each stands out."""

    correlation: FloatArray
    typical: float
    out: FloatArray

    @classmethod
    def of(cls, products: _Products, wrong: BoolArray, shared: FloatArray) -> _PairFigures:
        """Look at errors; `shared` counts the tasks of each pair by class, (pairs, classes)."""
        erred, every = wrong.astype(np.float64), np.ones(len(wrong))
        first, second = products.of(erred, every), products.of(every, erred)
        both = products.of(erred, erred)
        n = np.maximum(shared, 1.0)
        T = (both - first * second / n).sum(axis=1)
        spread_first, spread_second = first * (1.0 - first / n), second * (1.0 - second / n)
        W = np.sqrt(spread_first.sum(axis=1) * spread_second.sum(axis=1))
        V = (spread_first * spread_second / n).sum(axis=1)
        correlation = np.divide(T, W, out=np.zeros(len(T)), where=W > INFORMED)
        typical = _weighted_median(correlation, W)
        return cls(correlation, typical, (T - typical * W) / np.sqrt(V + DAMPING))


def _outstanding(
    answers: _Answers, rng: np.random.Generator
) -> tuple[FloatArray, float, tuple[Pair, ...]]:
    """The correlations of pairs, their median, and the pairs that stand out of it."""
    products = _Products(answers)
    if not len(products):
        return np.zeros(0), 0.0, ()
    every = np.ones(len(answers.wrong))
    shared = products.of(every, every)
    figures = _PairFigures.of(products, answers.wrong, shared)
    share = _common_share(products, answers, shared, figures.typical, rng)
    most = np.array(
        [
            _PairFigures.of(products, answers.difficult(share, rng), shared).out.max()
            for _ in range(SIMULATED)
        ]
    )
    above = SIMULATED - np.searchsorted(np.sort(most), figures.out)
    p_value = (1 + above) / (1 + SIMULATED)
    erred = answers.wrong.astype(np.float64)
    both = products.of(erred, erred).sum(axis=1)
    same = sum(
        (products.of(*[erred * (answers.label == c)] * 2).sum(axis=1) for c in answers.named()),
        np.zeros(len(products)),
    )
    outstanding = np.flatnonzero(p_value <= LEVEL)
    outstanding = outstanding[np.argsort(-figures.out[outstanding], kind="stable")]
    pairs = tuple(
        Pair(
            int(products.first[at]),
            int(products.second[at]),
            int(products.tasks[at]),
            round(float(both[at])),
            round(float(same[at])),
            float(figures.correlation[at]),
            float(p_value[at]),
        )
        for at in outstanding
    )
    return figures.correlation, figures.typical, pairs


def _common_share(
    products: _Products,
    answers: _Answers,
    shared: FloatArray,
    typical: float,
    rng: np.random.Generator,
) -> float:
    """Share of the common factor at which simulated crowds have this median."""
    medians = np.array(
        [
            np.mean(
                [
                    _PairFigures.of(products, answers.difficult(share, rng), shared).typical
                    for _ in range(TRIES)
                ]
            )
            for share in FACTORS
        ]
    )
    return float(np.interp(typical, np.maximum.accumulate(medians), FACTORS))


def _copying(group: tuple[int, ...], pairs: tuple[Pair, ...], answers: _Answers) -> bool:
    """Whether members who both err name the same wrong class more often than chance has it."""
    from scipy.special import bdtrc

    members = set(group)
    inside = [pair for pair in pairs if {pair.first, pair.second} <= members]
    both = sum(pair.both_wrong for pair in inside)
    same = sum(pair.same_wrong for pair in inside)
    chance = answers.same_wrong_by_chance(members)
    if not same or chance >= 1.0 - INFORMED:
        return False
    return bool(bdtrc(same - 1, both, chance) <= LEVEL)  # as many or more


def _weighted_median(value: FloatArray, weight: FloatArray) -> float:
    """The value that has half of the weight on either side; 0 without weight."""
    order = np.argsort(value, kind="stable")
    below = np.cumsum(weight[order])
    if not len(value) or below[-1] <= 0:
        return 0.0
    return float(value[order][int(np.searchsorted(below, below[-1] / 2.0))])


def _groups(pairs: tuple[Pair, ...]) -> tuple[tuple[int, ...], ...]:
    """Workers connected by pairs that are alike, the largest group first."""
    group: dict[int, set[int]] = {}
    for pair in pairs:
        if pair.correlation >= ALIKE:
            joined = group.get(pair.first, {pair.first}) | group.get(pair.second, {pair.second})
            for worker in joined:
                group[worker] = joined
    groups = {tuple(sorted(members)) for members in group.values()}
    return tuple(sorted(groups, key=lambda members: (-len(members), members)))
