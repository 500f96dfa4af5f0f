"""Policies of collecting that the workbench is measured against.

`ranking` and `platforms` rank tasks, as others have proposed and as platforms do; `by_visit` adapts
the policies of `workbench.assignment`, here alone, to workers who come and go. `until_sure` and
`mixed` were the workbench's own before until-trusted: both believe by `one_coin_beliefs`, and of
`groups` what they count for. `RIVALS` lists them; `crowd_papers` registers them, so that they are
there by name.
"""

from __future__ import annotations

from workbench.base import Entry, imported

_RIVALS = {
    "until-sure": (
        "until_sure:UntilSure",
        "as until-trusted, by a belief of one coin per worker, and of tasks that are alike",
        "beyond the papers: Wald (1945); Liu, Peng, Ihler (2012); Gittins (1979)",
    ),
    "mixed": (
        "mixed:Mixed",
        "the label that tells most for its price, groups counted for what they add",
        "beyond the papers: Lindley (1956); Kish (1965)",
    ),
    "random": ("ranking:Random", "a task at random", "common practice"),
    "margin": (
        "ranking:Margin",
        "the smallest lead first, until it is 3 or the budget is spent, then Dawid–Skene",
        "common practice",
    ),
    "uncertain-drawn": (
        "ranking:UncertainDrawn",
        "as uncertain, each worker as often as she is likely to be the best who can be asked",
        "beyond the papers; Thompson (1933)",
    ),
    "knowledge-gradient": (
        "ranking:KnowledgeGradient",
        "the task first that one label could help most",
        "Chen, Lin, Zhou (2013), Section 4",
    ),
    "halving": (
        "ranking:Halving",
        "rounds of equal price, the half of the tasks in less doubt left out after each",
        "after Khetan, Oh (2016), Algorithm 1",
    ),
    "fixed-overlap": (
        "platforms:FixedOverlap",
        "three labels per task, or all that a budget buys, then a majority",
        "common practice",
    ),
    "k-agree": (
        "platforms:KAgree",
        "until three labels of a task agree, then a majority",
        "common practice; Willett and others (2013)",
    ),
    "agreement-threshold": (
        "platforms:AgreementThreshold",
        "three to seven labels per task, until seven in ten agree, then a majority",
        "Appen's dynamic judgments",
    ),
    "dynamic-overlap": (
        "platforms:DynamicOverlap",
        "two to seven labels per task, until how often workers agree makes the answer likely",
        "Toloka's dynamic overlap",
    ),
    "re-solve": (
        "by_visit:ReSolved",
        "prices from a linear program solved anew as workers arrive, skills by gold",
        "Agrawal, Wang, Ye (2014); Li, Ye (2022)",
    ),
    "dual-descent": (
        "by_visit:Descended",
        "prices by one subgradient step per worker, skills by gold",
        "Li, Sun, Ye (2020), its pace following Li, Ye (2022)",
    ),
}

RIVALS = tuple(
    Entry(name, imported(f"{__name__}.{where}"), summary, source)
    for name, (where, summary, source) in _RIVALS.items()
)
"""One entry a policy, for the registry of the policies of collecting."""
