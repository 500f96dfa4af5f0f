"""Play a learner on simulated tasks, and measure what it gains and misses.

    draws = Draws(skill, runs=20, seed=1)
    played = play(Thompson(5, seed=draws.coins(run)), draws, run, 2000)

All learners of a run meet the same tasks and the same labels, so that they are compared in pairs.
Expected reward is exact: each step counts the probability, by the true skills, that its label is
right.

Source: Liu, Liu (2015), Section 2.3 (regret), 3.2 (its parts) and 5 (contexts).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench.accuracy.best_sets import best_set
from workbench.accuracy.majority import prefix_accuracies_many
from workbench.accuracy.weighted import MOST, log_odds_accuracy
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed
from workbench.learning.context_skills import Skills
from workbench.learning.contexts import ContextLearner, IgnoringContext, context_seeds
from workbench.learning.draws import Draws
from workbench.learning.em import EmLearner
from workbench.learning.learners import Learner
from workbench.learning.roster import Roster
from workbench.learning.schedule import KINDS, checkpoints_of
from workbench.learning.sets import Vote

TRUNCATE = 1e-12
"""True skills of 0 and 1 are moved in by this before they become weights."""


@dataclass(frozen=True, eq=False)
class Played:
    """What a learner had gained and missed after given numbers of tasks.

    Attributes
    ----------
    tasks
        Checkpoints n, shape (C,); all that follows of this shape is summed over n tasks.
    best_accuracy
        U(S*), the mean over all tasks where it depends on their contexts.
    best
        Σ U(S*), shape (C,).
    exploration_regret, exploitation_regret
        Σ U(S*) − U(S_t) over steps that explore and that exploit, shape (C,), by the true skills
        in the context of each task: U is ½ at a retest, whose arriving task gets a drawn label.
        Negative where a weighted vote gains more than S* under the majority (`against`).
    realised, labels, explored
        Labels given that are right, labels bought, and exploring steps, shape (C,).
    size
        Mean number of workers asked at an exploiting step, shape (C,); NaN before there is one.
    contexts
        w_t, one a task.
    regrets
        Regret of each step, shape (T,).
    """

    tasks: IntArray
    best_accuracy: float
    best: FloatArray
    exploration_regret: FloatArray
    exploitation_regret: FloatArray
    realised: IntArray
    labels: IntArray
    explored: IntArray
    size: FloatArray
    contexts: Sequence[Any]
    regrets: FloatArray

    @property
    def regret(self) -> FloatArray:
        """R(n), shape (C,)."""
        return self.exploration_regret + self.exploitation_regret

    @property
    def reward(self) -> FloatArray:
        """Σ U(S_t), the expected number of right labels, shape (C,)."""
        return self.best - self.regret


def play(
    learner: Learner | Roster,
    draws: Draws,
    run: int,
    horizon: int,
    *,
    checkpoints: ArrayLike | None = None,
    against: str | None = None,
) -> Played:
    """Let a learner label the tasks t = 0, …, T − 1 of a run.

    Parameters
    ----------
    learner
        One that has not begun, its seed `draws.coins(run)`.
    draws
        Tasks and labels, and the true skills.
    run
        Which of its runs.
    horizon
        T.
    checkpoints
        Numbers of tasks, from 1 to T; by default 200, evenly spread, and T.
    against
        S* of which vote: "majority", "weighted", or None for the learner's own. Learners are
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
    tasks = checkpoints_of(checkpoints, T)
    stream, skill = draws.stream(run), draws.skill[run]
    weighted = learner.vote.weighted if against is None else against == "weighted"
    best = best_set(skill, weighted=weighted).accuracy
    total: FloatArray = best * tasks.astype(np.float64)
    return _played(
        IgnoringContext(learner),  # type: ignore[arg-type]
        stream.labels,
        np.array([stream.truth(t) for t in range(T)]),
        np.broadcast_to(skill, (T, draws.workers)),
        [None] * T,
        tasks,
        (best, total, np.full(T, best)),
        learner if isinstance(learner, EmLearner) else None,
    )


def play_contexts(
    learner: ContextLearner,
    skills: Skills,
    horizon: int,
    *,
    seed: Seed,
    checkpoints: ArrayLike | None = None,
) -> Played:
    """Let a learner label tasks whose contexts are drawn uniformly.

    Parameters
    ----------
    learner
        One that has not begun.
    skills
        Skills by context: a `SkillTable`, `SmoothSkills`, or the like.
    horizon
        T.
    seed
        Of contexts, truths and labels; the same for all learners, and the first tasks of a longer
        horizon are those of a shorter one.
    checkpoints
        Numbers of tasks, from 1 to T; by default 200, evenly spread, and T.

    Raises
    ------
    InputError
        A parameter out of range.

    Notes
    -----
    The regret is against the best set in the context of every single task, so it includes what an
    interval of contexts costs whose best sets differ.
    """
    T = checks.count("horizon", horizon, 1)
    tasks = checkpoints_of(checkpoints, T)
    parts = context_seeds(seed, 1)[0].spawn(2)
    contexts_rng, labels_rng = (np.random.Generator(np.random.PCG64(part)) for part in parts)
    contexts = skills.draw(contexts_rng.random(T))
    skill = skills.at(contexts)
    M = skill.shape[1]
    uniform = labels_rng.random((T, 2 * M + 1))
    truth = (uniform[:, 0] < 0.5).astype(np.int64)

    def labels(task: int, step: int) -> IntArray:
        numbers = uniform[task, 1 : M + 1] if task == step else uniform[step, M + 1 :]
        said_so: IntArray = np.where(numbers < skill[task], truth[task], 1 - truth[task])
        return said_so

    best = best_accuracies(skill, learner.vote)
    total = best.cumsum()
    optimum = float(total[-1]) / T, total[tasks - 1], best
    return _played(learner, labels, truth, skill, contexts, tasks, optimum)


def _played(
    learner: ContextLearner,
    labels: Callable[[int, int], IntArray],
    truth: IntArray,
    skill: FloatArray,
    contexts: Sequence[Any],
    tasks: IntArray,
    best: tuple[float, FloatArray, FloatArray],
    own: EmLearner | None = None,
) -> Played:
    """Play; `labels` of all at a step, skills of shape (T, M), U(S*) as `Played` and by step.

    `own` is the learner if its labels are no `Vote` of p̂.
    """
    gain = np.empty(len(truth))
    panel, estimate = np.zeros(skill.shape, dtype=bool), np.zeros(skill.shape)
    kind, right = np.empty((2, len(truth)), dtype=np.int64)
    for t, context in enumerate(contexts):
        ask = learner.ask(t, context)
        panel[t, ask.workers] = True
        kind[t] = KINDS.index(ask.kind)
        if learner.vote.weighted:
            estimate[t] = learner.estimates_at(context)
        if own is not None:
            gain[t] = own.accuracy_of(skill[t], ask.workers)
        answers = np.where(panel[t], labels(int(ask.task), t), -1)
        right[t] = learner.tell(answers).label == truth[t]
    exploits = kind == KINDS.index("exploit")
    if own is None:
        gain = gains(skill, estimate, panel, kind, learner.vote)
    missed = best[2] - gain
    at, bought = tasks - 1, panel.sum(axis=1)
    steps = exploits.cumsum()[at]
    size = np.full(len(tasks), np.nan)
    np.divide((bought * exploits).cumsum()[at], steps, out=size, where=steps > 0)
    return Played(
        tasks=tasks,
        best_accuracy=best[0],
        best=best[1],
        exploration_regret=np.where(exploits, 0.0, missed).cumsum()[at],
        exploitation_regret=np.where(exploits, missed, 0.0).cumsum()[at],
        realised=right.cumsum()[at],
        labels=bought.cumsum()[at],
        explored=tasks - steps,
        size=size,
        contexts=contexts,
        regrets=missed,
    )


def set_accuracy(learner: Learner | Roster, skill: FloatArray, workers: IntArray) -> float:
    """U of the label that a learner makes of some workers' labels, by true skills (M,)."""
    if isinstance(learner, EmLearner):
        return learner.accuracy_of(skill, workers)
    panel = np.isin(np.arange(len(skill)), workers)[None]
    return float(set_accuracies(skill[None], learner.estimates[None], panel, learner.vote)[0])


def set_accuracies(
    skill: FloatArray, estimate: FloatArray, panel: BoolArray, vote: Vote
) -> FloatArray:
    """U(S) of n sets, each among workers of its own.

    Parameters
    ----------
    skill, estimate
        p and, for weights, p̂, shape (n, M).
    panel
        S, shape (n, M).
    vote
        The rule.

    Returns
    -------
    Shape (n,), ½ for an empty set. Equal rows are computed once. Of a weighted vote of more than
    26 workers it is the middle of an interval, as `log_odds_accuracy` has it.
    """
    if not len(panel):
        return np.empty(0)
    M = panel.shape[1]
    rows = np.hstack([panel, skill, estimate] if vote.weighted else [panel, skill])
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
    skill: FloatArray, estimate: FloatArray, panel: BoolArray, kind: IntArray, vote: Vote
) -> FloatArray:
    """U of each of n steps: ½ at a retest, the simple majority's at a new tester.

    Parameters
    ----------
    skill, estimate, panel, vote
        As for `set_accuracies`.
    kind
        Index into `KINDS`, shape (n,).
    """
    gain = np.full(len(kind), 0.5)
    for name, rule in (("exploit", vote), ("new tester", Vote())):
        at = np.flatnonzero(kind == KINDS.index(name))
        gain[at] = set_accuracies(skill[at], estimate[at], panel[at], rule)
    return gain


def best_accuracies(skill: FloatArray, vote: Vote) -> FloatArray:
    """U(S*) of each of n crowds, skills of shape (n, M)."""
    if vote.weighted:
        # Nobody does harm: all of them are a best set.
        everyone = np.ones(skill.shape, dtype=bool)
        return set_accuracies(skill, skill, everyone, Vote(True, truncate=TRUNCATE))
    best: FloatArray = prefix_accuracies_many(-np.sort(-skill, axis=1))[:, 1::2].max(axis=1)
    return best
