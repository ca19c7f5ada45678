"""Where the time of a training step goes, part by part.

The step is taken apart where one part hands tensors to the next: what is handed over is cut off from what made it, and
its gradient is handed back. So each part's way forward and way back is timed alone, in the order of a real step.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor

from anaphora.batch import Batch
from anaphora.kernels.backends import backend_for
from anaphora.kernels.device import keep_freed_memory
from anaphora.kernels.runtime import Runtime, running
from anaphora.models.translator import Translator
from anaphora.nn.device import CPU
from anaphora.training.clipping import clip, global_norm
from benchmarks import ours
from benchmarks.material import SentenceBatches, tokenizer_of
from benchmarks.work import Setting
from benchmarks.works.translators import LSTM_512


def breakdown(setting: Setting) -> dict[str, float]:
    """Seconds of an update by part, ``rest`` last, on the model and the batches of ``translator-lstm-512``."""
    symbols, batches = tokenizer_of(LSTM_512.units).symbols, SentenceBatches(LSTM_512.units).epoch(1)
    model, experiment = ours.build(LSTM_512.experiment, {"source": symbols, "target": symbols}, setting)
    assert isinstance(model, Translator)
    model.train()
    keep_freed_memory()
    backend = backend_for(setting.precision)
    training, weights = experiment.training, list(model.parameters())
    optimizer = training.optimizer.build(weights)
    updates = setting.repetitions(LSTM_512.updates)
    clock = _Clock()
    begin = 0.0
    for number in range(ours.WARM_UP + updates):
        if number == ours.WARM_UP:
            clock, begin = _Clock(), time.perf_counter()
        with clock.part("batch"):
            batch = batches[number]
        optimizer.zero_grad()
        with running(Runtime(backend=backend, training=True, seed=setting.seed, update=number)):
            _forward_and_back(model, batch.to(CPU), clock)
        with clock.part("clipping"):
            gradients = [weight.grad for weight in weights if weight.grad is not None]
            clip(gradients, global_norm(gradients), largest_norm=training.clip_norm)
        with clock.part(f"optimizer ({training.optimizer.kind})"):
            optimizer.step()
    whole = time.perf_counter() - begin
    parts = clock.seconds | {"rest": whole - sum(clock.seconds.values())}
    return {part: seconds / updates for part, seconds in parts.items()}


class _Clock:
    """Seconds by part, in the order in which they were first met."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Add what happens within to a part."""
        begin = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin


def _forward_and_back(model: Translator, batch: Batch, clock: _Clock) -> None:
    targets = batch.target_ids
    with clock.part("encoder forward"):
        memory, first, _ = model.encode(batch)
    handed_memory, handed_first = _cut(memory), _cut(first)
    with clock.part("decoder forward"):
        ids_TB = targets.ids_BT.T
        shifted_TB = torch.cat([torch.full_like(ids_TB[:1], model.symbols.bos), ids_TB[:-1]])
        x_TBD = model.target_embedding.vectors(shifted_TB, "target")
        states_TBH, _ = model.decoder(x_TBD, targets.lengths_B, handed_first, handed_memory)
    handed_TBH = states_TBH.detach().requires_grad_()
    with clock.part("softmax loss"):
        loss = model.output.loss(handed_TBH, targets)
        (loss.sum / loss.count).backward()  # type: ignore[no-untyped-call]
    with clock.part("decoder backward"):
        states_TBH.backward(handed_TBH.grad)
    with clock.part("encoder backward"):
        made = [*memory.values(), *first.values()]
        handed = [*handed_memory.values(), *handed_first.values()]
        pairs = [(tensor, cut.grad) for tensor, cut in zip(made, handed, strict=True) if tensor.requires_grad]
        torch.autograd.backward([tensor for tensor, _ in pairs], [gradient for _, gradient in pairs])


def _cut(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The same values without what made them, each collecting a gradient where there is one to collect."""
    return {name: tensor.detach().requires_grad_(tensor.requires_grad) for name, tensor in tensors.items()}
