"""How often a plan's vote is wrong, measured on the gold that its skills were estimated by.

The rule behind the plan (`plan_rule`, of several classes `joint_plan_rule`) is fitted anew without
a part of the control tasks, and applied to whoever answered them (`workbench.accuracy.measured`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from workbench.accuracy.independence import ErrorCorrelation, error_correlation
from workbench.accuracy.measured import (
    MajorityError,
    MeasuredError,
    majority_error,
    measure_error,
)
from workbench.assignment.joint_rule import joint_plan_rule
from workbench.assignment.make_plan import AssignmentPlan, AssignmentTerms
from workbench.assignment.plan_rule import PlanTerms, plan_rule
from workbench.base.arrays import IntArray
from workbench.base.seeds import Seed
from workbench.crowd import align
from workbench.crowd.gold_rule import gold_codes, some_votes
from workbench.crowd.votes import Votes

FOLDS = 10
"""Times that a plan is made anew, at most: each solves a linear program."""


def measure_plan(
    labels: pd.DataFrame,
    gold: pd.Series[Any],
    gold_types: pd.Series[Any] | None,
    made: AssignmentPlan,
    tasks: pd.Series[Any],
    terms: AssignmentTerms,
    *,
    seed: Seed,
) -> tuple[MeasuredError, ErrorCorrelation, MajorityError | None] | None:
    """Measure how often a plan's vote is wrong, by the rule behind it, and how workers err.

    Parameters
    ----------
    labels, gold, gold_types
        What the workers' skills were estimated by, for the plan and, without a part, again.
    made, tasks, terms
        A plan, of what tasks (type by task), on what terms. Which pairs may be assigned, and which
        labels are on record, makes no difference: whoever answered a control task was there, and
        the promise is the same with labels bought earlier.
    seed
        Of folds, ties and simulated crowds.

    Returns
    -------
    Error for as many tasks as are planned, correlation of the errors of the workers planned, and
    everybody's majority on the same control tasks; None where there is no plan.
    """
    classes = sorted({*labels["label"], *gold})
    if made.levels is None or made.message is not None:
        return None
    workers, types = made.skills.index, made.skills.columns
    votes = Votes.of(labels, workers=workers.to_numpy(), classes=classes)
    kinds: IntArray = np.zeros(len(votes.tasks), dtype=np.int64)
    if gold_types is not None:
        named = gold_types.reindex(votes.tasks)
        kinds = np.where(named.notna(), types.get_indexer(pd.Index(named)), 0).astype(np.int64)
    price = None
    if terms.costs is not None:
        price = align.prices(list(workers), list(types), terms.costs)
    levels = made.levels.reindex(types)
    place = types.get_indexer(pd.Index(tasks))
    errors = None
    if made.error_exact is not None and terms.promise != "bound":
        errors = tuple(made.error_exact[place == k] for k in range(len(types)))
    program = PlanTerms(
        levels.fillna(levels.max()).to_numpy(np.float64),
        align.capacities(list(workers), terms.capacity),
        np.bincount(place, minlength=len(types)),
        kinds,
        price,
        terms.gain,
        terms.least,
        terms.most,
        errors,
    )
    two = len(classes) == 2
    if two:
        rule = plan_rule(votes, program, seed=seed)
    else:
        rule = joint_plan_rule(votes, program, by_class=terms.promise == "class")
    codes, nowhere = gold_codes(votes, gold), np.zeros(0, dtype=np.int64)
    measured = measure_error(
        rule, codes, left=nowhere, further=len(tasks), most_folds=FOLDS, seed=seed
    )
    voters = {*made.table["worker"], *made.counted["worker"]}
    planned = np.flatnonzero(np.isin(workers, list(voters))[votes.worker])
    correlation = error_correlation(some_votes(votes, planned), codes, seed=seed)
    return measured, correlation, majority_error(votes, codes, measured.counted)
