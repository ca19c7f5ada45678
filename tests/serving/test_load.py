"""The server as a process over time: many clients for a minute, and none."""

import time
from pathlib import Path

import pytest

from anaphora.serving.translators import ServedRun as Translator
from benchmarks.serving import Client, Load, Served
from tests.serving.conftest import server_process

pytestmark = pytest.mark.slow


def test_for_a_minute_sixty_four_clients_get_right_answers_from_the_same_memory(stored: Translator) -> None:
    texts = [f"A man and {number} dogs are walking." for number in range(50)]
    wanted = [one.text for one in stored.predictor.translate_text(texts)]
    with server_process("--quiet") as (process, address):
        served = Served(process.pid, address)
        load = Load(served, texts)
        before = load.run(64, 10)  # any status but 200 ends a client with an error
        after = load.run(64, 50)
        assert (before.wrong, after.wrong) == (0, 0)
        with Client(address) as client:
            assert [client.translated(text) for text in texts] == wanted
        assert len(after.waits) > 64
        assert after.megabytes < before.megabytes + 20


def test_nothing_is_computed_while_nobody_asks() -> None:
    with server_process("--quiet") as (process, address):
        served = Served(process.pid, address)
        with Client(address) as client:
            client.translated("A man is walking.")
        time.sleep(1)
        before = served.processor_seconds
        time.sleep(3)
        assert served.processor_seconds - before < 0.1


def test_only_programs_on_this_machine_can_connect_unless_it_is_told_otherwise() -> None:
    with server_process("--quiet") as (process, address):
        port = int(address.rstrip("/").rpartition(":")[2])
        listening = [
            line.split()[1]
            for table in ("tcp", "tcp6")
            for line in Path(f"/proc/{process.pid}/net/{table}").read_text().splitlines()[1:]
            if line.split()[3] == "0A" and int(line.split()[1].rpartition(":")[2], 16) == port
        ]
        assert listening == [f"0100007F:{port:04X}"]
