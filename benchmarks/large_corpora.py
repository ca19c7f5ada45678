"""Processor time of encoding generated pairs, and of resuming over them: ``python -m benchmarks.large_corpora 400000``.

Sides have 4 to 12 words of random letters. A tiny translator is begun for one update in this process and resumed for
another: first without what the first reading found, then with it. Files of less than 32 MB are read again each time.
"""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from random import Random

from anaphora.data.sources import translation_splits
from anaphora.data.store import pair_store
from anaphora.events import silent
from anaphora.experiment.conduct import train
from anaphora.experiment.reading import read_experiment
from anaphora.tasks.base import ExperimentBase
from anaphora.text import tokenization

WORDS, POOL, VALID = 20_000, 1 << 20, 500
SETTINGS = ["encoder.size=16", "decoder.size=16", "training.batch_tokens=500"]
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


def encode(count: int, data: Path, folder: Path) -> None:
    """Print what encoding takes a pair, by kind of token."""
    splits = translation_splits([data], "en", "de")
    for name, config in KINDS.items():
        sides = {"source": splits.train.sources, "target": splits.train.targets}
        tokenizers = tokenization.fit(config, sides, silent, languages={"source": "en", "target": "de"})
        began = time.process_time()
        pair_store(splits.train, tokenizers["source"], tokenizers["target"], folder / name)
        print(f"encoding {name}: {1e6 * (time.process_time() - began) / count:.1f} microseconds a pair", flush=True)


def one_update(experiment: ExperimentBase, run: Path, *, resume: bool) -> float:
    """Processor seconds until the first update is done."""
    asked: list[float] = []
    began = time.process_time()

    def stop() -> bool:
        asked.append(time.process_time() - began)
        return len(asked) > 1

    train(experiment, run, resume=resume, stop=stop)
    return asked[1]


def main(counts: Iterable[int]) -> None:
    """Measure every number of pairs."""
    recipe = (Path(__file__).parents[1] / "src/anaphora/recipes/luong-tutorial.toml").read_text()
    words = ['text.tokenizer="word"', 'text.segmentation="whitespace"', "text.size=8000"]
    for count in counts:
        with tempfile.TemporaryDirectory() as name:
            folder, data = Path(name), Path(name) / "data"
            os.environ["ANAPHORA_DATA"] = str(folder / "home")
            data.mkdir()
            generate(count, data)
            time.sleep(3)  # files that just changed are read again
            settings = [*words, *SETTINGS]
            experiment = read_experiment(recipe, "the recipe", settings, data=[data], source="en", target="de")
            begun = one_update(experiment, folder / "run", resume=False)
            shutil.rmtree(folder / "home", ignore_errors=True)
            again, known = (one_update(experiment, folder / "run", resume=True) for _ in range(2))
            print(f"{count:,} pairs: begun in {begun:.1f} s, resumed in {known:.2f} s, {again:.2f} s if read again")
            encode(count, data, folder)


if __name__ == "__main__":
    main(map(int, sys.argv[1:]))
