"""The front door's functions and results: frames in, results out.

`import workbench as wb` forwards to these names. Each function reads what it is given at the door,
calls one room, and wraps what comes back as a `Result`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crowd_models import AssignmentProblem, SelectionProblem, TypedProblem, requirement
    from workbench.api.auditing import Auditor, audit, plan_audit
    from workbench.api.checking import check
    from workbench.api.climbing import ladder
    from workbench.api.collecting import KnownTasks, collect
    from workbench.api.collection_audit import audit_collection
    from workbench.api.comparing import SampleOptions, compare
    from workbench.api.converting import convert
    from workbench.api.hiring import HiringOptions, hire
    from workbench.api.labelling import ModelOptions, aggregate
    from workbench.api.learning import LearningOptions, Replay, learn
    from workbench.api.planning import PlanOptions, TaskLimits, plan
    from workbench.api.ranking import export_benchopt, leaderboard
    from workbench.api.reading import load, read_gold, read_labels
    from workbench.api.simulation import simulate, simulate_panel
    from workbench.api.solving import doctor, export, solve
    from workbench.api.studying import DaskCluster, TrialRules, judge, report, run_study
    from workbench.base.errors import InputError
    from workbench.collection.collector import Collector

__all__ = [
    "AssignmentProblem",
    "Auditor",
    "Collector",
    "DaskCluster",
    "HiringOptions",
    "InputError",
    "KnownTasks",
    "LearningOptions",
    "ModelOptions",
    "PlanOptions",
    "Replay",
    "SampleOptions",
    "SelectionProblem",
    "TaskLimits",
    "TrialRules",
    "TypedProblem",
    "aggregate",
    "audit",
    "audit_collection",
    "check",
    "collect",
    "compare",
    "convert",
    "doctor",
    "export",
    "export_benchopt",
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

_PLACES = {
    "AssignmentProblem": "crowd_models",
    "Auditor": "workbench.api.auditing",
    "DaskCluster": "workbench.api.studying",
    "Collector": "workbench.collection.collector",
    "HiringOptions": "workbench.api.hiring",
    "InputError": "workbench.base.errors",
    "KnownTasks": "workbench.api.collecting",
    "LearningOptions": "workbench.api.learning",
    "ModelOptions": "workbench.api.labelling",
    "PlanOptions": "workbench.api.planning",
    "Replay": "workbench.api.learning",
    "SampleOptions": "workbench.api.comparing",
    "SelectionProblem": "crowd_models",
    "TaskLimits": "workbench.api.planning",
    "TrialRules": "workbench.api.studying",
    "TypedProblem": "crowd_models",
    "aggregate": "workbench.api.labelling",
    "audit": "workbench.api.auditing",
    "audit_collection": "workbench.api.collection_audit",
    "check": "workbench.api.checking",
    "collect": "workbench.api.collecting",
    "compare": "workbench.api.comparing",
    "convert": "workbench.api.converting",
    "doctor": "workbench.api.solving",
    "export": "workbench.api.solving",
    "export_benchopt": "workbench.api.ranking",
    "hire": "workbench.api.hiring",
    "judge": "workbench.api.studying",
    "ladder": "workbench.api.climbing",
    "leaderboard": "workbench.api.ranking",
    "learn": "workbench.api.learning",
    "load": "workbench.api.reading",
    "plan": "workbench.api.planning",
    "plan_audit": "workbench.api.auditing",
    "read_gold": "workbench.api.reading",
    "read_labels": "workbench.api.reading",
    "report": "workbench.api.studying",
    "requirement": "crowd_models",
    "run_study": "workbench.api.studying",
    "simulate": "workbench.api.simulation",
    "simulate_panel": "workbench.api.simulation",
    "solve": "workbench.api.solving",
}
"""Module of each name, imported when the name is asked for: a call pays for no other."""


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'workbench.api' has no attribute {name!r}")
    value = getattr(import_module(_PLACES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
