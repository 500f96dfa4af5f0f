"""What there is to run, what is asked for, and how far a store has come, as plain rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from workbench.base.errors import InputError
from workbench.studies.request import Request, request
from workbench.studies.store import Store
from workbench.studies.study import SIZES


def catalogued(names: Iterable[str]) -> list[dict[str, Any]]:
    """List studies by name, with the trials of each size."""
    rows = []
    for name in names:
        asked = {size: request(name, size=size) for size in SIZES}
        study = asked["small"].study
        trials = {size: one.trials for size, one in asked.items()}
        rows.append({"name": name, "title": study.title, "source": study.source, "trials": trials})
    return rows


def described(asked: Request) -> dict[str, Any]:
    """Describe a study, and the sweep that would be run."""
    study = asked.study
    return {
        "name": study.name,
        "title": study.title,
        "source": study.source,
        "version": study.version,
        "parameters": [
            {**vars(one), "name": name, "kind": one.kind.__name__, "choices": list(one.choices)}
            for name, one in study.parameters.items()
        ],
        "size": asked.plan.size,
        "sweep": list(asked.plan.sweep),
        "repetitions": asked.plan.repetitions,
        "seed": asked.plan.seed,
        "trials": asked.trials,
        "deadline": asked.limits.deadline,
        "memory": asked.limits.memory,
    }


def standing(store: Store) -> list[dict[str, Any]]:
    """Tell how far each plan in a store has come."""
    rows = []
    for plan in store.plans():
        ended = store.finished(plan.study, plan.version)
        keys = {trial.key for trial in plan.trials()}
        counts = Counter(str(status) for key, status in ended.items() if key in keys)
        rows.append(
            {
                "study": plan.study,
                "size": plan.size,
                "seed": plan.seed,
                "planned": len(keys),
                "ended": counts.total(),
                "counts": dict(counts),
            }
        )
    return rows


def known(store: Store, names: tuple[str, ...] = ()) -> list[str]:
    """Name the studies in a store, or check those named.

    Raises
    ------
    InputError
        For one that the store does not have.
    """
    found = list(dict.fromkeys(planned.study for planned in store.plans()))
    for name in names:
        if name not in found:
            listed = ", ".join(found) or "nothing yet"
            raise InputError(f"{store.path} has no study {name!r}: it has {listed}")
    return list(names) or found
