"""The front door's functions and results: frames in, results out.

`import workbench as wb` forwards to these names. Each function reads what it is given at the door,
calls one room, and wraps what comes back as a `Result`.
"""

from workbench.api.hiring import Hires, hire
from workbench.api.labelling import Labels, aggregate
from workbench.api.learning import Learning, learn
from workbench.api.reading import load, read_gold, read_labels
from workbench.base.errors import InputError

__all__ = [
    "Hires",
    "InputError",
    "Labels",
    "Learning",
    "aggregate",
    "hire",
    "learn",
    "load",
    "read_gold",
    "read_labels",
]
