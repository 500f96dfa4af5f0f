"""Crowd workbench: whom to hire, which tasks each gets, and how wrong the result will be.

The rooms, from the ground floor up (imports point downward only): `models` and
`workbench.crowd`; `workbench.solving` and `workbench.aggregate`; `workbench.assign`;
`workbench.compare`; `workbench.plots`; `workbench.cli`.
"""

__version__ = "0.1.0"
