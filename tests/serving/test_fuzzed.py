"""Whatever is sent, the server answers with JSON and never with a fault of its own."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anaphora.serving.app import ACTIONS
from anaphora.serving.translators import Served
from tests.serving.conftest import Serve

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


def check(serve: Serve, remembering: Served, examples: int) -> None:
    client = serve([remembering], learns=True)

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(request=REQUEST)
    def answered(request: tuple[str, str, str, bytes]) -> None:
        method, path, kind, body = request
        answer = client.request(method, path, headers={"Content-Type": kind}, content=body)
        assert answer.status_code < 500, answer.text
        if answer.status_code >= 400:
            assert list(answer.json()) == ["error"]

    answered()


def test_no_request_is_answered_with_a_fault(serve: Serve, remembering: Served) -> None:
    check(serve, remembering, 200)


@pytest.mark.slow
def test_ten_thousand_requests_are_answered_without_a_fault(serve: Serve, remembering: Served) -> None:
    check(serve, remembering, 10_000)
