"""What networks without a graph are refused with."""

from anaphora.errors import ConfigError


def unsupported(what: str) -> ConfigError:
    """The refusal of a network that has no graph."""
    return ConfigError(
        f"Translators and language models with recurrent encoders, LSTM, GRU and vanilla cells, and a softmax over the "
        f"vocabulary can be exported to ONNX, but not {what}: train a run without it to export it."
    )
