"""Collecting labels (floor 4): whom to ask next, about what, and when to stop.

`pool` holds who may be asked and the record of what was, `policy` says what a policy is, and
`POLICIES` lists them. `trusted` is the one that decides by default. Of it:

- *What is believed* of tasks and workers: `grid_beliefs`, by the model of
  `workbench.aggregation.belief_propagation`; or `model_beliefs`, where cheap models label too. With
  it: `exact_skills` (workers of known skill), `merged_groups` (groups that count as one worker),
  `copies` (workers found to copy one another), `belief_warnings` (what contradicts the belief).
- *Who is asked*, and about what: `UntilTrusted.next`, by what `worker_index` says it is worth to
  ask each worker. What is asked first: `first_block` on a budget alone, `models_first`.
- *When it ends, and what is answered*: where `UntilTrusted._wanted` finds no task that more labels
  would close (`grid_beliefs`: `hopeless`, `closed_at_floor`, `evidence_needed`); then
  `UntilTrusted.belief`, by `final_answers` and `open_tasks`.

Other policies: `sequential_plan` for known skills, `algorithm_two` and `task_by_task` of the
papers, and two that rank tasks (`by_task`), `fixed` and `uncertain`.

Where labels come from: in a rehearsal (`answers`) `simulation` and `recorded`; from people by name
through `collector`. What happens to a collection there is a list of `events`, of which `running` is
what follows. `honest` says how wrong labels are measured to be.
"""

from workbench.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
