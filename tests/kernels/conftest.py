"""The table of parts under test, and small networks built from them in both readings.

A unit or a score that joins ``AnyCell`` or ``AnyScore`` is here without another line, once for each choice of its
options; it needs its reading in ``naive/``, or every test of it fails.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal, get_args, get_origin

import pytest
import torch
from torch import Tensor

from anaphora.config import options_of, parse
from anaphora.errors import ConfigError
from anaphora.kernels.cells import AnyCell, Cell
from anaphora.kernels.normalizers import Sigmoid, Softmax
from anaphora.kernels.program import Program
from anaphora.kernels.scores import AnyScore, Concat, Dot, Hybrid, Location, Score
from anaphora.kernels.spans import Global, LocalMonotonic, LocalPredictive, Median
from anaphora.nn.attention import AttentionConfig, WindowAttention
from anaphora.nn.decoder import Decoder, DecoderConfig
from anaphora.nn.dropout import AnyDropout, IndependentDropout, VariationalDropout
from anaphora.nn.encoders.encoder import EncoderSpec
from anaphora.nn.fusion import NoFusion
from anaphora.nn.operations import TensorOperations
from anaphora.nn.stack import Layers, RecurrentConfig
from anaphora.nn.weights import Weights
from tests.networks import members
from tests.runtimes import updating

from .network import Network


def variants(config: type) -> Iterator[Any]:
    """One of a class for every choice among its switches and named alternatives that it allows."""
    choices = {
        name: get_args(option.annotation) if get_origin(option.annotation) is Literal else (False, True)
        for name, option in options_of(config).items()
        if get_origin(option.annotation) is Literal or option.annotation is bool
    }
    for values in product(*choices.values()):
        with suppress(ConfigError):
            yield parse(config, dict(zip(choices, values, strict=True)), "test")


def shown(part: Any) -> str:
    if isinstance(part, AttentionConfig):
        return "-".join(map(shown, (part.score, part.window, part.normalizer)))
    return "-".join(
        str(value) if isinstance(value, str) else name
        for name, value in vars(part).items()
        if isinstance(value, str) or value is True
    )


CELLS = [cell for member in members(AnyCell).values() for cell in variants(member)]
SMALL = {"max_length": 3, "filters": 2, "radius": 1}
"""Sizes of a score's own under which positions are left out, and filters see both ends of a sentence."""


def small(score: Score) -> Score:
    return score.with_options({name: size for name, size in SMALL.items() if hasattr(score, name)})


SCORES: list[Any] = [small(score) for member in members(AnyScore).values() for score in variants(member)]
SPANS: list[Any] = [Global(), LocalMonotonic(radius=1), LocalPredictive(radius=2), Median(radius=2)]
NORMALIZERS: list[Any] = [Softmax(), Softmax(sharpness=1.5), Sigmoid()]
Form = AttentionConfig | WindowAttention
FORMS: list[Form] = [
    *(AttentionConfig(score=score) for score in SCORES),
    *(AttentionConfig(window=span) for span in SPANS[1:]),
    *(AttentionConfig(normalizer=normalizer) for normalizer in NORMALIZERS[1:]),
    AttentionConfig(gate=True),
    AttentionConfig(score=small(Hybrid()), window=Median(radius=3), normalizer=Sigmoid()),
    AttentionConfig(score=Concat(coverage=True), window=LocalMonotonic(radius=1), normalizer=Softmax(sharpness=0.5)),
    AttentionConfig(score=Location(max_length=2), window=LocalPredictive(radius=2)),
    *(WindowAttention(kind="gaussian-window", components=components) for components in (1, 3)),
    WindowAttention(kind="gaussian-window", components=2, bias=False),
]
"""Every kind of attention, and some together."""
EACH_FORM = pytest.mark.parametrize("form", FORMS, ids=shown)
UNDROPPED = IndependentDropout()
DROPPED = IndependentDropout(probability=0.4)
VARIATIONAL = VariationalDropout(probability=0.4, recurrent=0.2)


@pytest.fixture(params=CELLS, ids=shown)
def cell(request: pytest.FixtureRequest) -> Cell:
    return request.param


@pytest.fixture(params=["previous", "current"])
def query(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=[True, False], ids=["feeding", "unfed"])
def feeding(request: pytest.FixtureRequest) -> bool:
    return request.param


@dataclass(frozen=True)
class Sizes:
    """All different, so that no two can be mixed up unseen; ``sizes(1)`` is the corner where all are 1."""

    hidden: int
    x: int
    memory: int
    scoring: int
    readout: int


def sizes(hidden: int) -> Sizes:
    if hidden == 1:
        return Sizes(1, 1, 1, 1, 1)
    return Sizes(hidden, hidden - 2, hidden + 1, hidden - 3, hidden + 2)


def random_tensors(shapes: Mapping[str, Sequence[int]], cell: Cell) -> dict[str, Tensor]:
    """Leaves in double precision; matrices are scaled so that no gate is shut and no unit is asleep at any size."""
    generator = torch.Generator().manual_seed(0)
    leaves = {
        name: torch.randn(*shape, generator=generator, dtype=torch.float64)
        / (math.sqrt(shape[-1]) if name.count(".") == 1 and len(shape) == 2 and "first" not in name else 1)
        for name, shape in shapes.items()
    }
    if getattr(cell, "activation", "") == "relu":  # one alone has to be awake; of many, some are
        leaves = {name: leaf.abs() if len(leaf) == 1 else leaf for name, leaf in leaves.items()}
    if cell.kind == "ssru" and shapes["x"][-1] == 1:
        leaves = {name: leaf.abs() for name, leaf in leaves.items()}
    return {name: leaf.requires_grad_() for name, leaf in leaves.items()}


LENGTHS = (2, 4, 1)
POSITIONS = (2, 3, 1)


@pytest.fixture
def layers() -> Callable[..., Network]:
    """A stack of one unit; ``options`` are further ones of recurrent layers."""

    def build(
        cell: Cell,
        hidden: int,
        height: int = 1,
        lengths: tuple[int, ...] = LENGTHS,
        dropout: AnyDropout = UNDROPPED,
        **options: Any,
    ) -> Network:
        changed = {"cell": cell, "size": hidden, "layers": height, "dropout": dropout, **options}
        stack = Layers(RecurrentConfig().model_copy(update=changed))
        parts, top = stack.parts((), training=True, masked=height)
        program = Program(tuple(parts), (top,))
        weights = Weights(stack.matrices(sizes(hidden).x)).tensors()
        shapes: dict[str, Sequence[int]] = {"x": (max(lengths), len(lengths), sizes(hidden).x)}
        shapes |= {name: weight.shape for name, weight in weights.items()}
        shapes |= {f"first {name}": (len(lengths), hidden) for name in program.carried}
        leaves = random_tensors(shapes, cell)
        with updating():
            masks = dropout.draw("test", {f"dropout{n}": hidden for n in range(height)}, stack.units, leaves["x"])
        return Network(program, cell, leaves, torch.tensor(lengths), *masks, residual=options.get("residual", False))

    return build


@pytest.fixture
def decoder() -> Callable[..., Network]:
    """An attentional decoder of one layer, with dropout of o; ``options`` are further ones of its attention."""

    def build(
        cell: Cell,
        form: Score | Form,
        query: str,
        feeding: bool,
        hidden: int,
        lengths: tuple[int, ...] = LENGTHS,
        positions: tuple[int, ...] = POSITIONS,
        **options: Any,
    ) -> Network:
        size, steps, sentences = sizes(hidden), max(lengths), len(lengths)
        config = AttentionConfig(score=form) if isinstance(form, Score) else form
        if isinstance(config, AttentionConfig):
            options["size"] = size.scoring
            if isinstance(config.score, Dot):  # a score without weights needs a memory as wide as the query
                size = replace(size, memory=hidden)
        options |= {"query": query, "context": "output" if query == "current" else "state"}
        changed = {"cell": cell, "size": hidden, "readout_size": size.readout, "input_feeding": feeding}
        module = Decoder(
            DecoderConfig().model_copy(update=changed | {"initial_state": "zero", "dropout": DROPPED}),
            config.model_copy(update=options),
            size.x,
            EncoderSpec(size.memory, size.memory, 1, ("h",), True),
            NoFusion(),
        )
        attention = module.attention
        assert attention
        memory_BSM = torch.zeros(sentences, max(positions), size.memory)
        shapes: dict[str, Sequence[int]] = {"x": (steps, sentences, size.x), "memory": memory_BSM.shape}
        shapes |= {name: weight.shape for name, weight in module.weights.tensors().items()}
        # the number of the step has no gradient, nor have weights that only choose a span
        constant = {"clock"} if isinstance(getattr(config, "score", None), Hybrid) else {"clock", "weights"}
        first = module.start(TensorOperations(), memory_BSM, [{"h": memory_BSM}])
        shapes |= {f"first {name}": value.shape for name, value in first.items() if name not in constant}
        leaves, positions_B = random_tensors(shapes, cell), torch.tensor(positions)
        for name in {"first weights", "first coverage"} & {*leaves}:
            open_BS = torch.arange(max(positions)) < positions_B.unsqueeze(1)
            leaves[name] = leaves[name].detach().exp().where(open_BS, 0)
            leaves[name] = (leaves[name] / leaves[name].sum(1, keepdim=True)).requires_grad_()
        with updating():
            masks = DROPPED.draw("test", {"dropout": size.readout}, {}, leaves["x"])
        lengths_B = torch.tensor(lengths)
        return Network(module._training, cell, leaves, lengths_B, *masks, attention=attention, positions_B=positions_B)

    return build
