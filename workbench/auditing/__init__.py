"""What can be said of a labelled set whatever the crowd (floor 2): an expert checks drawn tasks.

`strata` sorts tasks into bins by belief, `forecast` says how often each bin is wrong by the checks
so far, `plan` which bins to correct whole, `bets` where to look, what a check says and what all of
them refute, `draws` turns a secret seed into draws, `state` is an audit under way, `simulation`
rehearses many of them, `certificate` writes what happened, and `check_audit` recomputes it without
any other module of the workbench. `selective` certifies a share of the answers.
"""

from workbench.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
