"""Labels to one answer a task (floor 2): one method a file, all listed in `AGGREGATORS`.

- *By counting*: `majority`, and votes that are weighted by known skills (`weighted-linear`,
  `weighted-log-odds`).
- *By a model of the workers*, fitted to the labels alone: `dawid-skene` (a confusion matrix each),
  `dawid-skene-smoothed` (the same, with votes added), `one-coin` (one chance to be right), `bwa`
  (precisions), `glad` (tasks differ, too), `ebcc` (workers err together) and `belief-propagation`
  (the model that a collection goes by).
- *The default* is `pooled`, the mean of `dawid-skene-smoothed` and `bwa`. These two err
  differently: the mean is better than either on twelve recorded crowds, and where a model is
  carried away it stays near the majority (`pool` has the numbers). Labels that are read from disk
  a part at a time are labelled by `dawid-skene-smoothed`.
- *With gold*, tasks of known class: `choice` takes the method that they favour, `calibration` makes
  confidences honest by them, and `by_cost` answers by what errors cost.

`labelling` ties these together for the front door. `belief_propagation`, `belief_sweeps` and
`belief_choice` are the model of tasks and workers that a collection keeps up while it buys labels.

An aggregator takes `Votes` and, by keyword, a seed and its options, and returns an `Aggregate`. One
with a keyword `skill` is given each worker's skill, shape (m,), NaN where it is not known; one with
a keyword `earlier` (`posteriors.Earlier`) the classes of control tasks and an earlier fit. What it
leaves in `info` as `confidence` (n,), `skill` or `weight` (m,) and `notes` the user sees.
"""

from workbench.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
