"""What `compare` measures on a fifth of the gold, beside the errors on the rest of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from workbench.base.errors import InputError
from workbench.comparison.instances import RecordedOptions
from workbench.comparison.running import answered, recorded

EPSILONS = (0.1, 0.2, 0.3, 0.4)
"""Errors asked for: of each crowd the least that is in reach of a third of its tasks."""
FEWEST = 50
"""Tasks with other gold on which an error is made, at least."""


class Judged(NamedTuple):
    """A method's interval, and the error made on the other gold of the tasks kept."""

    method: str
    low: float
    high: float
    made: float
    tasks: int

    @property
    def held(self) -> bool:
        """Whether the interval holds it."""
        return self.low <= self.made <= self.high


def draws(labels, given, rest, seed) -> list[Judged]:
    """Give `compare` a part of the gold, and judge every method that can be bought by the rest.

    Empty where too few tasks are in reach.
    """
    streams = [np.random.SeedSequence(seed, spawn_key=(0, part)) for part in range(2)]
    for epsilon in EPSILONS:
        try:
            instance = recorded(labels, given, RecordedOptions(0.3, 20, epsilon), seed=streams[0])
        except InputError:
            continue
        at = pd.Index(instance.names).get_indexer(rest.index)
        if len(instance.tasks) * 2 >= len(instance.left_out) and (at >= 0).sum() >= FEWEST:
            break
    else:
        return []
    truth = pd.Index(_classes(instance)).get_indexer(rest[at >= 0])
    found = []
    for method, answers, error in answered(instance, seed=streams[1]):
        wrong = 1.0 - answers.chance[at[at >= 0], truth]
        made = float(np.where(np.isnan(wrong), 1.0, wrong).mean())
        if error is not None and error.tasks_measured:
            found.append(Judged(method, *error.error_interval, made, len(truth)))
    return found


def _classes(instance):
    return instance.source.classes if instance.classes == 2 else instance.votes.classes
