"""Who may add to a memory, what is added, and how it is taken back."""

import json
import shutil
import signal
import sqlite3
from pathlib import Path

import httpx2
import pytest
from starlette.testclient import TestClient

from anaphora.errors import RunError
from anaphora.memory import Memory, store
from anaphora.serving.app import ACTIONS
from anaphora.serving.keys import new_key, read_keys
from anaphora.serving.limits import ServingLimits
from anaphora.serving.translators import ServedRun, Translators
from tests.serving.conftest import PAIR, RUN, Serve, server_process

FIELDS = {"q": "A man is walking.", "s": "Un type se promène.", **PAIR}
ASKED = {"q": FIELDS["q"], **PAIR}


@pytest.mark.parametrize("kind", ["json", "data", "params"])
def test_a_confirmed_translation_is_found_at_once(learning: TestClient, kind: str) -> None:
    before = learning.post("/translate", json=ASKED).json()["translatedText"]
    assert before != FIELDS["s"]
    assert learning.post("/suggest", **{kind: FIELDS}).json() == {"success": True}
    assert learning.post("/translate", json=ASKED).json() == {"translatedText": FIELDS["s"]}


def test_nothing_is_learnt_unless_allowed_into_a_memory(serve: Serve, remembering: ServedRun, memory: Memory) -> None:
    for client in (serve([remembering]), serve(learns=True)):
        for action in (one for one in ACTIONS if one.learns):
            assert client.request(action.method, action.path, json=FIELDS).status_code == 403
        assert client.get("/frontend/settings").json()["suggestions"] is False
    assert len(memory) == 0


def test_a_key_may_add_and_is_remembered(serve: Serve, remembering: ServedRun, memory: Memory, tmp_path: Path) -> None:
    reads, learns = new_key(tmp_path / "keys", "reader"), new_key(tmp_path / "keys", "editor", learns=True)
    client = serve([remembering], keys=read_keys(tmp_path / "keys"))
    for key, status in (("", 400), ("wrong", 403), (reads, 403), (learns, 200)):
        assert client.post("/suggest", json={**FIELDS, "api_key": key}).status_code == status
        assert len(memory) == (status == 200)
    for key, allowed in ((reads, False), (learns, True)):
        assert client.get("/frontend/settings", params={"api_key": key}).json()["suggestions"] is allowed
    assert memory.origins() == {"server:editor": 1}


def test_pages_of_other_origins_neither_add_nor_take_back(serve: Serve, remembering: ServedRun, memory: Memory) -> None:
    client = serve([remembering], learns=True, origins=["https://site.example"])
    own = [one for one in ACTIONS if one.own]
    assert {one.path for one in own} == {"/suggest", "/suggest/undo", "/translate_file"}
    for action in own:
        for origin in ("https://evil.example", "null", "http://localhost:5001", "http://localhost.evil.example"):
            answer = client.request(action.method, action.path, data=FIELDS, headers={"Origin": origin})
            assert (answer.status_code, len(memory)) == (403, 0)
    for number, origin in enumerate(("http://localhost:5000", "https://site.example"), 1):
        fields = {**FIELDS, "s": origin}
        assert client.post("/suggest", data=fields, headers={"Origin": origin}).status_code == 200
        assert len(memory) == number


def test_confirmed_text_is_taken_back_once_with_its_token(learning: TestClient, memory: Memory) -> None:
    before = learning.post("/translate", json=ASKED).json()
    tokens = [learning.post("/suggest", json={**FIELDS, "s": s, "undo": True}).json()["undo"] for s in ("Un", "U")]
    assert len(set(tokens)) == 2 and all(len(token) >= 40 for token in tokens)
    for guessed in ("", "1", tokens[0][:-1]):
        assert learning.post("/suggest/undo", json={"token": guessed}).status_code in (400, 404)
    assert learning.post("/suggest/undo", json={"token": tokens[1]}).json() == {"success": True}
    assert learning.post("/translate", json=ASKED).json() == {"translatedText": "Un"}
    assert learning.post("/suggest/undo", json={"token": tokens[1]}).status_code == 404
    learning.post("/suggest/undo", json={"token": tokens[0]})
    assert learning.post("/translate", json=ASKED).json() == before
    assert len(memory) == 0


def test_what_is_known_is_neither_added_again_nor_undone(learning: TestClient, memory: Memory) -> None:
    for token in (True, False):
        answer = learning.post("/suggest", json={**FIELDS, "undo": True}).json()
        assert (answer["success"], bool(answer["undo"])) == (True, token)
    assert len(memory) == 1


WRONG = (
    *({"q": ""}, {"s": " \n"}, {"q": ["A man.", "A dog."]}, {"s": ["Un homme."]}, {"s": 5}, {"s": "\ud800"}),
    *({"s": "x" * 101}, {"source": "auto"}, {"target": "de"}, {"target": "en"}),
)


def test_what_is_no_pair_of_texts_is_refused(serve: Serve, remembering: ServedRun, memory: Memory) -> None:
    served = remembering._replace(nearest=lambda text, translation: [])
    client = serve([served], learns=True, limits=ServingLimits(characters=100))
    for wrong in WRONG:
        body = json.dumps({**FIELDS, **wrong})
        for path in ("/suggest", "/neighbours"):
            answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
            assert (answer.status_code, list(answer.json()), len(memory)) == (400, ["error"], 0), (path, wrong)


def test_a_full_memory_takes_no_more(serve: Serve, remembering: ServedRun, memory: Memory) -> None:
    client = serve([remembering], learns=True, limits=ServingLimits(segments=1))
    assert [client.post("/suggest", json={**FIELDS, "s": text}).status_code for text in "ab"] == [200, 400]
    assert len(memory) == 1


def test_while_another_process_writes_texts_are_translated_and_suggestions_wait(
    learning: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "PATIENCE", 0.1)
    other = sqlite3.connect(tmp_path / store.NAME, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    answer = learning.post("/suggest", json=FIELDS)
    assert (answer.status_code, str(tmp_path) in answer.text) == (503, False)
    assert learning.post("/translate", json=ASKED).status_code == 200
    other.rollback()
    other.close()
    assert learning.post("/suggest", json=FIELDS).status_code == 200


@pytest.mark.slow
def test_what_a_killed_server_had_learnt_is_known_to_the_next(tmp_path: Path) -> None:
    run = shutil.copytree(RUN, tmp_path / "run")
    with server_process("--memory", "--learn", run=run) as (process, address):
        assert httpx2.post(f"{address}suggest", json=FIELDS).json() == {"success": True}
        process.send_signal(signal.SIGKILL)
        process.wait()
    with server_process("--memory", run=run) as (process, address):
        assert httpx2.post(f"{address}translate", json=ASKED).json() == {"translatedText": FIELDS["s"]}
        assert httpx2.post(f"{address}suggest", json=FIELDS).status_code == 403
        process.terminate()
        assert process.wait() == 0


def test_a_run_without_a_memory_is_named(tmp_path: Path) -> None:
    shutil.copytree(RUN, tmp_path / "run")
    with pytest.raises(RunError, match="has no translation memory: add segments"):
        Translators.load([tmp_path / "run"], memory=True)
