"""Learn whom to ask from every label bought: a model of the crowd in place of testers.

    learner = EmLearner(5, horizon=2000, seed=1)
    ask = learner.ask(task)                        # whom to ask about it
    answer = learner.tell({i: label_of(i, task) for i in ask.workers})

Dawid and Skene's model is fitted anew each time the labels have grown by a tenth; workers who copy
one another count as one (`copies`). It says what each worker is worth, q = ½(1 + √(1 − BC²)): the
skill of the worker of one skill whose labels are worth as much, by the Bhattacharyya coefficient
BC = Σ_a √(π(a|k) π(a|l)), the mean over pairs of classes. Then

- N^(2/3) of N tasks go to all, so that copies can be distinguished from experts whatever is
  believed;
- every other task goes to the set S_t that is best by q (the most accurate majority, less a price
  for each label), and to whoever else is worth a trial. Of worlds drawn from what the labels leave
  open, some have her in their best set, and S_t is worse there by a loss. One label more makes the
  mean of this loss smaller by about one part in as many labels as she has given; she is asked
  while that, times the tasks left for her, is more than the price.

A task's label is the likeliest class by the model, given all the labels that came.

Source: Dawid, Skene (1979), for the model; beyond Liu, Liu (2015), for what is made of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import lt
from typing import Annotated, Any, ClassVar

import numpy as np
from msgspec import Meta
from numpy.typing import ArrayLike

from workbench.accuracy.majority import accumulated, middles
from workbench.aggregation.dawid_skene import dawid_skene
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import Seed
from workbench.base.state import Count, RandomState, Saveable, State, Uniform, check, encoded
from workbench.crowd.votes import TIE, Votes
from workbench.learning.copies import find_copies
from workbench.learning.draws import COINS
from workbench.learning.online import Ask, Task
from workbench.learning.roster import Roster
from workbench.learning.saved import COUNTED, LATE, Pending, SavedTasks, StepDraws
from workbench.learning.schedule import Kind
from workbench.learning.sets import Vote

PRICE = 0.0001
"""Of a label, in right labels: bought where it makes a task's label right so much more often."""
SMOOTHED = (1.0, 4.0)
"""Votes added to each row of a confusion matrix, off the diagonal together and on it."""
WORLDS = 32
"""Crowds drawn from what the model leaves open."""
GROWTH = 1.1
"""Labels now, beside those at the last fit, at which the model is fitted anew."""
TO_ALL = 2.0 / 3.0
"""Exponent of N, the number of tasks, in how many go to all."""
RARE = 1e-9
"""Share that every class has at least."""
LISTED = 16
"""Workers of whom all outcomes are listed; of more, outcomes are drawn."""
DRAWN = 2**14
"""How many."""


@dataclass(frozen=True, eq=False)
class Model:
    """What labels say of M workers and K classes.

    Attributes
    ----------
    first
        The first of those who count as one with each worker, shape (M,).
    chance
        π: class named by true class, shape (M, K, K).
    weight
        Labels by true class that π rests on, those added too, shape (M, K).
    prior
        Of the classes, shape (K,).
    """

    first: IntArray
    chance: FloatArray
    weight: FloatArray
    prior: FloatArray

    @classmethod
    def of(cls, votes: Votes) -> Model:
        """Fit labels, each pair of task and worker once."""
        first, K = find_copies(votes), len(votes.classes)
        rows = np.unique(votes.task * len(first) + first[votes.worker], return_index=True)[1]
        task, worker, label = votes.task[rows], first[votes.worker[rows]], votes.label[rows]
        singles = Votes(task, worker, label, votes.tasks, votes.workers, votes.classes)
        wrong, right = SMOOTHED
        fitted = dawid_skene(singles, smoothing=(wrong / (K - 1), right), seed=0)
        weight = np.zeros((len(first), K))
        np.add.at(weight, worker, fitted.info["posterior"][task])
        weight += wrong + right
        chance = fitted.info["confusion"].transpose(0, 2, 1)
        prior = np.maximum(fitted.info["class_prior"], RARE)
        return cls(first, chance[first], weight[first], prior / prior.sum())

    def drawn(self, worlds: int, rng: np.random.Generator) -> FloatArray:
        """Draw worths of the workers in worlds that the labels leave open, shape (worlds, M)."""
        counts = self.chance * self.weight[:, None, :]
        cells = rng.standard_gamma(counts, (worlds, *counts.shape))
        cells /= np.maximum(cells.sum(axis=2, keepdims=True), 1e-300)
        return worth(cells, self.prior)

    def posterior(self, answers: IntArray) -> FloatArray:
        """Give the classes' probabilities, given labels (−1 for none) of shape (M,)."""
        voters = np.flatnonzero(answers >= 0)
        voters = voters[np.unique(self.first[voters], return_index=True)[1]]
        joint = np.log(self.prior) + np.log(self.chance[voters, answers[voters]]).sum(axis=0)
        odds = np.exp(joint - joint.max())
        posterior: FloatArray = odds / odds.sum()
        return posterior


def worth(chance: FloatArray, prior: FloatArray) -> FloatArray:
    """Skill q of the worker of one skill who is worth as much; chance (…, K named, K true)."""
    root, pair = np.sqrt(chance), np.outer(prior, prior)
    alike, K = np.zeros(chance.shape[:-2]), len(prior)
    # Pair by pair: of few classes far faster than a product of so many small matrices.
    for one, other in zip(*np.triu_indices(K, 1), strict=True):
        overlap = np.einsum("...a,...a->...", root[..., one], root[..., other])
        alike += pair[one, other] * overlap
    mean = alike / pair[np.triu_indices(K, 1)].sum()
    q: FloatArray = 0.5 * (1.0 + np.sqrt(np.maximum(1.0 - mean**2, 0.0)))
    return q


class SavedEmWorker(State, frozen=True):
    """A worker of `EmLearner`: rank among equals, whether she is asked, tasks offered to her."""

    name: str
    order: Uniform
    present: bool
    offered: Count


class EmState(SavedTasks, frozen=True):
    """All that `EmLearner` needs to go on; `labels` by place of task, worker, label, in order."""

    service: ClassVar[str] = "em"
    version: ClassVar[int] = 1
    counted: ClassVar[tuple[str, ...]] = (*COUNTED, *LATE)

    workers: tuple[SavedEmWorker, ...]
    price: Annotated[float, Meta(ge=0, le=1e9)]
    horizon: Annotated[int, Meta(ge=1)] | None
    labels: tuple[tuple[Count, Count, Count], ...]
    fitted: Count
    to_all: Count
    worlds: Count

    @property
    def size(self) -> int:
        """M."""
        return len(self.workers)

    def __post_init__(self) -> None:
        super().__post_init__()
        names = [worker.name for worker in self.workers]
        check(len(set(names)) == len(names), "workers have a name twice")
        limits = self.steps, len(names), self.vote.classes
        for entry in self.labels:
            check(all(map(lt, entry, limits)), f"labels have {entry}, of no task, worker or class")
        check(
            len({entry[:2] for entry in self.labels}) == len(self.labels),
            "labels have a pair twice",
        )
        received = self.counts["received"] + self.counts["late_used"]
        check(len(self.labels) == received, f"labels are not the {received} that counts has")
        check(self.fitted <= len(self.labels), "fitted is of more labels than there are")
        check(self.to_all <= len(self.tasks), "to_all is of more tasks than there are")


class EmLearner(Roster, Saveable[EmState]):
    """A learner that fits a model to all labels and explores while it pays.

    Parameters
    ----------
    workers
        How many workers, or their names; 1 or more.
    classes
        K: labels are 0, …, K − 1.
    price
        Of a label, in right labels: how much more often it must make a task's label right.
    horizon
        How many tasks there will be; None for twice as many as have come.
    seed
        Of ties and draws.

    Raises
    ------
    InputError
        No workers, a name twice, a parameter out of range.

    Notes
    -----
    It relies on errors that are independent given the class, but for workers who copy, and on a
    crowd that is right more often than not: agreement cannot tell a crowd from its mirror image.

    Examples
    --------
    >>> from workbench.learning.em import EmLearner
    >>> learner = EmLearner(["ann", "bob", "eve"], horizon=100, seed=1)
    >>> learner.ask("photo 1").workers.tolist()
    [0, 1, 2]
    >>> learner.tell({"ann": 1, "bob": 1, "eve": 0}).label
    1
    """

    state_type = EmState
    stream_name = "learning coins"
    counted = EmState.counted

    def __init__(
        self,
        workers: int | Sequence[str],
        *,
        classes: int = 2,
        price: float = PRICE,
        horizon: int | None = None,
        seed: Seed = 0,
    ) -> None:
        super().__init__(workers, Vote(classes=classes), seed)
        RandomState.of(self._rng)
        self.price = checks.number("price", price, 0.0, 1e9)
        self.horizon = None if horizon is None else checks.count("horizon", horizon, 1)
        self._present = np.ones(len(self.names), dtype=bool)
        self._offered, self._labelled = np.zeros((2, len(self.names)), dtype=np.int64)
        self._labels: list[tuple[int, int, int]] = []
        self._to_all = 0
        self._worlds = int(self._rng.integers(2**53))
        self._fit(0)
        encoded(self.state())

    # ---- the model ----

    def _fit(self, labels: int) -> None:
        """Fit the first so many labels, and draw the worlds they leave open."""
        task, worker, label = np.array(self._labels[:labels], dtype=np.int64).reshape(-1, 3).T
        tasks, row = np.unique(task, return_inverse=True)
        names = tasks, np.arange(len(self.names)), np.arange(self.vote.classes)
        self._fitted = labels
        self._gave = np.bincount(worker, minlength=len(self.names))
        self.model = Model.of(Votes(row, worker, label, *names))
        self._some_are_one = bool((self.model.first != np.arange(len(self.names))).any())
        self._worth = worth(self.model.chance, self.model.prior)
        rng = np.random.Generator(np.random.PCG64([self._worlds, labels]))
        self._drawn = self.model.drawn(WORLDS, rng)
        self._sets: dict[bytes, tuple[IntArray, IntArray, FloatArray]] = {}
        self._gains: dict[bytes, float] = {}

    @property
    def estimates(self) -> FloatArray:
        """p̂, shape (M,): how often each is right, by the model."""
        right = np.diagonal(self.model.chance, axis1=1, axis2=2)
        return np.minimum(right @ self.model.prior, 1.0)

    @property
    def best(self) -> IntArray:
        """S_t, the best set by the model, best worker first."""
        return self._set(self._present)[0].copy()

    def _set(self, able: BoolArray) -> tuple[IntArray, IntArray, FloatArray]:
        """S_t among those who can be asked; the others; and what is lost by not having them."""
        key = able.tobytes()
        if key not in self._sets:
            self._sets[key] = self._chosen(np.flatnonzero(able))
        return self._sets[key]

    def _chosen(self, able: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        if not len(able):
            return able, able, np.empty(0)
        if self._some_are_one:  # of those who count as one, the one with most labels
            able = able[np.lexsort((self._order[able], -self._gave[able]))]
            able = able[np.sort(np.unique(self.model.first[able], return_index=True)[1])]
        able = able[np.lexsort((self._order[able], -self._worth[able]))]
        drawn, worths = self._drawn[:, able], self._worth[able]
        ranked = np.argsort(-drawn, axis=1, kind="stable")
        # In one call, as it is made for nearly every task: by worth, each world's own best, and
        # the order of worths in each world.
        orders = np.concatenate([worths[None], np.take_along_axis(drawn, ranked, axis=1), drawn])
        skill = np.ascontiguousarray(orders.T)
        accuracy = accumulated(skill, middles(skill)).T[:, 1:]
        gain = accuracy[:-WORLDS] - self.price * np.arange(1, len(able) + 1)
        size = 1 + int(gain[0].argmax())
        best = gain[1:].max(axis=1, keepdims=True)
        theirs = np.argsort(ranked, axis=1) <= gain[1:].argmax(axis=1)[:, None]
        loss = np.maximum(best[:, 0] - (accuracy[-WORLDS:, size - 1] - self.price * size), 0.0)
        return able[:size], able[size:], (loss[:, None] * theirs).mean(axis=0)[size:]

    # ---- asking and telling ----

    def ask(self, task: Task, *, available: ArrayLike | None = None) -> Ask:
        """Decide whom to ask about the arriving task.

        Parameters
        ----------
        task
            Its name, a text or whole number that no task had before.
        available
            Indices of those who can be asked about this task; None for all.

        Raises
        ------
        InputError
            The labels of the last task are missing, the name is not new, or an index is
            out of range.
        """
        task = self._new(task)
        able = self._able(available)
        coins = StepDraws(*self._rng.random(COINS).tolist())
        self._offered += able
        workers, kind = self._choose(able)
        chosen = tuple(workers.tolist())
        return self._wait(task, Pending(kind=kind, tester=-1, workers=chosen, coins=coins))

    def _choose(self, able: BoolArray) -> tuple[IntArray, Kind]:
        tasks = self.step + 1
        remaining = tasks if self.horizon is None else max(self.horizon - self.step, 1)
        if self._to_all < (self.step + remaining) ** TO_ALL:
            self._to_all += 1
            return np.flatnonzero(able), "new tester"
        best, others, loss = self._set(able)
        for_her = remaining * self._offered[others] / tasks
        tried = others[loss * for_her / (self._labelled[others] + 1) > self.price]
        return np.concatenate([best, tried]), "new tester" if len(tried) else "exploit"

    def _label(self, answers: IntArray, now: Pending) -> tuple[int, float]:
        """Give the likeliest class; of equally likely ones one by lot."""
        posterior = self.model.posterior(answers)
        likeliest = np.flatnonzero(posterior >= posterior.max() - TIE)
        label = int(likeliest[-1 - int(now.coins.label * len(likeliest))])
        return label, float(posterior[label])

    def _learn(self, answers: IntArray, now: Pending, label: int) -> None:  # noqa: ARG002
        self._add(len(self._tasks) - 1, answers)

    def _add(self, place: int, answers: IntArray) -> None:
        """Take labels of a task, and fit anew where there are enough new ones."""
        voters = np.flatnonzero(answers >= 0)
        self._labels += [(place, i, int(answers[i])) for i in voters.tolist()]
        self._labelled[voters] += 1
        if len(self._labels) > self._fitted and len(self._labels) >= GROWTH * self._fitted:
            self._fit(len(self._labels))

    def late(self, task: Task, labels: Mapping[int, int] | ArrayLike) -> None:
        """Take labels that came after `tell`: the model learns from them (`late_used`).

        Of a worker whose label of the task is there already, another is ignored (`late_ignored`).

        Parameters
        ----------
        task
            A task that arrived.
        labels
            As for `tell`.

        Raises
        ------
        InputError
            A task that never arrived, or that waits for its labels; labels as in `tell`.
        """
        task, answers = self._came_late(task, labels)
        place = self._tasks[task]
        labelled = [worker for at, worker, _ in self._labels if at == place]
        used = answers >= 0
        used[labelled] = False
        self._count_late(answers, used)
        self._add(place, np.where(used, answers, -1))

    def accuracy_of(self, skill: FloatArray, workers: IntArray) -> float:
        """U: how often the label of those asked is right, if they have these skills; K = 2.

        Classes are equally likely, errors independent. Exact for up to 16 workers; of more,
        by drawn labels, to some .002.

        Parameters
        ----------
        skill
            p, shape (M,).
        workers
            Whom the next task is labelled by.
        """
        key = workers.tobytes() + skill.tobytes()
        if key not in self._gains:
            with np.errstate(divide="ignore"):
                weight = np.diff(np.log(self.model.chance), axis=2)[:, :, 0]
                prior = float(np.diff(np.log(self.model.prior))[0])
            first = self.model.first[workers]
            some = workers[np.sort(np.unique(first, return_index=True)[1])]
            self._gains[key] = _right(weight[some], prior, skill[some])
        return self._gains[key]

    # ---- workers who come and go ----

    def _enrol(self) -> None:
        self._offered, self._labelled = (np.append(x, 0) for x in (self._offered, self._labelled))
        self._fit(self._fitted)

    # ---- saving ----

    def state(self) -> EmState:
        """Everything needed to go on later."""
        each = self._order, self._present, self._offered
        return EmState(
            **self._saved(),
            workers=tuple(map(SavedEmWorker, self.names, *(column.tolist() for column in each))),
            price=self.price,
            horizon=self.horizon,
            labels=tuple(self._labels),
            fitted=self._fitted,
            to_all=self._to_all,
            worlds=self._worlds,
        )

    @classmethod
    def restore(cls, saved: EmState) -> EmLearner:
        """Take up a `state`; what follows is the same, to the last bit, as without the break."""
        names = [worker.name for worker in saved.workers]
        settings: dict[str, Any] = {"price": saved.price, "horizon": saved.horizon}
        learner = cls(names, classes=saved.vote.classes, **settings, seed=saved.random.generator())
        learner._take_up(saved, [worker.order for worker in saved.workers])
        learner._present = np.array([worker.present for worker in saved.workers])
        learner._offered = np.array([worker.offered for worker in saved.workers])
        learner._labels = list(saved.labels)
        gave = [place for _, place, _ in saved.labels]
        learner._labelled = np.bincount(np.array(gave, dtype=np.int64), minlength=len(names))
        learner._to_all, learner._worlds = saved.to_all, saved.worlds
        learner._fit(saved.fitted)
        return learner


def _right(weight: FloatArray, prior: float, skill: FloatArray) -> float:
    """How often the log-odds of class 1 (weights by worker and label said) are on its side."""
    m = len(skill)
    if m > LISTED:
        right_ones = np.random.Generator(np.random.PCG64(0)).random((DRAWN, m)) < skill
        chance = np.full(DRAWN, 1.0 / DRAWN)
    else:
        right_ones = (np.arange(2**m)[:, None] >> np.arange(m)) & 1 > 0
        chance = np.where(right_ones, skill, 1.0 - skill).prod(axis=1)
    right = 0.0
    for true in (0, 1):
        labels = np.where(right_ones, true, 1 - true)
        odds = (prior + weight[np.arange(m), labels].sum(axis=1)) * (2 * true - 1)
        right += float((chance * np.where(np.abs(odds) <= TIE, 0.5, odds > 0)).sum()) / 2.0
    return right
