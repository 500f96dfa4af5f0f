"""Crowd workbench: whom to hire, which tasks each gets, and how wrong the result will be.

    import workbench as wb

    labels, gold = wb.load("bluebird")
    wb.hire(labels, gold, budget=10).plot()
    wb.plan(labels, gold, ["new 1", "new 2"], epsilon=0.1, capacity=50).to_frame()

Everything named here is defined in `workbench.api` and imported when it is asked for.
"""

from typing import TYPE_CHECKING, Any

__version__ = "1.0.0"

if TYPE_CHECKING:
    from workbench.api import InputError

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
    "hire",
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


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'workbench' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("workbench.api"), name)


def __dir__() -> list[str]:
    return __all__
