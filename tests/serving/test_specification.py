"""The description of the routes says what they do: every field is read, and none besides."""

import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from anaphora.serving.actions import Action
from anaphora.serving.app import ACTIONS
from anaphora.serving.parameters import Parameters

GIVEN = {"q": "A man.", "s": "Un homme.", "source": "en", "target": "fr", "text": "A man."}
PO = b'msgid "A man."\nmsgstr ""\n'


def ask(client: Any, action: Action, token: str = "", leave_out: str = "") -> Any:
    """Ask for a route with a value for each field that it needs but one."""
    fields = {**GIVEN, "token": token, "name": "x"}
    path = re.sub(r"{(\w+)[^}]*}", lambda found: fields[found[1]], action.path)
    sent = {name: fields[name] for name in action.needs.split() if name in fields and name != leave_out}
    if "file" in action.needs:
        return client.post(path, data=sent, files={} if leave_out == "file" else {"file": ("a.po", PO)})
    return client.get(path) if action.method == "GET" else client.post(path, json=sent)


def test_every_route_is_described(client: TestClient) -> None:
    described = client.get("/spec").json()
    assert described["openapi"].startswith("3.0")
    assert {(path, method.upper()) for path, methods in described["paths"].items() for method in methods} == {
        (action.path.replace(":lines", ""), action.method) for action in ACTIONS
    }
    for path, methods in described["paths"].items():
        for operation in methods.values():
            assert re.fullmatch(r"\S.*\.", operation["summary"])
            in_path = [one["name"] for one in operation.get("parameters", []) if one["in"] == "path"]
            assert in_path == re.findall(r"{(\w+)}", path)


def test_a_route_reads_the_fields_that_are_described_and_no_others(
    learning: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = set[str]()

    def spy(self: Parameters, name: str) -> Any:
        read.add(name)
        return dict.get(self, name)

    monkeypatch.setattr(Parameters, "get", spy)
    token = learning.post("/suggest", json={**GIVEN, "undo": True}).json()["undo"]
    for action in ACTIONS:
        read.clear()
        assert ask(learning, action, token).status_code == (404 if action.path.startswith("/download_file") else 200)
        assert read - {"api_key"} == set(f"{action.needs} {action.takes}".split()), action.path


def test_a_route_is_refused_without_a_field_that_it_needs(learning: TestClient) -> None:
    for action in (one for one in ACTIONS if one.method == "POST"):
        for name in action.needs.split():
            answer = ask(learning, action, leave_out=name)
            assert (answer.status_code, f"missing {name} parameter" in answer.json()["error"]) == (400, True)
