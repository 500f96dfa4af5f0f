"""What the paper says by the way of scores, weights and crowds, each question on crowds of its own.

- `lead`: Theorem 1's remark (i): the expected lead of the true class over a wrong one is
  √|S| F(S)/(L − 1), and of two sets the one of higher F votes better (`agree`, the share of random
  pairs of sets of which that is so; two classes, skills known).
- `forms`: (25) and (26) of the supplement, two forms of G, for all answers to n questions.
- `bound`: Section 5: what maximises F̂ maximises the lower end of Theorem 3's interval. All sets are
  listed; once with n questions for everyone, and once with half of the workers answering `FEW`.
- `optimum`: Section 5: true F of the sets chosen by F̂, by F̂_plug, and by F itself.
- `growth`: Section 3: time and memory of Algorithm 1, for 2¹⁴ and for 2¹⁸ workers.
- `votes`: Sections 1, 2 and 4: how often votes with linear, log-odds and equal weights are right,
  and linear ones by the true skills, of all workers, of the selected and of the top K; with
  `spammers` more workers who guess.

Source: Li, Liu (2015), Section 1, Section 2, Theorem 1, Section 3, Section 5, (25) and (26).
"""

from __future__ import annotations

import itertools
import math
import time
import tracemalloc

import numpy as np

from workbench.accuracy.error_rate import vote_error, vote_errors
from workbench.aggregation.voting import log_odds_weights
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.seeds import stream
from workbench.crowd.population import beta
from workbench.selection.bounds import interval
from workbench.selection.rules import algorithm_1, select
from workbench.selection.scores import informativeness, scores, set_score
from workbench.studies.measures import DeclaredAnalysis, Drawn, Grouped, Part, means_of
from workbench.studies.study import Block, Parameter, Params, Record, Size, Study
from workbench.studies.trials import Streams

VOTES = 5000
"""Votes whose lead is averaged."""
PAIRS = 100
"""Pairs of sets compared in one trial."""
FEW = 3
"""Control questions of the workers who answer few."""
MANY = {"small": 2**14, "large": 2**18}
"""Workers that Algorithm 1 is timed with."""
MEASURES = {
    "lead": ("lead", "lead_expected", "agree"),
    "forms": ("forms_off",),
    "bound": ("same", "same_few"),
    "optimum": ("score_selected", "score_plug_in", "score_best", "size_selected", "size_best"),
    "growth": ("bytes_small", "bytes_large"),
    "votes": tuple(
        f"{weights}_{who}"
        for weights in ("linear", "log", "majority", "known")
        for who in ("all", "selected", "top")
    ),
}
"""Record fields of each question that the table has means of."""
KEYS = ("classes", "controls", "workers", "budget", "spammers")


def trial(params: Params, streams: Streams) -> Record:
    """Answer one question on one crowd."""
    L, n, m, K = (int(params[name]) for name in ("classes", "controls", "workers", "budget"))
    seed = streams.instance
    skill = beta(m, a=2.3, b=2.0, seed=seed).skill[0]
    if params["question"] == "lead":
        return _lead(skill[:K], n, L, seed)
    if params["question"] == "forms":
        return {"forms_off": forms_off(n, L)}
    if params["question"] == "growth":
        return _growth(seed)
    spammers = int(params["spammers"])
    skill = np.concatenate([skill, np.full(spammers, 1.0 / L)])
    correct = stream(seed, "controls").binomial(n, skill)
    known = scores(correct, np.full(len(skill), n), L)
    chosen = {
        rule: select(known, K, rule, seed=seed).chosen
        for rule in ("selected", "plug-in", "top-skill")
    }
    worth = informativeness(skill, L)
    if params["question"] == "optimum":
        best = algorithm_1(worth, K, seed=seed).chosen
        return {
            "score_selected": set_score(worth[chosen["selected"]]),
            "score_plug_in": set_score(worth[chosen["plug-in"]]),
            "score_best": set_score(worth[best]),
            "size_selected": len(chosen["selected"]),
            "size_best": len(best),
        }
    if params["question"] == "bound":
        few = np.where(np.arange(m) % 2, FEW, n)
        again = stream(seed, "few").binomial(few, skill)
        return {
            "same": same_maximiser(correct, np.full(m, n), L),
            "same_few": same_maximiser(again, few, L),
        }
    estimates = known.skill
    weights = {
        "linear": 2 * estimates - 1,
        "log": log_odds_weights(estimates, 2),
        "majority": np.ones(len(skill)),
        "known": 2 * skill - 1,
    }
    voters = {
        "all": np.arange(len(skill)),
        "selected": chosen["selected"],
        "top": chosen["top-skill"],
    }
    return {
        f"{kind}_{name}": 1.0 - vote_error(skill[who], weight[who]).probability
        for (kind, weight), (name, who) in itertools.product(weights.items(), voters.items())
    }


def _lead(skill: FloatArray, controls: int, classes: int, seed: np.random.SeedSequence) -> Record:
    """Mean lead of the true class over a certain wrong one, weights estimated for every vote."""
    rng, shape = stream(seed, "votes"), (VOTES, len(skill))
    weight = classes * rng.binomial(controls, skill, shape) / controls - 1.0
    right = rng.random(shape) < skill
    wrong = ~right & (rng.integers(classes - 1, size=shape) == 0)
    lead = (weight * right - weight * wrong).sum(axis=1)
    score = set_score(informativeness(skill, classes))
    sets = stream(seed, "sets").random((2 * PAIRS, len(skill))) < 0.5
    sets[:, 0] |= ~sets.any(axis=1)
    error, _ = vote_errors(skill, 2 * skill - 1, sets)
    scored = np.array([set_score(informativeness(skill[some])) for some in sets])
    higher = scored[::2] > scored[1::2]
    return {
        "lead": float(lead.mean()),
        "lead_se": float(lead.std(ddof=1) / math.sqrt(VOTES)),
        "lead_expected": math.sqrt(len(skill)) * score / (classes - 1),
        "agree": float((higher == (error[::2] < error[1::2])).mean()),
    }


def forms_off(controls: int, classes: int) -> float:
    """Largest difference of G, and of (26) in its place, over all numbers of right answers."""
    n, L, right = controls, classes, np.arange(controls + 1)
    gain = scores(right, np.full(n + 1, n), L).gain
    lead = L * right / n - 1 - (L - 2) / (2 * n)
    second = n / (n - 1) * (lead**2 - ((L - 2) ** 2 / (4 * n**2) + (L - 1) / n))
    return float(np.abs(gain - second).max())


def same_maximiser(correct: IntArray, answered: IntArray, classes: int) -> bool:
    """Whether the set of the highest lower end of Theorem 3's interval has the highest F̂."""
    known = scores(correct, answered, classes)
    sets = [
        np.array(some)
        for size in range(1, len(known) + 1)
        for some in itertools.combinations(range(len(known)), size)
    ]
    score = np.array([set_score(known.gain[some]) for some in sets])
    low = np.array([interval(known, some)[0] for some in sets])
    return bool(score[int(low.argmax())] >= score.max() - 1e-9)


def _growth(seed: np.random.SeedSequence) -> Record:
    record: dict[str, float] = {}
    for name, workers in MANY.items():
        gain = stream(seed, "gain").normal(size=workers)
        began = time.process_time()
        for _ in range(3):
            algorithm_1(gain, workers, seed=seed)
        record[f"seconds_{name}"] = (time.process_time() - began) / 3
        tracemalloc.start()
        algorithm_1(gain, workers, seed=seed)
        record[f"bytes_{name}"] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return record


def part(question: str) -> Part:
    """Means of what one question measures."""
    names = MEASURES[question]
    columns = {"trials": (names[0], "size"), **means_of(*names)}
    accuracy = Drawn(
        "votes",
        "Accuracy of votes, means over crowds",
        "spammers",
        "accuracy",
        ("spammers", "accuracy"),
        {"series": "vote"},
        of=lambda rows: Grouped(KEYS, columns)(rows).melt(
            KEYS, list(names), var_name="vote", value_name="accuracy"
        ),
    )
    return Part(
        question,
        Grouped(KEYS, columns),
        (f"{question}: {{found.n}} settings measured.",),
        (accuracy,) if question == "votes" else (),
        needs=names[0],
        where=lambda rows: rows["question"] == question,
    )


def _sweep(small: int) -> tuple[Block, ...]:
    """Points of a sweep, with so many workers where all sets are listed."""
    return (
        {"question": ["lead"], "classes": [2, 3, 4], "workers": [20], "budget": [12]},
        {"question": ["forms"], "classes": [2, 3, 5, 9], "controls": [2, 3, 10, 50]},
        {"question": ["bound"], "workers": [small]},
        {"question": ["optimum"]},
        {"question": ["growth"]},
        {"question": ["votes"], "spammers": [0, 31, 100]},
    )


STUDY = Study(
    name="selection-remarks",
    title="Remarks on scores, weights and crowds",
    source="Li, Liu (2015), Sections 1 to 5, remarks",
    parameters={
        "question": Parameter(str, "lead", "which remark", choices=tuple(MEASURES)),
        "classes": Parameter(int, 2, "L (2 for votes)", least=2, most=20),
        "controls": Parameter(int, 10, "n, control questions a worker", least=2, most=1000),
        "workers": Parameter(int, 31, "m (all sets are listed for bound)", least=1, most=100),
        "budget": Parameter(int, 20, "K, or the size of the fixed set", least=1, most=100),
        "spammers": Parameter(
            int, 0, "workers who guess, beside the m", least=0, most=1000, paired=True
        ),
    },
    sizes={
        "smoke": Size(_sweep(5), 2),
        "small": Size(_sweep(7), 20),
        "paper": Size(_sweep(9), 100),
    },
    trial=trial,
    analyse=DeclaredAnalysis(*map(part, MEASURES)),
    volatile=tuple(f"{what}_{name}" for what in ("seconds", "bytes") for name in MANY),
)
