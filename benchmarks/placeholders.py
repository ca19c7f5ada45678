"""``python -m benchmarks.placeholders``: where translators put placeholders, and what each mechanism adds to that.

Held-out pairs with placeholders are translated as a document is, with all mechanisms and without each of them. Printed
are the sentences in which all that is kept came back as often (``kept``), those that a document would be filled with
(``filled``), placeholders beside the same word as in the reference (``beside``), BLEU, sentences searched for each
sentence, and processor time.
"""

import argparse
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import anaphora
from anaphora.evaluation.bleu import bleu
from anaphora.prediction.options import SearchOptions
from anaphora.tasks.translation import pipeline
from anaphora.tasks.translation.constraints import TargetConstraints
from anaphora.tasks.translation.documents import fault, retry_steps, run_steps
from anaphora.tasks.translation.pipeline import TranslationPipeline
from anaphora.tasks.translation.unmasking import Unmasking
from anaphora.text.placeholders import RESERVED, USUAL, spans

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


def _remapped(unmask: Callable[..., Any]) -> Callable[..., Any]:
    def remap(self: Unmasking, row: Any, hypothesis: Any) -> Any:
        size, ids, steps = self._target.symbols.size, list[int](), list[int]()
        tokens = [unit.stand_in.token for unit in row.masked.units]
        for step, token in enumerate(hypothesis.ids):
            if token in tokens:
                place = tokens.index(token)
                tokens[place] = -1
                ids.append(size + place)
            elif token in {unit.stand_in.token for unit in row.masked.units}:
                continue
            else:
                ids.append(token)
            steps.append(step)
        steps += [len(hypothesis.ids)] * hypothesis.finished
        weights = None if hypothesis.weights is None else hypothesis.weights[steps]
        return unmask(self, row, replace(hypothesis, ids=tuple(ids), weights=weights))

    return remap


@contextmanager
def without(name: str) -> Iterator[None]:
    """Switch a mechanism off."""
    if name == "as-written":
        with patch.object(TranslationPipeline, "_with_known_placeholders", lambda *_: None):
            yield
    elif name == "pointing":  # stand-ins are words of the output, which become what they stand for
        with (
            patch.object(TranslationPipeline, "_pointing", lambda *_: None),
            patch.object(Unmasking, "unmask", _remapped(Unmasking.unmask)),
            patch.object(pipeline, "banned_tokens_of", lambda target: target.unwritten),
        ):
            yield
    elif name == "banned-strings":
        with patch.object(TargetConstraints, "_kept_texts", lambda *_: []):
            yield
    else:
        yield


ALL = ("as-written", "pointing", "banned-strings", "trying-again")


def measure(run: Path, sources: Sequence[str], references: Sequence[str], off: Sequence[str], beam: int) -> str:
    translator: Any = anaphora.load(run)
    translator.stand_ins
    searched = 0
    search = pipeline.search

    def counted(stepper: Any, batch: Any, *args: Any, **more: Any) -> Any:
        nonlocal searched
        searched += len(batch.example_ids_B)
        return search(stepper, batch, *args, **more)

    def translate(texts: Sequence[str], protects: bool) -> list[str]:
        options = SearchOptions(beam, protect=None if protects else ())
        return [one.text for one in translator.stream(texts, options, split=False)]

    from contextlib import ExitStack

    with ExitStack() as stack:
        stack.enter_context(patch.object(pipeline, "search", counted))
        for one in off:
            stack.enter_context(without(one))
        began = time.process_time()
        if "trying-again" in off:
            found = translate(sources, True)
        else:
            found = [one or "" for one in run_steps(retry_steps(sources), translate)]
        seconds = time.process_time() - began
    exact = sum(kept(a) == kept(b) for a, b in zip(sources, found, strict=True))
    filled = sum(not fault(a, b) for a, b in zip(sources, found, strict=True))
    count = right = 0
    for ours, theirs in zip(map(beside, found), map(beside, references), strict=True):
        for text, (before, after) in theirs.items():
            count += 1
            right += text in ours and (ours[text][0] == before or ours[text][1] == after)
    score = bleu(found, [references] if False else references, language="de")
    n = len(sources)
    measure.found = found
    return (
        f"kept {100 * exact / n:6.1f}  filled {100 * filled / n:5.1f}  beside {100 * right / max(count, 1):5.1f}  "
        f"BLEU {float(str(score).split()[2]) if False else score.value:5.2f}  searched {searched / n:4.2f}  {seconds:5.1f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("source", type=Path)
    parser.add_argument("reference", type=Path)
    parser.add_argument("--beam", type=int, default=5)
    options = parser.parse_args()
    sources, references = (p.read_text().splitlines() for p in (options.source, options.reference))
    combos = [(), *((one,) for one in ALL), ALL[:1] + ALL[2:], ALL]
    previous = None
    for off in combos:
        print(f"{'all' if not off else 'without ' + ' '.join(off):55}", measure(options.run, sources, references, off, options.beam), flush=True)
        if previous is None: previous = measure.found
        elif off:
            d=[(s,a,b) for s,a,b in zip(sources, previous, measure.found) if a!=b]
            Path(f"/tmp/hold/diff-{options.run.name}-{'+'.join(off)}.txt").write_text("\n\n".join("\n".join(x) for x in d))


if __name__ == "__main__":
    main()
