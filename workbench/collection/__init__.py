"""Collecting labels (floor 4): whom to ask next, about what, and when to stop.

`pool` holds who may be asked and the record of what was, `policy` what a policy is; `trusted` is
the policy that decides by default, `worker_index` what it is worth to ask each worker,
`grid_beliefs` what it believes of tasks and workers (by `workbench.aggregation.belief_propagation`)
and `belief_warnings` what contradicts it, `exact_skills` what workers of known skill say,
`merged_groups` workers who are one voter, `model_beliefs` what is believed where cheap models label
too, and `models_first` whom it asks first there; `sequential_plan` that of known skills; `by_task`
what ranks tasks, `fixed` and `uncertain` in two ways, `algorithm_two` and `task_by_task` the
papers' own; `simulation` and `recorded` where labels come from in a rehearsal, `answers` the
rehearsal, `honest` how wrong labels are measured to be, `collector` the service that asks by name
and is saved at any step. `POLICIES` lists the policies.
"""

from workbench.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
