"""The studies that come with the workbench: one module a published experiment.

Each module defines `STUDY`. They are imported when asked for: listing names costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.registry import Entry, Registry, imported

if TYPE_CHECKING:
    from workbench.studies.study import Study

TITLES = (
    ("adaptive-figure-1", "Uniform tasks with one or two worker types"),
    ("adaptive-figure-2", "Heterogeneous tasks: k task types, k worker types"),
    ("assignment-policies", "Online assignment policies beside the proven bound"),
    ("robust-policy", "One policy beside the best of five in every setting"),
    ("bad-instances", "A search for instances on which online assignment does badly"),
    ("competitive-ratio", "Competitive ratio of the adaptive assignment"),
    ("correction-ablation", "The ε′ correction: none, the paper's t, one's own"),
    ("exact-at-size", "The integer program at the paper's size"),
    ("exact-heuristic", "The integer program and its heuristics"),
    ("exact-options", "Solver options and formulations of the integer program"),
    ("weighted-vote", "A weighted vote's error beside Lemma 1"),
    ("gold-estimates", "Skill and quality estimated from gold tasks"),
    ("ladder", "One promise, five prices"),
    ("offline-assignment", "The Primal Approximation with the optimal dual"),
    ("sampled-weights", "Task weights from a sample, skills known"),
    ("toy-example", "Three perfect workers judged too low"),
    ("estimated-skills", "The approximated program, skills off by at most t"),
    ("main-algorithm", "The Main Algorithm beside Theorem 5"),
    ("made-gold", "Gold tasks made of many workers' labels"),
    ("sample-size", "Theorem 5 where its sample is smaller than its proof needs"),
    ("structured-tasks", "Tasks of their own easiness, workers of one ability"),
    ("selection-figure-1", "Selected workers against the budget"),
    ("selection-figure-2", "Selected workers against control questions and crowd"),
    ("selection-scores", "Scores of sets of workers"),
    ("selection-bound", "A hunt for votes beyond Theorem 1's bound"),
    ("selection-exact", "Exact selection beside the algorithm and heuristics"),
    ("selection-sweep", "Selected against plug-in over crowds"),
    ("selection-crowds", "Selected workers of recorded crowds"),
    ("selection-defaults", "The default of select against every other rule"),
    ("selection-remarks", "Remarks on scores, weights and crowds"),
    ("learn-regret", "Regret of online worker selection over time"),
    ("learn-average", "Average reward of online worker selection"),
    ("learn-growth", "Growth of the regret up to a million tasks"),
    ("learn-exploration", "How much to explore, vetting, and delay"),
    ("learn-theory", "The theorems and lemmas of online worker selection, computed"),
    ("learn-contexts", "Workers whose skills depend on the kind of task"),
    ("learn-policies", "LS_OL beside other policies without ground truth"),
    ("learn-beyond", "A learner that uses every label bought, beside LS_OL"),
    ("learn-crowds", "Online worker selection on recorded crowds"),
    ("aggregation", "Votes to labels on recorded crowds"),
    ("calibration", "Predicted, measured and actual error on recorded crowds"),
    ("collect-simulated", "Label until sure on simulated crowds"),
    ("collect-recorded", "Policies that look at labels, on recorded crowds"),
    ("leaderboard", "Every method on every recorded crowd"),
    ("online-optimum", "The best online policy, exactly"),
    ("minimax", "No online algorithm does better"),
)
"""Name and title of each study."""

PAPERS = {
    "selection": "Li, Liu (2015)",
    "learn": "Liu, Liu (2015)",
    "aggregation": "Li, Rubinstein, Cohn (2019)",
    "calibration": "beyond the papers",
    "collect": "beyond the papers",
    "leaderboard": "beyond the papers",
    "online": "beyond the papers",
    "minimax": "Yao (1977)",
}
"""Where a study comes from, by the first word of its name; the others: `ADAPTIVE`."""
ADAPTIVE = "Ho, Jabbari, Vaughan (2013)"

STUDIES: Registry[Study] = Registry(
    "study",
    *(
        Entry(
            name,
            imported(f"{__name__}.{name.replace('-', '_')}:STUDY"),
            title,
            PAPERS.get(name.partition("-")[0], ADAPTIVE),
        )
        for name, title in TITLES
    ),
)
"""Each study by name: `STUDIES["toy-example"].call`."""
