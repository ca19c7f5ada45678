"""The memory that a corpus takes does not grow with the corpus."""

import subprocess
import sys
from pathlib import Path

import pytest

STATUS = Path("/proc/self/status")

PROGRAM = """
import random, sys
from pathlib import Path
from typing import get_args
from anaphora.data.sources import text_splits, translation_splits
from anaphora.data.example_store import example_store
from anaphora.data.pairs import pair_fields
from anaphora.data.running_text import encoded_text
from anaphora.text.tokenization import AnyTokenizer, fit

folder, lines, kind, part = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
draw = random.Random(0)
words = ["".join(draw.choices("abcdefghij", k=draw.randint(2, 9))) for _ in range(3000)]
for name, count in (("train.en", lines), ("train.fr", lines), ("val.en", 100), ("val.fr", 100)):
    if part == "valid held out" and name.startswith("val"):
        continue
    with (folder / name).open("w") as out:
        for number in range(count):
            out.write(" ".join(draw.choices(words, k=draw.randint(5, 30))) + "\\n")
options = {"tokenizer": kind} | ({"size": 1000, "sample": 2000} if kind in ("bpe", "unigram") else {})
config = next(one for one in get_args(AnyTokenizer) if one.tokenizer == kind)().with_options(options)
if part == "text":
    (folder / "train.en").rename(folder / "train.txt")
    train = text_splits([folder]).train
    tokenizer = fit(config, {"text": train.lines})["text"]
    rows = int((encoded_text(train, tokenizer, folder / "store")[:] == tokenizer.symbols.eos).sum()) - 1
else:
    train = translation_splits([folder], "en", "fr").train
    tokenizers = fit(config, {"source": train.sources, "target": train.targets})
    rows = len(example_store(train, pair_fields(tokenizers), folder / "store", noun="pair"))
assert 0.9 * lines < rows <= lines
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.slow
@pytest.mark.skipif(not STATUS.exists(), reason="the peak of a process is read from /proc")
@pytest.mark.parametrize(
    ("units", "part"),
    [("bpe", "pairs"), ("unigram", "pairs"), ("word", "pairs"), ("character", "valid held out"), ("word", "text")],
)
def test_a_corpus_ten_times_as_large_takes_no_more_memory(tmp_path: Path, units: str, part: str) -> None:
    def peak(lines: int) -> int:
        folder = tmp_path / str(lines)
        folder.mkdir()
        command = [sys.executable, "-c", PROGRAM, str(folder), str(lines), units, part]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    small, large = peak(8000), peak(80_000)
    # beside what it holds, a process is shown with the pages that it has mapped of the store, 5 MB in all
    assert large < small + 6_000, f"{small:,} kB became {large:,} kB"
