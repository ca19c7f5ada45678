"""What is asked of a search, in one value; and in words, how something was searched."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Self

from anaphora.config import Conflict
from anaphora.errors import ConfigError
from anaphora.prediction.adaptation import Adaptation
from anaphora.prediction.arguments import LONGEST
from anaphora.prediction.candidates import Candidates, Shortlist
from anaphora.prediction.glossary import Glossary
from anaphora.search.ranking import Ranking
from anaphora.search.request import LARGEST, check_size
from anaphora.search.sampling import Sampling
from anaphora.search.selection import Diversity
from anaphora.text.placeholders import Kind
from anaphora.wording import counted


class SearchOptions(NamedTuple):
    """How translations are searched. What is left open is as the run's ``[evaluation]`` table says."""

    beam: int | None = None
    """Hypotheses kept at each step; 1 is greedy search."""
    length_penalty: float | None = None
    """How strongly length is rewarded (Wu et al. 2016, equation 14)."""
    alternatives: int = 0
    """How many other hypotheses are returned beside the best: the search goes on until they are certain, and returns
    fewer where the beam finished fewer or some have the same text. Of samples, others that were drawn."""
    replace_unknown: Mapping[str, str] | None = None
    """A dictionary, perhaps empty: every ``<unk>`` becomes the source word with the most attention, or its translation.
    None leaves them."""
    candidates: Candidates | Shortlist | None = None
    """The tokens that every sentence may be written with: by a dictionary, or by the run's own shortlist; None for the
    whole vocabulary."""
    known: bool = False
    """Whether ``<unk>`` may not be written; in evaluation, pairs with unknown words are left out (Bahdanau et al.)."""
    attention: bool = False
    """Whether to return attention weights and the tokens of both sides, which word alignments need."""
    per_token: bool = False
    """Whether hypotheses are ranked by score per token, in place of a length penalty."""
    coverage_penalty: float = 0.0
    """How strongly source positions without attention count against a hypothesis (Wu et al. 2016, equation 14)."""
    min_length: int = 0
    """Minimum number of tokens of a translation, ``</s>`` not counted."""
    no_repeat_ngram: int = 0
    """No n-gram of this many tokens is written twice; 0 allows all."""
    groups: int = 0
    """Groups of a diverse beam (Vijayakumar et al. 2018), 0 for none; the beam is divided among them."""
    diversity: float | None = None
    """With ``groups``: how much a token counts less for each earlier group that takes it; None for 0.5."""
    sampling: Sampling | None = None
    """Draw translations instead of searching them."""
    minimum_risk: int = 0
    """The result is the one of this many hypotheses, or samples, with the greatest expected chrF (minimum Bayes risk:
    Kumar and Byrne 2004, Eikema and Aziz 2020); 0 takes the best by rank."""
    max_tokens: int = LONGEST
    """Maximum number of source tokens of a sentence; longer ones are refused."""
    protect: tuple[Kind, ...] | None = None
    """What comes back as it is, each exactly once: some of ``text.placeholders.KINDS``. None for the usual ones where
    texts are translated, and for nothing where translations are scored."""

    terms: Glossary | None = None
    """Terms that a translation must contain and must not, by what its source has."""
    confidence: bool = False
    """Whether to return how probably each translation and each word is right: needs a run that was calibrated."""
    signals: bool = False
    """Whether to return what confidence is computed from."""
    adaptation: Adaptation | None = None
    """Known translations of similar sentences that take part in every prediction."""

    suffixes: bool = False
    """Whether lines have suffixes, which their translations end with."""

    def check(self) -> None:
        """Raise ConfigError for options that conflict or have no effect beside others, and for samples of nothing."""
        for conflict in CONFLICTS:
            if callable(conflict.options) and conflict.options(self):
                raise ConfigError(f"{conflict.remedy.format(table=self)}.")
        if self.sampling is not None:
            self.sampling.check()
        if self.adaptation is not None:
            self.adaptation.check()

    def settled(self, beam: int, length_penalty: float) -> Self:
        """The same, with what it leaves open as the run has it; samples have no beam.

        Raises ConfigError as ``check``, and for a beam, penalties or groups that a search refuses.
        """
        self.check()
        if self.sampling is not None:
            return self
        settled = self._replace(
            beam=beam if self.beam is None else self.beam,
            length_penalty=0.0 if self.per_token else length_penalty,
        )
        if self.length_penalty is not None:
            settled = settled._replace(length_penalty=self.length_penalty)
        assert settled.beam is not None
        check_size(settled.beam)
        settled.ranking.check()
        if settled.diverse is not None:
            settled.diverse.check(settled.beam)
        return settled

    @property
    def ranking(self) -> Ranking:
        """How a settled search ranks."""
        return Ranking(self.length_penalty or 0.0, self.per_token, self.coverage_penalty)

    @property
    def diverse(self) -> Diversity | None:
        """The groups of a diverse beam."""
        strength = 0.5 if self.diversity is None else self.diversity
        return Diversity(self.groups, strength) if self.groups else None

    @property
    def hypotheses(self) -> int:
        """How many hypotheses of each sentence are needed."""
        return max(1 + max(0, self.alternatives), self.minimum_risk)

    def json(self, unknown: int, left: int) -> dict[str, Any]:
        """A settled search that wrote so many ``unknown`` words and left some, for ``json.dumps``."""
        kept: dict[str, Any] = {"protected": list(self.protect)} if self.protect else {}
        kept |= {"terms": len(self.terms.entries)} if self.terms else {}
        kept |= {"adaptation": str(self.adaptation)} if self.adaptation else {}
        return kept | {
            "beam": self.beam,
            "length_penalty": self.length_penalty,
            "unknown_words": unknown,
            "unknown_replaced": self.replace_unknown is not None or left < unknown,
            "candidates": self.candidates and self.candidates.settings,
            "known_words_only": self.known,
            "per_token": self.per_token,
            "coverage_penalty": self.coverage_penalty,
            "min_length": self.min_length,
            "no_repeat_ngram": self.no_repeat_ngram,
            "diverse": self.diverse and {"groups": self.diverse.groups, "diversity": self.diverse.strength},
            "sampling": self.sampling and self.sampling._asdict(),
            "minimum_risk": self.minimum_risk,
        }

    def describe(self, sentences: int, unknown: int, left: int) -> str:
        """How so many sentences were translated by a settled search that wrote ``unknown`` words and left some."""
        only = " of known words only" if self.known else ""
        what = "left" if left == unknown else "replaced" if not left else f"of which {left:,} left"
        words = [f"{unknown:,} unknown words {what}"] if unknown else []
        return ", ".join([f"{counted(sentences, 'sentence')}{only}", *self.how(), *words])

    def how(self) -> Iterator[str]:
        """The settings that a settled search has, in words."""
        yield str(self.sampling) if self.sampling else f"beam {self.beam}"
        if self.length_penalty:
            yield f"length penalty {self.length_penalty:g}"
        if self.per_token:
            yield "scores per token"
        if self.coverage_penalty:
            yield f"coverage penalty {self.coverage_penalty:g}"
        if self.diverse:
            yield f"{self.diverse.groups} groups of diversity {self.diverse.strength:g}"
        if self.min_length:
            yield f"at least {counted(self.min_length, 'token')}"
        if self.no_repeat_ngram:
            yield f"no {self.no_repeat_ngram}-gram twice"
        if self.minimum_risk:
            yield f"minimum risk among {self.minimum_risk}"
        if self.candidates:
            yield f"among {self.candidates}"
        if self.terms:
            yield f"terms of {self.terms}"
        if self.adaptation:
            yield str(self.adaptation)
        if self.protect:
            yield f"{' and '.join(self.protect)} protected"


CONFLICTS = (
    Conflict(
        lambda asked: asked.adaptation and (asked.confidence or asked.signals),
        "Confidence is calibrated for the model alone: leave out confidence, or the adaptation",
    ),
    Conflict(
        lambda asked: asked.adaptation and asked.candidates,
        "Adaptation may write any word of known translations: leave out the candidates, or the adaptation",
    ),
    Conflict(
        lambda asked: asked.candidates and min(asked.candidates.frequent, asked.candidates.each) < 0,
        "Numbers of candidates should be at least 0, but are {table.candidates}: change them",
    ),
    Conflict(
        lambda asked: asked.terms and asked.groups,
        "Terms divide a beam by themselves: leave out the groups of a diverse beam, or the terms",
    ),
    Conflict(
        lambda asked: asked.suffixes and (asked.sampling or asked.groups or asked.no_repeat_ngram or asked.candidates),
        "Suffixes are written by a beam of all words: leave out sampling, groups, n-grams that are not repeated and "
        "candidates, or the suffixes",
    ),
    Conflict(
        lambda asked: asked.suffixes and asked.min_length,
        "A translation with a suffix has a length of its own: leave out the minimum length, or the suffixes",
    ),
    Conflict(
        lambda asked: asked.sampling and asked.beam is not None,
        "A beam searches, and samples are drawn: leave out the beam, or the sampling",
    ),
    Conflict(
        lambda asked: (
            asked.sampling and (asked.length_penalty or asked.per_token or asked.coverage_penalty or asked.groups)
        ),
        "Samples are not ranked: leave out the sampling, or the penalties, scores per token and groups of a beam",
    ),
    Conflict(
        lambda asked: asked.per_token and asked.length_penalty,
        "Scores per token have no length penalty: leave one of the two out",
    ),
    Conflict(
        lambda asked: asked.diversity is not None and not asked.groups,
        "A diversity belongs to the groups of a diverse beam, which are missing: give their number, or leave it out",
    ),
    Conflict(
        lambda asked: asked.minimum_risk and not 2 <= asked.minimum_risk <= LARGEST,
        f"Minimum risk should choose among 2 to {LARGEST:,} hypotheses, but is to choose among "
        "{table.minimum_risk:,}: change it, or leave it out",
    ),
    Conflict(
        lambda asked: not 0 <= asked.alternatives < LARGEST,
        f"Alternatives should be at least 0 and fewer than {LARGEST:,}, but are {{table.alternatives:,}}: change it",
    ),
    Conflict(
        lambda asked: min(asked.min_length, asked.no_repeat_ngram, asked.groups) < 0 or asked.max_tokens < 1,
        "A minimum length, an n-gram that is not repeated and a number of groups should be at least 0, and a maximum "
        "number of tokens at least 1: change what is below",
    ),
    Conflict(
        lambda asked: asked.known and asked.replace_unknown is not None,
        "Where known words alone are written, no unknown word is left to replace: leave out one of the two",
    ),
)
"""What a search cannot be asked for."""
