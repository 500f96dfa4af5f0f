"""`wb.plan(workers=…)`: so many labels a task shared evenly, from lists, numbers, tables, files."""

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.core.release import some
from workbench.base.errors import InputError

TASKS = [f"d{i}" for i in range(100)]
TWO = wb.TaskLimits(least=2, most=2)


def dealt(workers=8, tasks=TASKS, least=2, capacity=None, **limits):
    return wb.plan(
        tasks=tasks,
        workers=workers,
        capacity=capacity,
        limits=wb.TaskLimits(least=least, **limits),
    )


def test_a_hundred_documents_two_of_eight_annotators_each():
    """The wish of annotation teams: with room to spare as even as without."""
    for capacity in (25, 60, None):
        made = dealt([f"a{j}" for j in range(8)], capacity=capacity, most=2)
        table = made.to_frame()
        assert (table["task"].value_counts() == 2).all()
        assert not table.duplicated().any()
        assert (table["worker"].value_counts() == 25).all()
        assert (made.least_shared, made.bound, made.parts) == (3, 3, 1)
        assert "2 labels for each of 100 tasks: 200 labels by 8 of 8 workers, 25 each." in (
            made.summary()
        )
        assert "Every two workers share 3 tasks or more, the most that can be." in made.summary()
        assert "No error is promised" in made.summary()


def test_skills_without_an_error_are_not_looked_at_and_that_is_said():
    skills = {f"a{j}": 0.8 for j in range(8)}
    made = wb.plan(tasks=TASKS, skills=skills, capacity=25, limits=TWO)
    assert (made.loads["labels"] == 25).all()
    assert "Skills were not looked at" in made.summary()
    assert "Skills" not in dealt().summary()
    assert isinstance(
        wb.plan(tasks=["x"], skills=skills, capacity=9, epsilon=0.2, limits=TWO).errors,
        pd.DataFrame,
    )


def test_workers_are_a_number_names_a_frame_or_a_file(tmp_path):
    frame = pd.DataFrame({"worker": [7, 8, 9], "skill": 0.8})
    frame.to_csv(tmp_path / "who.csv", index=False)
    assert dealt(3).loads["worker"].tolist() == ["w0", "w1", "w2"]
    assert dealt([7, 8, 9]).loads["worker"].tolist() == [7, 8, 9]
    assert dealt(frame).to_frame()["worker"].isin([7, 8, 9]).all()
    assert dealt(tmp_path / "who.csv").loads["worker"].tolist() == ["7", "8", "9"]
    assert dealt(pd.Series(["a", "b"])).loads["labels"].tolist() == [100, 100]
    assert dealt(iter("ab"), tasks=pd.DataFrame({"task": [1, 2]})).table["task"].tolist() == [
        1,
        1,
        2,
        2,
    ]


def test_capacities_shares_and_availability_by_worker_are_kept():
    crew = pd.DataFrame(
        {
            "worker": ["ann", "bob", "cy", "dee", "eve"],
            "capacity": [100, 100, 100, 30, 100],
            "share": [1, 1, 0.5, 1, 1],
            "available": ["yes", True, 1, "yes", "no"],
        }
    )
    made = dealt(crew)
    assert made.loads.set_index("worker")["labels"].to_dict() == {
        "ann": 68,
        "bob": 68,
        "cy": 34,
        "dee": 30,
        "eve": 0,
    }
    assert "4 of 5 workers (1 get none), 30 to 68 each, as even as" in made.summary()
    by_worker = dealt(["a", "b", "c"], capacity={"a": 20, "b": 100, "c": 100})
    assert by_worker.loads["labels"].tolist() == [20, 90, 90]
    pairs = [(task, w) for i, task in enumerate(TASKS) for w in ("abcd" if i < 50 else "abc")]
    only = dealt([*"abcd"], availability=pairs)
    assert only.loads["labels"].tolist() == [50, 50, 50, 50]
    late = only.table[only.table["worker"] == "d"]["task"]
    assert set(late) <= set(TASKS[:50])


def test_labels_on_record_count_and_are_not_asked_for_again():
    had = pd.DataFrame({"task": TASKS[:40], "worker": "a", "label": "x"})
    made = dealt([*"abc"], have=had)
    assert (made.on_record, len(made.table)) == (40, 160)
    table = pd.concat([had[["task", "worker"]], made.table])
    assert not table.duplicated().any()
    assert (table["task"].value_counts() == 2).all()
    assert "160 labels beside 40 on record" in made.summary()


def test_one_label_more_by_others():
    """Who labelled a task before counts for it, and connects those who are asked now."""
    had = pd.DataFrame(
        [(t, w, "x") for t in TASKS for w in "ab"], columns=["task", "worker", "label"]
    )
    made = dealt([*"cd"], least=3, have=had)
    assert (made.on_record, len(made.table)) == (200, 100)
    assert made.loads["labels"].tolist() == [50, 50]
    assert made.parts == 1
    assert "all are connected by others" in made.summary()
    again = dealt([*"abc"], least=3, have=had)
    assert set(again.table["worker"]) == {"c"}
    short = dealt([*"ab"], least=3, have=had).message
    assert "the workers can give 0" in short


WISHES = {
    "too few workers": (
        {"workers": 2, "least": 3},
        "a task is to get 3 labels of different workers, and 2 workers can be given any",
    ),
    "too little capacity": (
        {"capacity": 20},
        "200 labels are to be given (2 labels for each of 100 tasks), and the workers can give 160",
    ),
    "one task": (
        {"workers": [*"abc"], "availability": [(t, w) for t in TASKS for w in "abc"][:-2]},
        "task d99 lacks 2 labels, and 1 worker may give it one",
    ),
    "some tasks": (
        {
            "workers": [*"abcd"],
            "capacity": {"a": 30, "b": 100, "c": 100, "d": 100},
            "availability": [
                (t, w) for i, t in enumerate(TASKS) for w in ("ab" if i < 40 else "abcd")
            ],
        },
        "40 tasks (d0, d1, d2, d3, d4, d5, …) need 40 labels of a, who can give 30 there",
    ),
}


@pytest.mark.parametrize("wish", WISHES)
def test_a_wish_that_cannot_be_is_explained_in_a_line(wish):
    asked, cause = WISHES[wish]
    made = dealt(**asked)
    assert made.message.startswith("There is no plan: ")
    assert "\n" not in made.message
    assert "Next: " in made.message
    assert cause in made.message
    assert made.to_frame().empty
    assert made.summary() == made.message
    with pytest.raises(InputError, match="there is no plan"):
        made.plot()


def frame(**columns):
    return pd.DataFrame({"worker": [*"ab"], **columns})


REFUSED = {
    "least": ({"workers": 8}, "give `least`"),
    "most": ({"workers": 8, "limits": wb.TaskLimits(least=3, most=2)}, "least is 3, most 2"),
    "epsilon": (
        {"workers": 8, "limits": TWO, "epsilon": 0.1},
        "`epsilon` is not for",
    ),
    "costs": (
        {"workers": 8, "limits": TWO, "costs": {"w0": 2}},
        "`costs` is not for",
    ),
    "skills": ({"workers": 8, "limits": TWO, "skills": {"w0": 0.8}}, "`skills` is not for"),
    "options": (
        {"workers": 8, "limits": TWO, "options": wb.PlanOptions(sure=0.9)},
        "`options` is not",
    ),
    "nobody": ({"workers": [], "limits": TWO}, "workers: an empty list"),
    "none": ({"workers": 0, "limits": TWO}, "workers is 0"),
    "no list": ({"workers": 2.5, "limits": TWO}, "workers is 2.5: give a number, a list"),
    "twice": ({"workers": [*"aba"], "limits": TWO}, "worker 'a' appears already"),
    "two capacities": (
        {"workers": frame(capacity=9), "limits": TWO, "capacity": 3},
        "capacity: stands in a column of `workers` too",
    ),
    "share": ({"workers": frame(share=[1, -1]), "limits": TWO}, "share is '-1'; give a number"),
    "no share": ({"workers": frame(share=0), "limits": TWO}, "every share is 0"),
    "available": ({"workers": frame(available=["yes", "d1"]), "limits": TWO}, "write yes or no"),
    "stranger": (
        {"workers": [*"ab"], "limits": wb.TaskLimits(least=1, availability=[("d0", "z")])},
        "availability: 'z' is no worker here",
    ),
    "nothing": ({}, "or `workers` and `least`"),
    "capacity": ({"skills": {"a": 0.9}, "epsilon": 0.2}, "give `capacity`, the most tasks"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_meant_is_refused_in_a_line(case):
    arguments, line = REFUSED[case]
    with pytest.raises(InputError) as refused:
        wb.plan(tasks=TASKS, **arguments)
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)


def test_who_is_connected_is_said():
    assert "all are connected by others" in dealt(40, TASKS[:39]).summary()
    groups = dealt(
        [*"abcd"],
        availability=[(t, w) for i, t in enumerate(TASKS) for w in ("ab" if i % 2 else "cd")],
    )
    assert "Workers fall into 2 groups that share no task" in groups.summary()
    assert groups.to_dict()["parts"] == 2
    assert "No task has two labels" in dealt(3, least=1).summary()
    assert "One worker does it all" in dealt(1, least=1).summary()


def test_it_is_drawn_uploaded_and_written_down():
    from workbench.plots import as_png

    made = dealt()
    assert as_png(made.plot())[:4] == b"\x89PNG"
    told = made.to_dict()
    assert (told["largest_load"], told["least_shared"], told["bound"]) == (25, 3, 3)
    assert len(told["plan"]) == told["labels"] == 200
    assert made == dealt()
    assert "tasks in common" in made.details()
    users = dealt([101, 102, 103], [1, 2, 3])
    assert '"101"' in users.assignments("toloka")
    labels = made.table.assign(label="x")
    with pytest.raises(InputError, match="labels shared evenly have no weights"):
        wb.aggregate(labels, plan=made)


@pytest.mark.parametrize("k", some([2, 3, 5], 3))
@pytest.mark.parametrize(("n", "m"), some([(1_000, 8), (10_000, 30)], 2))
def test_large_batches_are_even(n, m, k):
    made = dealt(m, range(n), k)
    loads = made.loads["labels"]
    assert loads.max() - loads.min() <= 1
    assert made.least_shared == made.bound > 0
    assert (np.bincount(made.table["task"]) == k).all()
