"""Label until sure (floor 3): whom to ask next, about what, and when to stop.

`pool` holds who may be asked and the record of what was, `policy` what a policy is, `beliefs` what
labels say of tasks and workers, `sure` the policy that uses it, `groups` workers who err together,
`mixed` the policy for them and for unlike prices, `fixed` so many labels a task, `answers` where
labels come from in a rehearsal, `collector` the service that asks by name and is saved at any step.
`POLICIES` lists the policies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.registry import Entry, Registry, imported

if TYPE_CHECKING:
    from workbench.collection.policy import Policy

POLICIES: Registry[type[Policy]] = Registry(
    "collection policy",
    Entry(
        "until-sure",
        imported("workbench.collection.sure:UntilSure"),
        "the worker who tells most for her price, until each task is sure",
        "beyond the papers: Wald (1945); Liu, Peng, Ihler (2012); Gittins (1979)",
    ),
    Entry(
        "mixed",
        imported("workbench.collection.mixed:Mixed"),
        "the label that tells most for its price, groups counted for what they add",
        "beyond the papers: Lindley (1956); Kish (1965)",
    ),
    Entry(
        "fixed",
        imported("workbench.collection.fixed:Fixed"),
        "so many labels a task, then Dawid–Skene",
        "common practice",
    ),
)
