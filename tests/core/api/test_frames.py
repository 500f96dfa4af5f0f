"""Frames of any library at the front door: what pandas gives, the others give."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pandas as pd
import pytest

import workbench as wb
from workbench.crowd.libraries import keyed, to_pandas

pl = pytest.importorskip("polars", reason="polars, whose frames are handed in, is not installed")
pa = pytest.importorskip("pyarrow", reason="pyarrow, whose tables are handed in, is not installed")

LIBRARIES = {
    "polars": pl.DataFrame,
    "polars, lazy": pl.LazyFrame,
    "pyarrow": pa.table,
}


def columns(frame):
    """A pandas frame as a dict of lists, its index as columns."""
    if isinstance(frame, pd.Series) or frame.index.name is not None:
        frame = frame.reset_index()
    return {str(name): cells.tolist() for name, cells in frame.items()}


class Crowd:
    """What front-door functions take, each a frame of one library."""

    def __init__(self, labels, gold, make):
        workers = labels["worker"].unique().tolist()
        self.make, self.names = make, workers
        self.labels, self.gold = make(columns(labels)), make(columns(gold))
        self.costs = make({"worker": workers, "cost": [1.0, 2.0] * (len(workers) // 2)})
        self.capacity = make({"worker": workers, "capacity": [30] * len(workers)})
        self.groups = make({"worker": workers[:2], "group": ["a", "a"]})
        self.skills = make({"worker": workers, "skill": [0.6 + 0.04 * j for j in range(8)]})
        self.workers = make({"worker": workers[:4]})
        self.plan = make(
            {"task": ["q1", "q1"], "worker": workers[1:3], "weight": [1.0, 0.5]},
        )
        self.have = make({"task": ["x0"], "worker": ["w3"], "label": ["y"]})
        tasks = [f"x{i}" for i in range(6)]
        self.tasks = make({"task": tasks, "task_type": ["all"] * 6})
        pairs = [(task, worker) for task in tasks for worker in workers]
        task, worker = map(list, zip(*pairs, strict=True))
        self.availability = make({"task": task, "worker": worker})
        kinds = sorted(labels["task"].unique())
        self.kinds = make({"task": kinds, "task_type": ["ab"[i % 2] for i in range(len(kinds))]})
        said = ["y" if i % 3 else "n" for i in range(len(kinds))]
        sure = [0.6 + 0.01 * (i % 40) for i in range(len(kinds))]
        self.answers = make({"task": kinds, "label": said, "confidence": sure})


def rehearsed(crowd):
    """What a collector says after some steps, told by frames."""
    make = crowd.make
    collector = wb.Collector(
        crowd.tasks,
        crowd.workers,
        gold=make({"task": ["g1", "g2"], "label": ["n", "y"]}),
        hidden=make({"task": ["x4", "x5"], "label": ["n", "y"]}),
        epsilon=0.05,
        people=wb.People(
            capacity=make({"worker": crowd.names[:4], "capacity": [5] * 4}),
            costs=make({"worker": crowd.names[:4], "cost": [1.0] * 4}),
            skills=make({"worker": crowd.names[:1], "skill": [0.9]}),
            available=make({"task": ["x0", "x1", "x2", "x4"], "worker": crowd.names[:4]}),
            have=crowd.have,
        ),
    )
    for worker in crowd.names[:3]:
        asked = [question.task for question in collector.next(worker, 2)]
        collector.tell(worker, make({"task": asked, "label": ["y"] * len(asked)}))
    collector.add(make({"task": ["x8", "x9"]}))
    collector.record(make({"task": ["x8"], "worker": crowd.names[:1], "label": ["n"]}))
    collector.change(costs=make({"worker": crowd.names[:1], "cost": [2.0]}))
    labels = collector.labels().drop(columns="time")  # of each call another
    return collector.answers(), labels, collector.status()


def by_algorithm_2(crowd):
    """What a collection by Algorithm 2 asks of workers with prices of their own, and says."""
    make = crowd.make
    gold = {"task": ["g1", "g2"], "label": [0, 1], "task_type": ["all", "all"]}
    options = {"workers": 3, "preliminary": 2, "gold_per_type": 1}
    collector = wb.Collector(
        crowd.tasks, 10, gold=make(gold), epsilon=0.3, policy=("algorithm-2", options)
    )
    asked = []
    for worker in ("ann", "bob", "cy"):
        collector.join(worker, 4, costs=make({"task_type": ["all"], "cost": [1.0]}))
        while questions := collector.next(worker):
            asked.append(questions)
            tasks = [question.task for question in questions]
            collector.tell(worker, make({"task": tasks, "label": [1] * len(tasks)}))
    assert asked
    return asked, collector.answers()


def audited(crowd):
    """What an audit of a frame of answers asks, and what it proves."""
    audit = wb.audit(crowd.answers, error=0.4, seed=3)
    asked = audit.next(5)
    audit.tell_all(dict.fromkeys(asked, "y"))
    return asked, audit.summary(), audit.to_frame()


CALLS = {
    "aggregate": lambda x: wb.aggregate(x.labels, truth=x.gold),
    "aggregate, weighted": lambda x: wb.aggregate(
        x.labels, method="weighted-linear", gold=x.gold, workers=x.workers
    ),
    "aggregate, a plan": lambda x: wb.aggregate(x.labels, plan=x.plan),
    "hire": lambda x: wb.hire(x.labels, x.gold, budget=3, rule="selected"),
    "hire, costs": lambda x: wb.hire(x.labels, x.gold, budget=3, costs=x.costs, money=4),
    "plan, skills": lambda x: wb.plan(
        tasks=x.make({"task": ["x0", "x1"]}), skills=x.skills, epsilon=0.3, capacity=x.capacity
    ),
    "plan, labels": lambda x: wb.plan(
        x.labels,
        x.gold,
        x.tasks,
        epsilon=0.3,
        capacity=x.capacity,
        costs=x.costs,
        limits=wb.TaskLimits(availability=x.availability, have=x.have),
    ),
    "learn": lambda x: wb.learn(x.labels, x.gold),
    "collect": lambda x: wb.collect(
        x.labels,
        x.gold,
        total=60,
        policy="until-trusted",
        people=wb.People(
            capacity=x.capacity,
            costs=x.costs,
            groups=x.groups,
            have=x.make({"task": ["q0"], "worker": ["w1"], "label": ["n"]}),
        ),
    ),
    "compare": lambda x: wb.compare(
        x.labels, x.gold, epsilon=0.4, task_types=x.kinds, costs=x.costs, capacity=x.capacity
    ),
    "check": lambda x: wb.check(x.labels, x.gold),
    "convert": lambda x: wb.convert(x.labels, "labels", gold=x.gold).content,
    "ladder": lambda x: wb.ladder(
        skills=x.skills, tasks=5, capacity=x.capacity, costs=x.costs, epsilon=0.3, trials=2
    ),
    "read_labels": lambda x: wb.read_labels(x.labels),
    "read_gold": lambda x: wb.read_gold(x.gold, x.labels),
    "plan_audit": lambda x: wb.plan_audit(x.answers, runs=2, gold=x.gold),
    "audit": audited,
    "Collector": rehearsed,
    "Collector, algorithm-2": by_algorithm_2,
}


DEAR = {"compare", "hire, costs", "learn", "plan, labels", "plan_audit"}
TAKES_FRAMES = re.compile(r"Table|Truth|PerWorker|PerTask|Frame|Pairs|Tasks")


def test_every_door_that_takes_a_frame_is_tried():
    """By the annotations of what `import workbench as wb` gives."""
    doors = {name: inspect.signature(getattr(wb, name)) for name in wb.__all__ if name.islower()}
    takes = {
        name
        for name, signature in doors.items()
        if any(TAKES_FRAMES.search(str(each.annotation)) for each in signature.parameters.values())
    }
    assert len(takes) > 10
    assert takes <= {call.split(",")[0] for call in CALLS}


def same(one, other):
    if isinstance(one, (pd.DataFrame, pd.Series)):
        return type(one) is type(other) and one.equals(other)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


@pytest.mark.parametrize(
    "call",
    [pytest.param(name, marks=[pytest.mark.release] * (name in DEAR)) for name in CALLS],
)
def test_every_library_gives_what_pandas_gives(call, labels, gold):
    known = CALLS[call](Crowd(labels, gold, pd.DataFrame))
    for library, make in LIBRARIES.items():
        assert same(CALLS[call](Crowd(labels, gold, make)), known), library


# ---- what is brought to pandas, and how ----


def test_missing_cells_keep_whole_numbers_whole_and_classes_are_text():
    frame = pl.DataFrame(
        {"i": [1, None], "x": [1.5, None], "s": ["a", None], "b": [True, None], "l": [["u"], None]}
    ).with_columns(c=pl.col("s").cast(pl.Categorical))
    for source in (frame, frame.lazy(), frame.to_arrow()):
        found = to_pandas(source)
        assert found.iloc[0].tolist() == [1, 1.5, "a", True, ["u"], "a"]
        assert [type(found.loc[0, name]) for name in "isb"] == [int, str, bool]
        assert found.iloc[1].isna().all()


def test_a_series_is_a_list_of_values():
    for series in (pl.Series(["x0", "x1"]), pa.chunked_array([["x0"], ["x1"]])):
        assert to_pandas(series) == ["x0", "x1"]
        assert keyed(series, "task") == ["x0", "x1"]
        made = wb.plan(tasks=series, skills={"ann": 0.9, "bob": 0.9}, epsilon=0.15, capacity=9)
        assert sorted(made.errors.index) == ["x0", "x1"]
        collector = wb.Collector(series, series, classes=series, total=2)
        assert list(collector.tasks) == list(collector.workers) == ["x0", "x1"]


def test_a_series_names_no_task(labels):
    with pytest.raises(wb.InputError, match="a frame with a column task"):
        wb.hire(labels, pl.Series(["y", "n"]), budget=2)


def test_all_else_is_given_back_as_it_came(labels):
    for value in (labels, labels["task"], "labels.csv", None, 3, [1], {"a": 1}, object(), pa.array):
        assert to_pandas(value) is value


def test_a_frame_that_cannot_be_read_is_refused_in_one_line():
    doubled = pa.table([["a"], ["b"]], names=["task", "task"])
    for source in (pl.LazyFrame({"task": ["a"]}).select("worker"), doubled):
        with pytest.raises(wb.InputError, match="cannot be read") as caught:
            wb.aggregate(source)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("frame", "imported"),
    [
        pytest.param("pandas", False, marks=pytest.mark.release),
        pytest.param("polars", True, marks=pytest.mark.slow),
    ],
)
def test_narwhals_is_imported_where_another_frame_comes_and_pyarrow_not(frame, imported, tmp_path):
    code = (
        "import sys\nsys.modules['pyarrow'] = None  # as if it were not installed\n"
        f"import {frame} as library, workbench as wb\n"
        "columns = {'task': [1, 1, 2], 'worker': ['a', 'b', 'a'], 'label': ['x', 'x', 'y']}\n"
        "wb.aggregate(library.DataFrame(columns), truth={1: 'x', 2: 'y'}).summary()\n"
        "print('narwhals' in sys.modules)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ended.stdout == f"{imported}\n"


# ---- wide frames ----


def wide(labels, **gold):
    return labels.pivot(index="task", columns="worker", values="label").assign(**gold)


@pytest.mark.parametrize("library", [None, *LIBRARIES])
def test_a_wide_frame_is_read_as_a_wide_file(library, labels, gold, tmp_path):
    frame = wide(labels, gold=gold)
    frame.to_csv(tmp_path / "wide.csv")
    given = frame
    if library is not None:
        columns = frame.reset_index().astype(object)
        columns = columns.where(columns.notna(), None).to_dict("list")
        given = LIBRARIES[library](columns)
    known = wb.check(tmp_path / "wide.csv")
    assert wb.check(given).to_dict() == known.to_dict()
    assert wb.read_labels(given).equals(wb.read_labels(tmp_path / "wide.csv"))


def test_ids_of_a_wide_frame_stay_as_they_are():
    said = {"task": [7, 8, 9], 11: [1.0, 0.0, None], 12: [1, 0, 0]}
    table = wb.read_labels(pd.DataFrame(said))
    assert table.to_numpy().tolist() == [[7, 11, 1], [7, 12, 1], [8, 11, 0], [8, 12, 0], [9, 12, 0]]
    assert [type(value) for value in table.iloc[0].tolist()] == [int, int, int]


def test_a_frame_that_is_no_wide_one_is_refused(labels):
    notes = wide(labels).assign(remark=[f"remark {i}" for i in range(40)])
    with pytest.raises(wb.InputError, match="no column 'worker'"):
        wb.aggregate(notes)


# ---- ids that are numbers here and text there ----


@pytest.mark.parametrize("numbers", ["gold", "labels"])
def test_tasks_that_are_numbers_here_and_text_there_are_matched(numbers, labels, gold, caplog):
    bare = labels.assign(task=labels["task"].str[1:])
    known = wb.check(bare, gold.set_axis(gold.index.str[1:]))
    if numbers == "gold":
        frame = pl.DataFrame(
            {"task": [int(task[1:]) for task in gold.index], "gold": gold.tolist()}
        )
        made = wb.check(bare, frame)
        line = "gold: task 0 is a whole number, and elsewhere '0' is text: they are taken for the"
    else:
        made = wb.check(bare.astype({"task": int}), gold.set_axis(gold.index.str[1:]))
        line = "gold: task '0' is text, and elsewhere 0 is a whole number: they are taken for the"
    assert made == known
    assert [record.name for record in caplog.records] == ["workbench"]
    assert caplog.messages == [f"{line} same, as are 29 more"]


def test_workers_are_matched_and_it_is_said_once(labels, gold, caplog):
    bare = labels.assign(worker=labels["worker"].str[1:])
    limits = dict.fromkeys(range(8), 9)
    made = wb.plan(bare, gold, ["x"], epsilon=0.3, capacity=limits)
    known = wb.plan(bare, gold, ["x"], epsilon=0.3, capacity={str(k): 9 for k in range(8)})
    assert made.table.equals(known.table)
    assert len(caplog.messages) == 1
    assert "capacity: worker 0" in caplog.messages[0]


# ---- a column of gold by any name ----


@pytest.mark.slow
def test_an_unknown_column_of_gold_is_named_by_what_the_line_says(labels, gold, tmp_path):
    frame = pd.DataFrame({"id": gold.index, "verdict": gold.to_numpy(), "by": "me"})
    frame.to_csv(tmp_path / "gold.csv", index=False)
    for source in (frame, pl.DataFrame(columns(frame)), tmp_path / "gold.csv"):
        with pytest.raises(wb.InputError) as caught:
            wb.check(labels, source)
        assert "no column 'gold'" in str(caught.value)
        assert "read_gold(..., columns={'gold': 'verdict'})" in str(caught.value)
        true = wb.read_gold(source, columns={"gold": "verdict"})
        assert wb.check(labels, true) == wb.check(labels, gold)
    with pytest.raises(wb.InputError, match=r"no column 'verdit' for `columns={'gold': 'verdit'}`"):
        wb.read_gold(frame, columns={"gold": "verdit"})
