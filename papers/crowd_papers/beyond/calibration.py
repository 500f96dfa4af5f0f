"""How far to trust a stated error: predicted, measured and actual, on recorded crowds.

A trial draws control tasks out of a data set's gold. A rule is fitted on them and labels the other
tasks with gold, where its actual error is seen; what it states beforehand is held against that: the
error that follows if workers err independently, the error measured on the control tasks, each
labelled by the rule fitted without it (`workbench.accuracy.measured`), and its 90 % interval.

Rules: `hire`, the vote of at most K workers chosen as `hire` does by default, with an eye on who
labels what; `aggregate`, the aggregator that the control tasks choose; and `plan`, the assignment
program (Bhattacharyya's cover at ε) as a rule, in which a worker takes no more tasks than she
labelled. Beside them the majority and the vote weighted by log-odds, of all labels.
Hires and plans are replayed: they label the tasks that somebody of theirs labelled, and only those
are measured and scored.

No estimate from c of n tasks with gold can be much better than the floor √(e(1 − e)(1/c +
1/(n − c))), the standard deviation of a difference of two shares, e being the actual error; for
rules that are replayed c and n − c are the tasks that they label.

Trials of one data set share its crowd: their spread is over draws of control tasks, not over
crowds. The simulated stand-ins are drawn anew in each trial, and let the study run without data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from crowd_papers.recorded_crowds import SIMULATED
from workbench.accuracy import measure_error
from workbench.aggregation import (
    AGGREGATORS,
    PLAINEST_FIRST,
    TAUGHT,
    Aggregate,
    choosing_rule,
    taught,
    vote_rule,
)
from workbench.assignment import PlanTerms, joint_plan_rule, plan_rule
from workbench.base import IntArray, Seed, stream
from workbench.crowd import DATASETS, GoldRule, Votes
from workbench.ranking import Recording, recorded, simulated
from workbench.selection import hire_rule, hiring, labels_seen
from workbench.studies import (
    Analysis,
    Block,
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
    measured,
    percent,
)

VOTES = {"majority": "majority", "log-odds": "weighted-log-odds"}
"""Aggregator of each rule that takes all labels."""
FRONT_DOOR = {"hire": 20, "aggregate": 20, "plan": 10}
"""Rules of the front door, and how often each is fitted without a part of its gold there."""
RULES = (*VOTES, *FRONT_DOOR)
GOLD = {
    "bluebird": 108,
    "face": 584,
    "music_genre": 700,
    "product": 8315,
    "rte": 800,
    "sat12": 32,
    "sentence_polarity": 4999,
    "sentiment": 1000,
    "sp_amt": 500,
    "weather_amt": 300,
    "web": 2653,
    "zencrowd_us": 2040,
}
"""Tasks with gold of the data sets run at full size."""
CONTROLS = (20, 40, 100)
CONFIDENCE = 0.9
MEANS = [
    "actual",
    "measured",
    "independent",
    "signed",
    "too_low",
    "too_high",
    "square",
    "square_independent",
    "tasks_measured",
    "tasks_left",
    "others",
    "met",
]
"""Columns of means in the table."""


def trial(params: Params, streams: Streams) -> Record:
    """Draw control tasks; state the error of a rule fitted on them, and look at the actual one."""
    seed = streams.instance
    name = params["data"]
    crowd = simulated(name, seed=seed) if name in SIMULATED else recorded(name)
    with_gold = np.flatnonzero(crowd.truth >= 0)
    if params["controls"] >= len(with_gold):
        raise TrialEnded("infeasible", f"{params['controls']} control tasks of {len(with_gold)}")
    drawn = stream(seed, "controls").permutation(with_gold)
    control, rest = drawn[: params["controls"]], np.sort(drawn[params["controls"] :])
    gold: IntArray = np.full(len(crowd.truth), -1, dtype=np.int64)
    gold[control] = crowd.truth[control]
    rule = rule_of(params, crowd, control, seed)
    stated = measure_error(
        rule, gold, left=rest, most_folds=params["folds"], confidence=CONFIDENCE, seed=seed
    )
    loss = rule(gold).label(rest).loss(crowd.truth[rest])
    loss = loss[~np.isnan(loss)]
    low, high = stated.error_interval
    actual = float(loss.mean()) if len(loss) else None
    return {
        "actual": actual,
        "measured": stated.error_measured,
        "independent": stated.error_independent,
        "low": low,
        "high": high,
        "below": actual < low - 1e-12 if actual is not None else None,
        "above": actual > high + 1e-12 if actual is not None else None,
        "tasks_measured": stated.tasks_measured,
        "wrong": stated.wrong,
        "tasks_left": len(loss),
        "gold": len(with_gold),
        "unstable": stated.unstable,
        "met": stated.met,
    }


def rule_of(params: Params, crowd: Recording, control: IntArray, seed: Seed) -> GoldRule:
    """Make the rule that is measured."""
    votes = crowd.votes
    if params["rule"] in VOTES:
        return vote_rule(votes, VOTES[params["rule"]], seed=seed)
    if params["rule"] == "hire":
        return _hiring(crowd, control, params["budget"])
    if params["rule"] == "aggregate":
        return _choosing(params["data"], crowd, control, seed)
    capacity = np.bincount(votes.worker, minlength=len(votes.workers))
    level = np.array([params["epsilon"]])
    terms = PlanTerms(level, capacity, np.array([len(votes.tasks)]))
    if len(votes.classes) > 2:
        return joint_plan_rule(votes, terms)
    return plan_rule(votes, terms, seed=seed)


def _hiring(crowd: Recording, control: IntArray, budget: int) -> GoldRule:
    """Hire as the front door does, which sees who labels what."""
    votes = crowd.votes
    truth = np.where(np.isin(np.arange(len(votes.tasks)), control), crowd.truth, -1)
    seen = labels_seen(votes, truth)
    return hire_rule(votes, hiring(budget, len(votes.classes), seen))


def _choosing(name: str, crowd: Recording, control: IntArray, seed: Seed) -> GoldRule:
    """Let the control tasks choose the aggregator, as the front door does."""
    gold: IntArray = np.full(len(crowd.truth), -1, dtype=np.int64)
    gold[control] = crowd.truth[control]
    untaught = _untaught(crowd.votes) if name in SIMULATED else _kept(name, crowd.votes)
    candidates = {**untaught, TAUGHT: taught(crowd.votes, gold, seed=seed)}
    return choosing_rule(candidates, crowd.votes)


def _untaught(votes: Votes) -> dict[str, Aggregate]:
    """Candidates that see no gold, from one start."""
    return {method: AGGREGATORS[method].call(votes, seed=0) for method in PLAINEST_FIRST}


FITTED: dict[str, dict[str, Aggregate]] = {}
"""The same of recorded crowds, fitted once a process."""


def _kept(name: str, votes: Votes) -> dict[str, Aggregate]:
    if name not in FITTED:
        FITTED[name] = _untaught(votes)
    return FITTED[name]


# What the trials say.


def analyse(trials: pd.DataFrame) -> Analysis:
    """How far stated errors are off, and how often intervals hold, by rule and controls."""
    rows = measured(trials, "actual")
    if rows.empty:
        return Analysis((ended(trials),))
    table = by_crowd(rows)
    tables = {
        "Stated and actual error, means over draws of the control tasks": table,
        "Measured error minus the actual one, means over crowds": signed(rows),
    }
    charts = (stated_chart(table, len(rows)), held_chart(table, len(rows)))
    return Analysis((ended(trials), *findings(table)), tables, charts)


def by_crowd(rows: pd.DataFrame) -> pd.DataFrame:
    """Stated and actual error of each rule on each crowd, over draws of the control tasks.

    Returns
    -------
    DataFrame
        `rule, controls, data, trials`; means of the fields, `signed` of the measured error less the
        actual one, `too_low` and `too_high` the shares of
        draws with the actual error below and above the interval; mean squared errors `square` and
        `square_independent`; `others`, the gold tasks that are no controls; `held`, the share of
        draws in the interval; `rmse, rmse_independent`; the floor of both numbers of tasks, and
        the share of it that the root mean square error is.
    """
    rows = in_order(rows, {"rule": RULES, "controls": None, "data": (*SIMULATED, *GOLD)})
    rows = rows.assign(
        signed=rows["measured"] - rows["actual"],
        too_low=rows["below"],
        too_high=rows["above"],
        square=(rows["measured"] - rows["actual"]) ** 2,
        square_independent=(rows["independent"] - rows["actual"]) ** 2,
        others=rows["gold"] - rows["controls"],
    )
    groups = rows.astype(dict.fromkeys(MEANS, float)).groupby(
        ["rule", "controls", "data"], sort=False
    )
    table = groups[MEANS].mean()
    table.insert(0, "trials", groups["actual"].count())
    table = table.reset_index()
    rmse = np.sqrt(table["square"])
    of_all = floor(table["actual"], table["controls"], table["others"])
    of_labelled = floor(table["actual"], table["tasks_measured"], table["tasks_left"])
    return table.assign(
        held=1.0 - table["too_low"] - table["too_high"],
        rmse=rmse,
        rmse_independent=np.sqrt(table["square_independent"]),
        floor=of_all,
        floor_labelled=of_labelled,
        of_floor=rmse / of_all,
        of_floor_labelled=rmse / of_labelled,
    )


def signed(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean signed error of the measured error by rule and controls, and without the draws' luck.

    Control tasks that happen to be hard make every rule's measured error too high. A majority looks
    at no gold, so that its own signed error is such luck alone, 0 in the mean over draws: taken as
    a control variate on the same draws, its slope fitted within crowds, it takes the luck out.

    Returns
    -------
    DataFrame
        `rule, controls, crowds, trials, signed, se, adjusted, adjusted_se`, means over crowds; the
        last two NaN where the majority was not tried on the same draws.
    """
    key = ["data", "controls", "repetition"]
    off = rows.assign(signed=(rows["measured"] - rows["actual"]).astype(float))
    luck = off[off["rule"] == "majority"].set_index(key)["signed"].rename("luck")
    off = off.dropna(subset=["signed"]).join(luck, on=key)
    records = []
    for (rule, controls), draws in off.groupby(["rule", "controls"], sort=False):
        own = draws["signed"] - draws.groupby("data")["signed"].transform("mean")
        chance = draws["luck"] - draws.groupby("data")["luck"].transform("mean")
        slope = float((own * chance).sum() / max((chance**2).sum(), 1e-300))
        without = draws["signed"] - slope * draws["luck"]
        counts = rule, controls, draws["data"].nunique(), len(draws)
        means = over_crowds(draws["signed"], draws["data"]), over_crowds(without, draws["data"])
        records.append((*counts, *means[0], *means[1]))
    columns = ["rule", "controls", "crowds", "trials", "signed", "se", "adjusted", "adjusted_se"]
    return pd.DataFrame(records, columns=columns)


def over_crowds(values: pd.Series[float], crowd: pd.Series[Any]) -> tuple[float, float]:
    """Mean over crowds of means over draws, and its standard error over draws."""
    by_crowd = values.groupby(crowd)
    mean, error = by_crowd.mean(), by_crowd.var() / by_crowd.count()
    return float(mean.mean()), float(np.sqrt(error.sum()) / len(mean))


def floor(
    error: pd.Series[float], controls: pd.Series[float], others: pd.Series[float]
) -> pd.Series[float]:
    """√(e(1 − e)(1/c + 1/(n − c))): no estimate from c of n tasks is much better."""
    return (error * (1.0 - error) * (1.0 / controls + 1.0 / others)) ** 0.5


def findings(table: pd.DataFrame) -> list[str]:
    """Coverage and error of the stated figures, a sentence for each rule and number of tasks."""
    sentences = []
    for (rule, controls), crowds in table.groupby(["rule", "controls"], sort=False):
        least = crowds.sort_values("held").iloc[0]
        worst = crowds.sort_values("of_floor").iloc[-1]
        independent = (crowds["rmse_independent"] / crowds["floor"]).mean()
        sentences.append(
            f"{rule}, {controls} control tasks, {len(crowds)} crowds: the 90 % interval holds the "
            f"actual error in {percent(crowds['held'].mean())} of the draws in the mean of the "
            f"crowds, least on {least['data']}, {percent(least['held'])}; the measured error is "
            f"{crowds['signed'].mean():+.4f} from the actual one in the mean; its root mean square "
            f"error is {crowds['of_floor'].mean():.2f} of the floor, at most "
            f"{worst['of_floor']:.2f} ({worst['data']}); that of the independent one "
            f"{independent:.2f}."
        )
    return sentences


def stated_chart(table: pd.DataFrame, trials: int) -> Chart:
    """Mean actual error of each crowd, beside what was stated of it."""
    names = {"measured": "measured on gold", "independent": "if errors were independent"}
    marks = [table.assign(stated=table[column], figure=name) for column, name in names.items()]
    return Chart(
        "stated",
        "Error that was stated before the labels were looked at, against the actual error on the "
        f"tasks left, one mark per crowd and number of control tasks; {trials:,} trials.",
        pd.concat(marks, ignore_index=True),
        "actual",
        "stated",
        "actual error",
        "stated error",
        series="figure",
        panel="rule",
        kind="points",
        diagonal="as stated",
    )


def held_chart(table: pd.DataFrame, trials: int) -> Chart:
    """Coverage of the interval by the number of control tasks."""
    return Chart(
        "held",
        f"Share of draws in which the 90 % interval holds the actual error; {trials:,} trials.",
        table,
        "controls",
        "held",
        "control tasks c",
        "share held",
        series="data",
        panel="rule",
        log_x=True,
        references=((0.9, "90 %"), (0.8, "80 %")),
    )


def _blocks(rules: Mapping[str, int]) -> tuple[Block, ...]:
    """All crowds with every number of control tasks that leaves some; folds by rule."""
    return tuple(
        {
            "data": [data],
            "rule": [rule],
            "folds": [folds],
            "controls": [controls for controls in CONTROLS if controls < gold],
        }
        for rule, folds in rules.items()
        for data, gold in GOLD.items()
    )


STUDY = Study(
    name="calibration",
    title="Predicted, measured and actual error on recorded crowds",
    source="beyond the papers",
    parameters={
        "data": Parameter(
            str,
            "simulated",
            "whose labels; stand-ins are named as such",
            choices=(*SIMULATED, *DATASETS),
        ),
        "controls": Parameter(int, 40, "c, control tasks drawn from the gold", least=1),
        "rule": Parameter(str, "log-odds", "what labels the tasks", choices=RULES, paired=True),
        "folds": Parameter(
            int,
            20,
            "times that the rule is fitted without a part of the control tasks, at most",
            least=2,
            paired=True,
        ),
        "budget": Parameter(int, 10, "K, the most workers to hire", least=1, paired=True),
        "epsilon": Parameter(float, 0.05, "ε of the plan", least=1e-6, most=0.499, paired=True),
    },
    sizes={
        "smoke": Size(({"data": list(SIMULATED), "rule": list(RULES), "controls": [10, 40]},), 1),
        "small": Size(
            (
                {
                    "data": ["bluebird", "sp_amt"],
                    "rule": list(RULES),
                    "controls": [10, 40],
                    "folds": [10],
                },
            ),
            20,
        ),
        "paper": Size(_blocks({"majority": 20, **FRONT_DOOR}), 60),
    },
    trial=trial,
    analyse=analyse,
    version=4,
    deadline=600.0,
)
