"""The table of parts under test, and small networks built from them in both readings.

A unit or a score that joins ``AnyCell`` or ``AnyScore`` is here without another line, a unit once for each choice of
its options; it needs its reading in ``naive/``, or every test of it fails.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Literal, get_args, get_origin

import pytest
import torch
from pydantic import ValidationError
from torch import Tensor
from torch.testing import assert_close

from anaphora.config import Config
from anaphora.kernels import naive
from anaphora.kernels.cells import AnyCell, Cell
from anaphora.kernels.naive.attention import Scored
from anaphora.kernels.normalisation import Normalise
from anaphora.kernels.parts import Mask, Part, Project, SentenceMask, Unit, previous
from anaphora.kernels.program import Program
from anaphora.kernels.scan import scan
from anaphora.kernels.scores import AnyScore, Dot, Score
from anaphora.kernels.sums import Activate, Add
from anaphora.nn.attention import Attention, AttentionConfig, WindowAttention, attention_of
from anaphora.nn.encoders.encoder import EncoderSpec

from .exactness import assert_same_bits


def members(union: Any) -> tuple[Any, ...]:
    """The classes of ``Annotated[A | B, ..]``."""
    inner = get_args(union)[0]
    return get_args(inner) or (inner,)


def variants(config: type[Config]) -> Iterator[Any]:
    """One of a class for every choice among its switches and named alternatives that it allows."""
    choices = {
        name: get_args(option.annotation) if get_origin(option.annotation) is Literal else (False, True)
        for name, option in config.model_fields.items()
        if get_origin(option.annotation) is Literal or option.annotation is bool
    }
    for values in product(*choices.values()):
        with suppress(ValidationError):
            yield config(**dict(zip(choices, values, strict=True)))


def shown(part: Config) -> str:
    return "-".join(
        str(value) if isinstance(value, str) else name
        for name, value in part.model_dump().items()
        if isinstance(value, str) or value is True
    )


CELLS = [cell for member in members(AnyCell) for cell in variants(member)]
SMALL = {"max_length": 3, "filters": 2, "radius": 1}
"""Sizes of a score's own under which positions are left out, and filters see both ends of a sentence."""


def small(score: Score) -> Score:
    return score.model_copy(update={name: size for name, size in SMALL.items() if hasattr(score, name)})


FORMS = [small(member()) for member in members(AnyScore)]


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


@dataclass(frozen=True)
class Network:
    """A program with tensors to run it on, and its naive reading."""

    program: Program
    cell: Cell
    leaves: dict[str, Tensor]
    """Everything that has a gradient: x, memory, weights, and first values as ``first layer0.h``."""
    lengths_B: Tensor
    masks: dict[str, Tensor] = field(default_factory=dict)
    attention: Attention | None = None
    query: Any = None
    positions_B: Tensor = field(default_factory=lambda: torch.empty(0))
    residual: bool = False
    sentence_masks: dict[str, Tensor] = field(default_factory=dict)
    """B x H, by the name of the memory tensor that the fast reading finds them under."""

    def weights(self, leaves: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {n: t for n, t in leaves.items() if n not in ("x", "memory") and not n.startswith("first ")}

    def first(self, leaves: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {n.removeprefix("first "): t for n, t in leaves.items() if n.startswith("first ")}

    def memory(self, leaves: Mapping[str, Tensor]) -> dict[str, Tensor]:
        if not self.attention:
            return dict(self.sentence_masks)
        return self.attention.prepare(leaves["memory"], self.positions_B, leaves)

    def fast(self, **changed: Tensor) -> dict[str, Tensor]:
        """Outputs, and the state as ``last layer0.h``, through ``scan``."""
        return self.through(scan, **changed)

    def through(self, walk: Callable[..., Any], **changed: Tensor) -> dict[str, Tensor]:
        """The same through another walk that takes what ``scan`` takes."""
        leaves = self.leaves | changed
        outputs, state, *_ = walk(
            self.program,
            {"x": leaves["x"]} | self.masks,
            self.first(leaves),
            self.weights(leaves),
            self.memory(leaves),
            self.lengths_B,
        )
        return outputs | {f"last {name}": value for name, value in state.items()}

    def naive(self, **changed: Tensor) -> dict[str, Tensor]:
        """The same from ``naive``."""
        leaves = self.leaves | changed
        first, weights = self.first(leaves), self.weights(leaves)
        if self.attention:
            options = self.attention.config
            assert isinstance(options, AttentionConfig)
            outputs, state = naive.decoder(
                self.cell,
                Scored(options.score, options.window, options.normalizer),
                self.query,
                leaves["x"],
                leaves["memory"],
                self.lengths_B,
                self.positions_B,
                first,
                weights,
                self.masks,
            )
        else:
            steps = len(leaves["x"])
            masks = self.masks | {
                name.replace(".mask", "").replace("layer", "recurrent").replace("dropout", "mask"): mask_BH.expand(
                    steps, -1, -1
                )
                for name, mask_BH in self.sentence_masks.items()
            }
            outputs, state = naive.stack(
                self.cell, leaves["x"], self.lengths_B, first, weights, masks, residual=self.residual
            )
            outputs = {self.program.returns[0]: outputs["h"]}
        return outputs | {f"last {name}": value for name, value in state.items()}

    def gradients(self, outputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The gradient of ``probe(outputs)`` for every leaf."""
        return dict(zip(self.leaves, torch.autograd.grad(probe(outputs), self.leaves.values()), strict=True))

    def assert_same(
        self,
        found: Mapping[str, Tensor],
        expected: Mapping[str, Tensor],
        atol: float = 1e-10,
        gradient_atol: float = 1e-10,
        of: "Network | None" = None,
    ) -> dict[str, Tensor]:
        """Values and gradients, which are returned, are equal; ``expected`` may be ``of`` another network."""
        assert_close(found, expected, rtol=0, atol=atol)
        gradients = self.gradients(found)
        assert_close(gradients, (of or self).gradients(expected), rtol=0, atol=gradient_atol)
        return gradients

    def assert_naive(self) -> None:
        """Values and gradients are those of the naive reading, and no gradient is 0."""
        gradients = self.assert_same(self.fast(), self.naive())
        assert all(gradient.abs().sum() > 0 for gradient in gradients.values())

    def assert_twice(self, output: str, **options: bool) -> None:
        """The way back from an output can be walked twice."""
        loss, leaves = self.fast()[output].sum(), self.leaves.values()
        once, twice = (torch.autograd.grad(loss, leaves, retain_graph=True, **options) for _ in range(2))
        assert_same_bits(once, twice)

    def assert_same_bits_alone(self) -> None:
        """Every sentence has the bits that it has among the others."""
        together = self.fast()
        for row, length in enumerate(self.lengths_B.tolist()):
            of_row = {n: t[row : row + 1] if "last" in n else t[:length, row : row + 1] for n, t in together.items()}
            assert_same_bits(self.sentences(torch.tensor([row])).fast(), of_row)

    def exact(self, fast_mode: bool = False) -> bool:
        """Whether the derived gradients are those of finite differences, for every leaf at once."""

        def value(*tensors: Tensor) -> Tensor:
            return probe(self.fast(**dict(zip(self.leaves, tensors, strict=True))))

        return torch.autograd.gradcheck(value, tuple(self.leaves.values()), fast_mode=fast_mode)

    def to(self, dtype: torch.dtype) -> "Network":
        """Another precision, without gradients."""
        return replace(
            self,
            leaves={n: t.detach().to(dtype) for n, t in self.leaves.items()},
            masks={n: t.to(dtype) for n, t in self.masks.items()},
            sentence_masks={n: t.to(dtype) for n, t in self.sentence_masks.items()},
        )

    def poisoned(self) -> "Network":
        """NaN at every step past the end of its sentence."""
        past_TB1 = (torch.arange(len(self.leaves["x"])).unsqueeze(1) >= self.lengths_B).unsqueeze(-1)
        x = self.leaves["x"].detach().masked_fill(past_TB1, torch.nan).requires_grad_()
        masks = {name: mask.masked_fill(past_TB1, torch.nan) for name, mask in self.masks.items()}
        return replace(self, leaves=self.leaves | {"x": x}, masks=masks)

    def between(self, begin: int, end: int, **first: Tensor) -> "Network":
        """Some steps of all sentences alone, from ``first``."""
        return replace(
            self,
            leaves=self.leaves | first | {"x": self.leaves["x"][begin:end]},
            masks={name: mask[begin:end] for name, mask in self.masks.items()},
            lengths_B=self.lengths_B.clamp(max=end) - begin,
        )

    def in_two_chunks(self, cut: int) -> dict[str, Tensor]:
        """Outputs of two scans, the second from the state that the first ends in."""
        begin = self.between(0, cut).fast()
        carried = {n.replace("last", "first"): state for n, state in begin.items() if n.startswith("last")}
        end = self.between(cut, len(self.leaves["x"]), **carried).fast()
        return {n: value if n.startswith("last") else torch.cat([begin[n], value]) for n, value in end.items()}

    def sentences(self, rows: Tensor) -> "Network":
        """The same weights with these sentences alone, as long as the longest of them."""
        steps = int(self.lengths_B[rows].max())
        by_sentence = {n: t[rows] for n, t in self.leaves.items() if n == "memory" or n.startswith("first ")}
        return replace(
            self,
            leaves=self.leaves | by_sentence | {"x": self.leaves["x"][:steps, rows]},
            masks={n: t[:steps, rows] for n, t in self.masks.items()},
            sentence_masks={n: t[rows] for n, t in self.sentence_masks.items()},
            lengths_B=self.lengths_B[rows],
            positions_B=self.positions_B[rows] if self.attention else self.positions_B,
        )


def probe(outputs: Mapping[str, Tensor]) -> Tensor:
    """One number that every output takes part in, each element with its own factor."""
    generator = torch.Generator().manual_seed(5)
    total = torch.zeros((), dtype=torch.float64)
    for name in sorted(outputs):
        factors = torch.randn(outputs[name].shape, generator=generator, dtype=torch.float64)
        total = total + (outputs[name] * factors).sum()
    return total


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
                shapes |= {f"layer{layer}.{name}_gain": (blocks * hidden,) for name, blocks in cell.matmuls}
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
            f"first {name}": value.shape for name, value in attention.first(torch.zeros(shapes["memory"])).items()
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
    shapes |= {f"layer{layer}.{name}": (blocks * hidden, hidden) for name, blocks in cell.matmuls}
    shapes |= {f"layer{layer}.{name}": (hidden,) for name in cell.vectors}
    return shapes | {f"first layer{layer}.{name}": (sentences, hidden) for name in cell.state}


def _masks(widths: Mapping[str, int], steps: int, sentences: int) -> dict[str, Tensor]:
    """Dropout with a keep rate of about 0.6."""
    generator = torch.Generator().manual_seed(9)
    return {
        name: (torch.rand(steps, sentences, width, generator=generator, dtype=torch.float64) + 0.6).floor() / 0.6
        for name, width in widths.items()
    }
