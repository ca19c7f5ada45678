"""Corpora encoded once, into columns of ids (``data/columns.py``), in the memory of some lines."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from anaphora.data.captioned import CaptionCorpus
from anaphora.data.columns import Column, Integers, Table, Writer
from anaphora.data.corpora import TextCorpus
from anaphora.data.encoding import Encoding
from anaphora.data.example_store import blocks
from anaphora.data.examples import ExampleCorpus
from anaphora.events import Report, silent
from anaphora.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class TextStore:
    """An encoded running text: ``</s>``, then every line with its ``</s>``."""

    ids: Integers | Column
    """[1 + tokens + lines]; every id but the first is there to be predicted."""
    characters: int
    """Code points of the text as it was read, a line end counted as one."""


def text_store(
    corpus: TextCorpus | ExampleCorpus[Any] | CaptionCorpus,
    tokenizer: Tokenizer,
    folder: Path,
    *,
    report: Report = silent,
) -> TextStore:
    """The text as ids: from ``folder`` if it was encoded there before with the same tokenizer, else encoded now.

    Raises DataError when the folder cannot be written.
    """
    end = tokenizer.symbols.eos

    def encode(into: Writer) -> dict[str, int]:
        characters = done = 0

        def counted_blocks() -> Iterator[list[list[str]]]:
            nonlocal characters
            for lines in blocks(corpus, len):
                characters += sum(map(len, lines)) + len(lines)
                yield [lines]

        into.write("text.ids", [end])
        with Encoding((tokenizer,), torch.get_num_threads(), corpus.count) as encoding:
            for (rows,) in encoding.rows(counted_blocks()):
                into.write("text.ids", np.insert(rows.numbers, np.cumsum(rows.lengths), end))
                done += len(rows.lengths)
                into.tell(done)
        return {"characters": characters}

    identity = [corpus.fingerprint, tokenizer.fingerprint]
    columns = {"text.ids": tokenizer.symbols.size}
    table = Table(folder, identity, columns, encode, task=f"encoding {corpus.name}", total=corpus.count, report=report)
    return TextStore(table["text.ids"], table.facts["characters"])
