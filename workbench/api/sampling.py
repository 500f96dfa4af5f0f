"""`SampleOptions`: how a crowd is got to know before and while tasks are assigned."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.assignment.estimates import SkillEstimate
from workbench.assignment.weights import OnInfeasible


@dataclass(frozen=True)
class SampleOptions:
    """How skills are estimated before and while tasks are assigned.

    Parameters
    ----------
    gamma
        Workers sampled beforehand, per worker who gets tasks.
    gold_tasks
        Gold tasks of each worker and task type.
    skills
        How skills are estimated from gold tasks. [default: plug-in simulated with hoeffding, else
        fitted]

        `plug-in`, the paper's share of right answers, or `fitted`, posterior means.
    infeasible
        What to do when the sampled workers are too few.
    gain
        Bound on a task's error in the programs. [default: bhattacharyya recorded, else hoeffding]

        By `crowd_models.gains`: `hoeffding`, the paper's Lemma 1, with votes of weight 2p − 1, or
        `bhattacharyya`, the same promise for fewer labels, with log-odds.
    time_limit
        Seconds for the solver.

        Each trial.

    Examples
    --------
    >>> import workbench as wb
    >>> crowd = wb.simulate("uniform", tasks=20, workers=20, capacity=20, skill=0.9)
    >>> result = wb.compare(crowd, epsilon=0.3, sampling=wb.SampleOptions(gold_tasks=5))
    >>> result.settings["gold_tasks"]
    5
    """

    gamma: float = 0.3
    gold_tasks: int = 20
    skills: SkillEstimate | None = None
    infeasible: OnInfeasible = "relax"
    gain: str | None = None
    time_limit: float = 20.0
