"""Learning whom to trust while the tasks come in, without ground truth (floor 3).

Source: Liu, Liu (SIGMETRICS 2015), "An online learning approach to improving the quality of
crowd-sourcing". `ls_ol` is the algorithm as a streaming object, `engine` the same for many runs at
once, `schedule` says when it explores, `regret` and `guarantees` what it loses and what is
promised.
"""

from workbench.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
