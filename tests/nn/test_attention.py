"""Every kind of attention by itself: exact gradients, both readings, the same bits alone and in any batch."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.kernels.naive import attention as naive_attention
from anaphora.kernels.normalizers import Sigmoid, Softmax
from anaphora.kernels.parts import is_previous, signal_of
from anaphora.kernels.program import Program, stages
from anaphora.kernels.scan import advance, scan
from anaphora.kernels.scores import Concat, Dot, General, Hybrid, Location
from anaphora.kernels.spans import Global, LocalMonotonic, LocalPredictive, Median
from anaphora.nn.attention import Attention, AttentionConfig, WindowAttention, attention_of
from anaphora.nn.encoders.encoder import EncoderSpec
from anaphora.nn.weights import Weights, Xavier

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
    WindowAttention(kind="gaussian-window", components=1),
    WindowAttention(kind="gaussian-window", components=3),
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

STEPS, SENTENCES, SPAN = 3, 3, 4
POSITIONS = torch.tensor([3, 4, 1])
LENGTHS = torch.tensor([2, 3, 1])


@dataclass(frozen=True)
class Asked:
    """An attention with queries of its own for every step."""

    attention: Attention
    leaves: dict[str, Tensor]
    lengths_B: Tensor = LENGTHS
    positions_B: Tensor = POSITIONS

    @property
    def program(self) -> Program:
        return Program(self.attention.parts("q"), ("context", "weights"))

    def first(self, leaves: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """What is carried: from the leaves where it has a gradient, else as the attention says."""
        made = self.attention.first(leaves["memory"])
        return {name: leaves.get(f"first {name}", value) for name, value in made.items()}

    def memory(self, leaves: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return self.attention.prepare(leaves["memory"], self.positions_B, leaves)

    def fast(self, leaves: Mapping[str, Tensor]) -> dict[str, Tensor]:
        weights = {name: leaf for name, leaf in leaves.items() if "." in name}
        outputs, state = scan(
            self.program, {"q": leaves["q"]}, self.first(leaves), weights, self.memory(leaves), self.lengths_B
        )
        return outputs | {f"last {name}": value for name, value in state.items()}

    def naive(self, leaves: Mapping[str, Tensor]) -> dict[str, Tensor]:
        config = self.attention.config
        scored = isinstance(config, AttentionConfig)
        options = naive_attention.Scored(config.score, config.window, config.normalizer) if scored else None
        own = {name.partition(".")[2]: leaf for name, leaf in leaves.items() if "." in name}
        state, steps = self.first(leaves), []
        for t, q_BQ in enumerate(leaves["q"]):
            context, weights, after = naive_attention.attention(
                options, q_BQ, leaves["memory"], self.positions_B, own, state
            )
            there_B1 = (t < self.lengths_B).unsqueeze(1)
            state = {name: torch.where(there_B1, after[name], state[name]) for name in state}
            steps.append((torch.where(there_B1, context, 0), torch.where(there_B1, weights, 0)))
        contexts, all_weights = (torch.stack(blocks) for blocks in zip(*steps, strict=True))
        return {"context": contexts, "weights": all_weights} | {f"last {n}": value for n, value in state.items()}

    def alone(self, row: int) -> "Asked":
        steps = int(self.lengths_B[row])
        of_sentence = {n: t[row : row + 1] for n, t in self.leaves.items() if n == "memory" or n.startswith("first ")}
        rows = slice(row, row + 1)
        leaves = self.leaves | of_sentence | {"q": self.leaves["q"][:steps, rows]}
        return Asked(self.attention, leaves, self.lengths_B[rows], self.positions_B[rows])


def asked(
    options: Options,
    query: int,
    positions: Tensor = POSITIONS,
    lengths: Tensor = LENGTHS,
    span: int = SPAN,
    dtype: torch.dtype = torch.float64,
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
        return made.to(dtype).requires_grad_(dtype == torch.float64)

    sentences = len(positions)
    leaves = {"q": leaf(int(lengths.max()), sentences, query)}
    leaves["memory"] = leaf(sentences, span, query if same else query + 1)
    for name, m in attention.matrices().items():
        leaves[name] = leaf(m.rows, m.columns) if m.columns else leaf(m.rows)
    for name in attention.first(leaves["memory"]):
        # the number of the step has no gradient, nor have weights that only choose a window
        chosen_by = isinstance(options, AttentionConfig) and not isinstance(options.score, Hybrid)
        if name == "clock" or (name == "weights" and chosen_by):
            continue
        if name == "kappa":
            leaves["first kappa"] = leaf(sentences, attention.first(leaves["memory"])["kappa"].shape[1])
            continue
        open_BS = torch.arange(span) < positions.unsqueeze(1)
        share_BS = torch.rand(sentences, span, generator=generator, dtype=torch.float64) * open_BS
        share_BS = (share_BS / share_BS.sum(-1, keepdim=True)).to(dtype)
        leaves[f"first {name}"] = share_BS.requires_grad_(dtype == torch.float64)
    return Asked(attention, leaves, lengths, positions)


def gradients(outputs: Mapping[str, Tensor], leaves: Mapping[str, Tensor]) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(2)
    parts = [outputs[name] for name in sorted(outputs) if name != "last clock"]
    probes = [torch.randn(t.shape, generator=generator, dtype=t.dtype) for t in parts]
    return dict(zip(leaves, torch.autograd.grad(parts, list(leaves.values()), probes), strict=True))


def is_exact(one: Asked, fast_mode: bool = False) -> bool:
    def values(*tensors: Tensor) -> tuple[Tensor, ...]:
        outputs = one.fast(dict(zip(one.leaves, tensors, strict=True)))
        return tuple(value for name, value in outputs.items() if name != "last clock")

    return torch.autograd.gradcheck(values, tuple(one.leaves.values()), fast_mode=fast_mode)


def assert_equal_to_the_naive_reading(one: Asked) -> None:
    got, expected = one.fast(one.leaves), one.naive(one.leaves)
    assert_close(got, expected, rtol=0, atol=1e-12)
    derived = gradients(got, one.leaves)
    assert_close(derived, gradients(expected, one.leaves), rtol=0, atol=1e-10)
    assert all(gradient.abs().sum() > 0 for gradient in derived.values())


@EVERY
@pytest.mark.slow
@pytest.mark.parametrize("query", [1, 7])
def test_the_derived_gradients_are_those_of_finite_differences(options: Options, query: int) -> None:
    assert is_exact(asked(options, query))


@pytest.mark.matrix
@EVERY
@pytest.mark.parametrize("query", [1, 7, 63])
def test_values_and_gradients_equal_the_naive_reading(options: Options, query: int) -> None:
    assert_equal_to_the_naive_reading(asked(options, query))


@pytest.mark.slow
@pytest.mark.parametrize("options", [*PRODUCT, *WINDOWS], ids=shown)
def test_every_score_span_and_normalizer_together_equal_the_naive_reading(options: Options) -> None:
    one = asked(options, 7)
    assert_equal_to_the_naive_reading(one)
    assert is_exact(one, fast_mode=True)


@EVERY
def test_weights_are_a_distribution_over_the_open_positions(options: Options) -> None:
    one = asked(options, 7)
    weights_TBS = one.fast(one.leaves)["weights"].detach()
    there_TB = torch.arange(STEPS).unsqueeze(1) < LENGTHS
    assert weights_TBS[:, torch.arange(SPAN) >= POSITIONS.unsqueeze(1)].count_nonzero() == 0
    assert weights_TBS[~there_TB].count_nonzero() == 0
    assert (weights_TBS[there_TB].sum(-1) > 0).all()
    if isinstance(options, AttentionConfig) and not isinstance(options.window, LocalPredictive):
        assert_close(weights_TBS.sum(-1), there_TB.double())


@EVERY
def test_what_stands_behind_the_end_of_a_memory_never_matters(options: Options) -> None:
    one = asked(options, 7)
    closed_BS = torch.arange(SPAN) >= POSITIONS.unsqueeze(1)
    changed_BSM = one.leaves["memory"].detach().clone()
    changed_BSM[closed_BS] = 1e3
    other = one.leaves | {"memory": changed_BSM.requires_grad_()}
    outputs, changed = one.fast(one.leaves), one.fast(other)
    assert_close(changed, outputs, rtol=0, atol=0)
    derived = gradients(changed, other)
    assert_close(derived, gradients(outputs, one.leaves), rtol=0, atol=0)
    assert derived["memory"][closed_BS].count_nonzero() == 0


@pytest.mark.parametrize("options", [one for one in EACH if one.kind == "soft"], ids=shown)
def test_a_score_of_thousands_still_gives_finite_weights_and_gradients(options: Options) -> None:
    one = asked(options, 7)
    large = {name: (leaf.detach() * 1e3).requires_grad_() for name, leaf in one.leaves.items()}
    outputs = one.fast(large)
    assert all(value.isfinite().all() for value in (*outputs.values(), *gradients(outputs, large).values()))


@EVERY
def test_queries_behind_the_end_of_a_sentence_never_matter(options: Options) -> None:
    one = asked(options, 7)
    behind_TB1 = (torch.arange(STEPS).unsqueeze(1) >= LENGTHS).unsqueeze(-1)
    poisoned = one.leaves | {"q": one.leaves["q"].detach().masked_fill(behind_TB1, torch.nan).requires_grad_()}
    outputs, got = one.fast(one.leaves), one.fast(poisoned)
    assert_close(got, outputs, rtol=0, atol=0)
    assert_close(gradients(got, poisoned), gradients(outputs, one.leaves), rtol=0, atol=0)


WIDE = {"positions": torch.tensor([4, 16, 2, 9, 7, 12]), "lengths": torch.tensor([5, 2, 7, 1, 6, 3]), "span": 16}


@pytest.mark.matrix
@EVERY
@pytest.mark.parametrize("query", [20, 33])
def test_a_sentence_has_the_same_bits_alone_and_among_others(options: Options, query: int) -> None:
    one = asked(options, query, **WIDE, dtype=torch.float32)  # type: ignore[arg-type]
    with torch.no_grad():
        together = one.fast(one.leaves)
        for row, length in enumerate(one.lengths_B.tolist()):
            single = one.alone(row)
            got = single.fast(single.leaves)
            of_row = {n: t[row : row + 1] if "last" in n else t[:length, row : row + 1] for n, t in together.items()}
            assert_close(got, of_row, rtol=0, atol=0)


@EVERY
def test_one_step_at_a_time_gives_the_bits_of_a_scan(options: Options) -> None:
    one = replace(asked(options, 20, **WIDE, dtype=torch.float32), lengths_B=torch.full((6,), 7))  # type: ignore[arg-type]
    with torch.no_grad():
        whole = one.fast(one.leaves)
        state = {name: value.unsqueeze(0) for name, value in one.first(one.leaves).items()}
        weights = {name: leaf for name, leaf in one.leaves.items() if "." in name}
        for t in range(7):
            q_XBQ = one.leaves["q"][t : t + 1].expand(3, -1, -1)  # three hypotheses, all the same
            state = {name: value[:1].expand(3, -1, -1) for name, value in state.items()}
            signals = advance(one.program, {"q": q_XBQ}, state, weights, one.memory(one.leaves))
            state = {name: signals[name] for name in state}
            for k in range(3):
                assert torch.equal(signals["context"][k], whole["context"][t])
                assert torch.equal(signals["weights"][k], whole["weights"][t])


@pytest.mark.parametrize("span", [LocalMonotonic(radius=4), Median(radius=4)], ids=lambda span: span.kind)
def test_a_window_wider_than_the_sentence_sees_all_of_it(span: Any) -> None:
    wide, whole = asked(AttentionConfig(window=span), 7), asked(AttentionConfig(), 7)
    assert torch.equal(wide.fast(wide.leaves)["weights"], whole.fast(whole.leaves)["weights"])


def test_the_window_of_every_step_moves_on_by_one_and_stays_at_the_end() -> None:
    one = asked(AttentionConfig(window=LocalMonotonic(radius=1)), 7, lengths=torch.tensor([6, 6, 6]))
    looked_TBS = one.fast(one.leaves)["weights"] > 0
    for sentence, positions in enumerate(POSITIONS.tolist()):
        for step in range(6):
            centre = min(step, positions - 1)
            open_S = [centre - 1 <= s <= centre + 1 and s < positions for s in range(SPAN)]
            assert looked_TBS[step, sentence].tolist() == open_S


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
