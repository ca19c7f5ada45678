"""Attribution of output tokens to input tokens: gradient x input, integrated gradients, deletion curves.

    gradient x input        x_i . d f / d x_i
    integrated gradients    x_i . integral over a = 0 .. 1 of d f / d x_i at a times all inputs, from zero vectors
                            (Sundararajan, Taly and Yan 2017, equation 1); they sum to f - f at zero

f is ln p of an output token, or, contrastively, ln p of it less ln p of another in its place (Yin and Neubig 2022:
"why X, not Y"). x_i are the vectors of source tokens and of output tokens before it; derivatives come from the derived
backward passes. The integral is a midpoint rule whose K points lie where f changes: between two values of a it should
sum to the change of f, so the interval in which it is farthest from that is divided. Deletion curves (Samek et al.
2017) set the vectors of inputs to zero, the most important first.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import dataclass
from statistics import fmean as mean
from typing import Any

import torch
from torch import Tensor, nn

from anaphora.batch import Batch, FeaturedIds, Ids, pad
from anaphora.errors import ConfigError
from anaphora.inspection.labels import labels
from anaphora.inspection.result import Result
from anaphora.inspection.subject import Subject, demand_page
from anaphora.kernels.runtime import running
from anaphora.nn.embedding import Embedding
from anaphora.wording import inflect

STEPS = 32
"""Points of the integral, at most."""

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Attribution(Result):
    """Gradient x input of every output token."""

    run: str
    text: str
    inputs: tuple[str, ...]
    """Source tokens, if there is a source, then the output tokens that are read."""
    outputs: tuple[str, ...]
    values: tuple[Numbers, ...]
    """[t][i]: of output token t, by input i; zero for tokens that are read later."""

    def lines(self) -> Iterator[str]:
        """Yield for each output token the three inputs that count most."""
        yield f"{self.run}: {self.text}"
        for output, row in zip(labels(self.outputs), self.values, strict=True):
            most = sorted(zip(row, labels(self.inputs), strict=True), key=lambda pair: -abs(pair[0]))[:3]
            yield f"  {output:<16} {', '.join(f'{name} {value:+.2g}' for value, name in most)}"


@dataclass(frozen=True)
class TokenAttribution(Result):
    """Integrated gradients of one output token."""

    run: str
    text: str
    output: str
    instead: str
    """The token it is compared with; empty where there is none."""
    inputs: tuple[str, ...]
    values: Numbers
    """Attribution to each input."""
    explained: float
    """f less f at zero vectors: what the values should sum to."""
    difference: float
    """Completeness error: the sum of the values less ``explained``."""
    most_first: Numbers
    """f after deleting 0, 1, .. inputs, those of the largest values first."""
    least_first: Numbers
    """The same, those of the smallest values first."""

    def lines(self) -> Iterator[str]:
        [output] = labels([self.output])
        yield f"{self.run}: {self.text}"
        yield f"Why {output}{f', not {self.instead}' if self.instead else ''}: integrated gradients"
        yield from (f"  {name:<16} {value:+.3f}" for name, value in zip(labels(self.inputs), self.values, strict=True))
        error = f"completeness error {self.difference:+.4f}"
        yield f"Sum {sum(self.values):+.3f} of {self.explained:+.3f} ({error})."
        most, least = mean(self.most_first), mean(self.least_first)
        yield f"Mean over deletions: most important first {most:.3f}, least important first {least:.3f}."


def lacks_attribution(subject: Subject) -> str:
    """Return the reason that nothing can be attributed; empty where it can."""
    if why := subject.lacks_layers():
        return why
    if not any(isinstance(module, Embedding) for module in subject.trained.model.modules()):
        return "it reads no word vectors"
    return "" if _side(subject) else "it predicts no tokens one after another"


def _side(subject: Subject) -> str:
    """Return the vocabulary of the output tokens; empty where there are none."""
    sides = subject.trained.tokenizers if hasattr(subject.trained.model, "stepper") else {}
    return next((side for side in ("target", "text") if side in sides and set(sides) <= {"source", side}), "")


def attribution(subject: Subject, text: str, target: str | None = None) -> Attribution:
    """Return gradient x input of every token of an output, given or the model's own.

    Raises ConfigError where ``lacks_attribution`` says why not, and for a sentence longer than a page.
    """
    query = _Query(subject, text, target)
    rows = [query.outputs[: t + 1] for t in range(len(query.outputs))]
    until_TI = query.products(rows)
    values_TI = torch.diff(until_TI, dim=0, prepend=torch.zeros_like(until_TI[:1]))
    return Attribution(subject.name, text, query.inputs, query.pieces, tuple(map(tuple, values_TI.tolist())))


def token_attribution(
    subject: Subject, text: str, target: str | None = None, *, token: int, instead: str = "", steps: int = STEPS
) -> TokenAttribution:
    """Return integrated gradients of output token ``token``, from 1, of an output that is given or the model's own.

    With ``instead``, of that token less another one. Raises ConfigError as ``attribution``, for a number that is none
    of a token, and for a word of several tokens or of none of the vocabulary.
    """
    query = _Query(subject, text, target)
    if not 1 <= token <= len(query.outputs):
        raise ConfigError(
            f"The output has {inflect(len(query.outputs), 'token')}, but token {token} was asked for: name another."
        )
    before = query.outputs[: token - 1]
    # f is the difference of the losses of two rows, so nothing but losses is asked of the network
    less = [*before, query.id_of(instead)] if instead else before
    rows = [less, query.outputs[:token]]
    values = _integral(query, rows, steps)
    sources = len(query.inputs) - len(query.outputs)
    seen = sources + token  # inputs that the token can depend on
    order = values[:seen].argsort(descending=True, stable=True).tolist()
    explained = query.score(rows) - query.score(rows, factor=0.0)
    return TokenAttribution(
        subject.name,
        text,
        query.pieces[token - 1],
        instead,
        query.inputs[:seen],
        tuple(map(float, values[:seen])),
        explained,
        float(values.sum()) - explained,
        *(tuple(query.score(rows, deleted=places[:n]) for n in range(seen + 1)) for places in (order, order[::-1])),
    )


@dataclass(frozen=True)
class _Interval:
    """Between two factors of the inputs, with f at both."""

    low: float
    high: float
    f_low: float
    f_high: float
    slope: Tensor
    """x . d f / dx in its middle, by input."""

    @property
    def error(self) -> float:
        """Distance of the sum of its share of the integral from the change of f."""
        return abs(float(self.slope.sum()) * (self.high - self.low) - (self.f_high - self.f_low))


def _integral(query: "_Query", rows: Sequence[Sequence[int]], steps: int) -> Tensor:
    """Return the integral of x . d f / dx, by input, from at most ``steps`` points, at least one."""

    def slope(factor: float) -> Tensor:
        products_BI = query.products(rows, factor)
        return products_BI[1] - products_BI[0]

    found = [_Interval(0.0, 1.0, query.score(rows, 0.0), query.score(rows), slope(0.5))]
    while len(found) + 2 <= steps:
        worst = found.pop(max(range(len(found)), key=lambda place: found[place].error))
        third = (worst.high - worst.low) / 3
        a, b = worst.low + third, worst.high - third
        f_a, f_b = query.score(rows, a), query.score(rows, b)
        found += [
            _Interval(worst.low, a, worst.f_low, f_a, slope(worst.low + third / 2)),
            _Interval(a, b, f_a, f_b, worst.slope),  # its middle is that of the whole
            _Interval(b, worst.high, f_b, worst.f_high, slope(b + third / 2)),
        ]
    return torch.stack([one.slope * (one.high - one.low) for one in found]).sum(0)


class _Query:
    """Network, and one text to explain: derivatives in float64, values of f as the run computes them."""

    def __init__(self, subject: Subject, text: str, target: str | None) -> None:
        if why := lacks_attribution(subject):
            raise ConfigError(f"Nothing can be attributed in {subject.name}: {why}.")
        example = subject.example(text, target)
        batch = example.batch
        self.outputs: list[int] = _ids(batch.target_ids)
        self.pieces = example.predicts
        read = [pieces for name, pieces in example.reads.items() if name != "language_model"]
        self.inputs = tuple(piece for pieces in read for piece in pieces)
        demand_page(self.inputs)
        self._source = _ids(batch.input_ids) if len(read) > 1 else None
        self._read = batch.input_ids
        self._first = _ids(self._read)[0]
        self._own: Any = deepcopy(subject.trained.model).eval()
        self._model: Any = deepcopy(subject.trained.model).eval().double()
        self._runtime, self._tokenizer = subject.trained.runtime, subject.trained.tokenizers[_side(subject)]

    def id_of(self, word: str) -> int:
        """Return the token that a word is, with a space before it or not."""
        size = self._tokenizer.symbols.size - len(self._tokenizer.tags)
        pieces: list[str] = self._tokenizer.pieces(range(size))
        for piece in (word, f"\u2581{word}"):
            if piece in pieces:
                return pieces.index(piece)
        raise ConfigError(f"'{word}' is no token of the vocabulary: give a token that the output could have, as shown.")

    def products(self, rows: Sequence[Sequence[int]], factor: float = 1.0) -> Tensor:
        """Return x . d ln p(row) / dx of each row of outputs, by input, at ``factor`` times x."""
        totals_BI = torch.zeros(len(rows), len(self.inputs), dtype=torch.float64)
        kept = [number for number, row in enumerate(rows) if row]  # nothing is predicted in an empty one
        with _vectors(self._model, factor) as found, running(self._runtime), torch.enable_grad():
            loss, _ = self._model(self._batch([rows[number] for number in kept]))
            (-loss.sum).backward()
        start = 0
        for vectors_TBE, given_TBE in found:
            assert given_TBE.grad is not None
            totals_BI[kept, start : start + len(given_TBE)] = (vectors_TBE * given_TBE.grad).sum(-1).T
            start += len(given_TBE)
        return totals_BI

    def score(self, rows: Sequence[Sequence[int]], factor: float = 1.0, deleted: Sequence[int] = ()) -> float:
        """Return f: ln p of the second row less ln p of the first, with the vectors of some inputs deleted."""
        less, more = (self._loss(row, factor, deleted) if row else 0.0 for row in rows)
        return less - more

    def _loss(self, row: Sequence[int], factor: float, deleted: Sequence[int]) -> float:
        with _vectors(self._own, factor, deleted), running(self._runtime), torch.no_grad():
            return float(self._own(self._batch([row]))[0].sum)

    def _batch(self, rows: Sequence[Sequence[int]]) -> Batch:
        count = len(rows)
        inputs = [self._source] * count if self._source else [[self._first, *row][: len(row)] for row in rows]
        items = pad(inputs)
        if isinstance(self._read, FeaturedIds):
            items = FeaturedIds(items.ids_BT, items.lengths_B, self._read.features_BF.repeat(count, 0))
        return Batch.of_rows(range(count), items, pad(rows))


def _ids(sequence: Ids) -> list[int]:
    ids: list[int] = sequence.ids_BT[0, : int(sequence.lengths_B[0])].tolist()
    return ids


@contextmanager
def _vectors(
    model: nn.Module, factor: float = 1.0, deleted: Sequence[int] = ()
) -> Iterator[list[tuple[Tensor, Tensor]]]:
    """Collect word vectors, T x B x E, with what the network gets: ``factor`` times them, some zero."""
    found: list[tuple[Tensor, Tensor]] = []

    def scaled(module: nn.Module, arguments: Any, vectors_TBE: Tensor) -> Tensor:
        start = sum(vectors.shape[0] for vectors, _ in found)
        given_TBE = vectors_TBE.detach() * factor
        own = [place - start for place in deleted if 0 <= place - start < len(given_TBE)]
        given_TBE[own] = 0
        given_TBE.requires_grad_(torch.is_grad_enabled())
        found.append((vectors_TBE.detach(), given_TBE))
        return given_TBE

    with ExitStack() as hooks:
        for module in model.modules():
            if isinstance(module, Embedding):
                hooks.enter_context(module.register_forward_hook(scaled))
        yield found
