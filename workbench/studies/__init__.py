"""Thousands of trials: what a study declares, and what runs, keeps and judges it (floor 2).

`study` is the declaration, `plan` turns it into trials with keys and random streams, `trial`
runs one, `executors` run many, `store` keeps them, `run` puts the three together, `summary` has
the statistics, and `catalog` the studies that come with the workbench.
"""

from workbench.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
