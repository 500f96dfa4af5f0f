"""The studies that come with the workbench: one module a published experiment.

Each module defines `STUDY`. They are imported when asked for: listing names costs nothing.
"""

MODULES: dict[str, str] = {
    "adaptive-figure-1": "adaptive_figure_1",
    "adaptive-figure-2": "adaptive_figure_2",
    "assignment-policies": "assignment_policies",
    "bad-instances": "bad_instances",
    "competitive-ratio": "competitive_ratio",
    "correction-ablation": "correction_ablation",
    "exact-at-size": "exact_at_size",
    "exact-heuristic": "exact_heuristic",
    "weighted-vote": "weighted_vote",
    "gold-estimates": "gold_estimates",
    "offline-assignment": "offline_assignment",
    "sampled-weights": "sampled_weights",
    "toy-example": "toy_example",
    "estimated-skills": "estimated_skills",
    "main-algorithm": "main_algorithm",
    "structured-tasks": "structured_tasks",
    "selection-figure-1": "selection_figure_1",
    "selection-figure-2": "selection_figure_2",
    "selection-scores": "selection_scores",
    "selection-bound": "selection_bound",
    "selection-exact": "selection_exact",
    "selection-sweep": "selection_sweep",
    "selection-crowds": "selection_crowds",
    "learn-regret": "learn_regret",
    "learn-average": "learn_average",
    "learn-growth": "learn_growth",
    "learn-exploration": "learn_exploration",
    "learn-theory": "learn_theory",
    "learn-contexts": "learn_contexts",
    "learn-policies": "learn_policies",
    "learn-crowds": "learn_crowds",
}
"""Module of each study, by name."""
