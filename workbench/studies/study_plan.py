"""What a run was asked for, as a store keeps it: enough to list its trials without the code."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from workbench.studies.source import Source
from workbench.studies.study import Block, Scalar
from workbench.studies.trials import Trial, instance_of, listed


@dataclass(frozen=True)
class StudyPlan:
    """What a run was asked for.

    Attributes
    ----------
    source
        Where the study's code is.
    study, version
        Name and schema version.
    size
        Name of the size the sweep was taken from.
    sweep, repetitions, seed
        As given to `trials.plan`.
    defaults, instance, volatile
        The study's parameters with their defaults, those that make the instance, and the record
        fields that may differ: with these the plan's trials are listed without the study's code.
    """

    source: Source
    study: str
    version: int
    size: str
    sweep: tuple[Block, ...]
    repetitions: int
    seed: int
    defaults: Mapping[str, Scalar]
    instance: tuple[str, ...]
    volatile: tuple[str, ...]

    @classmethod
    def of(
        cls,
        source: Source,
        sweep: Sequence[Block],
        repetitions: int,
        *,
        seed: int = 0,
        size: str = "",
    ) -> StudyPlan:
        """Write down what a run of a study is asked for.

        Raises
        ------
        InputError
            For a study that cannot be loaded, or a bad sweep.
        """
        study = source.load()
        return cls(
            source,
            study.name,
            study.version,
            size,
            study.check_sweep(sweep),
            repetitions,
            seed,
            study.complete({}),
            instance_of(study),
            study.volatile,
        )

    @property
    def json(self) -> str:
        """All of it as JSON, parameters in order."""
        sweep = [{name: list(values) for name, values in block.items()} for block in self.sweep]
        source = {"name": self.source.name, "digest": self.source.digest}
        plain = {**asdict(self), "source": source, "sweep": sweep}
        return json.dumps(plain, separators=(",", ":"), allow_nan=False)

    @classmethod
    def read(cls, text: str) -> StudyPlan:
        """Read what `json` wrote."""
        values = json.loads(text)
        lists = {name: tuple(values[name]) for name in ("sweep", "instance", "volatile")}
        return cls(**{**values, **lists, "source": Source(**values["source"])})

    def trials(self) -> Iterator[Trial]:
        """List its trials.

        Raises
        ------
        InputError
            For a sweep too large to list.
        """
        first = Trial(self.study, self.version, self.defaults, 0, self.seed, self.instance)
        return listed(first, self.sweep, self.repetitions)
