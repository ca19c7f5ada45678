"""Who may ask: keys, host names, other sites' pages; and what the log and the counters never hold."""

from pathlib import Path
from unittest.mock import AsyncMock

import pytest

from anaphora.errors import ConfigError
from anaphora.serving.app import ACTIONS, check_host, check_origin
from anaphora.serving.keys import new_key, read_keys
from anaphora.serving.refusal import Refusal
from anaphora.serving.translators import ServedRun
from tests.serving.conftest import Serve

FIELDS = {"q": "A man.", "source": "en", "target": "fr"}
OPEN = {"/", "/page.css", "/page.js", "/health", "/health/ready", "/download_file/{name}"}


@pytest.fixture
def key_file(tmp_path: Path) -> tuple[Path, str]:
    path = tmp_path / "keys"
    return path, new_key(path, "weblate")


def test_with_keys_every_route_but_the_page_and_health_needs_one(serve: Serve, key_file: tuple[Path, str]) -> None:
    client = serve(keys=read_keys(key_file[0]))
    assert {action.path for action in ACTIONS if action.open} == OPEN
    for action in ACTIONS:
        status = client.request(action.method, action.path).status_code
        assert (status in (200, 404)) == (action.path in OPEN)


def test_a_key_is_taken_from_a_field_or_a_header(serve: Serve, key_file: tuple[Path, str]) -> None:
    path, key = key_file
    client = serve(keys=read_keys(path))
    assert client.post("/translate", data={**FIELDS, "api_key": key}).status_code == 200
    assert client.post("/translate", json=FIELDS, headers={"Authorization": f"Bearer {key}"}).status_code == 200
    wrong = client.post("/translate", json={**FIELDS, "api_key": "wrong"})
    assert (wrong.status_code, wrong.json()) == (403, {"error": "Invalid API key"})


def test_a_key_file_has_hashes_alone_and_only_its_owner_reads_it(key_file: tuple[Path, str]) -> None:
    path, key = key_file
    assert key not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0
    new_key(path, "other")
    assert [one.name for one in read_keys(path)] == ["weblate", "other"]
    with pytest.raises(ConfigError, match="has a key of the name other"):
        new_key(path, "other")


@pytest.mark.parametrize("line", ["weblate", "weblate sha256:12", "a b sha256:" + "0" * 64])
def test_a_wrong_line_of_a_key_file_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "keys").write_text(f"# comment\n\n{line}\n")
    with pytest.raises(ConfigError, match=":3 should be"):
        read_keys(tmp_path / "keys")


def test_only_addresses_and_known_names_are_answered(serve: Serve) -> None:
    client = serve(names=["mine.example"])
    own = ("localhost", "localhost:5000", "127.0.0.1:80", "[::1]:5000", "mine.example")
    for host in (*own, "evil.example", "mine.example.evil.example", "", "[", "127.0.0.1.evil.example"):
        assert client.get("/health", headers={"Host": host}).status_code == (200 if host in own else 403), host


def test_a_client_that_names_no_host_is_no_browser() -> None:
    check_host(None, ())
    with pytest.raises(Refusal):
        check_origin("http://evil.example", "", ())


def test_pages_of_listed_origins_alone_may_read_answers(serve: Serve) -> None:
    client = serve(origins=["https://site.example"])
    for origin, allowed in (("https://site.example", "https://site.example"), ("https://evil.example", None)):
        answer = client.post("/translate", json=FIELDS, headers={"Origin": origin})
        assert answer.headers.get("access-control-allow-origin") == allowed


def test_no_secret_is_in_the_log_or_counters(serve: Serve, remembering: ServedRun, key_file: tuple[Path, str]) -> None:
    path, key = key_file
    lines: list[str] = []
    client = serve([remembering], keys=read_keys(path), lines=lines, learns=True)
    canary = "canary"
    confirmed = {**FIELDS, "q": canary, "s": canary, "undo": "1", "api_key": key}
    token = client.post("/suggest", params=confirmed).json()["undo"]
    client.post("/suggest/undo", params={"token": token, "api_key": key})
    client.post("/translate", params={**FIELDS, "q": canary, "api_key": key})
    client.post("/translate", json={**FIELDS, "q": canary, "source": canary, "api_key": key})
    client.get(f"/{canary}", params={"api_key": key})
    counters = client.get("/metrics", headers={"Authorization": f"Bearer {key}"}).text
    assert 'anaphora_requests_total{route="/translate",status="200"} 1.0' in counters
    for text in (*lines, counters):
        assert canary not in text and key not in text and token not in text
    assert len(lines) >= 4


def test_a_fault_is_answered_without_its_words_and_is_logged(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    client = serve(lines=lines)
    service = client.app.state.service  # type: ignore[attr-defined]
    monkeypatch.setattr(service.batching, "translate", AsyncMock(side_effect=RuntimeError("secret text")))
    answer = client.post("/translate", json=FIELDS)
    assert answer.status_code == 500
    assert "secret" not in answer.text + "".join(lines)
    assert any("RuntimeError at" in line for line in lines)
