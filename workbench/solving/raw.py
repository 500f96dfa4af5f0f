"""HiGHS called by hand, as plainly and as fast as it can be: what the array route is held to."""

from __future__ import annotations

from workbench.solving.arrays import LinearModel
from workbench.solving.highs import RunOptions, pass_arrays, settings


def run_raw(model: LinearModel) -> float:
    """Pass the arrays to a new solver object, run it, and give the objective.

    Options are those of the array route, so that both sides walk the same path.
    """
    import highspy

    highs = highspy.Highs()
    for name, value in settings(RunOptions(), integer=model.integer).items():
        highs.setOptionValue(name, value)
    pass_arrays(highspy, highs, model)
    highs.run()
    return float(highs.getInfo().objective_function_value)
