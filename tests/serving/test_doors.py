"""One text has one translation, whichever way it comes in."""

import html
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import anaphora
from anaphora.cli.app import main
from anaphora.serving.translators import ServedRun
from tests.serving.conftest import RUN

SPACED = "Alice is{}in the garden."
ODD = {
    **{f"U+{ord(space):04X}": SPACED.format(space) for space in "\t\v\f\u00a0\u0085\u2009\u202f\u2028\u3000\u200b"},
    **{f"U+{ord(sign):04X}": f"Al{sign}ice is in {sign}the garden." for sign in "\u00ad\u2060\ufeff\u200e\u200c"},
    "at the start": "\ufeffAlice is in the garden.",
    "two spaces": SPACED.format("  "),
    "several": SPACED.format(" \u00a0\u2009"),
}
PLAIN = SPACED.format(" ")
NUMBERS = ("12", "9:30", "1/2", "5 \u20ac", "2026-11-28", "+49 30 123456", "12.", "50 %", "EUR 1,000", "\u0661\u0662")

PO = 'msgid ""\nmsgstr ""\n"Language: fr\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
ESCAPES = str.maketrans({"\t": "\\t", "\v": "\\v", "\f": "\\f"})

Door = Callable[[Sequence[str], Path, TestClient], list[str]]


def translated(folder: Path, name: str, content: str) -> str:
    (folder / name).write_text(content, encoding="utf-8", newline="")
    assert main(["translate", str(RUN), str(folder / name), "--output", str(folder / f"out.{name}")]) == 0
    return (folder / f"out.{name}").read_bytes().decode()


def command_line(texts: Sequence[str], folder: Path, client: TestClient) -> list[str]:
    return translated(folder, "lines.en", "".join(f"{text}\n" for text in texts)).split("\n")[:-1]


def server(texts: Sequence[str], folder: Path, client: TestClient) -> list[str]:
    asked = {"q": list(texts), "source": "en", "target": "fr"}
    return list(client.post("/translate", json=asked).json()["translatedText"])


def server_of_html(texts: Sequence[str], folder: Path, client: TestClient) -> list[str]:
    asked = {"q": list(map(html.escape, texts)), "source": "en", "target": "fr", "format": "html"}
    found = map(html.unescape, client.post("/translate", json=asked).json()["translatedText"])
    return [one.removeprefix("\ufeff") for one in found]  # a page keeps its byte order mark


def po(texts: Sequence[str], folder: Path, client: TestClient) -> list[str]:
    entries = (f'\nmsgctxt "{n}"\nmsgid "{text.translate(ESCAPES)}"\nmsgstr ""\n' for n, text in enumerate(texts))
    written = translated(folder, "f.po", PO + "".join(entries)).split("msgstr ")[2:]
    return [json.loads(one.split("\n")[0].replace("\\v", "\\u000b")) for one in written]


def evaluation(texts: Sequence[str], folder: Path, client: TestClient) -> list[str]:
    for name in ("s.en", "r.fr"):
        (folder / name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8", newline="")
    files = ["--source", str(folder / "s.en"), "--reference", str(folder / "r.fr"), "--output", str(folder / "o.jsonl")]
    assert main(["evaluate", str(RUN), *files, "--no-keep"]) == 0
    rows = (folder / "o.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    return [json.loads(row)["output"] for row in rows]


DOORS = (command_line, server, server_of_html, po, evaluation)


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_every_door_has_the_same_translation(door: Door, tmp_path: Path, client: TestClient, stored: ServedRun) -> None:
    texts = [PLAIN, *ODD.values(), *NUMBERS]
    [expected] = stored.predictor.translate([PLAIN])
    for text, found in zip(texts, door(texts, tmp_path, client), strict=True):
        laid_out = any(layout in text for layout in ("\t", "\v", "\f", "  ", " \u00a0"))
        left = door is po and not found and laid_out
        assert left or " ".join(found.split()) == (text if text in NUMBERS else expected.text), text


def test_a_line_of_many_numbers_costs_no_model(stored: ServedRun) -> None:
    line = " ".join(f"{number},5" for number in range(3000)) + ". 12:30"
    [found] = stored.predictor.translate_text([line], protect=())
    assert (found.text, found.tokens) == (line, 0)


def test_a_number_with_a_prefix_is_translated(stored: ServedRun) -> None:
    [found] = stored.predictor.translate_text(["12"], prefixes=["Le"])
    assert found.text.startswith("Le")


def test_a_language_model_scores_a_text_whatever_its_white_space() -> None:
    model = anaphora.load(RUN.parent / "kinds-2" / "counts")
    assert {model.score(text) for text in ODD.values()} == {model.score(PLAIN)}
