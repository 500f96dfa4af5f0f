"""What every room stands on (ground floor)."""

from workbench.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
