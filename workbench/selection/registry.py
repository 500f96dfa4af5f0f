"""Rules for hiring by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.registry import Entry, Registry, imported

if TYPE_CHECKING:
    from workbench.selection.rules import Rule

_PAPER, _BEYOND = "Li, Liu (2015), Sections 3 and 4", "beyond the paper"
_RULES = {
    "selected": ("Algorithm 1: rank by G, the smallest number of workers that maximises F̂", _PAPER),
    "plug-in": ("the same without the variance correction", _PAPER),
    "top-skill": ("the K workers of highest ŵ", _PAPER),
    "top-informative": ("the K workers with ŵ farthest from guessing, |ŵ − 1/L|", _BEYOND),
    "threshold": ("at most K workers with ŵ above a threshold, highest first", _BEYOND),
    "random": ("K workers at random", _PAPER),
    "accuracy": (
        "the first workers by posterior skill whose vote is expected to err least",
        _BEYOND,
    ),
}

RULES: Registry[Rule] = Registry(
    "rule",
    *(
        Entry(name, imported(f"workbench.selection.rules:{name.replace('-', '_')}"), *about)
        for name, about in _RULES.items()
    ),
)
"""Rules by name; each is a `rules.Rule`."""
