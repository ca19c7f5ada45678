"""Which options of a translator go together: tables of rules, checked from top to bottom."""

from typing import Any

from anaphora.kernels.scores.additive import Additive
from anaphora.kernels.spans import LocalPredictive
from anaphora.models.guide import GivenGuide
from anaphora.nn.attention import AttentionConfig
from anaphora.nn.stack import RecurrentConfig
from anaphora.search.beam import LARGEST
from anaphora.tasks.base import Rule
from anaphora.text.language import is_unspaced


def lone_residual(table: str) -> Rule:
    """Residual connections of a table of recurrent layers that have no layer to go around."""

    def broken(experiment: Any) -> bool:
        layers = getattr(experiment, table)
        return isinstance(layers, RecurrentConfig) and layers.residual and layers.layers == 1

    return Rule(
        broken,
        f"{table}.residual goes around layers from the second on, but {table}.layers is 1: leave it out, or set "
        f"{table}.layers = 2.",
    )


def _too_wide(option: str) -> Rule:
    return Rule(
        lambda e: getattr(e.evaluation, option) > LARGEST,
        f"evaluation.{option} should be at most {LARGEST:,}, as each hypothesis takes the scores of a whole "
        f"vocabulary, but is {{e.evaluation.{option}:,}}: change it.",
    )


def _attends(experiment: Any) -> bool:
    return isinstance(experiment.attention, AttentionConfig)


def _one_direction(experiment: Any) -> bool:
    return getattr(experiment.encoder, "summary_from", "both") != "both"


RULES = (
    Rule(
        lambda e: e.evaluation.conditions == "moses-lowercase" and is_unspaced(e.data.target),
        "evaluation.conditions = 'moses-lowercase' counts what stands between spaces, which '{e.data.target}' is "
        "written without: set it to 'raw'.",
    ),
    Rule(
        lambda e: e.fusion.kind != "none" and not e.start.gives_weights,
        "fusion.kind = 'deep' keeps all of a translator but its readout and output as they are: give it one that has "
        "learnt, with its weights (train --from RUN, start.run).",
    ),
    Rule(
        lambda e: e.start.encoder != "none" and e.start.gives_weights,
        "start.encoder has no effect, since start.run gives an encoder that has learnt: leave it out.",
    ),
    Rule(
        lambda e: (
            e.start.encoder != "none" and (e.embedding.files if e.embedding.shared else "source" in e.embedding.files)
        ),
        "start.encoder gives vectors of source units, and so does a file that embedding names for them: keep one of "
        "the two.",
    ),
    Rule(
        lambda e: isinstance(e.guide, GivenGuide) and getattr(e.text, "rare", "none") == "posall",
        "text.rare 'posall' puts places between the words that guide.file links: learn the links.",
    ),
    Rule(
        lambda e: e.text.sampling_option and e.guide.kind != "none",
        "text.{e.text.sampling_option} cuts sentences differently every epoch, but guide links fixed units: leave out "
        "one of the two.",
    ),
)
"""Of every translator."""

WRITTEN_RULES = (
    Rule(
        lambda e: e.embedding.shared and not e.text.one_vocabulary,
        "embedding.shared needs one vocabulary for both sides, but each side has one of its own: set embedding.shared "
        "= false, or text.joint = true where the vocabulary is learnt and not of words.",
    ),
    lone_residual("encoder"),
    lone_residual("decoder"),
    Rule(
        lambda e: e.decoder.start == "zero" and e.decoder.start_activation != "none",
        'decoder.start_activation acts on a projected start, but decoder.start is "zero": leave it out, or set '
        'decoder.start = "project".',
    ),
    Rule(
        lambda e: e.decoder.fed != "readout" and not e.decoder.input_feeding,
        "decoder.fed says what input feeding feeds, but decoder.input_feeding is false: leave it out, or set "
        "decoder.input_feeding = true.",
    ),
    Rule(
        lambda e: e.attention.kind == "none" and _one_direction(e) and e.decoder.start != "mean",
        'encoder.summary_from takes the summary from one of two directions, and with attention = "none" the top '
        "layer's other one is trained but unused: set encoder.bidirectional = false, or leave "
        "encoder.summary_from out.",
    ),
    Rule(
        lambda e: _attends(e) and _one_direction(e) and e.decoder.start in ("mean", "zero"),
        'encoder.summary_from says which last state the decoder starts from, but decoder.start is "{e.decoder.start}" '
        'and there is attention: set encoder.summary_from = "both", or decoder.start = "project".',
    ),
    Rule(
        lambda e: _attends(e) and 0 < e.data.longest < getattr(e.attention.span, "window", 0),
        "attention.span.window = {e.attention.span.window} is larger than any sentence (data.longest = "
        "{e.data.longest}): make it smaller, or set attention.span = 'global'.",
    ),
    Rule(
        lambda e: (
            _attends(e)
            and e.attention.size
            and not isinstance(e.attention.score, Additive)
            and not isinstance(e.attention.span, LocalPredictive)
        ),
        'attention.size is the width of the scores "concat" and "hybrid" and of the span "local-p", but '
        'attention.score is "{e.attention.score.kind}" and attention.span "{e.attention.span.kind}": leave it out, or '
        'set attention.score = "concat".',
    ),
    _too_wide("beam"),
    _too_wide("validation_beam"),
    Rule(
        lambda e: e.evaluation.validation_beam > 1 and e.training.metric != "bleu",
        'evaluation.validation_beam is the beam of BLEU in training, but training.metric is "{e.training.metric}", '
        'which takes no search: leave it out, or set training.metric = "bleu" and training.better = "higher".',
    ),
)
"""Of a translator as a person wrote it."""
