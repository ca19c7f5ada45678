from typing import Annotated, Any, ClassVar, Literal

import pytest
from pydantic import Field

from anaphora.config import ByKind, Config
from anaphora.errors import ConfigError
from anaphora.options import SET, Conflict, other_than


class Lstm(Config):
    kind: Literal["lstm"] = "lstm"
    forget_bias: float = Field(1.0, ge=0)


class Gru(Config):
    kind: Literal["gru"] = "gru"
    reset: Literal["before", "after"] = "after"


class Encoder(Config):
    cell: ByKind[Lstm | Gru] = Lstm()
    layers: int = Field(1, gt=0)
    dropout: float = Field(0.0, ge=0, lt=1)
    bidirectional: bool = True
    sizes: tuple[int, ...] = ()
    weights: dict[str, int] = Field(default={})


class Bpe(Config):
    tokenizer: Literal["bpe"] = "bpe"


class Character(Config):
    tokenizer: Literal["character"] = "character"


class Recipe(Config):
    name: str
    encoder: Encoder = Encoder()
    text: Annotated[Bpe | Character, Field(discriminator="tokenizer")] = Bpe()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"cell": "lstmm"}, "reverse.toml: encoder.cell 'lstmm' is unknown. Did you mean 'lstm'? Known: gru, lstm."),
        ({"cell": {"reset": "before"}}, "reverse.toml: encoder.cell needs encoder.cell.kind too: one of gru, lstm."),
        (
            {"cell": {"kind": "gru", "reset": "befor"}},
            "reverse.toml: encoder.cell.reset 'befor' is unknown. Did you mean 'before'? Known: after, before.",
        ),
        (
            {"cell": {"kind": "gru", "resett": "before"}},
            "reverse.toml: encoder.cell.resett is not an option. Did you mean 'reset'?",
        ),
        (
            {"cell": {"kind": "gru", "forget_bias": 2.0}},
            'reverse.toml: encoder.cell.forget_bias is for encoder.cell.kind = "lstm", but that is "gru": leave it '
            'out, or set encoder.cell.kind = "lstm".',
        ),
        ({"cell": 3}, "reverse.toml: encoder.cell should be a name or a table, but is 3."),
        ({"reset": "after"}, "reverse.toml: encoder.reset is not an option. Did you mean 'encoder.cell.reset'?"),
        ({"layer": 2}, "reverse.toml: encoder.layer is not an option. Did you mean 'layers'?"),
        (
            {"zzz": 2},
            "reverse.toml: encoder.zzz is not an option. Known: bidirectional, cell, dropout, layers, sizes, weights.",
        ),
        ({"layers": "3"}, "reverse.toml: encoder.layers should be a whole number, but is '3'."),
        ({"layers": 0}, "reverse.toml: encoder.layers should be greater than 0, but is 0."),
        ({"dropout": 1}, "reverse.toml: encoder.dropout should be less than 1, but is 1."),
        ({"dropout": float("nan")}, "reverse.toml: encoder.dropout should be a finite number, but is nan."),
        ({"bidirectional": 1}, "reverse.toml: encoder.bidirectional should be true or false, but is 1."),
        ({"sizes": 3}, "reverse.toml: encoder.sizes should be an array, but is 3."),
        ({"sizes": [1, "a"]}, "reverse.toml: encoder.sizes[1] should be a whole number, but is 'a'."),
        ({"weights": {"a": "b"}}, "reverse.toml: encoder.weights.a should be a whole number, but is 'b'."),
        ({"layers": True}, "reverse.toml: encoder.layers should be a whole number, but is true."),
    ],
)
def test_a_wrong_option_is_named_with_what_came_and_what_is_known(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Recipe.parse({"name": "reverse", "encoder": options}, "reverse.toml")
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({}, r"^my\.toml: name is missing"),
        ({"name": "x", "text": {"tokenizer": "bpee"}}, r"text\.tokenizer 'bpee' is unknown\. Did you mean 'bpe'\?"),
    ],
)
def test_a_missing_option_and_another_label_of_a_union_are_named(table: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        Recipe.parse(table, "my.toml")


def test_a_name_is_short_for_a_table_whole_numbers_are_numbers_and_arrays_are_tuples() -> None:
    assert Encoder.parse({"cell": "gru"}, "x") == Encoder.parse({"cell": {"kind": "gru"}}, "x") == Encoder(cell=Gru())
    encoder = Encoder.parse({"dropout": 0, "sizes": [1, 2]}, "x")
    assert (encoder.dropout, encoder.sizes) == (0.0, (1, 2))


class Both(Encoder):
    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"cell.reset": "before", "dropout": SET}, "leave one out"),
        Conflict({"layers": (1, 2), "bidirectional": False}, "add layers"),
    )


class Deeper(Both):
    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"layers": 7, "bidirectional": True}, "take fewer"),
        Conflict({"layers": lambda layers: layers > 8}, "that is deep; take at most 8"),
        Conflict({"cell.kind": other_than("gru"), "dropout": 0.25}, 'set {at}cell = {{kind = "gru"}}'),
        Conflict(lambda table: table.layers < table.dropout, "{at}layers = {table.layers} is less than {at}dropout"),
        Conflict({"no.such.option": SET, "nor": lambda value: value is None}, "never"),
        Conflict({"layers": 6, "dropout": 0.0}, "leave out one", written=True),
    )


class Wide(Config):
    encoder: Deeper = Deeper()


@pytest.mark.parametrize(
    ("encoder", "sentence"),
    [
        (
            {"cell": {"kind": "gru", "reset": "before"}, "dropout": 0.5},
            'x: encoder.cell.reset = "before" does not go with encoder.dropout = 0.5: leave one out.',
        ),
        ({"cell": {"kind": "gru", "reset": "before"}, "dropout": 0.0}, None),
        ({"dropout": 0.5}, None),
        (
            {"layers": 2, "bidirectional": False},
            "x: encoder.layers = 2 does not go with encoder.bidirectional = false: add layers.",
        ),
        ({"layers": 3, "bidirectional": False}, None),
        ({"layers": 7}, "x: encoder.layers = 7 does not go with encoder.bidirectional = true: take fewer."),
        ({"layers": 9}, "x: encoder.layers = 9 cannot be used here: that is deep; take at most 8."),
        (
            {"dropout": 0.25},
            'x: encoder.cell.kind = "lstm" does not go with encoder.dropout = 0.25: set encoder.cell = {kind = "gru"}.',
        ),
        ({"dropout": 0.25, "cell": "gru"}, None),
        ({"layers": 3, "dropout": 0.5, "cell": "gru"}, None),
        ({"layers": 6}, None),
    ],
)
def test_options_that_conflict_are_refused_with_their_values(encoder: dict[str, Any], sentence: str | None) -> None:
    if sentence is None:
        assert Wide.parse({"encoder": encoder}, "x")
        return
    with pytest.raises(ConfigError) as caught:
        Wide.parse({"encoder": encoder}, "x")
    assert str(caught.value) == sentence


def test_what_only_a_person_may_not_write_is_taken_from_a_stored_table() -> None:
    found = Wide.parse({"encoder": {"layers": 6}}, "x")
    assert list(found.refusals()) == ["encoder.layers = 6 does not go with encoder.dropout = 0.0: leave out one."]
    assert not list(Wide().refusals())
