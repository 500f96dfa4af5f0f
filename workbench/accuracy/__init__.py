"""How often a vote is right: exact, by bound, and the best sets that follow (floor 2)."""

from workbench.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
