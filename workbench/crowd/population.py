"""Crowds: how skilled each worker is at each type of task, and how much each will do.

Source: Ho, Jabbari, Vaughan (2013), Section 3 (skill p, capacity M, task types) and Section 6
(the crowds of Figures 1 and 2). Every maker takes the number of workers, then `seed`,
`capacity` (Section 6: 200 for each worker) and `task_types` by name, so that a study can
exchange one for another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray, Names
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.crowd import align, skills


@dataclass(frozen=True, eq=False)
class Crowd:
    """Workers with their skills and capacities. Arrays are copied and read-only.

    Attributes
    ----------
    skill
        p, shape (T, m), in [0, 1]: the probability that worker j labels a task of type τ
        correctly.
    capacity
        M, shape (m,), whole numbers ≥ 0: the most tasks worker j takes. A scalar stands for
        every worker.
    workers, task_types
        Distinct names, shapes (m,) and (T,).

    Raises
    ------
    InputError
        Shapes that do not fit, no worker or no type, a skill that is NaN or outside [0, 1], a
        capacity that is not a whole number ≥ 0, a missing or repeated name.
    """

    skill: FloatArray
    capacity: IntArray
    workers: Names
    task_types: Names

    def __post_init__(self) -> None:
        workers = checks.names("workers", self.workers)
        types = checks.names("task_types", self.task_types)
        if not len(workers) or not len(types):
            raise InputError("a crowd needs at least one worker and one task type: name them")
        skill = checks.probabilities("skill", self.skill, 2)
        if skill.shape != (len(types), len(workers)):
            raise InputError(
                f"skill has shape {skill.shape}: give one row for each of {len(types)} task types "
                f"and one column for each of {len(workers)} workers"
            )
        capacity = checks.per_worker("capacity", self.capacity, len(workers))
        clean = {"skill": skill, "capacity": capacity, "workers": workers, "task_types": types}
        for name, value in clean.items():
            object.__setattr__(self, name, checks.frozen(value))

    def __len__(self) -> int:
        """m, the number of workers."""
        return len(self.workers)

    @property
    def quality(self) -> FloatArray:
        """q = (2p − 1)², shape (T, m)."""
        return skills.quality(self.skill)

    def subset(self, indices: ArrayLike) -> Crowd:
        """Return the workers at `indices` (whole numbers), in that order.

        An index given again is a new worker with the same skills, and is named so: "w3 (2)"
        is the second arrival of "w3". Thus `crowd.subset(arrivals.iid(...))` is a sample from
        a crowd seen as a distribution.

        Raises
        ------
        InputError
            An index is out of range, or there is none.
        """
        at = checks.indices("indices", indices, len(self))
        workers = self.workers[at]
        if len(np.unique(at)) < len(at):
            arrival = pd.Series(at).groupby(at).cumcount()
            workers = np.array(
                [
                    f"{name} ({again + 1})" if again else name
                    for name, again in zip(workers.tolist(), arrival, strict=True)
                ],
                dtype=object,
            )
        return Crowd(self.skill[:, at], self.capacity[at], workers, self.task_types)


def uniform(
    workers: int,
    *,
    seed: Seed | None = None,  # noqa: ARG001 — nothing to draw, but every maker is called alike
    capacity: ArrayLike = 200,
    task_types: int = 1,
    skill: float = 0.6414,
) -> Crowd:
    """Give every worker the same skill at every type (Section 6.1, Figure 1, one worker type).

    The default has quality 0.08, the mean of the default `spammer_hammer`.

    Raises
    ------
    InputError
        A parameter out of range.
    """
    m, types = _size(workers, task_types)
    return _make(np.full((types, m), skill), capacity)


def uniform_range(
    workers: int,
    *,
    seed: Seed,
    capacity: ArrayLike = 200,
    task_types: int = 1,
    low: float = 0.5,
    high: float = 1.0,
) -> Crowd:
    """Draw skills uniformly from [low, high], independently for each worker and type.

    Raises
    ------
    InputError
        A parameter out of range, or low above high.
    """
    checks.number("low", low, 0, 1)
    checks.number("high", high, low, 1)
    shape = _size(workers, task_types)[::-1]
    return _make(stream(seed, "crowd").uniform(low, high, shape), capacity)


def spammer_hammer(
    workers: int,
    *,
    seed: Seed,
    capacity: ArrayLike = 200,
    task_types: int = 1,
    hammer: float = 0.7,
    spammer: float = 0.5,
    share: float = 0.5,
) -> Crowd:
    """Mix two kinds of worker (Section 6.1, Figure 1, two worker types).

    Exactly round(share · m) workers are hammers (a half is rounded up), in random places: the
    paper says what the population is, not what each worker is with some probability. A worker
    is of the same kind at all types. For independent kinds draw `arrivals.iid` from a large
    crowd.

    Raises
    ------
    InputError
        A parameter out of range.
    """
    checks.number("share", share, 0, 1)
    m, types = _size(workers, task_types)
    skill = np.where(np.arange(m) < math.floor(share * m + 0.5), hammer, spammer)
    return _make(np.tile(stream(seed, "crowd").permutation(skill), (types, 1)), capacity)


def specialists(
    workers: int,
    *,
    seed: Seed,
    capacity: ArrayLike = 200,
    task_types: int = 1,
    skilled: float = 0.7,
    other: float = 0.5,
) -> Crowd:
    """Make each worker skilled at exactly one task type (Section 6.2, Figure 2).

    There are as many kinds of worker as task types, in equal shares (which differ by one
    worker where they must) and in random places.

    Raises
    ------
    InputError
        A parameter out of range.
    """
    m, types = _size(workers, task_types)
    kind = stream(seed, "crowd").permutation(np.arange(m) % types)
    return _make(np.where(np.arange(types)[:, None] == kind, skilled, other), capacity)


def beta(
    workers: int,
    *,
    seed: Seed,
    capacity: ArrayLike = 200,
    task_types: int = 1,
    a: float = 2.3,
    b: float = 2.0,
) -> Crowd:
    """Draw skills from Beta(a, b), independently for each worker and type.

    The default is the crowd of Li, Liu (2015), Figure 1.

    Raises
    ------
    InputError
        A parameter out of range.
    """
    for name, value in (("a", a), ("b", b)):
        if not 0 < value < math.inf:
            raise InputError(f"{name} is {value}: give a finite number above 0")
    shape = _size(workers, task_types)[::-1]
    return _make(stream(seed, "crowd").beta(a, b, shape), capacity)


def listed(
    workers: int,
    *,
    seed: Seed,
    capacity: ArrayLike = 200,
    task_types: int = 1,
    skills: ArrayLike,
) -> Crowd:
    """Give workers the skills listed, the same at every type.

    As many workers as skills have them in order; any other number is drawn from the list, with
    replacement.

    Raises
    ------
    InputError
        A parameter out of range, or no skill.
    """
    m, types = _size(workers, task_types)
    skill = checks.probabilities("skill", skills, 1)
    if not len(skill):
        raise InputError("skill: give the skill of one worker at least")
    if m != len(skill):
        skill = stream(seed, "crowd").choice(skill, m)
    return _make(np.tile(skill, (types, 1)), capacity)


CROWDS: Mapping[str, tuple[Callable[..., Crowd], str | None]] = {
    "spammer-hammer": (spammer_hammer, "hammer"),
    "uniform": (uniform, "skill"),
    "specialists": (specialists, "skilled"),
    "beta": (beta, None),
    "even": (uniform_range, None),
    "listed": (listed, "skills"),
}
"""Kinds of crowd by name: who makes it, and which parameter its skill is, where it is one."""


def named(
    kind: str,
    workers: int,
    *,
    skill: float | Sequence[float] = 0.8,
    seed: Seed,
    capacity: ArrayLike = 200,
    task_types: int = 1,
) -> Crowd:
    """Make a crowd of one of `CROWDS`.

    Parameters
    ----------
    skill
        Of its good workers; of an `even` crowd the least and the greatest, of a `listed` one those
        of its workers.

    Raises
    ------
    InputError
        An unknown kind, or a parameter out of range.
    """
    if kind not in CROWDS:
        raise InputError(f"crowd is {checks.show(kind)}: choose from {', '.join(CROWDS)}")
    maker, parameter = CROWDS[kind]
    options: dict[str, Any] = {} if parameter is None else {parameter: skill}
    if kind == "even":
        ends = [*skill] if isinstance(skill, Sequence) else [skill]
        if len(ends) != 2 or not 0 <= ends[0] <= ends[1] <= 1:
            raise InputError(
                f"skill is {checks.show(skill)}: of an even crowd give two numbers from 0 to 1, "
                "the least and the greatest"
            )
        options = {"low": ends[0], "high": ends[1]}
    elif kind not in ("listed", "beta") and not checks.is_number(skill):
        raise InputError(f"skill is {checks.show(skill)}: of a {kind} crowd give one number")
    return maker(workers, seed=seed, capacity=capacity, task_types=task_types, **options)


def from_table(skills: pd.DataFrame, capacity: ArrayLike | pd.Series[Any] = 200) -> Crowd:
    """Make a crowd of a table workers × task types, as `tables.read_skills` returns it.

    Parameters
    ----------
    skills
        Skills, index the workers, columns the task types.
    capacity
        One number, one for each row, or a Series by worker (as `tables.read_capacities`
        returns it), which may name further workers.

    Raises
    ------
    InputError
        As `Crowd`; or a worker without capacity in the Series, or with two.
    """
    if isinstance(capacity, pd.Series):
        capacity = align.capacities(skills.index.to_list(), capacity)
    return Crowd(
        checks.floats("skill", skills.to_numpy().T),
        np.asarray(capacity),
        skills.index.to_numpy(),
        skills.columns.to_numpy(),
    )


def _size(workers: int, task_types: int) -> tuple[int, int]:
    return checks.count("workers", workers, 1), checks.count("task_types", task_types, 1)


def _make(skill: FloatArray, capacity: ArrayLike) -> Crowd:
    types, m = skill.shape
    return Crowd(
        skill, np.asarray(capacity), checks.numbered("w", m), checks.numbered("type", types)
    )
