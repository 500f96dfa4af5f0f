"""Votes to labels (floor 2): one rule a file, listed in `AGGREGATORS`.

An aggregator takes `Votes` and, by keyword, a seed and its options, and returns an `Aggregate`. One
with a keyword `skill` is given each worker's skill, shape (m,), NaN where it is not known. What it
leaves in `info` as `confidence` (n,), `skill` or `weight` (m,) and `notes` the user sees.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from workbench.base.registry import Entry, Registry, imported

Aggregator: TypeAlias = Callable[..., Any]
"""(votes, *, seed, …) → Aggregate."""

AGGREGATORS: Registry[Aggregator] = Registry(
    "aggregator",
    Entry(
        "majority",
        imported("workbench.aggregation.voting:majority"),
        "the class that most labels of a task name",
        "common practice",
    ),
    Entry(
        "weighted-linear",
        imported("workbench.aggregation.voting:linear_vote"),
        "the largest sum of weights (L p − 1)/(L − 1)",
        "Ho, Jabbari, Vaughan (2013), Lemma 1; Li, Liu (2015)",
    ),
    Entry(
        "weighted-log-odds",
        imported("workbench.aggregation.voting:log_odds_vote"),
        "the likeliest class, skills being as estimated",
        "Li, Liu (2015)",
    ),
    Entry(
        "dawid-skene",
        imported("workbench.aggregation.dawid_skene:dawid_skene"),
        "expectation-maximisation with a confusion matrix a worker",
        "Dawid, Skene (1979)",
    ),
    Entry(
        "one-coin",
        imported("workbench.aggregation.dawid_skene:one_coin"),
        "expectation-maximisation with one probability to be right a worker",
        "Dawid, Skene (1979), restricted",
    ),
)
