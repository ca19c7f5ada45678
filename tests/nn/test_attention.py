"""Attention beside its decoder: where it loops, and how a window starts; ``tests/kernels`` states what it computes."""

import pytest
import torch
from torch.testing import assert_close

from anaphora.kernels.parts import is_previous, signal_of
from anaphora.kernels.program import Program, stages
from anaphora.kernels.scan import advance
from anaphora.nn.attention import WindowAttention, attention_of
from anaphora.nn.encoders.encoder import EncoderSpec
from anaphora.nn.weights import Weights, Xavier
from tests.kernels.conftest import FORMS, Form, shown

SPEC = EncoderSpec(4, 4, 1, ("h",), True)


@pytest.mark.parametrize("form", FORMS, ids=shown)
def test_attention_waits_for_the_step_before_only_where_it_looks_at_it(form: Form) -> None:
    attention = attention_of(form, 4, SPEC)
    assert attention is not None
    program = Program(attention.parts("x"), ("context", "weights"))
    attend = next(part for part in program.parts if "weights" in part.writes)
    looks_back = any(is_previous(read) and signal_of(read) != "clock" for read in attend.reads)
    assert [stage.loops for stage in stages(program) if attend in stage.parts] == [looks_back]


def test_a_window_moves_by_its_initial_step_before_training() -> None:
    attention = attention_of(WindowAttention(kind="gaussian-window", components=3, initial_step=0.1), 4, SPEC)
    assert attention is not None
    weights = Weights(attention.matrices())
    weights.initialise(Xavier(), torch.Generator().manual_seed(1))
    attention.initialise(weights)
    program = Program(attention.parts("query"), ("kappa",))
    memory = attention.prepare(torch.zeros(2, 6, 4), torch.tensor([6, 2]), weights.tensors())
    state = {"kappa": torch.zeros(1, 2, 3)}
    signals = advance(program, {"query": torch.zeros(1, 2, 4)}, state, weights.tensors(), memory)
    assert_close(signals["kappa"], torch.full((1, 2, 3), 0.1))
