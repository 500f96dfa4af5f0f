"""The tasks and labels of a simulated crowd, the same for whoever labels them.

Every run has two streams of random numbers. That of the world has 2M + 1 for each step: the
truth of the arriving task, the labels all M workers would give it, and the labels they would
give a tester assigned again at that step. That of the coins, uniform random numbers, is the
learner's own. A learner that asks fewer workers sees the same labels from those, so learners are
compared on the same streams; and as any step can be reached without drawing those before, long runs
draw only what they use.

A task is named by the step at which it arrives.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, sequence

COINS = 5
"""Coins of LS_OL at each step: which tester, the label of the arriving task, the tie of a
tester's round, the tie of its rounds together, and the delay."""
BLOCK = 256
"""Steps drawn together where they follow each other."""
WORD = zlib.crc32(b"learning draws")
"""Sets these streams apart from others that grow from the same seed."""
NEAR = 1000
"""Gaps of fewer numbers than this are drawn too: that is quicker than passing over them."""


class Draws:
    """Truths, labels and coins of R runs.

    Parameters
    ----------
    skill
        p, shape (M,), the same crowd in every run, or (R, M).
    runs
        R; may be left out where `skill` has a row a run.
    seed
        Of everything. A `Generator` gives one number, from which all follows.

    Raises
    ------
    InputError
        Skills that are not probabilities, no worker, rows that are not R.

    Notes
    -----
    Run r has the streams `SeedSequence(entropy, spawn_key=(…, WORD, r, 0))` (world) and
    `(…, WORD, r, 1)` (coins). Step t of the world begins at position t(2M + 1). The coins begin
    with M for the order of equal workers; those of step t begin at M + 5t.
    """

    def __init__(self, skill: ArrayLike, runs: int | None = None, *, seed: Seed) -> None:
        p = checks.floats("skill", skill)
        if p.ndim not in {1, 2} or not p.shape[-1]:
            raise InputError(f"skill has shape {p.shape}: give a vector, or a row for each run")
        if not ((p >= 0) & (p <= 1)).all():
            raise InputError("skill is outside [0, 1] or NaN: give probabilities")
        if runs is None:
            runs = len(p) if p.ndim == 2 else 1
        self.runs = checks.count("runs", runs, 1)
        if p.ndim == 2 and len(p) != self.runs:
            raise InputError(f"skill has {len(p)} rows for {runs} runs: give one for each")
        self.skill: FloatArray = np.array(np.broadcast_to(p, (self.runs, p.shape[-1])))
        self._seed = sequence(seed)

    @property
    def workers(self) -> int:
        """M."""
        return int(self.skill.shape[1])

    def stream(self, run: int) -> TaskStream:
        """Return the tasks of a run, one after the other."""
        return TaskStream(self, self._run(run))

    def coins(self, run: int) -> np.random.Generator:
        """Return a learner's own random numbers in a run: give it as its seed."""
        return self._generator(run, 1)

    def world(self, run: int, steps: IntArray) -> FloatArray:
        """Draw what a run has in store at given steps, shape (n, 2M + 1): see `worlds`."""
        world: FloatArray = self.worlds(np.array([run]), steps)[0]
        return world

    def worlds(self, runs: IntArray, steps: IntArray) -> FloatArray:
        """Draw what runs have in store at given steps, the same in each.

        Parameters
        ----------
        runs
            Out of 0, …, R − 1, shape (r,).
        steps
            Shape (n,), ascending.

        Returns
        -------
        Shape (r, n, 2M + 1): truth, labels of the arriving task, labels of a tester.
        """
        return self._drawn(runs, 0, 0, steps, 2 * self.workers + 1)[1]

    def coins_at(self, runs: IntArray, steps: IntArray) -> tuple[FloatArray, FloatArray]:
        """Draw what LS_OL tosses in some runs.

        Returns
        -------
        order, coins
            The order of equal workers, shape (r, M), and the coins of given steps, shape (r, n, 5).
        """
        return self._drawn(runs, 1, self.workers, steps, COINS)

    def _drawn(
        self, runs: IntArray, part: int, before: int, steps: IntArray, width: int
    ) -> tuple[FloatArray, FloatArray]:
        """Draw the first numbers of streams, and those of some steps, `width` of which follow."""
        first, out = np.empty((len(runs), before)), np.empty((len(runs), len(steps), width))
        stretches = _stretches(steps, NEAR // width)
        for row, run in enumerate(runs.tolist()):
            rng = self._generator(run, part)
            rng.random(out=first[row])
            for passed, drawn, rows, places in stretches:
                if passed:
                    rng.bit_generator.advance(passed * width)  # type: ignore[attr-defined]
                if places is None:
                    rng.random(out=out[row, rows])
                else:
                    # Any mode but the default writes straight to `out`.
                    numbers = rng.random((drawn, width))
                    np.take(numbers, places, axis=0, out=out[row, rows], mode="clip")
        return first, out

    def _generator(self, run: int, part: int) -> np.random.Generator:
        key = (*self._seed.spawn_key, WORD, self._run(run), part)
        sequence = np.random.SeedSequence(self._seed.entropy, spawn_key=key)
        return np.random.Generator(np.random.PCG64(sequence))

    def _run(self, run: int) -> int:
        if not 0 <= run < self.runs:
            raise InputError(f"run is {run}: give one from 0 to {self.runs - 1}")
        return int(run)


class TaskStream:
    """The tasks of one run.

    Tasks are named 0, 1, 2, … by the step at which they arrive.
    """

    def __init__(self, draws: Draws, run: int) -> None:
        self._draws = draws
        self._run = run
        self._skill = draws.skill[run]
        self._blocks: dict[int, FloatArray] = {}

    def truth(self, task: int) -> int:
        """Return the true class of a task, 0 or 1."""
        return int(self._row(task)[0] < 0.5)

    def labels(self, task: int, step: int | None = None) -> IntArray:
        """Return what all M workers say to a task when asked at a step, shape (M,).

        Parameters
        ----------
        task
            The step at which it arrived.
        step
            When they are asked: the task's own step by default, a later one for a tester.
        """
        M, step = len(self._skill), task if step is None else step
        numbers = self._row(task)[1 : M + 1] if step == task else self._row(step)[M + 1 :]
        truth = self.truth(task)
        return np.where(numbers < self._skill, truth, 1 - truth).astype(np.int64)

    def answers(self, task: int, workers: Iterable[int], step: int) -> IntArray:
        """Return the labels of those who are asked, −1 for all others, shape (M,)."""
        labels = np.full(len(self._skill), -1, dtype=np.int64)
        those = np.asarray(list(workers), dtype=np.int64)
        labels[those] = self.labels(task, step)[those]
        return labels

    def _row(self, step: int) -> FloatArray:
        """Numbers of a step, drawn in blocks."""
        block, row = divmod(step, BLOCK)
        if block not in self._blocks:
            steps = np.arange(block * BLOCK, (block + 1) * BLOCK)
            self._blocks[block] = self._draws.world(self._run, steps)
        numbers: FloatArray = self._blocks[block][row]
        return numbers


def _stretches(steps: IntArray, near: int) -> list[tuple[int, int, slice, IntArray | None]]:
    """Cut steps where the gap is wide: steps passed over, steps drawn, where they go, which do.

    The last is None where all that are drawn are kept.
    """
    wide = np.flatnonzero(np.diff(steps) > near) + 1
    stretches, position = [], 0
    for first, last in pairwise([0, *wide.tolist(), len(steps)] if len(steps) else []):
        start, end = int(steps[first]), int(steps[last - 1]) + 1
        places = None if end - start == last - first else steps[first:last] - start
        stretches.append((start - position, end - start, slice(first, last), places))
        position = end
    return stretches
