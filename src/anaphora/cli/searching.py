"""Options of a search, in the groups of their help, and the value that they make."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anaphora.cli.options import Beam, LengthPenalty, candidates_of, replacements_of, search_option, words_option
from anaphora.errors import ConfigError

if TYPE_CHECKING:
    from anaphora.prediction.glossary import Glossary
    from anaphora.prediction.options import SearchOptions
    from anaphora.search.sampling import Sampling
    from anaphora.text.placeholders import Kind

_sampling_option = partial(typer.Option, rich_help_panel="Sampling")


@dataclass(frozen=True)
class SearchTable:
    """What a person asks of a search of translations."""

    beam: Beam = None
    length_penalty: LengthPenalty = None
    per_token: Annotated[bool, search_option("--per-token", help="Rank by score per token, not by length penalty.")] = (
        False
    )
    coverage_penalty: Annotated[
        float, search_option(min=0, help="Strength of the penalty for source tokens without attention.")
    ] = 0.0
    min_length: Annotated[int, search_option(min=0, help="Minimum number of tokens of a sentence.")] = 0
    no_repeat_ngram: Annotated[int, search_option(min=0, help="Write no n-gram of this length twice.")] = 0
    groups: Annotated[int, search_option(min=0, help="Groups of a diverse beam; they divide it.")] = 0
    diversity: Annotated[
        float | None, search_option(min=0, help="With --groups: strength of diversity. [default: 0.5]")
    ] = None
    minimum_risk: Annotated[
        int,
        search_option(min=0, metavar="N", help="Of N hypotheses or samples take that of greatest expected chrF (MBR)."),
    ] = 0
    protect: Annotated[
        str,
        search_option(metavar="KINDS", help="Kept as they are: placeholders,tags,urls,emails,numbers, all or none."),
    ] = ""
    terms: Annotated[
        Path | None, search_option(metavar="FILE", help="Glossary: source form, tab, form | form | !forbidden.")
    ] = None
    sample: Annotated[bool, _sampling_option("--sample", help="Draw translations instead of searching them.")] = False
    temperature: Annotated[float | None, _sampling_option(help="Below 1 sharpens the distribution. [default: 1]")] = (
        None
    )
    top_k: Annotated[
        int | None, _sampling_option(min=0, help="Draw from this many most probable tokens. [default: all]")
    ] = None
    top_p: Annotated[
        float | None,
        _sampling_option(help="Draw from the most probable tokens of this total probability. [default: 1]"),
    ] = None
    seed: Annotated[int | None, _sampling_option(min=0, help="Random seed. [default: 0]")] = None
    replace_unknown: Annotated[
        bool,
        words_option("--replace-unknown", help="Replace each <unk> by the source word with the highest attention."),
    ] = False
    dictionary: Annotated[
        Path | None, words_option(help="With --replace-unknown: dictionary of word, tab, translation.")
    ] = None
    candidates: Annotated[
        Path | None, words_option(help="Restrict output to frequent words and translations in this dictionary.")
    ] = None
    shortlist: Annotated[
        bool,
        words_option("--shortlist", help="Restrict output to the run's shortlist, for speed; see anaphora shortlist."),
    ] = False
    frequent: Annotated[
        int | None, words_option(min=0, help="Number of frequent words. [default: 2000; with --shortlist 500 tokens]")
    ] = None
    each: Annotated[
        int | None, words_option(min=0, help="Translations per source word. [default: 10; with --shortlist 20]")
    ] = None

    @property
    def read(self) -> list[Path | None]:
        """The files that are read for it."""
        return [self.dictionary, self.candidates, self.terms]

    def options(self, **others: Any) -> "SearchOptions":
        """The search that is asked for, with ``others`` of its fields; ConfigError for what does not go together."""
        from anaphora.prediction.options import SearchOptions

        asked = SearchOptions(
            self.beam,
            self.length_penalty,
            replace_unknown=replacements_of(self.replace_unknown, self.dictionary),
            candidates=candidates_of(self.candidates, self.shortlist, self.frequent, self.each),
            per_token=self.per_token,
            coverage_penalty=self.coverage_penalty,
            min_length=self.min_length,
            no_repeat_ngram=self.no_repeat_ngram,
            groups=self.groups,
            diversity=self.diversity,
            sampling=self._sampling(),
            minimum_risk=self.minimum_risk,
            protect=self._protected(),
            terms=self._glossary(),
            **others,
        )
        asked.check()
        return asked

    def _glossary(self) -> "Glossary | None":
        if self.terms is None:
            return None
        from anaphora.formats.glossary import read_glossary
        from anaphora.prediction.glossary import Glossary

        return Glossary(read_glossary(self.terms))

    def _protected(self) -> "tuple[Kind, ...] | None":
        """What ``--protect`` names, None where it is not given; ConfigError for a kind that is none."""
        from anaphora.text.placeholders import KINDS, checked_kinds

        named = {"": None, "all": KINDS, "none": ()}
        return named[self.protect] if self.protect in named else checked_kinds(self.protect.split(","))

    def _sampling(self) -> "Sampling | None":
        from anaphora.search.sampling import Sampling

        given = {"temperature": self.temperature, "top_k": self.top_k, "top_p": self.top_p, "seed": self.seed}
        found: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        if found and not self.sample:
            raise ConfigError("--temperature, --top-k, --top-p and --seed belong to --sample, which is missing.")
        return Sampling(**found) if self.sample else None
