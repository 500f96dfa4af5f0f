"""No online algorithm does better: proven bounds on families of arrivals, and policies on them.

Each trial takes a family of arrival sequences and proves by Yao's principle a competitive ratio
that no online algorithm is below, randomised or not, with the same repair for both sides; the
proof is recomputed in exact fractions. Beside it stand the worst ratios of a randomised policy
found with it and of the policies of `workbench.assignment` that need no sample: on each sequence
the mean over some runs, true skills told, and the number of workers in the longest one; and of one
price for all, √(UL), with what it and greedy pay at most but for a label a task.

Source: beyond Ho, Jabbari, Vaughan (2013); Yao (1977).
"""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd

from crowd_models import OnlineProblem, SequenceMix
from crowd_papers.beyond.instances import FAMILIES
from crowd_papers.beyond.minimax_program import Minimax, minimax
from crowd_papers.beyond.online_runs import WITHOUT_SAMPLE, costs_by_length, run_units
from crowd_papers.beyond.posted_prices import Posted, posted_costs, worst_case
from workbench.base import FloatArray
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
    measured,
    nonempty,
)

FINE = tuple(name for name in FAMILIES if name.startswith("fine"))
MOST_SEQUENCES = 200
"""Policies are not run on larger families."""
RANDOMISED = "minimax policy"
TABLE = (
    "family",
    "theta",
    "sequences",
    "rounds",
    "exact",
    "bound",
    "gap",
    RANDOMISED,
    *WITHOUT_SAMPLE,
    "one price",
    "one price, at most",
    "greedy, at most",
)


def trial(params: Params, streams: Streams) -> Record:
    """Prove a bound, and run policies."""
    problem = FAMILIES[params["family"]]()
    proof = minimax(problem, tolerance=params["tolerance"])
    repair = problem.repair_price / problem.repair_quality
    rungs = [
        p / max(q) for p, q in zip(problem.price, zip(*problem.quality, strict=True), strict=True)
    ]
    least, fixed = min(rungs), math.sqrt(repair * min(rungs))
    record: dict[str, float | str | None] = {
        "theta": repair / least,
        "sequences": len(proof.optima),
        "rounds": proof.rounds,
        "exact": str(proof.bound),
        "bound": float(proof.bound),
        "gap": max(proof.ratio - float(proof.bound), 0.0),
        "weights": json.dumps(proof.weights) if len(proof.weights) < 100 else None,
        RANDOMISED: proof.ratio,
        "one price": float((posted_costs(problem, fixed) / proof.optima).max()),
        "one price, at most": worst_case(Posted(rungs, repair, [fixed])).ratio,
        "greedy, at most": worst_case(Posted(rungs, repair, [repair])).ratio,
    }
    for name in WITHOUT_SAMPLE:
        record[name] = None
        if len(proof.optima) <= MOST_SEQUENCES:
            seeds = streams.method(name).spawn(params["runs"])
            record[name] = float(
                np.mean([path_ratios(problem, proof, name, seed) for seed in seeds], axis=0).max()
            )
    return record


def path_ratios(
    problem: OnlineProblem, proof: Minimax, policy: str, seed: np.random.SeedSequence
) -> FloatArray:
    """Ratio by sequence of one run of a policy on a family that is all prefixes of one sequence.

    What it does before a sequence ends is what it does on the longest: who comes after stands for
    workers of no quality, who are never given tasks.
    """
    assert isinstance(problem.arrivals, SequenceMix)
    longest = max(problem.arrivals.sequences, key=len)
    moves = run_units(problem, policy, longest, seed=np.random.default_rng(seed))
    lengths = [len(sequence) for sequence in problem.arrivals.sequences]
    ratios: FloatArray = np.array(costs_by_length(problem, moves))[lengths] / proof.optima
    return ratios


# What the trials say.


def analyse(trials: pd.DataFrame) -> Analysis:
    """Proven ratios by family, and those of policies."""
    rows = measured(trials, "bound")
    if rows.empty:
        return Analysis((ended(trials),))
    table = rows[list(TABLE)].drop_duplicates("family", ignore_index=True)
    families = [
        f"{row['family']}: no online algorithm is below {row['exact']} = {row['bound']:.4f}, a "
        f"randomised one comes to {row[RANDOMISED]:.4f}."
        for row in table.to_dict("records")
    ]
    gap = (
        f"The randomised policy's worst ratio is at most {rows['gap'].max():.0e} above what is "
        "proven."
    )
    chart = Chart(
        "ladders",
        "Worst ratio on ladders of rising quality, which may end after any worker; "
        f"{len(rows):,} trials.",
        players(rows),
        x="theta",
        y="ratio",
        x_label="U / L",
        y_label="cost / offline optimum",
        series="player",
        log_x=True,
        log_y=True,
    )
    caption = "Competitive ratios by family: proven for every online algorithm, and of policies"
    return Analysis((ended(trials), *families, gap), {caption: table}, nonempty(chart))


def players(rows: pd.DataFrame) -> pd.DataFrame:
    """A row a fine ladder and player, the proven bound one of them; equal ones are one."""
    fine = rows[rows["family"].isin(FINE)].assign(**{"no algorithm below": rows["bound"]})
    names = ["no algorithm below", *WITHOUT_SAMPLE]
    ratios = fine.groupby("theta")[names].mean()
    equal: dict[tuple[float, ...], list[str]] = {}
    for name in names:
        equal.setdefault(tuple(ratios[name].astype(float).round(9)), []).append(name)
    alike = pd.DataFrame({", ".join(same): ratios[same[0]] for same in equal.values()})
    long = alike.melt(var_name="player", value_name="ratio", ignore_index=False)
    return long.reset_index()


STUDY = Study(
    name="minimax",
    title="No online algorithm does better",
    source="beyond Ho, Jabbari, Vaughan (2013); Yao (1977)",
    parameters={
        "family": Parameter(str, "ladder-12", "sequences of arrivals", choices=tuple(FAMILIES)),
        "tolerance": Parameter(
            float, 1e-7, "randomised policy's worst ratio, above the bound", least=0, most=1
        ),
        "runs": Parameter(int, 20, "runs of each policy", least=1, most=10_000),
    },
    sizes={
        "smoke": Size(({"family": ["fine-2", "fine-3"], "runs": [1]},), 2),
        "small": Size(({"family": [*FINE, "ladder-12", "ladder-6"]},), 1),
        "paper": Size(
            (
                {"family": [name for name in FAMILIES if not name.startswith("all")]},
                {
                    "family": [name for name in FAMILIES if name.startswith("all")],
                    "tolerance": [1e-6],
                },
            ),
            1,
        ),
    },
    trial=trial,
    analyse=analyse,
    version=2,
    deadline=1800.0,
)
