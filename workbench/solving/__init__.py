"""The only door to HiGHS (floor 2): routes, results, certificates.

`solve` takes a problem from `crowd_models` and gives a `Solution`: why the solver stopped, apart
from what is proven. Two routes lead to the solver, the readable Pyomo model and plain arrays built
from the same problem; whatever they answer is checked by `certify`, which trusts neither.
"""

from workbench.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
