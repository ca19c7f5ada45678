"""``python -m benchmarks.memory``: the peak memory of each streaming verb on a short and on a long text.

Every verb runs in a process of its own, with a tiny network that nobody trained: what it computes does not matter, only
that memory does not grow with the number of lines.
"""

import argparse
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import torch

from anaphora.data.ragged import Ragged
from anaphora.experiment.reading import read_experiment
from anaphora.models import registry
from anaphora.models.alignment.aligner import Aligner
from anaphora.run import Run
from anaphora.tasks.registry import task_of
from anaphora.text.words import WordTokenizer
from benchmarks.machine import this_machine

WORDS = tuple(a + b + c for a in "bdfgl" for b in "aeiou" for c in "mnrst")

_NETWORK = 'embedding.size = 8\nencoder = {cell = "gru", size = 8}\ndecoder = {cell = "gru", size = 8}\n'
_EXPERIMENTS = {
    "translator": f'task = "translate"\ntext = {{units = "word", tokenise = "none"}}\n{_NETWORK}',
    "language-model": 'task = "language-model"\ntext = {units = "word", tokenise = "none"}\n'
    "embedding.size = 8\nrecurrence.size = 8\n",
    "aligner": 'task = "align"\ntext = {units = "word", tokenise = "none"}\n',
}
_MEASURED = """
import sys
from anaphora.cli.app import main

code = main(sys.argv[2:])
with open("/proc/self/status") as status, open(sys.argv[1], "w") as peak:
    peak.write(next(line.split()[1] for line in status if line.startswith("VmHWM")))
sys.exit(code)
"""

VERBS: Mapping[str, tuple[str, ...]] = {
    "translate": ("translate", "translator", "text.txt", "--beam", "1"),
    "score": ("score", "language-model", "text.txt"),
    "score (pairs)": ("score", "translator", "pairs.tsv"),
    "align (translator)": ("align", "translator", "pairs.tsv"),
    "align (aligner)": ("align", "aligner", "pairs.tsv"),
    "rescore": ("rescore", "language-model", "nbest.txt"),
    "generate": ("generate", "language-model", "--prompts", "text.txt", "--length", "3"),
}
"""Arguments of ``anaphora``, in the folder that ``prepare`` fills."""


def prepare(folder: Path, lines: int) -> None:
    """Write run folders, where there are none yet, and texts of so many lines."""
    for name in _EXPERIMENTS:
        if not (folder / name).exists():
            _write_run(folder / name, _EXPERIMENTS[name])
    texts = list(_lines(lines))
    for name, form in (
        ("text.txt", "{0}"),
        ("pairs.tsv", "{0}\t{1}"),
        ("nbest.txt", "{2} ||| {0} ||| tm= -1.5 ||| -1.5"),
    ):
        with (folder / name).open("w", encoding="utf-8") as file:
            file.writelines(
                form.format(one, other, number) + "\n"
                for number, (one, other) in enumerate(zip(texts, reversed(texts), strict=True))
            )


def peak_kib(folder: Path, verb: str) -> int:
    """The most memory that a verb ever held, over the texts that were prepared last."""
    peak = folder / "peak"
    command = [sys.executable, "-c", _MEASURED, str(peak), *VERBS[verb]]
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    return int(peak.read_text())


def main() -> int:
    """Print a table of peaks."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--lines", type=int, nargs=2, default=(1000, 100_000), metavar=("FEW", "MANY"))
    few, many = parser.parse_args().lines
    found: dict[int, dict[str, int]] = {}
    with tempfile.TemporaryDirectory() as name:
        for lines in (few, many):
            prepare(Path(name), lines)
            found[lines] = {verb: peak_kib(Path(name), verb) for verb in VERBS}
    print(
        f"{this_machine()}\n\n| verb | {few:,} lines, MB | {many:,} lines, MB | growth, MB |\n| --- | --- | --- | --- |"
    )
    for verb in VERBS:
        one, other = found[few][verb] * 1024 / 1e6, found[many][verb] * 1024 / 1e6
        print(f"| {verb} | {one:.1f} | {other:.1f} | {other - one:+.1f} |")
    return 0


def _lines(count: int) -> Iterator[str]:
    draw = random.Random(1)
    return (" ".join(draw.choices(WORDS, k=draw.randint(1, 4))) for _ in range(count))


def _write_run(path: Path, toml: str) -> None:
    tokenizer = WordTokenizer.learn(
        [" ".join(WORDS)], size=len(WORDS) + 4, least=1, lowercase=False, segmentation="whitespace", language="en"
    )
    experiment = read_experiment(toml, "the benchmark")
    network = task_of(experiment).network
    tokenizers = {side: tokenizer for side in network.sides}
    model = registry.build(network, experiment, {side: tokenizer.symbols for side in tokenizers})
    if isinstance(model, Aligner):
        rows = Ragged.of(tokenizer.encode(line) for line in _lines(200))
        model.fit(rows, rows)
    else:
        model.initialise(1)  # type: ignore[operator]  # every network has it
        with torch.no_grad():
            model.get_parameter("output.bias")[tokenizer.symbols.eos] = 3.0  # outputs stay short
    run = Run.create(path, experiment.tables(), tokenizers)
    run.save(1, model.state_dict(), {}, {})
    run.mark_best(1)


if __name__ == "__main__":
    sys.exit(main())
