"""One text through every door: the command line, Python, the server, HTML, documents and evaluation answer alike.

White space of any kind is a space to a model, and what has no letters is no business of one.
"""

import json
import os
import tempfile
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from html import escape, unescape
from pathlib import Path
from random import Random
from string import Template
from typing import Any

from starlette.testclient import TestClient

import anaphora
from anaphora.cli.app import main
from anaphora.formats.entries.kinds import kind_of, read_entries
from anaphora.serving.actions import Service
from anaphora.serving.app import application
from anaphora.serving.translators import Translators
from anaphora.text.placeholders import USUAL
from tests.faults.folders import trained
from tests.faults.processes import Fault, checked, command, forked
from tests.faults.tasks import NAMES, PARTS, SAMPLES

TEXTS = 8
_TABLES: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
TASKS = ("language-model", "ngram", "classify")
"""Other samples whose answer to a text cannot depend on the kind of its spaces."""

_WORDS = [f"{NAMES[n % 18]} {NAMES[n * 7 % 18]} {NAMES[n * 5 % 17]}" for n in range(90)]
TRANSLATOR = replace(
    SAMPLES[0],
    name="translate words",
    experiment=SAMPLES[0]
    .experiment.replace("character", "word")
    .replace(PARTS["decoder"], "[decoder]\ncell = 'gru'\nsize = 16\n")
    .replace(
        PARTS["training"],
        "[training]\nbatch_tokens = 100\nepochs = 20\noptimizer = {kind = 'adam', learning_rate = 0.03}\n",
    ),
    train={
        f"{part}{ending}": "".join(f"{text if ending == '.en' else text.upper()}\n" for text in texts)
        for part, texts in (("train", _WORDS[:80]), ("val", _WORDS[80:]))
        for ending in (".en", ".fr")
    },
)

Answers = list[str | None]
"""Translations; None for what was left without one, or refused."""


def trial(random: Random) -> str:
    draw = random.choice([_spaced, _spaced, _coded, _numbers, _controlled])
    kind = draw.__name__.strip("_")
    plain = [" ".join(random.choices(NAMES, k=random.randint(2, 4))) for _ in range(TEXTS)]
    texts = [draw(random, text) for text in plain]
    if draw is _spaced and random.random() < 0.3:
        _compare_spaces(random.choice([one for one in SAMPLES if one.name in TASKS]).name, texts, plain)
        return f"{kind}, one door"
    run = trained(TRANSLATOR).place / "run"
    with tempfile.TemporaryDirectory() as folder:
        ended = checked(forked(partial(_through_all, Path(folder), run, texts, plain)), f"{kind} {texts!r}")
        found: Mapping[str, Answers] = json.loads((Path(folder) / "answers.json").read_text()) if not ended.code else {}
    if ended.code:
        raise Fault(f"{texts!r} ends with {ended.code}: {ended.err[-1000:]}")
    for number, text in enumerate(texts):
        expected = text if draw is _numbers else found["plain" if draw is _spaced else "command line"][number]
        for door, answers in found.items():
            if door == "plain" or (door == "evaluate" and draw is _controlled):  # which takes a line as one sentence
                continue
            if answers[number] is not None and _words(answers[number]) != _words(expected):
                raise Fault(f"{kind} {text!r}: {door} answers {answers[number]!r}, not {expected!r}")
    return kind


def _spaced(random: Random, text: str) -> str:
    first, *others = text.split(" ")
    return first + "".join(random.choice([*_TABLES["spaces"], " "]) + word for word in others)


def _coded(random: Random, text: str) -> str:
    return " ".join([text, random.choice(_TABLES["codes"])][:: random.choice([1, -1])])


def _numbers(random: Random, text: str) -> str:
    return str(random.choice(_TABLES["numbers"]))


def _controlled(random: Random, text: str) -> str:
    place = random.randrange(1, len(text))
    return text[:place] + str(random.choice(_TABLES["controls"])) + text[place:]


def _words(answer: str | None) -> list[str]:
    """What an answer says, whatever is between its words and cannot be seen."""
    seen = "".join(one for one in answer or "" if unicodedata.category(one) not in ("Cf", "Cc", "Cn") or one.isspace())
    return seen.split()


def _compare_spaces(name: str, texts: Sequence[str], plain: Sequence[str]) -> None:
    """Other tasks answer to texts what they answer to the same with plain spaces."""
    whole = trained(next(one for one in SAMPLES if one.name == name))
    said = []
    with tempfile.TemporaryDirectory() as folder:
        for lines in (texts, plain):
            (Path(folder) / whole.sample.text[0]).write_text("".join(f"{line}\n" for line in lines))
            said.append(command(whole.sample.using(whole.place / "run"), at=Path(folder)).out.splitlines())
    for text, found, expected in zip(texts, *said, strict=True):
        if found != expected:
            raise Fault(f"{name} of {text!r}: {found}, not {expected} as with plain spaces")


def _through_all(folder: Path, run: Path, texts: Sequence[str], plain: Sequence[str]) -> int:
    os.chdir(folder)
    answers: dict[str, Answers] = {"plain": _lines(run, plain), "command line": _lines(run, texts)}
    answers["Python"] = [one.text for one in anaphora.load(run).translate_text(texts)]
    answers["evaluate"] = _evaluated(run, texts)
    service = Service(Translators.load([run]))
    with TestClient(application(service), base_url="http://localhost:5000") as client:
        for door, sent, read in (("text", str, str), ("html", partial(escape, quote=False), unescape)):
            answers[f"server, {door}"] = []
            for text in texts:
                answer = client.post(
                    "/translate", json={"q": sent(text), "source": "en", "target": "fr", "format": door}
                ).json()
                answers[f"server, {door}"].append(_unless_left(text, read(answer.get("translatedText", text))))
    answers |= {name: [_document(run, name, text) for text in texts] for name in _TABLES["documents"]}
    Path("answers.json").write_text(json.dumps(answers))
    return 0


def _lines(run: Path, texts: Sequence[str]) -> Answers:
    Path("in.txt").write_text("".join(f"{text}\n" for text in texts), newline="")
    if main(["translate", str(run), "in.txt", "--output", "out.txt"]):
        raise ValueError(f"{texts} are refused")
    found = Path("out.txt").read_bytes().decode().split("\n")[:-1]
    assert len(found) == len(texts), (texts, found)
    return list(found)


def _evaluated(run: Path, texts: Sequence[str]) -> Answers:
    Path("in.txt").write_text("".join(f"{text}\n" for text in texts), newline="")
    Path("reference.txt").write_text("adf\n" * len(texts))
    options = f"--source in.txt --reference reference.txt --no-keep --output out.jsonl --protect {','.join(USUAL)}"
    main(["evaluate", str(run), *options.split()])
    return [json.loads(line)["output"] for line in Path("out.jsonl").read_text().split("\n")[:-1]]


def _document(run: Path, name: str, text: str) -> str | None:
    """The translation in a document; None where it was left without one."""
    forms = {"json": json.dumps(text, ensure_ascii=False), "xml": escape(text), "html": escape(text, quote=False)}
    Path(name).write_text(Template(_TABLES["documents"][name]).substitute(forms), newline="")
    with suppress(FileNotFoundError):
        os.unlink(f"out.{name}")
    if main(["translate", str(run), name, "--output", f"out.{name}"]):
        return None
    found = next(iter(read_entries(Path(f"out.{name}"), kind_of(Path(name)), ("en", "fr"))), None)
    if found is None:
        return None
    return found.target or (_unless_left(text, found.source) if name.endswith(("html", "vtt")) else None)


def _unless_left(text: str, answer: str) -> str | None:
    """The answer, unless it is the text: pages and subtitles keep what was not translated."""
    return None if answer == text else answer
