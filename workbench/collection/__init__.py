"""Collecting labels (floor 4): whom to ask next, about what, and when to stop.

`pool` holds who may be asked and the record of what was, `policy` what a policy is, `belief_model`
what one asks of that by which it believes; `beliefs` what labels say of tasks and workers, `sure`
the policy that uses it, `grid_beliefs` what until-trusted believes (by
`workbench.aggregation.belief_propagation`) and `belief_warnings` what contradicts it,
`model_beliefs` what it believes where cheap models label too, and `models_first` whom it asks first
there; `groups` workers who err together, `mixed` the policy for them and for unlike prices;
`sequential_plan` that of known skills; `by_task` what ranks tasks, `fixed` and `uncertain` in two
ways, `algorithm_two` and `task_by_task` the papers' own; `simulation` and `recorded` where labels
come from in a rehearsal, `answers` the rehearsal, `honest` how wrong labels are measured to be,
`collector` the service that asks by name and is saved at any step. `POLICIES` lists the policies.
"""

from workbench.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
