"""Models and people: error, cost and belief beside fixed panels and cascades.

Five models at a fiftieth of a person's price err together; people err independently of each other.
A thousand tasks and a budget. Everybody who is compared has the same answers and may spend the same
budget; a cascade goes on until it is spent, so that costs are equal. The best fixed panel may spend
less: it is the best, in hindsight, of all that the budget reaches.

Settings (`crowd_papers.beyond.mixed_crowds`): equal classes; 15 % positives, which models miss
more often; people who share the models' difficulty; and models who err independently, where there
is nothing to gain by looking at them jointly.

Source: beyond the papers; cascades after Chen, Zaharia, Zou (2023), "FrugalGPT", and Geifman,
El-Yaniv (2017), "Selective classification for deep neural networks".
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from crowd_papers.beyond.mixed_crowds import SETTINGS, MixedCrowd, mixed_crowd
from crowd_papers.beyond.mixed_rivals import RivalEnd, best_panel, cascade
from workbench.collection import POLICIES, Goal, rehearse
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
    ended,
    ended_well,
    nonempty,
)

PANEL, CASCADE, FITTED, CONFIDENT = (
    "best panel",
    "cascade",
    "cascade, fitted",
    "cascade, confident",
)
OURS, SURE = "until-trusted", "until-trusted, confidences"
RIVALS = (PANEL, CASCADE, FITTED, CONFIDENT)
EXCESS, SLACK = 1.3, 0.01
"""An error is believed if it is made at most so many times, and so much more."""


def trial(params: Params, streams: Streams) -> Record:
    """Draw a pool, and let a policy or a rival spend the budget."""
    rng = np.random.default_rng(streams.instance)
    crowd = mixed_crowd(params["crowd"], params["tasks"], params["people"], rng)
    policy, seed = params["policy"], streams.method("policy").generate_state(2)
    if policy in RIVALS:
        end = _rival(crowd, params, np.random.default_rng(seed))
        return {"error": end.error, "believed": end.believed, "cost": end.cost, "closed": None}
    name, *with_confidences = policy.split(", ")
    pool = crowd.pool
    if with_confidences:
        pool = replace(pool, confidence=dict(enumerate(crowd.confidence.T)))
    collected = rehearse(
        POLICIES[name].call,
        pool,
        crowd.answers,
        Goal(params["epsilon"]),
        total=params["total"],
        seed=int(seed[0]),
    )
    return {
        "error": float(collected.belief.misses(crowd.answers.truth).mean()),
        "believed": float(collected.belief.error.mean()),
        "cost": float(collected.ledger.spent),
        "closed": float(collected.belief.closed.mean()),
    }


def _rival(crowd: MixedCrowd, params: Params, rng: np.random.Generator) -> RivalEnd:
    if params["policy"] == PANEL:
        return best_panel(crowd, params["total"])
    return cascade(
        crowd,
        params["total"],
        params["each"],
        rng,
        confident=params["policy"] == CONFIDENT,
        fitted=params["policy"] == FITTED,
    )


# What the trials say.


def analyse(trials: pd.DataFrame) -> Analysis:
    """Hold error and belief of until-trusted against the rivals, at the same budget."""
    rows = ended_well(trials)
    if rows.empty:
        return Analysis((ended(trials),))
    groups = rows.groupby(["crowd", "total", "policy", "each", "epsilon"], dropna=False, sort=False)
    table = groups.agg(
        trials=("error", "size"),
        error=("error", "mean"),
        error_se=("error", "sem"),
        believed=("believed", "mean"),
        worst=("error", "max"),
        cost=("cost", "mean"),
        closed=("closed", "mean"),
    ).reset_index()
    caption = "Error made and believed, and cost, by pool, budget and policy"
    chart = Chart(
        "error",
        f"Error against the budget, equal classes; {len(rows):,} trials.",
        table[(table["crowd"] == SETTINGS[0]) & (table["each"] == 1)],
        "total",
        "error",
        "budget",
        "error measured",
        series="policy",
    )
    return Analysis((ended(trials), *_findings(table)), {caption: table}, nonempty(chart))


def _findings(table: pd.DataFrame) -> list[str]:
    """One sentence a pool and budget: the best rival of each kind beside ours."""
    sentences = []
    for (crowd, total), own in table.groupby(["crowd", "total"], sort=False):
        ours = own[own["policy"] == OURS]
        if ours.empty:
            continue
        first = ours.iloc[0]
        rivals = {
            name: float(own.loc[own["policy"] == name, "error"].min())
            for name in RIVALS
            if (own["policy"] == name).any()
        }
        beaten = [name for name, error in rivals.items() if first["error"] <= error]
        better = [name for name in rivals if name not in beaten]
        honest = first["error"] <= EXCESS * first["believed"] + SLACK
        sentences.append(
            f"{crowd}, budget {total:g}: until-trusted makes {first['error']:.3f}, believes "
            f"{first['believed']:.3f} ({'kept' if honest else 'not kept'}); "
            + ", ".join(f"{name} {error:.3f}" for name, error in rivals.items())
            + (f"; better: {', '.join(better)}." if better else "; none is better.")
        )
    return sentences


MAIN: Block = {"crowd": list(SETTINGS[:3]), "total": [50.0, 150.0]}
PLAIN: Block = {"crowd": [SETTINGS[3]], "total": [50.0]}
BELIEFS: Block = {"policy": [OURS, SURE, "mixed", PANEL]}
CASCADES: Block = {"policy": list(RIVALS[1:]), "each": [1, 3]}
COMPARED: tuple[Block, ...] = tuple(
    {**pools, **policies} for pools in (MAIN, PLAIN) for policies in (BELIEFS, CASCADES)
)

STUDY = Study(
    name="collect-mixed",
    title="Models and people: error, cost and belief",
    source="beyond the papers",
    parameters={
        "crowd": Parameter(str, SETTINGS[0], "models, people and classes", choices=SETTINGS),
        "tasks": Parameter(int, 1000, "tasks to label", least=10, most=100_000),
        "people": Parameter(int, 20, "people", least=1, most=1000),
        "total": Parameter(
            float, 50.0, "budget; a model's label costs .002, a person's .1", least=0.0, paired=True
        ),
        "epsilon": Parameter(
            float,
            None,
            "error of each task; none",
            least=1e-4,
            most=0.4,
            optional=True,
            paired=True,
        ),
        "policy": Parameter(
            str, OURS, "who decides", choices=(*RIVALS, SURE, *POLICIES), paired=True
        ),
        "each": Parameter(
            int,
            1,
            "people that a cascade asks about a task in a round",
            least=1,
            most=100,
            paired=True,
        ),
    },
    sizes={
        "smoke": Size(
            ({"tasks": [60], "total": [6.0], "policy": [OURS, SURE, "mixed", *RIVALS]},), 1
        ),
        "small": Size(COMPARED, 4),
        "paper": Size(COMPARED, 20),
    },
    trial=trial,
    analyse=analyse,
)
