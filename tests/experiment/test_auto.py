from pathlib import Path

import pytest

from anaphora import recipes
from anaphora.errors import ConfigError, DataError, MissingExtraError
from anaphora.events import Event, Note
from anaphora.experiment.auto import automatic
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.protocols import VocabularyInfo
from anaphora.tasks.language_model import TIERS as TEXT_TIERS
from anaphora.tasks.language_model.config import LanguageModelExperiment, RecurrentExperiment
from anaphora.tasks.translation import TIERS
from anaphora.tasks.translation.config import TranslationExperiment
from anaphora.text.tokenization import AnyTokenizer, Bpe, Byte, Character, Word
from tests.networks import build


def test_pairs_become_a_translator_and_that_is_said(toy_pairs: Path) -> None:
    said: list[Event] = []
    text = automatic([toy_pairs], "en", "fr", said.append)
    experiment = read_experiment(text, "auto.toml", data=[toy_pairs], source="en", target="fr")
    assert isinstance(experiment, TranslationExperiment)
    assert experiment.decoder.size == TIERS[0].decoder and experiment.training.epochs == TIERS[0].epochs
    (note,) = said
    assert isinstance(note, Note) and "for 12 pairs, a translator" in note.text


@pytest.mark.parametrize(
    ("every", "languages", "text", "expected"),
    [
        (50, ("en", "de"), None, 0.1),
        (150, ("en", "de"), None, 0.0),
        (50, ("en", "ja"), None, 0.0),
        (50, ("en", "de"), Byte(), 0.0),
    ],
)
def test_placeholders_are_learnt_where_one_of_a_hundred_pairs_has_some(
    tmp_path: Path, every: int, languages: tuple[str, str], text: AnyTokenizer | None, expected: float
) -> None:
    lines = (
        "Open %s\tÖffne %s\n" if number % every == 0 else f"Line {number}\tZeile {number}\n" for number in range(300)
    )
    (file := tmp_path / "pairs.tsv").write_text("".join(lines))
    source, target = languages
    content = automatic([file], source, target, text=text)
    experiment = read_experiment(content, "auto", data=[file], source=source, target=target)
    assert isinstance(experiment, TranslationExperiment)
    assert experiment.data.placeholders == expected


@pytest.mark.parametrize("folder", [False, True])
def test_running_text_becomes_a_language_model_and_that_is_said(toy_book: Path, folder: bool) -> None:
    if folder:
        toy_book.rename(toy_book.with_name("train.txt"))
    said: list[Event] = []
    data = [toy_book.parent if folder else toy_book]
    experiment = read_experiment(automatic(data, report=said.append), "auto.toml", data=data)
    assert isinstance(experiment, LanguageModelExperiment)
    assert experiment.recurrence.size == TEXT_TIERS[0].size
    (note,) = said
    assert isinstance(note, Note) and "a character language model" in note.text


def test_names_that_settings_give_are_those_of_the_data(toy_pairs: Path, toy_book: Path) -> None:
    for name in ("train.en", "train.fr"):
        (toy_pairs / name).rename(toy_pairs / name.replace("train", "taught"))
    text = automatic([toy_pairs], settings=["data.train=taught", "data.source=en", 'data.target="fr"'])
    assert 'task = "translate"' in text
    toy_book.rename(toy_book.with_name("chapters.txt"))
    assert 'task = "language-model"' in automatic([toy_book.parent], settings=["data.train=chapters"])


def said_of(data: Path, *settings: str) -> str:
    said: list[Event] = []
    automatic([data], *(("en", "fr") if data.is_dir() else ("", "")), said.append, settings=settings)
    (note,) = said
    assert isinstance(note, Note)
    return note.text.partition(", ")[2]


def test_what_is_said_is_what_settings_make_of_it(toy_pairs: Path, toy_book: Path) -> None:
    assert said_of(toy_pairs) == (
        "a translator with 1,000 subwords, word vectors of 96, encoder 2 x 96, decoder 128, dropout 0.3, 40 epochs."
    )
    settings = "decoder.size=512", "encoder.bidirectional=false", "encoder.dropout=0.1", "training.epochs=5"
    assert said_of(toy_pairs, 'text={tokenizer="character"}', *settings) == (
        "a translator with characters, word vectors of 96, encoder 96, decoder 512, dropout 0.3 and 0.1, 5 epochs."
    )
    assert "encoder" not in said_of(toy_pairs, "encoder=convolution", "training.epochs=many")
    assert said_of(toy_book) == "a character language model of 192 hidden units, 30 epochs."
    assert (
        said_of(toy_book, 'text={tokenizer="word"}', "recurrence.size=8")
        == "a word language model of 8 hidden units, 30 epochs."
    )


@pytest.mark.parametrize("text", [Word(), Bpe(joint=False), Character(), Bpe(), Byte()])
def test_vectors_are_shared_where_the_vocabulary_that_is_given_is(text: AnyTokenizer, toy_pairs: Path) -> None:
    said: list[Event] = []
    chosen = read_experiment(automatic([toy_pairs], "en", "fr", said.append, text=text), "auto.toml")
    assert isinstance(chosen, TranslationExperiment) and chosen.text == text
    assert chosen.embedding.shared == (text in (Bpe(), Byte()))
    (note,) = said
    assert isinstance(note, Note) and "a translator with the vocabulary of that run, word vectors" in note.text


@pytest.mark.parametrize("tokenizer", ["word", "character", "byte", "unigram", "bpe"])
def test_a_tokenizer_is_chosen_by_its_name_alone(tokenizer: str, toy_pairs: Path) -> None:
    settings, sides = [f"text.tokenizer={tokenizer}"], ("en", "fr")
    text = automatic([toy_pairs], *sides, settings=settings)
    experiment = read_experiment(text, "auto.toml", settings, data=[toy_pairs], source="en", target="fr")
    assert isinstance(experiment, TranslationExperiment)
    assert experiment.text.tokenizer == tokenizer
    assert experiment.embedding.shared == experiment.text.one_vocabulary


def test_what_was_chosen_can_be_changed_and_trained(toy_book: Path, tmp_path: Path) -> None:
    settings = ["training.epochs=1", "recurrence.size=8"]
    experiment = read_experiment(automatic([toy_book]), "auto.toml", settings, data=[toy_book])
    said: list[Event] = []
    assert train(experiment, tmp_path / "run", said.append).reason == "epochs"
    assert any(isinstance(event, Note) and event.text.startswith("A batch takes 4,000 tokens") for event in said)


@pytest.mark.parametrize("tier", TIERS)
def test_every_tier_is_a_network_that_can_be_built(
    tier: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"word {n}\tmot {n}\n" for n in range(30)))
    monkeypatch.setattr("anaphora.tasks.translation.TIERS", [tier])
    experiment = read_experiment(automatic([path]), "auto.toml")
    symbols = VocabularyInfo(50, 0, 1, 2, 3)
    build("translate", experiment.tables(), {"source": symbols, "target": symbols}, "auto.toml")


def test_the_loss_decides_where_bleu_cannot_be_taken(toy_pairs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*asked: object) -> None:
        raise MissingExtraError("sacreBLEU's tokeniser for 'ja'", "ja")

    monkeypatch.setattr("anaphora.tasks.translation.metric_of", missing)
    assert read_experiment(automatic([toy_pairs], "en", "fr"), "auto.toml").training.metric == "loss"


def test_what_no_tier_decides_is_as_in_the_recipe(toy_pairs: Path) -> None:
    chosen = read_experiment(automatic([toy_pairs], "en", "fr"), "auto.toml")
    recipe = read_experiment(recipes.read("multi30k-en-de"), "multi30k-en-de.toml")
    assert isinstance(chosen, TranslationExperiment) and isinstance(recipe, TranslationExperiment)
    rate = {"learning_rate": recipe.training.optimizer.learning_rate}
    assert chosen.training.optimizer.model_copy(update=rate) == recipe.training.optimizer
    assert chosen.training.schedule == recipe.training.schedule
    assert chosen.training.metric == recipe.training.metric == "bleu"
    schedule = chosen.training.schedule.build(chosen.training.optimizer.learning_rate, chosen.training.epochs)
    assert schedule.rate(0, 1) == TIERS[0].rate and schedule.rate(TIERS[0].epochs / 2, 1) > TIERS[0].rate / 2
    assert chosen.decoder.input_feeding == recipe.decoder.input_feeding
    assert chosen.encoder.layer_norm == recipe.encoder.layer_norm
    assert chosen.decoder.layer_norm == recipe.decoder.layer_norm
    assert (chosen.attention.score, chosen.output, chosen.decoder.cell) == (
        recipe.attention.score,
        recipe.output,
        recipe.decoder.cell,
    )


@pytest.mark.parametrize(("most", "tier"), [(11, 1), (12, 0)])
def test_pairs_take_the_first_tier_that_holds_the_training_part(
    most: int, tier: int, toy_pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anaphora.tasks.translation.TIERS", [TIERS[0]._replace(pairs=most), *TIERS[1:]])
    chosen = read_experiment(automatic([toy_pairs], "en", "fr"), "auto.toml")
    assert isinstance(chosen, TranslationExperiment)
    assert (chosen.decoder.size, chosen.training.epochs) == (TIERS[tier].decoder, TIERS[tier].epochs)


@pytest.mark.parametrize(("less", "tier"), [(1, 1), (0, 0)])
def test_a_text_takes_the_first_tier_that_holds_its_training_part(
    less: int, tier: int, toy_book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    characters = len(toy_book.read_text())
    toy_book.rename(toy_book.with_name("train.txt"))
    toy_book.with_name("valid.txt").write_text("a line of another book\n")
    smallest = TEXT_TIERS[0]._replace(characters=characters - less)
    monkeypatch.setattr("anaphora.tasks.language_model.TIERS", [smallest, *TEXT_TIERS[1:]])
    chosen = read_experiment(automatic([toy_book.parent]), "auto.toml")
    assert isinstance(chosen, RecurrentExperiment)
    assert (chosen.recurrence.size, chosen.training.epochs) == (TEXT_TIERS[tier].size, TEXT_TIERS[tier].epochs)
    symbols = VocabularyInfo(50, 0, 1, 2, 3)
    build("language-model", chosen.tables(), {"text": symbols}, "auto.toml")


def test_tiers_grow_with_the_data() -> None:
    assert [tier.decoder for tier in TIERS] == sorted(tier.decoder for tier in TIERS)
    assert [tier.vocabulary for tier in TIERS] == sorted(tier.vocabulary for tier in TIERS)
    assert [tier.pairs for tier in TIERS] == sorted({tier.pairs for tier in TIERS})
    assert [tier.characters for tier in TEXT_TIERS] == sorted({tier.characters for tier in TEXT_TIERS})


def test_no_data_and_missing_data_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Without a recipe, --data"):
        automatic([])
    with pytest.raises(DataError, match="missing"):
        automatic([tmp_path / "missing"])
