"""Options of a search, in the groups of their help, and the value that they make."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from anaphora.cli.tables import declared_in, with_declared
from anaphora.options import Excludes, Needs, Option
from anaphora.prediction.options import SearchOptions
from anaphora.search.sampling import Sampling

if TYPE_CHECKING:
    from anaphora.prediction.candidates import Candidates, Shortlist
    from anaphora.prediction.glossary import Glossary
    from anaphora.text.placeholders import Kind

WORDS = "Unknown words and candidates"
"""Heading of options about single words."""


@dataclass(frozen=True)
@with_declared(SearchOptions, "Search", without=("alternatives", "known", "max_tokens"))
@with_declared(Sampling, "Sampling", last=True)
class SearchTable:
    """The declared options of a search, and those that only a command line has."""

    heading: ClassVar = WORDS

    protect: Annotated[
        str, Option("Keep placeholders,tags,urls,emails,numbers (all); names; none.", metavar="KINDS", heading="Search")
    ] = ""
    terms: Annotated[
        Path | None, Option("Glossary: source form, tab, form | form | !forbidden.", metavar="FILE", heading="Search")
    ] = None
    sample: Annotated[bool, Option("Draw translations instead of searching them.", heading="Sampling")] = False
    replace_unknown: Annotated[bool, Option("Replace each <unk> by the source word of highest attention.")] = False
    dictionary: Annotated[Path | None, Option("With --replace-unknown: dictionary of word, tab, translation.")] = None
    candidates: Annotated[Path | None, Option("Restrict output to frequent words and those of this dictionary.")] = None
    shortlist: Annotated[bool, Option("For speed: restrict output to the shortlist (see anaphora shortlist).")] = False
    frequent_words: Annotated[
        int | None, Option("Number of frequent words.", min=0, default="2000; with --shortlist 500 tokens")
    ] = None
    translations_per_word: Annotated[
        int | None, Option("Translations per source word.", min=0, default="10; with --shortlist 20")
    ] = None

    conflicts: ClassVar = (
        Needs("--temperature --top-k --top-p --seed", "--sample"),
        Needs("--dictionary", "--replace-unknown"),
        Needs("--frequent-words --translations-per-word", "--candidates --shortlist"),
        Excludes("--candidates", "--shortlist", "Both say which words may be written"),
    )

    def options(self, **others: Any) -> SearchOptions:
        """Return the search that is asked for, with ``others`` of its fields.

        ConfigError for what does not go together.
        """
        asked = SearchOptions(
            **declared_in(self, SearchOptions),
            replace_unknown=self._replacements() if self.replace_unknown else None,
            candidates=self._candidates(),
            sampling=Sampling(**declared_in(self, Sampling)) if self.sample else None,
            protect=self._parse_protected(),
            terms=given_glossary(self.terms),
            **others,
        )
        asked.check()
        return asked

    def _replacements(self) -> dict[str, str]:
        """Return the most probable translation of every word of the dictionary; errors as for ``read_dictionary``."""
        from anaphora.formats.dictionary import read_dictionary

        entries = read_dictionary(self.dictionary) if self.dictionary else {}
        return {word: translations[0] for word, translations in entries.items()}

    def _candidates(self) -> "Candidates | Shortlist | None":
        """Return the words of translations, None for every word; errors as for ``read_dictionary``."""
        from anaphora.formats.dictionary import read_dictionary
        from anaphora.prediction.candidates import Candidates, Shortlist

        counts = {"frequent": self.frequent_words, "each": self.translations_per_word}
        given = {name: count for name, count in counts.items() if count is not None}
        if self.candidates is not None:
            return Candidates(read_dictionary(self.candidates), **given)
        return Shortlist(**given) if self.shortlist else None

    def _parse_protected(self) -> "tuple[Kind, ...] | None":
        """Return the kinds in ``--protect``, None where it is not given; ConfigError for an unknown kind."""
        from anaphora.text.placeholders import CERTAIN, checked_kinds

        named = {"": None, "all": CERTAIN, "none": ()}
        return named[self.protect] if self.protect in named else checked_kinds(self.protect.split(","))


def given_glossary(file: Path | None) -> "Glossary | None":
    """Return the glossary in a file, if one is given; errors as for ``read_glossary``."""
    if file is None:
        return None
    from anaphora.formats.glossary import read_glossary
    from anaphora.prediction.glossary import Glossary

    return Glossary(read_glossary(file))
