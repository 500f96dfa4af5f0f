"""How often a plan's vote is wrong, measured on the gold that its skills were estimated by.

The rule behind the plan (`plan_rule`, of several classes `joint_plan_rule`) is fitted anew without
a part of the control tasks, and applied to whoever answered them (`workbench.accuracy.measured`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
from workbench.assignment.joint_rules import joint_plan_rule
from workbench.assignment.make_plan import AssignmentPlan, AssignmentTerms
from workbench.assignment.plan_rules import PlanTerms, plan_rule
from workbench.assignment.rows_or_skill import rows_err_less, rows_in_question, rows_or_skill
from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.seeds import Seed
from workbench.crowd import align
from workbench.crowd.gold_rule import GoldRule, gold_codes, some_votes
from workbench.crowd.loss import Stakes
from workbench.crowd.votes import Votes

FOLDS = 10
"""Times that a plan is made anew, at most: each solves a linear program."""


@dataclass(frozen=True, eq=False)
class PlanFromGold:
    """A plan, and all that it was made of, so that it can be made again without a part of the gold.

    Attributes
    ----------
    labels, gold, gold_types
        What the workers' skills were estimated by, and the type of each gold task; None for one.
    made, tasks, terms
        A plan, of what tasks (type by task), on what terms. Which pairs may be assigned, and which
        labels are on record, makes no difference: whoever answered a control task was there, and
        the promise is the same with labels bought earlier.
    compared
        Whether gold chose between rows and one skill a worker (`takes_rows`): it then does anew.
    """

    labels: pd.DataFrame
    gold: pd.Series[Any]
    gold_types: pd.Series[Any] | None
    made: AssignmentPlan
    tasks: pd.Series[Any]
    terms: AssignmentTerms
    compared: bool = False

    def rule(self, *, seed: Seed) -> tuple[Votes, GoldRule]:
        """The votes that the plan buys from, and the rule behind it; the seed is of ties."""
        made, terms = self.made, self.terms
        assert made.levels is not None
        types = made.skills.columns
        votes = _votes(self.labels, self.gold, made.skills.index)
        levels = made.levels.reindex(types)
        place = types.get_indexer(pd.Index(self.tasks))
        errors = None
        if made.error_exact is not None and terms.promise != "bound":
            errors = tuple(made.error_exact[place == k] for k in range(len(types)))
        level = levels.fillna(levels.max()).to_numpy(np.float64)
        stakes = made.stakes
        level, errors = _as_errors(stakes, level, errors)
        program = _program(votes, self.gold_types, made.skills, self.tasks, terms, level, errors)
        by_rows = made.scores is not None
        if by_rows:
            by_class = terms.promise == "class"
            rule = joint_plan_rule(votes, program, by_class=by_class, stakes=terms.stakes)
        else:
            rule = plan_rule(votes, program, seed=seed)
        if self.compared:
            assert terms.epsilon is not None
            tried = _tried(votes, program, terms.epsilon, seed)
            alike = tuple(np.full(1, terms.epsilon) for _ in types)
            as_often = plan_rule(votes, replace(program, errors=alike), seed=seed)
            pair = (rule, as_often) if by_rows else (tried[0], rule)
            rule = rows_or_skill(votes, tried, pair, seed=seed)
        return votes, rule

    def measured(
        self, *, seed: Seed
    ) -> tuple[MeasuredError, ErrorCorrelation, MajorityError | None] | None:
        """Measure how often the plan's vote is wrong, by the rule behind it, and how workers err.

        Parameters
        ----------
        seed
            Of folds, ties and simulated crowds.

        Returns
        -------
        Error for as many tasks as are planned, correlation of the errors of the workers planned,
        and everybody's majority on the same control tasks; None where there is no plan.
        """
        made = self.made
        if made.levels is None or made.message is not None:
            return None
        votes, rule = self.rule(seed=seed)
        codes, nowhere = gold_codes(votes, self.gold), np.zeros(0, dtype=np.int64)
        error = measure_error(
            rule, codes, left=nowhere, further=len(self.tasks), most_folds=FOLDS, seed=seed
        )
        voters = {*made.table["worker"], *made.counted["worker"]}
        planned = np.flatnonzero(np.isin(made.skills.index, list(voters))[votes.worker])
        correlation = error_correlation(some_votes(votes, planned), codes, seed=seed)
        return error, correlation, majority_error(votes, codes, error.counted)


def _as_errors(
    stakes: Stakes | None, level: FloatArray, errors: tuple[FloatArray, ...] | None
) -> tuple[FloatArray, tuple[FloatArray, ...] | None]:
    """Expected costs as errors under the tilted prior, by which programs go."""
    if stakes is None:
        return level, errors
    scale = stakes.scale
    return level / scale, None if errors is None else tuple(each / scale for each in errors)


def may_take_rows(terms: AssignmentTerms, types: int) -> bool:
    """Whether a plan of two classes may be made by rows: ε of the exact error, one task type."""
    plain = terms.promise in ("each", "mean") and terms.sure is None and types == 1
    return plain and terms.epsilon is not None


def takes_rows(
    labels: pd.DataFrame,
    gold: pd.Series[Any],
    skills: pd.DataFrame,
    tasks: pd.Series[Any],
    terms: AssignmentTerms,
    *,
    seed: Seed,
) -> tuple[bool, bool]:
    """Whether rows are compared with one skill a worker, and whether they err less.

    Parameters
    ----------
    labels, gold, tasks, terms
        As `PlanFromGold` has them.
    skills
        By worker and task type.
    seed
        Of folds and ties.
    """
    votes = _votes(labels, gold, skills.index)
    codes = gold_codes(votes, gold)
    if not may_take_rows(terms, skills.shape[1]) or not rows_in_question(votes, codes):
        return False, False
    assert terms.epsilon is not None
    level = np.full(1, checks.inside("epsilon", terms.epsilon))
    program = _program(votes, None, skills, tasks, terms, level, None)
    tried = _tried(votes, program, terms.epsilon, seed)
    return True, rows_err_less(votes, codes, *tried, seed=seed)


def _tried(
    votes: Votes, program: PlanTerms, epsilon: float, seed: Seed
) -> tuple[GoldRule, GoldRule]:
    """The rules by rows and by skill that buy covers at one ε."""
    at = replace(program, level=np.full(len(program.level), epsilon), errors=None)
    return joint_plan_rule(votes, at), plan_rule(votes, at, seed=seed)


def _votes(labels: pd.DataFrame, gold: pd.Series[Any], workers: pd.Index[Any]) -> Votes:
    classes = sorted({*labels["label"], *gold})
    return Votes.of(labels, workers=workers.to_numpy(), classes=classes)


def _program(
    votes: Votes,
    gold_types: pd.Series[Any] | None,
    skills: pd.DataFrame,
    tasks: pd.Series[Any],
    terms: AssignmentTerms,
    level: FloatArray,
    errors: tuple[FloatArray, ...] | None,
) -> PlanTerms:
    """All of the program but the skills."""
    workers, types = skills.index, skills.columns
    kinds: IntArray = np.zeros(len(votes.tasks), dtype=np.int64)
    if gold_types is not None:
        named = gold_types.reindex(votes.tasks)
        kinds = np.where(named.notna(), types.get_indexer(pd.Index(named)), 0).astype(np.int64)
    price = None
    if terms.costs is not None:
        price = align.prices(list(workers), list(types), terms.costs)
    return PlanTerms(
        level,
        align.capacities(list(workers), terms.capacity),
        np.bincount(types.get_indexer(pd.Index(tasks)), minlength=len(types)),
        kinds,
        price,
        terms.gain,
        terms.least,
        terms.most,
        errors,
    )
