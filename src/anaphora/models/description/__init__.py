"""Networks as data: one walk over a trained network, read by ``anaphora.inference`` and by the export to ONNX."""

from anaphora.models.description.networks import describe

__all__ = ["describe"]
