"""Every way to label, hire, learn and collect against the others on recorded crowds (floor 5).

`methods` tries one method on one crowd, `leaderboard` is the study of these, and `whole_crowds`
that of aggregators on all labels of a crowd. `recorded_crowds` has the crowds as arrays,
`collecting` replays a policy on one, `peer_aggregators` are those of other packages, and
`benchopt_files` writes and reads files for benchopt.
"""

from workbench.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
