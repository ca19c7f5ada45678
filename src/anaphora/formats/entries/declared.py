"""The languages that a TMX or XLIFF file declares."""

from collections.abc import Mapping

from anaphora.formats.entries.entry import Content
from anaphora.formats.entries.markup import Markup
from anaphora.formats.entries.tmx import language_of

_ATTRIBUTES = ("srclang", "source-language", "srcLang", "target-language", "trgLang")
_ANY = "*all*"


class Declared(Markup):
    """Gathers the languages, that of the source first."""

    def __init__(self, name: str, languages: tuple[str, str]) -> None:
        """Of a file that messages call ``name``."""
        super().__init__(name, languages)
        self.languages: dict[str, None] = {}
        """In the order in which they come, each once."""

    def begins(self, name: str, attributes: Mapping[str, str], at: int) -> bool:
        found = [attributes.get(attribute, "") for attribute in _ATTRIBUTES if name in ("header", "file", "xliff")]
        found += [language_of(attributes)] if name == "tuv" else []
        for language in found:
            if language and language != _ANY and not self._is_there(language):
                self.languages[language] = None
        return False

    def ends(self, name: str, content: Content | None, at: int) -> None:
        pass

    def _is_there(self, language: str) -> bool:
        return language.casefold() in map(str.casefold, self.languages)
