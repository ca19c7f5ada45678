"""Whatever is sent, the server answers with JSON and never with a fault of its own."""

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from anaphora.serving.app import ACTIONS

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


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(request=REQUEST)
def test_no_request_is_answered_with_a_fault(learning: TestClient, request: tuple[str, str, str, bytes]) -> None:
    method, path, kind, body = request
    answer = learning.request(method, path, headers={"Content-Type": kind}, content=body)
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert list(answer.json()) == ["error"]
