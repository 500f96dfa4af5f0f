"""Crowd workbench: whom to hire, which tasks each gets, and how wrong the result will be.

    import workbench as wb

    labels, gold = wb.load("bluebird")
    wb.hire(labels, gold, budget=10).plot()
    wb.plan(labels, gold, ["new 1", "new 2"], epsilon=0.1, capacity=50).to_frame()

The names are listed in `__init__.pyi`, and imported when they are asked for.
"""

from workbench.base.public import attach

__version__ = "3.0.0"

__getattr__, __dir__, __all__ = attach(__name__, __file__)
