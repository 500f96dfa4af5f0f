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
        requests = {size: request(name, size=size) for size in SIZES}
        study = requests["small"].study
        trials = {size: each.trials for size, each in requests.items()}
        rows.append({"name": name, "title": study.title, "source": study.source, "trials": trials})
    return rows


def described(request: Request) -> dict[str, Any]:
    """Describe a study, and the sweep that would be run."""
    study = request.study
    return {
        "name": study.name,
        "title": study.title,
        "source": study.source,
        "version": study.version,
        "parameters": [
            {
                **vars(parameter),
                "name": name,
                "kind": parameter.kind.__name__,
                "choices": list(parameter.choices),
            }
            for name, parameter in study.parameters.items()
        ],
        "size": request.plan.size,
        "sweep": list(request.plan.sweep),
        "repetitions": request.plan.repetitions,
        "seed": request.plan.seed,
        "trials": request.trials,
        "deadline": request.limits.deadline,
        "memory": request.limits.memory,
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
    studies = list(dict.fromkeys(planned.study for planned in store.plans()))
    for name in names:
        if name not in studies:
            listed = ", ".join(studies) or "nothing yet"
            raise InputError(f"{store.path} has no study {name!r}: it has {listed}")
    return list(names) or studies
