"""From a sweep to trials: a key and random streams for each, independent of order.

A trial's key is the SHA-256 of the canonical JSON of study, schema version, seed, parameters and
repetition. Its streams are `SeedSequence`s whose `spawn_key` is made of the same data, so they
depend on nothing else: not on the order of trials, nor on how many processes run them. The
instance's stream leaves out the paired parameters, so that methods compared meet the same crowd.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.base.errors import InputError
from workbench.studies.study import Block, Scalar, Study
from workbench.studies.trial_streams import Streams as Streams  # noqa: PLC0414 (for studies)
from workbench.studies.trial_streams import canonical, spawn_key

MOST_POINTS = 1_000_000
"""A sweep is listed in memory; more points than this are a slip of the keyboard."""


@dataclass(frozen=True)
class Trial:
    """One trial to run, as plain data that travels to any worker.

    Attributes
    ----------
    study, version
        Name and schema version.
    params
        All parameters of the study.
    repetition
        0, 1, …
    seed
        The run's entropy.
    instance
        The parameters that make the instance: those that are not paired.
    """

    study: str
    version: int
    params: Mapping[str, Scalar]
    repetition: int
    seed: int
    instance: tuple[str, ...]

    @property
    def key(self) -> str:
        """64 hex digits that name the trial."""
        return hashlib.sha256(self._identity(self.params)).hexdigest()

    @property
    def streams(self) -> Streams:
        """Its random streams."""
        identity = self._identity({name: self.params[name] for name in self.instance})
        return Streams(self.seed, spawn_key(b"instance" + identity), self._identity(self.params))

    def _identity(self, params: Mapping[str, Scalar]) -> bytes:
        return canonical([self.study, self.version, self.seed, dict(params), self.repetition])


def plan(study: Study, sweep: Sequence[Block], repetitions: int, seed: int = 0) -> Iterator[Trial]:
    """List the trials of a sweep: all points once, then all again, up to `repetitions`.

    A point that several blocks name is run once.

    Raises
    ------
    InputError
        For a bad sweep, one too large, no repetition, or a negative seed.
    """
    first = Trial(study.name, study.version, study.complete({}), 0, seed, instance_of(study))
    return listed(first, study.check_sweep(sweep), repetitions)


def listed(first: Trial, sweep: Sequence[Block], repetitions: int) -> Iterator[Trial]:
    """List the trials of a checked sweep, all like the `first` but for what the sweep changes.

    Raises
    ------
    InputError
        For a sweep too large, no repetition, or a negative seed.
    """
    if repetitions < 1:
        raise InputError(f"repetitions is {repetitions}: give 1 or more")
    if first.seed < 0:
        raise InputError(f"seed is {first.seed}: give 0 or more")
    points = _points(first.study, sweep, first.params)
    for repetition in range(repetitions):
        for params in points:
            yield replace(first, params=params, repetition=repetition)


def instance_of(study: Study) -> tuple[str, ...]:
    """Name the parameters that make the instance."""
    return tuple(name for name, parameter in study.parameters.items() if not parameter.paired)


def points_of(study: Study, sweep: Sequence[Block]) -> list[dict[str, Scalar]]:
    """List the points of a sweep without repeats, each with all parameters."""
    return _points(study.name, study.check_sweep(sweep), study.complete({}))


def _points(
    study: str, sweep: Sequence[Block], defaults: Mapping[str, Scalar]
) -> list[dict[str, Scalar]]:
    points: dict[bytes, dict[str, Scalar]] = {}
    size = sum(math.prod(len(values) for values in block.values()) for block in sweep)
    if size > MOST_POINTS:
        raise InputError(
            f"{study}: the sweep has {size:,} points: give at most {MOST_POINTS:,}, "
            "and use repetitions for more trials"
        )
    for block in sweep:
        for values in itertools.product(*block.values()):
            params = {**defaults, **dict(zip(block, values, strict=True))}
            points.setdefault(canonical(params), params)
    return list(points.values())


def override(
    study: Study, sweep: Sequence[Block], values: Mapping[str, Sequence[Scalar]]
) -> tuple[Block, ...]:
    """Return the sweep with some parameters replaced, in every block."""
    return study.check_sweep([{**block, **values} for block in sweep])
