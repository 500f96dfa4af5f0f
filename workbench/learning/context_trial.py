"""Crowds whose skills depend on the context, and what learners make of them.

    skills = smooth_skills(5, lipschitz=1.0, seed=1)
    played = play_contexts(learner, skills, 10_000, seed=2)

Source: Liu, Liu (2015), Section 5: contexts are uniform, skills Lipschitz.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from workbench.accuracy.majority import prefix_accuracies_many
from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.learning.contexts import ContextPolicy, context_seeds
from workbench.learning.draws import Relabel
from workbench.learning.schedule import KINDS
from workbench.learning.sets import Vote
from workbench.learning.trial import gains, marks, set_accuracies

TRUNCATE = 1e-12
"""True skills of 0 and 1 are moved in by this before they become weights."""


class Skills(Protocol):
    """Skills by context."""

    def draw(self, uniform: FloatArray) -> list[Any]:
        """Contexts of tasks from uniform numbers, shape (n,)."""
        ...

    def at(self, contexts: Sequence[Any]) -> FloatArray:
        """p in each of n contexts, shape (n, M)."""
        ...


class SkillTable:
    """Skills in a few contexts, all equally frequent.

    Parameters
    ----------
    skill
        p by context, each a vector of shape (M,).

    Raises
    ------
    InputError
        No context, skills that are not probabilities, or of different numbers of labelers.
    """

    def __init__(self, skill: Mapping[Any, ArrayLike]) -> None:
        if not skill:
            raise InputError("skill is empty: give the skills in one context or more")
        rows = [checks.probabilities(f"skill[{name!r}]", p, 1) for name, p in skill.items()]
        if len({len(row) for row in rows}) > 1 or not len(rows[0]):
            raise InputError("skill: give as many labelers, one or more, in every context")
        self.contexts = tuple(skill)
        self.skill = np.stack(rows)

    def draw(self, uniform: FloatArray) -> list[Any]:
        """Contexts of tasks from uniform numbers, shape (n,)."""
        which = (uniform * len(self.contexts)).astype(np.int64)
        return [self.contexts[k] for k in which.tolist()]

    def at(self, contexts: Sequence[Any]) -> FloatArray:
        """p in each of n contexts, shape (n, M)."""
        row = {name: k for k, name in enumerate(self.contexts)}
        skill: FloatArray = self.skill[[row[name] for name in contexts]]
        return skill


class SmoothSkills:
    """Skills that change smoothly with w ∈ [0, 1]: p_i(w) = c_i + a_i cos 2π(f w + φ_i).

    Parameters
    ----------
    centre, swing, phase
        c, a ≥ 0 and φ, shape (M,).
    waves
        f ≥ 0, how often the skills go up and down.

    Raises
    ------
    InputError
        Shapes that differ, or skills that leave [0, 1].
    """

    def __init__(
        self, centre: ArrayLike, swing: ArrayLike, phase: ArrayLike, waves: float = 1.0
    ) -> None:
        self.centre, self.swing, self.phase = (
            checks.floats(name, value)
            for name, value in (("centre", centre), ("swing", swing), ("phase", phase))
        )
        shape = self.centre.shape
        if (
            len(shape) != 1
            or not len(self.centre)
            or {self.swing.shape, self.phase.shape} != {shape}
        ):
            raise InputError("centre, swing and phase: give each one number a labeler")
        inside = (self.swing >= 0) & (self.centre >= self.swing) & (self.centre + self.swing <= 1)
        if not (inside & np.isfinite(self.phase)).all():
            raise InputError("centre ± swing leaves [0, 1]: give skills that are probabilities")
        self.waves = checks.number("waves", waves, 0.0, 1e9)

    @property
    def lipschitz(self) -> float:
        """Largest slope: |p_i(w) − p_i(w′)| is at most this times |w − w′|."""
        return float(2.0 * np.pi * self.waves * self.swing.max())

    def draw(self, uniform: FloatArray) -> list[Any]:
        """Contexts of tasks: the numbers themselves."""
        drawn: list[float] = uniform.tolist()
        return drawn

    def at(self, contexts: Sequence[Any]) -> FloatArray:
        """p in each of n contexts, shape (n, M)."""
        angle = 2.0 * np.pi * (self.waves * np.asarray(contexts)[:, None] + self.phase)
        skill: FloatArray = np.clip(self.centre + self.swing * np.cos(angle), 0.0, 1.0)
        return skill


def smooth_skills(
    workers: int,
    *,
    lipschitz: float = 1.0,
    low: float = 0.5,
    high: float = 0.9,
    waves: float = 1.0,
    seed: Seed,
) -> SmoothSkills:
    """Draw a crowd whose skills stay in [low, high] with slopes of at most `lipschitz`.

    Parameters
    ----------
    workers
        M.
    lipschitz
        Bound of the slope; all swings are as wide as it and [low, high] allow.
    low, high, waves
        See above and `SmoothSkills`.
    seed
        Of centres and phases, both uniform.

    Raises
    ------
    InputError
        A parameter out of range.
    """
    M = checks.count("workers", workers, 1)
    low = checks.number("low", low, 0.0, 1.0)
    high = checks.number("high", high, low, 1.0)
    steep = checks.number("lipschitz", lipschitz, 0.0, 1e300)
    waves = checks.number("waves", waves, 0.0, 1e9)
    widest = 0.5 * (high - low)
    swing = min(widest, steep / (2.0 * np.pi * waves)) if waves else widest
    rng = stream(seed, "smooth skills")
    centre = low + swing + (high - low - 2.0 * swing) * rng.random(M)
    return SmoothSkills(centre, np.full(M, swing), rng.random(M), waves)


@dataclass(frozen=True, eq=False)
class PlayedContexts:
    """What a learner with contexts had gained and missed after given numbers of tasks.

    Attributes
    ----------
    tasks
        Checkpoints n, shape (C,); what follows of this shape is summed over n tasks.
    exploration_regret, exploitation_regret
        Σ U(S*(w_t)) − U(S_t; w_t), by the true skills in the context of each task: of steps that
        explore and that exploit, shape (C,).
    best
        Σ U(S*(w_t)), shape (C,).
    realised, labels, explored
        Labels given that are right, labels bought, and exploring steps, shape (C,).
    contexts
        w_t, one a task.
    regrets
        Regret of each step, shape (T,).
    """

    tasks: IntArray
    exploration_regret: FloatArray
    exploitation_regret: FloatArray
    best: FloatArray
    realised: IntArray
    labels: IntArray
    explored: IntArray
    contexts: list[Any]
    regrets: FloatArray

    @property
    def regret(self) -> FloatArray:
        """R(n), shape (C,)."""
        return self.exploration_regret + self.exploitation_regret

    @property
    def reward(self) -> FloatArray:
        """Σ U(S_t; w_t), shape (C,)."""
        return self.best - self.regret

    def growth(self, since: int = 1) -> float:
        """Slope of ln R over ln n by least squares, from `since` tasks on; NaN for one point.

        Checkpoints spaced evenly in ln n weigh all scales alike.
        """
        kept = (self.tasks >= since) & (self.regret > 0)
        if np.count_nonzero(kept) < 2:
            return math.nan
        x, y = np.log(self.tasks[kept]), np.log(self.regret[kept])
        x -= x.mean()
        return float((x * y).sum() / (x * x).sum())


def play_contexts(
    learner: ContextPolicy,
    skills: Skills,
    horizon: int,
    *,
    seed: Seed,
    run: int = 0,
    relabel: Relabel = "copies",
    checkpoints: ArrayLike | None = None,
) -> PlayedContexts:
    """Let a learner label tasks whose contexts are drawn uniformly.

    Parameters
    ----------
    learner
        One that has not begun.
    skills
        Skills by context: a `SkillTable`, `SmoothSkills`, or the like.
    horizon
        T.
    seed, run
        Of contexts, truths and labels; the same for all learners, and the first tasks of a longer
        horizon are those of a shorter one.
    relabel
        As for `Draws`.
    checkpoints
        Numbers of tasks, from 1 to T; by default 200, evenly spread, and T.

    Raises
    ------
    InputError
        A parameter out of range.

    Notes
    -----
    A policy may not be worse than S*(w) in expectation at any step of its own vote; the regret is
    against the best set in the context of every single task, so it includes what an interval of
    contexts costs whose best sets differ.
    """
    T = checks.count("horizon", horizon, 1)
    tasks = marks(checkpoints, T)
    if relabel not in {"copies", "identical"}:
        raise InputError(f"relabel is {relabel!r}: give 'copies' or 'identical'")
    one = context_seeds(seed, checks.count("run", run) + 1)[run]
    contexts_rng, labels_rng = (np.random.Generator(np.random.PCG64(s)) for s in one.spawn(2))
    contexts = skills.draw(contexts_rng.random(T))
    skill = skills.at(contexts)
    M = skill.shape[1]
    uniform = labels_rng.random((T, 2 * M + 1))
    truth = (uniform[:, 0] < 0.5).astype(np.int64)

    asked = np.zeros((T, M), dtype=bool)
    kind, right = np.empty((2, T), dtype=np.int64)
    known = np.empty((T, M))
    for t, context in enumerate(contexts):
        ask = learner.ask(t, context)
        kind[t] = KINDS.index(ask.kind)
        asked[t, ask.workers] = True
        known[t] = learner.estimates_at(context) if learner.vote.weighted else 0.0
        k = int(ask.task)
        said = uniform[t, M + 1 :] if k != t and relabel == "copies" else uniform[k, 1 : M + 1]
        labels = np.where(said < skill[k], truth[k], 1 - truth[k])
        right[t] = learner.tell(np.where(asked[t], labels, -1)).label == truth[t]

    exploits = kind == KINDS.index("exploit")
    best = best_accuracies(skill, learner.vote)
    gain = gains(skill, known, asked, kind, learner.vote)
    missed = best - gain
    at = tasks - 1
    return PlayedContexts(
        tasks=tasks,
        exploration_regret=np.where(exploits, 0.0, missed).cumsum()[at],
        exploitation_regret=np.where(exploits, missed, 0.0).cumsum()[at],
        best=best.cumsum()[at],
        realised=right.cumsum()[at],
        labels=asked.sum(axis=1).cumsum()[at],
        explored=(~exploits).cumsum()[at],
        contexts=contexts,
        regrets=missed,
    )


def best_accuracies(skill: FloatArray, vote: Vote) -> FloatArray:
    """U(S*) of each of n crowds, skills of shape (n, M)."""
    if vote.weighted:
        # Nobody does harm: all of them are a best set.
        everyone = np.ones(skill.shape, dtype=bool)
        return set_accuracies(skill, skill, everyone, Vote(True, truncate=TRUNCATE))
    best: FloatArray = prefix_accuracies_many(-np.sort(-skill, axis=1))[:, 1::2].max(axis=1)
    return best
