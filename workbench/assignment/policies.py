"""Online assignment policies: the paper's, and others that it may be measured against.

A policy is given the tasks, the error asked for and how many workers are to come; then workers
arrive one after another, each with her skills (true or estimated), capacity, price and what she
may do, and it names her tasks at once and for good. It learns nothing of labels. Each class says
what it must know and what is promised of it; `workbench.assignment.POLICIES` lists them.

Sources: Ho, Jabbari, Vaughan (2013), Algorithms 1 and 2. Agrawal, Wang, Ye (2014), A dynamic
near-optimal algorithm for online linear programming, Operations Research 62, 876–890. Li, Sun, Ye
(2020), Simple and fast algorithm for binary integer and online linear programming, NeurIPS. Li, Ye
(2022), Online linear programming: dual convergence, new algorithms, and regret bounds, Operations
Research 70, 2948–2966.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from crowd_models import AssignmentProblem, TypedProblem
from crowd_models.gains import gain_of
from workbench.assignment.adaptive import AdaptiveAssigner, AdaptiveSettings
from workbench.assignment.primal import PERTURBATION, ZERO, best_tasks, perturb
from workbench.assignment.weights import OnInfeasible, offline_weights
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.checks import show
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, generator
from workbench.base.text import counted
from workbench.crowd import align
from workbench.solving import solve

COVERED = 1 - 1e-9
"""Share of the requirement at which a task counts as covered: sums of qualities are rounded."""

LEAST_QUALITY = 0.01
"""Labels of lower quality are never bought; no task is worth more than a price divided by it."""

MOST_SEEN = 200
"""Workers in a re-solved LP: a draw of so many tells the prices well enough."""


class ArrivingWorker(NamedTuple):
    """Who arrives.

    Attributes
    ----------
    skill
        p by task type, shape (T,), as the policy is given it.
    capacity
        M, the most tasks she takes.
    cost
        Price of her label by task type, shape (T,); None for 1.
    available
        Tasks she may be given, shape (n,); None for all.
    """

    skill: FloatArray
    capacity: int
    cost: FloatArray | None = None
    available: BoolArray | None = None

    @property
    def prices(self) -> FloatArray:
        """Price by task type, shape (T,)."""
        return np.ones(len(self.skill)) if self.cost is None else self.cost


@dataclass(frozen=True, eq=False)
class Setting:
    """What a policy may be given before the first worker arrives.

    Attributes
    ----------
    task_class
        Type of each task, shape (n,), numbered 0 … T−1.
    epsilon
        ε, the error each task may have: it must gather C of quality, what its labels count.
    workers
        m, how many workers are to come.
    sample
        γm workers seen beforehand, who get no task.
    future
        The m workers with their true skills in order of arrival: for hindsight alone.
    on_infeasible
        What the sampled LP does when the sample cannot cover the tasks.
    gain
        What a label counts, by `crowd_models.gains`: the paper's is `hoeffding`.
    rates
        L and U by type, shape (T,) each, where they are given: the price of a unit of quality at
        the best worker, and at workers drawn at random, from whom it can be bought in the end.
    """

    task_class: IntArray
    epsilon: float
    workers: int
    sample: tuple[ArrivingWorker, ...] = ()
    future: tuple[ArrivingWorker, ...] = ()
    on_infeasible: OnInfeasible = "relax"
    gain: str = "hoeffding"
    rates: tuple[FloatArray, FloatArray] | None = None

    @cached_property
    def need(self) -> float:
        """C of ε: 2 ln(1/ε), or ln(1/(2ε))."""
        return float(gain_of(self.gain).requirement(self.epsilon))

    def counted(self, skill: FloatArray) -> FloatArray:
        """q of labels by skill, any shape."""
        return gain_of(self.gain).quality(skill, self.need)


class AssignmentPolicy:
    """Names tasks for one worker after another; a policy of one's own is a subclass.

    Attributes
    ----------
    needs
        What it must know beforehand, besides tasks and ε.
    promise
        What is proven of it, in words; where constants are explicit, `theorems` has the formula.
    uses_sample
        Whether it uses the preliminary workers (whose gold labels then count).
    refits
        Whether estimates it is given should draw on everyone met before, not on the sample alone.
    online
        Whether it could be used at all: hindsight could not.

    Parameters
    ----------
    setting
        What may be known before the first worker arrives.
    seed
        Decides between equal tasks.
    """

    needs: ClassVar[str] = "nothing"
    promise: ClassVar[str] = "none"
    uses_sample: ClassVar[bool] = False
    refits: ClassVar[bool] = False
    online: ClassVar[bool] = True

    def __init__(self, setting: Setting, *, seed: Seed) -> None:
        self.setting = setting
        self.rng = generator(seed)

    def assign(self, worker: ArrivingWorker) -> IntArray:
        """Tasks for the worker who arrives: indices, none twice, at most her capacity."""
        raise NotImplementedError


class Paper(AssignmentPolicy):
    """Algorithm 2: task weights from the sampled LP, each worker on her own.

    A task is given labels though it is covered, and left short though workers are idle: what
    others did plays no part.
    """

    needs = "a sample of γm workers, m"
    promise = "Theorem 2 (true skills) and 5 (estimated), order random"
    uses_sample = True

    def __init__(self, setting: Setting, *, seed: Seed) -> None:
        super().__init__(setting, seed=seed)
        self.assigner = _from_sample(setting, self.rng)

    def assign(self, worker: ArrivingWorker) -> IntArray:
        """Tasks of non-negative value, the most valuable first."""
        skill, capacity, cost, available = worker
        return self.assigner.assign(skill, capacity, cost=cost, available=available)


class _Covering(AssignmentPolicy):
    """A policy that remembers what each task gathered, by the skills it was given.

    Attributes
    ----------
    gathered
        Shape (n,).
    """

    def __init__(self, setting: Setting, *, seed: Seed) -> None:
        super().__init__(setting, seed=seed)
        self.gathered = np.zeros(len(setting.task_class))
        types = int(setting.task_class.max(initial=0)) + 1
        self._bought, self._labels = np.zeros(types), np.zeros(types)

    @property
    def open(self) -> BoolArray:
        """Tasks not yet covered, shape (n,)."""
        return self.gathered < self.setting.need * COVERED

    def remaining(self) -> FloatArray:
        """Quality that each task still lacks, shape (n,); 0 where covered."""
        return np.where(self.open, self.setting.need - self.gathered, 0.0)

    def wanted(self) -> FloatArray:
        """Quality still to be bought, by type (T,): what open tasks lack, in whole labels.

        A task that lacks a little takes a whole label all the same. A label counts as much as
        those of its type did in the mean so far.
        """
        kind, lacking = self.setting.task_class, self.remaining()
        mean = self._bought / np.maximum(self._labels, 1)
        size = mean[kind]
        labels = np.ceil(np.divide(lacking, size, out=np.zeros(len(kind)), where=size > 0) - 1e-9)
        whole = np.where(size > 0, labels * size, lacking)
        return np.bincount(kind, whole, minlength=len(mean)).astype(np.float64)

    def perceived(self, worker: ArrivingWorker) -> FloatArray:
        """q̂ by type (T,), lowered by a hair so that no two workers are equal."""
        return perturb(self.setting.counted(worker.skill), seed=self.rng)

    def take(
        self, values: FloatArray, slack: FloatArray, seen: FloatArray, worker: ArrivingWorker
    ) -> IntArray:
        """Open tasks of non-negative value (n,), the best first; among equals the neediest.

        Whoever is left of equally needy ones is a fair draw. A value is non-negative down to
        −`slack`, by type (T,).
        """
        allowed = self.open & (values >= -slack[self.setting.task_class])
        if worker.available is not None:
            allowed &= worker.available
        chosen = np.flatnonzero(allowed)
        if len(chosen) > worker.capacity:
            chosen = self.rng.permutation(chosen)
            order = np.lexsort((self.gathered[chosen], -values[chosen]))
            chosen = np.sort(chosen[order[: worker.capacity]])
        kind = self.setting.task_class[chosen]
        self.gathered[chosen] += seen[kind]
        labels = np.bincount(kind, minlength=len(self._labels))
        self._labels += labels
        self._bought += labels * seen[: len(labels)]
        return chosen


class CoverageAware(_Covering):
    """Algorithm 2 with its sampled weights, but a covered task takes no more labels.

    Each worker gets no more tasks than from `Paper` with the same weights: both take all tasks of
    non-negative value, up to capacity, and here there are fewer. So what Theorem 2 promises of
    the labels holds here too.
    """

    needs = "a sample of γm workers, m"
    promise = "no more labels than Algorithm 2 with the same weights, so Theorem 2's ratio"
    uses_sample = True

    def __init__(self, setting: Setting, *, seed: Seed) -> None:
        super().__init__(setting, seed=seed)
        self.assigner = _from_sample(setting, self.rng)
        self.task_weights = self.assigner.task_weights

    def assign(self, worker: ArrivingWorker) -> IntArray:
        """Open tasks of non-negative value at the sampled weights."""
        seen, price = self.perceived(worker), self.assigner.relative(worker.cost, len(worker.skill))
        return self.take(self.assigner.values(seen, price), ZERO * price, seen, worker)


class ReSolve(_Covering):
    """Prices from an LP that is solved anew as workers arrive (Agrawal, Wang, Ye; Li, Ye).

    Everyone seen so far, the sample included, stands for everyone still to come; the open tasks
    of a type stand in it with what they lack in the mean. Where the LP has no solution, a task is
    worth at most a price over `LEAST_QUALITY`, so in the end any help is taken. Which tasks
    workers may do is left out of the LP. If the solver fails, prices stay as they were. Whoever is
    worth no less than the LP's marginal worker, but for the perturbation, gets tasks: covered
    tasks close, and whom one turns away is missed.

    Parameters
    ----------
    every
        Workers between two solutions; None for a twentieth of those still to come, so that the
        last ones meet prices of their own.
    """

    needs = "a sample (or none), m"
    promise = (
        "order only: regret O(log m log log m) for independent workers and a non-degenerate LP "
        "(Li, Ye), shown for packing; nothing for an adversary's order"
    )
    uses_sample = True

    def __init__(self, setting: Setting, *, seed: Seed, every: int | None = None) -> None:
        super().__init__(setting, seed=seed)
        self.every = every
        self.arrived = self.due = 0
        self.unit, self.prices = 1.0, np.full(len(self._labels), 1 / LEAST_QUALITY)
        self._seen: list[FloatArray] = []
        self._asked: list[FloatArray] = []
        self._able: list[int] = []
        for worker in setting.sample:
            self._remember(worker)

    def assign(self, worker: ArrivingWorker) -> IntArray:
        """Open tasks of non-negative value at the prices last solved for."""
        seen, kind = self._meet(worker), self.setting.task_class
        price = align.relative(worker.prices, self.unit)
        values = seen[kind] * self.prices[kind] - price[kind]
        return self.take(values, PERTURBATION * price, seen, worker)

    def _meet(self, worker: ArrivingWorker) -> FloatArray:
        """Remember who arrives, solve the program where it is due, and give her q̂ by type."""
        seen = self._remember(worker)
        if self.arrived >= self.due and bool(self.open.any()):
            self._solve()
            left = self.setting.workers - self.arrived
            self.due = self.arrived + (max(1, left // 20) if self.every is None else self.every)
        self.arrived += 1
        return seen

    def _remember(self, worker: ArrivingWorker) -> FloatArray:
        """Keep q̂, prices and capacity of whoever is met; give q̂ by type."""
        seen, types = self.perceived(worker), len(self._labels)
        self._seen.append(seen[:types])
        self._asked.append(worker.prices[:types])
        self._able.append(worker.capacity)
        return seen

    def _solve(self) -> None:
        met, types = np.arange(len(self._seen)), len(self._labels)
        if len(met) > MOST_SEEN:
            met = np.sort(self.rng.choice(len(met), MOST_SEEN, replace=False))
        tasks = np.bincount(self.setting.task_class[self.open], minlength=types)
        mean = self.wanted() / np.maximum(tasks, 1)
        cost = np.array([self._asked[at] for at in met]).T
        unit = align.typical(cost)
        cost = align.relative(cost, unit)
        gamma = len(met) / max(1, self.setting.workers - self.arrived)
        quality = np.array([self._seen[at] for at in met]).T
        capacity = np.array([self._able[at] for at in met], dtype=np.int64)
        most = float(cost.max()) / LEAST_QUALITY
        weights = type_prices(
            quality, capacity, gamma * mean, tasks, cost, most, gain=self.setting.gain
        )
        if weights is not None:
            self.unit, self.prices = unit, np.where(tasks > 0, weights, 0.0)


def type_prices(
    quality: FloatArray,
    capacity: IntArray,
    requirement: FloatArray,
    tasks: IntArray,
    cost: FloatArray,
    most: float,
    *,
    gain: str,
) -> FloatArray | None:
    """Price of a unit of quality by type: the relaxation's task weights, where cover is for sale.

    Parameters
    ----------
    quality, cost
        q and c of labels, shape (T, k).
    capacity
        M, shape (k,).
    requirement, tasks
        C of each task of a type, and how many there are, shape (T,).
    most
        What a unit of cover costs that no worker gives.
    gain
        By which of `crowd_models.gains` quality and requirement count.

    Returns
    -------
    Shape (T,), `most` at most; None where the solver fails.

    Notes
    -----
    Of a single type the program is a fractional knapsack: workers are taken by price over quality
    until the type is covered, and the last one's is the price (Dantzig 1957). Policies ask for it
    hundreds of times, each too small to start a solver for.
    """
    if len(tasks) > 1:
        one_each = np.ones(len(capacity), dtype=np.int64)
        price = None if bool(np.all(cost == 1)) else cost
        problem = TypedProblem(quality, capacity, requirement, tasks, one_each, price, gain=gain)
        # Shortfall from the start: near the end the program would often have no solution.
        return solve(problem.with_shortfall(most), "typed").task_weights
    if not requirement[0] * tasks[0]:
        return np.zeros(1)
    rate = np.full(len(capacity), np.inf)
    np.divide(cost[0], quality[0], out=rate, where=quality[0] > 0)
    order = np.argsort(rate, kind="stable")
    cover = np.cumsum((quality[0] * np.minimum(capacity, tasks[0]))[order])
    last = int(np.searchsorted(cover, requirement[0] * tasks[0] * COVERED))
    return np.array([min(rate[order[last]], most) if last < len(order) else most])


Pace: TypeAlias = Literal["remaining", "constant"]


class DualDescent(_Covering):
    """Prices by one subgradient step a worker, no LP and no sample (Li, Sun, Ye 2020).

    A worker should bring each type its pace: the quality lacking there, over the workers left. A
    type that got less becomes costlier, one that got more cheaper, x ← [x + η (pace − brought)
    m/C]₊.

    Parameters
    ----------
    pace
        `constant`: C/m always, the published method, under which a covered task goes on taking
        labels; `remaining`: what open tasks lack now over who is left, as Li, Ye (2022) let the
        right-hand side follow what was done, and covered tasks are closed.
    step
        η; None for 1/√m.
    start
        Price before the first worker. At 1 a perfect worker is just worth it.

    A task's price is in units of a label's: of the geometric mean over everyone met so far.
    """

    needs = "m"
    promise = (
        "order only: regret and shortfall O(√m) for independent workers or a random order, shown "
        "for packing with a constant pace; nothing for an adversary's order"
    )

    def __init__(
        self,
        setting: Setting,
        *,
        seed: Seed,
        pace: Pace = "remaining",
        step: float | None = None,
        start: float = 1.0,
    ) -> None:
        super().__init__(setting, seed=seed)
        self.pace = pace
        self.step = 1 / math.sqrt(setting.workers) if step is None else step
        types = int(setting.task_class.max(initial=0)) + 1
        self.prices = np.full(types, start)
        self.tasks = np.maximum(np.bincount(setting.task_class, minlength=types), 1)
        self.left = setting.workers
        self._price_logs = np.zeros(2)  # how many prices above 0, and the sum of their logarithms

    @property
    def open(self) -> BoolArray:
        """Tasks that may take labels, shape (n,); with a constant pace, all of them."""
        if self.pace == "constant":
            return np.ones(len(self.gathered), dtype=bool)
        return super().open

    def assign(self, worker: ArrivingWorker) -> IntArray:
        """Tasks of non-negative value at the prices of the moment, which are then moved."""
        seen, kind = self.perceived(worker), self.setting.task_class
        charged = worker.prices[worker.prices > 0]
        self._price_logs += len(charged), np.log(charged).sum()
        met, logs = self._price_logs.tolist()
        price = align.relative(worker.prices, math.exp(logs / max(met, 1)))
        types, need = len(self.prices), self.setting.need
        rate = need / self.setting.workers or 1.0  # where nothing is asked, nothing moves
        if self.pace == "constant":
            pace = np.full(types, rate)
        else:
            pace = self.wanted() / self.tasks / max(1, self.left)
        values = seen[kind] * self.prices[kind] - price[kind]
        chosen = self.take(values, ZERO * price, seen, worker)
        brought = np.bincount(kind[chosen], minlength=types) * seen[:types] / self.tasks
        self.prices = np.clip(
            self.prices + self.step * (pace - brought) / rate, 0.0, 1 / LEAST_QUALITY
        )
        self.left -= 1
        return chosen


class Greedy(_Covering):
    """Open tasks by quality over price, as many as capacity allows; nobody is sent away."""

    def assign(self, worker: ArrivingWorker) -> IntArray:
        """The open tasks this worker is best at."""
        seen, price = self.perceived(worker), worker.prices
        worth = seen / np.maximum(price, 1e-12 * price.max() or 1.0)
        values = np.where(seen >= LEAST_QUALITY, worth, -np.inf)
        return self.take(values[self.setting.task_class], np.zeros(len(seen)), seen, worker)


class Hindsight(AssignmentPolicy):
    """Algorithm 1 with the optimal dual of everyone who will come: no online policy (Theorem 1).

    It goes by the true skills in `Setting.future`, whatever is given of a worker on arrival.
    Qualities are perturbed by type and worker, so that equal tasks can be counted together. The
    `problem` has prices as multiples of the typical one.
    """

    needs = "everyone who will come, with true skills"
    promise = "Theorem 1, any order"
    online = False

    def __init__(self, setting: Setting, *, seed: Seed) -> None:
        if len(setting.future) != setting.workers:
            raise InputError("hindsight needs all workers beforehand: give `future`")
        super().__init__(setting, seed=seed)
        self.arrived = 0
        future, kind = setting.future, setting.task_class
        skills = np.stack([np.asarray(worker.skill, dtype=np.float64) for worker in future], axis=1)
        self.seen = perturb(setting.counted(skills), seed=self.rng)
        costs = np.stack([worker.prices for worker in future], axis=1)
        self.unit = align.typical(costs)
        costs = align.relative(costs, self.unit)
        masks = [worker.available for worker in future]
        everyone = np.ones(len(kind), dtype=bool)
        self.problem = AssignmentProblem(
            self.seen[kind],
            [worker.capacity for worker in future],
            setting.need,
            None if bool(np.all(costs == 1)) else costs[kind],
            None
            if all(mask is None for mask in masks)
            else np.stack([everyone if mask is None else mask for mask in masks], axis=1),
            gain=setting.gain,
        )
        self.task_weights, _, _ = offline_weights(self.problem)

    def assign(self, worker: ArrivingWorker) -> IntArray:
        """Tasks of non-negative value for the next of the workers who were foreseen."""
        kind = self.setting.task_class
        price = align.relative(worker.prices, self.unit)[kind]
        values = self.seen[kind, self.arrived] * self.task_weights - price
        if worker.available is not None:
            values = np.where(worker.available, values, -np.inf)
        self.arrived += 1
        return best_tasks(values, worker.capacity, price=price, seed=self.rng)


def _from_sample(setting: Setting, seed: Seed) -> AdaptiveAssigner:
    """The Main Algorithm with its sample taken and its weights worked out."""
    settings = AdaptiveSettings(
        setting.epsilon,
        setting.workers,
        len(setting.sample),
        on_infeasible=setting.on_infeasible,
        gain=setting.gain,
    )
    assigner = AdaptiveAssigner(setting.task_class, settings, seed=seed)
    for skill, capacity, cost, available in setting.sample:
        assigner.sample(skill, capacity, cost=cost, available=available)
    return assigner


class PolicyRun(NamedTuple):
    """Labels a policy asked for: task and worker index of each, shape (k,), by arrival."""

    task: IntArray
    worker: IntArray


class WrongChoiceError(InputError):
    """A policy chose what a worker may not be given."""


def run_policy(
    policy: AssignmentPolicy,
    workers: Sequence[ArrivingWorker],
    names: Sequence[object] | None = None,
) -> PolicyRun:
    """Let the workers arrive, and check that the policy keeps to capacity and availability.

    Parameters
    ----------
    names
        Of the workers, for messages; None for their places in the order of arrival.

    Raises
    ------
    WrongChoiceError
        When it does not: that is a fault of the policy.
    """
    setting = getattr(policy, "setting", None)
    tasks = None if setting is None else len(setting.task_class)
    chosen = []
    for j, worker in enumerate(workers):
        of = f"worker {j if names is None else names[j]}"
        chosen.append(_allowed(policy.assign(worker), worker, of, tasks))
    counts = [len(tasks) for tasks in chosen]
    task = np.concatenate(chosen) if chosen else np.empty(0, dtype=np.int64)
    return PolicyRun(task, np.repeat(np.arange(len(workers)), counts))


def _allowed(given: object, worker: ArrivingWorker, of: str, tasks: int | None) -> IntArray:
    """What a policy chose for a worker, if she may be given it."""
    chosen = np.asarray(given)
    if not chosen.size:
        return np.empty(0, dtype=np.int64)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise WrongChoiceError(
            f"the policy chose {show(given)} for {of}: give the numbers of tasks, a list or an "
            "array of whole numbers"
        )
    if len(chosen) > worker.capacity:
        raise WrongChoiceError(
            f"the policy chose {counted(len(chosen), 'task')} for {of}, who takes "
            f"{worker.capacity} at most"
        )
    known = tasks if worker.available is None else len(worker.available)
    strange = chosen[(chosen < 0) | (chosen >= (np.inf if known is None else known))]
    if len(strange):
        last = "" if known is None else f" to {known - 1}"
        raise WrongChoiceError(
            f"the policy chose task {strange[0]} for {of}: tasks are numbered from 0{last}"
        )
    in_order = np.sort(chosen)
    twice = in_order[1:][in_order[1:] == in_order[:-1]]
    if len(twice):
        raise WrongChoiceError(f"the policy chose task {twice[0]} twice for {of}")
    closed = chosen if worker.available is None else chosen[~worker.available[chosen]]
    if worker.available is not None and len(closed):
        raise WrongChoiceError(
            f"the policy chose task {closed[0]} for {of}, who may not do it: choose where "
            "`worker.available` is true"
        )
    allowed: IntArray = chosen.astype(np.int64)
    return allowed
