"""Play a policy on a simulated stream, and measure what it gains, spends and misses.

    draws = Draws(skill, runs=20, seed=1)
    played = play(Thompson(5, seed=draws.coins(run)), draws, run, 2000)

All policies of a run meet the same tasks and the same labels, so that they are compared in pairs.
Expected reward is exact: each step counts the probability, by the true skills, that its label is
right.

Source: Liu, Liu (2015), Section 2.3 (regret), 3.2 and 3.4 (its parts).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from workbench.accuracy.best_set import best_set
from workbench.accuracy.majority import prefix_accuracies_many
from workbench.accuracy.weighted import MOST, log_odds_accuracy
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed
from workbench.learning.context_skills import Skills
from workbench.learning.contexts import ContextLearner, context_seeds
from workbench.learning.draws import Draws, Relabel
from workbench.learning.learners import Learner
from workbench.learning.schedule import KINDS
from workbench.learning.sets import Vote

POINTS = 200
"""Checkpoints when none are given."""
TRUNCATE = 1e-12
"""True skills of 0 and 1 are moved in by this before they become weights."""


@dataclass(frozen=True, eq=False)
class Played:
    """What a policy had gained and spent after given numbers of tasks.

    Attributes
    ----------
    tasks
        Checkpoints n, shape (C,); all that follows of this shape is summed over n tasks.
    best_accuracy, best_cost
        U(S*) and C(S*).
    exploration_regret, exploitation_regret
        Σ U(S*) − U(S_t) over steps that explore and that exploit, shape (C,): U is ½ at a retest,
        whose arriving task gets a drawn label. Negative where a weighted
        vote gains more than S* under the majority (`against`).
    realised
        Labels given that are right, shape (C,).
    labels
        Labels bought, shape (C,).
    spent
        What they cost, shape (C,).
    exploration_extra_cost, exploitation_extra_cost
        What they cost beyond C(S*) a task, shape (C,); all labels of a retest are extra.
    explored
        Steps that explored, shape (C,).
    size
        Mean number of workers asked at an exploiting step, shape (C,); NaN before there is one.
    estimates
        p̂ at the end, shape (M,).
    best
        The best set by these.
    """

    tasks: IntArray
    best_accuracy: float
    best_cost: float
    exploration_regret: FloatArray
    exploitation_regret: FloatArray
    realised: IntArray
    labels: IntArray
    spent: FloatArray
    exploration_extra_cost: FloatArray
    exploitation_extra_cost: FloatArray
    explored: IntArray
    size: FloatArray
    estimates: FloatArray
    best: IntArray

    @property
    def regret(self) -> FloatArray:
        """R(n), shape (C,)."""
        return self.exploration_regret + self.exploitation_regret

    @property
    def reward(self) -> FloatArray:
        """Σ U(S_t), the expected number of right labels, shape (C,)."""
        return self.best_accuracy * self.tasks - self.regret

    @property
    def cost_regret(self) -> FloatArray:
        """R_C(n) as Section 3.4 counts it, shape (C,)."""
        return self.exploration_extra_cost + self.exploitation_extra_cost

    def table(self) -> pd.DataFrame:
        """One row a checkpoint, indexed by the number of tasks."""
        columns = (
            "reward",
            "realised",
            "regret",
            "exploration_regret",
            "exploitation_regret",
            "labels",
            "spent",
            "cost_regret",
            "explored",
            "size",
        )
        values = {name: getattr(self, name) for name in columns}
        return pd.DataFrame(values, index=pd.Index(self.tasks, name="tasks"))


def play(
    policy: Learner,
    draws: Draws,
    run: int,
    horizon: int,
    *,
    costs: ArrayLike | None = None,
    checkpoints: ArrayLike | None = None,
    against: str | None = None,
) -> Played:
    """Let a policy label the tasks t = 0, …, T − 1 of a run.

    Parameters
    ----------
    policy
        One that has not begun, its seed `draws.coins(run)`.
    draws
        Tasks and labels, and the true skills.
    run
        Which of its runs.
    horizon
        T.
    costs
        c, shape (M,), the price of a label; 1 by default.
    checkpoints
        Numbers of tasks, from 1 to T; by default 200, evenly spread, and T.
    against
        S* of which vote: "majority", "weighted", or None for the policy's own. Policies are
        compared by reward, or by regret against the same.

    Raises
    ------
    InputError
        A parameter out of range.

    Notes
    -----
    For `LsOl` the numbers are those of `simulate`.
    """
    T = checks.count("horizon", horizon, 1)
    if against not in {None, "majority", "weighted"}:
        raise InputError(f"against is {against!r}: give 'majority', 'weighted' or None")
    stream, skill, M = draws.stream(run), draws.skill[run], draws.workers
    price = prices(costs, M)
    tasks = marks(checkpoints, T)
    weighted = policy.vote.weighted if against is None else against == "weighted"
    best = best_set(skill, weighted=weighted)

    members, known = np.zeros((T, M), dtype=bool), np.zeros((T, M))
    kind, right = np.empty((2, T), dtype=np.int64)
    for t in range(T):
        ask = policy.ask(t)
        members[t, ask.workers] = True
        kind[t] = KINDS.index(ask.kind)
        if policy.vote.weighted:
            known[t] = policy.estimates
        labels = stream.answers(int(ask.task), ask.workers, t)
        right[t] = policy.tell(labels).label == stream.truth(t)

    exploits, retests = kind == KINDS.index("exploit"), kind == KINDS.index("retest")
    asked, spent = members.sum(axis=1), members @ price
    gain = gains(np.broadcast_to(skill, known.shape), known, members, kind, policy.vote)
    best_cost = float(price[best.workers].sum())
    missed, extra = best.accuracy - gain, spent - np.where(retests, 0.0, best_cost)
    at = tasks - 1
    steps = exploits.cumsum()[at]
    size = np.full(len(tasks), np.nan)
    np.divide((asked * exploits).cumsum()[at], steps, out=size, where=steps > 0)
    return Played(
        tasks=tasks,
        best_accuracy=best.accuracy,
        best_cost=best_cost,
        exploration_regret=np.where(exploits, 0.0, missed).cumsum()[at],
        exploitation_regret=np.where(exploits, missed, 0.0).cumsum()[at],
        realised=right.cumsum()[at],
        labels=asked.cumsum()[at],
        spent=spent.cumsum()[at],
        exploration_extra_cost=np.where(exploits, 0.0, extra).cumsum()[at],
        exploitation_extra_cost=np.where(exploits, extra, 0.0).cumsum()[at],
        explored=tasks - steps,
        size=size,
        estimates=policy.estimates,
        best=policy.best,
    )


def set_accuracies(
    skill: FloatArray, estimate: FloatArray, asked: BoolArray, vote: Vote
) -> FloatArray:
    """U(S) of n sets, each among workers of its own.

    Parameters
    ----------
    skill, estimate
        p and, for weights, p̂, shape (n, M).
    asked
        S, shape (n, M).
    vote
        The rule.

    Returns
    -------
    Shape (n,), ½ for an empty set. Equal rows are computed once. Of a weighted vote of more than
    26 workers it is the middle of an interval, as `log_odds_accuracy` has it.
    """
    if not len(asked):
        return np.empty(0)
    M = asked.shape[1]
    rows = np.hstack([asked, skill, estimate] if vote.weighted else [asked, skill])
    rows, which = np.unique(rows, axis=0, return_inverse=True)
    member, p = rows[:, :M] > 0, rows[:, M : 2 * M]
    p_hat = rows[:, -M:] if vote.weighted else p
    if vote.weighted and M > MOST:
        accuracy = np.array(
            [
                log_odds_accuracy(
                    p[r, s], p_hat[r, s], tolerance=vote.tolerance, truncate=vote.truncate
                )[0]
                for r, s in enumerate(member)
            ]
        )
    else:
        first = np.argsort(~member, axis=1, kind="stable")
        accuracy = vote.accuracies(
            np.take_along_axis(p, first, axis=1),
            np.take_along_axis(p_hat, first, axis=1),
            member.sum(axis=1),
        )
    return accuracy[which]


def gains(
    skill: FloatArray, estimate: FloatArray, asked: BoolArray, kind: IntArray, vote: Vote
) -> FloatArray:
    """U of each of n steps: ½ at a retest, the simple majority's at a new tester.

    Parameters
    ----------
    skill, estimate, asked, vote
        As for `set_accuracies`.
    kind
        Index into `KINDS`, shape (n,).
    """
    gain = np.full(len(kind), 0.5)
    for name, rule in (("exploit", vote), ("new tester", Vote())):
        at = np.flatnonzero(kind == KINDS.index(name))
        gain[at] = set_accuracies(skill[at], estimate[at], asked[at], rule)
    return gain


def prices(costs: ArrayLike | None, workers: int) -> FloatArray:
    """Check what labels cost, shape (M,); 1 each by default."""
    price = np.ones(workers) if costs is None else checks.floats("costs", costs)
    if price.shape != (workers,) or not ((price >= 0) & (price < np.inf)).all():
        raise InputError(f"costs: give {workers} prices of 0 or more, one a worker")
    return price


def marks(given: ArrayLike | None, horizon: int) -> IntArray:
    """Check checkpoints, shape (C,), ascending; 200 by default."""
    if given is None:
        return np.unique(np.linspace(1, horizon, POINTS).astype(np.int64))
    tasks = np.unique(checks.wholes("checkpoints", given))
    if not len(tasks) or tasks[0] < 1 or tasks[-1] > horizon:
        raise InputError(f"checkpoints: give numbers of tasks from 1 to {horizon}")
    return tasks


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
    learner: ContextLearner,
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
