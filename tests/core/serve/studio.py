"""A small server that answers as Label Studio 1.23 does, and annotators for it and the real one."""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree as ET

import httpx

OWNER = "0123456789abcdef0123456789abcdef01234567"
PERSONAL = "aaaa.bbbb.cccc"


class FakeStudio:
    """Projects, tasks, annotations and webhooks in memory, on a port that is free.

    What was tried with the real one: a task is offered to whom has not annotated it while it is not
    `is_labeled` and has fewer annotators than `overlap`; `is_labeled` follows from these numbers
    when an annotation comes, changes or goes, but not when `overlap` does; a project's new
    `maximum_annotations` goes to all its tasks.
    """

    def __init__(self, people):
        self.lock = threading.RLock()
        self.tokens = {OWNER: 1} | {f"token-{name}": k + 2 for k, name in enumerate(people)}
        self.users = [{"id": 1, "email": "owner@example.org", "username": ""}]
        self.users += [
            {"id": k + 2, "email": f"{name}@example.org", "username": name}
            for k, name in enumerate(people)
        ]
        self.projects, self.tasks, self.annotations, self.hooks = {}, {}, {}, {}
        self.numbers, self.requests, self.failing = 0, [], False
        self.private, self.access = False, "access-1"
        handler = type("Handler", (_Handler,), {"studio": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def number(self):
        self.numbers += 1
        return self.numbers

    def answer(self, user, method, path, query, body):
        """Code and body of a reply; None where there is no such thing."""
        parts = [part for part in path.split("/") if part][1:]
        match method, *parts:
            case "POST", "projects":
                return self.new_project(body)
            case "GET", "projects", number:
                project = self.projects.get(int(number))
                return None if project is None else (200, project)
            case "PATCH", "projects", number:
                project = self.projects[int(number)]
                project |= body
                for task in self.of(project["id"]):
                    task["overlap"] = project["maximum_annotations"]
                    self.count(task)
                return 200, project
            case "GET", "projects", number, "next":
                task = self.next_for(user, int(number))
                return None if task is None else (200, {"id": task["id"], "data": task["data"]})
            case "POST", "projects", number, "import":
                for row in body:
                    self.new_task(int(number), row["data"])
                return 201, {"task_count": len(body)}
            case "GET", "tasks":
                return self.page(query)
            case (("GET" | "PATCH"), "tasks", number):
                task = self.tasks.get(int(number))
                if task is None:
                    return None
                task |= body or {}
                people = {each["id"]: each for each in self.users}
                whole = self.with_annotations(task)
                for each in whole["annotations"]:
                    each["completed_by"] = people[each["completed_by"]]
                return 200, whole
            case "POST", "tasks", number, "annotations":
                return 201, self.annotate(user, int(number), body)
            case "PATCH", "annotations", number:
                annotation = self.annotations[int(number)]
                annotation |= body | {"updated_at": str(time.time_ns())}
                self.count(self.tasks[annotation["task"]])
                self.tell("ANNOTATION_UPDATED", annotation=annotation)
                return 200, annotation
            case "DELETE", "annotations", number:
                annotation = self.annotations.pop(int(number))
                self.count(self.tasks[annotation["task"]])
                self.tell("ANNOTATIONS_DELETED", annotations=[{"id": annotation["id"]}])
                return 204, None
            case "GET", "users":
                return 200, self.users
            case "GET", "webhooks":
                return 200, list(self.hooks.values())
            case "POST", "webhooks":
                if self.private:
                    return 403, {"detail": "URL resolves to a reserved network address"}
                number = self.number()
                self.hooks[number] = body | {"id": number}
                return 201, self.hooks[number]
            case "DELETE", "webhooks", number:
                del self.hooks[int(number)]
                return 204, None
        return None

    def new_project(self, body):
        number, controls = self.number(), {}
        for control in ET.fromstring(body["label_config"]).iter("Choices"):
            labels = [choice.attrib["value"] for choice in control.iter("Choice")]
            controls[control.attrib["name"]] = {"type": "Choices", "labels": labels}
        self.projects[number] = {
            "maximum_annotations": 1,
            "sampling": "Sequential sampling",
            "show_overlap_first": False,
            **body,
            "id": number,
            "parsed_label_config": controls,
        }
        return 201, self.projects[number]

    def new_task(self, project, data):
        overlap, number = self.projects[project]["maximum_annotations"], self.number()
        self.tasks[number] = {"id": number, "project": project, "data": data, "overlap": overlap}
        self.count(self.tasks[number])
        return number

    def of(self, project):
        return [task for task in self.tasks.values() if task["project"] == project]

    def with_annotations(self, task):
        mine = [each for each in self.annotations.values() if each["task"] == task["id"]]
        return task | {"annotations": [dict(each) for each in mine]}

    def people_of(self, task):
        mine = self.with_annotations(task)["annotations"]
        return {each["completed_by"] for each in mine if not each["was_cancelled"]}

    def count(self, task):
        task["is_labeled"] = len(self.people_of(task)) >= task["overlap"]

    def next_for(self, user, project):
        for task in self.of(project):
            people = self.people_of(task)
            mine = self.with_annotations(task)["annotations"]
            if any(each["completed_by"] == user for each in mine) or task["is_labeled"]:
                continue
            if len(people) < task["overlap"]:
                return task
        return None

    def page(self, query):
        rows = self.of(int(query["project"]))
        page, size = int(query["page"]), int(query["page_size"])
        rows, total = rows[(page - 1) * size : page * size], len(rows)
        if not rows and page > 1:
            return None
        return 200, {"tasks": [self.with_annotations(task) for task in rows], "total": total}

    def annotate(self, user, task, body):
        annotation = {
            "id": self.number(),
            "task": task,
            "completed_by": user,
            "was_cancelled": body.get("was_cancelled", False),
            "updated_at": str(time.time_ns()),
            "result": body["result"],
        }
        self.annotations[annotation["id"]] = annotation
        self.count(self.tasks[task])
        self.tell("ANNOTATION_CREATED", annotation=annotation)
        return annotation

    def tell(self, action, **payload):
        for hook in list(self.hooks.values()):
            if action in hook["actions"]:
                body = {"action": action, "project": {"title": "é"}} | payload
                with contextlib.suppress(httpx.HTTPError):  # as the real one
                    httpx.post(hook["url"], json=body, headers=hook["headers"], timeout=5)


class _Handler(BaseHTTPRequestHandler):
    studio: FakeStudio
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do(self):
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size)) if size else None
        parts, studio = urlsplit(self.path), self.studio
        studio.requests.append((self.command, parts.path, body))
        kind, _, token = self.headers.get("Authorization", "").partition(" ")
        if parts.path == "/api/token/refresh/":
            right = body == {"refresh": PERSONAL}
            return self.reply(*((200, {"access": studio.access}) if right else (401, {})))
        user = studio.tokens.get(token) if kind == "Token" else None
        if kind == "Bearer" and token == studio.access:
            user = 1
        if user is None:
            return self.reply(401, {"detail": "Invalid token."})
        if studio.failing:
            return self.reply(500, {"detail": "out of order"})
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        told = []
        with studio.lock:
            real, studio.tell = studio.tell, lambda *a, **k: told.append((a, k))
            try:
                answer = studio.answer(user, self.command, parts.path, query, body)
                answer = json.loads(json.dumps(answer))  # as it is now
            finally:
                studio.tell = real
        for words, payload in told:  # outside the lock: who hears it may ask at once
            studio.tell(*words, **payload)
        return self.reply(*(answer or (404, {"detail": "Not found."})))

    do_GET = do_POST = do_PATCH = do_DELETE = do  # noqa: N815

    def reply(self, code, body):
        content = b"" if body is None else json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


class Annotator:
    """Somebody who labels at a server of Label Studio, fake or real, by its API."""

    def __init__(self, url, token, name):
        self.name = name
        headers = {"Authorization": f"Token {token}"}
        self.http = httpx.Client(base_url=url, headers=headers, timeout=60)

    def offered(self, project):
        """Task that she is offered now: its number and its name; None where there is none."""
        reply = self.http.get(f"/api/projects/{project}/next")
        if reply.status_code == 404:
            return None
        assert reply.status_code == 200, reply.text
        task = reply.json()
        return task["id"], task["data"]["task"]

    def annotate(self, task, label, to="shown_text"):
        body = {"result": [chosen(label, to)]}
        return self._sent("POST", f"/api/tasks/{task}/annotations/", body)["id"]

    def skip(self, task):
        body = {"result": [], "was_cancelled": True}
        return self._sent("POST", f"/api/tasks/{task}/annotations/", body)["id"]

    def change(self, annotation, label, to="shown_text"):
        self._sent("PATCH", f"/api/annotations/{annotation}/", {"result": [chosen(label, to)]})

    def delete(self, annotation):
        self._sent("DELETE", f"/api/annotations/{annotation}/")

    def _sent(self, method, path, body=None):
        reply = self.http.request(method, path, json=body)
        assert reply.status_code in (200, 201, 204), reply.text
        return reply.json() if reply.content else None


def chosen(label, to="shown_text"):
    value = {"choices": [label]}
    return {"from_name": "label", "to_name": to, "type": "choices", "value": value}


def signed_up(url, name, owner=OWNER):
    """Annotator who signs up at the real one by an invitation."""
    header = {"Authorization": f"Token {owner}"}
    invitation = httpx.get(f"{url}/api/invite", headers=header).json()["invite_url"]
    with httpx.Client(base_url=url, follow_redirects=True, timeout=60) as http:
        page = http.get(invitation).text
        secret = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)[1]
        form = {"csrfmiddlewaretoken": secret, "email": f"{name}@example.org"}
        form |= {"password": "a-long-password", "allow_newsletters": "false"}
        http.post(invitation, data=form, headers={"Referer": url + invitation})
        token = http.get("/api/current-user/token").json()["token"]
    return Annotator(url, token, name)
