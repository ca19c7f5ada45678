"""The table of parts under test, and small networks built from them in both readings.

A unit or a score that joins ``AnyCell`` or ``AnyScore`` is here without another line, a unit once for each choice of
its options; it needs its reading in ``naive/``, or every test of it fails.
"""

import math
from collections.abc import Callable, Iterator, Mapping
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
from anaphora.kernels.normalisation import Normalise
from anaphora.kernels.parts import Activate, Add, Mask, Part, Project, SentenceMask, Unit, previous
from anaphora.kernels.program import Program
from anaphora.kernels.scores import AnyScore, Dot, Score
from anaphora.nn.attention import Attention, AttentionConfig, WindowAttention, attention_of
from anaphora.nn.encoders.encoder import EncoderSpec
from anaphora.nn.operations import TensorOperations
from tests.networks import members

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


FORMS = [small(member()) for member in members(AnyScore).values()]


@pytest.fixture(params=CELLS, ids=shown)
def cell(request: pytest.FixtureRequest) -> Cell:
    return request.param


@pytest.fixture(params=FORMS, ids=shown)
def form(request: pytest.FixtureRequest) -> Score:
    """One score of each kind."""
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


def random_tensors(shapes: Mapping[str, tuple[int, ...]], cell: Cell) -> dict[str, Tensor]:
    """Leaves in double precision; matrices are scaled so that no gate is shut and no unit is asleep at any size."""
    generator = torch.Generator().manual_seed(0)
    leaves = {
        name: torch.randn(shape, generator=generator, dtype=torch.float64)
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
    """A stack of one unit; if asked, with a mask after every layer, or with all that may stand between units."""

    def build(
        cell: Cell,
        hidden: int,
        height: int = 1,
        lengths: tuple[int, ...] = LENGTHS,
        masked: bool = False,
        residual: bool = False,
        normalised: bool = False,
        variational: bool = False,
    ) -> Network:
        size, steps, sentences = sizes(hidden), max(lengths), len(lengths)
        parts: list[Part] = []
        shapes: dict[str, tuple[int, ...]] = {"x": (steps, sentences, size.x)}
        source, width = "x", size.x
        for layer in range(height):
            below = source
            shapes |= _unit_shapes(layer, cell, hidden, width, sentences)
            parts.append(Project(f"input{layer}", source, f"a{layer}", not normalised))
            if normalised:
                parts.append(Normalise(f"norm{layer}", (f"a{layer}",), f"n{layer}", True))
                shapes |= {f"norm{layer}.gain": (cell.gates * hidden,)}
                shapes |= {f"norm{layer}.bias": shapes.pop(f"input{layer}.bias")}
                shapes |= {f"layer{layer}.{name}_gain": (len(blocks) * hidden,) for name, blocks in cell.matmuls}
            unit = Unit(f"layer{layer}", cell, (f"{'n' if normalised else 'a'}{layer}",), variational, normalised)
            parts.append(unit)
            source, width = unit.writes[0], hidden
            if masked:
                parts.append(Mask(f"dropout{layer}", source, f"dropped{layer}", f"mask{layer}"))
                source = f"dropped{layer}"
            if variational:
                parts.append(SentenceMask(f"dropout{layer}", source, f"dropped{layer}"))
                source = f"dropped{layer}"
            if residual and layer:
                parts.append(Add(f"residual{layer}", (source, below), f"sum{layer}"))
                source = f"sum{layer}"
        held = {f"{part}{n}.mask": hidden for part in ("layer", "dropout") for n in range(height if variational else 0)}
        sentence_masks = {name: mask_TBH[0] for name, mask_TBH in _masks(held, 1, sentences).items()}
        masks = _masks({f"mask{layer}": hidden for layer in range(height if masked else 0)}, steps, sentences)
        return Network(
            Program(tuple(parts), (source,)),
            cell,
            random_tensors(shapes, cell),
            torch.tensor(lengths),
            masks,
            residual=residual,
            sentence_masks=sentence_masks,
        )

    return build


@pytest.fixture
def decoder() -> Callable[..., Network]:
    """An attentional decoder of one layer, with a mask on o; ``options`` are further ones of its attention."""

    def build(
        cell: Cell,
        score: Score | WindowAttention,
        query: str,
        feeding: bool,
        hidden: int,
        lengths: tuple[int, ...] = LENGTHS,
        positions: tuple[int, ...] = POSITIONS,
        **options: Any,
    ) -> Network:
        size, steps, sentences = sizes(hidden), max(lengths), len(lengths)
        if isinstance(score, Dot):  # a score without weights needs a memory as wide as the query
            size = replace(size, memory=hidden)
        spec = EncoderSpec(size.memory, size.memory, 1, ("h",), True)
        config = (
            score if isinstance(score, WindowAttention) else AttentionConfig(score=score, size=size.scoring, **options)
        )
        attention = attention_of(config, hidden, spec)
        assert attention
        shapes = {"x": (steps, sentences, size.x), "memory": (sentences, max(positions), size.memory)}
        shapes |= _unit_shapes(0, cell, hidden, size.x, sentences)
        shapes |= {name: (m.rows, m.columns)[: 1 + (m.columns > 0)] for name, m in attention.matrices().items()}
        shapes |= {
            f"first {name}": value.shape
            for name, value in attention.initial_state(TensorOperations(), torch.zeros(shapes["memory"])).items()
        }
        shapes |= {
            "combine_context.weight": (size.readout, size.memory),
            "combine_context.bias": (size.readout,),
            "combine_state.weight": (size.readout, hidden),
        }
        if feeding:
            shapes |= {"feed.weight": (cell.gates * hidden, size.readout), "first o": (sentences, size.readout)}
        if query == "previous":
            shapes["context.weight"] = (cell.gates * hidden, size.memory)
        return Network(
            _decoder_program(cell, attention, query, feeding),
            cell,
            random_tensors(shapes, cell),
            torch.tensor(lengths),
            _masks({"mask": size.readout}, steps, sentences),
            attention,
            query,
            torch.tensor(positions),
        )

    return build


def _decoder_program(cell: Cell, attention: Attention, query: str, feeding: bool) -> Program:
    attend = attention.parts("layer0.h" if query == "current" else previous("layer0.h"))
    unit_inputs = ["a0"]
    parts: list[Part] = [Project("input0", "x", "a0", True)]
    if feeding:
        parts.append(Project("feed", previous("o"), "fed", False))
        unit_inputs.append("fed")
    if query == "previous":
        parts += [*attend, Project("context", "context", "attended", False)]
        unit_inputs.append("attended")
    parts.append(Unit("layer0", cell, tuple(unit_inputs)))
    if query == "current":
        parts += attend
    parts += [
        Project("combine_context", "context", "of_context", True),
        Project("combine_state", "layer0.h", "of_state", False),
        Activate("combine", ("of_context", "of_state"), "combined"),
        Mask("dropout", "combined", "o", "mask"),
    ]
    return Program(tuple(parts), ("o", "weights"))


def _unit_shapes(layer: int, cell: Cell, hidden: int, width: int, sentences: int) -> dict[str, tuple[int, ...]]:
    rows = cell.gates * hidden
    shapes: dict[str, tuple[int, ...]] = {f"input{layer}.weight": (rows, width), f"input{layer}.bias": (rows,)}
    shapes |= {f"layer{layer}.{name}": (len(blocks) * hidden, hidden) for name, blocks in cell.matmuls}
    shapes |= {f"layer{layer}.{name}": (hidden,) for name in cell.vectors}
    return shapes | {f"first layer{layer}.{name}": (sentences, hidden) for name in cell.state}


def _masks(widths: Mapping[str, int], steps: int, sentences: int) -> dict[str, Tensor]:
    """Dropout with a keep rate of about 0.6."""
    generator = torch.Generator().manual_seed(9)
    return {
        name: (torch.rand(steps, sentences, width, generator=generator, dtype=torch.float64) + 0.6).floor() / 0.6
        for name, width in widths.items()
    }
