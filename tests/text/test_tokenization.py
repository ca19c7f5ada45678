"""Tokenizers are learnt, saved and loaded as the configuration says."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from anaphora.errors import RunError
from anaphora.events import Event, Note
from anaphora.text.tokenization import AnyTokenizer, Bpe, Byte, Character, Unigram, Word, fit, load, resegment_of, save

ENGLISH = ["The man walks.", "A woman reads.", "Two dogs run."] * 4
FRENCH = ["L'homme marche.", "Une femme lit.", "Deux chiens courent."] * 4


SIDES: dict[str, Callable[[], Iterator[str]]] = {"source": lambda: iter(ENGLISH), "target": lambda: iter(FRENCH)}
ALONE = {"text": SIDES["source"]}
CONFIGS = [
    Bpe(size=330),
    Bpe(size=300, joint=False, lowercase=True),
    Bpe(size=90, byte_fallback=False),
    Unigram(size=300, joint=False),
    Word(),
    Word(segmentation="whitespace", lowercase=True, min_count=2),
    Character(),
    Character(joint=True, lowercase=True),
    Byte(),
    Byte(lowercase=True),
]


@pytest.mark.parametrize("config", CONFIGS)
def test_what_comes_back_encodes_identically_and_joint_sides_share_one_vocabulary(
    tmp_path: Path, config: AnyTokenizer
) -> None:
    tokenizers = fit(config, SIDES)
    save(tokenizers, tmp_path / "vocabulary")
    loaded = load(config, tmp_path / "vocabulary")
    assert list(loaded) == ["source", "target"]
    for side, tokenizer in tokenizers.items():
        assert loaded[side].fingerprint == tokenizer.fingerprint
        assert loaded[side].symbols == tokenizer.symbols
        for line in [*ENGLISH, *FRENCH, "Ünseen 字"]:
            assert loaded[side].encode(line) == tokenizer.encode(line)
    joint = isinstance(config, Byte) or (not isinstance(config, Word) and config.joint)
    for sides in (tokenizers, loaded):
        assert (sides["source"].serialise() == sides["target"].serialise()) == joint
    assert len(list((tmp_path / "vocabulary").iterdir())) == (2 if joint else 3)


def test_one_side_alone_is_called_by_its_name(tmp_path: Path) -> None:
    save(fit(Character(joint=True), ALONE), tmp_path)
    assert (tmp_path / "text").is_file()
    assert list(load(Character(joint=True), tmp_path)) == ["text"]


SPACED, UNSPACED = [*ENGLISH, "a\u2581b"], ["今天天气很好我喜欢", "他每天骑自行车去学校", "图书馆里有很多旧书"]


@pytest.mark.parametrize(
    ("config", "lines", "said"),
    [
        (Bpe(size=8000), ENGLISH, "text.size asks for 8,000 tokens, but the training text (text) holds only"),
        (Bpe(size=280, sample=3), ENGLISH, "The text vocabulary is learnt from 3 of 12 lines (text.sample)."),
        (Bpe(size=280), SPACED, "The training text (text) holds U+2581"),
        (Unigram(size=280), SPACED, "The training text (text) holds U+2581"),
        (Word(segmentation="moses"), UNSPACED, "The words of the training text (text) are as long as sentences"),
        (Word(segmentation="whitespace"), UNSPACED, "The words of the training text (text) are as long as sentences"),
    ],
)
def test_what_a_text_lacks_or_loses_is_said(config: AnyTokenizer, lines: list[str], said: str) -> None:
    events: list[Event] = []
    fit(config, {"text": lambda: iter(lines)}, events.append, languages={"text": "zh"})
    [note] = events
    assert isinstance(note, Note) and note.text.startswith(said)
    assert note.warning == (lines is not ENGLISH)
    if note.warning:
        fit(config, ALONE, events.append)
        assert events == [note]


def test_words_are_cut_by_the_rules_of_their_side(tmp_path: Path) -> None:
    tokenizers = fit(Word(), SIDES, languages={"source": "en", "target": "fr_CA"})
    save(tokenizers, tmp_path)
    for found in (tokenizers, load(Word(), tmp_path)):
        assert found["target"].pieces(found["target"].encode("L'homme")) == ["\u2581L'", "homme"]


def test_rows_are_cut_anew_only_where_that_is_asked_for() -> None:
    for config in CONFIGS:
        assert resegment_of(config, fit(config, SIDES)["source"]) is None
    for config in (Bpe(size=330, dropout=0.1), Unigram(size=300, alpha=0.1)):
        assert resegment_of(config, fit(config, SIDES)["source"]) is not None


@pytest.mark.parametrize(
    ("file", "before", "after", "sentence"),
    [
        ("vocabulary.json", b"(?<=.{40}).+", b"", r"/vocabulary\.json should list the vocabularies .* is damaged"),
        ("target", b".*", b"{}", r"/target is not the one that was saved \(sha256\)"),
        ("vocabulary.json", b'"target",', b'"../target",', r"but '\.\./target' is hidden or elsewhere"),
        ("vocabulary.json", b'"target",', b'".target",', r"beside its index, but '\.target' is hidden or elsewhere"),
        ("vocabulary.json", b'"size": 25', b'"size": 26', r"/target should have 26 tokens, but has 25"),
        ("vocabulary.json", None, b"", r"should be in .*, but vocabulary\.json is not there"),
        ("target", None, b"", r"/target is missing"),
    ],
)
def test_a_damaged_vocabulary_is_named(
    tmp_path: Path, file: str, before: bytes | None, after: bytes, sentence: str
) -> None:
    save(fit(Character(), SIDES), tmp_path)
    if before is None:
        (tmp_path / file).unlink()
    else:
        changed, times = re.subn(before, after, (tmp_path / file).read_bytes(), count=1, flags=re.DOTALL)
        assert times
        (tmp_path / file).write_bytes(changed)
    with pytest.raises(RunError, match=sentence):
        load(Character(), tmp_path)


def test_configurations_are_read_without_sentencepiece_or_torch() -> None:
    heavy = "{'sentencepiece', 'sacremoses', 'torch'}"
    program = f"import sys, anaphora.text.tokenization; print(sorted({heavy} & set(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


@pytest.mark.parametrize("config", [config.with_options({"lowercase": True}) for config in CONFIGS])
def test_every_side_is_lower_cased_as_its_language_does(tmp_path: Path, config: AnyTokenizer) -> None:
    lines = ["İSTANBUL IŞIK diş kapı", "istanbul ışık DIŞ KAPI dış ISTANBUL"] * 5
    sides = {"source": lambda: iter(lines), "target": lambda: iter([*ENGLISH, *lines])}
    tokenizers = fit(config, sides, languages={"source": "tr", "target": "en"})
    save(tokenizers, tmp_path)
    loaded = load(config, tmp_path)
    for source, target in ((tokenizers["source"], tokenizers["target"]), (loaded["source"], loaded["target"])):
        assert source.encode("İSTANBUL IŞIK") == source.encode("istanbul ışık") != source.encode("istanbul işik")
        assert target.encode("DIŞ ISTANBUL") == target.encode("diş istanbul")
        assert source.fingerprint != target.fingerprint
    assert loaded["source"].fingerprint == tokenizers["source"].fingerprint


def test_a_vocabulary_that_names_no_casing_keeps_that_of_unicode(tmp_path: Path) -> None:
    config = Character(lowercase=True)
    save(fit(config, ALONE, languages={"text": "tr"}), tmp_path)
    index = json.loads((tmp_path / "vocabulary.json").read_text())
    assert index["sides"]["text"].pop("casing") == "tr"
    (tmp_path / "vocabulary.json").write_text(json.dumps(index))
    tokenizer = load(config, tmp_path)["text"]
    assert tokenizer.encode("AI") == tokenizer.encode("ai")
