"""Stores of pairs of sentences and of running text."""

from pathlib import Path

from anaphora.data.columns import Column
from anaphora.data.corpora import TextCorpus
from anaphora.data.example_store import example_store
from anaphora.data.fields.tokens import RunningText
from anaphora.events import Report, silent
from anaphora.text.tokenizer import Tokenizer


def text_store(corpus: TextCorpus, tokenizer: Tokenizer, folder: Path, *, report: Report = silent) -> Column:
    """Return a running text as ids: ``</s>``, then every line with its ``</s>``; see ``example_store``.

    Every id but the first is there to be predicted.
    """
    field = RunningText("text", tokenizer)
    ids: Column = example_store(corpus, [field], folder, noun="line", report=report).rows(field)
    return ids
