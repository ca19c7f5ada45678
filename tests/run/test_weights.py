import json
import math
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save

from anaphora.errors import RunError
from anaphora.run.weights import as_tensors, fill, first_overflowing, parse, serialise, tensors_of

HERE = Path("here")


class Tied(torch.nn.Module):
    """Two layers that share a weight, and a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Embedding(4, 3)
        self.outer = torch.nn.Linear(3, 4)
        self.outer.weight = self.inner.weight
        self.register_buffer("count", torch.tensor(7))


def test_a_tied_weight_is_named_once_and_stays_tied() -> None:
    model, other = Tied(), Tied()
    tensors = tensors_of(model)
    assert set(tensors) == {"inner.weight", "outer.bias", "count"}
    fill(other, parse(bytearray(serialise(tensors)), HERE), HERE)
    assert other.outer.weight is other.inner.weight
    assert all(torch.equal(tensor, tensors[name]) for name, tensor in tensors_of(other).items())


def test_filling_copies() -> None:
    model, other = Tied(), Tied()
    fill(other, tensors_of(model), HERE)
    with torch.no_grad():
        model.inner.weight.zero_()
    assert other.inner.weight.abs().sum() > 0


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"inner.weight": None}, r"here has no tensor inner.weight"),
        ({"spare": torch.zeros(1)}, r"here has a tensor 'spare', which this network lacks"),
        ({"outer.bias": torch.zeros(5)}, r"outer.bias should be 4 float32, but is 5 float32: vocabulary"),
        ({"outer.bias": torch.zeros(4).double()}, r"should be 4 float32, but is 4 float64"),
        ({"count": torch.zeros(1).long()}, r"count should be a number int64, but is 1 int64"),
    ],
)
def test_tensors_of_another_network_are_refused_by_name(change: dict[str, torch.Tensor | None], sentence: str) -> None:
    model = Tied()
    before = {name: tensor.clone() for name, tensor in tensors_of(model).items()}
    given_tensors = {name: torch.ones_like(tensor) for name, tensor in before.items()} | change
    with pytest.raises(RunError, match=sentence):
        fill(model, {name: tensor for name, tensor in given_tensors.items() if tensor is not None}, HERE)
    assert all(torch.equal(tensor, before[name]) for name, tensor in tensors_of(model).items())


@pytest.mark.parametrize("value", [math.inf, math.nan, -1e20])
def test_the_first_tensor_that_is_not_finite_or_overflows_is_named(value: float) -> None:
    tensors = {"whole": torch.tensor([2**62]), "good": torch.ones(2), "bad": torch.tensor([value])}
    assert first_overflowing(tensors) == "bad"
    assert first_overflowing({"good": torch.ones(2)}) == ""


@given(st.binary(max_size=60))
def test_bytes_that_are_no_safetensors_are_refused_in_a_sentence(content: bytes) -> None:
    with pytest.raises(RunError, match="here is not a safetensors file"):
        parse(bytearray(content), HERE)


def test_a_file_is_read_as_it_was_written_and_without_a_copy() -> None:
    kinds = torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.bool, torch.int64, torch.uint8
    tensors = {str(kind): torch.arange(6).reshape(2, 3).to(kind) for kind in kinds} | {"none": torch.empty(0, 3)}
    whole = torch.arange(12.0).reshape(3, 4)
    tensors |= {"upper": whole[:2], "turned": whole.T, "number": torch.tensor(3.0)}  # which share memory
    content = bytearray(serialise(tensors))
    found = as_tensors(parse(content, HERE))
    assert found.keys() == tensors.keys()
    assert all(found[name].equal(tensor) and found[name].dtype == tensor.dtype for name, tensor in tensors.items())
    first, last = (found["torch.float64"].data_ptr() + offset for offset in (0, 6 * 8))
    begin = torch.frombuffer(content, dtype=torch.uint8).data_ptr()
    assert begin < first < last <= begin + len(content)


def test_a_file_is_the_one_that_the_library_of_the_format_writes() -> None:
    kinds = torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.bool, torch.int64, torch.uint8
    kinds += torch.int8, torch.int16, torch.int32
    tensors = {f"é{name}": torch.arange(6).reshape(2, 3).to(kind) for kind in kinds for name in "ab"}
    tensors |= {"number": torch.tensor(3.0), "none": torch.empty(0, 3)}
    assert serialise(tensors) == save(tensors)
    assert serialise(tensors, {"a": "b"}) == save(tensors, {"a": "b"})


WHOLE = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


@pytest.mark.parametrize(
    "header",
    [
        *(
            {"a": WHOLE | change}
            for change in (
                {"data_offsets": [0, 9]},
                {"shape": [-1, -2]},
                {"data_offsets": [-8, 0]},
                {"data_offsets": [8, 0]},
                {"shape": [2, 1.0]},
                {"shape": 2},
                {"shape": [1 << 62, 1 << 62]},
                {"data_offsets": [0.0, 8.0]},
                {"dtype": "F33"},
                {"shape": [1] * 9 + [2]},  # more dimensions than torch takes
            )
        ),
        {"a": {"dtype": "F32", "shape": [2]}},
        {"a": []},
        {"a": WHOLE, "b": WHOLE},  # one over the other
        {"a": WHOLE, "b": WHOLE | {"shape": [0, 1 << 62, 1 << 62], "data_offsets": [8, 8]}},
        {"a": WHOLE | {"shape": [1], "data_offsets": [4, 8]}},  # a hole before it
        [{"a": WHOLE}],
    ],
    ids=str,
)
def test_tensors_that_do_not_fit_their_file_are_refused(header: object) -> None:
    text = json.dumps(header).encode()
    with pytest.raises(RunError, match="here is not a safetensors file"):
        parse(bytearray(len(text).to_bytes(8, "little") + text + bytes(8)), HERE)
