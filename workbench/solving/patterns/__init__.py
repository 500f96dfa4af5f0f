"""Column generation over patterns: the integer program, task class by task class.

`route.run_patterns` is the way in; `bound` is what its proof rests on, and trusts none of the rest.
Source of the program: Ho, Jabbari, Vaughan (2013), (1)–(3); of patterns: `crowd_models.patterns`.
"""
