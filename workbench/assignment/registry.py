"""Online assignment policies by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.registry import Entry, Registry, imported

if TYPE_CHECKING:
    from workbench.assignment.policies import AssignmentPolicy

_POLICIES = {
    "paper": (
        "Paper",
        "task weights from a sample, each worker on her own",
        "Ho, Jabbari, Vaughan (2013), Algorithm 2",
    ),
    "coverage-aware": (
        "CoverageAware",
        "the same weights, covered tasks closed",
        "beyond the paper: Algorithm 2, covered tasks closed",
    ),
    "re-solve": (
        "ReSolve",
        "prices from a linear program solved anew as workers arrive",
        "Agrawal, Wang, Ye (2014); Li, Ye (2022)",
    ),
    "dual descent": (
        "DualDescent",
        "prices by one subgradient step a worker",
        "Li, Sun, Ye (2020), its pace following Li, Ye (2022)",
    ),
    "greedy": ("Greedy", "the open tasks a worker is best at", "common practice"),
    "hindsight": (
        "Hindsight",
        "the optimal dual of everyone who will come; no online policy",
        "Ho, Jabbari, Vaughan (2013), Algorithm 1",
    ),
}

POLICIES: Registry[type[AssignmentPolicy]] = Registry(
    "policy",
    *(
        Entry(name, imported(f"workbench.assignment.policies:{policy}"), summary, source)
        for name, (policy, summary, source) in _POLICIES.items()
    ),
    Entry(
        "robust",
        imported("workbench.assignment.robust:Robust"),
        "re-solve while arrivals look exchangeable, then falling posted prices",
        "beyond the paper: docs/proofs/robust-policy.md",
    ),
)
