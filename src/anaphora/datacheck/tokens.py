"""Tokens of a split that are not in a vocabulary."""

from collections.abc import Iterator, Mapping
from itertools import islice

from anaphora.data.corpora import PairCorpus, TextCorpus
from anaphora.datacheck.findings import RULES, Finding, Rule, Tally
from anaphora.datacheck.splits import rows
from anaphora.text.tokenizer import Tokenizer

MAX_LINES = 10_000
"""Lines of a split that are tokenized; the rest of a larger split is assumed to be similar."""


def unknown_tokens(
    split: str,
    corpus: PairCorpus | TextCorpus,
    tokenizers: Mapping[str, Tokenizer],
    names: Mapping[str, str],
    rule: Rule = RULES["unknown-tokens"],
) -> Iterator[Finding]:
    """Findings for the sides of a split by a ``rule``; ``names`` has the displayed name of each tokenizer's side."""
    sides = ("source", "target") if isinstance(corpus, PairCorpus) else ("text",)
    totals = dict.fromkeys(sides, 0)
    tallies = {side: Tally() for side in sides}
    for row in islice((row for row in rows(corpus) if row.kept), MAX_LINES):
        for side, text, place in zip(sides, row.texts, row.places, strict=True):
            ids = tokenizers[side].encode(text)
            totals[side] += len(ids)
            if unknown := ids.count(tokenizers[side].symbols.unk):
                tallies[side].add(place, count=unknown)
    for side, tally in tallies.items():
        if finding := rule.finding(split, names[side], tally.count, totals[side], tally.places):
            yield finding
