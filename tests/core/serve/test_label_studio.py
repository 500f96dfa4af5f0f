"""Label Studio kept in step: labels in, queue out, whatever is changed, deleted or lost between."""

from __future__ import annotations

import http.client
import io
import json
import random
import signal
import threading
import time

import pandas as pd
import pytest
from click.testing import CliRunner

pytest.importorskip("uvicorn", reason="install the extra serve")

from tests.core.flat import in_objects
from tests.core.serve.running import serving
from tests.core.serve.studio import OWNER, PERSONAL, Annotator, FakeStudio
from workbench.base.errors import InputError
from workbench.cli import main
from workbench.collection.collector import Collector
from workbench.collection.desk import Desk
from workbench.serve import in_step, label_studio
from workbench.serve.in_step import InStep, Keeper
from workbench.serve.label_studio import LabelStudio, control_of, label_config, shown_columns
from workbench.serve.messages import StudioAnnotation, StudioMessage

NAMES = ["ann", "bob", "cid"]
TASKS = [f"t{i}" for i in range(12)]
CLASSES = ["no", "<b>yes</b>"]


@pytest.fixture
def studio():
    server = FakeStudio(NAMES)
    yield server
    server.close()


@pytest.fixture
def people(studio):
    annotators = [Annotator(studio.url, f"token-{name}", name) for name in NAMES]
    yield annotators
    for each in annotators:
        each.http.close()


def begun(path, **more):
    given = {"classes": CLASSES, "total": 30.0, "policy": "fixed"} | more
    tasks, workers = given.pop("tasks", TASKS), given.pop("workers", 5)
    return Collector(tasks, workers, path=path, **in_objects(given))


class Pair:
    """A collection and its project."""

    def __init__(self, tmp_path, studio, **more):
        self.path, self.studio, self.lines = tmp_path / "c.sqlite", studio, []
        begun(self.path, **more).close()
        self.step = self.open()

    def open(self, project=None):
        client = LabelStudio(self.studio.url, OWNER)
        return InStep(self.path, client, project, self.lines.append)

    def round(self):
        pulled = self.step.pull()
        self.step.steer()
        return tuple(pulled)

    def labels(self):
        collector = Collector.open(self.path)
        table = collector.labels()
        pairs = zip(table["task"], table["worker"], strict=True)
        return dict(zip(pairs, table["label"], strict=True))

    def there(self):
        """Labels that the project has, the latest of each annotator."""
        emails = {user["id"]: user["email"] for user in self.studio.users}
        rows = {}
        for each in self.studio.annotations.values():
            if each["was_cancelled"] or not each["result"]:
                continue
            name = self.studio.tasks[each["task"]]["data"]["task"]
            key = name, emails[each["completed_by"]]
            rows[key] = max(
                rows.get(key, ("", "")),
                (each["updated_at"], each["result"][0]["value"]["choices"][0]),
            )
        return {key: label for key, (_, label) in rows.items()}

    def queue(self):
        """Annotators that each task of the queue still wants."""
        tasks = self.studio.of(self.step.project)
        return {
            task["data"]["task"]: task["overlap"] - len(self.studio.people_of(task))
            for task in tasks
            if not task["is_labeled"] and task["overlap"] > len(self.studio.people_of(task))
        }


@pytest.fixture
def pair(tmp_path, studio):
    pairs = []

    def make(**more):
        pairs.append(Pair(tmp_path, studio, **more))
        return pairs[-1]

    yield make
    for each in pairs:
        each.step.close()


def test_tasks_go_in_once_and_a_project_is_made_once(pair, studio):
    both = pair()
    assert both.round() == (0, 0, 0)
    names = [task["data"]["task"] for task in studio.of(both.step.project)]
    assert names == TASKS
    assert both.round() == (0, 0, 0)
    again = both.open()
    assert again.project == both.step.project
    again.pull()
    again.close()
    assert len(studio.tasks) == len(TASKS)
    assert len(studio.projects) == 1
    controls = studio.projects[both.step.project]["parsed_label_config"]
    assert controls["label"]["labels"] == CLASSES


def test_only_so_many_annotations_as_are_wanted_are_in_the_queue(pair, people):
    both = pair(policy="until-trusted", epsilon=0.1, total=None)
    both.round()
    queue = both.queue()
    assert len(queue) == in_step.AHEAD
    outlook = [name for name, _ in Desk(both.step.collector).outlook(50)]
    assert set(queue) <= set(outlook)
    both.step.collector.halt("paused")
    both.round()
    assert both.queue() == {}
    assert people[0].offered(both.step.project) is None
    both.step.collector.halt("")
    both.round()
    assert both.queue() == queue


@pytest.mark.parametrize(
    "seed",
    [pytest.param(0, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.release)],
)
def test_whatever_annotators_do_the_labels_are_those_of_the_project(seed, pair, people, studio):
    """New, changed, deleted, skipped, twice on a task, in any order; some unseen for a while."""
    both = pair(policy="until-trusted", epsilon=0.05, total=None, workers=3)
    both.round()
    rng = random.Random(seed)
    made = []
    for _ in range(30):
        who = rng.choice(people)
        act = rng.choice(["label", "label", "label", "skip", "change", "delete", "again"])
        offered = who.offered(both.step.project)
        mine = [row for row in made if row[0] is who]
        if act in ("label", "skip") and offered is not None:
            if act == "skip":
                who.skip(offered[0])
            else:
                made.append((who, offered[0], who.annotate(offered[0], rng.choice(CLASSES))))
        elif mine and act in ("change", "delete", "again"):
            row = rng.choice(mine)
            if act == "change":
                who.change(row[2], rng.choice(CLASSES))
            elif act == "again":
                made.append((who, row[1], who.annotate(row[1], rng.choice(CLASSES))))
            else:
                who.delete(row[2])
                made.remove(row)
        if rng.random() < 0.5:
            both.round()
            assert both.labels() == both.there()
    both.round()
    assert both.labels() == both.there()
    assert len(both.there()) > 5
    assert both.round() == (0, 0, 0)
    status = Collector.open(both.path).status()
    assert status["waiting"] == 0
    assert status["cost"] == len(both.there())  # what was deleted is not paid


@pytest.mark.slow
def test_until_every_task_is_closed_and_a_closed_one_is_not_offered(pair, people):
    both = pair(policy="until-trusted", epsilon=0.12, total=None, workers=3)
    truth = {task: CLASSES[i % 2] for i, task in enumerate(TASKS)}
    collector, closed_once = Collector.open(both.path), 0
    both.round()
    for _ in range(200):
        offers = [(who, who.offered(both.step.project)) for who in people]
        if not any(offered for _, offered in offers):
            break
        answers = collector.answers()
        closed = {*answers.loc[answers["closed"], "task"]}
        closed_once += bool(closed)
        assert not closed & {offered[1] for _, offered in offers if offered is not None}
        who, (number, name) = next(row for row in offers if row[1] is not None)
        who.annotate(number, truth[name])
        both.round()
    assert collector.status()["closed"] == len(TASKS)
    assert closed_once > 1
    assert {*both.labels()} == {*both.there()}
    assert (collector.answers().set_index("task")["label"] == pd.Series(truth)).all()


def test_the_budget_ends_the_queue_and_what_is_beyond_it_counts_unpaid(pair, people):
    both = pair(total=5.0, workers=3)
    both.round()
    assert sum(both.queue().values()) <= 5
    numbers = {task["data"]["task"]: task["id"] for task in both.studio.of(both.step.project)}
    for who in people:
        for task in TASKS[:2]:
            who.annotate(numbers[task], "no")
    assert both.round() == (6, 0, 0)
    collector = Collector.open(both.path)
    assert collector.cost == 5.0
    assert both.labels() == both.there()
    assert both.queue() == {}
    assert "the money is spent" in both.lines[0]


@pytest.mark.slow
def test_gold_tasks_are_in_the_project_like_all_others(pair, people):
    both = pair(
        gold={"g0": "no", "g1": CLASSES[1]}, policy="until-trusted", epsilon=0.2, total=None
    )
    both.round()
    assert {"g0", "g1"} <= set(both.queue())
    for who in people[:2]:
        while offered := who.offered(both.step.project):
            if not offered[1].startswith("g"):
                break
            who.annotate(offered[0], "no")
            both.round()
    assert Collector.open(both.path).status()["gold_labels"] == 4
    assert both.labels() == both.there()


def test_a_forgotten_annotator_stays_forgotten(pair, people):
    both = pair(workers=4)
    both.round()
    number, _ = people[0].offered(both.step.project)
    annotation = people[0].annotate(number, "no")
    both.round()
    assert "ann@example.org" in both.step.collector.workers
    both.step.collector.forget("ann@example.org")
    both.round()
    (worker,) = both.step.collector.workers
    assert worker.startswith("forgotten")
    people[0].change(annotation, CLASSES[1])
    assert both.round() == (0, 1, 0)
    other, _ = people[0].offered(both.step.project)
    people[0].annotate(other, "no")
    assert both.round() == (1, 0, 0)
    assert {name for _, name in both.labels()} == {worker}
    for file in (both.path, both.step.beside.path):
        assert b"ann@example.org" not in file.read_bytes()


def test_who_has_no_place_is_said_once_and_labels_of_no_class_are_left_out(pair, people, studio):
    both = pair(workers=["ann@example.org"])
    both.round()
    number, name = people[0].offered(both.step.project)
    people[0].annotate(number, "perhaps")
    people[1].annotate(number, "no")
    both.round()
    both.round()
    assert len(both.lines) == 2
    assert "'perhaps' is no class" in both.lines[0]
    assert "bob@example.org annotates and is no worker" in both.lines[1]
    assert both.labels() == {}
    annotation = people[0].annotate(number, "no")
    studio.annotations[annotation]["result"][0]["value"]["choices"] = ["no", "perhaps"]
    assert both.round() == (0, 0, 0)  # two choices are no label
    studio.annotations[annotation]["result"][0]["value"]["choices"] = ["no"]
    assert both.round() == (1, 0, 0)
    assert both.labels() == {(name, "ann@example.org"): "no"}


def test_a_task_deleted_there_takes_its_labels_back_and_comes_again(pair, people, studio):
    both = pair()
    both.round()
    number, _ = people[0].offered(both.step.project)
    annotation = people[0].annotate(number, "no")
    both.round()
    del studio.tasks[number]
    del studio.annotations[annotation]
    assert both.round() == (0, 0, 1)
    assert both.labels() == {}
    assert sorted(task["data"]["task"] for task in studio.tasks.values()) == sorted(TASKS)


@pytest.mark.parametrize("where", ["take_back", "tell", "volunteered", "record"])
def test_an_error_between_two_steps_is_mended_by_the_next_round(where, pair, people, monkeypatch):
    both = pair(total=3.0, workers=3)
    both.round()
    numbers = [task["id"] for task in both.studio.of(both.step.project)]
    first = people[0].annotate(numbers[0], "no")
    second = people[1].annotate(numbers[0], "no")
    both.round()
    people[0].change(first, CLASSES[1])
    people[1].delete(second)
    for who in people:
        who.annotate(numbers[1], "no")

    def fail(*_, **__):
        raise InputError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Desk if where == "volunteered" else both.step.collector, where, fail)
        with pytest.raises(InputError, match="disk"):
            both.round()
    both.step.close()
    both.step = both.open()
    both.round()
    assert both.labels() == both.there()
    assert both.round() == (0, 0, 0)


def test_labels_of_ones_own_page_stay(pair, people):
    """Deleting there what came from there takes back nothing that came by the page."""
    both = pair(workers=["ann@example.org", "bob@example.org"])
    both.round()
    (question,) = both.step.collector.next("ann@example.org", 1)
    both.step.collector.tell("ann@example.org", {question.task: "no"})
    assert both.round() == (0, 0, 0)
    assert list(both.labels().values()) == ["no"]


def test_another_project_of_ones_own_with_its_own_tasks(pair, studio, people):
    config = label_config([*CLASSES, "perhaps"], ["text"])
    client = LabelStudio(studio.url, OWNER)
    number = client.new_project("mine", config)
    for task in TASKS[:5]:
        studio.new_task(number, {"text": "mine", "task": task})
    stray = studio.new_task(number, {"text": "another"})
    both = pair()
    step = both.open(number)
    step.pull()
    step.steer()
    assert len(studio.of(number)) == 13
    assert studio.tasks[stray]["is_labeled"]
    people[0].annotate(stray, "no")
    step.pull()
    step.close()
    assert both.labels() == {}
    poor = client.new_project("poor", label_config(["no"], ["text"]))
    with pytest.raises(InputError, match="no Choices in its labeling configuration"):
        both.open(poor)
    with pytest.raises(InputError, match=r"--project 99: .* has no such project"):
        both.open(99)


def test_policies_that_ask_people_by_name_are_refused(pair, tmp_path, studio):
    for policy, more in (
        ("ls-ol", {"total": None, "workers": NAMES}),
        ("algorithm-2", {"gold": {"g": "no"}, "epsilon": 0.1}),
    ):
        path = tmp_path / f"{policy}.sqlite"
        begun(path, policy=policy, **more).close()
        with pytest.raises(InputError, match="as they arrive"):
            InStep(path, LabelStudio(studio.url, OWNER), None, print)


def test_what_the_server_refuses_is_a_line(studio, tmp_path):
    path = tmp_path / "c.sqlite"
    begun(path).close()
    cases = [
        (LabelStudio(studio.url, "wrong"), r"refuses \(401\): Invalid token. Give a valid token"),
        (LabelStudio(studio.url, "a.wrong.one"), r"refuses \(401\)"),
        (LabelStudio("http://127.0.0.1:9", OWNER), "cannot be reached"),
        (LabelStudio(studio.url + "/away", OWNER), "404|refuses"),
    ]
    for client, line in cases:
        with pytest.raises(InputError, match=line):
            InStep(path, client, None, print)
    for url in ("file:///etc/passwd", "ftp://here", "here:80", ""):
        with pytest.raises(InputError, match="give an address"):
            LabelStudio(url, OWNER)
    for token in ("", "two words", "é"):
        with pytest.raises(InputError, match="LABEL_STUDIO_API_KEY"):
            LabelStudio(studio.url, token)


def test_a_personal_token_is_changed_for_one_that_lasts_minutes(studio):
    client = LabelStudio(studio.url, PERSONAL)
    assert client.users()[2] == "ann@example.org"
    studio.access = "access-2"  # the first has run out
    assert client.users()[2] == "ann@example.org"
    refreshed = [path for _, path, _ in studio.requests if "refresh" in path]
    assert len(refreshed) == 2


def test_a_redirect_is_not_followed(studio, monkeypatch):
    def away(self, *_):
        self.send_response(302)
        self.send_header("Location", "http://127.0.0.1:9/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    monkeypatch.setattr(studio.server.RequestHandlerClass, "do_GET", away)
    with pytest.raises(InputError, match=r"refuses \(302\)"):
        LabelStudio(studio.url, OWNER).users()


def test_a_configuration_shows_what_is_shown_as_text():
    from xml.etree import ElementTree as ET

    cells = [{"size": "1", "text": "a"}, {"image": "b", "a b": "c", "text": "d", "1st": "e"}]
    columns = shown_columns(cells)
    assert columns == ["text", "image", "size"]
    view = ET.fromstring(label_config(['a"b', "<script>", "c & d"], columns))
    assert [part.tag for part in view] == ["Text", "Image", "Text", "Choices"]
    labels = [choice.attrib["value"] for choice in view.iter("Choice")]
    assert labels == ['a"b', "<script>", "c & d"]
    assert shown_columns([]) == ["text"]


def test_reading_goes_page_by_page(pair, monkeypatch):
    monkeypatch.setattr("workbench.serve.label_studio.PAGE", 5)
    both = pair()
    both.round()
    assert len(both.step.tasks) == 12


def test_the_command_pulls_once(tmp_path, studio, people, monkeypatch):
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", OWNER)
    path = tmp_path / "c.sqlite"
    begun(path).close()

    def run(*words):
        return CliRunner().invoke(main, ["collect", "pull", str(path), *words])

    first = run("--label-studio", studio.url, "--json")
    assert first.exit_code == 0, first.output
    project = json.loads(first.stdout)["project"].split("/")[-2]
    number, _ = people[0].offered(project)
    people[0].annotate(number, "no")
    second = run("--label-studio", studio.url, "--project", project)
    assert second.stdout.startswith("1 labels are new, 0 changed, 0 taken back; ")
    assert run().exit_code == 2
    monkeypatch.delenv("LABEL_STUDIO_API_KEY")
    assert "LABEL_STUDIO_API_KEY" in run("--label-studio", studio.url).stderr


# With a server, by word that comes


def settled(check, seconds=20.0):
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)


@pytest.mark.slow
def test_word_that_comes_is_taken_and_only_from_who_has_the_secret(
    tmp_path, studio, people, monkeypatch
):
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", OWNER)
    path = tmp_path / "c.sqlite"
    begun(path, workers=3, policy="until-trusted", epsilon=0.12, total=None).close()
    with serving(path, "--label-studio", studio.url) as server:
        (hook,) = studio.hooks.values()
        assert hook["url"] == f"{server.url}/label-studio"
        forged = server.http.post("/label-studio", json={"action": "ANNOTATION_CREATED"})
        assert forged.status_code == 401
        assert server.ask("/label-studio", "owner", {}).status_code == 403
        secret = hook["headers"]["Authorization"]
        for other in ("/status", "/mine"):
            assert server.http.get(other, headers={"Authorization": secret}).status_code == 403
        collector = Collector.open(path)
        project = next(iter(studio.projects))
        number, name = people[0].offered(project)
        annotation = people[0].annotate(number, "no")
        settled(lambda: len(collector.labels()) == 1)
        people[0].change(annotation, CLASSES[1])
        settled(lambda: [*collector.labels()["label"]] == [CLASSES[1]])
        people[0].delete(annotation)
        settled(lambda: len(collector.labels()) == 0)
        people[0].annotate(number, "no")
        settled(lambda: [*collector.labels()["task"]] == [name])
        origins = {*collector.history()["origin"]}
        assert origins == {"python", "label studio"}
    with serving(path, "--label-studio", studio.url, tokens=server.tokens) as second:
        (hook,) = studio.hooks.values()  # the other was taken down
        assert hook["headers"]["Authorization"] != secret
        assert second.ask("/status", "owner").json()["labels"] == 1


def test_what_was_missed_is_read_now_and_then(pair, people, studio, monkeypatch):
    monkeypatch.setattr(in_step, "FULL", 0.2)
    monkeypatch.setattr(in_step, "AGAIN", 0.1)
    both = pair(workers=3)
    keeper, lines = Keeper(both.open), both.lines
    ready = threading.Event()

    def keep():
        keeper.begin()
        ready.set()
        keeper.run()

    thread = threading.Thread(target=keep)
    thread.start()
    ready.wait()
    number, _ = people[0].offered(both.step.project)
    people[0].annotate(number, "no")
    settled(lambda: both.labels() == both.there())
    studio.failing = True
    settled(lambda: lines)
    assert "refuses (500): out of order" in lines[0]
    studio.failing = False
    with monkeypatch.context() as patch:
        patch.setattr(keeper.step, "steer", lambda: {}["a mistake of ours"])
        settled(lambda: len(lines) == 2)
    assert lines[1] == "KeyError: 'a mistake of ours'; it is tried again"
    monkeypatch.setattr(in_step, "FULL", 60.0)
    annotation = people[1].annotate(number, "no")
    settled(lambda: both.labels() == both.there())
    people[1].delete(annotation)  # nobody says which task it was of
    keeper.hear(StudioMessage(action="…", annotations=[StudioAnnotation(annotation)]))
    settled(lambda: both.labels() == both.there())
    keeper.hear(StudioMessage(action="…", annotation=StudioAnnotation(7777, 8888)))
    keeper.stop()
    thread.join()
    assert len(lines) == 2


@pytest.mark.release
def test_a_server_that_may_not_send_is_read_now_and_then(tmp_path, studio, monkeypatch):
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", OWNER)
    studio.private = True
    path = tmp_path / "c.sqlite"
    begun(path).close()
    with serving(path, "--label-studio", studio.url) as server:
        said = server.stop()
    assert server.process.returncode == -signal.SIGTERM
    assert "refuses (403): URL resolves to a reserved network address; no word comes" in said


def test_a_queue_of_many_tasks_is_set_by_a_few_requests(pair, studio):
    tasks = [f"t{i}" for i in range(2000)]
    both = pair(tasks=tasks, workers=50, policy="until-trusted", epsilon=0.05, total=None)
    both.round()
    sent = [row for row in studio.requests if row[0] == "PATCH"]
    assert len(sent) <= 2 * in_step.AHEAD + 1
    assert sum(both.queue().values()) >= in_step.AHEAD


ODD = {
    "a page": b"<!doctype html><title>Sign in</title>",
    "nothing": b"",
    "null": b"null",
    "a number": b"7",
    "a list": b"[1, 2]",
    "an object": b"{}",
    "half an object": b'{"tasks": [{"id": 1',
    "a nest": b"[" * 100_000,
    "no text": b"\xff\xfe\x00",
    "tasks that are null": b'{"tasks": null, "total": 3}',
    "tasks that are numbers": b'{"tasks": [1, 2], "total": 2}',
    "tasks without data": b'{"tasks": [{"id": 1, "overlap": 1, "is_labeled": false}], "total": 1}',
    "a large number": b'{"tasks": [{"id": 1e30, "overlap": 1}], "total": 1, "id": 1e30}',
    "users of no number": b'[{"email": "ann@example.org"}]',
}
ANNOTATIONS = [
    {"id": 1},
    {"id": 1, "completed_by": "ann"},
    {"id": 1, "completed_by": {"name": "ann"}},
    {"id": 10**30, "completed_by": 2},
    {"id": 1, "completed_by": 2, "result": {"value": 1}},
    {"id": 1, "completed_by": 2, "result": [None]},
    {
        "id": 1,
        "completed_by": 2,
        "result": [{"type": "choices", "from_name": "label", "value": {"choices": 5}}],
    },
    {"id": 1, "completed_by": 2, "result": [{"type": "choices", "from_name": "label"}]},
]
READS = {
    "project": lambda client: client.project(1),
    "new_project": lambda client: client.new_project("a title", "<View/>"),
    "tasks": lambda client: list(client.tasks(1, "label")),
    "task": lambda client: client.task(1, "label"),
    "users": lambda client: client.users(),
    "hooks": lambda client: client.leave_alone(1, "http://here"),
    "control_of": lambda client: control_of(client.project(1), ["no"]),
}


def answering(monkeypatch, content):
    """A client whose server answers everything with the same bytes."""

    class Opener:
        def open(self, *_, **__):
            if isinstance(content, Exception):
                raise content
            return io.BytesIO(content)

    monkeypatch.setattr(label_studio, "_OPENER", Opener())
    return LabelStudio("http://studio.test", OWNER)


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("read", READS)
def test_an_odd_answer_is_one_line(monkeypatch, odd, read):
    client = answering(monkeypatch, ODD[odd])
    found, line = None, ""
    try:
        found = READS[read](client)
    except InputError as error:
        line = str(error)
    assert "\n" not in line
    assert len(line) < 400
    assert line or odd in ("nothing", "null")
    assert found in (None, [])


@pytest.mark.parametrize("annotation", ANNOTATIONS, ids=str)
def test_an_odd_annotation_is_one_line(monkeypatch, annotation):
    task = {"id": 1, "data": {}, "overlap": 1, "is_labeled": False, "annotations": [annotation]}
    client = answering(monkeypatch, json.dumps(task).encode())
    with pytest.raises(InputError, match=r"http://studio\.test: answers otherwise than expected"):
        client.task(1, "label")


@pytest.mark.parametrize(
    "config", [3, {"label": None}, {"label": {"type": "Choices", "labels": {"no": 1}}}]
)
def test_an_odd_labelling_configuration_is_one_line(monkeypatch, config):
    content = json.dumps({"id": 1, "parsed_label_config": config}).encode()
    client = answering(monkeypatch, content)
    with pytest.raises(InputError):
        control_of(client.project(1), ["no"])


def test_what_an_answer_leaves_out_or_has_more_is_no_matter(monkeypatch):
    part = {"type": "choices", "from_name": "label", "value": {"choices": ["no"], "more": 1}}
    annotations = [
        {"id": 5, "completed_by": {"id": 2, "email": "x"}, "result": [part, {"type": "relation"}]},
        {"id": 6, "completed_by": 3, "result": None, "was_cancelled": True, "updated_at": "now"},
    ]
    task = {"id": 1, "data": {"task": 7}, "overlap": 1, "is_labeled": False}
    client = answering(monkeypatch, json.dumps(task | {"annotations": annotations}).encode())
    found = client.task(1, "label")
    assert (found.name, found.labels(), found.done) == ("7", {2: "no"}, 1)


@pytest.mark.parametrize(
    "error", [http.client.BadStatusLine("x"), http.client.IncompleteRead(b""), TimeoutError()]
)
def test_a_server_that_breaks_off_is_one_line(monkeypatch, error):
    with pytest.raises(InputError, match="cannot be reached"):
        answering(monkeypatch, error).users()


def test_an_access_that_is_refused_again_and_again_is_one_line(studio):
    client = LabelStudio(studio.url, PERSONAL)
    client.users()
    studio.tokens, studio.access = {}, "another"
    accepted, studio.access = studio.access, "yet another"
    client._header = lambda: setattr(client, "_access", accepted) or f"Bearer {accepted}"
    with pytest.raises(InputError, match="refuses \\(401\\)"):
        client.users()
