"""Units of a part that a vocabulary does not have."""

from collections.abc import Iterator, Mapping
from itertools import islice

from anaphora.data.check.findings import Finding, Place, Rule, Tally
from anaphora.data.check.reading import pair_lines, text_lines
from anaphora.data.check.rules import RULES
from anaphora.data.corpora import PairCorpus, TextCorpus
from anaphora.text.coder import TextCoder

LARGEST = 10_000
"""Lines of a part that are looked at; the rest of a larger part is taken to be alike."""


def unknown_units(
    part: str,
    corpus: PairCorpus | TextCorpus,
    coders: Mapping[str, TextCoder],
    names: Mapping[str, str],
    rule: Rule = RULES["unknown-units"],
) -> Iterator[Finding]:
    """Findings for the sides of a part by a ``rule``; ``names`` says what a coder's side is called in findings."""
    units = dict.fromkeys(coders, 0)
    tallies = {side: Tally() for side in coders}
    for side, text, place in islice(_lines(corpus), LARGEST * len(coders)):
        coder = coders[side]
        ids = coder.encode(text)
        units[side] += len(ids)
        unknown = ids.count(coder.symbols.unk)
        if unknown:
            tallies[side].add(place)
            tallies[side].count += unknown - 1
    for side, tally in tallies.items():
        if finding := rule.finding(part, names[side], tally.count, units[side], tally.places):
            yield finding


def _lines(corpus: PairCorpus | TextCorpus) -> Iterator[tuple[str, str, Place]]:
    if isinstance(corpus, TextCorpus):
        for line in text_lines(corpus):
            yield "text", line.text, Place(line.file, line.line)
        return
    for row in pair_lines(corpus):
        if row.kept:
            yield "source", row.source, Place(row.source_file, row.line)
            yield "target", row.target, Place(row.target_file, row.line)
