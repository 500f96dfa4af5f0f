"""Votes to labels (floor 2): one rule a file, listed in `AGGREGATORS`.

An aggregator takes `Votes` and, by keyword, a seed and its options, and returns an `Aggregate`. One
with a keyword `skill` is given each worker's skill, shape (m,), NaN where it is not known; one with
a keyword `earlier` (`posteriors.Earlier`) the classes of control tasks and an earlier fit. What it
leaves in `info` as `confidence` (n,), `skill` or `weight` (m,) and `notes` the user sees.
"""

from workbench.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
