"""The quickstart, whole: a corpus, a translator, a score and a picture from one command."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import anaphora
from anaphora.evaluation.alignment import agreement
from anaphora.formats.pharaoh import from_pharaoh
from tests.scoring import assess

from .conftest import Cli


@pytest.mark.slow
def test_what_cannot_be_trained_leaves_nothing_behind(cli: Cli) -> None:
    command = ("quickstart", "--folder", cli.folder / "demo", "--sentences", "1000", "--set", "text.size=50")
    assert "text.size" in cli(*command, code=2).err.splitlines()[-1]
    assert not (cli.folder / "demo").exists()


@pytest.mark.slow
def test_told_to_stop_it_saves_itself_and_says_how_to_go_on(tmp_path: Path) -> None:
    run, small = tmp_path / "demo" / "run", ["--sentences", "1000", "--set", "training.epochs=500"]
    command = [sys.executable, "-m", "anaphora", "quickstart", "--folder", str(run.parent), *small]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not (run / "metrics.jsonl").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 143
    update = int((run / "latest").read_text().strip().removeprefix("step-"))
    assert f"Stopped after update {update:,}; to continue: anaphora train --resume --run {run}" in said.splitlines()


@pytest.mark.slow
def test_the_quickstart_translates_and_aligns_sentences_that_it_never_saw(cli: Cli) -> None:
    folder = cli.folder / "demo"
    shown = cli("quickstart", "--folder", folder).out
    score = re.search(r"BLEU = (\d+\.\d+) \(raw; .*version:", shown)
    assert score and float(score[1]) >= 95
    for precision in ("bf16", "int8"):
        [of_test] = assess(folder / "run", precision=precision).values()
        assert of_test.scores["raw"][0].value >= float(score[1]) - 0.2
    assert (folder / "alignment.png").read_bytes().startswith(b"\x89PNG")
    trained = set((folder / "corpus" / "train.en").read_text().splitlines())
    sources, references, links = (
        (folder / "corpus" / f"test.{ending}").read_text().splitlines()[:200] for ending in ("en", "fr", "links")
    )
    assert not trained & set(sources)
    outputs = anaphora.load(folder / "run").translate(sources, attention=True)
    right = [number for number, output in enumerate(outputs) if output.text == references[number]]
    found = [outputs[number].links() for number in right]
    expected = [from_pharaoh(links[number], "test.links") for number in right]
    assert agreement(found, expected).error_rate < 0.15
    assert any(one == other for one, other in zip(found, expected, strict=True))  # which the picture shows
