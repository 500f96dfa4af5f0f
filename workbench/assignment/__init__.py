"""Who does which task (floor 3): Ho, Jabbari, Vaughan, ICML 2013.

`primal` is the Primal Approximation Algorithm (Algorithm 1), `weights` the task weights it needs
(offline dual, sampled LP), `correction` the ε′ of Section 5.2, `adaptive` the Main Algorithm
(Algorithm 2) worker by worker, `policies` and `robust` the online policies listed in `POLICIES`:
subclasses of `policies.AssignmentPolicy`. `adversary` searches for instances on which one of them
does badly.
"""

from workbench.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
