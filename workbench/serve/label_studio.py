"""Label Studio over its HTTP API: a project's tasks, what annotators chose, what they are offered.

    studio = LabelStudio("http://127.0.0.1:8080", token)
    for task in studio.tasks(7): ...

As much of it as a collection needs. A task's name in the collection is the field `task` of its data
(Label Studio's own number where there is none), a label the one choice of a `Choices` control. Its
open edition assigns no task to anybody: it offers each annotator the first task, by number, that
she has not labelled and that still wants annotators, `overlap` in all. So the queue is set by these
numbers; a project whose `maximum_annotations` is 0 offers nothing else.
"""

from __future__ import annotations

import http.client
import json
import re
import urllib.error
import urllib.request
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar
from urllib.parse import quote, urlsplit
from xml.sax.saxutils import quoteattr

import msgspec
from msgspec import Meta, Struct

from workbench.base.checks import show
from workbench.base.errors import InputError
from workbench.serve.shown import Cells

PATIENCE = 60.0
"""Seconds to wait for an answer."""
LONGEST = 2**27
"""Bytes of an answer."""
PAGE = 500
"""Tasks that are read, or sent, at a time."""
ACTIONS = ("ANNOTATION_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_DELETED")
IN_TURN = "Sequential sampling"
CONTROL = "label"
"""Name of the control in a project that is made here."""
IS_IT = ": is this the address of a Label Studio?"


Number: TypeAlias = Annotated[int, Meta(ge=0, le=2**53)]
T = TypeVar("T")


class _Made(Struct):
    """A thing that has a number there; more stands in it."""

    id: Number


class _Access(Struct):
    access: str


class _Hook(Struct):
    id: Number
    url: str


class _User(Struct):
    id: Number
    email: str | None = None
    username: str | None = None


class _Control(Struct):
    type: str | None = None
    labels: list[Any] | None = None


class _Project(Struct):
    id: Number
    parsed_label_config: dict[str, _Control] | None = None


class _Choices(Struct):
    choices: list[Any] = []


class _Part(Struct):
    type: str | None = None
    from_name: str | None = None
    value: Any = None


class _Annotation(Struct):
    id: Number
    completed_by: Number | _Made | None
    was_cancelled: bool | None = None
    updated_at: str | None = None
    result: list[_Part] | None = None


class _Task(Struct):
    id: Number
    data: dict[str, Any]
    overlap: Number
    is_labeled: bool
    annotations: list[_Annotation] | None = None


class _Page(Struct):
    tasks: list[_Task]
    total: Number


class Annotation(NamedTuple):
    """What an annotator did with a task; `label` is None where she skipped it or chose nothing."""

    number: int
    user: int
    updated: str
    label: str | None
    skipped: bool


class StudioTask(NamedTuple):
    """A task of a project: its number there, its name here, and how many annotators it wants."""

    number: int
    name: str
    overlap: int
    finished: bool
    annotations: tuple[Annotation, ...]

    @property
    def done(self) -> int:
        """How many annotators have annotated it."""
        return len({each.user for each in self.annotations if not each.skipped})

    def labels(self) -> dict[int, str]:
        """Label of each annotator, the latest where she made several."""
        latest = sorted(self.annotations, key=lambda each: (each.updated, each.number))
        return {each.user: each.label for each in latest if each.label is not None}


class _NoDetour(urllib.request.HTTPRedirectHandler):
    """Follows nobody to another address, who would get the token."""

    def redirect_request(self, *_: Any) -> None:
        """Follow nowhere: the reply is an error."""


_OPENER = urllib.request.build_opener(_NoDetour)


class LabelStudio:
    """A server of Label Studio, and who may use it.

    Parameters
    ----------
    url
        Its address.
    token
        A personal access token, or a legacy token, of a user of it.

    Raises
    ------
    InputError
        The address is none of the web, or there is no token.
    """

    def __init__(self, url: str, token: str) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise InputError(f"--label-studio {show(url)}: give an address, as http://HOST:8080")
        if not re.fullmatch(r"[\x21-\x7e]+", token):
            raise InputError(
                "the token of Label Studio is missing: put it in the variable LABEL_STUDIO_API_KEY"
            )
        self.url, self._token = url.rstrip("/"), token
        self._access: str | None = None

    # ---- projects ----

    def project(self, number: int) -> dict[str, Any]:
        """Read a project.

        Raises
        ------
        InputError
            There is none of this number, or it is in another form than Label Studio's.
        """
        project = self._ask("GET", f"/api/projects/{number}/", absent=True)
        if project is None:
            raise InputError(f"--project {number}: {self.url} has no such project for this token")
        _read(project, _Project, self.url)
        return dict(project)

    def new_project(self, title: str, config: str) -> int:
        """Make a project."""
        body = {"title": title[:50].ljust(3, "."), "label_config": config}
        return _read(self._ask("POST", "/api/projects/", body), _Made, self.url).id

    def take_over(self, project: Mapping[str, Any]) -> None:
        """Let a project, as read, offer only what is opened by `offer`, in its tasks' order."""
        terms = {"maximum_annotations": 0, "sampling": IN_TURN, "show_overlap_first": False}
        if any(project.get(name) != value for name, value in terms.items()):
            self._ask("PATCH", f"/api/projects/{project['id']}/", terms)

    # ---- tasks ----

    def tasks(self, project: int, control: str) -> Iterator[StudioTask]:
        """Read all tasks, with what annotators chose by a control."""
        page, total, count = 1, 1, 0
        while count < total:
            words = f"project={project}&fields=all&page={page}&page_size={PAGE}"
            reply = self._ask("GET", f"/api/tasks/?{words}", absent=True)
            if reply is None:
                return
            read = _read(reply, _Page, self.url)
            if not read.tasks:
                return
            yield from (_task(task, control, self.url) for task in read.tasks)
            page, total, count = page + 1, read.total, count + len(read.tasks)

    def task(self, number: int, control: str) -> StudioTask | None:
        """Read a task; None where it is no more."""
        task = self._ask("GET", f"/api/tasks/{number}/", absent=True)
        return None if task is None else _task(_read(task, _Task, self.url), control, self.url)

    def add(self, project: int, tasks: Sequence[Mapping[str, Any]]) -> None:
        """Put tasks into a project, the data of each."""
        for start in range(0, len(tasks), PAGE):
            body = [{"data": dict(data)} for data in tasks[start : start + PAGE]]
            self._ask("POST", f"/api/projects/{project}/import", body)

    def offer(self, task: StudioTask, more: int) -> StudioTask:
        """Offer a task to so many annotators more; to nobody at 0."""
        terms = {"overlap": task.done + more, "is_labeled": more == 0}
        self._ask("PATCH", f"/api/tasks/{task.number}/", terms, absent=True)
        return task._replace(overlap=task.done + more, finished=more == 0)

    # ---- people, and who hears of changes ----

    def users(self) -> dict[int, str]:
        """Name of each user: the address, or the user name where there is none."""
        users = _read(self._ask("GET", "/api/users/"), list[_User], self.url)
        return {each.id: each.email or each.username or f"annotator {each.id}" for each in users}

    def listen(self, project: int, url: str, token: str) -> None:
        """Let changes of annotations be sent to an address, with a secret header.

        Raises
        ------
        InputError
            It refuses: addresses of private networks, unless it is allowed to use them.
        """
        self.leave_alone(project, url)
        body = {
            "project": project,
            "url": url,
            "send_payload": True,
            "send_for_all_actions": False,
            "actions": ACTIONS,
            "headers": {"Authorization": f"Bearer {token}"},
        }
        self._ask("POST", "/api/webhooks/", body)

    def leave_alone(self, project: int, url: str) -> None:
        """Let nothing more be sent to an address."""
        hooks = self._ask("GET", f"/api/webhooks/?project={project}")
        for hook in _read(hooks, list[_Hook], self.url):
            if hook.url == url:
                self._ask("DELETE", f"/api/webhooks/{hook.id}/", absent=True)

    # ---- one request ----

    def _ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        absent: bool = False,
        again: bool = False,
    ) -> Any:
        """Send a request; None for a thing that is not there, where that is allowed.

        `again`: with another access, for the one before was refused.

        Raises
        ------
        InputError
            It cannot be reached, refuses, or answers with something else than JSON.
        """
        try:
            return self._send(method, path, body, self._header())
        except InputError:  # is a ValueError
            raise
        except urllib.error.HTTPError as error:
            if error.code == 401 and self._access is not None and not again:
                self._access = None  # it is valid for minutes only
                return self._ask(method, path, body, absent=absent, again=True)
            if error.code == 404 and absent:
                return None
            raise InputError(f"{self.url}: {_reason(error)}") from None
        except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
            raise InputError(f"{self.url}: answers with no JSON{IS_IT}") from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            raise InputError(f"{self.url}: cannot be reached ({reason!s:.200})") from None

    def _header(self) -> str:
        """Give the header of a legacy token; of a personal one that of what it is changed for."""
        if self._token.count(".") != 2:
            return f"Token {self._token}"
        if self._access is None:
            try:
                body = {"refresh": self._token}
                reply = self._send("POST", "/api/token/refresh/", body, None)
                self._access = _read(reply, _Access, self.url).access
            except urllib.error.HTTPError as error:
                raise InputError(f"{self.url}: {_reason(error)}") from None
        return f"Bearer {self._access}"

    def _send(self, method: str, path: str, body: Any, header: str | None) -> Any:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if header is not None:
            headers["Authorization"] = header
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, content, headers, method=method)
        with _OPENER.open(request, timeout=PATIENCE) as reply:
            text = reply.read(LONGEST + 1)
        if len(text) > LONGEST:
            raise InputError(f"{self.url}: answers with more than {LONGEST} bytes{IS_IT}")
        return json.loads(text) if text else None


def _reason(error: urllib.error.HTTPError) -> str:
    """Say in a line why a request was refused."""
    try:
        reply = json.loads(error.read())
        detail = str(reply.get("validation_errors") or reply.get("detail") or reply)
    except (ValueError, AttributeError, OSError, RecursionError, http.client.HTTPException):
        detail = str(error.reason)
    if error.code == 401:
        detail += " Give a valid token in the variable LABEL_STUDIO_API_KEY."
    return f"refuses ({error.code}): {' '.join(detail.split())[:300]}"


def _read(reply: Any, kind: type[T], url: str) -> T:
    """Hold an answer against the form that it should have.

    Raises
    ------
    InputError
        It has another: the line names the first place.
    """
    try:
        return msgspec.convert(reply, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        where = " ".join(str(error).replace("`", "").split())
        raise InputError(f"{url}: answers otherwise than expected, {where:.200}{IS_IT}") from None


def _task(task: _Task, control: str, url: str) -> StudioTask:
    annotations = tuple(
        _annotation(each, control, url)
        for each in task.annotations or ()
        if each.completed_by is not None  # of a user who was deleted
    )
    name = str(task.data.get("task", task.id))
    return StudioTask(task.id, name, task.overlap, task.is_labeled, annotations)


def _annotation(annotation: _Annotation, control: str, url: str) -> Annotation:
    user, skipped = annotation.completed_by, bool(annotation.was_cancelled)
    chosen = [
        choice
        for part in annotation.result or ()
        if part.type == "choices" and part.from_name == control
        for choice in _read(part.value, _Choices, url).choices
    ]
    label = str(chosen[0]) if len(chosen) == 1 and not skipped else None
    number = user.id if isinstance(user, _Made) else user or 0
    return Annotation(annotation.id, number, annotation.updated_at or "", label, skipped)


# ---- how a project shows tasks ----


def control_of(project: Mapping[str, Any], classes: Collection[str]) -> str:
    """Name of the control of a project by which one of the classes is chosen.

    Raises
    ------
    InputError
        There is none.
    """
    read = msgspec.convert(project, _Project)
    for name, control in (read.parsed_label_config or {}).items():
        offered = {str(label) for label in control.labels or ()}
        if control.type == "Choices" and set(classes) <= offered:
            return name
    raise InputError(
        f"project {project.get('id')}: no Choices in its labeling configuration has all classes "
        f"({', '.join(sorted(classes))[:200]}): add them, or leave out --project to have one made"
    )


def label_config(classes: Sequence[str], columns: Sequence[str]) -> str:
    """Write a labelling configuration: what is shown of tasks, and a choice among the classes."""
    parts = ["<View>"]
    for column in columns:
        kind = "Image" if column == "image" else "Text"
        parts.append(f'  <{kind} name="shown_{column}" value="${column}"/>')
    parts.append(
        f'  <Choices name="{CONTROL}" toName="shown_{columns[0]}" choice="single-radio" '
        'showInline="true" required="true">'
    )
    for place, label in enumerate(classes):
        hotkey = f' hotkey="{place + 1}"' if place < 9 else ""
        parts.append(f"    <Choice value={quoteattr(label)}{hotkey}/>")
    return "\n".join([*parts, "  </Choices>", "</View>"])


def shown_columns(cells: Collection[Cells]) -> list[str]:
    """Columns that a configuration can show, text and picture first."""
    names = dict.fromkeys(name for row in cells for name in row)
    plain = [name for name in names if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name)]
    plain = [name for name in plain if name != "task"]
    return sorted(plain, key=lambda name: (name != "text", name != "image")) or ["text"]


def address_of(url: str, project: int) -> str:
    """Address of a project's page."""
    return f"{url}/projects/{quote(str(project))}/data"
