"""A download that breaks off is gone on with, and ends as the bytes of one that did not."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from anaphora.data.download import Download
from anaphora.errors import DataError
from anaphora.events import Event, Note, Progress, silent
from tests.data.file_server import FileServer, serving

BODY = Random(0).randbytes(300_000)
OTHER = Random(1).randbytes(300_000)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(BODY) as running:
        yield running


@pytest.fixture
def part(server: FileServer, tmp_path: Path) -> Download:
    return Download(server.address, tmp_path / "file.part", len(BODY), "fetching")


def break_off(server: FileServer, part: Download, after: int = 100_000) -> None:
    """Leave a beginning behind."""
    server.cut, ranges, server.ranges = after, server.ranges, False
    with pytest.raises(DataError, match=rf"broke off after {after:,} of 300,000 bytes: run the same again to go on"):
        part.fetch(silent)
    server.cut, server.ranges, server.asked = 0, ranges, []
    assert part.size == after


@pytest.mark.parametrize("version", [{"ETag": '"one"'}, {"Last-Modified": "Sat, 21 Nov 2026 06:00:00 GMT"}])
def test_the_next_call_asks_for_the_rest_alone(server: FileServer, part: Download, version: dict[str, str]) -> None:
    server.version = version
    break_off(server, part)
    events: list[Event] = []
    assert part.fetch(events.append)
    assert (part.path.read_bytes(), server.asked) == (BODY, ["bytes=100000-"])
    told = [event for event in events if isinstance(event, Progress)]
    assert told[0].done > 100_000 and told[-1] == Progress("fetching", 300_000, 300_000, "bytes")


@pytest.mark.parametrize("chunked", [False, True])
def test_a_connection_that_breaks_is_opened_again(server: FileServer, part: Download, chunked: bool) -> None:
    server.chunked, server.cut = chunked, 70_000
    events: list[Event] = []
    assert part.fetch(events.append)
    assert part.path.read_bytes() == BODY
    notes = [event.text for event in events if isinstance(event, Note)]
    assert ("of 300,000" in notes[0]) is not chunked and "broke off after" in notes[0]
    assert chunked or server.asked == ["whole", *(f"bytes={70_000 * times}-" for times in (1, 2, 3, 4))]
    assert chunked or len(notes) == 4


@pytest.mark.parametrize("change", [{"ranges": False}, {"body": OTHER, "version": {"ETag": '"two"'}}])
def test_the_whole_may_be_sent_for_the_rest(server: FileServer, part: Download, change: dict[str, Any]) -> None:
    break_off(server, part)
    vars(server).update(change)
    part.fetch(silent)
    assert part.path.read_bytes() == server.body


@pytest.mark.parametrize("version", [{}, {"ETag": 'W/"weak"'}])
def test_a_part_of_no_version_is_not_left_behind(server: FileServer, part: Download, version: dict[str, str]) -> None:
    server.version, server.cut = version, 100_000
    with pytest.raises(DataError, match="broke off"):
        part.fetch(silent)
    assert not list(part.path.parent.iterdir())


@pytest.mark.parametrize("label", [b"[]", b'{"address": "http://elsewhere/file", "version": "\\"one\\""}', None])
def test_a_part_of_another_origin_is_not_gone_on_with(server: FileServer, part: Download, label: bytes | None) -> None:
    part.path.write_bytes(OTHER[:5000])
    if label is not None:
        part.path.with_name("file.part.json").write_bytes(label)
    part.fetch(silent)
    assert (part.path.read_bytes(), server.asked) == (BODY, ["whole"])
    part.path.write_bytes(OTHER)  # whole already, of this origin
    part.begin('"one"')
    part.fetch(silent)
    assert (part.path.read_bytes(), server.asked[1:]) == (BODY, ["bytes=300000-", "whole"])


def test_another_piece_than_the_one_asked_for_is_refused(server: FileServer, part: Download) -> None:
    break_off(server, part)
    server.lies = "bytes 5-9/300000"
    with pytest.raises(DataError, match="sent another part than the one from byte 100,000"):
        part.fetch(silent)
    assert part.path.read_bytes() == BODY[:100_000]


def test_more_than_there_should_be_is_refused_and_removed(server: FileServer, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="gives more than the 200,000 bytes it should"):
        Download(server.address, tmp_path / "file.part", 200_000, "fetching").fetch(silent)
    assert not list(tmp_path.iterdir())
