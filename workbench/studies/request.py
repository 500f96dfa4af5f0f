"""What is asked for: a study, its sweep, how often, within which limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.base.errors import InputError
from workbench.studies.executors import Limits
from workbench.studies.source import Source
from workbench.studies.study import SIZES, Scalar, Study
from workbench.studies.study_plan import StudyPlan
from workbench.studies.trials import override, points_of


@dataclass(frozen=True)
class Request:
    """Trials to run.

    Attributes
    ----------
    study
        Which.
    plan
        What to run.
    limits
        Of each trial.
    """

    study: Study
    plan: StudyPlan
    limits: Limits

    @property
    def trials(self) -> int:
        """How many trials that makes."""
        return len(points_of(self.study, self.plan.sweep)) * self.plan.repetitions


def request(
    name: str,
    *,
    size: str | None = None,
    repetitions: int | None = None,
    seed: int | None = None,
    assignments: Sequence[str] | Mapping[str, object] = (),
    deadline: float | None = None,
    memory: float | None = None,
) -> Request:
    """Read what is asked for.

    Parameters
    ----------
    name
        A study of the catalog, or a `.py` file that defines `STUDY`.
    size
        `smoke`, `small` or `paper`; `small` where it is None.
    repetitions, seed, deadline, memory
        In place of the study's own; the seed is 0 where it is None.
    assignments
        `parameter=value` or `parameter=value,value`, or values by parameter: in place of the
        sweep's.

    Raises
    ------
    InputError
        For an unknown study or parameter, or a bad value.
    """
    if name.endswith(".toml"):
        raise InputError(
            f"{name}: TOML files of studies are read no more; change a sweep by --set "
            "parameter=value,value, or write a .py file that defines STUDY"
        )
    source = Source.of(name)
    study = source.load()
    size = size or "small"
    if size not in SIZES:
        raise InputError(f"size is {size!r}: choose from {', '.join(SIZES)}")
    of_size = study.sizes[size]
    plan = StudyPlan.of(
        source,
        override(study, of_size.sweep, _assigned(study, assignments)),
        repetitions or of_size.repetitions,
        seed=seed or 0,
        size=size,
    )
    return Request(study, plan, Limits(deadline or study.deadline, memory or study.memory))


def _assigned(
    study: Study, assignments: Sequence[str] | Mapping[str, object]
) -> dict[str, Sequence[Scalar]]:
    """Read `parameter=value,value`."""
    if isinstance(assignments, Mapping):
        return {name: _listed(entry) for name, entry in assignments.items()}
    values: dict[str, Sequence[Scalar]] = {}
    for text in assignments:
        name, equals, listed = text.partition("=")
        name = name.strip()
        if not equals or not listed:
            raise InputError(f"--set {text}: write parameter=value, or parameter=value,value")
        if name not in study.parameters:
            raise InputError(
                f"--set {text}: {study.name} has no parameter {name!r}, "
                f"it has {', '.join(study.parameters)}"
            )
        if name in values:
            raise InputError(f"--set {text}: {name} is set twice, list its values by commas")
        parse = study.parameters[name].parse
        values[name] = [parse(f"--set {name}", value.strip()) for value in listed.split(",")]
    return values


def _listed(entry: Any) -> list[Scalar]:
    """One value or several, as a list; they are checked with the sweep."""
    several = isinstance(entry, Sequence) and not isinstance(entry, str)
    return list(entry) if several else [entry]
