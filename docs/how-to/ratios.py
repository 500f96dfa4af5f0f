"""A policy of one's own against four others on 200 small problems."""

import numpy as np

import workbench as wb
from workbench.assignment import AssignmentPolicy


@wb.policy("better half")
class BetterHalf(AssignmentPolicy):
    """Whoever is as good as the median so far; anybody in the last third."""

    def __init__(self, setting, *, seed):
        super().__init__(setting, seed=seed)
        self.gathered = np.zeros(len(setting.task_class))
        self.met = []

    def assign(self, worker):
        """Give her the open tasks that lack the most."""
        counts = self.setting.counted(worker.skill)[self.setting.task_class]
        self.met.append(counts.mean())
        early = len(self.met) < 2 / 3 * self.setting.workers
        if early and counts.mean() < np.median(self.met):
            return np.array([], dtype=int)
        lack = self.setting.need - self.gathered
        if worker.available is not None:  # None: she may do any task
            lack = np.where(worker.available, lack, 0)
        chosen = np.argsort(-lack, kind="stable")[: worker.capacity]
        chosen = chosen[lack[chosen] > 1e-9]
        self.gathered[chosen] += counts[chosen]
        return chosen


def problems(many=200, tasks=8, workers=24):
    """Two types of task, at each of which a worker is good or poor."""
    rng = np.random.default_rng(2)
    for _ in range(many):
        skill = rng.choice([0.6, 0.9], size=(2, workers))
        quality = (2 * skill[rng.integers(2, size=tasks)] - 1) ** 2
        yield wb.AssignmentProblem(quality, 3, wb.requirement(0.4))


if __name__ == "__main__":
    others = ["greedy", "re-solve", "dual descent", "coverage-aware"]
    ratio = wb.compare(problems(), ["better half", *others], processes=2)
    print(ratio.summary(), end="\n\n")
    print(ratio.worst("better half"), end="\n\n")
    print(ratio.to_latex())
    ratio.save("ratios.png")
