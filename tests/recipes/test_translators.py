"""Every recipe of a translator, from text to text: built, updated once on a small corpus, loaded, and asked."""

import random
from pathlib import Path

import pytest

import anaphora
from anaphora import recipes
from anaphora.errors import ConfigError
from anaphora.experiment.schema import TranslationExperiment, read_experiment
from anaphora.pipeline import Translator

SMALL = [
    "embedding.size=16",
    "training.epochs=1",
    "training.batch_tokens=4000",
    "evaluation.beam=2",
]
WORDS = {"a": "ein", "small": "kleiner", "old": "alter", "man": "Mann", "dog": "Hund", "sleeps": "schläft", ".": "."}


def translators() -> list[str]:
    names = recipes.names()
    return [name for name in names if read_experiment(recipes.read(name), name).task == "translate"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, draw = tmp_path_factory.mktemp("corpus"), random.Random(1)
    for part, count in ("train", 40), ("val", 4):
        lines = [draw.choices(list(WORDS), k=draw.randint(2, 9)) for _ in range(count)]
        (folder / f"{part}.en").write_text("".join(" ".join(line) + "\n" for line in lines))
        (folder / f"{part}.de").write_text("".join(" ".join(WORDS[word] for word in line) + "\n" for line in lines))
    return folder


@pytest.mark.parametrize("name", translators())
def test_a_recipe_trains_on_a_small_corpus_and_translates(name: str, corpus: Path, tmp_path: Path) -> None:
    settings = [*SMALL, *sizes(name)]
    experiment = read_experiment(recipes.read(name), name, settings, data=[corpus], source="en", target="de")
    assert isinstance(experiment, TranslationExperiment)
    anaphora.train(experiment, tmp_path / "run")
    translator = anaphora.load(tmp_path / "run")
    assert isinstance(translator, Translator)
    first, empty = translator.translate(["a small dog sleeps .", ""])
    assert first.score < 0 and first.target_pieces
    assert empty.text == ""
    if getattr(experiment.text, "rare", "none") != "none":
        return  # given translations have no annotations, and are refused: tests/experiment/test_rare.py
    (again,) = translator.score_pairs(["a small dog sleeps ."], ["ein kleiner Hund schläft ."])
    assert again.score < 0
    if experiment.attention.kind == "none":
        with pytest.raises(ConfigError, match=r"this one has no attention: .* go without links"):
            first.links()
    else:
        assert all(target < len(first.text.split()) for _, target in first.links())


def sizes(name: str) -> list[str]:
    """Small layers, as the recipe's own relations between them ask for."""
    experiment = read_experiment(recipes.read(name), name)
    assert isinstance(experiment, TranslationExperiment)
    encoder, decoder = experiment.encoder, experiment.decoder
    small = [] if encoder.kind in ("convolution", "ngram-convolution") else ["encoder.size=16"]
    small.append("decoder.size=16" if decoder.start == "copy" or not decoder.readout else "decoder.size=24")
    return small + (["decoder.readout=16"] if decoder.readout else [])
