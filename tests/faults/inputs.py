"""Texts and corpora in which something was changed: a command does its work or names the place."""

import bz2
import gzip
import lzma
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.faults.damage import drawn
from tests.faults.folders import trained
from tests.faults.forged import CONTROLS
from tests.faults.processes import Fault, command
from tests.faults.tasks import SAMPLES

JUNK = (
    b"", b"", b"\0", b"\xff", b"\r", b"\t", b"\n\n", b'"', b"\xef\xbb\xbf", "\u2028".encode(), "\u0301".encode() * 500,
    b"[" * 3000, b"\\ud800", b"\\u0000", CONTROLS.encode(), b"\\u001b[2J\\u0007", b"9" * 5000, b"<s>", b"x" * (1 << 12),
    b'{"text": "\\ud800", "label": "\\ud800"}\n', b'{"text": "a b", "label": [[0, 1, "\\ud800"]]}\n',
    b'{"text": "a\\nb\\u0000", "label": "a\\nb\\u0000"}\n', b'{"text": {"label": []}, "label": {"text": 1e999}}\n',
    b'{"text": 1' + b"0" * 5000 + b', "label": NaN}\n',
    b'{"label": [null, [], {}], "data": [[]], "annotations": [[], {"result": [1, null]}]}\n',
)  # fmt: skip

PACKED: tuple[Callable[[bytes], bytes], ...] = (gzip.compress, bz2.compress, lzma.compress)


def changed(random: Random, content: bytes) -> bytes:
    for _ in range(random.randint(1, 3)):
        junk = random.choice(JUNK)
        if random.random() < 0.5:
            content = drawn(random, junk)(content)
        else:
            lines = content.splitlines(keepends=True) or [b""]
            lines[random.randrange(len(lines))] = junk
            content = b"".join(lines)
    if random.random() < 0.3:
        content = random.choice(PACKED)(content)
        content = drawn(random)(content) if random.random() < 0.5 else content
    return content


def trial(random: Random) -> str:
    whole = trained(random.choice(SAMPLES))
    sample = whole.sample
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "place"
        sample.write(place)
        file = place / random.choice([sample.text[0], *(f"data/{name}" for name in sample.train)])
        content = file.read_bytes()
        is_pipe = random.random() < 0.1
        file.unlink()
        if is_pipe:
            os.mkfifo(file)
        else:
            file.write_bytes(changed(random, content))
        if file.parent != place:
            ended = command(sample.training(), at=place)
            if ended.code not in (0, 2, 3):
                raise Fault(f"training ends in another way: {ended.err[-1000:]}")
            if ended.code == 2 and (place / "run").exists():
                raise Fault(f"training on it leaves {sorted((place / 'run').iterdir())}: {ended.err[-1000:]}")
        elif not is_pipe:  # which may be read once, so it is waited for: nothing is there to write into it
            arguments = sample.using(whole.place / "run")
            if command(arguments, at=place).code not in (0, 2):
                raise Fault(f"{arguments} ends in another way")
    return sample.name
