"""Load the bare Python programs that recompute proofs, from wherever they are installed."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

PROGRAMS = {"check.py": "check_plan.py", "check_policies.py": "check_policies.py"}
"""The programs, in `models/problems` of a checkout, and their names in an installed package."""


def plan_checker() -> dict[str, Any]:
    """Functions of the program that recomputes proofs of plans, by name."""
    return _run("check.py")


def policy_checker() -> dict[str, Any]:
    """Functions of the program that recomputes proofs of policies, by name."""
    return _run("check_policies.py")


def _run(program: str) -> dict[str, Any]:
    """Run a program, which imports nothing of the workbench."""
    path = Path(__file__).with_name(PROGRAMS[program])
    if not path.is_file():
        path = Path(__file__).parents[2] / "models" / "problems" / program
    return runpy.run_path(str(path))
