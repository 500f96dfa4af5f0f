"""The crowd: workers, skills, labels and data sets (floor 1).

Knows no optimization model and no solver; may import only `workbench.base.errors`.
"""

from workbench.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
