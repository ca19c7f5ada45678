"""Passes over time on a GPU as CUDA graphs: all kernels of a pass, forward or backward, launched by one call.

A step of a decoder is about twenty small kernels, and the processor takes longer to launch one than the GPU to run it.
A graph holds the launches of a whole pass for blocks of certain sizes; what differs from batch to batch is copied into
its blocks before it is replayed. In a graph all sentences have the same number of steps, which is rounded up: what is
computed past the end of a sentence comes from zeros, is not looked at, and has no gradient.

Recording takes about as long as a pass without a graph, so a size is recorded when it comes for the second time.
"""

import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter

from anaphora.kernels import unroll
from anaphora.kernels.autograd_bridge import apply_derived
from anaphora.kernels.program import Program
from anaphora.kernels.runtime import current
from anaphora.kernels.tensor_rows import TensorRows
from anaphora.kernels.unroll import ScanSpec, Tensors

_STEPS = 4
"""Steps are rounded up to a multiple of this, so that sizes come back."""
_MOST = 64
"""Graphs that are kept, the last used."""
_SEEN = 4096
"""Sizes that are remembered without a graph."""

Replay = Callable[[], None]


def replay(
    program: Program, inputs: Tensors, first: Tensors, weights: Tensors, memory: Tensors, lengths_B: Tensor
) -> tuple[dict[str, Tensor], dict[str, Tensor]] | None:
    """Outputs and last state by a graph: all arguments, and what comes back, as for ``scan``.

    None where the sizes come for the first time, the graph waits for its backward pass, or nothing can be recorded.
    """
    tensors = (*inputs.values(), *first.values(), *weights.values(), *memory.values())
    needed = tuple(tensor.requires_grad for tensor in tensors)
    if not any(needed) or program in _refused:
        return None
    names = (tuple(inputs), tuple(first), tuple(weights), tuple(memory))
    steps = -(-len(tensors[0]) // _STEPS) * _STEPS
    sizes = tuple(_size(tensor, steps if number < len(inputs) else None) for number, tensor in enumerate(tensors))
    key = program, names, sizes, needed, current().training, current().backend
    if key not in _graphs and key not in _seen:
        _remember(_seen, key, None, _SEEN)
        return None
    graph = _graphs.get(key)
    if graph is None:
        try:
            graph = _Graph(program, names, steps, len(lengths_B), tensors, needed)
        except RuntimeError as error:  # a part that waits for the GPU, or too little memory
            _refused.add(program)
            warnings.warn(f"A loop runs step by step, since no CUDA graph could be recorded: {error}", stacklevel=2)
            return None
    _remember(_graphs, key, graph, _MOST)
    if graph.waits:
        return None
    results = _differentiable(graph, lengths_B, tensors)
    outputs = dict(zip(program.returns, results, strict=False))
    return outputs, dict(zip(program.carried, results[len(outputs) :], strict=True))


def _size(tensor: Tensor, steps: int | None) -> tuple[Any, ...]:
    """Return the shape, type and, of a parameter, address; with ``steps`` in place of the steps of an input."""
    place = tensor.data_ptr() if isinstance(tensor, Parameter) else 0
    return (steps, *tensor.shape[1:]) if steps else tuple(tensor.shape), tensor.dtype, place


_graphs: "OrderedDict[Any, _Graph | None]" = OrderedDict()
_seen: OrderedDict[Any, None] = OrderedDict()
_refused: set[Program] = set()


def _remember(kept: OrderedDict[Any, Any], key: Any, value: Any, most: int) -> None:
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > most:
        kept.popitem(last=False)


def _record(work: Replay) -> Replay:
    """Return a graph that runs all kernels of ``work`` again, on the same memory.

    Raises RuntimeError where ``work`` waits for a kernel.
    """
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(torch.cuda.current_stream())
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        work()  # libraries make their plans and workspaces at the first call
        graph.capture_begin()
        try:
            work()
        finally:
            graph.capture_end()
    torch.cuda.current_stream().wait_stream(stream)
    return graph.replay


class _Even(TensorRows):
    """Rows of sentences that all take every step, whatever their lengths: their ends are set for each batch."""

    def __init__(self, sentences: int, steps: int, device: torch.device) -> None:
        super().__init__(torch.full((sentences,), steps), steps, device)
        self.last_B = torch.zeros(sentences, dtype=torch.int64, device=device)


class _Lease:
    """Kept by the node of autograd of the backward pass; with it goes the claim to the graph."""


class _Graph:
    """Both passes over one program, on blocks of their own."""

    def __init__(
        self,
        program: Program,
        names: tuple[tuple[str, ...], ...],
        steps: int,
        sentences: int,
        tensors: Sequence[Tensor],
        needed: Sequence[bool],
    ) -> None:
        """``tensors``: of the first batch, for their sizes; ``needed``: which of them have gradients."""
        self.rows = _Even(sentences, steps, tensors[0].device)
        self.spec = ScanSpec(program, self.rows, names)
        self._inputs = len(names[0])
        self._tensors = [
            tensor.detach()
            if isinstance(tensor, Parameter)
            else tensor.new_zeros(steps if number < self._inputs else len(tensor), *tensor.shape[1:])
            for number, tensor in enumerate(tensors)
        ]
        self._needed = needed
        self._lease: weakref.ref[_Lease] | None = None
        self._forward = _record(self._run_forward)
        signals = self._done.signals
        self._doutputs = [torch.zeros_like(signals.all(name)).view(steps, sentences, -1) for name in program.returns]
        self._dstate = [torch.zeros_like(signals.initial(name)) for name in program.carried]
        self._backward = _record(self._run_backward)

    @property
    def waits(self) -> bool:
        """True if the backward pass of an earlier batch is still to come."""
        return self._lease is not None and self._lease() is not None

    def forward(self, tensors: Sequence[Tensor], lengths_B: Tensor) -> tuple[_Lease, tuple[Tensor, ...]]:
        """Copy a batch in and run forward: each output (T x B x width, zero past the end) and each last state."""
        past_TB1 = self._past(lengths_B, len(tensors[0]))
        for number, (ours, theirs) in enumerate(zip(self._tensors, tensors, strict=True)):
            if number < self._inputs:
                _copy_steps(theirs, past_TB1, ours)
            elif ours.data_ptr() != theirs.data_ptr():
                ours.copy_(theirs)
        self.rows.last_B.copy_(torch.arange(len(lengths_B)) + (lengths_B - 1) * len(lengths_B))
        self._forward()
        lease = _Lease()
        self._lease = weakref.ref(lease)
        signals, program = self._done.signals, self.spec.program
        grids = (self.rows.to_grid(signals.all(name))[: len(past_TB1)] for name in program.returns)
        outputs = (grid_TBW.masked_fill(past_TB1, 0) for grid_TBW in grids)
        return lease, (*outputs, *(signals.all(name).index_select(0, self.rows.last_B) for name in program.carried))

    def backward(self, lease: _Lease | None, gradients: Sequence[Tensor], lengths_B: Tensor) -> list[Tensor | None]:
        """The gradient of each tensor, for the batch that has the lease; raises RuntimeError where none has it."""
        if lease is None or self._lease is None or self._lease() is not lease:
            raise RuntimeError("a scan on a GPU can be gone back through once: call backward() once.")
        steps = len(gradients[0])
        past_TB1 = self._past(lengths_B, steps)
        for ours, theirs in zip(self._doutputs, gradients, strict=False):
            _copy_steps(theirs, past_TB1, ours)
        for ours, theirs in zip(self._dstate, gradients[len(self._doutputs) :], strict=True):
            ours.copy_(theirs)
        self._backward()
        self._lease = None
        inputs = (made if made is None else made[:steps].clone() for made in self._made[: self._inputs])
        return [*inputs, *(made if made is None else made.clone() for made in self._made[self._inputs :])]

    def _past(self, lengths_B: Tensor, steps: int) -> Tensor:
        """T x B x 1: what lies past the end of a sentence."""
        return (torch.arange(steps).unsqueeze(1) >= lengths_B).unsqueeze(2).to(self.rows.last_B.device)

    def _run_forward(self) -> None:
        self._done = unroll.forward(self.spec, True, *self.spec.by_name(self._tensors))

    def _run_backward(self) -> None:
        self._made = unroll.backward(self.spec, self._done, (*self._doutputs, *self._dstate), self._needed)


def _copy_steps(source_TBW: Tensor, past_TB1: Tensor, target_SBW: Tensor) -> None:
    """Copy T steps into S, zero past the end of each sentence."""
    target_SBW[: len(source_TBW)].copy_(source_TBW).masked_fill_(past_TB1, 0)
    target_SBW[len(source_TBW) :].zero_()


def _differentiable(graph: _Graph, lengths_B: Tensor, tensors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    leases = list[_Lease]()

    def forward(recording: bool, *tensors: Tensor) -> tuple[tuple[Tensor, ...], Sequence[Tensor]]:
        lease, results = graph.forward(tensors, lengths_B)
        leases.append(lease)
        return results, tensors

    def backward(saved: Sequence[Tensor], *gradients: Tensor) -> list[Tensor | None]:
        return graph.backward(leases.pop() if leases else None, gradients, lengths_B)

    return apply_derived(forward, backward, *tensors)
