"""Which of the served languages a text is in."""

from collections.abc import Sequence
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
    """Chooses among some languages by py3langid; languages it does not know are chosen only where they are alone."""

    def __init__(self, languages: Sequence[str]) -> None:
        """Raises MissingExtraError where there is a choice and py3langid is not installed."""
        self._languages, self._known = list(languages), dict[str, str]()
        if len(self._languages) == 1:
            return  # reading what tells languages apart takes half a second
        try:
            from py3langid.langid import MODEL_FILE, LanguageIdentifier
        except ImportError:
            raise MissingExtraError("py3langid", "serve") from None
        self._identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
        plain_codes = {code.split("-")[0]: code for code in self._languages}
        self._known = {plain: plain_codes[plain] for plain in self._identifier.labels if plain in plain_codes}
        if self._known:
            self._identifier.set_languages(sorted(self._known))

    def detect(self, text: str) -> list[Detected]:
        """The languages, most probable first. The only language there is has a confidence of 100."""
        if len(self._languages) == 1:
            return [Detected(100.0, self._languages[0])]
        if not text.strip() or not self._known:
            return [Detected(0.0, code) for code in self._languages]
        ranked = self._identifier.rank(text)
        return [Detected(round(100 * float(share), 1), self._known[code]) for code, share in ranked]
