"""Training on a GPU: our loops beside PyTorch's, eager, and beside cuDNN on plain stacks.

    python -m benchmarks.gpu

The translators are those of ``works/translators.py``, in PyTorch with nn.LSTM or nn.GRU (cuDNN) as encoder and a cell
a step as decoder, which is what input feeding leaves; the language model is that of ``works/language_model.py``.
Batches are 64 pairs of Multi30k, or 20 windows of 35 words drawn at random. Each side makes the same updates (forward,
backward, clipping, Adam); what is timed comes after two rounds over all batches, so that every graph has been recorded.
Target tokens a second, the median of the rounds.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from anaphora.batch import Batch, Ids
from anaphora.kernels.backends import Precision, backend_for
from anaphora.kernels.device import device_for
from anaphora.kernels.runtime import Kernels, Runtime, running
from anaphora.protocols import VocabularyInfo
from benchmarks import ours
from benchmarks.material import SentenceBatches, prepare_pairs, tokenizer_of
from benchmarks.work import Setting
from benchmarks.works import language_model
from benchmarks.works.translators import GRU_256, LSTM_512, Translator

ROUNDS = 3
WARM_UP = 2
WINDOWS = 20
"""Batches of the language model."""

Cost = Callable[[int, Batch], Tensor]


def median_speed(model: nn.Module, cost: Cost, batches: Sequence[Batch]) -> float:
    """Target tokens a second."""
    weights = list(model.parameters())
    optimizer = torch.optim.Adam(weights, fused=True)
    tokens, seconds = sum(int(batch.target_ids.lengths_B.sum()) for batch in batches), list[float]()
    for number in range(WARM_UP + ROUNDS):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for place, batch in enumerate(batches):
            optimizer.zero_grad()
            cost(number * len(batches) + place + 1, batch).backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(weights, 1.0)
            optimizer.step()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begin)
    return tokens / statistics.median(seconds[WARM_UP:])


class EagerTranslator(nn.Module):
    """The same translator as PyTorch users write it: layers of cuDNN to read, a cell a step to write."""

    def __init__(self, units: int, size: int, embedding: int, lstm: bool) -> None:
        """``units``: the vocabulary; ``size``: of each direction and of the decoder."""
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(units, embedding) for _ in range(2))
        self.encoder = (nn.LSTM if lstm else nn.GRU)(embedding, size, bidirectional=True)
        self.cell = (nn.LSTMCell if lstm else nn.GRUCell)(embedding + size, size)
        self.keys = nn.Linear(2 * size, size, bias=False)
        self.combine = nn.Linear(3 * size, size)
        self.output = nn.Linear(size, units, bias=False)
        self.dropout, self.size = nn.Dropout(0.2), size

    def forward(self, source: Ids, words_BT: Tensor) -> Tensor:
        """Scores of all words at every step."""
        x_BSE = self.dropout(self.embeddings[0](source.ids_BT))
        packed = pack_padded_sequence(x_BSE, source.lengths_B, batch_first=True, enforce_sorted=False)
        memory_BSD, _ = pad_packed_sequence(self.encoder(packed)[0], batch_first=True)
        keys_BSH = self.keys(memory_BSD)
        behind_BS = torch.arange(keys_BSH.shape[1], device=x_BSE.device) >= source.lengths_B.to(x_BSE.device)[:, None]
        fed_BH = h_BH = c_BH = x_BSE.new_zeros(len(x_BSE), self.size)
        attended = []
        for word_BE in self.dropout(self.embeddings[1](words_BT)).unbind(1):
            given = torch.cat([word_BE, fed_BH], 1)
            if isinstance(self.cell, nn.LSTMCell):
                h_BH, c_BH = self.cell(given, (h_BH, c_BH))
            else:
                h_BH = self.cell(given, h_BH)
            scores_BS = torch.bmm(keys_BSH, h_BH.unsqueeze(2)).squeeze(2).masked_fill(behind_BS, -torch.inf)
            context_BD = torch.bmm(scores_BS.softmax(1).unsqueeze(1), memory_BSD).squeeze(1)
            fed_BH = self.dropout(torch.tanh(self.combine(torch.cat([context_BD, h_BH], 1))))
            attended.append(fed_BH)
        scores: Tensor = self.output(torch.stack(attended, 1))
        return scores


@dataclass(frozen=True)
class Side:
    """One side of a comparison."""

    name: str
    kernels: Kernels | None
    """Of ours; None for PyTorch's."""


SIDES = (Side("ours", "native"), Side("ours, step by step", "python"), Side("PyTorch eager", None))


def of_ours(model: nn.Module, kernels: Kernels, precision: Precision) -> Cost:
    """One update of our model, without its step."""
    carry = None

    def cost(number: int, batch: Batch) -> Tensor:
        nonlocal carry
        runtime = Runtime("cuda", backend_for(precision, "cuda"), kernels, training=True, seed=1, update=number)
        with running(runtime):
            loss, carry = model(batch, carry)
        mean: Tensor = loss.sum / loss.count
        return mean

    return cost


def translator_speed(work: Translator, size: int, embedding: int, side: Side, precision: Precision) -> float:
    """Training a translator."""
    prepare_pairs(work.units)
    batches = [batch.to(torch.device("cuda")) for batch in SentenceBatches(work.units).epoch(1)]
    if side.kernels:
        model, _ = ours.build(work.experiment, work.sides(), Setting(1, 1, False))
        return median_speed(model.cuda().train(), of_ours(model, side.kernels, precision), batches)
    peer = EagerTranslator(work.units, size, embedding, "lstm" in work.name).cuda()
    symbols = tokenizer_of(work.units).symbols

    def cost(number: int, batch: Batch) -> Tensor:
        targets_BT = batch.target_ids.ids_BT
        words_BT = functional.pad(targets_BT[:, :-1], (1, 0), value=symbols.bos)
        source = Ids(batch.input_ids.ids_BT, batch.input_ids.lengths_B.cpu())
        with torch.autocast("cuda", torch.bfloat16, enabled=precision == "bf16"):
            scores_BTV = peer(source, words_BT)
        flat = scores_BTV.flatten(0, 1).float()
        return functional.cross_entropy(flat, targets_BT.flatten(), ignore_index=symbols.pad)

    return median_speed(peer.train(), cost, batches)


def language_model_speed(side: Side, precision: Precision) -> float:
    """Training a language model: a plain stack, which is cuDNN's on both sides."""
    symbols = VocabularyInfo(10_000, 0, 1, 0, 0)
    draws = torch.Generator().manual_seed(1)
    lengths_B = torch.full((language_model.STREAMS,), language_model.STEPS)
    windows = [
        torch.randint(2, 10_000, (len(lengths_B), language_model.STEPS + 1), generator=draws) for _ in range(WINDOWS)
    ]
    carried_B = torch.ones(len(lengths_B), dtype=torch.bool)
    batches = [
        Batch(
            Ids(ids_BT[:, :-1].contiguous(), lengths_B),
            Ids(ids_BT[:, 1:].contiguous(), lengths_B),
            torch.arange(len(lengths_B)),
            carried_B,
        ).to(torch.device("cuda"))
        for ids_BT in windows
    ]
    if side.kernels:
        model, _ = ours.build(language_model.EXPERIMENT, {"text": symbols}, Setting(1, 1, False))
        return median_speed(model.cuda().train(), of_ours(model, side.kernels, precision), batches)
    peer = language_model.WordLanguageModel(symbols.size).cuda()
    state: tuple[Tensor, Tensor] | None = None

    def cost(number: int, batch: Batch) -> Tensor:
        nonlocal state
        with torch.autocast("cuda", torch.bfloat16, enabled=precision == "bf16"):
            scores_TBV, (h, c) = peer(batch.input_ids.ids_BT.T, state)
        state = h.detach(), c.detach()
        return functional.cross_entropy(scores_TBV.flatten(0, 1).float(), batch.target_ids.ids_BT.T.flatten())

    return median_speed(peer.train(), cost, batches)


def main() -> None:
    """Print a table of all works, in both precisions."""
    device_for("cuda", "this benchmark")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    works: dict[str, Callable[[Side, Precision], float]] = {
        "translator LSTM 512": lambda side, precision: translator_speed(LSTM_512, 512, 512, side, precision),
        "translator GRU 256": lambda side, precision: translator_speed(GRU_256, 256, 128, side, precision),
        "language model 2x650": language_model_speed,
    }
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}: target tokens a second\n")
    print(f"| training | {' | '.join(side.name for side in SIDES)} | ours / eager |")
    print("| --- |" + " --: |" * (len(SIDES) + 1))
    for name, speed in works.items():
        for precision in ("fp32", "bf16"):
            speeds = [speed(side, precision) for side in SIDES]
            row = " | ".join(f"{value:,.0f}" for value in speeds)
            print(f"| {name}, {precision} | {row} | {speeds[0] / speeds[-1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
