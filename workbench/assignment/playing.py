"""Run a policy of the registry by its name, or of one's own that is registered."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.assignment import POLICIES
from workbench.assignment.policies import (
    ArrivingWorker,
    AssignmentPolicy,
    PolicyRun,
    Setting,
    run_policy,
)
from workbench.base.seeds import Seed


def play(
    name: str, setting: Setting, workers: Sequence[ArrivingWorker], *, seed: Seed
) -> tuple[PolicyRun, AssignmentPolicy]:
    """Run a policy by its name.

    Raises
    ------
    InputError
        For a name that is not in `POLICIES`, or a setting that lacks what the policy needs.
    """
    policy = POLICIES[name].call(setting, seed=seed)
    return run_policy(policy, workers), policy
