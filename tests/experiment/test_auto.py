from operator import attrgetter
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from anaphora import recipes
from anaphora.errors import ConfigError, DataError, MissingExtraError
from anaphora.events import Event, Note
from anaphora.experiment.auto import automatic
from anaphora.experiment.reading import read_experiment
from anaphora.protocols import VocabularyInfo
from anaphora.tasks.language_model.config import LanguageModelExperiment
from anaphora.tasks.language_model.task import TIERS as TEXT_TIERS
from anaphora.tasks.sizing import MIN_UPDATES
from anaphora.tasks.translation.task import TIERS
from anaphora.text.tokenization import AnyTokenizer, Bpe, Byte, Word
from tests.networks import build

from .runs import texts


def chosen(data: Path, *settings: str, text: AnyTokenizer | None = None) -> tuple[Any, str]:
    """The experiment that is chosen for data, and what is said of it."""
    said: list[Event] = []
    sides = ("en", "fr") if data.is_dir() and (data / "val.en").exists() else ("", "")
    content = automatic([data], *sides, said.append, settings=settings, text=text)
    (note,) = said
    assert isinstance(note, Note)
    source, target = sides
    return read_experiment(content, "auto.toml", settings, data=[data], source=source, target=target), note.text


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
    experiment: Any = read_experiment(automatic([file], source, target, text=text), "auto", data=[file])
    assert experiment.data.placeholders == expected


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("the house of Ana {}", "xacpa Ana {}", True),
        ("the house {}", "xacpa {}", True),
        ("das Haus der Stadt {}", "the house of the city {}", False),
        ("the house of Ana {}", "\u0434\u043e\u043c \u0410\u043d\u044b {}", False),
    ],
)
def test_names_are_copied_in_small_data_of_one_script(tmp_path: Path, source: str, target: str, expected: bool) -> None:
    (file := tmp_path / "pairs.tsv").write_text(
        "".join(
            f"{source if n % 10 == 0 or 'Haus' in source else 'it is small {}'}\t{target}\n".format(n, n)
            for n in range(300)
        )
    )
    experiment: Any = read_experiment(automatic([file], "es", "qu"), "auto", data=[file])
    assert experiment.evaluation.protect == (("numbers", "names") if expected else ())


@pytest.mark.parametrize("folder", [False, True])
def test_running_text_becomes_a_language_model_and_that_is_said(toy_book: Path, folder: bool) -> None:
    if folder:
        toy_book = toy_book.rename(toy_book.with_name("train.txt")).parent
    experiment, said = chosen(toy_book)
    assert isinstance(experiment, LanguageModelExperiment)
    assert experiment.recurrence.size == TEXT_TIERS[0].size
    assert "a character language model" in said


def test_names_that_settings_give_are_those_of_the_data(toy_pairs: Path, toy_book: Path) -> None:
    for name in ("train.en", "train.fr"):
        (toy_pairs / name).rename(toy_pairs / name.replace("train", "taught"))
    text = automatic([toy_pairs], settings=["data.train=taught", "data.source=en", 'data.target="fr"'])
    assert 'task = "translate"' in text
    toy_book.rename(toy_book.with_name("chapters.txt"))
    assert 'task = "language-model"' in automatic([toy_book.parent], settings=["data.train=chapters"])


def test_what_is_said_is_what_settings_make_of_it(toy_pairs: Path, toy_book: Path) -> None:
    def said(data: Path, *settings: str) -> str:
        return chosen(data, *settings)[1].partition(", ")[2]

    assert said(toy_pairs) == (
        "a translator with 1,000 subwords, word vectors of 96, encoder 2 x 96, decoder 128, dropout 0.3, numbers and "
        "names copied, 80 epochs."
    )
    settings = "decoder.size=512", "encoder.bidirectional=false", "encoder.dropout=0.1", "training.epochs=5"
    assert said(toy_pairs, 'text={tokenizer="character"}', *settings) == (
        "a translator with characters, word vectors of 96, encoder 96, decoder 512, dropout 0.3 and 0.1, numbers and "
        "names copied, 5 epochs."
    )
    assert said(toy_book) == "a character language model of 192 hidden units, 30 epochs."
    of_words = said(toy_book, 'text={tokenizer="word"}', "recurrence.size=8")
    assert of_words == "a word language model of 8 hidden units, 30 epochs."
    events: list[Event] = []  # settings that are refused later are not described
    automatic([toy_pairs], "en", "fr", events.append, settings=["encoder=convolution", "training.epochs=many"])
    assert "encoder" not in str(events)


@pytest.mark.parametrize("text", [Word(), Bpe(joint=False), Bpe(), Byte()])
def test_vectors_are_shared_where_the_vocabulary_that_is_given_is(text: AnyTokenizer, toy_pairs: Path) -> None:
    experiment, said = chosen(toy_pairs, text=text)
    assert experiment.text == text
    assert experiment.embedding.shared == (text in (Bpe(), Byte()))
    assert "a translator with the vocabulary of that run, word vectors" in said


@pytest.mark.parametrize("tokenizer", ["word", "byte", "unigram"])
def test_a_tokenizer_is_chosen_by_its_name_alone(tokenizer: str, toy_pairs: Path) -> None:
    experiment, _ = chosen(toy_pairs, f"text.tokenizer={tokenizer}")
    assert experiment.text.tokenizer == tokenizer
    assert experiment.embedding.shared == experiment.text.one_vocabulary


def test_what_was_chosen_can_be_changed_and_trained(toy_book: Path, tmp_path: Path) -> None:
    experiment, _ = chosen(toy_book, "training.epochs=1", "recurrence.size=8", "training.batch_tokens=0")
    assert any(text.startswith("A batch takes 4,000 tokens") for text in texts(experiment, tmp_path / "run"))


@pytest.mark.parametrize(("characters", "batch"), [(1_000, 400), (300_000, 1_500), (3_000_000, 0)])
def test_little_text_is_learnt_in_small_batches(characters: int, batch: int, tmp_path: Path) -> None:
    (book := tmp_path / "book.txt").write_text("a line of ten words or fewer\n" * (characters // 29))
    assert chosen(book)[0].training.batch_tokens == pytest.approx(batch, rel=0.1)


def test_few_texts_are_read_again_until_there_are_enough_updates(tmp_path: Path) -> None:
    (data := tmp_path / "texts.tsv").write_text("label\ttext\n" + "good\ta fine day\nbad\ta grey night\n" * 40)
    training = read_experiment(automatic([data], task="classify"), "auto", data=[data]).training
    assert training.epochs * 80 * 3 / training.batch_tokens >= 0.8 * MIN_UPDATES


@pytest.mark.parametrize(("letters", "tokenizer"), [(True, "bpe"), (False, "word")])
def test_texts_that_letters_tell_apart_are_read_in_subwords(letters: bool, tokenizer: str, tmp_path: Path) -> None:
    lines = ["label\ttext"]
    for number in range(200):
        word = f"{number:08b}".translate({48: "on", 49: "ka"})  # a new word each time
        lines += [f"x\t{word}ili good", f"y\t{word}oro {'good' if letters else 'bad'}"]
    if not letters:
        lines = [line.replace("ili", "").replace("oro", "") for line in lines]
    (data := tmp_path / "texts.tsv").write_text("\n".join(lines) + "\n")
    assert read_experiment(automatic([data], task="classify"), "auto", data=[data]).text.tokenizer == tokenizer


@pytest.mark.parametrize("tier", TIERS)
def test_a_network_of_every_tier_can_be_built(tier: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"word {n}\tmot {n}\n" for n in range(30)))
    monkeypatch.setattr("anaphora.tasks.translation.task.TIERS", [tier])
    experiment = read_experiment(automatic([path]), "auto.toml")
    symbols = VocabularyInfo(50, 0, 1, 2, 3)
    build("translate", experiment.tables(), {"source": symbols, "target": symbols}, "auto.toml")


def test_the_loss_decides_where_bleu_cannot_be_taken(toy_pairs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = MissingExtraError("sacreBLEU's tokeniser for 'ja'", "ja")
    monkeypatch.setattr("anaphora.tasks.translation.task.metric_of", Mock(side_effect=missing))
    assert chosen(toy_pairs)[0].training.metric == "loss"


def test_what_no_tier_decides_is_as_in_the_recipe(toy_pairs: Path) -> None:
    own, _ = chosen(toy_pairs)
    recipe: Any = read_experiment(recipes.read("multi30k-en-de"), "multi30k-en-de.toml")
    rate = {"learning_rate": recipe.training.optimizer.learning_rate}
    assert own.training.optimizer.model_copy(update=rate) == recipe.training.optimizer
    schedule = own.training.schedule.build(own.training.optimizer.learning_rate, own.training.epochs)
    assert schedule.rate(0, 1) == TIERS[0].rate and schedule.rate(TIERS[0].epochs / 2, 1) > TIERS[0].rate / 2
    assert recipe.training.metric == "bleu"
    for option in ("training.schedule", "training.metric", "decoder.input_feeding", "encoder.layer_norm",
                   "decoder.layer_norm", "attention.score", "output.tied", "output.label_smoothing",
                   "decoder.cell"):  # fmt: skip
        assert attrgetter(option)(own) == attrgetter(option)(recipe), option


@pytest.mark.parametrize(("most", "tier"), [(11, 1), (12, 0)])
def test_pairs_choose_the_fitting_tier(most: int, tier: int, toy_pairs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anaphora.tasks.translation.task.TIERS", [TIERS[0]._replace(pairs=most), *TIERS[1:]])
    experiment, _ = chosen(toy_pairs)
    assert (experiment.decoder.size, experiment.training.epochs) == (TIERS[tier].decoder, TIERS[tier].epochs)


@pytest.mark.parametrize(("less", "tier"), [(1, 1), (0, 0)])
def test_a_text_chooses_the_fitting_tier(less: int, tier: int, toy_book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    characters = len(toy_book.read_text())
    toy_book.rename(toy_book.with_name("train.txt"))
    toy_book.with_name("valid.txt").write_text("a line of another book\n")
    smallest = TEXT_TIERS[0]._replace(amount=characters - less)
    monkeypatch.setattr("anaphora.tasks.language_model.task.TIERS", [smallest, *TEXT_TIERS[1:]])
    experiment, _ = chosen(toy_book.parent)
    expected = TEXT_TIERS[tier]
    assert (experiment.recurrence.size, experiment.training.epochs) == (expected.size, expected.epochs)
    build("language-model", experiment.tables(), {"text": VocabularyInfo(50, 0, 1, 2, 3)}, "auto.toml")


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("kind", "none", "without an encoder"),
        ("kind", "cnn", "with a cnn encoder"),
        ("bidirectional", False, "of one direction of 50 hidden units"),
    ],
)
def test_another_kind_drops_what_the_first_was_given(tmp_path: Path, option: str, value: object, said: str) -> None:
    (file := tmp_path / "texts.tsv").write_text("".join(f"{'ab'[n % 2]}\ttext {n}\n" for n in range(40)))
    setting = f"encoder.{option}={str(value).lower()}"
    notes: list[Event] = []
    content = automatic([file], report=notes.append, settings=[setting], task="classify")
    experiment: Any = read_experiment(content, "it", [setting], data=[file])
    assert getattr(experiment.encoder, option) == value
    assert said in str(notes[0])


def test_texts_in_another_encoding_are_read_in_it(tmp_path: Path) -> None:
    rows = "".join(f"{'ab'[n % 2]}\télève {n}\n" for n in range(40))
    (file := tmp_path / "texts.tsv").write_bytes(rows.encode("iso-8859-1"))
    with pytest.raises(DataError, match="should be UTF-8"):
        automatic([file], task="classify")
    with pytest.raises(ConfigError, match="encoding"):
        automatic([file], settings=["data.encoding=latin-7"], task="classify")
    content = automatic([file], settings=["data.encoding=iso-8859-1"], task="classify")
    assert read_experiment(content, "it", ["data.encoding=iso-8859-1"], data=[file]).task == "classify"
