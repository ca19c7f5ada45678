"""Every recipe of a translator, from text to text: built, updated once on a small corpus, loaded, and asked."""

import random
from pathlib import Path

import pytest

import anaphora
from anaphora import recipes
from anaphora.errors import ConfigError
from anaphora.experiment.reading import read_experiment
from anaphora.tasks.base import StartConfig
from anaphora.tasks.translation.config import TranslationExperiment
from anaphora.tasks.translation.predictor import TranslationPredictor

SMALL = ["embedding.size=16", "training.epochs=1", "training.batch_tokens=4000", "evaluation.beam=2"]
WORDS = {"a": "ein", "small": "kleiner", "old": "alter", "man": "Mann", "dog": "Hund", "sleeps": "schläft", ".": "."}


READ = {name: read_experiment(recipes.read(name), name) for name in recipes.names()}
FROM_NOTHING = [name for name, one in READ.items() if one.task == "translate" and one.start.run == "none"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, draw = tmp_path_factory.mktemp("corpus"), random.Random(1)
    for part, count in ("train", 40), ("val", 4):
        lines = [draw.choices(list(WORDS), k=draw.randint(2, 9)) for _ in range(count)]
        (folder / f"{part}.en").write_text("".join(" ".join(line) + "\n" for line in lines))
        (folder / f"{part}.de").write_text("".join(" ".join(WORDS[word] for word in line) + "\n" for line in lines))
    return folder


@pytest.mark.matrix
@pytest.mark.parametrize("name", FROM_NOTHING)
def test_a_recipe_trains_on_a_small_corpus_and_translates(name: str, corpus: Path, tmp_path: Path) -> None:
    settings = [*SMALL, *sizes(name)]
    experiment = read_experiment(recipes.read(name), name, settings, data=[corpus], source="en", target="de")
    assert isinstance(experiment, TranslationExperiment)
    anaphora.train(experiment, tmp_path / "run")
    translator = anaphora.load(tmp_path / "run")
    assert isinstance(translator, TranslationPredictor)
    first, empty = translator.translate(["a small dog sleeps .", ""], attention=True)
    assert first.score < 0 and first.target_pieces
    assert empty.text == ""
    if getattr(experiment.text, "rare", "none") != "none":
        return  # given translations have no annotations, and are refused: tests/tasks/translation/test_word_links.py
    (again,) = translator.score_pairs(["a small dog sleeps ."], ["ein kleiner Hund schläft ."])
    assert again.score < 0
    if experiment.attention.kind == "none":
        with pytest.raises(ConfigError, match=r"this translator has none: use one with attention"):
            first.links()
    else:
        assert all(target < len(first.text.split()) for _, target in first.links())


def test_the_commands_of_gulcehre2015_lead_from_pairs_and_text_to_a_fused_translator(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def run(name: str, folder: str, settings: list[str], data: Path, start: StartConfig | None = None) -> None:
        experiment = read_experiment(recipes.read(name), name, settings, data=[data], start=start)
        anaphora.train(experiment, Path("runs") / folder)

    small = [*SMALL, *sizes("bahdanau2015"), "attention.size=16"]
    layers = ["embedding.size=12", "recurrence.size=12", "training.epochs=1"]
    taken = StartConfig(run="runs/bahdanau2015", vocabulary="only")
    run("bahdanau2015", "bahdanau2015", small, corpus)
    run("sentence-lm", "german", layers, corpus / "train.de", taken)
    run("gulcehre2015", "gulcehre2015", small, corpus)
    translator = anaphora.load("runs/gulcehre2015")
    assert isinstance(translator, TranslationPredictor)
    (found,) = translator.translate(["a small dog sleeps ."])
    assert translator.score_pairs(["a small dog sleeps ."], [found.text])[0].score < 0


def sizes(name: str) -> list[str]:
    """Small layers, as the recipe's own relations between them ask for."""
    experiment = READ[name]
    assert isinstance(experiment, TranslationExperiment)
    encoder, decoder = experiment.encoder, experiment.decoder
    small = [] if encoder.kind in ("convolution", "ngram-convolution") else ["encoder.size=16"]
    small.append(
        "decoder.size=16" if decoder.initial_state == "copy" or not decoder.readout_size else "decoder.size=24"
    )
    return small + (["decoder.readout_size=16"] if decoder.readout_size else [])
