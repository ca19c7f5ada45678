"""A program of kernels with tensors to run it on, in both readings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.kernels.cells import Cell
from anaphora.kernels.program import Program
from anaphora.kernels.scan import scan
from anaphora.nn.attention import Attention, AttentionConfig
from anaphora.nn.operations import TensorOperations
from tests.kernels import naive
from tests.kernels.naive.attention import AttentionOptions

from .exactness import assert_same_bits


def naive_masks(masks: Mapping[str, Tensor], of_sentences: Mapping[str, Tensor], steps: int) -> dict[str, Tensor]:
    """What dropout drew, T x B x H and B x H, by the names that the naive reading finds it under: T x B x H."""
    drawn = {name.removesuffix(" mask"): mask_TBH for name, mask_TBH in masks.items()}
    drawn |= {name.removesuffix(".mask"): mask_BH.expand(steps, -1, -1) for name, mask_BH in of_sentences.items()}
    return {name.replace("layer", "recurrent").replace("dropout", "mask"): mask for name, mask in drawn.items()}


@dataclass(frozen=True)
class Network:
    """A program with tensors to run it on, and its naive reading."""

    program: Program
    cell: Cell
    leaves: dict[str, Tensor]
    """Everything that has a gradient: x, memory, weights, and first values as ``first layer0.h``."""
    lengths_B: Tensor
    masks: dict[str, Tensor]
    """T x B x H."""
    sentence_masks: dict[str, Tensor]
    """B x H, by the name of the memory tensor that the fast reading finds them under."""
    attention: Attention | None = None
    positions_B: Tensor = field(default_factory=lambda: torch.empty(0))
    residual: bool = False

    def weights(self, leaves: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {n: t for n, t in leaves.items() if n not in ("x", "memory") and not n.startswith("first ")}

    def first(self, leaves: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """From the leaves where they have a gradient, else as the attention says."""
        made = self.attention.initial_state(TensorOperations(), leaves["memory"]) if self.attention else {}
        return made | {n.removeprefix("first "): t for n, t in leaves.items() if n.startswith("first ")}

    def memory(self, leaves: Mapping[str, Tensor]) -> dict[str, Tensor]:
        if not self.attention:
            return dict(self.sentence_masks)
        return self.attention.prepare(leaves["memory"], self.positions_B, leaves)

    def arguments(self, **changed: Tensor) -> dict[str, Any]:
        """Those of ``scan``."""
        leaves = self.leaves | changed
        return {
            "program": self.program,
            "inputs": {"x": leaves["x"]} | self.masks,
            "first": self.first(leaves),
            "weights": self.weights(leaves),
            "memory": self.memory(leaves),
            "lengths_B": self.lengths_B,
        }

    def fast(self, **changed: Tensor) -> dict[str, Tensor]:
        """Outputs, and the state as ``last layer0.h``, through ``scan``."""
        return self.through(scan, **changed)

    def through(self, walk: Callable[..., Any], **changed: Tensor) -> dict[str, Tensor]:
        """The same through another walk that takes what ``scan`` takes."""
        outputs, state, *_ = walk(*self.arguments(**changed).values())
        return outputs | {f"last {name}": value for name, value in state.items()}

    def naive(self, **changed: Tensor) -> dict[str, Tensor]:
        """The same from ``naive``."""
        leaves = self.leaves | changed
        first, weights = self.first(leaves), self.weights(leaves)
        if self.attention:
            config: Any = self.attention.config
            scored = isinstance(config, AttentionConfig)
            options = AttentionOptions(config.score, config.window, config.normalizer) if scored else None
            outputs, state = naive.decoder(
                self.cell,
                options,
                config.query,
                leaves["x"],
                leaves["memory"],
                self.lengths_B,
                self.positions_B,
                first,
                weights,
                self.naive_masks(),
            )
        else:
            outputs, state = naive.stack(
                self.cell, leaves["x"], self.lengths_B, first, weights, self.naive_masks(), residual=self.residual
            )
            outputs = {self.program.returns[0]: outputs["h"]}
        return outputs | {f"last {name}": value for name, value in state.items()}

    def naive_masks(self) -> dict[str, Tensor]:
        return naive_masks(self.masks, self.sentence_masks, len(self.leaves["x"]))

    def gradients(self, outputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The gradient of ``probe(outputs)`` for every leaf."""
        return dict(
            zip(
                self.leaves,
                torch.autograd.grad(probe(outputs), self.leaves.values(), materialize_grads=True),
                strict=True,
            )
        )

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
        """Values and gradients are those of the naive reading; none is 0 but of a first value that no step reads."""
        gradients, read = self.assert_same(self.fast(), self.naive()), self.cell.history
        unread = {name for name in gradients if name.startswith("first layer") and name.split(".")[-1] not in read}
        assert all(gradient.abs().sum() > 0 for name, gradient in gradients.items() if name not in unread)

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
