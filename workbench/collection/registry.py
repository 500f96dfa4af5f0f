"""Collecting policies by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.registry import Entry, Registry, imported

if TYPE_CHECKING:
    from workbench.collection.policy import Policy
    from workbench.crowd.kinds import Scale

_POLICIES = {
    "until-trusted": (
        "trusted:UntilTrusted",
        "the worker who tells most for her price, until each task is believed",
        "beyond the papers: Wald (1945); Gittins (1979); Liu, Peng, Ihler (2012)",
    ),
    "sequential-plan": (
        "sequential_plan:LabelByLabel",
        "skills known: the sequential optimum carried out, label by label",
        "beyond the papers: Wald (1945); Arrow, Blackwell, Girshick (1949)",
    ),
    "ratings": (
        "rating_policy:MostToldPerPrice",
        "ratings: the pair that lowers the posterior variance most for its price",
        "beyond the papers: Ho, Jabbari, Vaughan (2013), (2), with precisions for qualities",
    ),
    "fixed": (
        "fixed:Fixed",
        "five labels a task, or all that a budget buys, then Dawid–Skene",
        "common practice; Dawid, Skene (1979)",
    ),
    "uncertain": (
        "uncertain:Uncertain",
        "the task in most doubt first by Dawid–Skene, any worker; labelled by pooled",
        "Sheng, Provost, Ipeirotis (2008), Section 5",
    ),
    "algorithm-2": (
        "algorithm_two:AlgorithmTwo",
        "task weights from a sample of workers, each one visit, skills by gold",
        "Ho, Jabbari, Vaughan (2013), Algorithm 2",
    ),
    "ls-ol": (
        "task_by_task:LsOlPolicy",
        "each arriving task to the best set, testers to everybody, no gold",
        "Liu, Liu (2015), Figure 1",
    ),
    "model": (
        "task_by_task:ModelPolicy",
        "each arriving task to whom a model of all labels bought finds worth it, no gold",
        "Dawid, Skene (1979), beyond Liu, Liu (2015)",
    ),
}

POLICIES: Registry[type[Policy]] = Registry(
    "collection policy",
    *(
        Entry(name, imported(f"workbench.collection.{where}"), summary, source)
        for name, (where, summary, source) in _POLICIES.items()
    ),
)


def default_policy(scale: Scale | None) -> str:
    """Name the policy that decides where none is named: that of ratings, or that of classes."""
    return "until-trusted" if scale is None else "ratings"
