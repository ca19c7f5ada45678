"""What networks without a graph are refused with."""

from anaphora.errors import ConfigError


def unsupported(what: str) -> ConfigError:
    """The refusal of a network that has no graph."""
    return ConfigError(
        f"Networks of recurrent encoders, LSTM, GRU and vanilla cells, and a softmax over the vocabulary can be "
        f"exported to ONNX, but not {what}: train a run without it to export it."
    )
