"""Greedy translation by the package and by onnxruntime on what it exports, in one process and on one thread.

    python -m benchmarks.exported RUN LINES

Every way translates the same lines in turn; printed is the best of several rounds, in sentences per second of processor
time, which other work on the machine changes less than the clock.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

import anaphora
from anaphora.export.driver import Writer
from anaphora.export.folder import write_folder
from anaphora.tasks.runs import load_trained

ROUNDS = 5
SENTENCES = 150


def measured(ways: dict[str, Callable[[], list[str]]], sentences: int) -> dict[str, tuple[float, list[str]]]:
    """Sentences per second of processor time, and the translations, of every way."""
    seconds, texts = dict.fromkeys(ways, float("inf")), dict[str, list[str]]()
    for _ in range(ROUNDS):
        for name, translate in ways.items():
            begin = time.process_time()
            texts[name] = translate()
            seconds[name] = min(seconds[name], time.process_time() - begin)
    return {name: (sentences / seconds[name], texts[name]) for name in ways}


def main(run: Path, lines: Path) -> None:
    """Export a translator and print the table."""
    torch.set_num_threads(1)
    translator, trained = anaphora.load(run), load_trained(run)
    sources = lines.read_text(encoding="utf-8").splitlines()[:SENTENCES]
    with TemporaryDirectory(prefix="anaphora-exported-") as folder:
        exported = {name: Path(folder) / name for name in ("onnxruntime", "onnxruntime int8")}
        for name, place in exported.items():
            write_folder(trained, place, int8=name.endswith("int8"))
        models = {name: Writer(place) for name, place in exported.items()}

    def by_onnxruntime(model: Writer) -> list[str]:
        found = (model.write(model.side("source").encode(source))[0] for source in sources)
        return [model.side("target").decode(ids) for ids in found]

    ways: dict[str, Callable[[], list[str]]] = {
        "anaphora, batches": lambda: [one.text for one in translator.translate(sources, beam=1)],
        "anaphora": lambda: [translator.translate([source], beam=1)[0].text for source in sources],
        **{name: lambda model=model: by_onnxruntime(model) for name, model in models.items()},  # type: ignore[misc]
    }
    found = measured(ways, len(sources))
    print(
        "| greedy, one thread | sentences per second of processor time | same text as anaphora |\n| --- | --: | --: |"
    )
    for name, (speed, texts) in found.items():
        same = sum(map(str.__eq__, texts, found["anaphora"][1]))
        print(f"| {name} | {speed:,.0f} | {same} of {len(texts)} |")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
