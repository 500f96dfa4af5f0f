"""Formulations (floor 1): the papers' optimization problems, with no solver inside.

`crowd_models.problem` holds the data of a problem (NumPy only); `crowd_models.assignment`,
`crowd_models.typed` and `crowd_models.selection` turn it into Pyomo models that any solver Pyomo
knows can take. Of the workbench it knows the ground floor alone. Papers: Ho, Jabbari, Vaughan,
"Adaptive task assignment for crowdsourced classification", ICML 2013; Li, Liu, "Cheaper and better:
selecting good workers for crowdsourcing", 2015.
"""

from workbench.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
