"""Made-up tables of the studies of Li, Liu (2015), in which every claim holds; and verdicts."""

from functools import cache

import numpy as np
import pandas as pd

from crowd_papers.worker_selection.selection_remarks import VOTERS
from tests.papers.made_up import Tables, framed, spoil
from workbench.studies.catalog import claims, claims_of
from workbench.studies.claiming import Word
from workbench.studies.judging import judge

HOLDS, CORRECTED, REFUTED = Word.HOLDS, Word.CORRECTED, Word.REFUTED
INCONCLUSIVE, UNMEASURED = Word.INCONCLUSIVE, Word.UNMEASURED
CROWDS = 24


def bound():
    rows = [
        {"search": search, "classes": classes, "controls": controls, "workers": 20}
        for search in ("few", "many")
        for classes in (2, 3)
        for controls in (0, 1)
    ] * 10
    climbs = framed(
        rows,
        log_ratio=-1.0,
        log_ratio_pair=-0.5,
        log_ratio_supported=-2.0,
        log_error_low=-3.0,
        log_bound=-2.0,
        skills="0.7",
    )
    limit = [{"classes": L, "controls": n} for L in (2, 3) for n in (0, 1, 2)] * 2
    return pd.concat(
        [climbs, framed(limit, search="exponents", workers=3, exponent_ratio=0.9)],
        ignore_index=True,
    )


def score_rows():
    rows = [{"classes": classes} for classes in (2, 3)] * CROWDS
    table = framed(
        rows,
        crowd="mixed",
        controls=10,
        workers=31,
        budget=20,
        sheets_drawn=1000,
        choices=100,
        plug_in_bias_promised=0.4,
        missed_95=10,
        missed_50=100,
        missed_chosen_95=2,
        optimism=0.5,
        error=0.1,
        votes=5000,
        bound_printed=0.6,
    )
    wave = 0.01 * np.where(np.arange(len(table)) % 4 < 2, 1.0, -1.0)
    return table.assign(bias=wave, plug_in_bias=0.4 + wave)


def exact():
    rows = [{"question": "score"}, {"question": "money"}] * CROWDS
    return framed(
        rows,
        workers=12,
        score=1.5,
        score_slices=1.5,
        score_sizes=1.5,
        score_listed=1.5,
        dominating=0,
        inequalities=250,
        not_submodular=100,
        not_supermodular=140,
    )


def remarks():
    same = {"classes": 2, "controls": 10, "workers": 31, "budget": 20, "spammers": 0}
    wave = 0.001 * np.where(np.arange(CROWDS) % 2, 1.0, -1.0)
    votes = {
        f"{kind}_{who}": value + wave
        for kind, value in (("linear", 0.95), ("log", 0.949), ("majority", 0.8), ("known", 0.99))
        for who in VOTERS
    }
    fewer = {f"{kind}_all": votes[f"{kind}_all"] - 0.05 for kind in ("linear", "majority")}
    parts = [
        {
            "question": "lead",
            "lead": 2.0 + wave,
            "lead_expected": 2.0,
            "lead_se": 0.01,
            "agree": 0.8 + wave,
        },
        {"question": "forms", "forms_off": 1e-14},
        {"question": "bound", "same": True, "same_few": True},
        {
            "question": "optimum",
            "score_selected": 1.2,
            "score_plug_in": 1.1 + wave,
            "score_best": 1.4,
        },
        {
            "question": "growth",
            "seconds_small": 1.0,
            "seconds_large": 20.0,
            "bytes_small": 1.0,
            "bytes_large": 16.0,
        },
        {"question": "votes", **votes},
        {"question": "votes", **votes, **fewer, "spammers": 100},
    ]
    rows = [pd.DataFrame({**same, **part}, index=range(CROWDS)) for part in parts]
    made = framed(pd.concat(rows, ignore_index=True))
    return made.assign(repetition=np.tile(np.arange(CROWDS), len(parts)))


PAPER = {"workers": 31, "items": 1000, "a": 2.3, "b": 2.0, "controls": 10, "ties": "fair"}


def grid(settings, methods, accuracy, size=lambda method, where: 9.0, **same):
    """Trials of crowds met by all methods: `accuracy(method, where)`, with a crowd's noise."""
    rng = np.random.default_rng(4)
    shared, rows = 0.01 * rng.normal(size=CROWDS), []
    for where in settings:
        for method in methods:
            for crowd in range(CROWDS):
                noise = 0.0005 * rng.normal()
                rows.append(
                    {
                        **same,
                        **where,
                        "method": method,
                        "crowd_number": crowd,
                        "accuracy_exact": accuracy(method, where) + shared[crowd] + noise,
                        "size": size(method, where) + rng.choice([-1.0, 1.0]),
                    }
                )
    table = framed(rows)
    return table.assign(repetition=table["crowd_number"], accuracy=table["accuracy_exact"])


AHEAD_1 = {
    "selected": 0.0,
    "plug-in": -0.01,
    "top-skill": -0.02,
    "best prefix": 0.001,
    "top-informative": -0.01,
}
SIZES_1 = {"selected": 8.0, "plug-in": 10.0, "best prefix": 8.5}


def accuracy_1(method, where):
    return 0.95 + AHEAD_1[method]


def size_1(method, where):
    return SIZES_1.get(method, where["budget"])


def figure_1(accuracy=accuracy_1, size=size_1):
    settings = [{"budget": budget} for budget in (3, 5, 10, 15, 20, 25, 31)]
    return grid(settings, AHEAD_1, accuracy, size, **PAPER)


def accuracy_2(method, where):
    if where["sweep"] == "controls":
        lost = {"selected": 0.0, "plug-in": 0.2, "top-skill": 0.3}[method]
        return 0.97 - (0.2 + lost) / where["controls"]
    rise = {"selected": 0.002, "plug-in": 0.002, "top-skill": 0.02}[method]
    return 0.8 + rise * where["a"]


def figure_2(accuracy=accuracy_2):
    same = {**PAPER, "budget": 20}
    settings = [
        *({**same, "sweep": "controls", "controls": n} for n in (3, 5, 10, 20, 45)),
        *({**same, "sweep": "prior", "a": a} for a in (1.0, 3.0, 5.0, 8.0)),
    ]
    return grid(settings, ("selected", "plug-in", "top-skill"), accuracy)


def sweep(accuracy=lambda method, where: 0.9 - 0.01 * (method == "plug-in")):
    same = {**PAPER, "classes": 2, "few": 0.0}
    settings = [
        {**same, "crowd": crowd, "controls": n, "budget": budget}
        for crowd in ("paper", "spammers")
        for n in (5, 10)
        for budget in (20, 31)
    ]
    return grid(settings, ("selected", "plug-in"), accuracy)


@cache
def made():
    return {
        "selection-bound": bound(),
        "selection-scores": score_rows(),
        "selection-exact": exact(),
        "selection-figure-1": figure_1(),
        "selection-figure-2": figure_2(),
        "selection-sweep": sweep(),
        "selection-remarks": remarks(),
    }


def word_of(claim, **changed):
    """Verdict on a claim of the made-up tables, some studies' changed: `figure_1=table`."""
    tables = {f"selection-{study.replace('_', '-')}": table for study, table in changed.items()}
    (asked,) = [each for each in claims() if each.id == f"selection-{claim}"]
    return judge(Tables({**made(), **tables}), [asked])[0].word


def words_of(module):
    """Verdict on each claim of a study's file, of the made-up tables."""
    return {verdict.claim.id: verdict.word for verdict in judge(Tables(made()), claims_of(module))}


def word_of_spoiled(claim, study, rows, column, value):
    """Verdict on a claim where some rows of a study (None: all) have another value."""
    table = spoil(made()[f"selection-{study}"].copy(), rows, column, value)
    return word_of(claim, **{study.replace("-", "_"): table})


def lifted(base, lift):
    """`base`, with what `lift(method, where)` adds."""
    return lambda method, where: base(method, where) + lift(method, where)
