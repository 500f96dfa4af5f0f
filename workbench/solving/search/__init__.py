"""Search for whole assignments where tasks and workers are all different.

`primal_heuristic.solve_from_start` is the way in; `count_bound` has the bound it proves.
Source of the program: Ho, Jabbari, Vaughan (2013), (1)–(3).
"""
