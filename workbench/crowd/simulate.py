"""Simulated labels: right with the worker's skill, independent of all others.

Source: Ho, Jabbari, Vaughan (2013), Section 3. Classes are 0 and 1 (the paper's −1 and 1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray, Names
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.crowd.population import Crowd
from workbench.crowd.sources import GoldAnswers
from workbench.crowd.votes import Votes


def truth(n: int, *, seed: Seed, share: float = 0.5) -> IntArray:
    """Draw true classes of n tasks: 1 with probability `share`, else 0, independently.

    Raises
    ------
    InputError
        n is not a whole number ≥ 0, or share is outside [0, 1].
    """
    checks.count("n", n)
    checks.number("share", share, 0, 1)
    return (stream(seed, "truth").random(n) < share).astype(np.int64)


def task_types(n: int, T: int, seed: Seed | None = None) -> IntArray:
    """Give n tasks T types in equal shares (which differ by one task where they must).

    Returns
    -------
    IntArray
        Shape (n,), index of the type: block after block, or shuffled when there is a seed.

    Raises
    ------
    InputError
        n is not a whole number ≥ 0, or T not one ≥ 1.
    """
    types = np.arange(checks.count("n", n)) * checks.count("T", T, 1) // max(n, 1)
    return types if seed is None else stream(seed, "task types").permutation(types)


def simulate_labels(
    crowd: Crowd,
    task_type: ArrayLike,
    truth: ArrayLike,
    task_idx: ArrayLike,
    worker_idx: ArrayLike,
    *,
    seed: Seed,
) -> Votes:
    """Draw the labels of given (task, worker) pairs, each independently of all others.

    A pair named twice gets two independent labels. To ask a crowd again and hear the same
    answers use `SimulatedLabels`.

    Parameters
    ----------
    crowd
        The m workers.
    task_type, truth
        Shape (n,): each task's type (row of `crowd.skill`) and true class (0 or 1).
    task_idx, worker_idx
        Shape (k,): the pairs.
    seed
        One number is drawn for each pair, in the order given.

    Returns
    -------
    Votes
        Tasks named "t0", "t1", …, classes 0 and 1.

    Raises
    ------
    InputError
        Shapes that do not fit, or an index or class out of range.
    """
    kinds, true = _tasks(crowd, task_type, truth)
    task, worker = checks.pairs(task_idx, worker_idx, len(true), len(crowd))
    right = stream(seed, "votes").random(len(task)) < crowd.skill[kinds[task], worker]
    return Votes(
        task,
        worker,
        np.where(right, true[task], 1 - true[task]),
        checks.numbered("t", len(true)),
        crowd.workers,
        np.arange(2),
    )


def one_coin_labels(
    skill: ArrayLike, truth: ArrayLike, classes: int = 2, *, seed: Seed
) -> IntArray:
    """Draw the label of every worker on every task, of any number of classes.

    A worker names the true class with her skill, else one of the others with equal chance.
    Source: Li, Liu (2015), (3).

    Parameters
    ----------
    skill
        w, shape (m,).
    truth
        True class of each task, shape (n,), below `classes`.
    classes
        L, 2 or more.
    seed
        One number is drawn for each task and worker.

    Returns
    -------
    Class indices, shape (n, m).

    Raises
    ------
    InputError
        A skill outside [0, 1], a class out of range, or fewer than two classes.
    """
    L = checks.count("classes", classes, 2)
    true = checks.indices("truth", truth, L)[:, None]
    w = checks.probabilities("skill", skill, 1)
    return _named(stream(seed, "one-coin labels").random((len(true), len(w))), w, true, L)


def family_labels(
    skill: ArrayLike,
    truth: ArrayLike,
    group: ArrayLike,
    correlation: float,
    classes: int = 2,
    *,
    seed: Seed,
) -> IntArray:
    """Draw labels of workers some of whom err together, as models of one family do.

    A worker in a group takes the group's draw for a task with probability c, else one of her own,
    and errs where it is above her skill (a common shock). Each is right with her skill all the
    same; two of one group have errors of correlation c² √(q(1 − r)/(r(1 − q))), q ≤ r being their
    error rates, and c is chosen so that the mean over the pairs of a group is as asked.

    Parameters
    ----------
    skill, truth, classes
        As for `one_coin_labels`.
    group
        Number of each worker's group, −1 for none; shape (m,).
    correlation
        Mean φ of the errors of two workers of one group, given the class (both of two classes).
    seed
        Two numbers are drawn for each task and worker, and one for each task and group.

    Returns
    -------
    Class indices, shape (n, m).

    Raises
    ------
    InputError
        As `one_coin_labels`; a correlation outside [0, 1], or too high for skills so unlike.
    """
    L, together = (
        checks.count("classes", classes, 2),
        checks.indices("group", np.add(group, 1), 2**31),
    )
    true, w = checks.indices("truth", truth, L)[:, None], checks.probabilities("skill", skill, 1)
    if len(together) != len(w):
        raise InputError(f"group has {len(together)} entries for {len(w)} workers: give each one")
    rng, shape = stream(seed, "family labels"), (len(true), len(w))
    draw, copies = rng.random(shape), rng.random(shape)
    for number in np.unique(together[together > 0]):
        members = np.flatnonzero(together == number)
        common = rng.random((len(true), 1))
        shared = copies[:, members] < np.sqrt(_copying(w[members], correlation))
        draw[:, members] = np.where(shared, common, draw[:, members])
    return _named(draw, w, true, L)


def _copying(skill: FloatArray, correlation: float) -> float:
    """c²: how often two workers of a group both take its draw."""
    phi = checks.number("correlation", correlation, 0, 1)
    first, second = np.triu_indices(len(skill), 1)
    q = np.minimum(1.0 - skill[first], 1.0 - skill[second])
    r = np.maximum(1.0 - skill[first], 1.0 - skill[second])
    both = np.sqrt(np.divide(q * (1.0 - r), r * (1.0 - q), out=np.zeros(len(q)), where=q > 0))
    most = float(both.mean()) if len(both) else 1.0
    if phi > most + 1e-12:
        raise InputError(f"correlation is {phi:g}: errors of these skills reach {most:.3f} at most")
    return phi / most if most else 0.0


def _named(draw: FloatArray, w: FloatArray, true: IntArray, L: int) -> IntArray:
    """Classes named by uniform draws, shape (n, m)."""
    if L == 2:
        return np.where(draw < w, true, 1 - true)
    # What is left of a draw above the skill is uniform again: it chooses the wrong class.
    left = np.divide(draw - w, 1.0 - w, out=np.zeros_like(draw), where=w < 1.0)
    shift = 1 + np.minimum((left * (L - 1)).astype(np.int64), L - 2)
    return np.where(draw < w, true, (true + shift) % L)


def dense_votes(labels: ArrayLike, classes: int) -> Votes:
    """Votes of a matrix of labels; tasks are named "t0", …, workers "w0", …, classes 0, ….

    Parameters
    ----------
    labels
        Class indices, shape (n, m); −1 where there is no label.
    classes
        L.

    Raises
    ------
    InputError
        The labels are no matrix of whole numbers from −1 to L − 1.
    """
    matrix = np.asarray(labels)
    if matrix.ndim != 2 or (matrix.size and matrix.dtype.kind not in "iu"):
        raise InputError(
            f"labels has type {matrix.dtype} and shape {matrix.shape}: give a matrix of whole "
            "numbers, tasks × workers"
        )
    if matrix.size and not (matrix.min() >= -1 and matrix.max() < classes):
        raise InputError(
            f"labels go from {matrix.min()} to {matrix.max()}: give −1 to {classes - 1}"
        )
    n, m = matrix.shape
    names = (checks.numbered("t", n), checks.numbered("w", m), np.arange(classes))
    label = matrix.ravel().astype(np.int64)
    task, worker = np.repeat(np.arange(n), m), np.tile(np.arange(m), n)
    if label.size and label.min() < 0:
        there = label >= 0
        task, worker, label = task[there], worker[there], label[there]
    return Votes(task, worker, label, *names)


class SimulatedLabels:
    """Potential labels of every (task, worker) pair, fixed beforehand by one seed.

    One uniform number is drawn for each pair, and the label is right when it falls below the
    skill. So the answer to a pair does not depend on who asks, when, or what else is asked;
    and crowds of one size and seed are coupled: raising a skill only turns wrong labels right.
    Takes 4 n m bytes.

    Parameters
    ----------
    crowd
        The m workers.
    task_type, truth
        Shape (n,): each task's type (row of `crowd.skill`) and true class (0 or 1).
    seed
        Of the instance, not of the method that asks.

    Attributes
    ----------
    crowd, task_type, truth
        As given.
    tasks, workers, task_types, classes
        Names: "t0", "t1", …; those of the crowd; 0 and 1.
    available
        None: every pair has a label.

    Raises
    ------
    InputError
        Shapes that do not fit, or a type or class out of range.
    """

    def __init__(self, crowd: Crowd, task_type: ArrayLike, truth: ArrayLike, seed: Seed) -> None:
        self.task_type, self.truth = _tasks(crowd, task_type, truth)
        self.crowd = crowd
        self.tasks: Names = checks.numbered("t", len(self.truth))
        self.workers: Names = crowd.workers
        self.task_types: Names = crowd.task_types
        self.classes: Names = np.arange(2)
        self.available: BoolArray | None = None
        self._draw = stream(seed, "labels").random((len(self.truth), len(crowd)), dtype=np.float32)

    def labels(self, task_idx: ArrayLike, worker_idx: ArrayLike) -> IntArray:
        """Class index (0 or 1) of the label of each pair, shape (k,).

        Raises
        ------
        InputError
            An index is out of range, or the two differ in length.
        """
        task, worker = checks.pairs(task_idx, worker_idx, *self._draw.shape)
        wrong = self._draw[task, worker] >= self.crowd.skill[self.task_type[task], worker]
        return self.truth[task] ^ wrong

    def gold_answers(self, worker_idx: ArrayLike, s: int, *, seed: Seed) -> GoldAnswers:
        """Answers of k workers to s gold tasks of each type, shape (T, k).

        The number of right ones is Binomial(s, p), drawn for the whole crowd at once, so that
        with the same seed (not the same `Generator`) a worker's answers are the same whoever
        else is asked.

        Raises
        ------
        InputError
            An index is out of range, or s is not a whole number ≥ 0.
        """
        worker = checks.indices("worker_idx", worker_idx, len(self.crowd))
        correct = stream(seed, "gold").binomial(checks.count("s", s), self.crowd.skill)[:, worker]
        return GoldAnswers(correct, np.full(correct.shape, s, dtype=np.int64))


def _tasks(crowd: Crowd, task_type: ArrayLike, truth: ArrayLike) -> tuple[IntArray, IntArray]:
    kinds = checks.indices("task_type", task_type, len(crowd.task_types))
    true = checks.indices("truth", truth, 2)
    if len(kinds) != len(true):
        raise InputError(
            f"task_type has {len(kinds)} entries and truth {len(true)}: give one of each for "
            "every task"
        )
    return kinds, true
