"""A corpus is encoded once, in constant memory, and read from a map of its files."""

import json
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from anaphora.data import encoding
from anaphora.data import example_store as store_module
from anaphora.data.corpora import AlignedFiles, PairCorpus, TextCorpus, fingerprint
from anaphora.data.example_store import ExampleStore, example_store
from anaphora.data.fields.label import Label
from anaphora.data.fields.tokens import Tokens
from anaphora.data.pairs import pair_fields
from anaphora.data.running_text import encoded_text
from anaphora.errors import DataError
from anaphora.events import Event, Progress, Skipped
from anaphora.text.characters import CharacterTokenizer
from anaphora.text.tokenizer import Tokenizer
from tests.data.stores import Listed

CODER = CharacterTokenizer("abcdefgh ", lowercase=False)


def pair_corpus(folder: Path, pairs: Sequence[tuple[str, str]]) -> PairCorpus:
    files = AlignedFiles(folder / "train.en", folder / "train.cs")
    for path, lines in zip(files.paths, zip(*pairs, strict=True), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return PairCorpus("train", (files,), fingerprint(files.paths), len(pairs))


def pair_store(corpus: PairCorpus, folder: Path, tokenizer: Tokenizer = CODER, **more: Any) -> ExampleStore:
    fields = pair_fields({"source": tokenizer, "target": tokenizer})
    return example_store(corpus, fields, folder, noun="pair", **more)


def text_corpus(folder: Path, *lines: str) -> TextCorpus:
    path = folder / "book.txt"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return TextCorpus("train", (path,), fingerprint([path]), len(lines))


@pytest.mark.parametrize("characters", [1, 1 << 20])
def test_the_store_does_not_depend_on_which_lines_are_encoded_together(
    characters: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "_CHARACTERS", characters)
    pairs = [("abcdefgh"[: number % 9], "a" * (number % 5)) for number in range(1100)]
    events: list[Event] = []
    store = pair_store(pair_corpus(tmp_path, pairs), tmp_path / "store", longest=7, report=events.append)
    kept = [number for number, pair in enumerate(pairs) if len(pair[0]) <= 7]
    assert store.numbers[:].tolist() == kept
    for side, rows in enumerate(store.all_rows()):
        assert [rows[row].tolist() for row in range(len(kept))] == [CODER.encode(pairs[n][side]) for n in kept]
    assert [event.done for event in events if isinstance(event, Progress)] == [1000, 1100]
    opened: list[Event] = []
    pair_store(pair_corpus(tmp_path, pairs), tmp_path / "store", longest=7, report=opened.append)
    skipped = Skipped("pairs of more than 7 tokens on a side were left out of train", len(pairs) - len(kept))
    assert [event for event in [*events, *opened] if isinstance(event, Skipped)] == [skipped, skipped]
    text = encoded_text(text_corpus(tmp_path, *(source for source, _ in pairs)), CODER, tmp_path / "text")
    assert text[:].tolist() == [3, *(token for source, _ in pairs for token in (*CODER.encode(source), 3))]


def test_what_was_encoded_is_not_encoded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs, text = pair_corpus(tmp_path, [("a", "b")]), text_corpus(tmp_path, "abc")
    for _ in range(2):
        assert len(pair_store(pairs, tmp_path / "pairs")) == 1
        assert len(encoded_text(text, CODER, tmp_path / "text")) == 5
        monkeypatch.setattr(encoding, "encode_blocks", None)


@pytest.mark.parametrize("change", ["corpus", "tokenizer", "length", "newer", "older"])
def test_a_store_that_does_not_fit_is_encoded_anew(tmp_path: Path, change: str) -> None:
    folder, tokenizer, longest = tmp_path / "store", CODER, 0
    corpus = pair_corpus(tmp_path, [("abc", "h"), ("a", "b")])
    pair_store(corpus, folder, tokenizer)
    for side in ("source", "target"):  # so that only what is encoded again can be right
        (folder / f"{side}.ids").write_bytes(b"\0" * (folder / f"{side}.ids").stat().st_size)
    header = json.loads((folder / "header.json").read_bytes())
    if change == "corpus":
        corpus = pair_corpus(tmp_path, [("abc", "g"), ("a", "b")])
    elif change == "tokenizer":
        tokenizer = CharacterTokenizer("hgfedcba ", lowercase=False)
    elif change == "length":
        longest = 2
    elif change == "newer":
        (folder / "header.json").write_text(json.dumps(header | {"format": 3}))
    else:
        sizes = {entry["name"]: entry["count"] for entry in header["columns"]}
        first = {"format": 1, "identity": header["identity"], "sizes": sizes, "facts": header["facts"]}
        (folder / "header.json").write_text(json.dumps(first))
    store = pair_store(corpus, folder, tokenizer, longest=longest)
    kept = [1] if change == "length" else [0, 1]
    assert store.numbers[:].tolist() == kept
    for rows, texts in zip(store.all_rows(), zip(*corpus, strict=True), strict=True):
        assert [rows[row].tolist() for row in range(len(store))] == [tokenizer.encode(texts[number]) for number in kept]


def test_a_failing_corpus_leaves_nothing_behind(tmp_path: Path) -> None:
    corpus = pair_corpus(tmp_path, [("a", "b")])
    (tmp_path / "train.cs").write_bytes(b"b\nc\n")
    with pytest.raises(DataError, match=r"has 1 and .* has 2"):
        pair_store(corpus, tmp_path / "store")
    assert {path.name for path in tmp_path.iterdir()} == {"train.en", "train.cs"}
    with pytest.raises(DataError, match="cannot be written"):
        encoded_text(text_corpus(tmp_path, "a"), CODER, tmp_path / "book.txt" / "store")


def test_a_value_that_a_field_refuses_and_a_corpus_of_which_nothing_is_left_are_named(tmp_path: Path) -> None:
    fields = Tokens("text", CODER, itemgetter(0)), Label("label", ["x"], itemgetter(1))
    with pytest.raises(DataError, match="Every text of train has more than 1 token: raise"):
        example_store(Listed([("abc", ["x"])]), fields, tmp_path / "none", noun="text", longest=1)
    with pytest.raises(DataError, match="row 2 has the label 'y', which training does not have"):
        example_store(Listed([("a", ["x"]), ("b", ["y"])]), fields, tmp_path / "store", noun="text")


def test_large_vocabularies_keep_their_ids(tmp_path: Path) -> None:
    tokenizer = CharacterTokenizer([chr(number) for number in range(0x10000, 0x10000 + 70_000)], lowercase=False)
    last = chr(0x10000 + 69_999)
    ids = encoded_text(text_corpus(tmp_path, last), tokenizer, tmp_path / "store")
    assert ids[:].tolist() == [3, 70_003, 3]
