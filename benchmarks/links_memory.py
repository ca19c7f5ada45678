"""Memory and time of word alignments given in a file: ``python -m benchmarks.links_memory 100000 300000``.

Each number is how many generated pairs there are (``large_corpora.generate``), word i linked to word i. Their links are
checked, turned into links between the tokens of the pairs that are already encoded, and written. Memory is the growth
of what cannot be dropped (RssAnon). Each number is measured in a process of its own.
"""

import sys
import tempfile
import time
from pathlib import Path

from anaphora.data.example_store import example_store
from anaphora.data.sources import translation_splits
from anaphora.events import silent
from anaphora.formats.lines import read_lines, write_lines
from anaphora.formats.pharaoh import to_pharaoh
from anaphora.models.translator import GivenGuide
from anaphora.tasks.translation.word_links import GivenLinks
from benchmarks.large_corpora import fitted, generate
from benchmarks.watch import Watch, alone


def diagonals(folder: Path) -> Path:
    """A file that links the words of the training pairs in ``folder`` one by one."""
    sides = (read_lines(folder / f"train.{side}") for side in ("en", "de"))
    words = (min(len(source.split()), len(target.split())) for source, target in zip(*sides, strict=True))
    write_lines(folder / "links", (to_pharaoh(enumerate(range(count))) for count in words))
    return folder / "links"


def measure(count: int) -> None:
    """Make the links of so many pairs, and print a row of a table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        generate(count, folder)
        guide, train = GivenGuide(file=str(diagonals(folder))), translation_splits([folder], "en", "de").train
        store = example_store(train, fitted("words", train), folder / "store", noun="pair")
        watch = Watch()
        watch.start()
        time.sleep(0.2)
        before, began = watch.memory, time.process_time()
        links = GivenLinks(guide, train, silent).tokens(store, folder / "train.links", silent)
        seconds = time.process_time() - began
        watch.done.set()
        watch.join()
        size = sum(file.stat().st_size for file in (folder / "train.links").iterdir())
        print(f"| {count:,} | {len(links.ids) // 2:,} | {seconds:.1f} | {watch.memory - before:,} | {size / 1e6:.1f} |")


if __name__ == "__main__":
    print("| pairs | links | processor seconds | memory (MB) | on disk (MB) |")
    print("| --: | --: | --: | --: | --: |", flush=True)
    for number in sys.argv[1:]:
        alone(measure, int(number))
