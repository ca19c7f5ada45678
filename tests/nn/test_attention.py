"""Every kind of attention by itself: exact gradients, both readings, the same bits alone and in any batch."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.kernels.cells import Lstm
from anaphora.kernels.normalizers import Sigmoid, Softmax
from anaphora.kernels.parts import is_previous, signal_of
from anaphora.kernels.program import Program, stages
from anaphora.kernels.scan import advance
from anaphora.kernels.scores import Concat, Dot, General, Hybrid, Location
from anaphora.kernels.spans import Global, LocalMonotonic, LocalPredictive, Median
from anaphora.nn.attention import AttentionConfig, WindowAttention, attention_of
from anaphora.nn.encoders.encoder import EncoderSpec
from anaphora.nn.operations import TensorOperations
from anaphora.nn.weights import Weights, Xavier
from tests.kernels.exactness import assert_same_bits
from tests.kernels.naive import attention as naive_attention
from tests.kernels.network import Network
from tests.kernels.test_advance import step_by_step

Options = AttentionConfig | WindowAttention

FEW = {"filters": 2, "radius": 1}
SCORES: list[Any] = [
    Dot(),
    General(),
    General(scaled=True),
    Concat(),
    Concat(coverage=True, scaled=True),
    Location(max_length=3),
    Hybrid(**FEW),
    Hybrid(**FEW, content=False, scaled=True),
    Hybrid(**FEW, bias=False),
]
SPANS: list[Any] = [Global(), LocalMonotonic(radius=1), LocalPredictive(radius=2), Median(radius=2)]
NORMALIZERS: list[Any] = [Softmax(), Softmax(sharpness=1.5), Sigmoid()]
PRODUCT = [
    AttentionConfig(score=score, window=span, normalizer=normalizer)
    for score, span, normalizer in product(SCORES, SPANS, NORMALIZERS)
]
WINDOWS = [
    *(WindowAttention(kind="gaussian-window", components=components) for components in (1, 3)),
    WindowAttention(kind="gaussian-window", components=2, bias=False),
]
EACH: list[Options] = [
    *(options for options in PRODUCT if isinstance(options.window, Global) and options.normalizer == Softmax()),
    *(AttentionConfig(window=span) for span in SPANS[1:]),
    *(AttentionConfig(normalizer=normalizer) for normalizer in NORMALIZERS[1:]),
    AttentionConfig(score=Hybrid(**FEW), window=Median(radius=3), normalizer=Sigmoid()),
    AttentionConfig(score=Concat(coverage=True), window=LocalMonotonic(radius=1), normalizer=Softmax(sharpness=0.5)),
    AttentionConfig(score=Location(max_length=2), window=LocalPredictive(radius=1)),
    *WINDOWS,
]


def shown(options: Options) -> str:
    if isinstance(options, WindowAttention):
        return f"window{options.components}"
    more = [name for name in ("scaled", "coverage") if getattr(options.score, name, False)]
    more += ["unbiased"] if not getattr(options.score, "bias", True) else []
    more += ["location-only"] if not getattr(options.score, "content", True) else []
    normalizer = getattr(options.normalizer, "sharpness", options.normalizer.kind)
    return "-".join(map(str, (options.score.kind, *more, options.window.kind, normalizer)))


EVERY = pytest.mark.parametrize("options", EACH, ids=shown)

STEPS, SPAN = 3, 4
POSITIONS = torch.tensor([3, 4, 1])
LENGTHS = torch.tensor([2, 3, 1])


class Asked(Network):
    """An attention with queries of its own for every step."""

    def first(self, leaves: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """What is carried: from the leaves where it has a gradient, else as the attention says."""
        assert self.attention
        made = self.attention.initial_state(TensorOperations(), leaves["memory"])
        return {name: leaves.get(f"first {name}", value) for name, value in made.items()}

    def naive(self, **changed: Tensor) -> dict[str, Tensor]:
        assert self.attention
        config, leaves = self.attention.config, self.leaves | changed
        scored = isinstance(config, AttentionConfig)
        options = naive_attention.AttentionOptions(config.score, config.window, config.normalizer) if scored else None
        own = {name.partition(".")[2]: leaf for name, leaf in self.weights(leaves).items()}
        state, steps = self.first(leaves), []
        for t, q_BQ in enumerate(leaves["x"]):
            context, weights, after = naive_attention.attention(
                options, q_BQ, leaves["memory"], self.positions_B, own, state
            )
            there_B1 = (t < self.lengths_B).unsqueeze(1)
            state = {name: torch.where(there_B1, after[name], state[name]) for name in state}
            steps.append((torch.where(there_B1, context, 0), torch.where(there_B1, weights, 0)))
        contexts, all_weights = (torch.stack(blocks) for blocks in zip(*steps, strict=True))
        return {"context": contexts, "weights": all_weights} | {f"last {n}": value for n, value in state.items()}


def asked(
    options: Options, query: int, positions: Tensor = POSITIONS, lengths: Tensor = LENGTHS, span: int = SPAN
) -> Asked:
    """Queries ``query`` wide over a memory of another width, except at 1 and where the score is dot."""
    same = query == 1 or (isinstance(options, AttentionConfig) and isinstance(options.score, Dot))
    if isinstance(options, AttentionConfig):
        options = options.model_copy(update={"size": query if same else query - 3})
    width = query if same else query + 1
    attention = attention_of(options, query, EncoderSpec(width, width, 1, ("h",), True))
    assert attention is not None
    generator = torch.Generator().manual_seed(1)

    def leaf(*shape: int) -> Tensor:
        made = torch.randn(shape, generator=generator, dtype=torch.float64) / shape[-1] ** 0.5
        return made.requires_grad_()

    sentences = len(positions)
    leaves = {"x": leaf(int(lengths.max()), sentences, query), "memory": leaf(sentences, span, width)}
    for name, m in attention.matrices().items():
        leaves[name] = leaf(m.rows, m.columns) if m.columns else leaf(m.rows)
    for name, value in attention.initial_state(TensorOperations(), leaves["memory"]).items():
        # the number of the step has no gradient, nor have weights that only choose a window
        chosen_by = isinstance(options, AttentionConfig) and not isinstance(options.score, Hybrid)
        if name == "kappa":
            leaves["first kappa"] = leaf(*value.shape)
        elif name == "coverage" or (name == "weights" and not chosen_by):
            open_BS = torch.arange(span) < positions.unsqueeze(1)
            share_BS = torch.rand(sentences, span, generator=generator, dtype=torch.float64) * open_BS
            leaves[f"first {name}"] = (share_BS / share_BS.sum(-1, keepdim=True)).requires_grad_()
    program = Program(attention.parts("x"), ("context", "weights"))
    return Asked(program, Lstm(), leaves, lengths, attention=attention, positions_B=positions)


@pytest.mark.matrix
@EVERY
@pytest.mark.parametrize("query", [1, 7, 63])
def test_values_and_gradients_equal_the_naive_reading(options: Options, query: int) -> None:
    asked(options, query).assert_naive()


@pytest.mark.slow
@pytest.mark.parametrize("options", [*PRODUCT, *WINDOWS], ids=shown)
def test_every_score_span_and_normalizer_together_equal_the_naive_reading(options: Options) -> None:
    one = asked(options, 7)
    one.assert_naive()
    assert one.exact(fast_mode=True)


@pytest.mark.parametrize("options", [one for one in EACH if one.kind == "soft"], ids=shown)
def test_a_score_of_thousands_still_gives_finite_weights_and_gradients(options: Options) -> None:
    one = asked(options, 7)
    large = replace(one, leaves={n: (leaf.detach() * 1e3).requires_grad_() for n, leaf in one.leaves.items()})
    outputs = large.fast()
    assert all(value.isfinite().all() for value in (*outputs.values(), *large.gradients(outputs).values()))


@EVERY
def test_queries_behind_the_end_of_a_sentence_never_matter(options: Options) -> None:
    one = asked(options, 7)
    poisoned = one.poisoned()
    poisoned.assert_same(poisoned.fast(), one.fast(), atol=0, gradient_atol=0, of=one)


WIDE = {"positions": torch.tensor([4, 16, 2, 9, 7, 12]), "lengths": torch.tensor([5, 2, 7, 1, 6, 3]), "span": 16}


@pytest.mark.matrix
@EVERY
@pytest.mark.parametrize("query", [20, 33])
@torch.no_grad()
def test_a_sentence_has_the_same_bits_alone_and_among_others(options: Options, query: int) -> None:
    asked(options, query, **WIDE).to(torch.float32).assert_same_bits_alone()  # type: ignore[arg-type]


@EVERY
@torch.no_grad()
def test_one_step_at_a_time_gives_the_bits_of_a_scan(options: Options) -> None:
    one = asked(options, 20, **WIDE | {"lengths": torch.full((6,), 7)}).to(torch.float32)  # type: ignore[arg-type]
    assert_same_bits(step_by_step(one), one.fast())


@EVERY
def test_attention_waits_for_the_step_before_only_where_it_looks_at_it(options: Options) -> None:
    program = asked(options, 7).program
    attend = next(part for part in program.parts if "weights" in part.writes)
    looks_back = any(is_previous(read) and signal_of(read) != "clock" for read in attend.reads)
    assert [stage.loops for stage in stages(program) if attend in stage.parts] == [looks_back]


def test_a_window_moves_by_its_initial_step_before_training() -> None:
    attention = attention_of(
        WindowAttention(kind="gaussian-window", components=3, initial_step=0.1), 4, EncoderSpec(5, 5, 1, ("h",), True)
    )
    assert attention is not None
    weights = Weights(attention.matrices())
    weights.initialise(Xavier(), torch.Generator().manual_seed(1))
    attention.initialise(weights)
    program = Program(attention.parts("query"), ("kappa",))
    memory = attention.prepare(torch.zeros(2, 6, 5), torch.tensor([6, 2]), weights.tensors())
    state = {"kappa": torch.zeros(1, 2, 3)}
    signals = advance(program, {"query": torch.zeros(1, 2, 4)}, state, weights.tensors(), memory)
    assert_close(signals["kappa"], torch.full((1, 2, 3), 0.1))
