"""Measure glossary terms: python -m benchmarks.glossary RUN TERMS SOURCE REFERENCE [FIRST] [END].

Of SOURCE, the sentences FIRST to END (0 to 200) that have one term are translated without the glossary and with it. A
term is present if one of its forms is a word of the translation. The rest is unchanged if both translations are the
same, or have the same words but for one stretch, which is, in the translation with the term, that term behind at most
two words, each of which begins with the letter of a word that it replaced; and which has at most three words more in
the translation without it.
"""

import re
import sys
import time
from pathlib import Path

from sacrebleu import corpus_bleu

import anaphora
from anaphora.formats.glossary import read_glossary
from anaphora.prediction.glossary import Glossary

_WORD = re.compile(r"\w+['’]?|[^\w\s]")


def is_unchanged(plain: str, found: str, forms: list[str]) -> bool:
    """Return True if the rest of a translation is what it was without the term."""
    before, after = (_WORD.findall(text.lower()) for text in (plain, found))
    for form in forms:
        words = _WORD.findall(form.lower())
        for place in range(len(after) - len(words) + 1):
            if after[place : place + len(words)] == words:
                for agreeing in range(min(2, place) + 1):
                    start, rest = place - agreeing, after[place + len(words) :]
                    stood = before[start : len(before) - len(rest)]
                    letters = [word[0] for word in stood[:agreeing]]
                    if (
                        before == [*after[:start], *stood, *rest]
                        and len(stood) <= agreeing + 3
                        and [word[0] for word in after[start:place]] == letters
                    ):
                        return True
    return False


def main(run: str, terms: str, source: str, reference: str, first: str = "0", end: str = "200") -> None:
    glossary, translator = Glossary(read_glossary(Path(terms))), anaphora.load(run)
    pairs = zip(*(Path(path).read_text().splitlines() for path in (source, reference)), strict=True)
    distinct = dict(reversed([*pairs])).items()
    found = [(one, other, {match.entry for match in glossary.of(one)}) for one, other in distinct]
    chosen = [(one, other, *terms) for one, other, terms in found if len(terms) == 1][int(first) : int(end)]
    sources, references, entries = map(list, zip(*chosen, strict=True))
    started = time.process_time()
    plain = translator.translate(sources)
    between = time.process_time()
    changed = translator.translate(sources, terms=glossary)
    ended = time.process_time()
    present = same = had = 0
    for text, one, other, entry in zip(sources, plain, changed, entries, strict=True):
        forms = list(entry.required)
        holds = [any(re.search(rf"(?i)(?<!\w){re.escape(form)}(?!\w)", x.text) for form in forms) for x in (one, other)]
        kept = one.text == other.text or is_unchanged(one.text, other.text, forms)
        present, same, had = present + holds[1], same + kept, had + holds[0]
        if not (holds[1] and kept):
            print(f"{text}\n  - {one.text}\n  + {other.text}  [{' | '.join(forms)}]")
    scores = [corpus_bleu([one.text for one in some], [references]).score for some in (plain, changed)]
    print(
        f"{len(sources)} sentences: present {present / len(sources):.1%} (without {had / len(sources):.1%}), "
        f"rest unchanged {same / len(sources):.1%}, BLEU without {scores[0]:.1f}, with {scores[1]:.1f}, "
        f"processor time {(ended - between) / (between - started):.2f}"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
