"""Crowd workbench: whom to hire, which tasks each gets, and how wrong the result will be.

    import workbench as wb

    labels, gold = wb.load("bluebird")
    wb.hire(labels, gold, budget=10).plot()
    wb.plan(labels, gold, ["new 1", "new 2"], epsilon=0.1, capacity=50).to_frame()

Everything named here is defined in `workbench.api` and imported when it is asked for.
"""

from typing import TYPE_CHECKING, Any

__version__ = "2.0.0"

if TYPE_CHECKING:
    from workbench.api import (
        AssignmentProblem as AssignmentProblem,
    )
    from workbench.api import (
        Auditor as Auditor,
    )
    from workbench.api import (
        Collector as Collector,
    )
    from workbench.api import (
        DaskCluster as DaskCluster,
    )
    from workbench.api import (
        HiringOptions as HiringOptions,
    )
    from workbench.api import (
        InputError as InputError,
    )
    from workbench.api import (
        KnownTasks as KnownTasks,
    )
    from workbench.api import (
        LearningOptions as LearningOptions,
    )
    from workbench.api import (
        ModelOptions as ModelOptions,
    )
    from workbench.api import (
        PlanOptions as PlanOptions,
    )
    from workbench.api import (
        Replay as Replay,
    )
    from workbench.api import (
        SampleOptions as SampleOptions,
    )
    from workbench.api import (
        SelectionProblem as SelectionProblem,
    )
    from workbench.api import (
        TaskLimits as TaskLimits,
    )
    from workbench.api import (
        TrialRules as TrialRules,
    )
    from workbench.api import (
        TypedProblem as TypedProblem,
    )
    from workbench.api import (
        aggregate as aggregate,
    )
    from workbench.api import (
        audit as audit,
    )
    from workbench.api import (
        audit_collection as audit_collection,
    )
    from workbench.api import (
        check as check,
    )
    from workbench.api import (
        collect as collect,
    )
    from workbench.api import (
        compare as compare,
    )
    from workbench.api import (
        convert as convert,
    )
    from workbench.api import (
        hire as hire,
    )
    from workbench.api import (
        ladder as ladder,
    )
    from workbench.api import (
        leaderboard as leaderboard,
    )
    from workbench.api import (
        learn as learn,
    )
    from workbench.api import (
        load as load,
    )
    from workbench.api import (
        plan as plan,
    )
    from workbench.api import (
        plan_audit as plan_audit,
    )
    from workbench.api import (
        read_gold as read_gold,
    )
    from workbench.api import (
        read_labels as read_labels,
    )
    from workbench.api import (
        report as report,
    )
    from workbench.api import (
        requirement as requirement,
    )
    from workbench.api import (
        run_study as run_study,
    )
    from workbench.api import (
        simulate as simulate,
    )
    from workbench.api import (
        simulate_panel as simulate_panel,
    )
    from workbench.api import (
        solve as solve,
    )

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


_GONE = {
    "AssignmentSession": 'Collector(..., policy="algorithm-2")',
    "LsOl": 'Collector(..., policy="ls-ol")',
}
"""Names of release 1.0 that went with 2.0.0, and what to use instead."""


if not TYPE_CHECKING:  # a checker would take any name for one of these

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            instead = f"; use wb.{_GONE[name]}" if name in _GONE else ""
            raise AttributeError(f"module 'workbench' has no attribute {name!r}{instead}")
        from importlib import import_module

        return getattr(import_module("workbench.api"), name)


def __dir__() -> list[str]:
    return __all__
