"""Time to quality: processor minutes of a training until its translations of the test part have a BLEU.

    make bench BENCH=time-to-bleu

Each training is a process of one thread, one after the other, on Multi30k en-de. Every so many updates it waits until
another process has translated the test part greedily by its weights. The processor time (user and system) of the
training is counted from its start: reading and encoding the data, validations and checkpoints are in it, those
translations are not. BLEU is that of ``evaluation.bleu`` between lower-cased texts, on both sides.
"""

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from anaphora import recipes
from anaphora.data.fetch import corpus_folder
from anaphora.evaluation.bleu import Score, bleu
from anaphora.events import Event, Saved
from anaphora.experiment.auto import automatic
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.formats.lines import read_lines, replacing
from anaphora.prediction.options import SearchOptions
from anaphora.tasks.runs import load
from benchmarks import joeynmt
from benchmarks.compare import answers, in_its_own_process
from benchmarks.machine import Machine
from benchmarks.material import prepare_pairs
from benchmarks.report import FOLDER
from benchmarks.work import Setting

NAME = "time-to-bleu"
SCORES, BAR = (30.0, 35.0), 12
"""The BLEU whose time is reported, and how many times longer than ours the peer should take."""

_AUTO, _PEER, _UNITS = "auto", "joeynmt-iwslt-lstm-256", 8000
_OURS = ((_AUTO, "auto"), ("multi30k-en-de", "bf16"), ("multi30k-en-de", "fp32"))
"""Recipe and precision of training; those of ``auto`` are chosen by the data and the processor."""
_OUR_UPDATES, _PEER_UPDATES = 100, 151
"""Updates between translations of the test part; of the peer three an epoch."""


class Point(NamedTuple):
    """Test BLEU at a moment of a training."""

    updates: int
    minutes: float
    """Processor time."""
    score: Score


@dataclass(frozen=True)
class Curve:
    """All points of a training."""

    name: str
    points: Sequence[Point]

    def minutes_until(self, bleu: float) -> float | None:
        """Return the minutes of the first point with this BLEU; None where there is none."""
        return next((point.minutes for point in self.points if point.score.value >= bleu), None)


def measure(setting: Setting, minutes: float, said: Callable[[str], None]) -> list[Curve]:
    """Run all trainings, each until its own end or for so many processor minutes."""
    prepare_pairs(_UNITS)
    curves = []
    for recipe, precision in _OURS:
        command = [sys.executable, "-m", "benchmarks.time_to_bleu", recipe, precision, str(setting.seed), str(minutes)]
        name = f"Anaphora, {recipe}" + ("" if recipe == _AUTO else f", {precision}")
        curves.append(_curve(name, answers(command, Path.cwd()), said))
    peer = joeynmt.follow(_PEER, _UNITS, setting, every=_PEER_UPDATES, minutes=minutes)
    return [*curves, _curve("JoeyNMT 2.3.0", peer, said)]


def _curve(name: str, lines: Iterable[Mapping[str, Any]], said: Callable[[str], None]) -> Curve:
    """Score the translations of a training as they come."""
    references = list(read_lines(_test("de")))
    points = []
    for line in lines:
        score = bleu(line["outputs"], references, language="de", condition="moses-lowercase")
        points.append(Point(line["updates"], line["minutes"], score))
        said(f"{name}, update {line['updates']:,}: {line['minutes']:.2f} minutes, BLEU {score.value:.2f}")
    return Curve(name, points)


def write(machine: Machine, setting: Setting, curves: Sequence[Curve], command: str, folder: Path = FOLDER) -> Path:
    """Write the dated report and return its path."""
    path = folder / f"{date.today()}-{NAME}-{machine.slug}.md"
    with replacing(path) as out:
        out.write("\n".join(_page(machine, setting, curves, command)).encode())
    return path


def _page(machine: Machine, setting: Setting, curves: Sequence[Curve], command: str) -> Iterator[str]:
    *_, peer = curves
    yield from ("# Time to BLEU", "", f"{date.today()}, {machine}. 1 thread, seed {setting.seed}.", "")
    yield from (f"    {command}", "")
    if machine.busy:
        yield from (f"**Other work ran on the machine (load {machine.load:.1f} before the start).**", "")
    yield "Processor minutes (user and system) of training on Multi30k en-de until greedy translations of the test part"
    yield f"have the BLEU; in brackets the multiple that the peer took, wanted is {BAR} or more. Reading, encoding,"
    yield "validations and checkpoints are counted, translating the test part is not."
    yield from (f"The peer is `peers/{_PEER}.yaml`. Score: {peer.points[-1].score.signature}.", "")
    yield f"| training | {' | '.join(f'BLEU {bleu:g}' for bleu in SCORES)} | end | updates | best BLEU |"
    yield f"| --- |{' --: |' * (len(SCORES) + 3)}"
    for curve in curves:
        times = " | ".join(_time(curve, peer, bleu) for bleu in SCORES)
        best, end = max(point.score.value for point in curve.points), curve.points[-1]
        yield f"| {curve.name} | {times} | {end.minutes:.1f} | {end.updates:,} | {best:.2f} |"
    for curve in curves:
        yield from ("", f"## {curve.name}", "", "| updates | minutes | BLEU |", "| --: | --: | --: |")
        for point in curve.points:
            yield f"| {point.updates:,} | {point.minutes:.2f} | {point.score.value:.2f} |"
    yield ""


def _time(curve: Curve, peer: Curve, bleu: float) -> str:
    ours, theirs = curve.minutes_until(bleu), peer.minutes_until(bleu)
    if ours is None:
        return f"not in {curve.points[-1].minutes:.1f}"
    if curve is peer:
        return f"{ours:.1f}"
    # where the peer never has it, the time that it was given is a lower bound
    return f"{ours:.1f} ({'' if theirs else 'over '}{(theirs or peer.points[-1].minutes) / ours:.1f})"


def _test(language: str) -> Path:
    return corpus_folder("multi30k") / f"test_2016_flickr.{language}"


def _train(recipe: str, precision: str, seed: int, minutes: float, run: Path) -> None:
    """Train in this process, and print a line of JSON for each checkpoint."""
    values = {"seed": seed, "precision": precision, "save_every": _OUR_UPDATES, "threads": 1}
    settings = [f"training.{key}={value}" for key, value in values.items()]
    if recipe == _AUTO:
        corpus, sides = [corpus_folder("multi30k")], ("en", "de")
        settings.append("data.test=test_2016_flickr")
        text = automatic(corpus, *sides, settings=settings)
        experiment = read_experiment(text, recipe, settings, data=corpus, source="en", target="de")
    else:
        experiment = read_experiment(recipes.read(recipe), recipe, settings)

    def listen(event: Event) -> None:
        if isinstance(event, Saved):
            used = time.process_time() / 60
            outputs = in_its_own_process(partial(_translate, run), Setting(threads=1, seed=seed))
            print(json.dumps({"updates": event.update, "minutes": used, "outputs": outputs}), flush=True)

    train(experiment, run, listen, stop=lambda: time.process_time() > 60 * minutes)


def _translate(run: Path, setting: Setting) -> list[str]:
    translator = load(run, "latest")
    return [one.text for one in translator.translate(list(read_lines(_test("en"))), SearchOptions(beam=1))]


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        _train(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), Path(folder) / "run")
