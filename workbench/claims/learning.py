"""What Liu, Liu (2015) claim of online labeler selection, as far as it can be decided.

Read as follows where the paper leaves room. Five labelers, skills uniform on [0.6, 1], 2000 tasks,
G1 = 3 and G2 = 1/(a_min − ½)² by each crowd's own a_min. A difference counts when it exceeds two
standard errors. A bound above T promises nothing, since no regret exceeds T.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from workbench.claims.claim import Claim, Finding, NotMeasured, Ruling, Tables
from workbench.claims.reading import (
    BEYOND,
    beyond_chance,
    ended_well,
    enough,
    flags,
    mean_se,
    percent,
)
from workbench.studies.catalog import learn_average, learn_growth, learn_regret
from workbench.studies.catalog.learning_runs import (
    SHAPES,
    Curve,
    best_shape,
    checkpoints,
    growth,
    long,
    repeats_label,
    rewards,
    wide,
)

PAPER = "Liu, Liu 2015"
EQUAL = 1e-12
"""Accuracies this close are equal."""
RUNS = 20
"""Least number of runs or crowds for a mean to be looked at."""
T = 2000
"""Tasks of a run of the paper."""
VALUES = 0.02
"""A mean no further from a printed one reproduces it."""
STATED = 0.1
"""Error at which vetting drops a labeler (Section 6.2)."""
LOGARITHMIC = ("log", "log2")
"""Shapes of growth that count as logarithmic."""
DEFAULT = {"workers": 5, "vote": "majority", "tests": 3.0}


def _asked(tables: Tables, question: str) -> pd.DataFrame:
    rows = ended_well(tables["learn-theory"])
    return enough(rows[rows["question"] == question], RUNS, f"question '{question}'")


def _mean(row: tuple[float, float], digits: int = 3) -> str:
    return f"{row[0]:.{digits}f} ± {row[1]:.{digits}f}"


# Section 2.


def theorem_1(tables: Tables) -> Finding:
    """Sets of even size against all of odd size, by enumeration."""
    rows = _asked(tables, "sets")
    ahead = rows["even_ahead"].max()
    tied = rows[flags(rows["even_optimal"])]
    figures = (
        f"All sets of {len(rows):,} crowds of {rows['workers'].min()} to {rows['workers'].max()} "
        f"labelers: the best set of even size is ahead of the best of odd size by at most "
        f"{ahead:.1e}; as good as it, so that an optimal set may be even, in {len(tied)} crowds "
        f"({_crowds(tied)})."
    )
    if ahead > EQUAL:
        return Finding(Ruling.NOT_REPRODUCED, figures)
    return Finding(Ruling.CAVEAT if len(tied) else Ruling.HOLDS, figures)


def _crowds(rows: pd.DataFrame) -> str:
    return ", ".join(f"{name} {n}" for name, n in rows["crowd"].value_counts().items()) or "none"


def theorem_2(tables: Tables) -> Finding:
    """Sets that leave out a better labeler, by enumeration; and the search over odd prefixes."""
    rows = _asked(tables, "sets")
    ahead, off = rows["other_ahead"].max(), rows["search_off"].max()
    tied = rows[flags(rows["other_optimal"]) & flags(rows["different"])]
    equal = rows[flags(rows["other_optimal"]) & ~flags(rows["different"])]
    figures = (
        f"All sets of {len(rows):,} crowds: a set that leaves out one better than one it has is "
        f"ahead of all others by at most {ahead:.1e}; optimal as well in {len(tied)} crowds whose "
        f"skills all differ, and in {len(equal)} with equal ones ({_crowds(equal)}). The search "
        f"over odd prefixes misses the best accuracy by at most {off:.1e}."
    )
    if ahead > EQUAL or off > EQUAL:
        return Finding(Ruling.NOT_REPRODUCED, figures)
    return Finding(Ruling.CAVEAT if len(tied) else Ruling.HOLDS, figures)


def footnote_2(tables: Tables) -> Finding:
    """Crowds of different skills in which two odd prefixes are equally good."""
    rows = _asked(tables, "sets")
    rows = enough(rows[flags(rows["different"])], RUNS, "crowds of different skills")
    equal = rows[rows["prefix_gap"] <= 1e-9]
    figures = (
        f"{len(rows):,} crowds whose skills all differ: in {len(equal)} ({_crowds(equal)}) another "
        "odd prefix is exactly as good as S*. One such crowd is (0.99, 11/12, 0.9), where one and "
        "all three are right with 0.99; Δ_min is 0 there and the printed constants are infinite."
    )
    return Finding(Ruling.NOT_REPRODUCED if len(equal) else Ruling.HOLDS, figures)


def trust(tables: Tables) -> Finding:
    """What agreement says of a crowd and of its mirror image; and LS_OL on a crowd with p̄ < ½."""
    rows = _asked(tables, "agreement")
    answers = int(flags(rows["blind_answers"]).sum())
    same = flags(rows["mirror_same"]).mean()
    near = rows[rows["distance"] < 0.03]
    far = rows[rows["distance"] > 0.1]
    runs = ended_well(tables["learn-exploration"])
    runs = enough(
        runs[(runs["crowd"] == "distrusted") & (runs["vote"] == "majority")], RUNS,
        "runs with mean skill below ½",
    )  # fmt: skip
    right = mean_se(runs["last_accuracy"].astype(float))
    off, reverse = runs["off"].astype(float).mean(), runs["off_reversed"].astype(float).mean()
    figures = (
        f"Of {len(rows):,} crowds and their mirror images (skills 1 − p) agreement reads the same "
        f"in {percent(same)}, and names a side of ½ without known truths in {answers}. It warns in "
        f"{percent(flags(near['warned']).mean())} of the crowds with |p̄ − ½| below 0.03, in "
        f"{percent(flags(far['warned']).mean())} of those above 0.1. With skills in [0, 0.4] LS_OL "
        f"ends with a set that is right with {_mean(right)}, its estimates off by {reverse:.3f} "
        f"from 1 − p and by {off:.3f} from p."
    )
    blind = same == 1 and not answers
    harmful = right[0] + BEYOND * right[1] < 0.5 and reverse < off
    return Finding(Ruling.HOLDS if blind and harmful else Ruling.NOT_REPRODUCED, figures)


def conditions(tables: Tables) -> Finding:
    """M > ln 2/(2(p̄ − ½)²) and what follows from it, for crowds and for Table 1's."""
    rows = _asked(tables, "bounds")
    meant = flags(rows["enough"]) & flags(rows["mean_trusted"])
    broken = rows[meant & (rows["a_min"] <= 0.5)]
    own = enough(rows[rows["crowd"] == "table-1"], 1, "trials of Table 1's crowd")
    first = own.iloc[0]
    figures = (
        f"In {int(meant.sum())} of {len(rows)} crowds both conditions hold, and a_min is at most ½ "
        f"in {len(broken)} of these. The crowd of Table 1 needs M > {first['needed']:.2f} and has "
        f"{first['workers']}, though its a_min is {first['a_min']:.3f}; of those drawn from "
        f"[½, 1] {percent(1 - meant[rows['crowd'] != 'table-1'].mean())} do not meet it."
    )
    if len(broken):
        return Finding(Ruling.NOT_REPRODUCED, figures)
    return Finding(Ruling.HOLDS if flags(own["enough"]).all() else Ruling.CAVEAT, figures)


# Section 3.


def _simulated(tables: Tables, crowd: str = "from-0.6") -> pd.DataFrame:
    """Runs of a figure at the paper's own size and the default G1."""
    rows = ended_well(tables["learn-regret"])
    own = (rows["crowd"] == crowd) & (rows["horizon"] == T)
    for name, value in DEFAULT.items():
        own &= rows[name] == value
    return enough(rows[own], RUNS, f"runs of {crowd} at the paper's settings")


def theorem_3(tables: Tables) -> Finding:
    """Bound (6) as a share of T beside the measured regret."""
    rows = _asked(tables, "bounds")
    own = rows[rows["crowd"] == "table-1"] if (rows["crowd"] == "table-1").any() else rows
    regret = _simulated(tables, "table-1")[f"regret_{T}"].astype(float)
    figures = (
        f"Table 1's crowd: bound (6) is {own['share_2000'].min():.2g} T at T = {T} and "
        f"{own['share_million'].min():.2g} T at a million; it comes below T at T = "
        f"{own['speaks_at'].min():.2g}. Its G1 of {own['factor_1'].min():.2g} explores in all of "
        f"{int(own['explored_2000'].min())} of the first {T} steps. Of crowds drawn from [½, 1] "
        f"with {rows['workers'].min()} to {rows['workers'].max()} labelers the least bound is "
        f"{rows['share_million'].min():.2g} T at a million. Measured with G1 = 3: R({T}) = "
        f"{_mean(mean_se(regret), 1)}."
    )
    return _promise(own["share_2000"].min() * T, own["share_2000"].min(), regret.mean(), figures)


def _promise(bound: float, share: float, measured: float, figures: str) -> Finding:
    if measured > bound:
        return Finding(Ruling.NOT_REPRODUCED, figures)
    return Finding(Ruling.VOID if share >= 1 else Ruling.HOLDS, figures)


def theorem_3_cost(tables: Tables) -> Finding:
    """Bound (7) as a share of the cost of asking everyone every time."""
    rows = _asked(tables, "bounds")
    share = rows["cost_share_million"].min()
    figures = (
        f"Bound (7) at a million tasks is at least {share:.2g} times the price of all labels of "
        f"all labelers, in {len(rows)} crowds."
    )
    return Finding(Ruling.VOID if share >= 1 else Ruling.HOLDS, figures)


def order(tables: Tables) -> Finding:
    """max m·n(S^m) beside its printed order, as M grows."""
    rows = _asked(tables, "bounds")
    ratio = (rows["order_true"] / rows["order_printed"]).groupby(rows["workers"]).first()
    if len(ratio) < 2:
        raise NotMeasured("one number of labelers: 2 needed")
    figures = (
        "max m·n(S^m) is M·2^(M−1) for odd M; divided by the printed 2^M √M/√(2π) that is "
        + ", ".join(f"{value:.2f} at M = {m}" for m, value in ratio.items())
        + ": √(πM/2) times as much, not of the same order."
    )
    grows = ratio.iloc[-1] > 1.1 * ratio.iloc[0]
    return Finding(Ruling.NOT_REPRODUCED if grows else Ruling.HOLDS, figures)


def lemma_1(tables: Tables) -> Finding:
    """Exploring steps and their regret beside D1·D2."""
    rows = _asked(tables, "steps")
    over = rows[rows["regret_share"] > 1]
    more = rows["explored"] > rows["d1"] * rows["d2"]
    whole = (np.floor(rows["d1"]) + 1) * (np.floor(rows["d2"]) + 1)
    large = rows[(rows["d1"] > 10) & (rows["d2"] > 10)]
    figures = (
        f"{len(rows):,} schedules: there are more than D1(T)·D2(T) exploring steps in "
        f"{int(more.sum())}, as the counts are whole numbers above D1 and D2; never more than "
        f"(⌊D1⌋ + 1)(⌊D2⌋ + 1) but in {int((rows['explored'] > whole).sum())}. Their regret "
        f"exceeds U(S*)·D1·D2 in {len(over)}, and in "
        f"{int((large['regret_share'] > 1).sum())} of {len(large)} with D1 and D2 above 10, as a "
        f"step costs U(S*) − ½ rather than U(S*); there it is at most "
        f"{large['regret_share'].max():.2f} of the bound."
    )
    if (large["regret_share"] > 1).any() or (rows["explored"] > whole).any():
        return Finding(Ruling.NOT_REPRODUCED, figures)
    return Finding(Ruling.CAVEAT if len(over) or more.any() else Ruling.HOLDS, figures)


def lemma_2(tables: Tables) -> Finding:
    """Exploiting regret of a run beside Δ_max times its wrong choices."""
    rows = _asked(tables, "slips")
    over = int((rows["exploit_regret"] > rows["slip_bound"] + 1e-9).sum())
    some = rows[rows["slip_bound"] > 0]
    figures = (
        f"{len(rows)} runs of 1000 tasks: the regret of exploiting steps exceeds Δ_max times "
        f"their wrong choices in {over}; on average it is "
        f"{percent((some['exploit_regret'] / some['slip_bound']).mean())} of it."
    )
    return Finding(Ruling.NOT_REPRODUCED if over else Ruling.HOLDS, figures)


def _lemma_3_4(tables: Tables, number: int, wrong: str, practical: str, what: str) -> Finding:
    rows = _asked(tables, "bounds")
    own = enough(rows[rows["crowd"] == "table-1"], 1, "trials of Table 1's crowd")
    speaks = own[f"lemma_{number}_speaks_at"].min()
    broken = sum(
        beyond_chance(int(row[wrong]), int(row["estimates_drawn"]), bound, looks=len(rows))
        for row in rows.to_dict("records")
        if (bound := float(row[f"lemma_{number}_bound"])) < 1
    )
    tester = rows[rows["wrong_tester"] > rows["wrong_tester_bound"]]
    runs = _simulated(tables)
    figures = (
        f"With the printed D1(t) testers, at t = {T}, {int(rows[wrong].sum())} of "
        f"{int(rows['estimates_drawn'].sum()):,} drawn estimates {what}, and a tester's y* is "
        f"wrong more often than 1/t² in {len(tester)} of {len(rows)} crowds. For Table 1's crowd "
        f"the bound is below 1 from t = {speaks:.2g} on, and {int(own['explored_2000'].min())} of "
        f"the first {T} steps explore. "
        f"With G1 = 3 the estimates {what} at the end of "
        f"{percent(1 - flags(runs[practical]).mean())} of {len(runs)} runs: what is promised for "
        "the printed constants says nothing of practical ones."
    )
    idle = own["explored_2000"].min() >= T - 1
    if broken or len(tester):
        return Finding(Ruling.NOT_REPRODUCED, figures)
    return Finding(Ruling.VOID if speaks > T or idle else Ruling.HOLDS, figures)


def lemma_3(tables: Tables) -> Finding:
    """How often estimates of D1(t) testers choose another set, beside (10)."""
    return _lemma_3_4(tables, 3, "wrong_set", "found_best", "choose another set than S*")


def lemma_4(tables: Tables) -> Finding:
    """How often they rank labelers in another order, beside (11)."""
    return _lemma_3_4(tables, 4, "wrong_order", "ordered", "rank two labelers wrongly")


def _proofs(tables: Tables) -> pd.DataFrame:
    return _asked(tables, "steps-of-proofs")


def lemma_5(tables: Tables) -> Finding:
    """Votes lost within the lemma's tolerance, with the C that its proof needs."""
    rows = _proofs(tables)
    missed, votes = int(rows["lemma_5_missed"].sum()), int(rows["lemma_5_votes"].sum())
    late = _asked(tables, "bounds")["share_million_5"].min()
    figures = (
        f"Estimates off by up to ε/(4C|S|) at the extremes: {missed} of {votes:,} votes that are "
        "ahead by the true weights fall short of ε, with the C that Lemma 8 needs. The probability "
        f"is that of Lemma 4, void as it is there (Theorem 5's bound is {late:.2g} T or more at a "
        "million)."
    )
    if missed:
        return Finding(Ruling.NOT_REPRODUCED, figures)
    return Finding(Ruling.VOID if late >= 1 else Ruling.HOLDS, figures)


def lemma_6(tables: Tables) -> Finding:
    """|Û − U| beside n(S)·Σ|p̂ − p|, and wrong choices with all estimates within ε."""
    rows = _proofs(tables)
    top, bare, missed = (
        rows[name].max() for name in ("lemma_6", "lemma_6_without", "lemma_6_missed")
    )
    figures = (
        f"{len(rows)} crowds: |Û(S) − U(S)| is at most {top:.3f} of n(S)·Σ|p̂ − p|, and "
        f"{rows['lemma_6_missed'].sum():.0f} wrong choices have both accuracies within ε. "
        f"Without the factor n(S) the ratio is at most {bare:.3f}: π changes with each p by the "
        "chance to be pivotal, no more than 1, so that n(S^m) can be dropped from D1 (for five "
        "labelers 5 in place of 80, a D1 256 times smaller)."
    )
    return Finding(Ruling.NOT_REPRODUCED if top > 1 + EQUAL or missed else Ruling.HOLDS, figures)


def lemma_7(tables: Tables) -> Finding:
    """|∏ l − ∏ q| beside Σ |l − q|."""
    rows = _proofs(tables)
    top = rows["lemma_7"].max()
    figures = f"{len(rows)} crowds, near and extreme: at most {top:.4f} of the sum."
    return Finding(Ruling.NOT_REPRODUCED if top > 1 + EQUAL else Ruling.HOLDS, figures)


def lemma_8(tables: Tables) -> Finding:
    """Slopes of the log-odds beside 2C, with the lemma's C and with the C of Section 4.2."""
    rows = _proofs(tables)
    needed = rows["lemma_8_needed"].max()
    printed = rows[["lemma_8_printed", "lemma_8_printed_edge"]].max(axis=1)
    figures = (
        f"{len(rows)} crowds: the log-odds move by at most {needed:.3f} of 2C|p̂ − p| with the C of "
        f"the lemma; with the least C that Section 4.2 allows by up to 1 + {printed.max() - 1:.1e} "
        f"of it, more than 1 in {int((printed > 1 + EQUAL).sum())} (a labeler at ½ + ε/8)."
    )
    if needed > 1 + EQUAL:
        return Finding(Ruling.NOT_REPRODUCED, figures)
    return Finding(Ruling.CAVEAT if (printed > 1 + EQUAL).any() else Ruling.HOLDS, figures)


def log_squared(tables: Tables) -> Finding:
    """The likeliest shape of growth from a thousand tasks on, crowd by crowd and G1 by G1."""
    rows = ended_well(tables["learn-growth"])
    rows = rows[rows["horizon"] >= 100_000]
    counts = rows.groupby(["crowd", "tests"])["status"].transform("size")
    found = learn_growth.verdicts(rows[counts >= RUNS])
    if found.empty:
        raise NotMeasured(f"no crowd has {RUNS} runs of 100,000 tasks or more")
    whole = found[found["part"] == "all"]
    fine = whole["likeliest"].isin(LOGARITHMIC)
    texts = [
        f"{row['crowd']}, G1 = {row['tests']:g}: "
        f"{SHAPES.get(row['likeliest'], 'none')} (ahead by {row['ahead']:.1f}, "
        f"T^{row['power']:.2f})"
        for row in whole.to_dict("records")
    ]
    exploiting = found[(found["part"] == "exploiting") & (found["tests"] < 100)]
    steep = exploiting[exploiting["at_end"] > BEYOND * exploiting["at_end_se"]]
    figures = (
        f"Likeliest of log T, log²T, √T and T, from where half of the steps exploit (at least "
        f"{learn_growth.FROM:,} tasks) to {int(rows['horizon'].max()):,}, with the exponent over "
        f"the last decade: {'; '.join(texts)}. Exploring grows as log²T by construction; what "
        "exploiting adds grows as T^γ in the last decade, γ "
        + ", ".join(
            f"{row['power']:.2f} ± {row['power_se']:.2f} ({row['crowd']}, G1 = {row['tests']:g})"
            for row in steep.to_dict("records")
        )
        + ": where G1 is small a wrong choice stays about as likely, and this part wins in the end."
    )
    if fine.all():
        return Finding(Ruling.HOLDS, figures)
    return Finding(Ruling.CAVEAT if fine.any() else Ruling.NOT_REPRODUCED, figures)


def _variant(tables: Tables, name: str) -> pd.DataFrame:
    rows = ended_well(tables["learn-exploration"])
    plain = (rows["vetting"] == "none") & (rows["vote"] == "majority")
    plain &= rows["eta" if name == "delay" else "delay"] == 0
    return rows[plain]


def delay(tables: Tables) -> Finding:
    """Regret with a delay beside τ_max times the regret without one, on the same crowds."""
    rows = _variant(tables, "delay")
    keys = ["crowd", "tests", "repeats", "horizon"]
    late = rows[rows["delay"] > 0]
    known = late[keys].drop_duplicates()
    texts, worst = [], 0.0
    for where in known.to_dict("records"):
        own = rows
        for key, value in where.items():
            own = own[own[key].isna() if pd.isna(value) else own[key] == value]
        none = own[own["delay"] == 0][f"regret_{where['horizon']}"].astype(float)
        if len(none) < RUNS:
            continue
        for tau, some in own[own["delay"] > 0].groupby("delay"):
            times = float(some[f"regret_{where['horizon']}"].astype(float).mean() / none.mean())
            worst = max(worst, times / max(1.0, float(str(tau))))
            texts.append(f"{where['crowd']}, τ_max = {tau}: {times:.3f} times")
    if not texts:
        raise NotMeasured(f"no setting has {RUNS} runs with and without a delay")
    figures = f"Regret with a delay by that without: {'; '.join(texts)}."
    return Finding(Ruling.NOT_REPRODUCED if worst > 1 else Ruling.HOLDS, figures)


def decreasing(tables: Tables) -> Finding:
    """Exploiting regret a task over two stretches, with log^(1+2η) t in place of log t."""
    rows = _variant(tables, "eta")
    rows = rows[rows["crowd"].isin(rows.loc[rows["eta"] > 0, "crowd"])]
    rows = rows[rows["horizon"] == rows.loc[rows["eta"] > 0, "horizon"].max()]
    if rows.empty:
        raise NotMeasured("no runs with η above 0")
    last = int(rows["horizon"].max())
    middle, first = _near(rows, last / 10), _near(rows, last / 100)
    texts, falling, ends = [], True, {}
    for eta, own in rows.groupby("eta"):
        if len(own) < RUNS:
            continue
        lost = {
            n: (own[f"regret_{n}"] - own[f"exploring_{n}"]).astype(float)
            for n in (first, middle, last)
        }
        early = mean_se((lost[middle] - lost[first]) / (middle - first))
        late = mean_se((lost[last] - lost[middle]) / (last - middle))
        texts.append(f"η = {eta:g}: {_mean(early, 5)}, then {_mean(late, 5)}")
        ends[float(str(eta))] = late
        if float(str(eta)) > 0:
            falling &= early[0] - late[0] > BEYOND * math.hypot(early[1], late[1])
    if not texts:
        raise NotMeasured(f"no η has {RUNS} runs")
    figures = (
        f"Regret of exploiting, a task, from {first:,} to {middle:,} tasks and from there to "
        f"{last:,}: {'; '.join(texts)}. The more is explored the less exploiting costs; that it "
        "costs ever less a task cannot be seen yet where it does not fall."
    )
    if falling:
        return Finding(Ruling.HOLDS, figures)
    none, most = ends.get(0.0, (0.0, 0.0)), ends[max(ends)]
    less = none[0] - most[0] > BEYOND * math.hypot(none[1], most[1])
    return Finding(Ruling.CAVEAT if less else Ruling.NOT_REPRODUCED, figures)


def _near(rows: pd.DataFrame, tasks: float) -> int:
    return min(checkpoints(rows), key=lambda n: abs(math.log(n / tasks)))


def equation_12(tables: Tables) -> Finding:
    """The printed rate of disagreement beside the exact one, and the order it gives."""
    rows = _asked(tables, "disagreement")
    trusted = rows[flags(rows["full_right"])]
    broken = int(flags(trusted["order_broken"]).sum())
    off = max(rows["rate_off"].max(), -rows["rate_below"].min())
    figures = (
        f"{len(rows)} crowds: printed {rows['rate_printed'].mean():.3f} on average, exact "
        f"{rows['rate_exact'].mean():.3f}, off by up to {off:.3f} (a labeler votes with the "
        f"majority she is compared with). A less able labeler differs less often in {broken} of "
        f"{len(trusted)} crowds whose majority is mostly right."
    )
    if broken:
        return Finding(Ruling.NOT_REPRODUCED, figures)
    return Finding(Ruling.CAVEAT if off > 1e-9 else Ruling.HOLDS, figures)


def equation_13(tables: Tables) -> Finding:
    """The exact chance to rank two labelers wrongly beside exp(−2ε²N), and exp(−ε²N/2)."""
    rows = _asked(tables, "disagreement")
    texts = {}
    for variant in ("printed", "supported"):
        columns = [name for name in rows if str(name).startswith(f"excess_{variant}_")]
        values = rows[columns].astype(float)
        texts[variant] = (int((values > 1e-9).to_numpy().sum()), float(np.nanmax(values)))
    total = int(rows[columns].notna().to_numpy().sum())
    figures = (
        f"Best and worst labeler of {len(rows)} crowds, 20 to 400 assignments: the exact chance "
        f"that the better differs as often exceeds exp(−2ε²N) in {texts['printed'][0]} of {total} "
        f"(by a factor of up to {math.exp(min(texts['printed'][1], 700)):.2g}), exp(−ε²N/2) in "
        f"{texts['supported'][0]}: the difference of two counts ranges over [−1, 1] a task, twice "
        "the width that the exponent assumes."
    )
    return Finding(Ruling.NOT_REPRODUCED if texts["printed"][0] else Ruling.HOLDS, figures)


def _vetted(tables: Tables) -> pd.DataFrame:
    rows = ended_well(tables["learn-exploration"])
    return enough(rows[rows["vetting"] != "none"], RUNS, "runs with vetting")


def vetting_error(tables: Tables) -> Finding:
    """How often the first dropped was not the least able, beside the stated 0.1.

    Of all runs, and of those that drop somebody.
    """
    rows = _vetted(tables)
    texts, over = [], {"all": False, "dropping": False}
    settings = rows.groupby(["vetting", "crowd", "tests", "repeats"], dropna=False)
    for (variant, crowd, tests, repeats), own in settings:
        if len(own) < RUNS:
            continue
        wrong, drops = int(flags(own["first_wrong"]).sum()), int((own["dropped"] > 0).sum())
        if variant == "printed":
            over["all"] |= beyond_chance(wrong, len(own), STATED, looks=len(settings))
            over["dropping"] |= beyond_chance(wrong, drops, STATED, looks=len(settings))
        texts.append(
            f"{variant}, {crowd}, G1 = {tests:g}, {repeats_label(repeats)}: {wrong} of {drops} "
            f"({len(own)} runs)"
        )
    if not texts:
        raise NotMeasured(f"no setting has {RUNS} runs")
    figures = (
        f"The first labeler dropped was not the least able in: {'; '.join(texts)}. The rule takes "
        "the measured difference for the true one and looks after every assignment; with the "
        "exponent of Hoeffding's inequality (supported) it waits longer."
    )
    if over["all"]:
        return Finding(Ruling.NOT_REPRODUCED, figures)
    return Finding(Ruling.CAVEAT if over["dropping"] else Ruling.HOLDS, figures)


def vetting_speed(tables: Tables) -> Finding:
    """Step of the first drop beside the steps that learning the skills takes."""
    rows = _vetted(tables)
    rows = rows[(rows["vetting"] == "printed") & (rows["dropped"] > 0)]
    rows = enough(rows[rows["crowd"] != "alike"], RUNS, "runs in which the printed rule drops")
    step = rows["first_step"].astype(float)
    share = float((step / rows["explored"].astype(float)).median())
    right = 1 - flags(rows["first_wrong"]).mean()
    figures = (
        f"{len(rows)} runs by the printed exponent: the first drop is at step "
        f"{step.median():.0f} (median; 90 in the paper's Section 6.2), after {percent(share)} of "
        f"the exploring steps of the whole run; it is the least able in {percent(right)}."
    )
    if share >= 0.5:
        return Finding(Ruling.NOT_REPRODUCED, figures)
    return Finding(Ruling.HOLDS if right >= 1 - STATED else Ruling.CAVEAT, figures)


# Section 4.


def theorem_4(tables: Tables) -> Finding:
    """Weighted votes of all sets, skills of ½ or more."""
    rows = _asked(tables, "sets")
    rows = rows[rows["crowd"] != "any"]
    ahead, off = rows["weighted_other_ahead"].max(), rows["weighted_search_off"].max()
    tied = rows[flags(rows["weighted_other_optimal"]) & flags(rows["different"])]
    figures = (
        f"Weighted votes of all sets of {len(rows):,} crowds: one that leaves out a better labeler "
        f"is ahead of all others by at most {ahead:.1e}; optimal as well in {len(tied)} crowds "
        f"whose skills all differ ({_crowds(tied)}). In (0.999, 0.95, 0.9) the first outweighs the "
        "others, so that she with the third is as good as she alone."
    )
    if ahead > 1e-9 or off > 1e-9:
        return Finding(Ruling.NOT_REPRODUCED, figures)
    return Finding(Ruling.CAVEAT if len(tied) else Ruling.HOLDS, figures)


def theorem_5(tables: Tables) -> Finding:
    """The bound for the weighted vote as a share of a million tasks."""
    rows = _asked(tables, "bounds")
    share = rows["share_million_5"].min()
    figures = (
        f"The bound is at least {share:.2g} T at a million tasks in {len(rows)} crowds, "
        f"{(rows['share_million_5'] / rows['share_million']).median():.2g} times bound (6) "
        "(median)."
    )
    return Finding(Ruling.VOID if share >= 1 else Ruling.HOLDS, figures)


# Section 6.


def _shapes(rows: pd.DataFrame, curve: Curve = "regret") -> dict[str, tuple[str, float]]:
    """Likeliest shape of growth up to the paper's T, by reading of G2."""
    rows = rows.assign(
        reading=[
            learn_regret.reading(*one) for one in zip(rows["crowd"], rows["repeats"], strict=True)
        ]
    )
    found = {}
    for reading, own in rows.groupby("reading"):
        curves = wide(long(own, ["reading"], curve), learn_regret.EXPLORED_FROM)
        if len(curves) >= RUNS:
            found[str(reading)] = best_shape(growth(curves))
    if not found:
        raise NotMeasured(f"no reading of G2 has {RUNS} runs")
    return found


def _shape_texts(found: dict[str, tuple[str, float]]) -> str:
    return "; ".join(
        f"{reading}: {SHAPES[name] if np.isfinite(ahead) else 'no growth'}"
        + (f" (ahead by {ahead:.1f})" if np.isfinite(ahead) else "")
        for reading, (name, ahead) in found.items()
    )


def _shape_ruling(found: dict[str, tuple[str, float]]) -> Ruling:
    fine = {
        reading: name in LOGARITHMIC and bool(np.isfinite(ahead))
        for reading, (name, ahead) in found.items()
    }
    if all(fine.values()):
        return Ruling.HOLDS
    return Ruling.CAVEAT if any(fine.values()) else Ruling.NOT_REPRODUCED


def figure_2(tables: Tables) -> Finding:
    """Shape of R(t) up to 2000 tasks, by reading of G2."""
    rows = _simulated(tables)
    found = _shapes(rows)
    middle = _near(rows, T / 2)
    fall = (rows[f"regret_{middle}"] / middle - rows[f"regret_{T}"] / T).astype(float)
    figures = (
        f"R(t) from {learn_regret.EXPLORED_FROM} to {T} tasks grows most like, "
        f"{_shape_texts(found)}. R(t)/t falls from t = {middle} to {T} by "
        f"{_mean(mean_se(fall))}. By the preset a_min = 0.6 G2 is 100, and all steps up to {T} "
        "explore."
    )
    ruling = _shape_ruling(found)
    mean, se = mean_se(fall)
    return Finding(ruling if mean > BEYOND * se else Ruling.NOT_REPRODUCED, figures)


def figure_2_cost(tables: Tables) -> Finding:
    """Shape of R_C(t)."""
    rows = _simulated(tables)
    found = _shapes(rows, "cost_regret")
    last = rows[f"cost_regret_{T}"].astype(float)
    figures = (
        f"R_C(t) = Σ C(S_t) − t C(S*) grows most like, {_shape_texts(found)}; R_C({T}) = "
        f"{_mean(mean_se(last), 2)} at 0.02 a label, below 0 in {percent((last < 0).mean())} of "
        "the runs, where smaller sets than S* are chosen."
    )
    return Finding(_shape_ruling(found), figures)


def _paying(tables: Tables) -> pd.DataFrame:
    rows = ended_well(tables["learn-average"])
    rows = rows[rows["horizon"] >= T]
    return rewards(rows, [*learn_average.KEYS, "last_accuracy"])


def figure_3(tables: Tables) -> Finding:
    """Average reward less the full crowd's at the paper's size; and where it does get ahead."""
    runs = _paying(tables)
    own = runs[(runs["crowd"] == "from-0.6") & (runs["tasks"] == T)]
    for name, value in DEFAULT.items():
        own = own[own[name] == value]
    count = own.groupby("repeats", dropna=False)["gain"].transform("size")
    own = enough(own[count >= RUNS], RUNS, "runs of the first set-up at one G2")
    from workbench.studies.summary import means

    gains = means(
        runs[runs["vote"] == "majority"], [*learn_average.KEYS, "tasks"], "gain"
    )  # fmt: skip
    crossed = learn_average.crossings(gains[gains["n"] >= RUNS])
    some = crossed[crossed["overtakes"].notna() & crossed["crowd"].isin(["spread", "from-0.6"])]
    never = crossed[crossed["overtakes"].isna() & crossed["crowd"].isin(["from-0.6"])]
    at = [
        f"{row['crowd']}, M = {row['workers']}, G1 = {row['tests']:g}, "
        f"{repeats_label(row['repeats'])}: from {row['overtakes']:,.0f} tasks on"
        for row in some.to_dict("records")
    ]
    by_g2 = own.groupby("repeats", dropna=False)["gain"].agg(["mean", "sem"])
    texts = ", ".join(
        f"{repeats_label(g)} {row['mean']:+.3f} ± {row['sem']:.3f}" for g, row in by_g2.iterrows()
    )
    last = f" (the longest run has {never['end'].max():,} tasks)" if len(never) else ""
    nothing = (own["best_accuracy"] - own["full_accuracy"] < EQUAL).mean()
    table_1 = runs.loc[runs["crowd"] == "table-1", ["best_accuracy", "full_accuracy"]]
    same = len(table_1) and (table_1["best_accuracy"] - table_1["full_accuracy"] < EQUAL).all()
    figures = (
        f"Average reward after {T} tasks less the full crowd's accuracy: {texts}. It gets ahead "
        f"for good with: {'; '.join(at) or 'none of the settings'}; not in {len(never)} settings "
        f"of the first set-up's skills{last}. In {percent(nothing)} of the first set-up's runs the "
        "full crowd is S* itself, and there is nothing to gain"
        + ("; so it is with Table 1's crowd." if same else ".")
    )
    ahead = by_g2["mean"] > BEYOND * by_g2["sem"]
    if ahead.all():
        return Finding(Ruling.HOLDS, figures)
    return Finding(Ruling.CAVEAT if ahead.any() else Ruling.NOT_REPRODUCED, figures)


def figure_4(tables: Tables) -> Finding:
    """Regret at 2000 tasks for a_min = 0.6, 0.7, 0.8, by reading of G2."""
    parts = [_simulated(tables, crowd) for crowd in learn_regret.PRESET]
    rows = pd.concat(parts, ignore_index=True)
    rows = rows.assign(
        reading=[
            learn_regret.reading(*one) for one in zip(rows["crowd"], rows["repeats"], strict=True)
        ]
    )
    texts, falls, steps = [], {}, {}
    for reading, own in rows.groupby("reading"):
        found = {
            str(crowd): mean_se(some[f"regret_{T}"].astype(float))
            for crowd, some in own.groupby("crowd")
        }
        if len(found) < len(learn_regret.PRESET):
            continue
        values = [found[crowd] for crowd in learn_regret.PRESET]
        down = [
            a[0] - b[0] > BEYOND * math.hypot(a[1], b[1]) for a, b in itertools.pairwise(values)
        ]
        steps[reading] = all(down)
        first, last = values[0], values[-1]
        falls[reading] = first[0] - last[0] > BEYOND * math.hypot(first[1], last[1])
        texts.append(f"{reading}: {', '.join(_mean(value, 1) for value in values)}")
    if not texts:
        raise NotMeasured("no reading of G2 has all three values of a_min")
    figures = (
        f"R({T}) for a_min = 0.6, 0.7, 0.8, {'; '.join(texts)}. With G2 alike a better crowd loses "
        "more by exploring, U(S*) − ½ a step; only a smaller G2 outweighs that."
    )
    if all(steps.values()):
        return Finding(Ruling.HOLDS, figures)
    return Finding(Ruling.CAVEAT if any(falls.values()) else Ruling.NOT_REPRODUCED, figures)


def _paired_votes(runs: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Reward by weighted less by simple vote on the same crowds, mean and se by setting."""
    ids = [*keys, "repetition", *(["seed"] if "seed" in runs else [])]
    both = runs.pivot_table(index=ids, columns="vote", values="reward", dropna=False)
    if not {"majority", "weighted"} <= set(both):
        raise NotMeasured("no setting has both votes")
    apart = (both["weighted"] - both["majority"]).dropna()
    found = apart.groupby(level=list(keys), dropna=False).agg(["mean", "sem", "size"])
    found = found[found["size"] >= RUNS].reset_index()
    if found.empty:
        raise NotMeasured(f"no setting has {RUNS} crowds with both votes")
    return found


def figure_5(tables: Tables) -> Finding:
    """Average reward by weighted vote less by simple vote, five labelers."""
    runs = _paying(tables)
    own = runs[(runs["crowd"] == "from-0.6") & (runs["workers"] == 5)]
    own = own[own["tests"] == DEFAULT["tests"]]
    own = own[own["tasks"].isin([T, own["tasks"].max()])]
    own = own.assign(repeats=own["repeats"].fillna(-1.0))
    found = _paired_votes(own, ["repeats", "tasks"])
    texts = [
        f"{repeats_label(row['repeats'] if row['repeats'] >= 0 else None)}, "
        f"{row['tasks']:,.0f} tasks: {row['mean']:+.4f} ± {row['sem']:.4f}"
        for row in found.to_dict("records")
    ]
    figures = f"Average reward by weighted less by simple vote, same crowds: {'; '.join(texts)}."
    ahead = found["mean"] > BEYOND * found["sem"]
    if ahead.all():
        return Finding(Ruling.HOLDS, figures)
    return Finding(Ruling.CAVEAT if ahead.any() else Ruling.NOT_REPRODUCED, figures)


def _table_2(tables: Tables) -> pd.DataFrame:
    """Runs of Table 2 at the paper's T: all four M under each reading, one schedule."""
    runs = _paying(tables)
    rows = runs[(runs["tasks"] == T) & runs["crowd"].isin(learn_average.READINGS)]
    rows = rows[(rows["tests"] == DEFAULT["tests"]) & (rows["repeats"] == 5.0)]
    rows = rows[rows["workers"].isin(learn_average.PRINTED)]
    count = rows.groupby(["crowd", "workers", "vote"])["gain"].transform("size")
    return enough(rows[count >= RUNS], RUNS, "runs of Table 2")


def _by_reading(ahead: pd.DataFrame) -> Ruling:
    """Holds when under some reading every M is ahead; in part when some are."""
    fine = ahead.groupby("crowd")["ahead"].all()
    if fine.any():
        return Ruling.HOLDS
    return Ruling.CAVEAT if ahead["ahead"].any() else Ruling.NOT_REPRODUCED


def _reading_texts(found: pd.DataFrame) -> str:
    return "; ".join(
        f"{crowd}: "
        + ", ".join(
            f"M = {row['workers']} {row['mean']:+.3f} ± {row['sem']:.3f}"
            for row in own.to_dict("records")
        )
        for crowd, own in found.groupby("crowd", sort=False)
    )


def table_2_gap(tables: Tables) -> Finding:
    """Average reward less the full crowd's, by reading and M."""
    rows = _table_2(tables)
    rows = rows[rows["vote"] == "majority"]
    found = rows.groupby(["crowd", "workers"])["gain"].agg(["mean", "sem"]).reset_index()
    found = found.assign(ahead=found["mean"] > BEYOND * found["sem"])
    late = rows.assign(late=rows["last_accuracy"] - rows["full_accuracy"])
    last = late.groupby(["crowd", "workers"])["late"].agg(["mean", "sem"]).reset_index()
    figures = (
        f"Average reward of {T} tasks less the full crowd's, exploring included (G1 = 3, G2 = 5): "
        f"{_reading_texts(found)}. Printed: +0.317, +0.350, +0.243, +0.182. Without exploring, the "
        f"last set chosen less the full crowd: {_reading_texts(last)}."
    )
    return Finding(_by_reading(found), figures)


def table_2_weighted(tables: Tables) -> Finding:
    """Average reward by weighted less by simple vote, by reading and M."""
    found = _paired_votes(_table_2(tables), ["crowd", "workers"])
    found = found.assign(ahead=found["mean"] > BEYOND * found["sem"])
    figures = (
        f"Average reward by weighted less by simple vote, same crowds: {_reading_texts(found)}. "
        "Printed: +0.041, +0.021, +0.021, +0.007."
    )
    return Finding(_by_reading(found), figures)


def table_2_values(tables: Tables) -> Finding:
    """Printed values beside ours, row by row and reading by reading."""
    rows = _table_2(tables)
    keys = ["crowd", "workers"]
    simple, weighted = (rows[rows["vote"] == vote] for vote in ("majority", "weighted"))
    ours = {
        "full crowd": (0, simple.groupby(keys)["full_accuracy"].mean()),
        "LS_OL": (1, simple.groupby(keys)["reward"].mean()),
        "weighted": (2, weighted.groupby(keys)["reward"].mean()),
        "optimum of LS_OL": (1, simple.groupby(keys)["best_accuracy"].mean()),
        "optimum with weights": (2, weighted.groupby(keys)["best_accuracy"].mean()),
    }
    texts, fits = [], {}
    for name, (row, values) in ours.items():
        off: dict[str, float] = {}
        for crowd, own in values.groupby(level="crowd"):
            printed = [learn_average.PRINTED[m][row] for _, m in own.index]
            if len(printed) == len(learn_average.PRINTED):
                off[str(crowd)] = float(np.abs(own.to_numpy(float) - printed).max())
        if not off:
            raise NotMeasured("no reading has all four M")
        nearest = min(off, key=lambda crowd: off[crowd])
        texts.append(
            f"{name} {', '.join(f'{v:.3f}' for v in values[nearest])} ({nearest}, off by up to "
            f"{off[nearest]:.3f})"
        )
        fits[name] = {crowd for crowd, far in off.items() if far <= VALUES}
    figures = f"The reading nearest to each printed row, M = 5 to 20: {'; '.join(texts)}."
    measured = [fits[name] for name in ("full crowd", "LS_OL", "weighted")]
    if set.intersection(*measured):
        return Finding(Ruling.HOLDS, figures)
    return Finding(Ruling.CAVEAT if any(measured) else Ruling.NOT_REPRODUCED, figures)


def _theory(name: str, where: str, statement: str, check: object, *more: str) -> Claim:
    assert callable(check)
    return Claim(f"learn-{name}", f"{PAPER}, {where}", statement, ("learn-theory", *more), check)


CLAIMS: tuple[Claim, ...] = (
    _theory("theorem-1", "Theorem 1",
            "Under the simple majority vote the optimal number of labelers is odd.", theorem_1),
    _theory("theorem-2", "Theorem 2",
            "The optimal set is monotone: every labeler in it is better than every one outside. So "
            "a search over odd prefixes of the ranking finds it.", theorem_2),
    _theory("footnote-2", "Section 3.2, footnote 2",
            "If no two labelers have the same skill, no two monotone sets S^m are equally good.",
            footnote_2),
    _theory("trust", "Section 2.3",
            "If the majority is wrong most of the time, the user has no way to tell, and the "
            "system is useless.", trust, "learn-exploration"),
    _theory("conditions", "Section 2.3",
            "With p̄ > ½ and M > ln 2/(2(p̄ − ½)²), assumed throughout, the majority of all is "
            "right more often than not: a_min > ½.", conditions),
    _theory("theorem-3", "Theorem 3, bound (6)",
            "With the printed D1 and D2 the regret R(T) is bounded by a constant times log²T and "
            "another constant.", theorem_3, "learn-regret"),
    _theory("theorem-3-cost", "Theorem 3, bound (7)",
            "So is the cost regret R_C(T).", theorem_3_cost),
    _theory("order", "Section 3.2, remark to Theorem 3",
            "max m·n(S^m), on which the bound depends, is roughly of the order 2^M √M/√(2π).",
            order),
    _theory("lemma-1", "Lemma 1, (8)",
            "The regret of exploring is at most U(S*)·D1(T)·D2(T), as there are at most D1·D2 "
            "exploring steps.", lemma_1),
    _theory("lemma-2", "Lemma 2, (9)",
            "The regret of exploiting is at most Δ_max times the number of steps that choose "
            "another set or rank the labelers wrongly.", lemma_2),
    _theory("lemma-3", "Lemma 3, (10)",
            "An exploiting step chooses another set than S*, the ranking being right, with "
            "probability at most Σ m·n(S^m)·(2/t² + 1/(αε t^(2−z))).", lemma_3, "learn-regret"),
    _theory("lemma-4", "Lemma 4, (11)",
            "It ranks the labelers wrongly with probability at most M(2/t² + 1/(αε t^(2−z))).",
            lemma_4, "learn-regret"),
    _theory("lemma-5", "Lemma 5",
            "A side that is ahead by the true weights is seen to be ahead by ε, but for a "
            "probability of |S|(2/t² + 1/(αε t^(2−z))).", lemma_5),
    _theory("lemma-6", "Lemma 6, (24) and (25)",
            "A wrong set is chosen only if an accuracy is estimated wrongly by more than ε; and "
            "that only if the skills are, by more than ε/n(S) in sum.", lemma_6),
    _theory("lemma-7", "Lemma 7",
            "|∏ l − ∏ q| ≤ Σ |l − q| for numbers in [0, 1].", lemma_7),
    _theory("lemma-8", "Lemma 8 and Section 4.2",
            "The log-odds of p̂ and p differ by at most 2C|p̂ − p|, with C above 1/p, 1/p̂, "
            "1/(1 − p) and 1/(1 − p̂); the C of Section 4.2 is large enough.", lemma_8),
    Claim("learn-log-squared", f"{PAPER}, abstract and Theorem 3",
          "The regret of LS_OL is O(log²T) uniformly in time. (Read with practical constants G1 "
          "and G2 up to a million tasks, as the printed ones explore throughout.)",
          ("learn-growth",), log_squared),
    Claim("learn-delay", f"{PAPER}, Section 3.5.1",
          "With a random delay of at most τ_max before a task is assigned again the regret is at "
          "most τ_max times larger.", ("learn-exploration",), delay),
    Claim("learn-decreasing", f"{PAPER}, Section 3.5.2",
          "With log^(1+2η) t in place of log t nothing need be known of the gaps: the regret that "
          "this adds is bounded. (Read as: exploiting costs ever less a task.)",
          ("learn-exploration",), decreasing),
    _theory("equation-12", "Section 3.5.3, (12)",
            "A labeler differs from the majority with probability π(M) + p(1 − 2π(M)), the more "
            "often the less able she is.", equation_12),
    _theory("equation-13", "Section 3.5.3, (13)",
            "After N assignments the better of two labelers has differed as often as the worse "
            "with probability at most exp(−2ε²N), ε the difference of their rates.",
            equation_13),
    Claim("learn-vetting-speed", f"{PAPER}, Section 3.5.3",
          "The worst labeler is found after O(log T) assignments, much sooner than the O(log²T) "
          "that it takes to learn the skills. (Read as: before half of the exploring steps.)",
          ("learn-exploration",), vetting_speed),
    Claim("learn-vetting-error", f"{PAPER}, Section 6.2",
          "Dropping the worst labeler once the error of the ranking is less than 0.1 by (13) drops "
          "another one in less than one run in ten.", ("learn-exploration",), vetting_error),
    _theory("theorem-4", "Theorem 4",
            "Under the weighted vote, all p at least ½, the optimal set is monotone.", theorem_4),
    _theory("theorem-5", "Theorem 5",
            "The regret under the weighted vote is bounded by a constant times log²T and another "
            "constant.", theorem_5),
    Claim("learn-figure-2", f"{PAPER}, Figure 2",
          "With five labelers of skills in [0.6, 1] the regret grows logarithmically up to 2000 "
          "tasks, and its average falls.", ("learn-regret",), figure_2),
    Claim("learn-figure-2-cost", f"{PAPER}, Section 6.1",
          "The cost regret has a very similar trend.", ("learn-regret",), figure_2_cost),
    Claim("learn-figure-3", f"{PAPER}, Figure 3",
          "After a time of exploring the average reward is clearly above that of the full crowd's "
          "majority vote. (Read: by the end of the 2000 tasks.)", ("learn-average",), figure_3),
    Claim("learn-figure-4", f"{PAPER}, Figure 4",
          "A higher a_min leads to much better performance.", ("learn-regret",), figure_4),
    Claim("learn-figure-5", f"{PAPER}, Figure 5",
          "The weighted vote gains more than the simple one.", ("learn-average",), figure_5),
    Claim("learn-table-2-gap", f"{PAPER}, Table 2",
          "With 5, 10, 15 and 20 labelers of uniform skills there is a clear gap between LS_OL and "
          "the full crowd.", ("learn-average",), table_2_gap),
    Claim("learn-table-2-weighted", f"{PAPER}, Table 2",
          "LS_OL with weights is ahead of LS_OL in each case.", ("learn-average",),
          table_2_weighted),
    Claim("learn-table-2-values", f"{PAPER}, Table 2",
          "The average rewards are 0.5154, 0.5686, 0.7000, 0.7997 (full crowd), 0.8320, 0.9186, "
          "0.9434, 0.9820 (LS_OL), 0.8726, 0.9393, 0.9641, 0.9890 (weighted). (Read: to within "
          "0.02, under some reading of uniform.)", ("learn-average",), table_2_values),
)  # fmt: skip
