"""Training a word language model, beside the same model written on torch.nn.LSTM.

Shape and settings are those of the word language model that is commonly shown for PyTorch: two layers of 650, tied,
dropout 0.5, 20 streams of 35 steps. The step around both models is one and the same: gradients clipped at 0.25, and
plain stochastic gradient descent.
"""

import time
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from anaphora.batch import Batch
from anaphora.data.running_text import TextWindows
from anaphora.kernels.backends import backend_for
from anaphora.kernels.device import keep_freed_memory
from anaphora.kernels.runtime import Runtime, running
from anaphora.nn.device import CPU
from anaphora.protocols import Carry
from benchmarks import ours
from benchmarks.material import prepare_treebank, treebank_windows
from benchmarks.work import Sample, Setting, Work, peak_mib

STREAMS, STEPS = 20, 35
SIZE = 650
UPDATES = 20
RATE = 1.0
CLIP = 0.25

EXPERIMENT = f"""
task = "language-model"
[embedding]
size = {SIZE}
dropout = 0.5
[recurrence]
cell = "lstm"
layers = 2
size = {SIZE}
dropout = 0.5
[output]
tied = true
[initializer]
kind = "uniform"
range = 0.1
"""


class WordLanguageModel(nn.Module):
    """An embedding, nn.LSTM, and a linear layer that shares the embedding's matrix."""

    def __init__(self, words: int) -> None:
        """``words`` of the vocabulary."""
        super().__init__()
        self.embedding = nn.Embedding(words, SIZE)
        self.recurrence = nn.LSTM(SIZE, SIZE, num_layers=2, dropout=0.5)
        self.dropout = nn.Dropout(0.5)
        self.output = nn.Linear(SIZE, words)
        self.output.weight = self.embedding.weight
        nn.init.uniform_(self.embedding.weight, -0.1, 0.1)
        nn.init.zeros_(self.output.bias)

    def forward(self, ids_TB: Tensor, state: tuple[Tensor, Tensor] | None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Scores of all words at every step, and the state to go on from."""
        h_TBH, state = self.recurrence(self.dropout(self.embedding(ids_TB)), state)
        scores_TBV: Tensor = self.output(self.dropout(h_TBH))
        return scores_TBV, state


def train(setting: Setting) -> Sample:
    """Our side."""
    keep_freed_memory()
    windows, symbols = treebank_windows(STREAMS, STEPS)
    model, _ = ours.build(EXPERIMENT, {"text": symbols}, setting)
    backend = backend_for(setting.precision)
    carry: Carry | None = None

    def cost(number: int, batch: Batch) -> Tensor:
        nonlocal carry
        with running(Runtime(backend=backend, training=True, seed=setting.seed, update=number)):
            loss, carry = model(batch, carry)
        mean: Tensor = loss.sum / loss.count
        return mean

    return _timed(model, cost, windows, symbols.size, setting)


def train_peer(setting: Setting) -> Sample:
    """torch.nn.LSTM's."""
    torch.manual_seed(setting.seed)
    windows, symbols = treebank_windows(STREAMS, STEPS)
    model = WordLanguageModel(symbols.size)
    state: tuple[Tensor, Tensor] | None = None

    def cost(number: int, batch: Batch) -> Tensor:
        nonlocal state
        scores_TBV, (h, c) = model(batch.input_ids.ids_BT.T, state)
        state = h.detach(), c.detach()
        return functional.cross_entropy(scores_TBV.flatten(0, 1), batch.target_ids.ids_BT.T.flatten())

    return _timed(model, cost, windows, symbols.size, setting)


def _timed(
    model: nn.Module, cost: Callable[[int, Batch], Tensor], windows: TextWindows, words: int, setting: Setting
) -> Sample:
    """The target tokens of the updates after the warm-up, and their time."""
    weights = list(model.parameters())
    optimizer = torch.optim.SGD(weights, lr=RATE)
    model.train()
    begin, tokens = 0.0, 0
    for number, batch in enumerate(windows.epoch(1)[: ours.WARM_UP + setting.repetitions(UPDATES)]):
        if number == ours.WARM_UP:
            begin, tokens = time.perf_counter(), 0
        optimizer.zero_grad()
        cost(number, batch.to(CPU)).backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(weights, CLIP)
        optimizer.step()
        tokens += batch.input_ids.ids_BT.size
    seconds = time.perf_counter() - begin
    size = {"target tokens": tokens, "parameters": ours.parameters(model), "vocabulary": words}
    return Sample(tokens, seconds, size, peak_mib())


WORK = Work(
    name="language-model",
    measures="training, 20 streams of 35 steps: 10,000 words, LSTM 2 x 650, tied, dropout 0.5, plain SGD, "
    "Penn Treebank",
    unit="target tokens",
    peer="the same model on torch.nn.LSTM, fp32",
    bars={"fp32": 1.6, "bf16": 2.8},
    prepare=prepare_treebank,
    ours=train,
    theirs=train_peer,
)
