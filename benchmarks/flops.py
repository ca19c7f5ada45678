"""How many operations the matrix products of a translator's training step take, by its equations alone.

A product with an N x K matrix takes 2 N K operations a row, and training makes three of them: forward, and back for the
operand and for the matrix. Only real positions count: work on padding is no achievement. Looking up a word vector is no
product, and pointwise functions are left out, so the rate understates a little what the processor does.
"""

from anaphora.batch import Batch
from anaphora.models.translator import Translator

_TRAINING = 3 * 2
"""Three products, each of a multiplication and an addition a weight."""


def training_flops(model: Translator, batch: Batch) -> float:
    """Operations of one update on ``batch``."""
    sources_B, targets_B = batch.input_ids.lengths_B, batch.target_ids.lengths_B
    rows = {"source": int(sources_B.sum()), "target": int(targets_B.sum()), "sentence": len(sources_B)}
    weights = sum(
        rows[_seen_by(name)] * weight.numel()
        for name, weight in model.named_parameters()
        if weight.ndim == 2 and "embedding" not in name
    )
    # every target position scores every source position with a key, and sums their values
    scores = int((sources_B * targets_B).sum()) * (model.config.decoder.size + model.encoder.spec.width)
    return float(_TRAINING * (weights + scores))


def _seen_by(name: str) -> str:
    """What the matrix of this name is multiplied with, once each."""
    if name.startswith("encoder.") or ".attention." in name:
        return "source"
    return "sentence" if ".start" in name else "target"
