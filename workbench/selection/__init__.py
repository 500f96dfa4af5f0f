"""Whom to hire: the subset of workers that a budget allows (floor 3).

Source: Li, Liu (2015), "Cheaper and better: selecting good workers for crowdsourcing". `scores`
holds F, F̂ and G of Section 3, `rules` Algorithm 1 and the rules it is compared with, `guarantees`
Theorems 1 and 3, `accuracy` how wrong a chosen crowd's vote will be, `money` prices. Any number
of classes L ≥ 2.
"""
