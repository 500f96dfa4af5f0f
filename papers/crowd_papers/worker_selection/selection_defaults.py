"""The default of `select` against every other rule, on recorded crowds.

A trial splits a data set's gold: some tasks are control tasks, the others are scored. Each rule
chooses at most K workers by the answers to the control tasks, and those label the scored tasks with
the vote that goes with the rule: by log-odds of posterior means for the default, "accuracy", by
Lŵ − 1 for the others, as `workbench hire` has it. All rules refuse who is more likely than not
below guessing. Where everybody labelled everything the choice is made once; where not, for each
task among those who labelled it, since of K workers hired for all hardly any task would have votes;
at most `SCORED` tasks are drawn to be scored then. "flat accuracy" is what the default was made of:
skills equally likely a priori, errors independent, votes by Lŵ − 1.

All rules see the same splits, so that differences are paired. Their spread is over splits of one
crowd's gold, not over crowds. `guessers` is drawn anew in each trial: nine workers in ten guess.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from crowd_papers.recorded_crowds import SIMULATED
from workbench.aggregation import expected_accuracy
from workbench.base import BoolArray, FloatArray, IntArray, Seed, stream
from workbench.crowd import DATASETS, TIE, Votes, dense_votes, one_coin_labels
from workbench.ranking import Recording, kept, recorded, simulated
from workbench.selection import (
    ControlAnswers,
    HireOptions,
    Scores,
    eligible_to_hire,
    score_by,
    select,
    select_per_task,
    skills_by_difficulty,
)
from workbench.studies import (
    Analysis,
    Chart,
    Parameter,
    Params,
    Record,
    Size,
    Streams,
    Study,
    TrialEnded,
    ended,
    in_order,
    mean_chart,
    means,
    nonempty,
    paired_differences,
    plus_minus,
    records,
    without_failures,
)

DEFAULT = "accuracy"
RULES = (
    DEFAULT,
    "selected",
    "plug-in",
    "top-skill",
    "top-informative",
    "threshold",
    "random",
    "flat accuracy",
)
GUESSERS = "guessers"
STAND_INS = (*SIMULATED, GUESSERS)
DENSE = ("simulated", GUESSERS, "bluebird", "sat12")
"""Crowds of which everybody labelled everything, or nearly so: one choice for all tasks."""
SCORED = 200
"""Tasks that are scored where the choice is made for each."""
DRAWS = 1000
"""Votes simulated to tell how many of a task's workers to take."""
SETS = (
    "bluebird",
    "face",
    "music_genre",
    "product",
    "rte",
    "sat12",
    "sentence_polarity",
    "sentiment",
    "sp_amt",
    "weather_amt",
    "web",
    "zencrowd_us",
)


def trial(params: Params, streams: Streams) -> Record:
    """Split the gold, let one rule choose, and score the vote of the chosen."""
    seed = streams.instance
    name, rule, budget = params["data"], params["rule"], params["budget"]
    crowd = _crowd(name, seed)
    exam, votes, truth = _split(crowd, params["controls"], rule, seed, dense=name in DENSE)
    if name in DENSE:
        chosen = _chosen(exam, rule, budget, seed)
        marked = np.isin(votes.worker, chosen)
    else:
        marked = _for_each_task(exam, votes, rule, budget, seed)
    selection = kept(votes, marked)
    weight = np.where(exam.eligible, np.nan_to_num(exam.vote_weight), 0.0)
    scored = truth >= 0
    voters = np.bincount(selection.task, minlength=len(truth))[scored]
    right = selection.label == truth[selection.task]
    return {
        "accuracy": expected_accuracy(selection, weight, truth),
        "size": float(voters.mean()),
        "worker_accuracy": float(right[scored[selection.task]].mean()) if len(selection) else None,
        "scored": int(scored.sum()),
        "difficulty": exam.difficulty,
        "guessers": exam.guessers,
    }


def _crowd(name: str, seed: Seed) -> Recording:
    """A recorded crowd, or a stand-in."""
    if name == GUESSERS:
        truth = stream(seed, "truth").integers(2, size=200)
        skill = np.where(np.arange(50) < 5, 0.85, 0.5)
        return Recording(dense_votes(one_coin_labels(skill, truth, 2, seed=seed), 2), truth)
    return simulated(name, seed=seed) if name in SIMULATED else recorded(name)


def _split(
    crowd: Recording, controls: int, rule: str, seed: Seed, *, dense: bool
) -> tuple[Scores, Votes, IntArray]:
    """Score the workers by control tasks; give the votes on the scored tasks, and their truth."""
    votes, truth = crowd.votes, crowd.truth
    gold = np.flatnonzero((truth >= 0) & (np.bincount(votes.task, minlength=len(truth)) > 0))
    if controls >= len(gold):
        raise TrialEnded("infeasible", f"{controls} control tasks of {len(gold)} with gold")
    drawn = stream(seed, "controls").permutation(gold)
    control, rest = drawn[:controls], drawn[controls:]
    on_control = np.isin(votes.task, control)
    answers = ControlAnswers(
        votes.task[on_control],
        votes.worker[on_control],
        votes.label[on_control] == truth[votes.task[on_control]],
        len(votes.workers),
    )
    options = HireOptions(rule=rule if rule in RULES[:-1] else "selected")
    exam = eligible_to_hire(score_by(answers, len(votes.classes), options), options)
    scored = rest if dense else rest[:SCORED]
    remaining = np.where(np.isin(np.arange(len(truth)), scored), truth, -1)
    return exam, kept(votes, remaining[votes.task] >= 0), remaining


def _chosen(exam: Scores, rule: str, budget: int, seed: Seed) -> IntArray:
    name = DEFAULT if rule == "flat accuracy" else rule
    return select(exam, budget, name, seed=seed, by_evidence=True).chosen


def _for_each_task(exam: Scores, votes: Votes, rule: str, budget: int, seed: Seed) -> BoolArray:
    """Mark the votes of those whom the rule chooses for each task, of who labelled it."""
    if rule in (DEFAULT, "flat accuracy"):
        first = select_per_task(
            votes,
            np.where(exam.eligible, exam.posterior_value, -np.inf),
            budget,
            stop=False,
            seed=seed,
        )
        return _stopped(exam, votes, first, seed)
    above = exam.skill > 1.0 / exam.classes
    value = {
        "selected": exam.gain,
        "plug-in": exam.plug_in,
        "top-informative": exam.plug_in,
        "top-skill": exam.skill,
        "threshold": np.where(above, exam.skill, -np.inf),
        "random": stream(seed, "random workers").random(len(exam)),
    }[rule]
    value = np.where(exam.eligible, value, -np.inf)
    stop = rule in ("selected", "plug-in")
    return select_per_task(votes, value, budget, stop=stop, seed=seed)


def _stopped(exam: Scores, votes: Votes, first: BoolArray, seed: Seed) -> BoolArray:
    """Of each task's marked votes keep the first k, best worker first, that err least together."""
    rows = np.flatnonzero(first)
    rows = rows[np.lexsort((-exam.posterior_value[votes.worker[rows]], votes.task[rows]))]
    weight = exam.vote_weight
    turned = np.nan_to_num(weight) < 0
    able, share = skills_by_difficulty(exam.posterior_skill, exam.difficulty, turned)
    rng = stream(seed, "sizes")
    marked: BoolArray = np.zeros(len(votes), dtype=np.bool_)
    if not len(rows):
        return marked
    for labels in np.split(rows, np.flatnonzero(np.diff(votes.task[rows])) + 1):
        at = votes.worker[labels]
        size = _least(able[at], share, weight[at], exam.classes, rng)
        marked[labels[:size]] = True
    return marked


def _least(
    able: FloatArray, share: FloatArray, weight: FloatArray, L: int, rng: np.random.Generator
) -> int:
    """How many of the first voters err least, on simulated votes."""
    node = np.repeat(np.arange(len(share)), np.maximum(np.rint(share * DRAWS).astype(int), 1))
    right = rng.random((len(able), len(node))) < able[:, node]
    named = np.where(right, 0, rng.integers(1, L, right.shape))
    sums = np.cumsum((named[:, None, :] == np.arange(L)[:, None]) * weight[:, None, None], axis=0)
    winning = sums >= sums.max(axis=1, keepdims=True) - TIE * np.abs(weight).sum()
    correct = (winning[:, 0] / winning.sum(axis=1)).mean(axis=1)
    return 1 + int(np.argmax(correct))


# What the trials say.

FIELDS = ("accuracy", "size", "worker_accuracy", "difficulty", "guessers")


def analyse(trials: pd.DataFrame) -> Analysis:
    """The default beside every other rule on the same splits, and the means of all rules."""
    rows = without_failures(trials, FIELDS)
    apart = against(rows)
    tables = {
        "Accuracy of each rule minus the default's, on the same splits": apart,
        "All points": by_rule(rows),
    }
    return Analysis(
        (ended(trials), *findings(apart)),
        {caption: table for caption, table in tables.items() if len(table)},
        charts(apart),
    )


def against(rows: pd.DataFrame) -> pd.DataFrame:
    """Accuracy of each other rule minus the default's, on the same splits; empty without any."""
    if not (rows["rule"] == DEFAULT).any():
        return pd.DataFrame()
    apart = paired_differences(
        rows, by=["data", "controls", "budget"], method="rule", reference=DEFAULT, value="accuracy"
    )
    return apart.rename(columns={"rule": "rival"})


def by_rule(rows: pd.DataFrame) -> pd.DataFrame:
    """Means of each rule; data sets and rules in the order of legends."""
    rows = in_order(rows, {"data": (*STAND_INS, *SETS), "rule": RULES})
    keys = ["data", "controls", "budget", "rule"]
    accuracy = means(rows, keys, "accuracy")
    others = {name: means(rows, keys, name)["mean"] for name in FIELDS[1:]}
    table = accuracy[keys].assign(accuracy=accuracy["mean"], se=accuracy["se"], **others)
    return table.assign(trials=accuracy["n"], failed=accuracy["failed"])


def findings(apart: pd.DataFrame) -> list[str]:
    """Say where the default is behind by more than two standard errors."""
    if apart.empty:
        return []
    behind = apart[apart["mean"] > 2.0 * apart["se"]]
    ahead = apart[apart["mean"] < -2.0 * apart["se"]]
    summary = (
        f"of {len(apart)} comparisons (crowd, control tasks, budget, rule) the default is ahead by "
        f"more than two standard errors in {len(ahead)}, behind in {len(behind)}."
    )
    return [summary] + [
        f"behind {row.rival} on {row.data} ({row.controls} control tasks, K = {row.budget}): "
        f"{plus_minus(row.mean, row.se, 4)}."
        for row in records(behind)
    ]


def charts(apart: pd.DataFrame) -> tuple[Chart, ...]:
    """Draw the differences of the rules that choose by answers."""
    if apart.empty:
        return ()
    drawn = apart[apart["rival"] != "random"]
    controls = drawn["controls"].astype(str)
    chart = mean_chart(
        "differences",
        "Accuracy of each rule minus the default's on the same splits of the gold: below 0 the "
        "default is ahead.",
        drawn.assign(panel=drawn["data"] + ", " + controls + " control tasks"),
        "budget",
        ("budget K", "accuracy minus the default's"),
        series="rival",
        panel="panel",
        references=((0.0, "the default"),),
        unit="splits",
    )
    return nonempty(chart)


STUDY = Study(
    name="selection-defaults",
    title="The default of select against every other rule",
    source="beyond the papers",
    parameters={
        "data": Parameter(
            str,
            "simulated",
            "whose labels; stand-ins are named as such",
            choices=(*STAND_INS, *DATASETS),
        ),
        "controls": Parameter(int, 20, "control tasks drawn from the gold", least=1),
        "rule": Parameter(str, DEFAULT, "who chooses", choices=RULES, paired=True),
        "budget": Parameter(int, 10, "K, the most workers per task may have", least=1, paired=True),
    },
    sizes={
        "smoke": Size(
            ({"data": list(STAND_INS), "rule": list(RULES), "budget": [10], "controls": [20]},), 1
        ),
        "small": Size(
            (
                {
                    "data": ["bluebird", "rte", "sentiment"],
                    "rule": list(RULES),
                    "budget": [3, 10],
                    "controls": [20],
                },
            ),
            20,
        ),
        "paper": Size(
            (
                {
                    "data": [GUESSERS, *SETS],
                    "rule": list(RULES),
                    "budget": [3, 10],
                    "controls": [20],
                },
                {
                    "data": [GUESSERS, *(name for name in SETS if name != "sat12")],
                    "rule": list(RULES),
                    "budget": [10],
                    "controls": [40],
                },
                {
                    "data": [GUESSERS, "bluebird", "sat12"],
                    "rule": list(RULES),
                    "budget": [20],
                    "controls": [20],
                },
                {
                    "data": [GUESSERS, "bluebird"],
                    "rule": list(RULES),
                    "budget": [20],
                    "controls": [40],
                },
            ),
            20,
        ),
    },
    trial=trial,
    analyse=analyse,
    deadline=120.0,
)
