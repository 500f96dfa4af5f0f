"""The only door to HiGHS (floor 2): routes, results, certificates.

`solve` takes a problem from `crowd_models` and gives a `Solution`: why the solver stopped, apart
from what is proven. Two routes lead to the solver, the readable Pyomo model and plain arrays built
from the same problem; whatever they answer is checked by `certify`, which trusts neither.
"""

from workbench.solving.certify import certify, farkas, lagrangian
from workbench.solving.dropping import tasks_to_drop
from workbench.solving.solution import (
    Certificate,
    Check,
    CountProof,
    Incumbent,
    Infeasibility,
    PatternProof,
    Solution,
    Termination,
)
from workbench.solving.solver import FORMULATIONS, METHODS, ROUTES, solve, versions

__all__ = [
    "FORMULATIONS",
    "METHODS",
    "ROUTES",
    "Certificate",
    "Check",
    "CountProof",
    "Incumbent",
    "Infeasibility",
    "PatternProof",
    "Solution",
    "Termination",
    "certify",
    "farkas",
    "lagrangian",
    "solve",
    "tasks_to_drop",
    "versions",
]
