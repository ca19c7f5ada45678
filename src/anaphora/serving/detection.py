"""Detection of the language of a text among the served ones."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from anaphora.errors import MissingExtraError


class Detected(NamedTuple):
    """A language, and how sure it is."""

    confidence: float
    """From 0 to 100."""
    language: str

    def json(self) -> dict[str, float | str]:
        """As LibreTranslate writes it."""
        return {"confidence": self.confidence, "language": self.language}


class Detector:
    """Chooses among some languages by py3langid; languages it does not know are chosen only where they are alone.

    The model of py3langid is loaded at its first use, which takes half a second and 45 MB.
    """

    def __init__(self, languages: Sequence[str]) -> None:
        """Raises MissingExtraError where there is a choice and py3langid is not installed."""
        self._languages, self._lock = list(languages), Lock()
        self._model: _Model | None = None
        if len(self._languages) > 1 and not find_spec("py3langid"):
            raise MissingExtraError("py3langid", "serve")

    def detect(self, text: str) -> list[Detected]:
        """Return the languages, most probable first. The only language there is has a confidence of 100."""
        if len(self._languages) == 1:
            return [Detected(100.0, self._languages[0])]
        with self._lock:
            self._model = self._model or _Model(self._languages)
        if not text.strip() or not self._model.known:
            return [Detected(0.0, code) for code in self._languages]
        return self._model.rank(text)


class _Model:
    """Parameters of py3langid for some languages."""

    def __init__(self, languages: Sequence[str]) -> None:
        from py3langid.langid import MODEL_DIR, MODEL_FILE, LanguageIdentifier
        from py3langid.modelio import load_model

        likelihoods_FL, priors_L, labels, moves, row, features = load_model(Path(MODEL_DIR, MODEL_FILE))
        plain_codes = {code.split("-")[0]: code for code in languages}
        self.known = {plain: plain_codes[plain] for plain in labels if plain in plain_codes}
        """The languages, by its names for them."""
        own = [place for place, label in enumerate(labels) if label in self.known]  # all of them take 28 MB more
        parts = likelihoods_FL[:, own], priors_L[own], [labels[place] for place in own], moves, features
        self._identifier = LanguageIdentifier(*parts, norm_probs=True, tk_row=row)

    def rank(self, text: str) -> list[Detected]:
        """Its languages, most probable first."""
        ranked = self._identifier.rank(text)
        return [Detected(round(100 * float(share), 1), self.known[code]) for code, share in ranked]
