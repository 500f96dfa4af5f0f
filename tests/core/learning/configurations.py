"""Random settings of LS_OL, the same for the tests of the engine and of the streaming object."""

from dataclasses import dataclass

import numpy as np

from benchmarks.plain_ls_ol import Settings, plain_run
from workbench.learning.draws import Draws
from workbench.learning.ls_ol import LsOl
from workbench.learning.schedule import Schedule, contextual, decreasing, practical
from workbench.learning.vetting import FACTOR, Vetting


@dataclass(frozen=True)
class Configuration:
    skill: np.ndarray
    schedule: Schedule
    horizon: int
    seed: int
    options: dict

    def draws(self):
        return Draws(self.skill, seed=self.seed)

    def learner(self, run):
        M = self.skill.shape[1]
        return LsOl(M, self.schedule, **self.options, seed=self.draws().coins(run))

    def plain(self, run):
        """The steps of the plain loop."""
        draws, steps = self.draws(), np.arange(self.horizon)
        rule = dict(self.options)
        if vetting := rule.pop("vetting"):
            rule |= {
                "error": vetting.error,
                "least": vetting.least,
                "factor": FACTOR[vetting.variant],
            }
        settings = Settings(**vars(self.schedule), **rule)
        (order,), (coins,) = draws.coins_at(np.array([run]), steps)
        skill, world = self.skill[run].tolist(), draws.world(run, steps).tolist()
        return plain_run(skill, world, coins.tolist(), order.tolist(), settings)


def configurations(count, *, seed, horizon, runs=2):
    rng = np.random.default_rng(seed)
    for c in range(count):
        M = int(rng.integers(1, 9))
        extreme = rng.choice([0.0, 0.5, 0.6, 0.8, 0.95, 1.0], size=(runs, M))
        smooth = rng.uniform(0.2, 1.0, size=(runs, M))
        weighted = bool(rng.integers(2))
        yield Configuration(
            skill=extreme if c % 2 else smooth,
            schedule=[
                practical(*rng.uniform(0.3, 3, 2)),
                decreasing(*rng.uniform(0.1, 1.5, 2), 0.3),
                contextual(*rng.uniform(0.1, 0.8, 2), 0.3),
                Schedule(2, 3, 0, 0.2),
            ][c % 4],
            horizon=int(rng.integers(1, horizon)),
            seed=c,
            options={
                "weighted": weighted,
                "tolerance": float(rng.choice([0.0, 0.4, 1.5])) if weighted else 0.0,
                "truncate": float(rng.choice([1e-3, 0.1])),
                "delay": int(rng.choice([0, 0, 1, 3, 20])),
                "vetting": [None, Vetting(0.3, 1), Vetting(0.5, 2, "printed")][rng.integers(3)],
            },
        )
