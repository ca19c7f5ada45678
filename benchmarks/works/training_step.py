"""The rate at which a whole training step multiplies, beside the ceiling of this machine.

The ceiling is a 2048-cubed product in the same precision, by the fastest of torch, oneDNN with a weight that is packed
once and the package's own: nothing that multiplies on this processor goes faster.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from anaphora.kernels.compiled.gemm import gemm, has_gemm, pack_rows
from anaphora.models.translator import Translator
from benchmarks import ours
from benchmarks.flops import training_flops
from benchmarks.material import SentenceBatches, prepare_pairs
from benchmarks.work import Precision, Sample, Setting, Work, peak_mib
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
    seconds = min(_seconds(product, repetitions) for product in _products(a, b, setting.precision))
    return Sample(2 * SIZE**3 * repetitions / 1e9, seconds, {}, peak_mib())


def _products(a: Tensor, b: Tensor, precision: Precision) -> Iterator[Callable[[], object]]:
    """a b in every way that this machine has."""
    if has_gemm(precision):
        yield partial(gemm, a.numpy(), pack_rows(b.T.contiguous().numpy(), precision))
    if precision == "bf16":
        a, b = a.bfloat16(), b.bfloat16()
    yield partial(torch.mm, a, b)
    operations = torch.ops.mkldnn
    if hasattr(operations, "_reorder_linear_weight") and hasattr(operations, "_linear_pointwise"):
        packed = operations._reorder_linear_weight(b.T.contiguous())
        yield lambda: operations._linear_pointwise(a, packed, None, "none", [], "")


def _seconds(product: Callable[[], object], repetitions: int) -> float:
    with torch.no_grad():
        for _ in range(2):
            product()
        begin = time.perf_counter()
        for _ in range(repetitions):
            product()
        return time.perf_counter() - begin


WORK = Work(
    name="training-step",
    measures="the matrix products of the whole training step of translator-lstm-512",
    unit="GFLOP",
    peer="a 2048-cubed product in the same precision",
    bars={"fp32": 0.6, "bf16": 0.5},
    prepare=partial(prepare_pairs, LSTM_512.units),
    ours=train,
    theirs=multiply,
    peer_follows=True,
)
