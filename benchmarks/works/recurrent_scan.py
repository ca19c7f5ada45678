"""The recurrent scan alone, forward and back, beside torch.nn.LSTM on packed sequences, and compiled on padded ones."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from anaphora.kernels.backends import backend_for
from anaphora.kernels.device import keep_freed_memory
from anaphora.kernels.runtime import Runtime, running
from anaphora.nn.randomness import generator
from anaphora.nn.stack import Stack, StackConfig
from anaphora.nn.weights import Xavier
from benchmarks.material import SentenceBatches, prepare_pairs
from benchmarks.ours import WARM_UP, parameters
from benchmarks.work import Sample, Setting, Work, peak_mib

UNITS = 8000
SIZE = 512
BATCHES = 24


def scan(setting: Setting) -> Sample:
    """Our side."""
    stack = Stack(StackConfig(size=SIZE), SIZE, "scan")
    stack.initialise(Xavier(), generator(setting.seed, "initialise"))
    keep_freed_memory()
    with running(Runtime(backend=backend_for(setting.precision), training=True)):
        return _timed(stack, lambda x_TBD, lengths_B: stack(x_TBD, lengths_B).outputs["h"], setting)


def scan_peer(setting: Setting) -> Sample:
    """torch's."""
    torch.manual_seed(setting.seed)
    lstm = nn.LSTM(SIZE, SIZE)

    def run(x_TBD: Tensor, lengths_B: Tensor) -> Tensor:
        h_TBH: Tensor = pad_packed_sequence(lstm(pack_padded_sequence(x_TBD, lengths_B, enforce_sorted=False))[0])[0]
        return h_TBH

    return _timed(lstm, run, setting)


def scan_compiled(setting: Setting) -> Sample:
    """torch's, compiled: on padded batches, since a packed one cannot be traced."""
    torch.manual_seed(setting.seed)
    lstm = nn.LSTM(SIZE, SIZE)
    compiled = torch.compile(lstm, dynamic=True)
    return _timed(lstm, lambda x_TBD, lengths_B: compiled(x_TBD)[0], setting)


def _timed(module: nn.Module, run: Callable[[Tensor, Tensor], Tensor], setting: Setting) -> Sample:
    """Steps (of all sentences together) forward and back, for batches with the lengths of real sources."""
    source = generator(setting.seed, "inputs")
    batches = SentenceBatches(UNITS).epoch(1)[: WARM_UP + setting.repetitions(BATCHES)]
    steps, seconds = 0, 0.0
    for number, batch in enumerate(batches):
        lengths_B = torch.from_numpy(batch.input_ids.lengths_B)
        x_TBD = torch.randn(int(lengths_B.max()), len(lengths_B), SIZE, generator=source).requires_grad_()
        dh_TBH = torch.randn(x_TBD.shape, generator=source)
        began = time.perf_counter()
        run(x_TBD, lengths_B).backward(dh_TBH)  # type: ignore[no-untyped-call]
        module.zero_grad()
        if number >= WARM_UP:
            steps, seconds = steps + int(lengths_B.sum()), seconds + time.perf_counter() - began
    return Sample(steps, seconds, {"steps": steps, "parameters": parameters(module)}, peak_mib())


WORK = Work(
    name="recurrent-scan",
    measures="LSTM 512 forward and backward, 64 sequences a batch with the lengths of Multi30k sources",
    unit="steps",
    peer="torch.nn.LSTM on packed sequences, fp32",
    bars={"fp32": 2.8, "bf16": 5.0},
    prepare=partial(prepare_pairs, UNITS),
    ours=scan,
    theirs=scan_peer,
)

COMPILED = replace(
    WORK,
    name="recurrent-scan-compiled",
    peer="torch.nn.LSTM by torch.compile on padded sequences, fp32",
    bars={"fp32": 0.0, "bf16": 0.0},
    theirs=scan_compiled,
)
