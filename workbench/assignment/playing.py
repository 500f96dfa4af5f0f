"""Run a policy of the registry by its name, or of one's own that is registered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.assignment.policies import (
    ArrivingWorker,
    AssignmentPolicy,
    PolicyRun,
    Setting,
    run_policy,
)
from workbench.assignment.registry import POLICIES
from workbench.base.seeds import Seed


def play(
    name: str,
    setting: Setting,
    workers: Sequence[ArrivingWorker],
    *,
    seed: Seed,
    names: Sequence[object] | None = None,
) -> tuple[PolicyRun, AssignmentPolicy]:
    """Run a policy by its name.

    Parameters
    ----------
    workers
        In the order in which they come.
    names
        Of the workers, for messages; None for their places in that order.

    Raises
    ------
    InputError
        For a name that is not in `POLICIES`, a setting that lacks what the policy needs, or a
        choice that a worker may not be given.
    """
    policy = POLICIES[name].call(setting, seed=seed)
    return run_policy(policy, workers, names), policy


def play_with_sample(
    name: str,
    setting: Setting,
    sample: Sequence[ArrivingWorker],
    workers: Sequence[ArrivingWorker],
    *,
    true: Sequence[ArrivingWorker] | None = None,
    seed: Seed,
    names: Sequence[object] | None = None,
) -> tuple[PolicyRun, AssignmentPolicy]:
    """Run a policy by its name, with the sample or the future if it is made for that.

    Parameters
    ----------
    setting
        Types of tasks, ε and m; sample and future are added.
    sample
        Workers seen beforehand, who get no task.
    true
        The workers as hindsight knows them; None for the same.
    names
        As of `play`.
    """
    kind = POLICIES[name].call
    given = replace(
        setting,
        sample=tuple(sample) if kind.uses_sample else (),
        future=() if kind.online else tuple(workers if true is None else true),
    )
    return play(name, given, workers, seed=seed, names=names)
