"""Detection of the language of a text among the served ones."""

from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from anaphora.errors import MissingExtraError


class DetectedLanguage(NamedTuple):
    """A language, and how sure it is."""

    confidence: float
    """Confidence from 0 to 100."""
    language: str


class Detector:
    """Chooses among some languages by py3langid; languages it does not know are chosen only where they are alone.

    The model of py3langid is loaded at its first use, which takes half a second and 45 MB.
    """

    def __init__(self, languages: Sequence[str]) -> None:
        """Raise MissingExtraError for several languages where py3langid is not installed."""
        self._languages, self._lock = list(languages), Lock()
        if len(self._languages) > 1 and not find_spec("py3langid"):
            raise MissingExtraError("py3langid", "serve")

    def detect(self, text: str) -> list[DetectedLanguage]:
        """Return the languages, most probable first. The only language there is has a confidence of 100."""
        if len(self._languages) == 1:
            return [DetectedLanguage(100.0, self._languages[0])]
        with self._lock:
            identifier, known = self._model
        if not text.strip() or not known:
            return [DetectedLanguage(0.0, code) for code in self._languages]
        return [DetectedLanguage(round(100 * float(share), 1), known[code]) for code, share in identifier.rank(text)]

    @cached_property
    def _model(self) -> tuple[Any, dict[str, str]]:
        """The model with the parameters of the languages, and these by its names for them."""
        from py3langid.langid import MODEL_DIR, MODEL_FILE, LanguageIdentifier
        from py3langid.modelio import load_model

        likelihoods_FL, priors_L, labels, moves, row, features = load_model(Path(MODEL_DIR, MODEL_FILE))
        plain_codes = {code.split("-")[0]: code for code in self._languages}
        known = {plain: plain_codes[plain] for plain in labels if plain in plain_codes}
        own = [place for place, label in enumerate(labels) if label in known]  # all of them take 28 MB more
        parts = likelihoods_FL[:, own], priors_L[own], [labels[place] for place in own], moves, features
        return LanguageIdentifier(*parts, norm_probs=True, tk_row=row), known
