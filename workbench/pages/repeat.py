"""The commands that run a study's trials again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.base.errors import InputError
from workbench.studies.study import SIZES, Block, Scalar, Study
from workbench.studies.study_plan import StudyPlan
from workbench.studies.trials import canonical, override

DEFAULT_STORE = "studies.sqlite"


def store_option(path: Path) -> list[str]:
    """`--store FILE`, where it is not the default one."""
    return [] if path.name == DEFAULT_STORE else ["--store", path.name]


def study_option(plans: Sequence[StudyPlan]) -> list[str]:
    """`--study FILE`, for a study of one's own."""
    own = bool(plans and plans[-1].source.digest)
    return ["--study", Path(plans[-1].source.name).name] if own else []


def run_command(plan: StudyPlan, study: Study | None, path: Path) -> str:
    """Return the command that runs the plan; a study's own file and the store by their names.

    Empty where no command line can say the sweep.
    """
    name = Path(plan.source.name).name
    words = ["workbench", "study", "run", name]
    if study is not None:
        said = _sweep_options(study, plan)
        if said is None:
            return ""
        words += said
    elif plan.size in SIZES and (sets := _sets(_common(plan.sweep))) is not None:
        words += ["--size", plan.size, *sets]
    else:
        return ""
    words += ["--repetitions", str(plan.repetitions), "--seed", str(plan.seed)]
    return shlex.join([*words, *store_option(path)])


def study_file(plan: StudyPlan) -> str:
    """Return the TOML file that asks for the plan's sweep; empty where it cannot be one.

    A file can name a study of the catalog alone, and TOML has no word for None.
    """
    values = [value for block in plan.sweep for listed in block.values() for value in listed]
    if plan.source.digest or None in values:
        return ""
    lines = [
        f"study = {_toml(plan.study)}",
        f"repetitions = {plan.repetitions}",
        f"seed = {plan.seed}",
    ]
    for block in plan.sweep:
        lines += ["", "[[sweep]]"]
        lines += [f"{name} = [{', '.join(map(_toml, listed))}]" for name, listed in block.items()]
    return "\n".join(lines)


def file_name(plan: StudyPlan) -> str:
    """Name for the plan's TOML file."""
    return f"{plan.study}.toml"


def file_command(plan: StudyPlan, path: Path) -> str:
    """Return the command that runs the plan's TOML file."""
    return shlex.join(["workbench", "study", "run", file_name(plan), *store_option(path)])


def _sweep_options(study: Study, plan: StudyPlan) -> list[str] | None:
    """`--size` and as many `--set` as make the plan's sweep of the size's."""
    # A plan made of a file's own sweep has no size: any whose blocks can be overridden will do.
    sizes = [one for one in SIZES if one == plan.size] or SIZES
    for size in sizes:
        base = study.sizes[size].sweep
        values = _changed(base, plan.sweep)
        try:
            made = override(study, base, values)
        except InputError:
            continue
        sets = _sets(values)
        if _same(made, plan.sweep) and sets is not None:
            return ["--size", size, *sets]
    return None


def _sets(values: Mapping[str, Sequence[Scalar]]) -> list[str] | None:
    """`--set` for each parameter; None where one cannot be typed."""
    texts = {name: [_text(value) for value in listed] for name, listed in values.items()}
    if not all(_can_be_typed(one) for one in texts.values()):
        return None
    return [f"--set={name}={','.join(listed)}" for name, listed in texts.items()]


def _common(sweep: Sequence[Block]) -> Mapping[str, Sequence[Scalar]]:
    """Parameters that have the same values in every block: those that `--set` may have changed."""
    return {
        name: listed
        for name, listed in sweep[0].items()
        if all(_list(block.get(name)) == _list(listed) for block in sweep)
    }


def _changed(base: Sequence[Block], sweep: Sequence[Block]) -> Mapping[str, Sequence[Scalar]]:
    """Parameters whose values differ from the size's in some block."""
    names = dict.fromkeys(name for block in sweep for name in block)
    return {
        name: sweep[0].get(name, ())
        for name in names
        if [_list(block.get(name)) for block in base] != [_list(b.get(name)) for b in sweep]
    }


def _list(values: Sequence[Scalar] | None) -> bytes:
    return canonical(None if values is None else list(values))


def _same(one: Sequence[Block], other: Sequence[Block]) -> bool:
    def plain(sweep: Sequence[Block]) -> bytes:
        return canonical(
            [{name: list(values) for name, values in block.items()} for block in sweep]
        )

    return plain(one) == plain(other)


def _text(value: Scalar) -> str:
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _can_be_typed(texts: Sequence[str]) -> bool:
    return all(text and text == text.strip() and "," not in text for text in texts)


def _toml(value: Scalar) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return str(value)
    # TOML's basic strings escape as JSON's do, but also want DEL escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
