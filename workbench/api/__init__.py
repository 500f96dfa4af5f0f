"""The front door's functions and results: frames in, results out.

`import workbench as wb` forwards to these names. Each function reads what it is given at the door,
calls one room, and wraps what comes back as a `Result`.
"""

from crowd_models import AssignmentProblem, SelectionProblem, TypedProblem, requirement
from workbench.api.auditing import Auditor, audit, plan_audit
from workbench.api.checking import check
from workbench.api.climbing import ladder
from workbench.api.collecting import collect
from workbench.api.comparing import compare
from workbench.api.converting import convert
from workbench.api.hiring import hire
from workbench.api.labelling import aggregate
from workbench.api.learning import learn
from workbench.api.planning import plan
from workbench.api.ranking import leaderboard
from workbench.api.reading import load, read_gold, read_labels
from workbench.api.simulation import simulate, simulate_panel
from workbench.api.solving import doctor, export, solve
from workbench.api.studying import judge, report, run_study
from workbench.assignment.session import AssignmentSession
from workbench.base.errors import InputError
from workbench.collection.collector import Collector
from workbench.learning.ls_ol import LsOl

__all__ = [
    "AssignmentProblem",
    "AssignmentSession",
    "Auditor",
    "Collector",
    "InputError",
    "LsOl",
    "SelectionProblem",
    "TypedProblem",
    "aggregate",
    "audit",
    "check",
    "collect",
    "compare",
    "convert",
    "doctor",
    "export",
    "hire",
    "judge",
    "ladder",
    "leaderboard",
    "learn",
    "load",
    "plan",
    "plan_audit",
    "read_gold",
    "read_labels",
    "report",
    "requirement",
    "run_study",
    "simulate",
    "simulate_panel",
    "solve",
]
