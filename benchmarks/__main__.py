"""`python -m benchmarks`: speed and memory, each figure beside what it is compared with."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import InputError
from workbench.base.text import strict_json, table
from workbench.cli import options
from workbench.cli.app import leave
from workbench.cli.output import emit, folder, working, write_files
from workbench.cli.streams import show

if TYPE_CHECKING:
    from benchmarks import BenchSize


@options.command("python -m benchmarks --rows typed,start-up --out bench.json")
@options.flag("--smoke", "Tiny sizes: shows that every row runs, no more.")
@click.option("--rows", metavar="NAME,…", default="", help="Rows to measure; all by default.")
@options.whole("--repeats", "How often each side runs.  [default: 5]", least=1, most=1000)
@options.flag(
    "--growth",
    "Time and memory against tasks, workers and types instead; an --out that holds some points "
    "already is gone on with, and a picture is put beside it (.png).",
)
@click.option(
    "--instances",
    metavar="[FOLDER]",
    is_flag=False,
    flag_value="models/problems",
    help="Solvers side by side on the public instances instead (of which --rows names some); an "
    "--out is gone on with, and tables (.md) and pictures (.png) are put beside it.",
)
@click.option("--solvers", metavar="NAME,…", default="", help="Of --instances; all by default.")
@options.seconds("Seconds for each solver on each of the --instances.  [default: 20]")
@options.flag("--update", "Enter what is better, and check.py passes, into the index.")
@options.folder(
    "Folder for the proofs of the --instances on record (.proof.json, .sol, .vipr) instead of "
    "running solvers, and what each checker says; VIPRCHK names the one for .vipr.",
    "--proofs",
)
@options.path(
    "--out",
    "Write everything (.json), after each row; one that holds some rows already is gone on with.",
    ".json",
)
def command(
    smoke: bool,
    rows: str,
    repeats: int | None,
    growth: bool,
    instances: str | None,
    solvers: str,
    time_limit: float | None,
    update: bool,
    proofs: Path | None,
    out: Path | None,
    seed: int,
    as_json: bool,
) -> None:
    """Measure the workbench beside what it is compared with.

    Both sides run in turn; the ratio is the median over pairs, with the least and the most.
    Targets are not judged at --smoke sizes.
    """
    from benchmarks import SMOKE, BenchSize

    if instances is not None:
        if smoke or growth or repeats is not None:
            raise InputError(
                "--instances are run once, as they are: no --smoke, --growth, --repeats"
            )
        if proofs is not None:
            if solvers or update or time_limit is not None:
                raise InputError("--proofs runs no solver: no --solvers, --time-limit, --update")
            result = _proofs(instances, _names(rows), proofs, out)
        else:
            limit = time_limit
            result = _instances(instances, _names(rows), _names(solvers), limit, update, out, seed)
        emit(result[0]) if as_json else show(result[1])
        return
    if solvers or update or time_limit is not None or proofs is not None:
        raise InputError(
            "--solvers, --time-limit, --update and --proofs are of --instances: give that too"
        )
    if growth:
        if rows or repeats is not None:
            raise InputError("--growth measures no --rows, and each point by itself: no --repeats")
        _growth(smoke, out, seed, as_json)
        return
    size = replace(SMOKE if smoke else BenchSize(), seed=seed)
    size = replace(size, repeats=repeats or size.repeats)
    _rows(_names(rows), size, out, judge=not smoke, as_json=as_json)


def _rows(
    names: tuple[str, ...], size: BenchSize, out: Path | None, *, judge: bool, as_json: bool
) -> None:
    """Measure what is not in the file yet, writing it anew after each row."""
    from benchmarks import bench, chosen, read_results, report, text

    selected = chosen(names)
    results = [] if out is None else read_results(out, size)
    there = {result.name for result in results}
    for k, row in enumerate(selected, start=1):
        if row.name in there:
            continue
        with working(f"{k}/{len(selected)} {row.name}"):
            results += bench((row.name,), size, judge=judge)
        if out is not None:
            write_files({out: strict_json(report(results, size)) + "\n"})
    payload = report(results, size)
    emit(payload) if as_json else show(text(results, payload))


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _instances(
    folder: str,
    names: tuple[str, ...],
    solvers: tuple[str, ...],
    seconds: float | None,
    update: bool,
    out: Path | None,
    seed: int,
) -> tuple[dict[str, Any], str]:
    """Run what is not in the file yet, writing it anew after each run."""
    from benchmarks import instances as bench
    from benchmarks import report_about

    unknown = set(solvers) - set(bench.SOLVERS)
    if unknown:
        raise InputError(f"no solver {min(unknown)!r}: there are {', '.join(bench.SOLVERS)}")
    there = bench.InstanceSet(folder)
    runs = [] if out is None else bench.read_runs(out)
    asked = there.chosen(names), solvers or bench.SOLVERS, seconds or bench.SECONDS
    with working(f"instances, {len(runs)} runs known") as tell:
        for run in bench.run_instances(there, *asked, list(runs), update=update, seed=seed):
            runs.append(run)
            tell(f"{run.name}, {run.solver}: {run.value} {run.note}")
            payload = {**report_about(), "runs": [asdict(run) for run in runs]}
            if out is not None:
                write_files({out: strict_json(payload) + "\n"})
    best = {name: float(row["best"]) for name, row in there.rows.items()}
    payload = {**report_about(), "best": best, "runs": [asdict(run) for run in runs]}
    if not runs:
        return payload, "nothing was run"
    tables = bench.instance_tables(runs, there.rows)
    if out is not None:
        pictures = bench.instance_pictures(runs, there.rows)
        write_files(
            {out.with_suffix(".md"): bench.as_markdown(tables)}
            | {out.with_name(f"{out.stem}-{kind}.png"): png for kind, png in pictures.items()}
        )
    return payload, "\n\n".join(table(lines[0], lines[1:]) for lines in tables)


def _proofs(
    instances: str, names: tuple[str, ...], proofs: Path, out: Path | None
) -> tuple[dict[str, Any], str]:
    """Write proofs of the instances, and what each checker said of them."""
    from benchmarks import instances as bench
    from benchmarks.instance_proofs import HEAD, write_proofs

    there = bench.InstanceSet(instances)
    folder(proofs, "--proofs")
    checked = []
    with working("proofs of instances") as tell:
        for instance in write_proofs(there, there.chosen(names), proofs):
            checked.append(instance)
            tell(f"{instance.name}: {instance.plain}, VIPR {instance.others}")
    payload = {"instances": [asdict(instance) for instance in checked]}
    lines = [instance.cells for instance in checked]
    if out is not None:
        files: dict[Path, str | bytes] = {out: strict_json(payload) + "\n"}
        files[out.with_suffix(".md")] = bench.as_markdown([[HEAD, *lines]])
        write_files(files)
    return payload, table(HEAD, lines)


def _growth(smoke: bool, out: Path | None, seed: int, as_json: bool) -> None:
    """Measure what is not in the file yet, writing it anew after each point."""
    from benchmarks import report_about
    from benchmarks.growth import grow, lines, payload, picture, read_points, text

    points = [] if out is None else read_points(out, seed=seed, smoke=smoke)
    about = report_about()
    with working(f"growth, {len(points)} points known") as tell:
        for point in grow(lines(smoke), points, seed=seed):
            points.append(point)
            if out is not None:
                content = strict_json(payload(points, about, seed=seed, smoke=smoke))
                write_files({out: content + "\n"})
            tell(f"{point.what}, {point.along} {point.size}")
    if out is not None:
        write_files({out.with_suffix(".png"): picture(points, about)})
    emit(payload(points, about, seed=seed, smoke=smoke)) if as_json else show(text(points))


if __name__ == "__main__":
    leave(partial(command.main, prog_name="python -m benchmarks", standalone_mode=False))
