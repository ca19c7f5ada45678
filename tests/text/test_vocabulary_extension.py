from pathlib import Path

import pytest

from anaphora.errors import ConfigError
from anaphora.text.tokenization import AnyTokenizer, Bpe, Character, Symbol, Unigram, Word, fit, load, save
from anaphora.text.tokenizer import Tokenizer
from anaphora.text.vocabulary_extension import extend_tokenizer

OLD = ["the old man walks and walks", "a man talks to the dog"]
CONFIG: dict[str, AnyTokenizer] = {
    **{"bpe": Bpe(size=340), "character": Character(), "word": Word(segmentation="whitespace")},
    **{"symbol": Symbol(), "separated": Symbol(source="separated")},
}
NEW = ["Гарри the wizard wands walks", "the wizard dog 中文"]


def learnt(kind: str, lines: list[str]) -> Tokenizer:
    return fit(CONFIG[kind], {"source": lambda: iter(lines * 20)})["source"]


@pytest.mark.parametrize("kind", CONFIG)
def test_old_units_keep_their_ids_and_new_ones_are_appended_once_used_and_kept(kind: str, tmp_path: Path) -> None:
    old, new = learnt(kind, OLD), learnt(kind, NEW)
    both = extend_tokenizer(CONFIG[kind], old, new)
    pieces = both.pieces(range(both.symbols.size))
    assert pieces[: old.symbols.size] == old.pieces(range(old.symbols.size))
    assert set(pieces) == set(pieces[: old.symbols.size]) | set(new.pieces(range(new.symbols.size)))
    assert len(set(pieces)) == len(pieces) > old.symbols.size
    for line in NEW:
        ids = both.encode(line)
        assert both.decode(ids) == line
        assert max(ids) >= old.symbols.size and len(ids) <= len(old.encode(line))
    save({"source": both}, tmp_path)
    reread = load(CONFIG[kind], tmp_path)["source"]
    assert [reread.encode(line) for line in OLD + NEW] == [both.encode(line) for line in OLD + NEW]
    assert extend_tokenizer(CONFIG[kind], old, old) is old


@pytest.mark.parametrize("config", [Unigram(), Word(rare="posall")], ids=lambda config: config.tokenizer)
def test_units_that_cannot_be_appended_are_refused(config: AnyTokenizer) -> None:
    with pytest.raises(ConfigError, match=f"'word' without text.rare, but has '{config.tokenizer}'"):
        extend_tokenizer(config, learnt("bpe", OLD), learnt("bpe", NEW))
