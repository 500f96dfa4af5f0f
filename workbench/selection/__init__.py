"""Whom to hire: the subset of workers that a budget allows (floor 3).

Source: Li, Liu (2015), "Cheaper and better: selecting good workers for crowdsourcing". `scores`
holds F, F̂ and G of Section 3, `rules` Algorithm 1 and the rules it is compared with, `bounds`
Theorems 1 and 3, `accuracy` how wrong a chosen crowd's vote will be, `learned` what all answers say
of skills and tasks, `money` and `frontier` prices, by the paper's score and by error, `hire` the
way from a label table to the workers to hire. Any number of classes L ≥ 2.
"""

from workbench.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
