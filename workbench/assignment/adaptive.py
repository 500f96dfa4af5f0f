"""The Main Algorithm, worker by worker: sample, price the tasks, then assign.

Source: Ho, Jabbari, Vaughan (2013), Algorithm 2. `AdaptiveAssigner` takes one worker at a time
and knows nothing of labels; `adaptive_assignment` runs it over a whole crowd, and
`workbench.collection.algorithm_two` over a stream. What a label counts, how skills are estimated
and an easiness of each task's own (Section 7) are settings; the paper's are the defaults.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, TypeAlias

import numpy as np
from msgspec import Meta

from crowd_models import TypedProblem
from crowd_models.gains import gain_of
from crowd_models.problem import LARGEST_PRICE
from workbench.assignment.correction import corrected_epsilon
from workbench.assignment.estimates import (
    SkillEstimate,
    TaskStructure,
    known_estimate,
    skills_on_arrival,
    structure_of,
)
from workbench.assignment.primal import best_of_groups, best_tasks, perturb
from workbench.assignment.weights import OnInfeasible, SampledWeights, sampled_weights
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, generator
from workbench.base.state import Count, RandomState, Share, State, check
from workbench.crowd import align

Price: TypeAlias = Annotated[float, Meta(ge=0, le=LARGEST_PRICE)]


@dataclass(frozen=True)
class AdaptiveSettings:
    """Parameters of the Main Algorithm.

    Attributes
    ----------
    epsilon
        ε, the error each task may have.
    workers, preliminary
        m and γm: workers to assign tasks to, and workers sampled before them.
    radius, mean_quality_least
        t and q̄*_min of the ε′ correction; None runs without it.
    on_infeasible, least_quality
        What to do when the sample cannot cover the tasks: see `weights.OnInfeasible`.
    gain
        What a label counts, by `crowd_models.gains`; the correction is for `hoeffding`, the
        paper's.
    skills
        How skills are estimated, by `workbench.assignment.estimates`: `plug-in`, the paper's,
        `fitted` or `median`. A plug-in estimate of 0 or 1 counts for infallible under
        `bhattacharyya`.
    """

    epsilon: float
    workers: int
    preliminary: int
    radius: float | None = None
    mean_quality_least: float | None = None
    on_infeasible: OnInfeasible = "relax"
    least_quality: float = 0.01
    gain: str = "hoeffding"
    skills: SkillEstimate = "plug-in"

    def __post_init__(self) -> None:
        for name in ("workers", "preliminary"):
            object.__setattr__(self, name, checks.count(name, getattr(self, name), 1))
        if (self.radius is None) != (self.mean_quality_least is None):
            raise InputError("the correction needs both: radius t and the least mean quality")
        if self.on_infeasible not in ("error", "drop", "relax"):
            raise InputError(f"on_infeasible is {self.on_infeasible!r}: use error, drop or relax")
        checks.share("least quality", self.least_quality)
        known_estimate(self.skills)
        if self.radius is not None and gain_of(self.gain).name != "hoeffding":
            raise InputError(f"gain is {self.gain!r}: the correction is for hoeffding alone")
        _ = self.requirement  # raises for an ε out of range

    @property
    def gamma(self) -> float:
        """γ: sampled workers for each worker of the main crowd."""
        return self.preliminary / self.workers

    @property
    def requirement(self) -> float:
        """C of ε, or of ε′ where a correction is asked for."""
        used = self.epsilon
        if self.radius is not None and self.mean_quality_least is not None:
            used = corrected_epsilon(
                used, radius=self.radius, mean_quality_least=self.mean_quality_least
            ).epsilon_corrected
        return float(gain_of(self.gain).requirement(used))

    def counted(self, skill: FloatArray) -> FloatArray:
        """What labels of a skill count towards the requirement, any shape."""
        return gain_of(self.gain).quality(skill, self.requirement)


class SampledWorker(State, frozen=True):
    """A preliminary worker: skills and prices by type; prices by task and tasks open, or None."""

    skill: tuple[Share, ...]
    capacity: Count
    cost: tuple[Price, ...]
    prices: tuple[Price, ...] | None
    available: tuple[Count, ...] | None


@dataclass(frozen=True, eq=False)
class _Sampled:
    """A preliminary worker, as `SampledWorker`, by type (T,) and by task (n,)."""

    skill: FloatArray
    capacity: int
    cost: FloatArray
    prices: FloatArray | None
    available: BoolArray | None


class AssignerState(State, frozen=True):
    """What `AdaptiveAssigner` needs to go on: the sample, or the weights that came of it.

    Weights are in the unit of money, −1 for a discarded task.
    """

    random: RandomState
    unit: Annotated[float, Meta(ge=1e-16, le=1e16)]
    sample: tuple[SampledWorker, ...]
    weights: tuple[Annotated[float, Meta(ge=-1)], ...] | None


class AdaptiveAssigner:
    """Algorithm 2 for one worker after another.

    The first γm calls are `sample` (preliminary workers); then `assign` gives each worker her
    tasks. The task weights are worked out once, when the sample is complete.

    Parameters
    ----------
    task_class
        Type of each task, shape (n,), numbered 0 … T−1.
    settings
        See `AdaptiveSettings`.
    easiness
        d of each task, shape (n,): a worker of skill p on its type is right with probability
        ½ + d (p − ½) (Section 7); None for 1.
    seed
        Perturbs estimates and decides between equal tasks.
    """

    def __init__(
        self,
        task_class: IntArray,
        settings: AdaptiveSettings,
        *,
        easiness: FloatArray | None = None,
        seed: Seed,
    ) -> None:
        kinds = np.asarray(task_class, dtype=np.int64)
        self.types = int(kinds.max(initial=0)) + 1
        self.structure: TaskStructure | None = None
        if easiness is not None:
            self.structure = structure_of(kinds, easiness)
            kinds = self.structure.task_class
        self.task_class = kinds
        self.settings = settings
        self.rng = generator(seed)
        self.sampled: SampledWeights | None = None
        self._sample: list[_Sampled] = []
        self._unit = 1.0  # the sample's typical price
        self._weights: FloatArray | None = None  # in that unit; −1 where discarded
        self._groups: list[IntArray] = []
        self._group_weights = np.empty(0)
        self._group_class: IntArray = np.empty(0, dtype=np.int64)

    @property
    def sampling(self) -> bool:
        """Whether the sample still wants workers."""
        return self._weights is None

    @property
    def task_weights(self) -> FloatArray:
        """x̂*, shape (n,), in the currency of the prices; 0 for a task that was discarded."""
        return np.maximum(self._relative_weights(), 0.0) * self._unit

    def _relative_weights(self) -> FloatArray:
        if self._weights is None:
            raise InputError(
                f"the sample has {len(self._sample)} of {self.settings.preliminary} workers: "
                "task weights come when it is complete"
            )
        return self._weights

    def sample(
        self,
        skill: FloatArray,
        capacity: int,
        *,
        cost: FloatArray | None = None,
        prices: FloatArray | None = None,
        available: BoolArray | None = None,
        others: FloatArray | None = None,
    ) -> None:
        """Take a preliminary worker's estimated skills p̂ (T,) into the sampled LP.

        Parameters
        ----------
        capacity
            M, the most tasks she would take.
        cost
            Price of her label by task type, shape (T,); None for 1.
        prices
            By task, shape (n,), in place of `cost`.
        available
            Tasks she could be given, shape (n,); None for all.
        others
            Skills of those sampled before, shape (T, k), where they are now estimated otherwise.

        Raises
        ------
        InputError
            The sample is complete; or she completes it, the sampled LP has no solution and
            `settings.on_infeasible` is `error`. Whatever is raised, she was not sampled.
        """
        if not self.sampling:
            raise InputError("the sample is complete: assign tasks to this worker instead")
        price = np.ones(len(skill)) if cost is None else np.asarray(cost, dtype=np.float64)
        before, taken = self.rng.bit_generator.state, list(self._sample)
        try:
            if others is not None:
                self._sample = [
                    replace(worker, skill=column)
                    for worker, column in zip(taken, others.T, strict=True)
                ]
            p = np.asarray(skill, dtype=np.float64)
            self._sample.append(_Sampled(p, int(capacity), price, prices, available))
            if len(self._sample) == self.settings.preliminary:
                self._price_tasks()
        except BaseException:
            self._sample = taken
            self.rng.bit_generator.state, self._weights, self._unit = before, None, 1.0
            raise

    def assign(
        self,
        skill: FloatArray,
        capacity: int,
        *,
        cost: FloatArray | None = None,
        prices: FloatArray | None = None,
        available: BoolArray | None = None,
    ) -> IntArray:
        """Tasks for a worker with estimated skills p̂ (T,): Algorithm 1 with the sampled weights.

        The work is of the order of the classes of tasks and the tasks taken, however many tasks
        there are; with `available` or `prices`, as for `sample`, of the order of the tasks.
        """
        weights, kind = self._relative_weights(), self.task_class
        perceived = self._perturbed(skill)
        price = self._by_class(self.relative(cost, len(skill)))
        if available is None and prices is None:
            at = self._group_class
            values = perceived[at] * self._group_weights - price[at]
            return best_of_groups(values, self._groups, capacity, price=price[at], seed=self.rng)
        each = price[kind] if prices is None else self.relative(prices, len(kind))
        allowed = weights >= 0 if available is None else available & (weights >= 0)
        values = np.where(allowed, perceived[kind] * weights - each, -np.inf)
        return best_tasks(values, capacity, price=each, seed=self.rng)

    def relative(self, cost: FloatArray | None, types: int) -> FloatArray:
        """Price by type, shape (T,), as a multiple of the sample's typical one; None for 1 each."""
        return align.relative(np.ones(types) if cost is None else np.asarray(cost), self._unit)

    def values(self, perceived: FloatArray, price: FloatArray) -> FloatArray:
        """What a label of each task is worth beyond its price, shape (n,); −∞ where discarded.

        From quality and relative price by class of tasks: without an easiness, their type (T,).
        """
        weights, kind = self._relative_weights(), self.task_class
        return np.where(weights >= 0, perceived[kind] * weights - price[kind], -np.inf)

    def _perturbed(self, skill: FloatArray) -> FloatArray:
        """What her labels count, by class of tasks, no two equal; from p̂ by type."""
        by_type = np.asarray(skill, dtype=np.float64)
        p = by_type if self.structure is None else self.structure.skill(by_type)
        return perturb(self.settings.counted(p), seed=self.rng)

    def _by_class(self, by_type: FloatArray) -> FloatArray:
        return by_type if self.structure is None else by_type[self.structure.kind]

    def _price_tasks(self) -> None:
        """Solve the sampled LP: by class of tasks, or by task where workers differ in more."""
        crowd, n = self._sample, len(self.task_class)
        perceived = np.stack([self._perturbed(worker.skill) for worker in crowd], axis=1)
        classes = perceived.shape[0]
        masked = any(worker.available is not None for worker in crowd)
        by_task = masked or any(worker.prices is not None for worker in crowd)
        rows = self.task_class if by_task else np.arange(classes)
        if any(worker.prices is not None for worker in crowd):
            each = [
                self._by_class(worker.cost)[rows] if worker.prices is None else worker.prices
                for worker in crowd
            ]
            self._unit = align.typical(np.stack(each))
            prices = align.relative(np.stack(each, axis=1), self._unit)
        else:
            costs = np.stack([worker.cost for worker in crowd])
            self._unit = align.typical(costs)
            by_class = [self._by_class(row) for row in align.relative(costs, self._unit)]
            prices = np.stack(by_class, axis=1)[rows]
        available = None
        if masked:
            every = np.ones(n, dtype=bool)
            masks = [every if worker.available is None else worker.available for worker in crowd]
            available = np.stack(masks, axis=1)
        sampled = sampled_weights(
            TypedProblem(
                perceived[rows],
                np.array([worker.capacity for worker in crowd], dtype=np.int64),
                np.full(len(rows), self.settings.requirement),
                np.ones(n, np.int64)
                if by_task
                else np.bincount(self.task_class, minlength=classes),
                np.ones(len(crowd), dtype=np.int64),
                None if bool(np.all(prices == 1)) else prices,
                available,
                gain=self.settings.gain,
            ),
            gamma=self.settings.gamma,
            on_infeasible=self.settings.on_infeasible,
            least_quality=self.settings.least_quality,
        )
        weights = sampled.weights if by_task else sampled.weights[self.task_class]
        self._set_weights(np.where(self._discarded(sampled.dropped, by_task), -1.0, weights))
        self.sampled = sampled

    def _discarded(self, dropped: IntArray, by_task: bool) -> BoolArray:
        """Which tasks were dropped; among equal ones, a fair draw."""
        if by_task:
            return dropped > 0
        chosen = np.zeros(len(self.task_class), dtype=bool)
        for kind in np.flatnonzero(dropped):
            members = np.flatnonzero(self.task_class == kind)
            chosen[self.rng.choice(members, int(dropped[kind]), replace=False)] = True
        return chosen

    def _set_weights(self, weights: FloatArray) -> None:
        """Keep the weights, and the tasks that were not discarded grouped by type and weight."""
        asked = np.flatnonzero(weights >= 0)
        # Weights numbered first: sorting a million whole numbers is quick, pairs of numbers not.
        levels, level = np.unique(weights[asked], return_inverse=True)
        kinds, group = np.unique(
            self.task_class[asked] * max(len(levels), 1) + level, return_inverse=True
        )
        order = np.argsort(group, kind="stable")
        edges = np.searchsorted(group[order], np.arange(1, len(kinds)))
        self._groups = np.split(asked[order], edges) if len(kinds) else []
        self._group_class, at = np.divmod(kinds, max(len(levels), 1))
        self._group_weights = levels[at]
        self._weights = weights

    def state(self) -> AssignerState:
        """Everything needed to go on later; of a complete sample only the weights."""
        weights = None if self._weights is None else tuple(self._weights.tolist())
        sample = [] if weights is not None else self._sample
        return AssignerState(
            RandomState.of(self.rng),
            self._unit,
            tuple(
                SampledWorker(
                    tuple(worker.skill.tolist()),
                    worker.capacity,
                    tuple(worker.cost.tolist()),
                    None if worker.prices is None else tuple(worker.prices.tolist()),
                    None
                    if worker.available is None
                    else tuple(np.flatnonzero(worker.available).tolist()),
                )
                for worker in sample
            ),
            weights,
        )

    def restore(self, state: AssignerState) -> None:
        """Take up a `state`; task classes and settings are those of the constructor.

        The solved sampled LP itself (`sampled`) is not kept, only its weights.

        Raises
        ------
        InputError
            It is not of so many tasks, types and preliminary workers.
        """
        n, types = len(self.task_class), self.types
        wanted = 1 if state.weights is not None else self.settings.preliminary
        check(len(state.sample) < wanted, "assigner.sample is of more workers than it can be")
        for k, worker in enumerate(state.sample):
            check(
                len(worker.skill) == len(worker.cost) == types,
                f"assigner.sample[{k}] has not a skill and a cost for each of {types} types",
            )
            check(
                worker.prices is None or len(worker.prices) == n,
                f"assigner.sample[{k}].prices are not those of {n} tasks",
            )
            check(
                max(worker.available or (0,)) < n,
                f"assigner.sample[{k}].available is beyond {n} tasks",
            )
        fits = state.weights is None or len(state.weights) == n
        check(fits, f"assigner.weights are not those of {n} tasks")
        self.rng = state.random.generator()
        self._sample = [
            _Sampled(
                np.array(worker.skill),
                worker.capacity,
                np.array(worker.cost),
                None if worker.prices is None else np.array(worker.prices),
                None if worker.available is None else np.isin(np.arange(n), worker.available),
            )
            for worker in state.sample
        ]
        self._unit = state.unit
        if state.weights is not None:
            self._set_weights(np.array(state.weights))


@dataclass(frozen=True, eq=False)
class AdaptiveResult:
    """What the Main Algorithm did.

    Attributes
    ----------
    task, worker
        The labels asked for, shape (k,) each: task index, and worker index in the whole crowd
        (preliminary workers first, so no index below their number occurs).
    skill
        p̂ of every worker, shape (T, γm + m); `settings.gain` says how its vote is weighed: the
        paper's by 2p̂ − 1.
    labels_gold
        Labels bought on gold tasks, preliminary workers included.
    task_weights
        x̂*, shape (n,).
    sampled
        The solved sampled LP: what was dropped or relaxed, and its certificate.
    """

    task: IntArray
    worker: IntArray
    skill: FloatArray
    labels_gold: int
    task_weights: FloatArray
    sampled: SampledWeights

    @property
    def labels_task(self) -> int:
        """Labels bought on real tasks."""
        return len(self.task)


def adaptive_assignment(
    correct: IntArray,
    answered: IntArray,
    capacity: IntArray,
    task_class: IntArray,
    settings: AdaptiveSettings,
    *,
    cost: FloatArray | None = None,
    available: BoolArray | None = None,
    seed: Seed,
) -> AdaptiveResult:
    """Run the Main Algorithm over a crowd in order of arrival (Algorithm 2).

    Parameters
    ----------
    correct, answered
        Gold tasks right, and answered, by type and worker, shape (T, γm + m): the first γm
        columns are the preliminary workers.
    capacity
        M, shape (γm + m,).
    task_class
        Type of each task, shape (n,).
    cost
        Price of a label by type and worker, shape (T, γm + m); None for 1.
    available
        Pairs that may be assigned, shape (n, γm + m); None for all.

    Raises
    ------
    InputError
        When the crowd is smaller than γm + m, or the sampled LP has no solution and
        `settings.on_infeasible` is `error`.
    """
    crowd = settings.preliminary + settings.workers
    if correct.shape[1] != crowd:
        raise InputError(
            f"the crowd has {correct.shape[1]} workers: {settings.preliminary} preliminary and "
            f"{settings.workers} more make {crowd}"
        )
    skill = skills_on_arrival(correct, answered, settings.preliminary, settings.skills)
    assigner = AdaptiveAssigner(task_class, settings, seed=seed)
    tasks: list[IntArray] = []
    for j in range(crowd):
        price = None if cost is None else cost[:, j]
        mask = None if available is None else available[:, j]
        if assigner.sampling:
            assigner.sample(skill[:, j], int(capacity[j]), cost=price, available=mask)
        else:
            tasks.append(assigner.assign(skill[:, j], int(capacity[j]), cost=price, available=mask))
    assert assigner.sampled is not None
    counts = np.array([len(chosen) for chosen in tasks], dtype=np.int64)
    return AdaptiveResult(
        np.concatenate(tasks),
        np.repeat(np.arange(settings.preliminary, crowd), counts),
        skill,
        int(answered.sum()),
        assigner.task_weights,
        assigner.sampled,
    )
