"""The confidence of translations: from what a model says of their tokens to calibrated probabilities.

Both probabilities are logistic regressions on a few features, fitted by ``anaphora calibrate``. That of a sentence is
the probability that its chrF2 is at least ``GOOD``; that of a word, that its reference has the word in the same order.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn

import numpy as np

from anaphora.errors import ConfigError
from anaphora.evaluation.logistic import Logistic
from anaphora.kernels.runtime import Runtime
from anaphora.prediction.options import SearchOptions
from anaphora.search.hypothesis import Evidence, Floats
from anaphora.tasks.translation.translation import Signals, Translation
from anaphora.tasks.translation.unmasking import Token

GOOD = 50.0
"""chrF2 of a translation that counts as good."""

VERSION = 1
"""Of the features: what was fitted on others cannot be used."""

_WORD = re.compile(r"\S+")


def signals_of(evidence: Evidence, source: int, text: str, tokens: Sequence[Token]) -> Signals:
    """The features of a translation and of its words.

    ``source`` counts the tokens of the source, and ``tokens`` are those of ``text``. A word that no step wrote has
    none.
    """
    signals_TE = evidence.signals_TE
    own = [_of_word(signals_TE, steps) if steps else None for steps in _steps_of_words(text, tokens)]
    ln_p, entropy, margin, attention = signals_TE.T
    sentence = (
        *(ln_p.mean(), ln_p.min(), ln_p.std(), entropy.mean(), entropy.max(), margin.mean(), (ln_p < -1).mean()),
        *(np.log(len(ln_p)), np.log(len(ln_p) / (source + 1)), attention.mean(), evidence.coverage),
    )
    return Signals(tuple(map(float, sentence)), tuple(own))


def _of_word(signals_TE: Floats, steps: Sequence[int]) -> tuple[float, ...]:
    """The features of a word that some steps wrote: of itself, of its neighbours and of the sentence."""
    ln_p, entropy, margin, attention = signals_TE[list(steps)].T
    before, after = (max(0, steps[0] - 1), min(len(signals_TE) - 1, steps[-1] + 1))
    around = (signals_TE[before, 0], signals_TE[after, 0], signals_TE[after, 1])
    whole = (signals_TE[:, 0].mean(), signals_TE[:, 1].mean(), np.log(len(signals_TE)))
    itself = (ln_p.sum(), ln_p.min(), entropy.max(), entropy[0], margin.min(), attention.mean(), np.log(len(steps)))
    return tuple(map(float, (*itself, *around, *whole)))


def _steps_of_words(text: str, tokens: Sequence[Token]) -> list[list[int]]:
    """The steps that wrote each word of a text; words are what stands between white space."""
    spans = [match.span() for match in _WORD.finditer(text)]
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    found: list[list[int]] = [[] for _ in spans]
    for token in tokens:
        # a token without letters of its own is behind what it belongs to
        word = bisect_right(ends, token.start) if token.end > token.start else bisect_left(ends, token.start)
        if token.step >= 0 and word < len(spans) and (token.end > starts[word] or token.end == token.start):
            found[word].append(token.step)
    return [sorted(set(steps)) for steps in found]


class Confidence(NamedTuple):
    """Fitted confidence of one way to search."""

    sentence: Logistic
    word: Logistic

    def judged(self, translation: Translation) -> Translation:
        """A translation with the confidence that its signals give it and its words."""
        signals = translation.signals
        if signals is None:
            return translation
        if not signals.sentence:
            return replace(translation, word_confidences=(None,) * len(signals.words))
        known = [word for word in signals.words if word is not None]
        values = iter(self.word.probabilities(np.array(known)).tolist() if known else ())
        words = tuple(None if word is None else next(values) for word in signals.words)
        [sentence] = self.sentence.probabilities(np.array([signals.sentence])).tolist()
        return replace(translation, confidence=sentence, word_confidences=words)


def uncalibrated(options: SearchOptions, runtime: Runtime) -> NoReturn:
    """The confidence of several models together, or of none that was stored: ConfigError."""
    raise ConfigError(
        "Confidence is calibrated for one run by itself, not for an ensemble or with a language model: translate with "
        "one run, or leave it out."
    )


def settings_of(options: SearchOptions, runtime: Runtime) -> Mapping[str, Any]:
    """Return the settings that confidence is calibrated for: the search, and the precision of its products.

    What belongs to a text, such as its glossary, is left out, and so is the seed of samples.
    """
    candidates, sampling = options.candidates, options.sampling
    *_, kind = runtime.backend.rpartition("-")
    return {
        "precision": "fp32" if kind in ("torch", "gemm") else kind,
        **options.settings,
        "length_penalty": options.length_penalty or 0.0,
        "groups": options.groups,
        "diversity": options.diverse.strength if options.diverse else 0.0,
        "candidates": [*candidates.settings.values()] if candidates else [],
        "sampling": [sampling.temperature, sampling.top_k, sampling.top_p] if sampling else [],
    }
