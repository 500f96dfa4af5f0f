"""LS_OL for 100 runs of 2000 tasks: the engine beside the plain loop, on the same numbers.

Source: Liu, Liu (2015), Section 6.1, with its Table 1 as the crowd.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.measure import BenchSize, Sample, timed
from benchmarks.plain_ls_ol import PlainStep, Settings, plain_run
from workbench.learning.draws import Draws
from workbench.learning.engine import Runs, simulate
from workbench.learning.schedule import practical

SKILL = [0.763, 0.781, 0.625, 0.783, 0.727]
G1, G2 = 2.0, 6.8
"""G2 is 1/(a_min − ½)² of this crowd."""


def learning_time(size: BenchSize) -> Sample:
    """Seconds of all runs; both sides draw their own numbers.

    The engine adds up regret and cost as well, which the plain loop does not.
    """
    runs, tasks = (100, 2000) if size.full else (3, 100)
    draws = Draws(SKILL, runs, seed=size.seed)
    schedule = practical(G1, G2)
    played = simulate(draws, schedule, tasks, checkpoints=range(1, tasks + 1))
    for run, plain in enumerate(_plain(draws, tasks)):
        _same(plain, played, run)
    ours = partial(simulate, draws, schedule, tasks, checkpoints=[tasks])
    note = f"{runs} runs of {tasks} tasks, the same labels and estimates"
    return timed(ours, partial(_plain, draws, tasks), size.few, note)


def _plain(draws: Draws, tasks: int) -> list[list[PlainStep]]:
    steps = np.arange(tasks)
    played = []
    for run, skill in enumerate(draws.skill.tolist()):
        (order,), (coins,) = draws.coins_at(np.array([run]), steps)
        world = draws.world(run, steps).tolist()
        played.append(
            list(plain_run(skill, world, coins.tolist(), order.tolist(), Settings(G1, G2)))
        )
    return played


def _same(plain: list[PlainStep], runs: Runs, run: int) -> None:
    labels = np.cumsum([len(step.workers) for step in plain])
    if (runs.labels[run] != labels).any() or tuple(runs.estimates[run]) != plain[-1].estimates:
        raise RuntimeError(f"the two sides part in run {run}")
