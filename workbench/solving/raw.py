"""HiGHS called by hand, as plainly and as fast as it can be: what the array route is held to."""

from __future__ import annotations

import numpy as np

from workbench.solving.arrays import LinearModel
from workbench.solving.highs import RunOptions, settings


def run_raw(model: LinearModel) -> float:
    """Pass the arrays to a new solver object, run it, and give the objective.

    Options are those of the array route, so that both sides walk the same path.
    """
    import highspy

    highs = highspy.Highs()
    for name, value in settings(RunOptions(), integer=bool(np.any(model.integer))).items():
        highs.setOptionValue(name, value)
    columns = len(model.cost)
    highs.passModel(
        columns,
        len(model.row_lower),
        len(model.value),
        int(highspy.MatrixFormat.kColwise),
        int(highspy.ObjSense.kMaximize if model.maximise else highspy.ObjSense.kMinimize),
        0.0,
        model.cost,
        model.lower,
        model.upper,
        model.row_lower,
        model.row_upper,
        model.start.astype(np.int32),
        model.index,
        model.value,
        np.broadcast_to(model.integer, columns).astype(np.int32),
    )
    highs.run()
    return float(highs.getInfo().objective_function_value)
