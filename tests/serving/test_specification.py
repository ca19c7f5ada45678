"""Routes read the fields that are described and none besides, and answer anything with JSON and no fault of theirs."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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


def test_routes_read_the_described_fields_and_no_others(learning: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
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


TEXT = st.text(max_size=8)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
NAMES = sorted({"api_key", *" ".join(f"{one.needs} {one.takes}" for one in ACTIONS).split()})
USUAL = st.sampled_from(["en", "fr", "auto", "text", "html", "A man.", "<b>dogs", 2, "", ["A man.", "x"], [], None])
FIELDS = st.dictionaries(st.sampled_from(NAMES), USUAL | VALUE, max_size=6)
BODY = (
    st.binary(max_size=40)
    | FIELDS.map(lambda fields: json.dumps(fields).encode("utf-8", "surrogatepass"))
    | st.dictionaries(st.sampled_from(NAMES), TEXT, max_size=4).map(
        lambda fields: "&".join(f"{name}={value}" for name, value in fields.items()).encode("utf-8", "surrogatepass")
    )
)
KIND = st.sampled_from(
    [
        "application/json",
        "application/json; charset=latin-1",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "multipart/form-data",
        "text/plain",
        "",
    ]
)
REQUEST = st.tuples(
    st.sampled_from(["GET", "POST", "PUT", "OPTIONS"]),
    st.sampled_from([action.path for action in ACTIONS] + ["/nothing"]),
    KIND,
    BODY,
)


@settings(max_examples=60)
@given(request=REQUEST)
def test_no_request_is_answered_with_a_fault(learning: TestClient, request: tuple[str, str, str, bytes]) -> None:
    method, path, kind, body = request
    answer = learning.request(method, path, headers={"Content-Type": kind}, content=body)
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert list(answer.json()) == ["error"]
