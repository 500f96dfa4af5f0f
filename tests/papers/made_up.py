"""Made-up tables, one a study, in which every claim holds."""

import numpy as np
import pandas as pd

from tests.core.studies.study_runs import run_serially  # noqa: F401 (tests of claims take it here)
from workbench.studies.catalog import claims
from workbench.studies.judging import judge

N = 40


def claims_of(group):
    """Claims of a paper, those on recorded crowds and on contexts apart."""
    return [claim for claim in claims() if group_of(claim) == group]


def group_of(claim):
    family = {"adaptive": "adaptive", "selection": "selection", "learn": "learning"}[
        claim.id.partition("-")[0]
    ]
    if claim.id.startswith("learn-contexts"):
        return "learning_contexts"
    on_crowds = claim.id != "learn-table-1" and (
        not claim.studies or claim.studies[0] in {"selection-crowds", "learn-crowds"}
    )
    return f"{family}_crowds" if on_crowds else family


def verdict_on(claim, tables):
    """The verdict on one claim."""
    (one,) = [one for one in claims() if one.id == claim]
    return judge(Tables(tables), [one])[0]


class Tables:
    """The one thing the judge asks of a store."""

    def __init__(self, tables):
        self.tables = tables

    def table(self, study, version=None):
        found = self.tables.get(study, pd.DataFrame())
        return found[found["version"] == version] if version and len(found) else found


def framed(rows, **same):
    table = pd.DataFrame(rows).assign(**same)
    return table.assign(
        status="ok",
        message="",
        version=1,
        seed=0,
        repetition=range(len(table)),
        **{"environment.crowd-workbench": "0.0"},
    )


def votes():
    return framed(
        [{"lean": 1.0}] * N,
        error_any=0.2,
        error_any_radius=1e-12,
        bound_any=0.6,
        error_best=0.1,
        error_best_radius=1e-12,
        bound_best=0.5,
        bound_nearby=0.51,
        closed_form=0.5,
        epsilon=0.05,
        error_hired=0.01,
        error_hired_radius=1e-12,
    )


def estimates():
    return framed(
        [{"skill": p} for p in (0.5, 0.7)] * 20,
        radius=0.1,
        delta=0.05,
        draws=1000,
        missed=20,
        stretch=0.9,
        broken=0,
    )


def offline():
    rows = [{"dearest": dearest} for dearest in (1.0, 3.0)] * N
    table = framed(rows, tied=0, short=0, optimum=20.0, cost=21.0, promise=8.0, full=2)
    return table.assign(dearest_label=table["dearest"])


def toy():
    rows = [
        {"judged": judged, "poor": poor, "corrected": corrected}
        for judged in (1.0, 0.99)
        for poor in (1e-4, 1e-3)
        for corrected in (False, True)
    ] * 3
    table = framed(rows, requirement=2.992, optimum=3.0, optimum_others=0.0)
    others = np.where((table["judged"] < 1) & ~table["corrected"], 0.0223 / table["poor"], 0.0)
    return table.assign(labels_others=others, labels=3 + others)


def sampled():
    paper = {
        "tasks": 1000,
        "workers": 300,
        "gamma": 0.3,
        "crowd": "uniform",
        "dearest": 1.0,
        "ratio_stands": True,
        "error_stands": False,
        "exponent": -20.0,
    }
    strict = {
        **paper,
        "tasks": 24,
        "workers": 1000,
        "gamma": 1.0,
        "crowd": "able",
        "error_stands": True,
        "exponent": 0.4,
    }
    priced = {**strict, "dearest": 3.0, "unit_blind": 3.0}
    untyped = {**strict, "crowd": "difficulty"}
    table = framed(
        [paper, strict, priced, untyped] * N,
        epsilon=0.1,
        delta=0.05,
        bound=100.0,
        ratio_promise=4.0,
        error_bound=1e-30,
        error_promise=1e-20,
        q_min=0.5,
    )
    cost = 110.0 + np.arange(len(table)) % 7
    return table.assign(cost=cost, unit_cost=cost / 50)


def skills():
    return framed(
        [{"stands": True}] * N,
        feasible=True,
        relaxed=10.0,
        approximated=9.0,
        error_stands=True,
        beyond=0,
        error_share=0.2,
    )


def algorithm():
    paper = {
        "tasks": 1000,
        "workers": 300,
        "gamma": 0.3,
        "stands": False,
        "gold": 20,
        "gold_needed": 12_944,
        "ratio_promise": None,
    }
    strict = {
        "tasks": 24,
        "workers": 1000,
        "gamma": 1.0,
        "stands": True,
        "gold": 8000,
        "gold_needed": 142,
        "ratio_promise": 6.0,
    }
    table = framed(
        [paper, strict] * N,
        crowd="able",
        epsilon=0.1,
        delta=0.05,
        labels=90,
        bound=100.0,
        broken=0,
        lemma_2_radius=0.5,
        mean_quality_least=0.08,
    )
    return table.assign(kept=table["tasks"])


def sample_size():
    rows = [{"place": place, "needed": place == 1.0} for place in (0.0, 0.5, 1.0)] * N
    return framed(
        rows,
        crowd="uniform",
        epsilon=0.2,
        delta=0.05,
        lost=0.5,
        labels=110,
        bound=100.0,
        ratio_promise=900.0,
        error=0.1,
        error_promise=0.9,
        broken=0,
    )


def made_gold():
    rows = [
        {"crowd": crowd, "labels": labels, "gold": 20}
        for crowd in ("uniform", "adverse")
        for labels in (5, 300)
    ]
    return framed(rows * 10, delta=0.05, judged=300, wrong=1, missed_made=3, missed_true=2)


def structured():
    rows = [{"exploration": name} for name in ("ability", "type", "known")] * N
    table = framed(rows, epsilon=0.05, gold=40, off=0.05, labels=95, bound=100.0)
    return table.assign(error=0.03 + 0.001 * (np.arange(len(table)) % 5))


def figure(settings, error, gold):
    """Curves: `error(method, setting, labels)` with a little noise, five budgets, eight crowds."""
    rng = np.random.default_rng(1)
    rows = []
    for where in settings:
        for method in ("adaptive", "message passing"):
            for labels in (10.0, 15.0, 20.0, 25.0, 30.0):
                budget = {"epsilon": 1 / labels, "per_task": None}
                if method != "adaptive":
                    budget = {"epsilon": None, "per_task": labels}
                for crowd in range(8):
                    noise = 0.002 * rng.normal()
                    rows.append(
                        {
                            **where,
                            **budget,
                            "method": method,
                            "labels_per_task": labels,
                            "error": error(method, where, labels) + noise,
                            "crowd_number": crowd,
                        }
                    )
    table = framed(rows, tasks=1000, workers=300, gamma=0.3, capacity=200, iterations=10, gold=gold)
    return table.assign(repetition=table["crowd_number"])


def error_1(method, where, labels):
    ahead = {"one-type": 0.05, "two-types": -0.05}[where["crowd"]]
    return 0.3 - 0.004 * labels + ahead * (method == "adaptive")


def error_2(method, where, labels):
    rise = {"adaptive": 0.03, "message passing": 0.15}[method]
    return 0.25 - 0.004 * labels + rise * (where["types"] - 1)


def figure_1(error=error_1):
    return figure([{"crowd": name} for name in ("one-type", "two-types")], error, 20)


def figure_2(error=error_2):
    return figure([{"types": k} for k in (1, 2, 3)], error, 10)


def all_tables():
    """All studies, every claim in good order: tests spoil one figure at a time."""
    return {
        "weighted-vote": votes(),
        "gold-estimates": estimates(),
        "offline-assignment": offline(),
        "toy-example": toy(),
        "sampled-weights": sampled(),
        "estimated-skills": skills(),
        "main-algorithm": algorithm(),
        "sample-size": sample_size(),
        "made-gold": made_gold(),
        "structured-tasks": structured(),
        "adaptive-figure-1": figure_1(),
        "adaptive-figure-2": figure_2(),
    }


def spoil(table, rows, column, value):
    """A table with another value in some rows: those of a query, or all."""
    table = table.copy()
    at = table.index if rows is None else table.query(rows).index
    assert len(at)
    table[column] = table[column].astype(object)
    table.loc[at, column] = value
    return table.infer_objects()
