"""From a claim and trials to what is found: numbers, the ruling that they give, the sentence.

An expression is one of pandas' (`DataFrame.eval`) over the trials that the claim is about. It may
name their columns, `rows` itself, `n` trials, another study's trials (`sampled_weights`), what was
measured before, and the functions of `VOCABULARY`. A column worked out becomes one of `rows`.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

import pandas as pd

from workbench.claims.claim import RULE, Claim, Numbers, Ruling, Word
from workbench.claims.reading import VOCABULARY, only
from workbench.studies.measures import ended_well, fill

Tables: TypeAlias = Mapping[str, pd.DataFrame]
"""A study's trials by its name: parameters, `repetition`, `status`, record fields."""


def decide(claim: Claim, tables: Tables) -> tuple[Ruling, str]:
    """Decide a claim by its studies' trials: the ruling, and the sentence with its figures.

    Raises
    ------
    NotMeasured
        There are too few of some kind.
    """
    found = numbers(claim, tables)
    if not claim.studies:
        return Ruling.NO_DATA, fill(claim.sentence, found)
    word: Word = next((word for word in RULE if found.get(word)), "holds")
    return RULE[word], fill(claim.sentence + claim.also.get(word, ""), found)


def numbers(claim: Claim, tables: Tables) -> Numbers:
    """Measure what a claim names, in the order of the file; the words of the rule come last."""
    studies = [ended_well(tables[study]).infer_objects() for study in claim.studies]
    names = [study.replace("-", "_") for study in claim.studies]
    known: dict[str, Any] = dict(zip(names, studies, strict=True))
    if claim.where:
        studies[0] = only(studies[0], claim.least, **claim.where).infer_objects()
    if studies:
        known |= {"rows": studies[0], "n": len(studies[0])}
    if claim.measure:
        module = importlib.import_module(f"workbench.claims.{claim.paper}")
        known |= getattr(module, claim.measure)(*studies, **claim.options)
    rows = known.get("rows", pd.DataFrame())
    for name, expression in (*claim.measured.items(), *claim.rule.items()):
        columns = {word: rows[word] for word in re.findall(r"\w+", expression) if word in rows}
        scope = [known, columns, VOCABULARY]
        value = pd.eval(expression, engine="python", resolvers=scope, local_dict={}, global_dict={})
        if isinstance(value, pd.Series) and value.index.equals(rows.index):
            known["rows"] = rows = rows.assign(**{name: value})
        known[name] = value
    return known
