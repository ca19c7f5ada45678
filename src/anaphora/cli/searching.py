"""Options of a search, in the groups of their help, and the value that they make."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anaphora.cli.options import (
    Beam,
    CandidatesOption,
    Dictionary,
    Each,
    Frequent,
    LengthPenalty,
    ReplaceUnknown,
    ShortlistOption,
    candidates_of,
    replacements_of,
)
from anaphora.errors import ConfigError

if TYPE_CHECKING:
    from anaphora.prediction.glossary import Glossary
    from anaphora.prediction.options import Sampling, SearchOptions
    from anaphora.text.placeholders import Kind

_SEARCH, _SAMPLING = "Search", "Sampling"

PerToken = Annotated[
    bool, typer.Option("--per-token", help="Rank by score per token, not by length penalty.", rich_help_panel=_SEARCH)
]
CoveragePenalty = Annotated[
    float,
    typer.Option(
        "--coverage-penalty",
        min=0,
        help="Strength of the penalty for source tokens without attention.",
        rich_help_panel=_SEARCH,
    ),
]
MinLength = Annotated[
    int, typer.Option("--min-length", min=0, help="Minimum number of tokens of a sentence.", rich_help_panel=_SEARCH)
]
NoRepeatNgram = Annotated[
    int,
    typer.Option("--no-repeat-ngram", min=0, help="Write no n-gram of this length twice.", rich_help_panel=_SEARCH),
]
Groups = Annotated[
    int, typer.Option("--groups", min=0, help="Groups of a diverse beam; they divide it.", rich_help_panel=_SEARCH)
]
DiversityOption = Annotated[
    float | None,
    typer.Option(
        "--diversity", min=0, help="With --groups: strength of diversity. [default: 0.5]", rich_help_panel=_SEARCH
    ),
]
MinimumRisk = Annotated[
    int,
    typer.Option(
        "--minimum-risk",
        min=0,
        metavar="N",
        help="Of N hypotheses or samples take that of greatest expected chrF (MBR).",
        rich_help_panel=_SEARCH,
    ),
]
Protect = Annotated[
    str,
    typer.Option(
        "--protect",
        metavar="KINDS",
        help="Kept as they are: placeholders,tags,urls,emails,numbers, all or none.",
        rich_help_panel=_SEARCH,
    ),
]
TermsOption = Annotated[
    Path | None,
    typer.Option(
        "--terms", metavar="FILE", help="Glossary: source form, tab, form | form | !forbidden.", rich_help_panel=_SEARCH
    ),
]
Sample = Annotated[
    bool, typer.Option("--sample", help="Draw translations instead of searching them.", rich_help_panel=_SAMPLING)
]
Temperature = Annotated[
    float | None,
    typer.Option("--temperature", help="Below 1 sharpens the distribution. [default: 1]", rich_help_panel=_SAMPLING),
]
TopK = Annotated[
    int | None,
    typer.Option(
        "--top-k", min=0, help="Draw from this many most probable tokens. [default: all]", rich_help_panel=_SAMPLING
    ),
]
TopP = Annotated[
    float | None,
    typer.Option(
        "--top-p",
        help="Draw from the most probable tokens of this total probability. [default: 1]",
        rich_help_panel=_SAMPLING,
    ),
]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Random seed. [default: 0]", rich_help_panel=_SAMPLING)]


@dataclass(frozen=True)
class SearchTable:
    """What a person asks of a search of translations."""

    beam: Beam = None
    length_penalty: LengthPenalty = None
    per_token: PerToken = False
    coverage_penalty: CoveragePenalty = 0.0
    min_length: MinLength = 0
    no_repeat_ngram: NoRepeatNgram = 0
    groups: Groups = 0
    diversity: DiversityOption = None
    minimum_risk: MinimumRisk = 0
    protect: Protect = ""
    terms: TermsOption = None
    sample: Sample = False
    temperature: Temperature = None
    top_k: TopK = None
    top_p: TopP = None
    seed: Seed = None
    replace_unknown: ReplaceUnknown = False
    dictionary: Dictionary = None
    candidates: CandidatesOption = None
    shortlist: ShortlistOption = False
    frequent: Frequent = None
    each: Each = None

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
        from anaphora.prediction.options import Sampling

        given = {"temperature": self.temperature, "top_k": self.top_k, "top_p": self.top_p, "seed": self.seed}
        found: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        if found and not self.sample:
            raise ConfigError("--temperature, --top-k, --top-p and --seed belong to --sample, which is missing.")
        return Sampling(**found) if self.sample else None
