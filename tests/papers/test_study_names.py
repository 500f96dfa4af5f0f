"""Names that are part of a trial's key, and of what others cite: they are never renamed."""

from __future__ import annotations

import json
from pathlib import Path

from workbench.studies.catalog import claims, studies

KEPT = json.loads(Path(__file__).with_name("kept_names.json").read_text("utf-8"))
"""Claims, and parameters and record fields of each study."""


def test_studies_take_the_parameters_that_they_took():
    for name, parameters in KEPT["studies"].items():
        assert set(parameters) <= studies()[name].call.parameters.keys(), name


def test_no_claim_is_lost():
    assert set(KEPT["claims"]) <= {claim.id for claim in claims()}
