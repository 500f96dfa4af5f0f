"""Sets of labels: one purchase answers all labels of a task, planned and answered label by label.

Tasks have each of L labels by itself with one chance. A worker has a sensitivity and a specificity
for each label, drawn for the trial, and answers every label of the tasks that she is given.

*Plans*, skills known: the vector cover (`crowd_models.vector_cover`) beside a plan of its own for
each label, all of the same covers and capacities. A purchase answers all labels, so that what the
label plans cost together is their *union*, pairs (task, worker) counted once; their *sum* is what
they cost where each label is asked about separately. Tasks are alike, so that label plans are dealt
out in the order in which they share most purchases. *Made* are the errors of the answers that come
in, each label the likelier of the two, over so many tasks: of labels, the largest of any label, and
of sets, which are wrong where any label is.

*Promises*, skills learnt from gold tasks: what `plan` buys by default, the exact error of each
label being promised, and by the bound; what is promised, and what is made by workers as they are.

*Answers*, skills unknown and no gold: each label by the default method, beside sets taken for
classes, as many as occur, by the default method too. Macro F1 is the mean over labels of
2 TP/(2 TP + FP + FN).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from crowd_models import VectorCoverProblem
from workbench.accuracy import SetErrors, set_errors
from workbench.aggregation import DEFAULT, KnownBeforehand, LabelOptions, label_tasks
from workbench.assignment import make_set_plan, set_gains, set_needs
from workbench.base import FloatArray, IntArray, Seed, stream
from workbench.crowd import SetSkills, SetVotes, Votes
from workbench.solving import solve_vector_cover
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
    ended_well,
    mean_columns,
    percent,
)

PLANS, PROMISES, ANSWERS = "plans", "promises", "answers"
SENSITIVITY, SPECIFICITY = 1.2, 1.8
"""Log-odds of a right answer where a label is true, and where it is not, in the mean."""
OWN, OF_LABEL = 0.6, 0.6
"""How workers spread around that, in log-odds: by themselves, and each from label to label."""
WAYS = {"cover": "vector cover", "union": "union of label plans", "sum": "sum of label plans"}
KEPT = {"error": "its error", "bound": "the bound on it"}
ANSWERED = {"label": "label by label", "joined": "joined as classes"}


def skills_of(rng: np.random.Generator, workers: int, labels: int, share: float) -> SetSkills:
    """Draw workers, and state them as known."""
    own = rng.normal(0.0, OWN, (2, 1, workers)) + rng.normal(0.0, OF_LABEL, (2, labels, workers))
    right = 1.0 / (1.0 + np.exp(-(SENSITIVITY + own[0])))
    rejects = 1.0 / (1.0 + np.exp(-(SPECIFICITY + own[1])))
    without = np.stack([rejects, 1.0 - rejects], axis=-1)
    having = np.stack([1.0 - right, right], axis=-1)
    prior = np.tile([1.0 - share, share], (labels, 1))
    return SetSkills(np.stack([without, having], axis=-2), prior, np.ones(workers, dtype=bool))


def answer(
    rng: np.random.Generator, skills: SetSkills, truth: IntArray, task: IntArray, worker: IntArray
) -> SetVotes:
    """Draw what workers say of tasks, whose truth has shape (n, L)."""
    labels = np.arange(truth.shape[1])
    chance = skills.confusion[labels, worker[:, None], truth[task], 1]
    said = (rng.random(chance.shape) < chance).astype(np.int64)
    names = [
        np.array([f"{kind}{k}" for k in range(many)], dtype=object)
        for kind, many in (("t", len(truth)), ("w", len(skills.known)))
    ]
    classes = np.array(["no", "yes"], dtype=object)
    by_label = {
        f"label {k + 1}": Votes(task, worker, said[:, k], names[0], names[1], classes)
        for k in labels.tolist()
    }
    return SetVotes.of(by_label)


def trial(params: Params, streams: Streams) -> Record:
    """Plan for one crowd, or let one answer."""
    rng = stream(streams.instance, "workers")
    skills = skills_of(rng, params["workers"], params["labels"], params["share"])
    if params["of"] == PLANS:
        return planned(params, skills, stream(streams.instance, "answers"))
    if params["of"] == PROMISES:
        return promised(params, skills, stream(streams.instance, "answers"))
    return answered(params, skills, stream(streams.instance, "answers"), streams)


def asked(
    rng: np.random.Generator, skills: SetSkills, tasks: int, each: int, share: float
) -> tuple[SetVotes, IntArray]:
    """Let workers drawn for each task answer it; and the truth, shape (n, L)."""
    truth = (rng.random((tasks, len(skills.prior))) < share).astype(np.int64)
    workers = len(skills.known)
    worker = [rng.choice(workers, each, replace=False) for _ in range(tasks)]
    task = np.repeat(np.arange(tasks), each)
    return answer(rng, skills, truth, task, np.concatenate(worker)), truth


def planned(params: Params, skills: SetSkills, rng: np.random.Generator) -> Record:
    """The vector cover, label plans beside it, and what errors are made."""
    gains, need = set_gains(skills), set_needs(skills, params["epsilon"])
    capacity, tasks = params["capacity"], params["tasks"]
    cover = _chosen(gains, need, capacity, tasks)
    alone = [_chosen(gains[:, [k]], need[[k]], capacity, tasks)[0] for k in range(params["labels"])]
    union = alone[0]
    for each in alone[1:]:
        union = np.maximum(union, _aligned(union, each))
    errors = _made(rng, skills, skills, cover[0], params)
    label = errors.label_error
    assert label is not None
    return {
        "cover": float(cover[0].sum()) / tasks,
        "bound": cover[1] / tasks,
        "proven": bool(cover[1] >= cover[0].sum() - 1e-6),
        "union": float(union.sum()) / tasks,
        "sum": float(sum(each.sum() for each in alone)) / tasks,
        "over": float((union.sum(axis=0) > capacity).mean()),
        "label_error": label,
        "label_worst": max(float(each.error_measured or 0.0) for each in errors.by_label),
        "set_error": errors.whole.error_measured,
    }


def promised(params: Params, skills: SetSkills, rng: np.random.Generator) -> Record:
    """What plans from gold promise, and what workers make of it."""
    votes, gold = asked(rng, skills, params["gold"], params["each"], params["share"])
    room = np.full(params["workers"], params["capacity"])
    record: dict[str, Any] = {}
    for way in KEPT:
        plan = make_set_plan(
            votes,
            gold,
            params["tasks"],
            params["epsilon"],
            room,
            exact=way == "error",
            time_limit=None,
            gap=1e-3,
        )
        if plan.chosen is None:
            raise TrialEnded("infeasible", "no plan keeps the error of every label")
        errors = _made(rng, skills, plan.skills, plan.chosen, params)
        record |= {
            f"bought_{way}": float(plan.chosen.sum()) / params["tasks"],
            f"promised_{way}": float(plan.expected.max()),
            f"expected_{way}": float(plan.expected.mean()),
            f"made_{way}": errors.label_error,
            f"set_expected_{way}": plan.set_error,
            f"set_made_{way}": errors.whole.error_measured,
        }
    return record


def _chosen(
    gains: FloatArray, need: FloatArray, capacity: int, tasks: int
) -> tuple[FloatArray, float]:
    """The cheapest plan found, and what is proven of the cost."""
    found = solve_vector_cover(VectorCoverProblem(gains[None], need, capacity, tasks))
    if found.assignment is None:
        raise TrialEnded("infeasible", "no plan covers every label")
    return found.assignment, float(found.certificate.lower_bound or 0.0)


def _aligned(union: FloatArray, plan: FloatArray) -> FloatArray:
    """A label's plan, its tasks in the order in which it shares most purchases with the union."""
    from scipy.optimize import linear_sum_assignment

    _, order = linear_sum_assignment(-union @ plan.T)
    aligned: FloatArray = plan[order]
    return aligned


def _made(
    rng: np.random.Generator,
    skills: SetSkills,
    believed: SetSkills,
    plan: FloatArray,
    params: Params,
) -> SetErrors:
    """Errors of the answers to tasks planned so, many times over, decided by what is believed."""
    labels, plan = len(skills.prior), np.tile(plan, (params["made"], 1))
    truth = (rng.random((len(plan), labels)) < params["share"]).astype(np.int64)
    task, worker = np.nonzero(plan)
    votes = answer(rng, skills, truth, task, worker)
    odds = believed.log_odds(votes, np.arange(len(task)), task, len(plan))
    loss = ((odds > 0) != truth).astype(np.float64)
    return set_errors(loss, truth, np.arange(len(truth)))


def answered(
    params: Params, skills: SetSkills, rng: np.random.Generator, streams: Streams
) -> Record:
    """Errors label by label, and of sets taken for classes."""
    n = params["tasks"]
    votes, truth = asked(rng, skills, n, params["each"], params["share"])
    seed, every = streams.method("answers"), np.arange(n)
    by_label = np.stack(
        [_labelled(own.table(), seed, n) == "yes" for own in votes.by_label.values()], axis=1
    )
    text = ["".join(map(str, row)) for row in votes.said.tolist()]
    table = next(iter(votes.by_label.values())).table().assign(label=text)
    joined = np.array([[*map(int, name)] for name in _labelled(table, seed, n)])
    record: dict[str, Any] = {"classes": len(set(text))}
    for name, said in (("label", by_label), ("joined", joined)):
        errors = set_errors(np.abs(said - truth).astype(float), truth, every)
        record |= {
            f"label_error_{name}": errors.label_error,
            f"set_error_{name}": errors.whole.error_measured,
            f"f1_{name}": errors.macro_f1,
        }
    return record


def _labelled(table: pd.DataFrame, seed: Seed, tasks: int) -> IntArray:
    """Answers of the default method, in the order of the tasks."""
    found = label_tasks(table, DEFAULT, KnownBeforehand(), LabelOptions(), seed=seed)
    labels = found.answers.set_index("task")["label"]
    return labels.reindex([f"t{i}" for i in range(tasks)]).to_numpy()


# What the trials say.


def analyse(trials: pd.DataFrame) -> Analysis:
    """Labels per task by each way to plan, errors promised and made, and answers both ways."""
    rows = ended_well(trials)
    plans, promises, answers = (rows[rows["of"] == of] for of in (PLANS, PROMISES, ANSWERS))
    tables, charts, sentences = {}, [], [ended(trials)]
    if len(plans):
        names = [*WAYS, "label_error", "label_worst", "set_error", "proven"]
        tables["Sets bought per task, and errors made"] = mean_columns(plans, ["labels"], names)
        charts.append(_chart(plans))
        sentences += _saved(plans)
    if len(promises):
        fields = ("bought", "promised", "expected", "made", "set_expected", "set_made")
        names = [f"{field}_{way}" for way in KEPT for field in fields]
        tables["Promised from gold, and made"] = mean_columns(promises, ["labels"], names)
        sentences += _kept(promises)
    if len(answers):
        names = [f"{name}_{way}" for name in ("set_error", "f1") for way in ANSWERED]
        by = ["labels", "each"]
        tables["Answers label by label, and joined as classes"] = mean_columns(
            answers, by, ["classes", *names]
        )
        sentences += _better(answers)
    return Analysis(tuple(sentences), tables, tuple(charts))


def _chart(plans: pd.DataFrame) -> Chart:
    long = plans.melt(["labels"], [*WAYS], "way", "bought")
    rows = long.groupby(["labels", "way"], sort=False)["bought"].agg(["mean", "sem"]).reset_index()
    rows["way"] = rows["way"].map(WAYS)
    half = 1.96 * rows["sem"].fillna(0.0)
    rows = rows.assign(low=rows["mean"] - half, high=rows["mean"] + half)
    return Chart(
        "sets",
        f"Sets bought per task to promise each label an error of {plans['epsilon'].iloc[0]:g}, "
        f"skills known: means over {len(plans)} crowds, with 95 % intervals.",
        rows,
        "labels",
        "mean",
        "labels of a set",
        "bought a task",
        series="way",
        low="low",
        high="high",
        log_y=True,
    )


def _saved(plans: pd.DataFrame) -> list[str]:
    """How far the vector cover is below the union of label plans, and what is made."""
    lines = []
    for labels, own in plans.groupby("labels"):
        saved = 1.0 - own["cover"] / own["union"]
        lines.append(
            f"{labels} labels, skills known: the vector cover takes {own['cover'].mean():.2f} sets "
            f"a task, the union of label plans {own['union'].mean():.2f} (less by "
            f"{percent(saved.mean())}), their sum {own['sum'].mean():.1f}; promised an error of "
            f"{own['epsilon'].iloc[0]:g} a label, made {own['label_error'].mean():.4f}, of sets "
            f"{own['set_error'].mean():.3f}; {int(own['proven'].sum())} of {len(own)} proven the "
            "cheapest cover."
        )
    return lines


def _kept(promises: pd.DataFrame) -> list[str]:
    """What is promised and made, by promise."""
    return [
        f"{labels} labels, skills from {own['gold'].iloc[0]} gold tasks, {word} promised at "
        f"{own['epsilon'].iloc[0]:g}: {own[f'bought_{way}'].mean():.2f} sets per task; label "
        "errors "
        f"{own[f'expected_{way}'].mean():.4f} expected in the mean, "
        f"{own[f'made_{way}'].mean():.4f} made; sets {own[f'set_expected_{way}'].mean():.3f} "
        f"expected to be wrong, {own[f'set_made_{way}'].mean():.3f} made."
        for labels, own in promises.groupby("labels")
        for way, word in KEPT.items()
    ]


def _better(answers: pd.DataFrame) -> list[str]:
    """Macro F1 and set error both ways."""
    return [
        f"{labels} labels, {each} sets per task: label by label "
        f"{own['set_error_label'].mean():.3f} "
        f"of the sets are wrong, macro F1 is {own['f1_label'].mean():.3f}; joined as "
        f"{own['classes'].mean():.0f} classes {own['set_error_joined'].mean():.3f}, "
        f"{own['f1_joined'].mean():.3f}."
        for (labels, each), own in answers.groupby(["labels", "each"])
    ]


STUDY = Study(
    name="sets",
    title="Sets of labels: one purchase answers all of them",
    source="beyond the papers",
    parameters={
        "of": Parameter(str, PLANS, "what is tried", choices=(PLANS, PROMISES, ANSWERS)),
        "labels": Parameter(int, 5, "labels of a set", least=1),
        "workers": Parameter(int, 24, "workers", least=2),
        "tasks": Parameter(int, 100, "tasks", least=1),
        "capacity": Parameter(int, 60, "most tasks of a worker", least=1),
        "share": Parameter(
            float, 0.25, "share of the tasks that have a label", least=0.0, most=1.0
        ),
        "epsilon": Parameter(float, 0.05, "error promised of each label", least=0.0, most=1.0),
        "gold": Parameter(int, 200, "gold tasks that skills are learnt from", least=1),
        "each": Parameter(int, 5, "sets that a task, or a gold task, gets", least=1),
        "made": Parameter(int, 20, "times that a plan is carried out", least=1),
    },
    sizes={
        "smoke": Size(
            (
                {"labels": [2], "workers": [20], "tasks": [20], "capacity": [20]},
                {
                    "of": [PROMISES],
                    "labels": [2],
                    "workers": [20],
                    "tasks": [20],
                    "capacity": [20],
                    "gold": [80],
                },
                {"of": [ANSWERS], "labels": [3], "workers": [10], "tasks": [60]},
            ),
            2,
        ),
        "small": Size(({"labels": [2, 5]}, {"of": [ANSWERS], "tasks": [300]}), 4),
        "paper": Size(
            (
                {"labels": [2, 5, 10]},
                {"of": [PROMISES], "labels": [2, 5, 10], "each": [8], "capacity": [100]},
                {"of": [ANSWERS], "labels": [2, 5, 8], "tasks": [300], "each": [3, 5]},
            ),
            20,
        ),
    },
    trial=trial,
    analyse=analyse,
)
