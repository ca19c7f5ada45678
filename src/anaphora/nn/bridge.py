"""From encoder to decoder without attention's help: the summary of a sentence, and the decoder's first state.

    start "project"    s_0 = W h (+ b), layer by layer, of the encoder's last states (or of c, below); of a deeper
                       encoder those of its top layers, of a shallower one the top layer's for all layers above it
    start "copy"       s_0 = h, layer by layer (Sutskever et al. 2014)
    start "mean"       s_0 = W mean_j h_j (+ b), of the annotations (Sennrich et al. 2017)
    start "zero"       s_0 = 0

With ``summary_layer`` "tanh" the summary is c = tanh(V h), h the last state of the encoder's top layer (Cho et al.
2014, appendix A.1.1), and the decoder starts from c and sees c.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from torch import Tensor

from anaphora.errors import ConfigError
from anaphora.nn.encoders.encoder import EncoderSpec
from anaphora.nn.stack import RecurrentConfig
from anaphora.nn.weights import Matrix, projection_matrices
from anaphora.options import SET, Conflict


class BridgeConfig(RecurrentConfig):
    """Sentence encoding for a decoder."""

    initial_state: Literal["project", "copy", "mean", "zero"] = "project"
    """Source of its initial state: the encoder's summary, projected or copied layer by layer, the mean of the
    annotations, projected, or nothing."""
    initial_state_activation: Literal["none", "tanh"] = "none"
    """Activation of a projected initial state (Bahdanau et al. 2015: tanh)."""
    sentence_encoding: Literal["initial-state", "every-step"] = "initial-state"
    """Without attention: whether the summary is the first state alone (Sutskever et al. 2014), or enters the bottom
    layer and o_t at every step, too (Cho et al. 2014)."""
    sentence_encoding_place: Literal["input", "recurrent"] = "input"
    """Place of the sentence encoding in the bottom unit of a step: beside its input, or, for a GRU of reset "after",
    beside its recurrent product, which the reset gate then scales with it (Cho et al. 2014, appendix A.1.2)."""
    sentence_encoding_layer: Literal["none", "tanh"] = "none"
    """Layer on a sentence encoding before it is used: none, or one of tanh as wide as the decoder."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            {"initial_state_activation": SET, "initial_state": "zero"},
            'nothing is projected; leave it out, or set decoder.initial_state = "project"',
            written=True,
        ),
        Conflict(
            {"sentence_encoding_layer": "tanh", "initial_state": "copy"},
            'the state of every layer is copied: set decoder.sentence_encoding_layer = "none", or '
            'decoder.initial_state = "project"',
        ),
        Conflict(
            {"initial_state_activation": "tanh", "initial_state": "copy"},
            'nothing is projected: set decoder.initial_state_activation = "none", or decoder.initial_state = "project"',
        ),
        Conflict(
            {"sentence_encoding_place": "recurrent", "sentence_encoding": "initial-state"},
            'set decoder.sentence_encoding = "every-step"',
        ),
        Conflict(
            {
                "sentence_encoding_layer": "tanh",
                "initial_state": ("mean", "zero"),
                "sentence_encoding": "initial-state",
            },
            'nothing uses the summary: set decoder.initial_state = "project", or decoder.sentence_encoding_layer = '
            '"none"',
        ),
    )


class Bridge:
    """The summary and the start of one decoder; its weights stand beside those of the decoder."""

    def __init__(self, config: BridgeConfig, spec: EncoderSpec) -> None:
        """``spec``: what the encoder gives.

        Raises ConfigError where the options do not go together, or not with the encoder.
        """
        self.config, self._spec = config, spec
        self._check()
        self.columns = spec.columns
        """True if every step has its own summary."""
        self.beside_state = config.sentence_encoding_place == "recurrent"
        """True if the summary is added to the bottom unit's recurrent product."""
        self.width = config.size if config.sentence_encoding_layer == "tanh" else spec.summary
        """Numbers of the summary that every step sees."""

    def _check(self) -> None:
        config, spec = self.config, self._spec
        asked = (
            config.initial_state,
            config.sentence_encoding,
            config.sentence_encoding_place,
            config.sentence_encoding_layer,
        )
        if spec.columns and asked != ("zero", "every-step", "input", "none"):
            raise ConfigError(
                'This encoder gives a column for every step, and no summary: set decoder.initial_state = "zero" and '
                'decoder.sentence_encoding = "every-step", and leave decoder.sentence_encoding_place and '
                "decoder.sentence_encoding_layer out."
            )
        own, given = (config.layers, config.size, config.cell.state), (spec.layers, spec.summary, spec.fields)
        if config.initial_state == "copy" and own != given:
            raise ConfigError(
                f'decoder.initial_state = "copy" needs a summary like the decoder\'s state, {_form(*own)}, but the '
                f'encoder gives {_form(*given)}: make the two agree, or set decoder.initial_state = "project".'
            )
        if config.initial_state == "mean" and not spec.annotations:
            raise ConfigError(
                'decoder.initial_state = "mean" needs annotations, but this encoder gives none: set '
                'decoder.initial_state = "project".'
            )

    def matrices(self) -> dict[str, Matrix]:
        config, matrices = self.config, dict[str, Matrix]()
        if config.sentence_encoding_layer == "tanh":
            matrices |= projection_matrices("summary", self.config.size, self._spec.summary, self.config.bias)
        if config.initial_state in ("project", "mean"):
            width = self._spec.width if config.initial_state == "mean" else self.width
            for layer in range(self.config.layers):
                for field in self.config.cell.history:
                    matrices |= projection_matrices(f"start{layer}_{field}", self.config.size, width, self.config.bias)
        return matrices

    def summaries(self, ops: Any, summaries: Sequence[Mapping[str, Any]], weights: Mapping[str, Tensor]) -> Any:
        """Return the sentence encodings that the decoder starts from, and of which the last is what every step sees.

        ``ops`` are those of ``operations.py``, or the graph that lists them instead (``models.description.graph``).
        """
        if self.config.sentence_encoding_layer == "none":
            return summaries
        return [{"h": ops.add("tanh", ops.project(weights, "summary", summaries[-1]["h"]))}]

    def initial_state(
        self, ops: Any, annotations: Any, summaries: Sequence[Mapping[str, Any]], weights: Mapping[str, Tensor]
    ) -> dict[str, Any]:
        """Return the state of the layers before the first word, B x size by carried signal."""
        config, state = self.config, dict[str, Any]()
        if config.initial_state == "mean":
            summaries = [{"h": ops.add("mean", annotations)}]
        above = max(0, len(summaries) - config.layers)  # the top layers of a deeper encoder
        for layer in range(config.layers):
            summary = summaries[min(above + layer, len(summaries) - 1)]
            for field in config.cell.state:
                value = summary.get(field, summary["h"])
                if config.initial_state == "zero" or field not in config.cell.history:
                    value = ops.add("zeros", annotations, width=config.size)
                elif config.initial_state != "copy":
                    value = ops.project(weights, f"start{layer}_{field}", value)
                    if config.initial_state_activation == "tanh":
                        value = ops.add("tanh", value)
                state[f"layer{layer}.{field}"] = value
        return state


def _form(layers: int, size: int, fields: tuple[str, ...]) -> str:
    return f"{layers} x {size} with {', '.join(fields)}"
