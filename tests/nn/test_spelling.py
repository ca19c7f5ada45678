"""Word vectors from characters: what they depend on, and what they are refused for."""

from typing import Any

import pytest
import torch

from anaphora.errors import ConfigError
from anaphora.models.language_model import LanguageModel, LanguageModelConfig
from anaphora.nn.randomness import generator
from anaphora.nn.spelling import CharactersConfig, Spelling
from anaphora.nn.weights import Orthogonal
from anaphora.protocols import VocabularyInfo
from tests.networks import build, made

WORDS = ["the", "cat", "cats", "catalogue", "t", "act"]
SYMBOLS = VocabularyInfo(4 + len(WORDS), 0, 1, 2, 3)
SMALL = {"kind": "character-cnn", "character_size": 5, "max_kernel": 3, "filters": 12, "max_filters": 16}


def spelling(words: list[str] = WORDS, **options: Any) -> Spelling:
    found = Spelling(CharactersConfig.parse(SMALL | options, "test"), words, 4, "text")
    found.initialise(Orthogonal(), generator(1, "initialise"))
    return found.eval()


def test_filters_grow_with_their_width_up_to_a_bound() -> None:
    small = CharactersConfig()
    assert (small.sizes, small.size) == ([25, 50, 75, 100, 125, 150], 525)
    large = CharactersConfig(max_kernel=7, filters=50)
    assert (large.sizes[-2:], large.size) == ([200, 200], 1100)


def test_a_vector_depends_on_the_characters_of_its_word_alone() -> None:
    with torch.no_grad():
        vectors = spelling().vectors(torch.tensor([[4, 5, 6, 9], [9, 5, 0, 1]]))
        again = spelling(["cat", "the", "catalogue", "cats", "t", "act"]).vectors(torch.tensor([4]))
    assert vectors.shape == (2, 4, 44)
    assert torch.equal(vectors[0, 1], vectors[1, 1]) and torch.equal(vectors[0, 3], vectors[1, 0])
    assert len(vectors.flatten(0, 1).unique(dim=0)) == 6
    assert torch.equal(again, vectors[0, 1:2])


def test_marks_have_vectors_of_their_own_and_no_word_is_taken_for_one() -> None:
    own = spelling(["<unk>x", "</s>x"]).vectors(torch.arange(6))
    assert len(own.unique(dim=0)) == 6


def test_of_an_endless_word_the_first_characters_are_read() -> None:
    short = spelling(max_length=3)
    vectors = short.vectors(torch.arange(10))
    assert torch.equal(vectors[5], vectors[6]) and torch.equal(vectors[5], vectors[7])  # cat, cats, catalogue
    assert not torch.equal(vectors[5], vectors[4])
    assert short.characters_VL.shape == (10, 5) and short.lengths_V.tolist()[4:] == [5, 5, 5, 5, 3, 5]
    assert spelling(max_length=9).characters_VL.equal(spelling().characters_VL)  # the longest word has nine
    assert short.weights.tensors()["characters.weight"].shape == spelling().weights.tensors()["characters.weight"].shape


def test_no_checkpoint_keeps_what_the_vocabulary_says() -> None:
    assert {name.split(".")[0] for name in spelling().state_dict()} == {"weights"}


def test_highways_begin_almost_closed() -> None:
    ids = torch.arange(10)
    opened = spelling(highways=2)
    assert set(opened.weights.tensors()["transform1.bias"].tolist()) == {-2.0}
    through = opened.vectors(ids)
    with torch.no_grad():
        for layer in range(2):
            opened.weights.tensors()[f"transform{layer}.bias"] -= 100
    assert torch.nn.functional.cosine_similarity(through, opened.vectors(ids)).min() > 0.9


def model(words: list[str] = WORDS, **tables: Any) -> LanguageModel:
    config = {"embedding": SMALL, "recurrence": {"size": 8}} | tables
    return made(LanguageModel, "language-model", config, SYMBOLS, words={"text": words})


def test_the_outputs_of_composed_words_are_not_tied() -> None:
    with pytest.raises(ConfigError, match=r"output\.tied = true does not go with embedding\.kind"):
        model(output={"tied": True})


def test_units_that_are_no_words_are_not_spelt() -> None:
    with pytest.raises(ConfigError, match=r"needs text\.tokenizer = 'word': set it"):
        build("language-model", {"embedding": "character-cnn"}, {"text": SYMBOLS}, "test.toml")


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ({"kind": "character"}, r"embedding 'character' is unknown.*Did you mean 'character-cnn'"),
        (SMALL | {"size": 100}, r'embedding\.size is for embedding\.kind = "table", but that is "character-cnn"'),
        (SMALL | {"max_kernel": 100}, r"max_kernel = 100 is wider than a word, .* \(embedding\.max_length = 64\)"),
        ({"filters": 9}, r'embedding\.filters is for embedding\.kind = "character-cnn", but that is "table"'),
    ],
)
def test_what_is_no_embedding_is_refused_in_a_sentence(table: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        LanguageModelConfig.parse({"embedding": table}, "test.toml")


def test_a_table_needs_no_name() -> None:
    config = LanguageModelConfig.parse({"embedding": {"size": 9}}, "test.toml")
    assert config == LanguageModelConfig.parse(config.model_dump(), "test.toml")
    assert LanguageModelConfig.parse({"embedding": "table"}, "test.toml") == LanguageModelConfig()
