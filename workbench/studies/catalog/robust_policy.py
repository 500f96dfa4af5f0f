"""draft"""
from __future__ import annotations

from workbench.studies.catalog import assignment_policies as ap
from workbench.studies.study import Block, Parameter, Params, Record
from workbench.studies.trials import Streams

RATES = ("told", "estimated")
PARAMETERS = {
    **ap.PARAMETERS,
    "rates": Parameter(
        str, "told", "whether `robust` is told L and U, or estimates them", choices=RATES, paired=True
    ),
}


def trial(params: Params, streams: Streams) -> Record:
    return ap.trial(params, streams, told_rates=params["rates"] == "told")
