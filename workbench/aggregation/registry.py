"""Aggregators by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from workbench.base.registry import Entry, Registry, imported

Aggregator: TypeAlias = Callable[..., Any]
"""(votes, *, seed, …) → Aggregate."""

Method: TypeAlias = Literal[
    "majority",
    "weighted-linear",
    "weighted-log-odds",
    "pooled",
    "dawid-skene",
    "dawid-skene-smoothed",
    "one-coin",
    "ebcc",
    "bwa",
    "glad",
    "belief-propagation",
]
"""Those below, for type checkers; a plugin's go by any name."""

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
        "pooled",
        imported("workbench.aggregation.pool:pooled"),
        "the mean of the posteriors of dawid-skene-smoothed and bwa",
        "Stone (1961); why these two: docs/findings/aggregation.md",
    ),
    Entry(
        "dawid-skene",
        imported("workbench.aggregation.dawid_skene:dawid_skene"),
        "expectation-maximisation with a confusion matrix a worker",
        "Dawid, Skene (1979)",
    ),
    Entry(
        "dawid-skene-smoothed",
        imported("workbench.aggregation.dawid_skene:smoothed"),
        "the same with votes added: a worker is taken as right until seen to err",
        "Dawid, Skene (1979); the prior: docs/findings/aggregation.md",
    ),
    Entry(
        "one-coin",
        imported("workbench.aggregation.dawid_skene:one_coin"),
        "expectation-maximisation with one probability to be right a worker",
        "Dawid, Skene (1979), restricted",
    ),
    Entry(
        "ebcc",
        imported("workbench.aggregation.ebcc:ebcc"),
        "classes have subtypes, so that workers may err together; best of ten random starts",
        "Li, Rubinstein, Cohn (2019), ICML",
    ),
    Entry(
        "bwa",
        imported("workbench.aggregation.bwa:bwa"),
        "a weighted average of votes, class by class, with precisions that workers earn",
        "Li, Rubinstein, Cohn (2019), The Web Conference",
    ),
    Entry(
        "glad",
        imported("workbench.aggregation.glad:glad"),
        "expectation-maximisation with a worker's ability and a task's difficulty",
        "Whitehill, Ruvolo, Wu, Bergsma, Movellan (2009)",
    ),
    Entry(
        "belief-propagation",
        imported("workbench.aggregation.beliefs:belief_propagation"),
        "two skills a worker, unequal classes, and unequal tasks where labels say so",
        "Liu, Peng, Ihler (2012)",
    ),
)

DEFAULT = "pooled"
"""How labels are aggregated where nothing is said: docs/findings/aggregation.md says why."""
DEFAULT_ON_DISK = "dawid-skene-smoothed"
"""The same, of labels that are read from disk a part at a time."""
