"""Collecting labels (floor 4): whom to ask next, about what, and when to stop.

`pool` holds who may be asked and the record of what was. A `policy` reads it and decides;
`POLICIES` lists them. `trusted` is the default, and answers three questions:

- *What is believed?* A posterior of each task's class, and of what each worker is like, moved by
  every label and fitted to all of them now and then: `grid_beliefs`, by the model of
  `workbench.aggregation.belief_propagation`; or `model_beliefs`, where cheap models label too.
  With it: `exact_skills` (workers of known skill), `merged_groups` (groups that count as one
  worker), `copies` (workers found to copy one another), `belief_warnings` (what contradicts the
  belief).
- *Who is asked?* The worker who tells most for her price (`worker_index`), about the task that is
  nearest to its end (`UntilTrusted.next`). Before anybody is known: `first_block` on a budget
  alone, `models_first`, or a few workers on the same few tasks.
- *When does it end, and what is answered?* A task is closed where its answer is believed to be
  wrong with chance ε at most; one that more labels would hardly close is left open. Where no other
  is left (`UntilTrusted._wanted`), or no money, several models answer what is open
  (`final_answers`), and are believed as far as hidden tasks show (`open_tasks`).

Other policies: `rating_policy` for ratings, `sequential_plan` for known skills, `algorithm_two` and
`task_by_task` of the papers, and two that rank tasks (`by_task`), `fixed` and `uncertain`.

Where labels come from: in a rehearsal (`answers`) `simulation` and `recorded`; from people by name
through `collector`. What happens to a collection there is a list of `events`, of which `running` is
what follows. `honest` says how wrong labels are measured to be.
"""

from workbench.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
