"""Formulations (ground floor): the papers' optimization problems, with no solver inside.

`models.problem` holds the data of a problem (NumPy only); `models.assignment` and
`models.typed` turn it into Pyomo models that any solver Pyomo knows can take. Nothing here
imports `workbench`. Paper: Ho, Jabbari, Vaughan, "Adaptive task assignment for crowdsourced
classification", ICML 2013.
"""

from models.problem import AssignmentProblem, ProblemError, TypedProblem, requirement

__all__ = ["AssignmentProblem", "ProblemError", "TypedProblem", "requirement"]
