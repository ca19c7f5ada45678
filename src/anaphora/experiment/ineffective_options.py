"""Options that would have no effect, or take what no machine has, refused in what a person writes.

Runs of versions that took them without a word still load: what lies in a run folder is never asked.
"""

from anaphora.errors import ConfigError
from anaphora.evaluation.config import TranslationEvaluation
from anaphora.experiment.data_table import CUTS, DataConfig, TextData
from anaphora.kernels.scores.additive import Additive
from anaphora.kernels.spans import LocalPredictive
from anaphora.models.translator import TranslatorConfig
from anaphora.nn.attention import AttentionConfig
from anaphora.nn.stack import RecurrentConfig
from anaphora.search.beam import check_size
from anaphora.training.config import TrainingConfig
from anaphora.training.rules import AveragedSgd

OF_FITTING = ("seed", "threads")
"""Options of ``[training]`` that fitting in one go has a use for."""


def refuse_updates(training: TrainingConfig, data: DataConfig, where: str) -> None:
    """Raise ConfigError for the first option of updates in an experiment from ``where`` that makes none."""
    usual = TrainingConfig()
    for name in TrainingConfig.model_fields:
        if name not in OF_FITTING and getattr(training, name) != getattr(usual, name):
            raise ConfigError(
                f"{where}: training.{name} is about updates, but this model is fitted in one go: leave it out."
            )
    if isinstance(data, TextData):
        for name in CUTS:
            if getattr(data, name) != TextData.model_fields[name].default:
                raise ConfigError(
                    f"{where}: data.{name} says where gradients are cut, but this model is fitted in one go: leave it "
                    f"out."
                )


def refuse_two_triggers(training: TrainingConfig, where: str) -> None:
    """Raise ConfigError in an experiment from ``where`` whose averaging would start by an epoch and by validation."""
    rule = training.optimizer
    if isinstance(rule, AveragedSgd) and rule.from_epoch and rule.interval != AveragedSgd().interval:
        raise ConfigError(
            f"{where}: training.optimizer.interval says when validation starts the average, but from_epoch = "
            f"{rule.from_epoch} starts it whatever validation says: leave one of them out."
        )


def refuse_search(evaluation: TranslationEvaluation, training: TrainingConfig, where: str) -> None:
    """Raise ConfigError in an experiment from ``where`` for a beam that no search takes, or of validation without."""
    for name in ("beam", "validation_beam"):
        check_size(getattr(evaluation, name), f"{where}: evaluation.{name}")
    if evaluation.validation_beam > 1 and training.metric != "bleu":
        raise ConfigError(
            f"{where}: evaluation.validation_beam is the beam of BLEU in training, but training.metric is "
            f'"{training.metric}", which takes no search: leave it out, or set training.metric = "bleu" and '
            f'training.better = "higher".'
        )


def refuse_lone_residual(table: str, layers: RecurrentConfig, where: str) -> None:
    """Raise ConfigError where the connections around the layers of a ``table`` have no layer to go around."""
    if layers.residual and layers.layers == 1:
        raise ConfigError(
            f"{where}: {table}.residual goes around layers from the second on, but {table}.layers is 1: leave it "
            f"out, or set {table}.layers = 2."
        )


def refuse_ineffective(config: TranslatorConfig, longest: int, where: str) -> None:
    """Raise ConfigError for the first option of an experiment from ``where`` that nothing would come of.

    Sentences have at most ``longest`` units, or any number where it is 0.
    """
    decoder, attention = config.decoder, config.attention
    for table, layers in ("encoder", config.encoder), ("decoder", decoder):
        if isinstance(layers, RecurrentConfig):
            refuse_lone_residual(table, layers, where)
    if decoder.start == "zero" and decoder.start_activation != "none":
        raise ConfigError(
            f'{where}: decoder.start_activation acts on a projected start, but decoder.start is "zero": leave it out, '
            f'or set decoder.start = "project".'
        )
    if decoder.fed != "readout" and not decoder.input_feeding:
        raise ConfigError(
            f"{where}: decoder.fed says what input feeding feeds, but decoder.input_feeding is false: leave it out, or "
            f"set decoder.input_feeding = true."
        )
    one_direction = getattr(config.encoder, "summary_from", "both") != "both"
    if attention.kind == "none" and one_direction and decoder.start != "mean":
        raise ConfigError(
            f'{where}: encoder.summary_from takes the summary from one of two directions, and with attention = "none" '
            f"the top layer's other one is trained and never heard: set encoder.bidirectional = false, or leave "
            f"encoder.summary_from out."
        )
    if not isinstance(attention, AttentionConfig):
        return
    if one_direction and decoder.start in ("mean", "zero"):
        raise ConfigError(
            f"{where}: encoder.summary_from says which last state the decoder starts from, but decoder.start is "
            f'"{decoder.start}" and there is attention: set encoder.summary_from = "both", or '
            f'decoder.start = "project".'
        )
    window = getattr(attention.span, "window", 0)
    if longest and window > longest:
        raise ConfigError(
            f"{where}: attention.span.window = {window} is larger than any sentence (data.longest = {longest}): make "
            f"it smaller, or set attention.span = 'global'."
        )
    if not attention.size:
        return
    if not isinstance(attention.score, Additive) and not isinstance(attention.span, LocalPredictive):
        raise ConfigError(
            f'{where}: attention.size is the width of the scores "concat" and "hybrid" and of the span "local-p", but '
            f'attention.score is "{attention.score.kind}" and attention.span "{attention.span.kind}": leave it out, or '
            f'set attention.score = "concat".'
        )
