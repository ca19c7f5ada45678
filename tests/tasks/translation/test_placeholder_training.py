"""Training pairs with placeholders."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import anaphora
from anaphora.data.corpora import Pair
from anaphora.events import silent
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.formats.lines import write_lines
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.training import TranslationJob
from anaphora.tasks.translation.word_links import common_placeholders
from anaphora.text.placeholders import RESERVED
from anaphora.text.tokenizer import UNK

from ...conftest import NETWORK

FIRST = [a + b + c for a in "bdgkmp" for b in "aiou" for c in "lnr"]
TEXT = f"""
task = "translate"
[text]
tokenizer = "bpe"
size = 400
{NETWORK}[training]
batch_tokens = 400
epochs = 1
"""


def other(word: str) -> str:
    """The translation of a word."""
    return word[::-1].upper()


def pairs(count: int, seed: int) -> list[Pair]:
    """Sentences of invented words, frequent ones among them, and their translations, last word first."""
    draw = random.Random(seed)
    lines = [draw.choices(FIRST[:7], k=3) + draw.sample(FIRST[7:], 4) for _ in range(count)]
    for line in lines:
        draw.shuffle(line)
    return [(" ".join(line), " ".join(map(other, reversed(line)))) for line in lines]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("placed")
    for name, found in (("train", pairs(400, 1)), ("val", pairs(20, 2))):
        for side, place in (("en", 0), ("fr", 1)):
            write_lines(folder / f"{name}.{side}", (pair[place] for pair in found))
    return folder


def experiment(folder: Path, fraction: float, *settings: str) -> ExperimentBase:
    asked = [f"data.placeholders={fraction}", *settings]
    return read_experiment(TEXT, "test.toml", asked, data=[folder], target="fr")


def learnt_from(folder: Path, fraction: float, *settings: str) -> Sequence[Pair]:
    job = TranslationJob(experiment(folder, fraction, *settings), silent)  # type: ignore[arg-type]
    assert job.learnt_from.count == 400
    return list(job.learnt_from)


def reserved(text: str) -> list[str]:
    return [word for word in text.split() if word in RESERVED]


def test_a_word_and_its_translation_become_the_same_reserved_word_and_all_else_stays(folder: Path) -> None:
    plain, placed = pairs(400, 1), learnt_from(folder, 0.5)
    for (source, target), (ours, theirs) in zip(plain, placed, strict=True):
        named = {name: word for name, word in zip(ours.split(), source.split(), strict=True) if name in RESERVED}
        assert sorted(named) == sorted(reserved(ours)) == sorted(reserved(theirs))
        assert " ".join(named.get(word, word) for word in ours.split()) == source
        assert " ".join(other(named[word]) if word in named else word for word in theirs.split()) == target
        assert not set(named.values()) & set(FIRST[:4])  # those are too frequent
    changed = sum(one != two for one, two in zip(plain, placed, strict=True))
    assert 150 < changed < 250 and {1, 2} == {len(reserved(ours)) for ours, _ in placed} - {0}


def test_what_is_placed_is_a_function_of_seed_and_fraction(folder: Path) -> None:
    first = learnt_from(folder, 0.3)
    assert first == learnt_from(folder, 0.3) != learnt_from(folder, 0.3, "training.seed=2")
    assert learnt_from(folder, 0.0) == pairs(400, 1)


KEPT = ["{name}", "%s", "https://example.org/a?b", "me@example.org", "[X3X]", "${v}"]


@given(st.lists(st.sampled_from([*KEPT, "word", "<b>", "15"]), max_size=9), st.randoms())
def test_placeholders_are_common_placeholders_sides_where_each_has_the_same_and_each_once(
    words: list[str], draw: random.Random
) -> None:
    other = draw.sample(words, len(words))
    source, target = " ".join(words), " ".join(other)
    found = [(source[i:j], target[k:n]) for (i, j), (k, n) in common_placeholders((source, target))]
    kept = [word for word in words if word in KEPT]
    assert found == ([(one, one) for one in kept] if len({*kept}) == len(kept) else [])
    if kept:
        assert not common_placeholders((source, target.replace(kept[0], "")))


@pytest.mark.parametrize("text", ['{tokenizer="bpe",size=400}', '{tokenizer="word"}', '{tokenizer="character"}'])
def test_reserved_words_are_tokens_of_either_side_and_placeholders_are_replaced_by_them(
    folder: Path, tmp_path: Path, text: str
) -> None:
    texts = enumerate(pairs(60, 3))
    lines = [(f"{source} {{n{place}}}", f"{{n{place}}} {target}") for place, (source, target) in texts]
    for side, place in (("en", 0), ("fr", 1)):
        write_lines(tmp_path / f"train.{side}", (pair[place] for pair in lines))
        write_lines(tmp_path / f"val.{side}", (pair[place] for pair in pairs(20, 2)))
    job = TranslationJob(experiment(tmp_path, 0.1, f"text={text}"), silent)  # type: ignore[arg-type]
    assert all("{" not in source + target for source, target in job.learnt_from)
    tokenizers = job.learn_vocabulary(silent)
    tokens = {(*tokenizer.encode(word),) for tokenizer in tokenizers.values() for word in RESERVED}
    assert all(len(ids) == 1 and ids != (UNK,) for ids in tokens)
    untrained: Any = None  # no model is asked which words it copies
    translator = TranslationPredictor(untrained, tokenizers["source"], tokenizers["target"])
    assert [one.word for one in translator.stand_ins] == [*RESERVED]


@pytest.mark.slow
def test_a_translator_of_a_reversed_language_puts_placeholders_where_their_words_would_be(
    folder: Path, tmp_path: Path
) -> None:
    settings = ["training.epochs=40", "training.optimizer.learning_rate=0.01", "encoder.size=48", "decoder.size=48"]
    train(experiment(folder, 0.3, *settings), tmp_path / "run", silent)
    torch.manual_seed(0)
    translator = anaphora.load(tmp_path / "run")
    assert isinstance(translator, TranslationPredictor)
    draw, right = random.Random(4), 0
    for source, _ in pairs(20, 2):
        words = source.split()
        place = draw.randrange(len(words))
        words[place] = "{name}"
        found = translator.translate([" ".join(words)])[0].text.split()
        right += found.index("{name}") == len(words) - 1 - place
    assert right >= 18
