"""Projections of words are looked up in tables with the bits of their products, made once enough words were read."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from unittest.mock import Mock
from weakref import WeakSet

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import Parameter

from anaphora.kernels import word_tables
from anaphora.kernels.backends import Backend, backend_for
from anaphora.kernels.prepared import with_prepared_weights
from anaphora.kernels.runtime import Runtime, running
from anaphora.kernels.word_tables import LookUp, Words, read_words
from anaphora.nn.stack import Stack, StackConfig
from tests.networks import TRANSLATORS, untrained_translator
from tests.searches import beam

from ..batches import pair_batch
from .exactness import CHANGES

BACKENDS: list[Backend] = list(dict.fromkeys([backend_for("fp32"), "torch", backend_for("bf16"), backend_for("int8")]))
WORDS, WIDTH = 11, 7


def owning() -> Runtime:
    return with_prepared_weights(Runtime.inference())


class Network:
    """A stack, and the words that it reads."""

    def __init__(self, **options: Any) -> None:
        draws = torch.Generator().manual_seed(1)
        self.stack = Stack(StackConfig(size=10, **options), WIDTH, "test").eval()
        for weight in self.stack.parameters():
            weight.data.normal_(generator=draws)
        self.table = Parameter(torch.randn(WORDS, WIDTH, generator=draws))

    def words(self, ids_TB: Tensor) -> Words:
        return Words(ids_TB.unsqueeze(-1), self.table, 1.5)

    def reads_tables(self, count: int = 1) -> bool:
        """Whether its program looks words up, once it has read so many more."""
        ids_11 = torch.zeros(1, 1, dtype=torch.int64)
        read = read_words(self.stack.program, self.stack.weights.tensors(), self.words(ids_11), count)
        return any(isinstance(part, LookUp) for part in read.program.parts)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("options", [{}, {"layers": 2, "cell": "gru"}, {"layer_norm": True}], ids=str)
@settings(max_examples=5)
@given(lengths=st.lists(st.integers(1, 5), min_size=1, max_size=4), seed=st.integers(0, 99))
@torch.no_grad()
def test_a_table_gives_the_bits_of_products(
    options: dict[str, Any], backend: Backend, lengths: list[int], seed: int
) -> None:
    network, runtime = Network(**options), with_prepared_weights(Runtime(backend=backend))
    ids_TB = torch.randint(WORDS, (5, len(lengths)), generator=torch.Generator().manual_seed(seed))
    of_words, lengths_B = network.words(ids_TB), torch.tensor(lengths)
    with running(runtime):
        expected = network.stack(of_words.vectors, lengths_B).outputs["h"]
        state = network.stack.initial_state(len(lengths))
        step = network.stack.advance(of_words.vectors[:1], state)[0]
        assert network.reads_tables(WORDS)
        assert torch.equal(network.stack(of_words, lengths_B).outputs["h"], expected)
        assert torch.equal(network.stack.advance(network.words(ids_TB[:1]), state)[0], step)


@torch.no_grad()
def test_a_table_is_made_when_as_many_words_were_read_as_it_has_rows() -> None:
    network = Network()
    with running(owning()):
        assert [network.reads_tables() for _ in range(WORDS + 1)] == [False] * (WORDS - 1) + [True] * 2


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["table", "input0.weight", "input0.bias"])
@torch.no_grad()
def test_a_table_goes_with_the_values_of_its_weights(name: str, change: Callable[[Parameter], None]) -> None:
    network = Network()
    weight = network.table if name == "table" else network.stack.weights.tensors()[name]
    assert isinstance(weight, Parameter)
    with running(owning()):
        assert network.reads_tables(WORDS)
        change(weight)
        assert not network.reads_tables()


@pytest.mark.parametrize(
    ("changes", "gradients"),
    [({}, True), *((one, False) for one in ({"training": True}, {"prepared": None}, {"observer": Mock()}))],
    ids=["gradients", "training", "without kept weights", "observed"],
)
def test_words_are_read_by_their_vectors_where_nothing_is_kept(changes: dict[str, Any], gradients: bool) -> None:
    with running(replace(owning(), **changes)), torch.set_grad_enabled(gradients):
        assert not Network().reads_tables(WORDS)


def rows_made(monkeypatch: pytest.MonkeyPatch, rows: int) -> list[int]:
    """How many rows are made each time from now on, in tables of so many rows of a network."""
    found, product = list[int](), word_tables.linear

    def counted(x_MD: Tensor, weight_NK: Tensor) -> Tensor:
        found.append(len(x_MD))
        return product(x_MD, weight_NK)

    monkeypatch.setattr(word_tables, "_NUMBERS", rows * len(Network().stack.weights.tensors()["input0.weight"]))
    monkeypatch.setattr(word_tables, "_sharing", WeakSet())
    monkeypatch.setattr(word_tables, "linear", counted)
    return found


@torch.no_grad()
@pytest.mark.parametrize(
    ("room", "made"), [(WORDS, [2, 1, 1, 7]), (WORDS - 1, [2, 1, 1, 4]), (4, [2, 1, 1, 4]), (3, [2, 1, 1]), (1, [1])]
)
def test_known_words_are_projected_once_each_there(room: int, made: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Or again after the table was full; where it has no room for those of one block, each time."""
    network, rows = Network(), rows_made(monkeypatch, room)
    with running(owning()):
        for ids in ([[1, 2]], [[2, 3]], [[3, 1]], [[9, 9]], [[4, 5, 6, 7], [7, 6, 5, 4]]):
            read, lengths_B = network.words(torch.tensor(ids).T), torch.tensor([len(sentence) for sentence in ids])
            found = network.stack(read, lengths_B).outputs["h"]
            assert torch.equal(found, network.stack(read.vectors, lengths_B).outputs["h"])
        assert rows == made
        assert network.reads_tables(WORDS) is (room == WORDS)  # a search has to have room for all


@torch.no_grad()
def test_networks_share_the_room_for_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has a row for each of two words, alone for each of four."""
    first, second, rows = (Network(), owning()), (Network(), owning()), rows_made(monkeypatch, 4)

    def reads(owner: tuple[Network, Runtime], *ids: int) -> list[int]:
        network, runtime = owner
        rows.clear()
        with running(runtime):
            network.stack(network.words(torch.tensor([ids]).T), torch.tensor([len(ids)]))
        return list(rows)

    assert reads(first, 1, 2, 3, 4) == [4]
    assert reads(second, 1, 2) == [2]
    assert reads(first, 1, 2, 3, 4) == []
    assert reads(first, 1, 2) == [2]
    assert reads(second, 1, 2) == reads(first, 1, 2) == []
    del second
    assert reads(first, 1, 2, 3, 4) == [4]


@torch.no_grad()
def test_a_search_that_has_no_room_leaves_the_tables_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, rows = Network(), Network(), rows_made(monkeypatch, WORDS)
    with running(owning()):
        assert first.reads_tables(WORDS)
        assert not second.reads_tables(WORDS)
        assert first.reads_tables() and rows == [WORDS]


@torch.no_grad()
def test_threads_that_read_other_words_get_the_bits_of_products(monkeypatch: pytest.MonkeyPatch) -> None:
    network, owner, _ = Network(), owning(), rows_made(monkeypatch, 4)
    texts = [torch.randint(WORDS, (3, 1), generator=torch.Generator().manual_seed(seed)) for seed in range(60)]

    def reads(start: int) -> bool:
        with torch.no_grad(), running(owner):
            found = [network.stack(network.words(text), torch.tensor([3])).outputs["h"] for text in texts[start::2]]
        return all(map(torch.equal, found, expected[start::2]))

    with running(owning()):
        expected = [network.stack(network.words(text).vectors, torch.tensor([3])).outputs["h"] for text in texts]
    with ThreadPoolExecutor(2) as pool:
        assert all(pool.map(reads, range(2)))


@pytest.mark.parametrize("size", [1, 3])
def test_a_translation_is_the_same_with_tables(size: int) -> None:
    model, outputs = untrained_translator(next(iter(TRANSLATORS))).model, []
    batch = pair_batch([[5, 9, 14, 3], [7, 3], [22, 21, 20, 19, 18, 3]] * 9)
    for runtime in (Runtime.inference(), owning()):
        with running(runtime):
            outputs.append(beam(model.stepper(), batch, beam=size, max_length=9))
    assert outputs[0] == outputs[1]
