"""Collecting policies by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.registry import Entry, Registry, imported

if TYPE_CHECKING:
    from workbench.collection.policy import Policy

_POLICIES = {
    "until-trusted": (
        "trusted:UntilTrusted",
        "as until-sure, by a belief of unequal classes, two coins a worker and unequal tasks",
        "beyond the papers: Liu, Peng, Ihler (2012); Whitehill and others (2009)",
    ),
    "until-sure": (
        "sure:UntilSure",
        "the worker who tells most for her price, until each task is believed",
        "beyond the papers: Wald (1945); Liu, Peng, Ihler (2012); Gittins (1979)",
    ),
    "mixed": (
        "mixed:Mixed",
        "the label that tells most for its price, groups counted for what they add",
        "beyond the papers: Lindley (1956); Kish (1965)",
    ),
    "sequential-plan": (
        "sequential_plan:LabelByLabel",
        "skills known: the sequential optimum carried out, label by label",
        "beyond the papers: Wald (1945); Arrow, Blackwell, Girshick (1949)",
    ),
    "fixed": (
        "fixed:Fixed",
        "five labels a task, or all that a budget buys, then Dawid–Skene",
        "common practice; Dawid, Skene (1979)",
    ),
    "random": ("rivals:Random", "a task at random", "common practice"),
    "margin": (
        "rivals:Margin",
        "the smallest lead first, until it is 3 or the budget is spent, then Dawid–Skene",
        "common practice",
    ),
    "uncertain": (
        "rivals:Uncertain",
        "the task in most doubt first by Dawid–Skene fitted anew each round, any worker",
        "Sheng, Provost, Ipeirotis (2008), Section 5",
    ),
    "uncertain-drawn": (
        "rivals:UncertainDrawn",
        "the same, each worker as often as she is likely to be the best who can be asked",
        "beyond the papers; Thompson (1933)",
    ),
    "knowledge-gradient": (
        "rivals:KnowledgeGradient",
        "the task first that one label could help most",
        "Chen, Lin, Zhou (2013), Section 4",
    ),
    "halving": (
        "rivals:Halving",
        "rounds of equal price, the half of the tasks in less doubt left out after each",
        "after Khetan, Oh (2016), Algorithm 1",
    ),
    "fixed-overlap": (
        "platforms:FixedOverlap",
        "three labels a task, or all that a budget buys, then a majority",
        "common practice",
    ),
    "k-agree": (
        "platforms:KAgree",
        "until three labels of a task agree, then a majority",
        "common practice; Willett and others (2013)",
    ),
    "agreement-threshold": (
        "platforms:AgreementThreshold",
        "three to seven labels a task, until seven in ten agree, then a majority",
        "Appen's dynamic judgments",
    ),
    "dynamic-overlap": (
        "platforms:DynamicOverlap",
        "two to seven labels a task, until how often workers agree makes the answer likely",
        "Toloka's dynamic overlap",
    ),
    "algorithm-2": (
        "algorithm_two:AlgorithmTwo",
        "task weights from a sample of workers, each one visit, skills by gold",
        "Ho, Jabbari, Vaughan (2013), Algorithm 2",
    ),
    "re-solve": (
        "by_visit:ReSolved",
        "prices from a linear program solved anew as workers arrive, skills by gold",
        "Agrawal, Wang, Ye (2014); Li, Ye (2022)",
    ),
    "dual-descent": (
        "by_visit:Descended",
        "prices by one subgradient step a worker, skills by gold",
        "Li, Sun, Ye (2020), its pace following Li, Ye (2022)",
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
