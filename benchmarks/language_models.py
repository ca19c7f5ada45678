"""A recurrent language model beside torch: lines scored, a text evaluated, n-best lists rescored, a text written.

    python -m benchmarks.language_models RUN TEXT [PRECISION ...]

All in one process and on one thread; printed is the best of several rounds, in units per second of processor time,
which other work on the machine changes less than the clock. ``evaluate`` reads all of TEXT, once. The peer is
``torch.nn.LSTM`` of the same sizes with the output layer and log-softmax, without layer normalization or tokens: 64
rows of 24 words at once, and one word after another. Hypotheses are lines with some words replaced, more often late
ones, as a search leaves them.
"""

import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import torch

from anaphora.formats.lines import read_lines
from anaphora.kernels.backends import InferencePrecision
from anaphora.models.language_model import LanguageModel
from anaphora.tasks.language_model.predictor import LanguageModelPredictor
from anaphora.tasks.runs import load, load_trained

ROUNDS, LINES, LISTS, HYPOTHESES, TRIED, WRITTEN = 3, 300, 5, 100, 20, 100
ROWS, WORDS = 64, 24


def best(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The fewest processor seconds of several rounds."""
    seconds = []
    for _ in range(rounds):
        begin = time.process_time()
        work()
        seconds.append(time.process_time() - begin)
    return min(seconds)


def hypotheses(line: str, draws: random.Random) -> list[str]:
    """Different lines, each but the first made from one of the others."""
    found = [line.split()]
    while len(found) < HYPOTHESES:
        words = list(draws.choice(found))
        words[int(len(words) * draws.random() ** 0.5)] = draws.choice(("the", "a", "of", "in", "and", "to", "for"))
        if words not in found:
            found.append(words)
    return [" ".join(words) for words in found]


def peer(model: LanguageModel) -> dict[str, float]:
    """Words per second of torch: side by side, and one after another."""
    config, width = model.config.recurrence, model.config.embedding.size
    lstm, output = torch.nn.LSTM(width, config.size, config.layers), torch.nn.Linear(config.size, model.symbols.size)

    def words(rows: int, steps: int) -> Callable[[], object]:
        return lambda: torch.log_softmax(output(lstm(torch.zeros(steps, rows, width))[0].flatten(0, 1)), -1)

    def one_by_one() -> None:
        state = None
        for _ in range(WRITTEN):
            h_11H, state = lstm(torch.zeros(1, 1, width), state)
            torch.log_softmax(output(h_11H[0]), -1).argmax()

    with torch.no_grad():
        return {"side by side": ROWS * WORDS / best(words(ROWS, WORDS)), "one by one": WRITTEN / best(one_by_one)}


def ours(model: LanguageModelPredictor, text: Sequence[str], lists: Sequence[str]) -> dict[str, float]:
    """Units per second of each work."""
    lines = text[:LINES]
    alone = lists[:: len(lists) // TRIED]
    words = sum(score.tokens for score in model.score_lines(lines))
    written = WRITTEN / best(lambda: model.generate("the", length=WRITTEN, lines=WRITTEN, beam=1))
    drawn = WRITTEN / best(lambda: model.generate("the", length=WRITTEN, lines=WRITTEN))
    return {
        "score, words": words / best(lambda: model.score_lines(lines)),
        "evaluate, words": _evaluated(model, text),
        "n-best lists, hypotheses": len(lists) / best(lambda: model.score_lines(lists)),
        "the same one at a time": len(alone) / best(lambda: [model.score_lines([one]) for one in alone]),
        "generate, most probable tokens": written,
        "generate, drawn tokens": drawn,
    }


def _evaluated(model: LanguageModelPredictor, text: Sequence[str]) -> float:
    """Of the whole text, once: it takes long enough, and a shorter one has fewer segments to be read side by side."""
    words = 0

    def evaluate() -> None:
        nonlocal words
        words = model.evaluate(text).tokens

    seconds = best(evaluate, rounds=1)
    return words / seconds


def main(run: Path, text: Path, precisions: Sequence[InferencePrecision]) -> None:
    """Print the table."""
    torch.set_num_threads(1)
    lines, draws = list(read_lines(text)), random.Random(1)
    lists = [one for line in lines[:LISTS] for one in hypotheses(line, draws)]
    network = load_trained(run).model
    if not isinstance(network, LanguageModel):
        sys.exit(f"{run} is no recurrent language model: give the run of one.")
    for name, speed in peer(network).items():
        print(f"torch, fp32, {name}: {speed:,.0f} words", flush=True)
    found = {precision: ours(load(run, precision=precision), lines, lists) for precision in precisions}
    print("|", " | ".join(["one thread, a second of processor time", *precisions]), "|")
    print("| --- |", " --: |" * len(precisions))
    for name in found[precisions[0]]:
        print("|", " | ".join([name, *(f"{found[precision][name]:,.0f}" for precision in precisions)]), "|")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), cast(list[InferencePrecision], sys.argv[3:]) or ["fp32", "bf16", "int8"])
