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
    return tabled(study, [attempt(source, trial) for trial in plan(study, sweep, repetitions)])


def tabled(study, outcomes):
    """One row an outcome: parameters, how it ended, and the record."""
    rows = [
        {
            **ended.trial.params,
            "repetition": ended.trial.repetition,
            "status": str(ended.status),
            "message": ended.message,
            **ended.record,
            "version": study.version,
            "seed": ended.trial.seed,
        }
        for ended in outcomes
    ]
    table = pd.DataFrame(rows)
    table.attrs["first"] = rows[0]
    return table


def smoke_trials(name):
    study = Source.of(name).load()
    size = study.sizes["smoke"]
    return plan(study, size.sweep, size.repetitions)


@cache
def smoke_outcomes(name):
    """Run a study's smoke size, once a process."""
    source = Source.of(name)
    return tuple(attempt(source, trial) for trial in smoke_trials(name))


@cache
def smoke(name):
    """Give a study's smoke size as a table."""
    return tabled(Source.of(name).load(), smoke_outcomes(name))


def first_again(name):
    """Run the first trial of `smoke` once more, and give its record."""
    return attempt(Source.of(name), next(iter(smoke_trials(name)))).record


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
