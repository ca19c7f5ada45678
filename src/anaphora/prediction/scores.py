"""The score of a line of text, whatever model gives it."""

from dataclasses import dataclass

from anaphora.errors import demand_number
from anaphora.evaluation.perplexity import perplexity_of_log10
from anaphora.formats.json_text import LN_10


@dataclass(frozen=True)
class LineScore:
    """Score of one line by a model."""

    log10: float
    """log10 p of the line and its end."""
    tokens: int
    """Predictions: the tokens of the line, and ``</s>``."""
    unknown: int
    """Tokens that are ``<unk>``."""

    def __post_init__(self) -> None:
        demand_number(self.log10)

    @property
    def nats(self) -> float:
        """ln p of the line and its end."""
        return self.log10 * LN_10

    @property
    def perplexity(self) -> float:
        """10 to the mean -log10 p of a token."""
        return perplexity_of_log10(self.log10, self.tokens)
