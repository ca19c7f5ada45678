"""The options of a search, declared once, with their conflicts; and how something was searched, in words.

Nothing here imports torch before a search is asked for, so that the command line starts quickly.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self, TypedDict

from anaphora.errors import ConfigError
from anaphora.options import MAX_BEAM, Excludes, Needs, Option, check_bounds, check_conflicts, declarations
from anaphora.search.sampling import Sampling
from anaphora.wording import inflect

if TYPE_CHECKING:
    from anaphora.prediction.adaptation import Adaptation
    from anaphora.prediction.candidates import Candidates, Shortlist
    from anaphora.prediction.glossary import Glossary
    from anaphora.search.ranking import LengthModel, Ranking
    from anaphora.search.selection import Diversity
    from anaphora.text.placeholders import Kind

MAX_TOKENS = 10_000
"""Tokens of a sentence, all of which is read before a word is written, and looked at for each: none has as many."""


class SearchOptions(NamedTuple):
    """Options of a search for translations. What is left open is as the run's ``[evaluation]`` table says.

    A number that ``Option`` declares is an option of every command that searches. ``SearchKeywords`` has the same
    fields.

    >>> options = anaphora.SearchOptions(beam=2, alternatives=1)
    >>> [found] = translator.translate(["The cat sees a very small bird"], options)
    >>> len(found.alternatives)
    1
    """

    beam: Annotated[
        int | None, Option("Beam size; 1 is greedy search.", min=1, default="the run's own", words="beam {}")
    ] = None
    length_penalty: Annotated[
        float | None,
        Option("Strength of the reward for length.", min=0, default="the run's own", words="length penalty {:g}"),
    ] = None
    """(Wu et al. 2016, equation 14)"""
    length_model: "LengthModel | None" = None
    """Probabilities of lengths that count in ranks; None for the run's own, where it has one and neither a length
    penalty nor scores per token are asked for."""
    alternatives: Annotated[int, Option("Other hypotheses returned beside the best.", min=0, max=MAX_BEAM - 1)] = 0
    """The search goes on until they are certain, and returns fewer where the beam finished fewer or some have the same
    text. Of samples, others that were drawn."""
    replace_unknown: Mapping[str, str] | None = None
    """A dictionary, perhaps empty: every ``<unk>`` becomes the source word with the most attention, or its translation.
    None leaves them."""
    candidates: "Candidates | Shortlist | None" = None
    """The tokens that every sentence may be written with: by a dictionary, or by the run's own shortlist; None for the
    whole vocabulary."""
    known: Annotated[bool, Option("Skip pairs with unknown words, and never output <unk> (Bahdanau et al. 2015).")] = (
        False
    )
    attention: bool = False
    """True to return attention weights and the tokens of both sides, which word alignments need."""
    per_token: Annotated[bool, Option("Rank by score per token, not by length penalty.", words="scores per token")] = (
        False
    )
    coverage_penalty: Annotated[
        float,
        Option("Strength of the penalty for source tokens without attention.", min=0, words="coverage penalty {:g}"),
    ] = 0.0
    """(Wu et al. 2016, equation 14)"""
    min_length: Annotated[int, Option("Minimum number of tokens of a sentence.", min=0, words="minimum length {}")] = 0
    """``</s>`` does not count."""
    no_repeat_ngram: Annotated[
        int, Option("Write no n-gram of this length twice.", min=0, words="no {}-gram twice")
    ] = 0
    groups: Annotated[int, Option("Groups of a diverse beam; they divide it.", min=0)] = 0
    """(Vijayakumar et al. 2018)"""
    diversity: Annotated[float | None, Option("With groups: strength of diversity.", min=0, default="0.5")] = None
    """Penalty of a token for each earlier group that takes it."""
    sampling: Sampling | None = None
    """Draw translations instead of searching them."""
    minimum_risk: Annotated[
        int,
        Option(
            "Of N hypotheses or samples take that of greatest expected chrF (MBR).",
            min=0,
            metavar="N",
            words="minimum risk among {}",
        ),
    ] = 0
    """Minimum Bayes risk (Kumar and Byrne 2004, Eikema and Aziz 2020); 0 takes the best by rank."""
    max_tokens: Annotated[int, Option("Refuse a sentence of more tokens; its line stays empty.", min=1)] = MAX_TOKENS
    protect: "tuple[Kind, ...] | None" = None
    """Kinds of text copied unchanged, each exactly once: some of ``text.placeholders.KINDS``. None for the usual ones
    and those of the run where texts are translated, and for those of the run where translations are scored."""

    terms: "Glossary | None" = None
    """Terms that a translation must contain and must not, by what its source has."""
    confidence: bool = False
    """True to return how probably each translation and each word is right: needs a run that was calibrated."""
    signals: bool = False
    """True to return what confidence is computed from."""
    adaptation: "Adaptation | None" = None
    """Known translations of similar sentences that take part in every prediction."""

    suffixes: bool = False
    """True for lines with suffixes, which their translations end with."""

    def check(self) -> None:
        """Raise ConfigError for options out of bounds, in conflict, or without effect beside others."""
        check_bounds(self)
        if self.minimum_risk and not 2 <= self.minimum_risk <= MAX_BEAM:
            raise ConfigError(
                f"Minimum risk should choose among 2 to {MAX_BEAM:,} hypotheses, but is to choose among "
                f"{self.minimum_risk:,}: change it, or leave it out."
            )
        if self.candidates is not None and min(self.candidates.frequent, self.candidates.each) < 0:
            raise ConfigError(f"Numbers of candidates should be at least 0, but are {self.candidates}: change them.")
        given = {name for name, value in self._asdict().items() if value}
        given |= {name for name in ("diversity", "replace_unknown") if getattr(self, name) is not None}
        check_conflicts(CONFLICTS, given)
        for part in (self.sampling, self.adaptation):
            if part is not None:
                part.check()

    def resolve(self, beam: int, length_penalty: float, length_models: "Sequence[LengthModel]" = ()) -> Self:
        """Return the same, with what it leaves open as the run has it, in its first direction; samples have no beam.

        Raises ConfigError as ``check``, and for a beam, penalties or groups that a search refuses.
        """
        from anaphora.search.request import check_size

        size = beam if self.beam is None else self.beam
        if self.sampling is None or self.beam:
            check_size(size)
        self.check()
        if self.sampling is not None:
            return self
        resolved = self._replace(beam=size)
        if self.length_penalty is None and self.per_token:
            resolved = resolved._replace(length_penalty=0.0)
        elif self.length_penalty is None:
            model = self.length_model or next(iter(length_models), None)
            resolved = resolved._replace(length_penalty=length_penalty, length_model=model)
        resolved.ranking.check()
        if resolved.diverse is not None:
            resolved.diverse.check(size)
        return resolved

    @property
    def ranking(self) -> "Ranking":
        """The ranks of a resolved search."""
        from anaphora.search.ranking import Ranking

        return Ranking(self.length_penalty or 0.0, self.per_token, self.coverage_penalty, self.length_model)

    @property
    def diverse(self) -> "Diversity | None":
        """The groups of a diverse beam."""
        from anaphora.search.selection import Diversity

        strength = 0.5 if self.diversity is None else self.diversity
        return Diversity(self.groups, strength) if self.groups else None

    @property
    def settings(self) -> dict[str, Any]:
        """The numbers that change what is found, by name."""
        return {name: getattr(self, name) for name, (_, option) in declarations(SearchOptions).items() if option.words}

    @property
    def hypotheses(self) -> int:
        """Number of hypotheses of each sentence that are needed."""
        return max(1 + max(0, self.alternatives), self.minimum_risk)

    def json(self, unknown: int, left: int) -> dict[str, Any]:
        """Return a resolved search that wrote so many ``unknown`` words and left some, for ``json.dumps``."""
        kept: dict[str, Any] = {"protected": list(self.protect)} if self.protect else {}
        kept |= {"terms": len(self.terms.entries)} if self.terms else {}
        kept |= {"adaptation": str(self.adaptation)} if self.adaptation else {}
        kept |= {"length_model": asdict(self.length_model)} if self.length_model else {}
        kept |= self.settings
        return kept | {
            "unknown_words": unknown,
            "unknown_replaced": self.replace_unknown is not None or left < unknown,
            "candidates": self.candidates and self.candidates.settings,
            "known_words_only": self.known,
            "diverse": self.diverse and {"groups": self.diverse.groups, "diversity": self.diverse.strength},
            "sampling": self.sampling and self.sampling._asdict(),
        }

    def describe(self, sentences: int, unknown: int, left: int) -> str:
        """Describe how so many sentences were translated by a resolved search; see ``json``."""
        only = " of known words only" if self.known else ""
        what = "left" if left == unknown else "replaced" if not left else f"of which {left:,} left"
        words = [f"{unknown:,} unknown words {what}"] if unknown else []
        return ", ".join([f"{inflect(sentences, 'sentence')}{only}", *self.how(), *words])

    def how(self) -> Iterator[str]:
        """Describe the settings of a resolved search."""
        if self.sampling:
            yield str(self.sampling)
        for name, value in self.settings.items():
            if value:
                yield declarations(SearchOptions)[name][1].words.format(value)
        if self.length_model:
            yield "length model"
        if self.diverse:
            yield f"{self.diverse.groups} groups of diversity {self.diverse.strength:g}"
        if self.candidates:
            yield f"among {self.candidates}"
        if self.terms:
            yield f"terms of {self.terms}"
        if self.adaptation:
            yield str(self.adaptation)
        if self.protect:
            yield f"{' and '.join(self.protect)} protected"


class SearchKeywords(TypedDict, total=False):
    """The fields of ``SearchOptions`` as keyword arguments, without ``suffixes``."""

    beam: int | None
    length_penalty: float | None
    length_model: "LengthModel | None"
    alternatives: int
    replace_unknown: Mapping[str, str] | None
    candidates: "Candidates | Shortlist | None"
    known: bool
    attention: bool
    per_token: bool
    coverage_penalty: float
    min_length: int
    no_repeat_ngram: int
    groups: int
    diversity: float | None
    sampling: Sampling | None
    minimum_risk: int
    max_tokens: int
    protect: "tuple[Kind, ...] | None"
    terms: "Glossary | None"
    confidence: bool
    signals: bool
    adaptation: "Adaptation | None"


CONFLICTS = (
    Excludes("adaptation", "confidence signals", "Confidence is calibrated for the model alone"),
    Excludes("adaptation", "candidates", "Adaptation may write any word of known translations"),
    Excludes("sampling groups no_repeat_ngram candidates", "suffixes", "Suffixes are written by a beam of all words"),
    Excludes("min_length", "suffixes", "A translation with a suffix has a length of its own"),
    Excludes("beam", "sampling", "A beam searches, and samples are drawn"),
    Excludes("length_penalty per_token coverage_penalty groups", "sampling", "Samples are not ranked"),
    Excludes("per_token", "length_penalty", "Scores per token have no length penalty"),
    Needs("diversity", "groups"),
    Excludes("known", "replace_unknown", "Where known words alone are written, no unknown word is left to replace"),
)
"""Options that a search cannot combine."""
