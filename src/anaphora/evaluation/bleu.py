"""BLEU and chrF by sacreBLEU, under conditions that are named in the result.

``raw``: the text as people read it; sacreBLEU tokenises both sides (13a, or its own way for Chinese, Japanese and
Korean), case counts. ``moses-lowercase``: both sides lower-cased, punctuation normalised and tokenised as Moses does
it, then no further tokenisation: the conditions of the published Multi30k figures.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from anaphora.errors import DataError, MissingExtraError
from anaphora.text.moses import MosesText

Condition = Literal["raw", "moses-lowercase"]

_TOKENISERS = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}
"""sacreBLEU's tokenisers for languages that 13a does not cut into words; the latter two need a package each."""


@dataclass(frozen=True)
class Score:
    """A figure that can be cited: with it comes every setting that changes it."""

    name: str
    value: float
    """Of 100."""
    signature: str
    """sacreBLEU's own."""
    condition: Condition
    """What was done to both sides before sacreBLEU saw them."""

    def __str__(self) -> str:
        return f"{self.name} = {self.value:.2f} ({self.condition}; {self.signature})"

    def json(self) -> dict[str, Any]:
        """Everything, for ``json.dumps``."""
        return asdict(self)


def bleu(hypotheses: Sequence[str], references: Sequence[str], *, language: str, condition: Condition = "raw") -> Score:
    """Corpus BLEU (Papineni et al. 2002) of outputs in ``language``, a two-letter code.

    Raises DataError for unequal counts or none at all, MissingExtraError where the language's tokeniser is missing.
    """
    hypotheses, references = _prepare(hypotheses, references, language, condition)
    moses = condition == "moses-lowercase"
    code = _code(language)
    try:
        # Texts are lower-cased already under these conditions; told so, sacreBLEU notes it in the signature.
        metric = BLEU(lowercase=moses, tokenize="none" if moses else _TOKENISERS.get(code, "13a"), force=True)
    except RuntimeError:
        raise MissingExtraError(f"sacreBLEU's tokeniser for '{code}'", code) from None
    return _score(metric, hypotheses, references, condition)


def chrf(hypotheses: Sequence[str], references: Sequence[str], *, language: str, condition: Condition = "raw") -> Score:
    """Corpus chrF2 (Popovic 2015), which counts characters and needs no tokens; errors as for ``bleu``."""
    hypotheses, references = _prepare(hypotheses, references, language, condition)
    return _score(CHRF(lowercase=condition == "moses-lowercase"), hypotheses, references, condition)


def _prepare(
    hypotheses: Sequence[str], references: Sequence[str], language: str, condition: Condition
) -> tuple[list[str], list[str]]:
    if len(hypotheses) != len(references) or not references:
        raise DataError(
            f"Outputs and references should be equally many and at least one, but there are {len(hypotheses):,} "
            f"outputs and {len(references):,} references: give the file that was translated and its translation."
        )
    if condition == "raw":
        return list(hypotheses), list(references)
    prepare = MosesText(_code(language))
    return [prepare(text) for text in hypotheses], [prepare(text) for text in references]


def _score(metric: BLEU | CHRF, hypotheses: list[str], references: list[str], condition: Condition) -> Score:
    result = metric.corpus_score(hypotheses, [references])
    return Score(result.name, float(result.score), str(metric.get_signature()), condition)


def _code(language: str) -> str:
    """The language of a code that may name a region or a script: ``zh`` of ``zh_Hans``."""
    return language.replace("_", "-").split("-")[0].lower()
