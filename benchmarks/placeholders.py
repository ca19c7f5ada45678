"""``python -m benchmarks.placeholders RUN SOURCE REFERENCE``: placeholders kept, and what each mechanism adds to that.

Held-out sentences are translated with all mechanisms and without each of them. Printed are the sentences in which all
that is kept came back as often (kept), those that a document would be filled with (filled), placeholders beside the
same word as in the reference (beside), BLEU, searches of a sentence, and processor time.
"""

import argparse
import re
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import anaphora
from anaphora.evaluation.bleu import bleu
from anaphora.prediction.options import SearchOptions
from anaphora.search.search import search
from anaphora.tasks.translation import pipeline, unmasking
from anaphora.tasks.translation.documents import fault
from anaphora.text.placeholders import USUAL, spans

_WORD = re.compile(r"\w+")


def kept(text: str) -> Counter[str]:
    """Return what is kept of a text, as often as it is there."""
    return Counter(text[one.start : one.end] for one in spans(text, USUAL))


def beside(text: str) -> dict[str, tuple[str, str]]:
    """Return the words around each placeholder, ``^`` and ``$`` at the ends."""
    found = {}
    for one in spans(text, USUAL):
        if not one.tag:
            before, after = _WORD.findall(text[: one.start].lower()), _WORD.findall(text[one.end :].lower())
            found[text[one.start : one.end]] = (before[-1] if before else "^", after[0] if after else "$")
    return found


def _as_words(unmask: Any) -> Any:
    """Return ``unmask`` for hypotheses whose stand-ins are words: the first of each stands for a placeholder."""

    def remap(self: Any, row: Any, hypothesis: Any) -> Any:
        waiting = [unit.stand_in.token for unit in row.masked.units]
        stand_ins, size, ids, steps = set(waiting), self._target.symbols.size, list[int](), list[int]()
        for step, token in enumerate(hypothesis.ids):
            if token in waiting:
                place = waiting.index(token)
                waiting[place], token = -1, size + place
            elif token in stand_ins:
                continue
            ids.append(token)
            steps.append(step)
        weights, steps = hypothesis.weights, [*steps, *[len(hypothesis.ids)] * hypothesis.finished]
        return unmask(
            self, row, replace(hypothesis, ids=tuple(ids), weights=None if weights is None else weights[steps])
        )

    return remap


def without(name: str) -> list[AbstractContextManager[Any]]:
    """Return what switches a mechanism off."""
    row = pipeline.TranslationPipeline
    switches: dict[str, list[AbstractContextManager[Any]]] = {
        "": [nullcontext()],
        "pointing": [
            patch.object(row, "_pointing", lambda *_: None),
            patch.object(unmasking.Unmasking, "unmask", _as_words(unmasking.Unmasking.unmask)),
            patch.object(pipeline, "banned_tokens_of", lambda target: target.unwritten),
        ],
        "copies left out": [patch.object(unmasking, "_without_copies", lambda text, _: text)],
    }
    return switches[name]


def measure(translator: Any, sources: Sequence[str], references: Sequence[str], off: str, beam: int) -> str:
    """Return a row of the table."""
    searched = 0

    def count(stepper: Any, batch: Any, request: Any) -> Any:
        nonlocal searched
        searched += len(batch.example_ids_B)
        return search(stepper, batch, request)

    switched = [patch.object(pipeline, "search", count), *without(off)]
    for one in switched:
        one.__enter__()
    began = time.process_time()
    found = [one.text for one in translator.stream(sources, SearchOptions(beam), split=False)]
    seconds = time.process_time() - began
    for one in switched:
        one.__exit__(None, None, None)
    pairs = list(zip(sources, found, strict=True))
    exact, filled = sum(kept(a) == kept(b) for a, b in pairs), sum(not fault(a, b) for a, b in pairs)
    places = [
        any(ours[text][side] == words[side] for side in (0, 1)) if text in ours else False
        for ours, theirs in zip(map(beside, found), map(beside, references), strict=True)
        for text, words in theirs.items()
    ]
    shares = [100 * exact / len(found), 100 * filled / len(found), 100 * sum(places) / max(1, len(places))]
    score = bleu(found, references, language=translator.languages[1]).value
    figures = [*(f"{one:.1f}" for one in shares), f"{score:.1f}", f"{searched / len(found):.2f}", f"{seconds:.1f}"]
    return f"| {f'without {off}' if off else 'all'} | {' | '.join(figures)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.placeholders", description=__doc__)
    for name in ("run", "source", "reference"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--beam", type=int, default=5)
    options = parser.parse_args()
    sources, references = (path.read_text("utf-8").splitlines() for path in (options.source, options.reference))
    translator: Any = anaphora.load(options.run)
    _ = translator.stand_ins  # chosen once, outside of what is timed
    print("| | kept % | filled % | beside % | BLEU | searches | seconds |\n| --- | --: | --: | --: | --: | --: | --: |")
    for off in ("", "pointing", "copies left out"):
        print(measure(translator, sources, references, off, options.beam), flush=True)


if __name__ == "__main__":
    main()
