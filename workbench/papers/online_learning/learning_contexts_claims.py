"""What Liu, Liu (2015) claim of workers whose skills depend on the context, Section 5.

The paper says what it expects, omits all details, and has no experiment. The rules:

- A few contexts. Regret with |W| contexts over regret with one, in the same number of tasks, on
  the same crowds, for every schedule measured. It holds where all ratios lie within two standard
  errors of |W|; with a caveat where one lies below by more, since |W| is then a bound and no
  estimate; it is not reproduced where one lies above by more.
- A continuum. The slope of ln R(n) over ln n from T/10 to T, which ends below 1 where regret is
  a power of T below the first. It is not reproduced where the slope is below 1 by two standard
  errors for no schedule. Otherwise the claim holds, as far as T reaches, if it is so for every
  schedule, from 3T/10 on as well, and not so for the learner that takes all contexts for one: no
  set is best in all contexts, so that its regret is linear in the end, and a slope below 1 that
  it has as well tells nothing of T → ∞. If any of this fails there is a caveat. (This last
  condition was added when the first trials showed such a slope. It can only weaken a verdict.)
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from workbench.papers.online_learning.theory_sets import INTERVALS

CONTROL = (
    " Where all contexts are taken for one, regret is linear in the end, and the slope is below 1 "
    "all the same (at {} of {} schedules): so few tasks cannot tell o(T) from T."
)


def two_parts(rows: pd.DataFrame) -> dict[str, Any]:
    """What the best set of an interval loses at its contexts, as intervals get finer."""
    loss = rows[[f"loss_{v}" for v in INTERVALS]].astype(float)
    mean = loss.mean()
    return {
        "n": len(rows),
        "share": rows["share"].max(),
        "losses": ", ".join(f"{mean[f'loss_{v}']:.4f} with {v}" for v in INTERVALS),
        "refuted": rows["share"].max() > 1 or not mean.is_monotonic_decreasing,
    }
