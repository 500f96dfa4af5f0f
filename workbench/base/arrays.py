"""Types of arrays, named once."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
Names: TypeAlias = NDArray[Any]
"""Ids of tasks or workers, or names of classes, as the user gave them."""
