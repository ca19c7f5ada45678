"""The rate at which a whole training step multiplies, beside the ceiling of this machine.

The ceiling is a 2048-cubed product in the same precision, by the faster of MKL and oneDNN with a weight that is packed
once: nothing that multiplies on this processor goes faster.
"""

import time
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from anaphora.models.translator import Translator
from benchmarks import ours
from benchmarks.flops import training_flops
from benchmarks.material import SentenceBatches, prepare_pairs
from benchmarks.work import Sample, Setting, Work, peak_mib
from benchmarks.works.translators import LSTM_512

SIZE = 2048
REPETITIONS = 12


def train(setting: Setting) -> Sample:
    """The products of the same updates as in the work ``translator-lstm-512``."""
    sides, batches = LSTM_512.sides(), SentenceBatches(LSTM_512.units)
    updates = setting.repetitions(LSTM_512.updates)
    model, _ = ours.build(LSTM_512.experiment, sides, setting)
    assert isinstance(model, Translator)
    timed = batches.epoch(1)[ours.WARM_UP : ours.WARM_UP + updates]
    flops = sum(training_flops(model, batch) for batch in timed)
    trained = ours.train_for(updates, LSTM_512.experiment, sides, batches, setting)
    return Sample(flops / 1e9, trained.seconds, {}, trained.peak_mib)


def multiply(setting: Setting) -> Sample:
    """The ceiling."""
    a, b = torch.randn(SIZE, SIZE), torch.randn(SIZE, SIZE)
    repetitions = setting.repetitions(REPETITIONS)
    products: list[Callable[[], Tensor]] = [partial(torch.mm, a, b), *_packed(a, b)]
    seconds = min(_seconds(product, repetitions) for product in products)
    return Sample(2 * SIZE**3 * repetitions / 1e9, seconds, {}, peak_mib())


def _packed(a: Tensor, b: Tensor) -> list[Callable[[], Tensor]]:
    """oneDNN's product with a packed weight, where this build of torch has it."""
    operations = torch.ops.mkldnn
    if not (hasattr(operations, "_reorder_linear_weight") and hasattr(operations, "_linear_pointwise")):
        return []
    packed = operations._reorder_linear_weight(b)
    return [lambda: operations._linear_pointwise(a, packed, None, "none", [], "")]


def _seconds(product: Callable[[], Tensor], repetitions: int) -> float:
    with torch.no_grad():
        for _ in range(2):
            product()
        begin = time.perf_counter()
        for _ in range(repetitions):
            product()
        return time.perf_counter() - begin


WORK = Work(
    name="training-step",
    measures="the matrix products of the whole training step of translator-lstm-512, fp32",
    unit="GFLOP",
    peer="a 2048-cubed product, the faster of MKL and packed oneDNN",
    bar=0.6,
    prepare=partial(prepare_pairs, LSTM_512.units),
    ours=train,
    theirs=multiply,
)
