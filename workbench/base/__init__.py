"""The ground floor: what every room stands on."""

from workbench.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
