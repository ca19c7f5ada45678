"""Options of a translator that would have no effect, refused in what a person writes.

Runs of versions that took them without a word still load: what lies in a run folder is never asked.
"""

from anaphora.errors import ConfigError
from anaphora.kernels.scores import Concat
from anaphora.models.translator import TranslatorConfig
from anaphora.nn.attention import AttentionConfig


def refuse_idle(config: TranslatorConfig, where: str) -> None:
    """Raise ConfigError for the first option of an experiment from ``where`` that nothing would come of."""
    decoder, attention = config.decoder, config.attention
    if decoder.start == "zero" and decoder.start_activation != "none":
        raise ConfigError(
            f'{where}: decoder.start_activation acts on a projected start, but decoder.start is "zero": leave it out, '
            f'or set decoder.start = "project".'
        )
    if isinstance(attention, AttentionConfig) and attention.size and not isinstance(attention.score, Concat):
        raise ConfigError(
            f'{where}: attention.size is the width of score "concat", but attention.score is '
            f'"{attention.score.kind}": leave it out, or set attention.score = "concat".'
        )
