"""The page: gathers what a store knows of each study, and fills the template."""

from __future__ import annotations

import contextlib
import re
import shlex
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, ParamSpec, TypeAlias, TypeVar

import pandas as pd

from workbench.base.errors import InputError
from workbench.pages import numbers, provenance, repeat
from workbench.studies.default_analysis import conclude
from workbench.studies.own import digests
from workbench.studies.source import Source, check_named
from workbench.studies.store import Store
from workbench.studies.study import Analysis, Block, Chart, Scalar, Study
from workbench.studies.study_plan import StudyPlan

P = ParamSpec("P")
T = TypeVar("T")

MOST_ROWS = 500
"""A longer table is cut; `export` gives all of it."""


Part: TypeAlias = dict[str, Any]
"""What the template knows of a study, a plan, a table or a figure, by name."""


@dataclass(frozen=True)
class Page:
    """A page, and what is to be known of it.

    Attributes
    ----------
    html
        The page. The same store gives the same page.
    notes
        What could not be had, and what on it is not of today's code; a line each.
    """

    html: str
    notes: tuple[str, ...] = ()


def report(store: Store, studies: Sequence[str] | None = None, code: Sequence[Source] = ()) -> Page:
    """Write one self-contained HTML page of the studies in a store.

    An analysis or a figure that fails becomes a note of what went wrong, in its place; the rest
    of the page is made all the same.

    Parameters
    ----------
    store
        Open store.
    studies
        Names, in the order wanted; all where None.
    code
        Files of studies of one's own: no other is run, whatever the store says.

    Raises
    ------
    InputError
        For a study that the store does not know, or code that made no trials in it.
    """
    check_named(code, (plan.study for plan in store.plans()), store.path)
    versions = store.studies()
    names = list(versions) if studies is None else list(dict.fromkeys(studies))
    for name in names:
        if name not in versions:
            listed = ", ".join(versions) or "none yet"
            raise InputError(f"{store.path}: has no study {name!r}, its studies: {listed}")
    sections = [_section(store, name, versions[name], code) for name in names]
    notes = tuple(f"{part['name']}: {line}" for part in sections for line in _notes(part))
    return Page(_fill(store.path, sections), notes)


def _notes(section: Part) -> Iterator[str]:
    """Say what of a section its reader should know at once."""
    for trouble in section["troubles"]:
        yield f"{trouble['what']} could not be had: {trouble['why']}"
    if section["edited"]:
        yield section["edited"]
    if section["other"]:
        trials = numbers.count(section["other"], "trial")
        are = "is" if section["other"] == 1 else "are"
        yield f"{trials} on the page {are} of other code of the study than today's: run it again"


def _fill(path: Path, sections: Sequence[Part]) -> str:
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = files("workbench.pages").joinpath("template.html").read_text(encoding="utf-8")
    page = environment.from_string(template).render(
        store=path.name,
        sections=sections,
        count=numbers.count,
        percent=lambda share: f"{100 * share:.1f} %" if share >= 0.001 else "under 0.1 %",
    )
    # What cannot be written as UTF-8 (half a surrogate pair in a message) is escaped.
    return page.encode("utf-8", "backslashreplace").decode()


def _section(store: Store, name: str, versions: set[int], code: Sequence[Source]) -> Part:
    plans = [plan for plan in store.plans() if plan.study == name]
    troubles: list[Part] = []
    study = _try("The study's code", troubles, _load, name, plans, code)
    version = study.version if study and study.version in versions else max(versions)
    if study and study.version != version:
        why = f"the code is of version {study.version}, the records of version {version}"
        troubles.append({"what": "The study's code", "why": why})
        study = None
    plans = [plan for plan in plans if plan.version == version]
    table = store.table(name, version)
    ended = set(table["key"])
    plugins = repeat.plugin_options(plans, store.files_of(name, version))
    asked, planned = _asked(plans, study, ended, store.path, plugins)
    params = _parameters(table, plans)
    analysis = Analysis()
    if study is not None and len(table):
        analysis = _try("The analysis", troubles, conclude, study, table) or Analysis()
    tables = [
        _try(f"Table “{caption}”", troubles, _table, f"{name}-table-{at}", caption, frame)
        for at, (caption, frame) in enumerate(analysis.tables.items(), start=1)
    ]
    figures = [
        _try(f"Figure “{chart.name}”", troubles, _figure, f"{name}-figure-{at}", chart)
        for at, chart in enumerate(analysis.charts, start=1)
    ]
    checkout, packages = _install(table)
    own = [*repeat.study_option(plans), *plugins]
    done = len(ended if planned is None else planned & ended)
    failures = provenance.failures(table, params)
    failed = sum(failure.count for failure in failures)
    return {
        "name": name,
        "version": version,
        "title": study.title if study else "",
        "source": study.source if study else "",
        "code": _code(plans),
        "edited": _edited(name, plans, code),
        "run": f"workbench study run {_file(plans) or name}",
        "ended": done,
        "progress": _progress(done, planned, failed),
        "unfinished": planned is not None and done < len(planned),
        "failed": failed,
        "extra": 0 if planned is None else len(ended - planned),
        "other_versions": sorted(versions - {version}),
        **_made_by(store, name, version, plans, code),
        "asked": asked,
        "parameters": _fixed(study, plans),
        "findings": [str(finding) for finding in analysis.findings],
        "tables": [part for part in tables if part is not None],
        "figures": [part for part in figures if part is not None],
        "troubles": troubles,
        "failures": failures,
        "effort": provenance.effort(table) if len(table) else [],
        "environment": provenance.environment(table),
        "checkout": checkout,
        "packages": packages,
        "again": [
            shlex.join(["workbench", "study", *words, *repeat.store_option(store.path), *own])
            for words in (["verify"], ["report", name])
        ],
    }


def _progress(ended: int, planned: set[str] | None, failed: int) -> str:
    """How far a study has come, in one sentence."""
    if planned is None:
        state = f"{numbers.count(ended, 'trial')} ended; how many were planned is unknown"
    elif ended < len(planned):
        state = f"{ended:,} of {numbers.count(len(planned), 'trial')} so far"
    else:
        state = f"{numbers.count(ended, 'trial')}, all that were planned"
    troubles = f"{failed:,} failed" if failed else "none failed"
    return f"{state}, {troubles}." if ended else f"{state}."


def _try(
    what: str, troubles: list[Part], make: Callable[P, T], *args: P.args, **keywords: P.kwargs
) -> T | None:
    """Make something; whatever goes wrong is reported on the page and stops nothing else."""
    try:
        return make(*args, **keywords)
    except InputError as error:
        troubles.append({"what": what, "why": str(error)})
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}, line {last.lineno}"
        troubles.append({"what": what, "why": f"{type(error).__name__}: {error} ({where})"})
    return None


def _load(name: str, plans: Sequence[StudyPlan], code: Sequence[Source]) -> Study:
    """Load the code of the latest plan, or of the catalog where there is no plan."""
    return (plans[-1].source.allowed(name, code) if plans else Source(name)).load()


def _asked(
    plans: Sequence[StudyPlan],
    study: Study | None,
    ended: set[str],
    path: Path,
    plugins: Sequence[str],
) -> tuple[list[Part], set[str] | None]:
    """Tell how far each plan has come, and which trials all of them plan."""
    asked: list[Part] = []
    whole: set[str] = set()
    for plan in plans:
        keys = {trial.key for trial in plan.trials()}
        whole |= keys
        asked.append(
            {
                "size": plan.size,
                "repetitions": plan.repetitions,
                "seed": plan.seed,
                "blocks": list(dict.fromkeys(map(_block, plan.sweep))),
                "planned": len(keys),
                "ended": len(ended & keys),
                "command": repeat.run_command(plan, study, path, plugins),
            }
        )
    return asked, whole if plans else None


def _block(block: Block) -> str:
    return "; ".join(f"{name} = {', '.join(map(_value, listed))}" for name, listed in block.items())


def _value(value: Scalar) -> str:
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:.12g}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _parameters(table: pd.DataFrame, plans: Sequence[StudyPlan]) -> list[str]:
    """Parameters that were swept, as far as the table has them."""
    swept = dict.fromkeys(name for plan in plans for block in plan.sweep for name in block)
    return [name for name in swept if name in table]


def _made_by(
    store: Store, name: str, version: int, plans: Sequence[StudyPlan], code: Sequence[Source]
) -> Part:
    """How many trials another workbench has made, and how many other code of the user's own.

    Where plugins and files of studies are not at hand, today's is what made the last trial.
    """
    source = plans[-1].source if plans else Source(name)
    with contextlib.suppress(InputError):
        source = source.allowed(name, code).gathered()
    rows = store.rows(name, version)[-1:]
    last = [store.environments[row.environment].own for row in rows]
    older, other = store.unlike(name, version, {**dict(*last), **digests(source.beside)})
    return {"older": len(older), "other": len(other)}


def _fixed(study: Study | None, plans: Sequence[StudyPlan]) -> tuple[tuple[str, str, str], ...]:
    """All parameters: name, value where no plan swept it, meaning."""
    if study is None:
        return ()
    swept = {name for plan in plans for block in plan.sweep for name in block}
    return tuple(
        (name, "swept" if name in swept else _value(parameter.default), parameter.help)
        for name, parameter in study.parameters.items()
    )


def _code(plans: Sequence[StudyPlan]) -> str:
    """Name the user's own file; empty for a study of the catalog."""
    return f"{_file(plans)}, SHA-256 {plans[-1].source.digest[:16]}" if _file(plans) else ""


def _edited(name: str, plans: Sequence[StudyPlan], code: Sequence[Source]) -> str:
    """Say that the file that analyses is another than the one last run; empty where it is not."""
    if not _file(plans):
        return ""
    try:
        today = plans[-1].source.allowed(name, code)
    except InputError:
        return ""
    if today.digest == plans[-1].source.digest:
        return ""
    return (
        f"findings and figures are by {Path(today.name).name} as it is today, SHA-256 "
        f"{today.digest[:16]}; its trials were run with another version, SHA-256 "
        f"{plans[-1].source.digest[:16]}"
    )


def _file(plans: Sequence[StudyPlan]) -> str:
    """Name of the file of a study of the user's own; empty for one of the catalog."""
    own = plans and plans[-1].source.digest
    return Path(plans[-1].source.name).name if own else ""


def _install(table: pd.DataFrame) -> tuple[str, str]:
    """Commands that bring back commit and packages, where all trials had the same."""

    def only(name: str) -> str:
        values = set(table[name]) if name in table else set()
        return str(values.pop()) if len(values) == 1 else ""

    commit = only("environment.commit").removesuffix("-dirty")
    names = ("numpy", "pandas", "pyomo", "highspy")
    pins = [f"{name}=={only(f'environment.{name}')}" for name in names]
    packages = " ".join(pin for pin in pins if not pin.endswith("=="))
    return f"git checkout {commit}" if commit else "", packages


def _table(id_: str, caption: str, frame: pd.DataFrame) -> Part:
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"its type is {type(frame).__name__}: give a DataFrame")
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()
    shown = frame.head(MOST_ROWS)
    cells, columns = [], []
    for at, name in enumerate(shown.columns):
        texts, numeric = numbers.column(shown.iloc[:, at])
        cells.append(texts)
        columns.append((str(name).replace("_", " "), numeric))
    rows = list(zip(*cells, strict=True))
    left_out = len(frame) - len(shown)
    return {
        "id": id_,
        "caption": str(caption),
        "columns": columns,
        "rows": rows,
        "left_out": left_out,
    }


def _figure(id_: str, chart: Chart) -> Part:
    from markupsafe import Markup

    from workbench.plots import as_svg
    from workbench.plots import chart as draw

    svg = as_svg(draw(chart))
    points = re.search(r'<svg[^>]*\bwidth="([\d.]+)pt"', svg)
    width = round(float(points[1]) / 72 * 96) if points else 640
    drawn = (
        chart.panel,
        chart.series,
        chart.x,
        chart.x_low,
        chart.x_high,
        chart.y,
        chart.low,
        chart.high,
    )
    used = list(dict.fromkeys(name for name in drawn if name is not None))
    data = _table(
        id_, f"Numbers of the figure “{chart.name}”", chart.data[used].reset_index(drop=True)
    )
    # Drawn by our own plots, which escape the text in it.
    return {"caption": chart.caption, "svg": Markup(svg), "width": width, "data": data}
