"""Strings as symbols: characters or what spaces separate, tags after a tab; what is encoded is decoded again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.text.symbols import SymbolTokenizer, are_separated
from anaphora.text.tokenization import Symbol, fit, load, save
from anaphora.text.tokenizer import EOS, UNK
from anaphora.text.whitespace import by_word

ALPHABET = ["a", "V", "\tV", " ", "AA1", "ß"]


def tokenizer(separated: bool = False) -> SymbolTokenizer:
    return SymbolTokenizer(ALPHABET, lowercase=False, separated=separated)


@given(st.lists(st.sampled_from(["a", "V", "ß"]), max_size=9), st.sampled_from(["", " "]))
def test_symbols_come_back_with_one_space_between_them_or_none(symbols: list[str], space: str) -> None:
    one = tokenizer(separated=bool(space))
    assert one.decode(one.encode((2 * space).join(symbols))) == space.join(symbols)
    assert one.symbols_of(space.join(symbols)) == symbols


def test_a_tag_is_no_character_and_is_not_written() -> None:
    found = tokenizer()
    assert found.symbols_of("a V\tV;PST") == ["a", " ", "V", "\tV", "\tPST"]
    ids = found.encode("aV\tV")
    assert len(set(ids)) == 3 and found.decode(ids) == "aV" and found.pieces(ids) == ["a", "V", "V"]


def test_features_for_the_decoder_stand_behind_the_end_of_a_string() -> None:
    with_features = SymbolTokenizer(ALPHABET, lowercase=False, features=True)
    found = SymbolTokenizer.deserialise(with_features.serialise(), lowercase=False)
    assert found.symbols.features and not tokenizer().symbols.features and found.symbols == tokenizer().symbols
    ids = found.encode("aV\tV")
    assert ids == [4, 5, EOS, 6] and found.decode(ids) == "aV" and found.pieces(ids) == ["a", "V", "</s>", "V"]
    assert found.encode("a") == [4] and found.unknown("a\tV") == []
    assert found.encode_with_places("aV\tV") == [(4, 0), (5, 1), (EOS, 2), (6, 3)]
    assert found.beside(True, True).symbols.features


def test_what_training_does_not_have_is_unknown_and_named_once() -> None:
    found = tokenizer()
    assert found.encode("axx\tN") == [4, UNK, UNK, UNK]
    assert found.unknown("axx\tN;V") == ["x", "N"]
    assert found.decode([4, UNK]) == "a\N{REPLACEMENT CHARACTER}"


def test_every_symbol_belongs_to_one_word() -> None:
    assert [len(row) for row in by_word(tokenizer(), "aa a\tV")] == [2, 2, 1, 0]


@pytest.mark.parametrize("joint", [True, False])
def test_vocabularies_are_kept_with_their_notation(joint: bool, tmp_path) -> None:  # type: ignore[no-untyped-def]
    sides = {"source": lambda: iter(["haus\tN;SG", "maus\tN;PL"]), "target": lambda: iter(["h aw s", "m ow s"])}
    learnt = fit(Symbol(joint=joint), sides)
    assert [side.separated for side in learnt.values()] == [False, True]  # type: ignore[attr-defined]
    assert (learnt["source"].symbols.size == learnt["target"].symbols.size) is joint
    save(learnt, tmp_path)
    loaded = load(Symbol(joint=joint), tmp_path)
    assert [side.fingerprint for side in loaded.values()] == [side.fingerprint for side in learnt.values()]


def test_spaces_separate_symbols_where_what_is_between_them_is_short() -> None:
    assert are_separated(["HH AW1 S", "M AW1 S", "OW1"])
    assert not are_separated(["quatscht fest", "sagte", "sagt an"])
    assert not are_separated(["a man walks home", "the other man waits"])
    assert not are_separated([])


def test_a_stand_in_is_a_known_character_of_the_same_kind_that_is_not_in_the_string() -> None:
    found = SymbolTokenizer([*"abcABC", "\tV", "\tU"], lowercase=False)
    stand_ins = found.stand_ins("aUxUy\tU;Q")
    assert stand_ins.keys() == {"U", "x", "y"}
    assert stand_ins["U"] in "ABC" and {stand_ins["x"], stand_ins["y"]} == {"b", "c"}
    assert found.stand_ins("abcz") == {} == found.beside(True).stand_ins("z")
