"""Theorems 1 to 5 and Lemmas 1 to 8, computed: what holds, what is void, what fails.

Each question is a kind of trial; a record has the fields of its question, the others are missing.

- `sets`: all subsets of a crowd, by simple and by weighted vote (Theorems 1, 2, 4; footnote 2).
- `steps`: exploring steps and their regret beside D1·D2 (Lemma 1).
- `slips`: one run's exploiting regret beside its wrong choices (Lemma 2).
- `bounds`: Theorems 3 and 5 at the printed constants, their conditions, and the estimates that so
  many testers would give (Lemmas 3, 4).
- `steps-of-proofs`: random and extreme instances of the inequalities (Lemmas 5 to 8).
- `disagreement`: how often a worker differs from the majority, (12), and how often two are ranked
  the wrong way round, (13), both exact.
- `agreement`: what labels without truth tell of the assumption p̄ > ½ (Section 2.3).
- `weighted-vote`: the weighted vote beside the best guess, its optimum beside the simple vote's
  (Section 4).
- `classes`: even and odd sets where tasks have three classes or five (footnote 1).
- `one-round`: the set that LS_OL tends to where each tester is asked for once (G2 = 0).
- `intervals`: what an interval of contexts costs (Section 5).
- `costs`: the extra cost of exploring (Section 3.4).
- `inverse`: bound (6) as the crowd gets more able (Section 3.2).
- `vetting`: what dropping the least able does to a_min, and whom N rounds name (Section 3.5.3).

Source: Liu, Liu (2015), Sections 2 to 5 and appendices.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from crowd_papers.online_learning import (
    theory_bounds,
    theory_proofs,
    theory_sets,
    theory_votes,
)
from crowd_papers.online_learning.theory_sets import CROWDS
from workbench.base import FloatArray, stream
from workbench.studies import (
    Analysis,
    Chart,
    Parameter,
    Params,
    Record,
    Size,
    Streams,
    Study,
    ended,
    ended_well,
    having,
    joined,
)

Question = Callable[[FloatArray, np.random.Generator], Record]

QUESTIONS: dict[str, Question] = {
    "sets": theory_sets.sets,
    "steps": theory_bounds.steps,
    "slips": theory_bounds.slips,
    "bounds": theory_bounds.bounds,
    "steps-of-proofs": theory_proofs.proofs,
    "disagreement": theory_votes.disagreement,
    "agreement": theory_votes.agreement,
    "weighted-vote": theory_sets.weighted_vote,
    "classes": theory_sets.classes,
    "one-round": theory_sets.one_round,
    "intervals": theory_sets.intervals,
    "costs": theory_bounds.costs,
    "inverse": theory_bounds.inverse,
    "vetting": theory_votes.vetting,
}
"""What answers each question."""


def trial(params: Params, streams: Streams) -> Record:
    """Draw a crowd and answer one question on it."""
    rng = stream(streams.instance, "theory")
    skill = CROWDS[params["crowd"]](int(params["workers"]), rng)
    return QUESTIONS[params["question"]](skill, rng)


# What the trials say.

FIELDS: dict[str, tuple[str, ...]] = {
    "sets": (
        "even_ahead",
        "even_optimal",
        "other_ahead",
        "other_optimal",
        "search_off",
        "weighted_other_ahead",
        "weighted_other_optimal",
        "weighted_search_off",
    ),
    "steps": ("steps_share", "regret_share"),
    "slips": ("exploit_regret", "slip_bound"),
    "bounds": (
        "share_2000",
        "share_million",
        "share_million_5",
        "cost_share_million",
        "enough",
        "needed",
        "factor_1",
        "speaks_at",
        "lemma_3_speaks_at",
        "lemma_4_speaks_at",
        "wrong_order",
        "wrong_set",
    ),
    "steps-of-proofs": (
        "lemma_6",
        "lemma_6_without",
        "lemma_6_missed",
        "lemma_7",
        "lemma_8_printed",
        "lemma_8_printed_edge",
        "lemma_8_needed",
        "lemma_5_missed",
    ),
    "disagreement": (
        "rate_printed",
        "rate_exact",
        "rate_off",
        "order_broken",
        "excess_printed_20",
        "excess_printed_100",
        "excess_printed_400",
        "excess_supported_20",
        "excess_supported_100",
        "excess_supported_400",
    ),
    "agreement": ("warned", "covered", "blind_answers", "mirror_same"),
    "weighted-vote": ("off", "gain", "even_ahead"),
    "classes": ("even_ahead_3", "even_ahead_5"),
    "one-round": (
        "wrong_half",
        "loss_half",
        "wrong_able",
        "loss_able",
        "wrong_spread",
        "loss_spread",
    ),
    "intervals": ("loss_2", "loss_8", "loss_32", "share"),
    "costs": ("cost_share", "whole_share"),
    "inverse": ("a_min_gain", "regret_ratio", "factor_ratio"),
    "vetting": ("strict_gain", "full_gain", "wrong_printed", "wrong_supported"),
}
"""Fields shown of each question's record."""


def analyse(trials: pd.DataFrame) -> Analysis:
    """Means and largest values of what each question measures."""
    rows = ended_well(trials)
    parts = [Analysis((ended(trials),))]
    for question in QUESTIONS:
        own = rows[rows["question"] == question]
        if len(own):
            parts.append(about(question, own))
    return joined(parts)


def about(question: str, rows: pd.DataFrame) -> Analysis:
    """Means and largest values of what one question measures."""
    fields = FIELDS[question]
    rows = having(rows, *fields).astype(dict.fromkeys(fields, float))
    values = ", ".join(f"{name} {rows[name].max():.4g}" for name in fields)
    finding = f"{question}, {len(rows):,} crowds, largest values: {values}."
    columns = {f"{name}_{how}": (name, how) for name in fields for how in ("mean", "max")}
    table = rows.groupby(["crowd", "workers"], sort=False).agg(**columns).reset_index()
    charts = (bound_chart(table, len(rows)),) if question == "bounds" else ()
    return Analysis((finding,), {question: table}, charts)


def bound_chart(table: pd.DataFrame, trials: int) -> Chart:
    """Draw bound (6) by size of the crowd."""
    return Chart(
        "bound",
        "Bound (6) of Theorem 3 at the printed constants as a share of T, a million tasks: above 1 "
        f"it says nothing. Mean over crowds; {trials:,} trials.",
        table.rename(columns={"crowd": "series"}),
        x="workers",
        y="share_million_mean",
        x_label="workers M",
        y_label="bound (6) / T",
        series="series",
        kind="points",
        log_y=True,
        references=((1.0, "no regret is larger"),),
    )


_FIRST = ["steps", "slips", "bounds", "steps-of-proofs", "disagreement", "agreement"]
_MORE = ["weighted-vote", "classes", "one-round", "intervals", "costs", "inverse", "vetting"]
_RANDOM = [name for name in CROWDS if name != "table-1"]

STUDY = Study(
    name="learn-theory",
    title="The theorems and lemmas of online worker selection, computed",
    source="Liu, Liu (2015), Sections 2 to 5, footnotes, appendices",
    parameters={
        "question": Parameter(str, "sets", "what is computed", choices=tuple(QUESTIONS)),
        "crowd": Parameter(str, "able", "how skills are drawn", choices=tuple(CROWDS)),
        "workers": Parameter(int, 5, "M", least=3, most=9),
    },
    sizes={
        "smoke": Size(
            (
                {"question": ["sets"], "crowd": ["able", "alike", "solved"]},
                {"question": [*_FIRST, *_MORE]},
            ),
            1,
        ),
        "small": Size(
            (
                {"question": ["sets"], "crowd": _RANDOM, "workers": [3, 5]},
                {"question": [*_FIRST, *_MORE], "crowd": ["able", "table-1"]},
            ),
            20,
        ),
        "paper": Size(
            (
                {"question": ["sets"], "crowd": _RANDOM, "workers": [3, 4, 5, 6, 7]},
                {
                    "question": ["steps", "slips", "disagreement", "agreement"],
                    "workers": [3, 5, 7, 9],
                },
                {"question": ["bounds", "steps-of-proofs"], "workers": [3, 5, 7]},
                {"question": _FIRST, "crowd": ["table-1"]},
                {"question": ["weighted-vote", "classes", "vetting"], "workers": [4, 5, 6]},
                {"question": ["one-round", "intervals", "costs", "inverse"], "workers": [3, 5, 7]},
                {"question": _MORE, "crowd": ["table-1"]},
            ),
            100,
        ),
    },
    trial=trial,
    analyse=analyse,
)
