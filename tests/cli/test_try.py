"""The trial: trained models of the package answer anybody's first words, without torch, network or data."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from anaphora.kernels.compiled.gemm import has_gemm
from anaphora.trial import TRIAL_MODELS, trial_model
from tests.package import PACKAGE, ROOT

from .conftest import Cli
from .test_terminal import terminal

pytestmark = pytest.mark.skipif(not has_gemm(), reason="the library in C is not built for this processor")

ALONE = """
import socket, sys
sys.modules["torch"] = socket.socket.connect = socket.getaddrinfo = None
from anaphora.cli.app import main
sys.exit(main())
"""


def tried(*words: str, piped: bytes = b"") -> Any:
    """A process of its own, with neither torch nor a network, in a narrow terminal without colours."""
    command = [sys.executable, "-c", ALONE, "try", *words]
    return subprocess.run(
        command, input=piped, capture_output=True, check=False, env=os.environ | {"COLUMNS": "30", "NO_COLOR": "1"}
    )


def test_a_first_sentence_is_translated_with_its_alignment_and_how_sure_that_is() -> None:
    ran = tried("I am hungry.")
    first, second, *rows = ran.stdout.decode().splitlines()
    assert first == "French  J'ai faim."
    assert re.fullmatch(r" {8}(sure|fairly sure) \(\d\d%\); \d\.\d\d s", second)
    assert [row.split()[0] for row in rows] == ["J'ai", "faim."]
    assert re.search(r"<- hungry\. \d+%", rows[1])
    assert b"\x1b" not in ran.stdout and "anaphora train --data pairs.tsv" in ran.stderr.decode()


def test_a_word_is_also_spoken(cli: Cli) -> None:
    spoken, translated = cli("try", "Computer", "--json").objects
    assert (spoken["text"], spoken["answer"]) == ("computer", "K AH0 M P Y UW1 T ER0")
    assert spoken["confidence"] > 0.5 and spoken["alignment"]["source"] == [*"computer"]
    assert (translated["model"], translated["text"]) == ("english-french", "Computer.")
    assert cli("try", "thanks", "--json").objects[1]["answer"] == "Merci."
    both = cli("try", "--model", "spelling", "The", "knight.", "--json").objects
    assert [one["answer"] for one in both] == ["DH AH0", "N AY1 T"]


def test_lines_of_a_pipe_are_answered_one_by_one() -> None:
    ran = tried("--model", "english-french", "--json", piped=b"I love you.\n\nTom is here.\n")
    assert ran.returncode == 0 and not ran.stderr, ran.stderr
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [one["text"] for one in found] == ["I love you.", "Tom is here."]
    assert all(one["answer"] and len(one["alignment"]["weights"]) == len(one["alignment"]["target"]) for one in found)


def test_typed_lines_are_answered_until_an_empty_one(tmp_path: Path) -> None:
    with terminal(tmp_path, "try") as person:
        person.wait_for("> ")
        person.type(f"{'a' * 3000}\n")  # refused, and nothing is lost
        person.wait_for("should have at most")
        person.type("I am hungry.\n")
        person.wait_for("J'ai faim.")
        person.type("\n")
        person.wait_for("anaphora info ")
        assert person.process.wait(60) == 0


@pytest.mark.parametrize("text", ["我爱你", "naïve 我", "Ωmega"])
def test_letters_that_a_model_has_never_seen_are_named(text: str, cli: Cli) -> None:
    assert "do not trust this, for the model does not know" in cli("try", text).out
    for one in cli("try", text, "--model", "spelling", "--json").objects:
        assert one["verdict"] == "do not trust this"
        assert one["unknown"] == [letter for letter in one["text"] if not letter.isascii()]


def test_what_is_no_sentence_is_answered_or_refused_in_one_sentence(cli: Cli) -> None:
    [one] = cli("try", "?!...", "--json").objects
    assert (one["answer"], one["confidence"], one["verdict"]) == ("?!...", None, "nothing to translate")
    assert "do not trust this" in cli("try", "--model", "spelling", "?!").out
    prose = "The old man is very tired today. " * 20
    assert "and " in cli("try", prose).lines[-1]
    for bad in ("",), (" ",), ("a" * 10_000,), ("a\udcff",), ("--model", "german", "a"):
        cli.refuse("try", *bad)


@pytest.mark.parametrize("piped", [b"", b"\n \n", b"\x7fELF\x00\x01\xff\xfe"])
def test_a_pipe_without_text_is_refused(piped: bytes) -> None:
    ran = tried(piped=piped)
    assert (ran.returncode, ran.stdout) == (2, b"") and ran.stderr.count(b"\n") == 1


def test_bundles_are_small_name_their_sources_and_are_in_the_package(cli: Cli) -> None:
    assert sum(trial_model(name).stat().st_size for name in TRIAL_MODELS) < 12_000_000
    notice = (PACKAGE / "trial" / "NOTICE").read_text(encoding="utf-8")
    for name, owner, metric in (
        ("english-french", "CC BY 2.0 FR", "BLEU"),
        ("spelling", "Carnegie Mellon University", "word error rate"),
    ):
        facts = cli("info", trial_model(name), "--json").json
        assert all(words in facts["card"] for words in (owner, metric, "int8")) and owner in notice
        assert str(ROOT.parent) not in facts["card"] and facts["card"] in cli("info", trial_model(name)).out
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "src/anaphora/trial/NOTICE" in project["project"]["license-files"]
    patterns = project["tool"]["setuptools"]["package-data"]["anaphora.trial"]
    files = {file for pattern in patterns for file in (PACKAGE / "trial").glob(pattern)}
    assert {*map(trial_model, TRIAL_MODELS), PACKAGE / "trial" / "NOTICE"} <= files


@pytest.mark.slow
@pytest.mark.parametrize("model", TRIAL_MODELS)
def test_the_commands_that_it_ends_with_work(model: str, cli: Cli) -> None:
    cli.enter()
    Path("pairs.tsv").write_text("".join(f"{a}{b}\t{b} {a}\n" for a in "abcdefgh" for b in "ijklmnop"))
    _, train, use, _ = cli("try", "--model", model, "knight").err.splitlines()
    cli(*shlex.split(train)[1:], "--set", "training.epochs=1", "--set", "encoder.size=8", "--set", "decoder.size=8")
    done = subprocess.run(["sh", "-c", use.replace("anaphora", f"{sys.executable} -m anaphora")], check=False)
    assert done.returncode == 0
