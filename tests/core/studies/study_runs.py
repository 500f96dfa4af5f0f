"""Trials of the catalog's studies, run one after another in this process."""

from functools import cache

import pandas as pd

from workbench.studies.attempt import attempt
from workbench.studies.source import Source
from workbench.studies.trials import Streams, Trial, plan


def run_serially(name, sweep, repetitions):
    """Run a sweep of a study: one row a trial."""
    source = Source.of(name)
    study = source.load()
    rows = []
    for trial in plan(study, sweep, repetitions):
        done = attempt(source, trial)
        rows.append(
            {
                **trial.params,
                "repetition": trial.repetition,
                "status": str(done.status),
                "message": done.message,
                **done.record,
                "version": study.version,
                "seed": trial.seed,
            }
        )
    table = pd.DataFrame(rows)
    table.attrs["first"] = rows[0]
    return table


FEW = 6
"""Of a sweep of more points each is run once."""
OTHERWISE = {
    "bad-instances": {"evaluations": [2]},
    "ladder": {"time_limit": [600.0]},
    "exact-heuristic": {"time_limit": [500.0]},
    "exact-options": {"time_limit": [600.0]},
    # Of 24 tasks every method proves its plan.
    "exact-at-size": {"tasks": [24], "workers": [20], "capacity": [24], "time_limit": [600.0]},
}
"""What is less than at smoke size, or what the clock of a busy machine would cut."""


def smoke_sweep(name):
    sweep = Source.of(name).load().sizes["smoke"].sweep
    return tuple({**block, **OTHERWISE.get(name, {})} for block in sweep)


@cache
def smoke(name):
    """Run a study's smoke size: each of its points twice, of many once."""
    study, sweep = Source.of(name).load(), smoke_sweep(name)
    many = len(list(plan(study, sweep, 1))) > FEW
    return run_serially(name, sweep, 1 if many else min(2, study.sizes["smoke"].repetitions))


def first_again(name):
    """Run the first trial of `smoke` once more, and give its record."""
    source = Source.of(name)
    trial = next(iter(plan(source.load(), smoke_sweep(name), 1)))
    return attempt(source, trial).record


def complete(name, **params):
    """Give all parameters of a study, the defaults filled in."""
    return Source.of(name).load().complete(params)


def trial_of(name, repetition=0, seed=0, **params):
    """Plan one trial."""
    study = Source.of(name).load()
    instance = tuple(key for key, given in study.parameters.items() if not given.paired)
    return Trial(name, study.version, study.complete(params), repetition, seed, instance)


def streams_of(name, **params) -> Streams:
    """Give the random streams of one trial."""
    return trial_of(name, **params).streams


def one_record(name, repetition=0, seed=0, **params):
    """Run one trial and give its record."""
    trial = trial_of(name, repetition, seed, **params)
    return Source.of(name).load().trial(dict(trial.params), trial.streams)
