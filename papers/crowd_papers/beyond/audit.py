"""The audit: whether its promise holds whatever the beliefs, and how many checks it takes.

`promise`: in each setting more answers are wrong than the audit allows, by one or by a quarter, and
it is looked at after every check. A certificate while more are left is false. Beliefs are

- `informative`: an answer is wrong in proportion to the odds that are believed,
- `flat`: all alike, at the rate that is asked about; `zero`: all alike, believed right,
- `reversed`: in proportion to the odds of being right,
- `adversarial`: the wrong answers are those that are looked at least.

A run ends where the promise has become true by correction: nothing can be false from there on.

`cost`: answers by EBCC of a recorded crowd's labels, all of them or some a task, with the gold for
an expert. Beside it tasks drawn evenly: the prior–posterior ratio and ALPHA, looked at after every
check; `fixed`, the least number of draws, chosen with the truth in hand, that suffices with 80 %
power; and the fluid limit, with the rates of all bins known.

`share`: how much of these answers is certified after so many checks, those believed right first,
and how much by fixed-sequence tests of that many even draws, looked at once; both begin with the
part that has three tenths of the tasks.

`loop`: labels and checks of a simulated crowd (`collect-simulated`), until what is certified holds
or does not: until-trusted collects, and the next coin goes where it seems to certify sooner.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import hypergeom

from crowd_papers.beyond.collect_simulated import CROWDS as SIMULATED
from crowd_papers.beyond.collect_simulated import crowd_of
from crowd_papers.beyond.ordinary_crowds import ORDINARY
from crowd_papers.beyond.uniform_checks import SCHEMES, uniform_checks
from workbench.aggregation import AGGREGATORS
from workbench.auditing import (
    FIRST,
    Batch,
    SelectiveState,
    Strata,
    batch_of,
    fluid_plan,
    most_wrong,
    new_seed,
    point,
    rehearse,
    rehearse_loop,
    stratify,
)
from workbench.base import BoolArray, FloatArray, InputError, stream
from workbench.collection import POLICIES, Collected, Goal
from workbench.collection import rehearse as collect
from workbench.crowd import Votes, load
from workbench.studies import (
    Analysis,
    Parameter,
    Params,
    Record,
    Size,
    Streams,
    Study,
    TrialEnded,
    ended,
    ended_well,
)

BELIEFS = ("informative", "flat", "zero", "reversed", "adversarial")
CROWDS = (
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
QUESTIONS = ("promise", "cost", "share", "loop")
TUNED = ("rte", "sentence_polarity", "sp_amt")
"""Crowds on which the settings were chosen."""
POWER = 0.8
LOOKS = (100, 200, 400)
"""Checks after which shares are compared."""


def trial(params: Params, streams: Streams) -> Record:
    """Run the audits of one setting."""
    questions = {"promise": _promise, "cost": _cost, "share": _share, "loop": _loop}
    return questions[str(params["question"])](params, streams)


def _promise(params: Params, streams: Streams) -> Record:
    n, error, runs = int(params["tasks"]), float(params["error"]), int(params["runs"])
    k = most_wrong(error, n)
    wrong = k + 1 if params["excess"] == "one" else max(k + 2, math.ceil(1.25 * k))
    rng = stream(streams.instance, "answers")
    belief, errors = _answers(str(params["belief"]), n, wrong, error, runs, rng)
    strata = stratify(belief, np.zeros(n, dtype=bool))
    counts = np.zeros((runs, len(strata.log_odds)))
    np.add.at(counts, (np.arange(runs)[:, None], strata.bin[errors]), 1.0)
    audits = rehearse(
        strata.log_odds,
        strata.sure,
        strata.size,
        counts,
        error=error,
        risk=float(params["risk"]),
        most=k,
        rng=stream(streams.method(), "draws"),
        until_true=True,
    )
    return {
        "wrong": wrong,
        "allowed": k,
        "audits": runs,
        "false": int(audits.false.sum()),
        "checks": float(audits.checks.mean()),
    }


def _answers(
    kind: str, n: int, wrong: int, error: float, runs: int, rng: np.random.Generator
) -> tuple[FloatArray, Any]:
    """Beliefs (tasks,), and the wrong answers of each run (runs, wrong)."""
    belief = np.sort(rng.beta(0.6, 0.6 / error, n))
    odds = np.log(np.maximum(belief, 1e-12) / (1.0 - belief))
    if kind in ("flat", "zero"):
        belief, odds = np.full(n, error if kind == "flat" else 0.0), np.zeros(n)
    if kind == "adversarial":
        return belief, np.tile(np.arange(wrong), (runs, 1))
    weight = -odds if kind == "reversed" else odds
    key = weight + rng.gumbel(size=(runs, n))
    return belief, np.argpartition(-key, wrong - 1, axis=1)[:, :wrong]


@cache
def answered(name: str, labels: int | None, seed: int) -> tuple[FloatArray, BoolArray]:
    """Believed chance to be wrong and whether it is, of each answer with gold.

    Parameters
    ----------
    labels
        Of each task, drawn; None for all.
    seed
        Of the draw and of EBCC.
    """
    try:
        crowd = load(name)
    except InputError as error:
        raise TrialEnded("infeasible", str(error)) from None
    table = crowd.labels.drop_duplicates(["task", "worker", "label"])
    if labels is not None:
        order = stream(seed, "labels").permutation(len(table))
        table = table.iloc[order].groupby("task", sort=False).head(labels)
    votes = Votes.of(table, classes=sorted({*crowd.labels["label"], *crowd.gold}))
    gold = pd.Index(votes.classes).get_indexer(pd.Index(crowd.gold.reindex(votes.tasks)))
    result = AGGREGATORS["ebcc"].call(votes, restarts=2, seed=seed)
    scored = gold >= 0
    confidence: FloatArray = np.asarray(result.info["confidence"], dtype=np.float64)
    return 1.0 - confidence[scored], (result.label != gold)[scored]


def _cost(params: Params, streams: Streams) -> Record:
    error, risk, runs = (float(params["error"]), float(params["risk"]), int(params["runs"]))
    belief, wrong = answered(str(params["data"]), params["labels"], 1)
    n, k = len(wrong), most_wrong(error, len(wrong))
    strata = stratify(belief, np.zeros(n, dtype=bool))
    size = strata.size
    counts = np.bincount(strata.bin, wrong, len(size))
    rng = stream(streams.method(), "draws")
    common: dict[str, Any] = {"error": error, "risk": risk, "most": k}
    audits = rehearse(
        strata.log_odds, strata.sure, size, np.tile(counts, (runs, 1)), rng=rng, **common
    )
    orders = [rng.permutation(wrong) for _ in range(runs)]
    evenly = {
        scheme.replace("-", "_"): float(
            np.mean([uniform_checks(order, scheme=scheme, **common) for order in orders])
        )
        for scheme in SCHEMES
    }
    rates = (counts + 0.5) / (size + 1.0)
    return {
        "answers": n,
        "wrong": int(wrong.sum()),
        "allowed": k,
        "audits": runs,
        "checks": float(audits.checks.mean()),
        "checks_se": float(audits.checks.std(ddof=1) / math.sqrt(runs)),
        **evenly,
        "fixed": fixed_sample(n, int(wrong.sum()), k, risk),
        "limit": float(fluid_plan(size, rates, k, math.log(1.0 / risk), 40).checks),
    }


def _share(params: Params, streams: Streams) -> Record:
    error, risk, runs = (float(params["error"]), float(params["risk"]), int(params["runs"]))
    belief, wrong = answered(str(params["data"]), params["labels"], 1)
    strata = stratify(belief, np.zeros(len(wrong), dtype=bool))
    rng = stream(streams.method(), "even draws")
    ours = np.array([_shares_after(strata, wrong, error, risk, seed) for seed in range(runs)])
    record: dict[str, float] = {"answers": len(wrong), "wrong": int(wrong.sum()), "audits": runs}
    for place, most in enumerate(LOOKS):
        even = [fixed_sequence(strata, wrong, most, error, risk, rng) for _ in range(runs)]
        record |= {
            f"share_{most}": float(ours[:, place].mean()),
            f"se_{most}": float(ours[:, place].std(ddof=1) / math.sqrt(runs)),
            f"even_{most}": float(np.mean(even)),
        }
    return {**record, "false": int(ours[:, -1].sum())}


def _shares_after(
    strata: Strata, wrong: BoolArray, error: float, risk: float, seed: int
) -> list[float]:
    """Share certified after each number of checks, and whether any was certified falsely."""
    state, secret = SelectiveState(strata, error, risk, 1.0), new_seed(seed)
    shares, false = [], False
    for most in LOOKS:
        while not state.ended and len(state.draws) < most:
            drawn = state.draw(point(secret, len(state.draws)))
            state.hear(len(state.draws) - 1, bool(wrong[drawn.task]))
            inside = state.in_share()
            false |= bool(wrong[inside].sum() > most_wrong(error, int(inside.sum())))
        shares.append(state.certified_tasks / state.tasks)
    return [*shares, float(false)]


def fixed_sequence(
    strata: Strata,
    wrong: BoolArray,
    most: int,
    error: float,
    risk: float,
    rng: np.random.Generator,
) -> float:
    """Give the share that tests part by part certify of so many even draws.

    Each is exact: at most risk are so few errors if one more is wrong than may be.
    """
    tasks, size = len(wrong), np.cumsum(strata.size)
    drawn = rng.permutation(tasks)[:most]
    bins = len(size)
    heard = np.cumsum(np.bincount(strata.bin[drawn], minlength=bins))
    finds = np.cumsum(np.bincount(strata.bin[drawn], wrong[drawn], bins))
    allowed = np.array([most_wrong(error, int(tasks_in)) for tasks_in in size])
    few = hypergeom.cdf(finds, size, np.minimum(allowed + 1, size), heard) <= risk
    shown = (finds <= allowed) & (few | (finds + size - heard <= allowed))
    share = 0.0
    for part in np.flatnonzero(size >= FIRST * tasks).tolist():
        if not shown[part]:
            break
        share = float(size[part] / tasks)
    return share


def _loop(params: Params, streams: Streams) -> Record:
    rows = []
    for number in range(int(params["runs"])):
        crowd, policy = streams.instance.spawn(number + 1)[number], streams.method(f"set {number}")
        rows.append(_audited_set(params, crowd, int(policy.generate_state(1)[0])))
    misses = sum(row.pop("misses") for row in rows)
    means = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
    return {"sets": len(rows), "misses": int(misses), **means}


def _audited_set(params: Params, crowd: np.random.SeedSequence, seed: int) -> dict[str, float]:
    """Collect and audit one set of answers."""
    error, price = float(params["error"]), float(params["price"])
    terms = {"capacity": 200, "gold": 0, **params}
    _, pool, answers = crowd_of(terms, np.random.default_rng(crowd))
    policy, classes = POLICIES["until-trusted"].call, len(pool.classes)
    collected: list[Collected] = []

    def buy(halvings: int) -> Batch | None:
        ledger = collected[-1].ledger if collected else None
        many = len(ledger.labels) if ledger is not None else 0
        goal = Goal(error / 2.0**halvings)
        end = collect(policy, pool, answers, goal, seed=seed, ledger=ledger)
        collected.append(end)
        if len(end.ledger.labels) == many:
            return None
        places = list(range(len(answers.truth)))
        table = end.belief.table(end.ledger.counts, places, list(range(classes)), seed)
        spent = float(end.ledger.spent)
        return batch_of(table["label"], table["confidence"], answers.truth, classes, spent)

    guess = 1.0 - 1.0 / classes
    run = rehearse_loop(
        buy, error=error, risk=float(params["risk"]), check=price, guess=guess, seed=seed
    )
    before = run.batch.wrong
    return {
        "misses": float(not run.holds),
        "allowed": float(run.most),
        "left": float(run.wrong),
        "wrong_before": float(before.mean()),
        "believed": float(run.batch.believed.mean()),
        "bought": run.batch.spent,
        "checks": float(run.checks),
        "corrected": float((before & run.checked).sum()),
        "given_up": float(len(run.audits) - 1),
        "cost": run.batch.spent + price * run.checks,
    }


def fixed_sample(tasks: int, wrong: int, most: int, risk: float) -> int:
    """Give the least number of even draws that certifies with 80 % power, the truth known."""

    def power(drawn: int) -> float:
        finds = np.arange(min(drawn, wrong) + 1)
        tested = np.minimum(most + 1 + finds, tasks)
        refuted = hypergeom.cdf(finds, tasks, tested, drawn) <= risk
        refuted |= most + 1 + finds > tasks - drawn + finds
        return float(hypergeom.pmf(finds, tasks, wrong, drawn)[refuted].sum())

    low, high = 0, max(tasks - most, 0)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle) >= POWER else (middle, high)
    return high


def analyse(trials: pd.DataFrame) -> Analysis:
    """False certificates by setting, and checks beside those of even draws."""
    findings = [ended(trials)]
    trials = ended_well(trials)
    tables: dict[str, pd.DataFrame] = {}
    promise = trials[trials["question"] == "promise"]
    if len(promise):
        table = false_certificates(promise)
        tables["False certificates"] = table
        findings.append(_promise_finding(table))
    cost = trials[trials["question"] == "cost"]
    if len(cost):
        table = costs(cost)
        tables["Checks until the certificate"] = table
        findings += _cost_findings(table)
    shares = trials[trials["question"] == "share"]
    if len(shares):
        table = certified_shares(shares)
        tables["Share certified after so many checks"] = table
        findings.append(_share_finding(table))
    loops = trials[trials["question"] == "loop"]
    if len(loops):
        tables["Labels and checks until certified"] = loops_by_crowd(loops)
        findings.append(_loop_finding(loops))
    return Analysis(tuple(findings), tables)


def false_certificates(trials: pd.DataFrame) -> pd.DataFrame:
    """One row a setting: audits, false certificates, and whether these are too many."""
    keys = ["tasks", "error", "excess", "belief", "risk"]
    table = trials.groupby(keys, as_index=False)[["audits", "false"]].sum()
    table["share"] = table["false"] / table["audits"]
    reach = np.sqrt(table["risk"] * (1 - table["risk"]) / table["audits"])
    table["too_many"] = table["share"] > table["risk"] + 2 * reach
    return table


def _promise_finding(table: pd.DataFrame) -> str:
    worst = table.iloc[int(table["share"].argmax())]
    return (
        f"Of {len(table)} settings {table['too_many'].sum()} have more false certificates than α "
        f"and two standard errors; most have {100 * worst['share']:.2f} % ({worst['belief']}, "
        f"{worst['tasks']} tasks, ε = {worst['error']:g}, {worst['audits']} audits)."
    )


def costs(trials: pd.DataFrame) -> pd.DataFrame:
    """One row per crowd, labels per task and ε, with ratios."""
    columns = ["answers", "wrong", "allowed", "audits", "checks", "checks_se", "prior_posterior"]
    columns += ["alpha", "fixed", "limit"]
    table = trials[["data", "labels", "error", *columns]].copy()
    table["best_even"] = table[["prior_posterior", "alpha"]].min(axis=1)
    table["over_even"] = table["checks"] / table["best_even"]
    table["over_limit"] = table["checks"] / table["limit"]
    table["more_wrong"] = table["wrong"] > table["allowed"]
    return table.reset_index(drop=True)


def _cost_findings(table: pd.DataFrame) -> list[str]:
    lines = []
    fresh = table[~table["data"].isin(TUNED)]
    for more, words in ((True, "more than ε wrong before"), (False, "fewer")):
        rows = fresh[(fresh["more_wrong"] == more) & (fresh["best_even"] > 0)]
        if rows.empty:
            continue
        even, limit = (np.exp(np.log(rows[x]).mean()) for x in ("over_even", "over_limit"))
        worst = rows.iloc[int(rows["over_even"].argmax())]
        lines.append(
            f"{words}, {len(rows)} rows of crowds not used in tuning: {even:.3f} of the better "
            f"even scheme in the geometric mean, at most {worst['over_even']:.2f} "
            f"({worst['data']}, ε = {worst['error']:g}, {worst['best_even']:.0f} checks); "
            f"{limit:.2f} of the limit."
        )
    return lines


def certified_shares(trials: pd.DataFrame) -> pd.DataFrame:
    """One row per crowd: shares after each number of checks, ours and by even draws."""
    names = [f"{kind}_{most}" for most in LOOKS for kind in ("share", "se", "even")]
    return trials[["data", "labels", "error", "answers", "wrong", "audits", "false", *names]]


def _share_finding(table: pd.DataFrame) -> str:
    below = {
        most: int((table[f"share_{most}"] + 2 * table[f"se_{most}"] < table[f"even_{most}"]).sum())
        for most in LOOKS
    }
    said = ", ".join(f"{crowds} after {most}" for most, crowds in below.items())
    return (
        f"Shares of {len(table)} crowds: {table['false'].sum()} of {table['audits'].sum()} audits "
        f"certified one falsely. Below even draws by two standard errors: {said} checks."
    )


def loops_by_crowd(trials: pd.DataFrame) -> pd.DataFrame:
    """One row per crowd and a price: sets, those that miss their promise, and means over sets."""
    means = ["wrong_before", "believed", "left", "bought", "checks", "corrected", "given_up"]
    return trials[["crowd", "price", "error", "sets", "misses", *means, "cost"]]


def _loop_finding(trials: pd.DataFrame) -> str:
    sets, misses, risk = trials["sets"].sum(), trials["misses"].sum(), trials["risk"].iloc[0]
    return (
        f"In the loop {misses} of {sets} certified sets miss their promise (α = {risk:g}), with "
        f"{trials['wrong_before'].mean():.3f} wrong before the checks where "
        f"{trials['believed'].mean():.3f} was believed."
    )


ERRORS = [0.02, 0.05, 0.1]
KINDS = ["half .8", "half .7", "spammers", "uniform", "drift", *ORDINARY]
"""Crowds of the loop."""
STUDY = Study(
    name="audit",
    title="The audit: false certificates, and checks",
    source="beyond the papers: Stark (2023), Waudby-Smith and Ramdas (2020), Shekhar et al. (2023)",
    parameters={
        "question": Parameter(str, "promise", "what is asked", choices=QUESTIONS),
        "tasks": Parameter(int, 200, "n, promise", least=10, most=10**6),
        "error": Parameter(float, 0.1, "ε", least=1e-6, most=0.9),
        "risk": Parameter(float, 0.05, "α", least=1e-9, most=0.5),
        "excess": Parameter(str, "one", "wrong answers beyond k", choices=("one", "quarter")),
        "belief": Parameter(str, "informative", "beliefs, promise", choices=BELIEFS),
        "data": Parameter(str, None, "crowd, cost", choices=CROWDS, optional=True),
        "labels": Parameter(int, None, "labels of each task; all", least=1, optional=True),
        "runs": Parameter(int, 3000, "audits of a trial", least=2),
        "crowd": Parameter(str, None, "crowd, loop", choices=SIMULATED, optional=True),
        "workers": Parameter(int, None, "workers, loop", least=2, optional=True),
        "price": Parameter(float, None, "of a check, in labels, loop", least=0.0, optional=True),
    },
    sizes={
        "smoke": Size(
            (
                {
                    "tasks": [50],
                    "excess": ["one", "quarter"],
                    "belief": ["flat", "adversarial"],
                    "runs": [50],
                },
                {
                    "question": ["loop"],
                    "crowd": ["one is copied"],
                    "tasks": [30],
                    "workers": [12],
                    "price": [3.0],
                    "error": [0.1],
                    "runs": [2],
                },
            ),
            1,
        ),
        "small": Size(
            (
                {"tasks": [50, 200], "error": [0.05, 0.1], "belief": list(BELIEFS), "runs": [500]},
                {"question": ["cost"], "data": ["rte", "sp_amt"], "error": [0.1], "runs": [30]},
            ),
            1,
        ),
        "paper": Size(
            (
                {
                    "tasks": [50, 200, 1000],
                    "error": ERRORS,
                    "excess": ["one", "quarter"],
                    "belief": list(BELIEFS),
                    "runs": [3000],
                },
                {
                    "question": ["cost"],
                    "data": list(CROWDS),
                    "labels": [None, 3, 5],
                    "error": [0.05, 0.1, 0.15, 0.2],
                    "runs": [200],
                },
                {
                    "question": ["share"],
                    "data": list(CROWDS),
                    "labels": [3],
                    "error": [0.1],
                    "runs": [200],
                },
                {
                    "question": ["loop"],
                    "crowd": KINDS,
                    "tasks": [100],
                    "workers": [40],
                    "price": [5.0],
                    "error": [0.05],
                    "runs": [40],
                },
            ),
            1,
        ),
    },
    trial=trial,
    analyse=analyse,
    version=2,
    deadline=None,
)
