"""Training pairs for each word of a translation: shown where the server was asked to, by one request at a time."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from starlette.testclient import TestClient

from anaphora.serving.translators import ServedRun
from tests.serving.conftest import Serve

ASKED = {"q": "A man.", "s": "Un homme.", "source": "en", "target": "fr"}
PAIR = {"source": "A man walks.", "target": "[Un] homme", "distance": 0.5}


def test_pairs_are_answered_by_word(serve: Serve, stored: ServedRun) -> None:
    asked = list[tuple[str, str]]()

    def nearest(text: str, translation: str) -> list[list[dict[str, Any]]]:
        asked.append((text, translation))
        return [[PAIR], []]

    client = serve([stored._replace(nearest=nearest)])
    assert client.get("/frontend/settings").json()["neighbours"] is True
    assert client.post("/neighbours", json=ASKED).json() == {"neighbours": [[PAIR], []]}
    assert asked == [("A man.", "Un homme.")]


def test_both_texts_are_demanded(learning: TestClient) -> None:
    for field in ("q", "s"):
        for value in ("", " ", ["A man."], 3):
            answer = learning.post("/neighbours", json={**ASKED, field: value})
            assert answer.status_code == 400 and field in answer.json()["error"]


def test_a_server_that_was_not_asked_to_shows_nothing(client: TestClient) -> None:
    assert client.get("/frontend/settings").json()["neighbours"] is False
    answer = client.post("/neighbours", json=ASKED)
    assert (answer.status_code, answer.json()) == (403, {"error": "Training pairs are not shown by this server"})


def test_one_request_looks_at_a_time(serve: Serve, stored: ServedRun) -> None:
    looking, most = 0, 0
    counting, two = threading.Lock(), threading.Event()

    def nearest(text: str, translation: str) -> list[list[dict[str, Any]]]:
        nonlocal looking, most
        with counting:
            looking += 1
            most = max(most, looking)
            if looking > 1:
                two.set()
        two.wait(0.05)
        with counting:
            looking -= 1
        return []

    client = serve([stored._replace(nearest=nearest)])
    with ThreadPoolExecutor(4) as clients:
        answers = list(clients.map(lambda _: client.post("/neighbours", json=ASKED).status_code, range(4)))
    assert answers == [200] * 4 and most == 1
