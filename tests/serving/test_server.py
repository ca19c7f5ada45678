"""The server as a process: real clients, many at once, signals."""

import re
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from anaphora.serving.limits import ServingLimits
from anaphora.serving.translators import Served
from tests.serving.conftest import RUN, server_process

PAIR = {"source": "en", "target": "fr"}


@pytest.mark.slow
def test_unmodified_clients_get_their_translations(stored: Served) -> None:
    deep_translator = pytest.importorskip("deep_translator")
    libretranslatepy = pytest.importorskip("libretranslatepy")
    [wanted] = [one.text for one in stored.predictor.translate_text(["A man is walking."])]
    with server_process() as (_, address):
        client = libretranslatepy.LibreTranslateAPI(address)
        assert client.translate("A man is walking.", "en", "fr") == wanted
        assert client.languages()[0]["targets"] == ["fr"]
        assert client.detect("A man.")[0]["language"] == "en"
        deep = deep_translator.LibreTranslator(source="en", target="fr", api_key="any", custom_url=address)
        assert deep.translate("A man is walking.") == wanted


@pytest.mark.slow
def test_sixty_four_clients_at_once_each_get_what_one_gets_alone(stored: Served) -> None:
    texts = [f"A man and {number} dogs." for number in range(64)]
    wanted = [one.text for one in stored.predictor.translate_text(texts)]

    def ask(number: int) -> list[Any]:
        with httpx2.Client(base_url=address, timeout=60) as client:
            answers = [client.post("translate", json={"q": texts[number], **PAIR}) for _ in range(5)]
        return [one.json() for one in answers]

    with server_process("--quiet") as (_, address), ThreadPoolExecutor(64) as clients:
        found = list(clients.map(ask, range(64)))
    assert found == [[{"translatedText": text}] * 5 for text in wanted]


@pytest.mark.slow
def test_at_sigterm_what_is_in_work_is_answered_and_the_process_ends_with_0() -> None:
    answers: list[httpx2.Response] = []
    with server_process() as (process, address):
        texts = [f"A man and {number} dogs. " * 100 for number in range(ServingLimits().texts)]
        body = {"q": [text[:1500] for text in texts], **PAIR}
        thread = threading.Thread(
            target=lambda: answers.append(httpx2.post(f"{address}translate", json=body, timeout=60))
        )
        thread.start()
        while not re.search(r"^anaphora_waiting_texts [1-9]", httpx2.get(f"{address}metrics").text, re.MULTILINE):
            assert thread.is_alive(), "answered before it was seen in work"
        process.send_signal(signal.SIGTERM)
        thread.join()
        assert process.wait(30) == 0
    assert answers[0].status_code == 200


@pytest.mark.slow
def test_a_header_without_end_is_refused() -> None:
    with (
        server_process() as (_, address),
        socket.create_connection(("127.0.0.1", int(address[:-1].rpartition(":")[2]))) as client,
    ):
        client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: ")
        with pytest.raises(OSError, match=r"reset|pipe"):
            for _ in range(64):
                client.sendall(b"x" * (1 << 20))


@pytest.mark.slow
def test_a_taken_port_and_a_run_of_another_task_are_refused_in_one_sentence() -> None:
    with server_process() as (_, address):
        port = address.rstrip("/").rsplit(":", 1)[1]
        for arguments, message in (
            ([str(RUN), "--port", port], f"port {port} cannot be used: Address already in use"),
            ([str(RUN.parent / "kinds-2" / "aligner"), "--port", "0"], "only translators can be served"),
            ([str(RUN), str(RUN), "--port", "0"], "Two of the runs translate en to fr"),
            ([], "Give the run folders"),
        ):
            command = [sys.executable, "-m", "anaphora", "serve", *arguments]
            ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
            assert (ended.returncode, len(ended.stderr.splitlines())) == (2, 1)
            assert message in ended.stderr
