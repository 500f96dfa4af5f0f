"""Load the bare Python program that recomputes proofs of plans, from wherever it is installed."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

PACKAGED = "check_plan.py"
"""The program's name in an installed package. A checkout has it in `models/problems`."""


def plan_checker() -> dict[str, Any]:
    """Run the program, which imports nothing of the workbench, and return its functions by name."""
    path = Path(__file__).with_name(PACKAGED)
    if not path.is_file():
        path = Path(__file__).parents[2] / "models" / "problems" / "check.py"
    return runpy.run_path(str(path))
