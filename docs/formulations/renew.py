"""Run the examples of these pages, keep what they print, and draw their pictures from it.

`python docs/formulations/renew.py`, in the environment of the tests, after an example was changed.
"""

from __future__ import annotations

import contextlib
import io
import math
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from crowd_models.exact_error import likeliest_error, log_odds
from crowd_models.gains import GAINS
from crowd_models.information import needed_information, tangents
from crowd_models.ratings import RatingTerms
from workbench.plots._style import COLOURS, TEXT, whole_ticks
from workbench.solving.patterns.bound import least_price

HERE = Path(__file__).parent
BLUE, ORANGE, GREEN = COLOURS[:3]
WHO = ("ann", "bob", "cyd", "dee", "eli", "fay")
KINDS = ("bird", "dog")
CLASSES = ("ann", "bob, cyd", "dee, eli", "fay")


def run(page: Path) -> tuple[str, str, dict[str, Any]]:
    """Text of a page, what its example prints, and the names it leaves."""
    text, names = page.read_text("utf-8"), {}
    (code,) = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    for _ in range(2):  # the seconds of the first time are spent on imports
        with contextlib.redirect_stdout(io.StringIO()) as said:
            exec(code, names)
    return text, said.getvalue(), names


def renew(page: Path) -> None:
    """Write what the example prints behind it, and draw the picture."""
    text, said, names = run(page)
    text = re.sub(r"(^```\n)\n```text\n.*?^```\n", r"\1", text, flags=re.DOTALL | re.MULTILINE)
    code, end, rest = text.rpartition("\n```\n")
    page.write_text(f"{code}{end}\n```text\n{said}```\n{rest}", "utf-8")
    with mpl.rc_context(TEXT):
        figure = Figure(figsize=(6, 2.8), layout="constrained")
        PICTURES[page.stem](figure, names)
        figure.savefig(page.with_suffix(".png"), dpi=110, metadata={"Software": None})


def grid(axes: Axes, shade: Any, rows: Any, columns: Any, words: Any = None) -> None:
    """Shade a table, its rows and columns named, and write into its cells."""
    axes.imshow(shade, cmap="Greys", vmin=0, vmax=2.2 * np.max(shade), aspect="auto")
    axes.set_yticks(range(len(rows)), rows)
    axes.set_xticks(range(len(columns)), columns)
    axes.tick_params(length=0)
    if words is not None:
        for (i, j), word in np.ndenumerate(words):
            axes.text(j, i, word, ha="center", va="center", color=BLUE, weight="bold")


def assignment(figure: Figure, names: dict[str, Any]) -> None:
    """Workers of each task as dots, larger for a larger share, on what a label counts."""
    problem, axes = names["problem"], figure.subplots()
    grid(axes, problem.quality, [f"{k} {i}" for k in KINDS for i in (1, 2, 3)], WHO)
    share = names["solved"].solution.assignment
    task, worker = np.nonzero(share > 1e-6)
    axes.scatter(worker, task, s=150 * share[task, worker], color=BLUE)
    axes.set_title("darker: the label counts more; dot: bought, by share")


def prices(figure: Figure, names: dict[str, Any]) -> None:
    """Task weights and worker prices."""
    found = names["solved"].solution
    tasks = [f"{k} {i}" for k in KINDS for i in (1, 2, 3)]
    for axes, rows, values, title in zip(
        figure.subplots(1, 2),
        (tasks, WHO),
        (found.task_weights, found.worker_prices),
        ("task weight x, a unit of cover", "worker price z, one more task"),
        strict=True,
    ):
        axes.barh(rows, values, color=BLUE)
        axes.invert_yaxis()
        axes.set_title(title)


def counts(figure: Figure, names: dict[str, Any]) -> None:
    """Labels by class of task and of worker."""
    labels = (
        names["solved"]
        .to_frame()
        .pivot(index="task_class", columns="worker_class", values="labels")
        .reindex(columns=range(4))
        .fillna(0.0)
        .to_numpy()
    )
    words = np.vectorize("{:.3g}".format)(labels)
    grid(figure.subplots(), names["quality"], KINDS, CLASSES, words)
    figure.axes[0].set_title("labels bought; darker: a label counts more")


def patterns(figure: Figure, names: dict[str, Any]) -> None:
    """Patterns as rows, and how many tasks follow each."""
    ways, model = names["patterns"], names["model"]
    left, right = figure.subplots(1, 2, width_ratios=(2, 1))
    copies = np.array([way.copies for way in ways])
    rows = [KINDS[way.task_class] for way in ways]
    grid(left, copies, rows, CLASSES, np.where(copies > 0, copies.astype(str), ""))
    left.set_title("workers that a pattern takes")
    right.barh(range(len(ways)), [model.count[p].value for p in model.count], color=BLUE)
    right.set_ylim(len(ways) - 0.5, -0.5)
    right.set_yticks([])
    whole_ticks(right.xaxis)
    right.set_title("tasks that follow it")


def team_price(figure: Figure, names: dict[str, Any]) -> None:
    """P(u) along the price of the expert on birds."""
    axes, at = figure.subplots(), np.arange(0, 31)
    charged = [np.array([10 + u, 10, 10, 10 + u]) for u in at.tolist()]
    least = [_cheapest(names["problem"], price) for price in charged]
    axes.plot(at / 10, np.array(least) / 10, color=BLUE, marker="o", markersize=3)
    axes.set(
        xlabel="price u of an expert's capacity",
        ylabel="P(u)",
        title="the cheapest team for a bird: with the expert, then without her",
    )


def _cheapest(problem: Any, price: Any) -> float:
    return float(least_price(problem, 0, price))


def errors(figure: Figure, names: dict[str, Any]) -> None:
    """Error of n labels of skill .8: exact, and by both bounds."""
    del names
    axes, n = figure.subplots(), np.arange(1, 20, 2)
    weight = log_odds([float(GAINS["bhattacharyya"].quality(0.8))])
    exact = [likeliest_error(weight, np.array([k])) for k in n]
    axes.semilogy(n, exact, "o-", color=GREEN, label="exact")
    for name, gain, colour, mark in zip(GAINS, GAINS.values(), (ORANGE, BLUE), "s^", strict=True):
        bound = np.minimum(gain.error(n * gain.quality(0.8)), 1.0)
        axes.semilogy(n, bound, mark + "-", color=colour, label=name.capitalize())
    axes.axhline(0.05, color="black", lw=0.8, ls=":")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set(xlabel="labels of skill .8", ylabel="error", title="5 % (dotted): 7, 11, 17 labels")
    axes.set_xticks(n)
    axes.legend(frameon=False, loc="lower left")


def promise(figure: Figure, names: dict[str, Any]) -> None:
    """Two pairs of classes: the convex promise, and tangents of it."""
    problem, axes = names["problem"], figure.subplots()
    first, second = problem.weights[0], 2 * problem.weights[1]  # pairs 02 and 12 go together here
    epsilon = float(problem.epsilon[0])
    s = np.linspace(math.log(first / epsilon) + 0.02, 4, 400)
    edge = -np.log((epsilon - first * np.exp(-s)) / second)
    axes.fill_between(s, edge, 4, color="0.88")
    axes.plot(s, edge, color=BLUE, lw=2, label="the promise")
    for at in (0.85, 1.3, 2.6):
        here = -math.log((epsilon - first * math.exp(-at)) / second)
        slope = -first * math.exp(-at) / (second * math.exp(-here))
        axes.axline((at, here), slope=slope, color=ORANGE, lw=1, ls="--")
        axes.plot(at, here, "o", color=ORANGE, markersize=5)
    axes.plot([], [], "--o", color=ORANGE, markersize=5, label="tangents: cover constraints")
    axes.set(
        xlim=(0, 4),
        ylim=(0, 4),
        title="grey: enough",
        xlabel="cover of the pair of classes 0, 1",
        ylabel="cover of 0, 2 and of 1, 2",
    )
    axes.legend(frameon=False, loc="upper right")


def tilt(figure: Figure, names: dict[str, Any]) -> None:
    """What is required of a cover, and recall and labels of plans, by what a miss costs."""
    left, right = figure.subplots(1, 2)
    costs, plans = names["costs"], names["plans"]
    r = np.geomspace(1, 20, 100)
    left.semilogx(r, 0.5 * np.log(0.9 * 0.1 * r) - math.log(0.08), color=BLUE)
    left.set(xlabel="what a miss costs", ylabel="C", title="the cover asked for: ½ ln r more")
    right.semilogx(costs, [plan.promised.recall[1] for plan in plans], "o-", color=GREEN)
    right.set(xlabel="what a miss costs", ylim=(0, 1), title="share of the rare class found")
    for axes in (left, right):
        axes.set_xticks(costs, [f"{cost:g}" for cost in costs])
        axes.minorticks_off()


def rated(figure: Figure, names: dict[str, Any]) -> None:
    """Error left by so much precision, with and without a floor; and who rates which task."""
    left, right = figure.subplots(1, 2)
    terms, problem = names["terms"], names["problem"]
    total = np.linspace(0, 0.06, 200)
    free = RatingTerms(terms.slope, 0.0, terms.variance)
    left.plot(total, free.error(total), color="0.6", ls="--", label="no floor")
    left.plot(total, terms.error(total), color=BLUE, label="with the floor")
    asked = terms.requirement(names["epsilon"])
    left.plot([0, asked, asked], [names["epsilon"]] * 2 + [0], color=ORANGE, lw=1, ls=":")
    left.plot(asked, names["epsilon"], "o", color=ORANGE)
    left.axhline(terms.least, color="black", lw=0.8, ls=":")
    left.set(xlabel="precision of a task's ratings", ylim=(0, 21), title="error in points")
    left.legend(frameon=False)
    grid(right, problem.quality, [f"task {i}" for i in range(1, 7)], WHO)
    task, worker = np.nonzero(names["solved"].solution.assignment > 0.5)
    right.scatter(worker, task, s=120, color=BLUE)
    right.set_title("darker: more precise; dot: rates")


def vector(figure: Figure, names: dict[str, Any]) -> None:
    """Cover of each label by task, and sets bought by three ways to plan."""
    problem, plan = names["problem"], names["found"].assignment
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    tasks = np.arange(len(plan))
    for k, label in enumerate(names["labels"]):
        cover = plan @ problem.quality[0, :, k]
        left.bar(tasks + 0.27 * (k - 1), cover, 0.25, color=COLOURS[k], label=label)
    left.axhline(problem.requirement[0, 0], color="black", lw=0.8, ls=":")
    left.set(xlabel="task", ylabel="nats gathered", title="every label covered (dotted)")
    left.set_xticks(tasks, [str(task + 1) for task in tasks])
    left.legend(ncols=3, fontsize=7, loc="lower center", framealpha=1.0)
    alone = [each.assignment for each in names["alone"]]
    ways = {
        "vector cover": plan.sum(),
        "union of\nlabel plans": np.maximum.reduce(alone).sum(),
        "sum of\nlabel plans": sum(each.sum() for each in alone),
    }
    right.barh(list(ways), list(ways.values()), color=[BLUE, "0.75", "0.75"])
    right.invert_yaxis()
    right.set_title("sets bought")


def needed(figure: Figure, names: dict[str, Any]) -> None:
    """d and its tangents, and the errors of the optimum."""
    limit, axes, e = names["limit"], figure.subplots(), np.linspace(0.004, 0.2, 300)
    axes.plot(e, needed_information(e), color=BLUE, lw=2, label="d(ε)")
    slope, start = tangents(np.array([0.02, 0.05, 0.12]))
    for rise, value in zip(slope, start, strict=True):
        axes.plot(e, value + rise * e, "--", color=ORANGE, lw=1)
    axes.plot([], [], "--", color=ORANGE, lw=1, label="tangents")
    left = needed_information(limit.errors)
    axes.plot(limit.errors, left, "o", color=GREEN, label="easy tasks, hard tasks")
    axes.set(ylim=(0, 6), xlim=(0, 0.2), xlabel="error ε of a task", ylabel="nats a task needs")
    axes.legend(frameon=False)


def met(figure: Figure, names: dict[str, Any]) -> None:
    """How often each total lack is met after each arrival, by the optimal occupation measure."""
    problem, model, axes = names["problem"], names["model"], figure.subplots()
    arrivals = problem.arrivals
    states = [(arrivals.root, problem.start)]
    for node, state in states:  # numbered as `occupation_program` does
        for _, kind, after in arrivals.after(node):
            for _, left in problem.choices(state, kind):
                if (after, left) not in states:
                    states.append((after, left))
    often = np.zeros((13, arrivals.workers + 1))
    for i, (node, state) in enumerate(states):
        often[sum(lack for _, lack in state), node] += model.y[i].value
    often[often < 1e-9] = 0
    image = axes.imshow(often, origin="lower", aspect="auto", cmap="Blues", vmin=0, vmax=1)
    axes.set(xlabel="workers who have come", ylabel="units lacking")
    figure.colorbar(image, label="probability")


def score(figure: Figure, names: dict[str, Any]) -> None:
    """The best score of each size."""
    axes, scores = figure.subplots(), names["scores"]
    best = max(scores, key=scores.get)
    colours = [BLUE if k == best else "0.75" for k in scores]
    axes.bar(list(scores), list(scores.values()), color=colours)
    axes.set(xlabel="workers hired", ylabel="score", title="the best set of each size")


def copies(figure: Figure, names: dict[str, Any]) -> None:
    """v by worker and size at the optimum."""
    problem = names["problem"]
    chosen = names["solved"].solution.chosen
    gain, cost = problem.gain[problem.hireable], problem.costs[problem.hireable]
    workers, sizes = problem.hireable.tolist(), range(1, problem.largest + 1)
    on = np.array([[float(i in chosen and k == len(chosen)) for k in sizes] for i in workers])
    rows = [f"gain {g:.2f}, price {c:g}" for g, c in zip(gain, cost, strict=True)]
    axes = figure.subplots()
    grid(axes, on * 0.4 + 0.05, rows, [f"size {k}" for k in sizes], np.where(on > 0, "1", ""))
    axes.set_title("$v_{ik}$: the copy of one size is on")


def mixture(figure: Figure, names: dict[str, Any]) -> None:
    """Labels and error of leading by so many labels of skill .8, and of the optimum."""
    axes, lead = figure.subplots(), np.arange(0, 5)
    wrong = 1.0 / (1.0 + 4.0**lead)
    axes.plot(wrong, lead / 0.6 * (1.0 - 2.0 * wrong), "o--", color=BLUE, label="lead by 0, 1, 2 …")
    result = names["result"]
    axes.plot(result.errors[0], result.cost / 1000, "s", color=ORANGE, label="the optimum, ε = .05")
    axes.set(xlabel="error", ylabel="labels a task", xlim=(0, 0.25), ylim=(0, 8))
    axes.legend(frameon=False)


def even(figure: Figure, names: dict[str, Any]) -> None:
    """Tasks in common of each two workers, and the labels of each."""
    dealt, (left, right) = names["dealt"], figure.subplots(1, 2)
    shared, who = dealt.shared.to_numpy(), WHO[: len(dealt.shared)]
    words = np.where(np.eye(len(who), dtype=bool), "", shared.astype(str))
    grid(left, shared, who, who, words)
    left.set_title("tasks in common")
    right.barh(who, dealt.loads["labels"], color=BLUE)
    right.invert_yaxis()
    right.set_title("labels to give")
    whole_ticks(right.xaxis)


PICTURES = {
    "offline_ip": assignment,
    "relaxation": assignment,
    "dual": prices,
    "typed_relaxation": counts,
    "pattern_master": patterns,
    "pricing": team_price,
    "even_teams": even,
    "error_problem": errors,
    "tangent_program": promise,
    "tilted": tilt,
    "ratings_cover": rated,
    "vector_program": vector,
    "average_limit": needed,
    "policy_master": mixture,
    "occupation_program": met,
    "fixed_size": score,
    "all_sizes": copies,
}

if __name__ == "__main__":
    for page in sorted(HERE.glob("*.md")):
        renew(page)
