"""The commands that run a study's trials again."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from workbench.base.errors import InputError
from workbench.studies.study import SIZES, Block, Scalar, Study
from workbench.studies.study_plan import StudyPlan
from workbench.studies.trial_streams import canonical
from workbench.studies.trials import override

DEFAULT_STORE = "studies.sqlite"


def store_option(path: Path) -> list[str]:
    """`--store FILE`, where it is not the default one."""
    return [] if path.name == DEFAULT_STORE else ["--store", path.name]


def study_option(plans: Sequence[StudyPlan]) -> list[str]:
    """`--study FILE`, for a study of one's own."""
    own = bool(plans and plans[-1].source.digest)
    return ["--study", Path(plans[-1].source.name).name] if own else []


def plugin_options(plans: Sequence[StudyPlan], files: Iterable[str]) -> list[str]:
    """`--plugin FILE` for each of the user's own files that is not the study's."""
    own = {Path(plan.source.name).name for plan in plans}
    return [word for name in files if name not in own for word in ("--plugin", name)]


def run_command(
    plan: StudyPlan, study: Study | None, path: Path, plugins: Sequence[str] = ()
) -> str:
    """Return the command that runs the plan; a study's own file and the store by their names.

    Empty where no command line can say the sweep.
    """
    name = Path(plan.source.name).name
    words = ["workbench", "study", "run", name]
    if study is not None:
        options = _sweep_options(study, plan)
        if options is None:
            return ""
        words += options
    elif plan.size in SIZES and (sets := _sets(_common(plan.sweep))) is not None:
        words += ["--size", plan.size, *sets]
    else:
        return ""
    words += ["--repetitions", str(plan.repetitions), "--seed", str(plan.seed)]
    return shlex.join([*words, *store_option(path), *plugins])


def _sweep_options(study: Study, plan: StudyPlan) -> list[str] | None:
    """`--size` and as many `--set` as make the plan's sweep of the size's."""
    # A plan stored by 1.0 may be of a file's own sweep: any size that can be overridden will do.
    sizes = [name for name in SIZES if name == plan.size] or SIZES
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
    if not all(_can_be_typed(listed) for listed in texts.values()):
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


def _same(first: Sequence[Block], second: Sequence[Block]) -> bool:
    def plain(sweep: Sequence[Block]) -> bytes:
        return canonical(
            [{name: list(values) for name, values in block.items()} for block in sweep]
        )

    return plain(first) == plain(second)


def _text(value: Scalar) -> str:
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _can_be_typed(texts: Sequence[str]) -> bool:
    return all(text and text == text.strip() and "," not in text for text in texts)
