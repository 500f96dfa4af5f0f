"""Aggregators of peerannot as a solver of the benchmark: put this file into FOLDER/solvers."""

import numpy as np
from benchopt import BaseSolver


class Solver(BaseSolver):
    """Tasks without a label are not shown to it, and get the first class."""

    name = "peerannot"
    requirements = ["pip::peerannot"]
    sampling_strategy = "run_once"
    parameters = {"method": [f"peerannot {name}" for name in ("dawid_skene", "iwmv", "wawa")]}

    def set_objective(self, task, worker, label, tasks, workers, classes):
        self.labelled, place = np.unique(task, return_inverse=True)
        self.answers = {i: {} for i in range(len(self.labelled))}
        for i, w, c in zip(place.tolist(), worker.tolist(), label.tolist(), strict=True):
            self.answers[i][w] = c
        self.tasks, self.workers, self.classes = tasks, workers, classes

    def run(self, _):
        from peerannot.models import agg_strategies

        method = agg_strategies[self.method.split()[1]]
        model = method(answers=self.answers, n_classes=self.classes, n_workers=self.workers)
        model.run()
        self.label = np.zeros(self.tasks, dtype=int)
        self.label[self.labelled] = model.get_answers()

    def get_result(self):
        return {"label": self.label}
