"""Whether a proof of policies is about some tables: those of `plan(..., sequential=…)`."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from crowd_models.sequential_policies import SequentialProblem
from workbench.api.label_plan import SequentialPlan
from workbench.api.planning import PlanOptions, plan
from workbench.base.errors import InputError
from workbench.solving.sequential_proofs import stated

PARTS = {"skill": "skills", "tasks": "tasks", "supply": "capacity", "cost": "costs"}
"""What a proof's problem has of tables, and their names."""


def other_tables(content: bytes, **tables: Any) -> list[str]:
    """Name the tables that a sequential proof was not made for; ε and promise are its own.

    Parameters
    ----------
    content
        The file, which holds.
    tables
        `skills`, `tasks`, `capacity` and `costs` as `wb.plan` takes them.

    Raises
    ------
    InputError
        Another kind of proof, or tables that are no problem.
    """
    proof = json.loads(content)
    if proof["kind"] != "sequential":
        raise InputError("skills, tasks, capacity, costs: go with a proof of plan --sequential")
    claimed = proof["problem"]
    # What a plan is asked, which is not waited for.
    asked = plan(
        **tables,
        epsilon=float(Fraction(claimed["epsilon"])),
        options=PlanOptions(sequential=claimed["promise"], time_limit=1e-6),
    )
    assert isinstance(asked, SequentialPlan)
    assert isinstance(asked.optimum.problem, SequentialProblem)
    own = stated(asked.optimum.problem)
    return [name for part, name in PARTS.items() if own[part] != claimed[part]]
