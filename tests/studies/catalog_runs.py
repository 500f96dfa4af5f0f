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
            {**trial.params, "repetition": trial.repetition, "status": str(done.status),
             "message": done.message, **done.record, "version": study.version, "seed": trial.seed}
        )  # fmt: skip
    return pd.DataFrame(rows)


CHEAPER = {"bad-instances": {"evaluations": [2]}}
"""What is smaller than at smoke size."""


@cache
def smoke(name):
    """Run a study's smoke size: each of its points twice, of many once."""
    study = Source.of(name).load()
    sweep = tuple({**block, **CHEAPER.get(name, {})} for block in study.sizes["smoke"].sweep)
    many = len(list(plan(study, sweep, 1))) > 30
    return run_serially(name, sweep, 1 if many else min(2, study.sizes["smoke"].repetitions))


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
