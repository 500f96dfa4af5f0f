"""Formulations (ground floor): the papers' optimization problems, with no solver inside.

`models.problem` holds the data of a problem (NumPy only); `models.assignment`, `models.typed`
and `models.selection` turn it into Pyomo models that any solver Pyomo knows can take. Nothing
here imports `workbench`. Papers: Ho, Jabbari, Vaughan, "Adaptive task assignment for
crowdsourced classification", ICML 2013; Li, Liu, "Cheaper and better: selecting good workers
for crowdsourcing", 2015.
"""

from models.problem import (
    AssignmentProblem,
    ProblemError,
    SelectionProblem,
    TypedProblem,
    requirement,
)

__all__ = ["AssignmentProblem", "ProblemError", "SelectionProblem", "TypedProblem", "requirement"]
