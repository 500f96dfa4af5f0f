"""Whom to ask first where a few cheap models and people label: all models, then people at random.

A task costs little to have labelled by all models. What their patterns of answers are worth only
people can tell, and of all patterns: so a random block of tasks is given to people, one label each,
before anybody looks at what the models leave open.
"""

from __future__ import annotations

import numpy as np

from workbench.base.arrays import BoolArray, IntArray
from workbench.collection.pool import FREE, Ledger, Questions

# Chosen on some forty other pools than those of docs/findings/mixed-pools.md.
BLOCK = 100
"""Tasks of the random block."""
BLOCK_MONEY = 0.25
"""Share of what a budget leaves beside the models that the block may cost."""
# By judgement, not tuned.
VISIT = 16
"""Tasks of the block for a person who is here."""


def first_questions(
    ledger: Ledger, models: BoolArray, order: IntArray, worker: int | None
) -> Questions | None:
    """The next questions to models, or to people about the random block; None when both are over.

    Parameters
    ----------
    ledger
        What was asked and answered.
    models
        Which workers are models, shape (m,).
    order
        All tasks in random order, shape (n,).
    worker
        Who is here; None for anybody.
    """
    cheap = np.flatnonzero(models)
    for model in (cheap if worker is None else cheap[cheap == worker]).tolist():
        for gold, can in ((True, ledger.gold_open), (False, ledger.open)):
            task = np.flatnonzero(can[:, model])[: ledger.left[model]]
            if len(task):
                return Questions(task, np.full(len(task), model), gold)
    people = np.flatnonzero(~models & (ledger.left > 0))
    if worker is not None:
        people = people[people == worker]
    asked = np.bincount(ledger.labels[~models[ledger.labels[:, 1]], 0], minlength=len(order)) > 0
    block = order[: _block_size(ledger, models)]
    todo = block[~asked[block] & (ledger.waiting[block] == 0)]
    able = ledger.open[np.ix_(todo, people)]
    todo, able = todo[able.any(axis=1)], able[able.any(axis=1)]
    if worker is not None:
        todo, able = todo[:VISIT], able[:VISIT]
    if not len(todo):
        return None
    # By turns: the first who can be asked, each task beginning with the next person.
    turn = (np.arange(len(people)) - np.arange(len(todo))[:, None]) % len(people)
    who = people[np.where(able, turn, len(people)).argmin(axis=1)]
    return Questions(todo, who)


def _block_size(ledger: Ledger, models: BoolArray) -> int:
    """Tasks of the block, by what a budget leaves beside the models' answers to all tasks."""
    if ledger.total is None:
        return BLOCK
    price, kind = ledger.pool.price, ledger.pool.kind
    rest = ledger.total - float(price[np.ix_(kind, models)].sum())
    return int(np.clip(BLOCK_MONEY * rest / max(price[:, ~models].mean(), FREE), 0, BLOCK))
