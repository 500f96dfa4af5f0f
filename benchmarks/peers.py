"""Other packages that the workbench stands beside, where these are installed."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measure import UnmeasurableError, own_process

if TYPE_CHECKING:
    from crowd_models import AssignmentProblem

PEERS = ("crowd-kit", "linopy", "ortools", "pyscipopt")
"""Distributions of the extra `peers`."""


def peer_versions() -> dict[str, str]:
    """Versions of the peers that are installed."""
    versions = {}
    for name in PEERS:
        with contextlib.suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


def absent(module: str) -> bool:
    """Whether a peer's module is not to be found."""
    return find_spec(module) is None


def solved_by(
    job: str, problem: AssignmentProblem, seconds: float, *, timeout: float | None = None
) -> dict[str, Any]:
    """What a job of `peer_jobs` found, in a process of its own that is ended after `timeout`.

    Raises
    ------
    UnmeasurableError
        When it failed: a peer out of memory is to cost its own row only.
    """
    import numpy as np

    from crowd_models.problem import label_limits

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.npz"
        np.savez(
            path,
            # A label that adds nothing is bought by nobody: so much for pairs that may not be.
            quality=problem.quality * problem.mask,
            capacity=problem.capacity,
            requirement=np.broadcast_to(problem.requirement, len(problem.quality)),
            price=problem.prices,
            limits=np.stack(label_limits(problem)),
        )
        try:
            solution: dict[str, Any] = own_process(
                "-m", "benchmarks.peer_jobs", job, str(path), str(seconds), timeout=timeout
            )
        except subprocess.TimeoutExpired:
            raise UnmeasurableError(f"the {job} process took more than {timeout:g} s") from None
        except RuntimeError as error:
            raise UnmeasurableError(f"the {job} process failed: {error}") from None
    return solution
