"""Encoding, resuming over and checking generated pairs: ``python -m benchmarks.large_corpora 1000000 begin resume``.

Sides have 4 to 12 words of random letters. Every step is a process of its own, whose memory is what the system cannot
drop (RssAnon). A tiny translator is begun for one update, and resumed for another; the processor seconds of these and
of checks include the start of Python. Files of less than 32 MB are read again each time.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import cast

from anaphora.data.buckets import WINDOW
from anaphora.data.corpora import PairCorpus
from anaphora.data.example_store import example_store
from anaphora.data.fields.tokens import Tokens
from anaphora.data.pairs import PairBatches, pair_fields
from anaphora.data.sources import translation_splits
from anaphora.events import silent
from anaphora.experiment.check import check
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.run import Run
from anaphora.tasks.data_table import PairData
from anaphora.tasks.runs import experiment_of
from anaphora.text import tokenization
from benchmarks.watch import Watch, alone

WORDS, POOL, VALID = 20_000, 1 << 20, 500
SETTINGS = [
    'text.tokenizer="word"',
    'text.segmentation="whitespace"',
    "text.size=8000",
    "encoder.size=16",
    "decoder.size=16",
    "training.batch_tokens=500",
]
KINDS: dict[str, tokenization.AnyTokenizer] = {
    "words": tokenization.Word(size=8000, segmentation="whitespace"),
    "subwords": tokenization.Bpe(size=8000),
}


def generate(count: int, folder: Path) -> None:
    """Write ``count`` training pairs, and validation pairs that are the first of them."""
    random = Random(5)
    for side in ("en", "de"):
        vocabulary = ["".join(random.choices("etaoinshrdlu", k=random.randint(1, 9))) for _ in range(WORDS)]
        pool = random.choices(vocabulary, [1 / (rank + 2) for rank in range(WORDS)], k=POOL)
        with (folder / f"train.{side}").open("w") as file, (folder / f"val.{side}").open("w") as valid:
            for number in range(count):
                start = random.randrange(POOL - 12)
                line = " ".join(pool[start : start + random.randint(3, 11)]) + " .\n"
                file.write(line)
                valid.write(line if number < VALID else "")


def fitted(kind: str, train: PairCorpus) -> tuple[Tokens, Tokens]:
    """Return the fields of both sides, by tokenizers that are fitted to them."""
    sides = {"source": train.sources, "target": train.targets}
    return pair_fields(tokenization.fit(KINDS[kind], sides, silent, languages={"source": "en", "target": "de"}))


def encode(kind: str, folder: Path) -> float:
    """Processor seconds of encoding the training pairs."""
    train = translation_splits([folder / "data"], "en", "de").train
    fields = fitted(kind, train)
    began = time.process_time()
    example_store(train, fields, folder / kind, noun="pair")
    return time.process_time() - began


def one_update(resume: bool, folder: Path) -> float:
    """Processor seconds of a new process until the first update is done."""
    recipe = (Path(__file__).parents[1] / "src/anaphora/recipes/luong-tutorial.toml").read_text()
    data = [folder / "data"]
    experiment = read_experiment(recipe, "the recipe", SETTINGS, data=data, source="en", target="de")
    asked: list[float] = []

    def stop() -> bool:
        asked.append(time.process_time())
        return len(asked) > 1

    train(experiment, folder / "run", resume=resume, stop=stop)
    return asked[1]


def first_batch(window: int, folder: Path) -> float:
    """Processor seconds until an epoch of the pairs that were begun with has its first batch, shuffled in windows."""
    run, data = Run.open(folder / "run"), cast(PairData, experiment_of(folder / "run").data)
    fields = pair_fields(run.tokenizers())
    train = translation_splits([folder / "data"], "en", "de").train
    store = example_store(train, fields, run.path / "encoded" / "train", noun="pair", longest=data.max_length)
    began = time.process_time()
    batches = PairBatches(store, batch_tokens=4000, seed=1, shuffle_window=window)
    assert len(batches.epoch(1)[0].example_ids_B)
    return time.process_time() - began


def looked_at(exact: bool, folder: Path) -> float:
    """Processor seconds of a new process that checks the pairs, without a trial of training."""
    recipe = (Path(__file__).parents[1] / "src/anaphora/recipes/luong-tutorial.toml").read_text()
    data = [folder / "data"]
    experiment = read_experiment(recipe, "the recipe", SETTINGS, data=data, source="en", target="de")
    check(experiment, trial=0)
    return time.process_time()


STEPS: dict[str, Callable[[Path], float]] = {
    "encode words": partial(encode, "words"),
    "encode subwords": partial(encode, "subwords"),
    "begin": partial(one_update, False),
    "resume": partial(one_update, True),
    "first batch, shuffled whole": partial(first_batch, 0),
    "first batch, shuffled in windows": partial(first_batch, WINDOW),
    "check": partial(looked_at, False),
    "check --exact": partial(looked_at, True),
}


def measured(step: str, folder: Path) -> None:
    """Take a step and print its row."""
    watch, began = Watch(), time.time()
    watch.start()
    seconds = STEPS[step](folder)
    print(f"| {step} | {seconds:.1f} | {time.time() - began:.1f} | {watch.memory:,} |", flush=True)


def main(count: int, steps: Sequence[str]) -> None:
    """Measure so many pairs, each step in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["ANAPHORA_DATA"] = str(folder / "home")
        (folder / "data").mkdir()
        generate(count, folder / "data")
        time.sleep(3)  # files that just changed are read again
        print(
            f"| {count:,} pairs | processor seconds | seconds by the clock | memory (MB) |\n| --- | --: | --: | --: |"
        )
        for step in steps:
            alone(measured, step, folder)
        size = sum(file.stat().st_size for file in (folder / "run" / "encoded" / "train").glob("*"))
        print(f"\n{size / count:.1f} bytes a pair on disk")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:] or list(STEPS))
