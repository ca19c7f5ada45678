import re
from pathlib import Path
from typing import get_args

import pytest

from anaphora.config import options_of
from anaphora.errors import ConfigError
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.settings import sentence_under
from anaphora.kernels.cells import Lstm
from anaphora.models.translator import GivenGuide
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.language_model.config import LanguageModelExperiment, NgramExperiment
from anaphora.tasks.registry import parse
from anaphora.tasks.translation.config import TranslationExperiment
from anaphora.text.tokenization import Bpe
from anaphora.training.rules import Momentum
from tests.experiment.test_conflicts import TABLES

TRANSLATE = 'task = "translate"\n'
LANGUAGE_MODEL = 'task = "language-model"\n'
KNOWN = '"translate" or "classify" or "tag" or "describe" or "trace" or "transduce"'


def complaint(text: str, *settings: str) -> str:
    with pytest.raises(ConfigError) as caught:
        read_experiment(text, "mine.toml", settings)
    return str(caught.value)


@pytest.mark.parametrize(
    "experiment",
    [
        read_experiment(TRANSLATE + '[text]\nunits = "character"\n[decoder]\ncell = "gru"\n', "x", ["training.seed=9"]),
        read_experiment(TRANSLATE + 'attention = "gaussian-window"\n', "x", ["decoder.cell=gru"]),
        read_experiment(TRANSLATE, "x", ["attention.window.kind=local-p", "attention.score=hybrid"]),
        read_experiment(LANGUAGE_MODEL, "x", ["training.optimizer.learning_rate=1e-7", "initialise=uniform"]),
    ],
)
def test_an_experiment_survives_being_written_and_read(experiment: ExperimentBase) -> None:
    assert read_experiment(experiment.to_toml(), "x") == experiment
    assert parse(experiment.tables(), "x") == experiment
    for key in ("epochs = ", "learning_rate = "):
        assert re.search(rf"^{key}", experiment.to_toml(), re.MULTILINE), key  # defaults are written out
    if experiment.task == "language-model":
        with pytest.raises(ConfigError, match="no task of two languages, as --source and --target are for"):
            read_experiment(experiment.to_toml(), "mine.toml", source="en")


def test_the_task_decides_which_tables_there_are() -> None:
    assert isinstance(read_experiment(TRANSLATE + "[encoder]\n", "x"), TranslationExperiment)
    assert isinstance(read_experiment(LANGUAGE_MODEL + "[recurrence]\n", "x"), LanguageModelExperiment)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "task is missing. Known: align, "),
        ("task = 3", "task is missing. Known: align, "),
        ('task = "translat"', "task 'translat' is unknown. Did you mean 'translate'? Known: align, "),
        (TRANSLATE + "[training]\nepoch = 3", "training.epoch is not an option. Did you mean 'epochs'?"),
        (TRANSLATE + '[attention]\nspan = "globl"', "attention.window 'globl' is unknown. Did you mean 'global'?"),
        (
            TRANSLATE + '[attention]\nspan = {kind = "local-p", window = 101}',
            "attention.window.radius = 101 is larger than any sentence (data.max_length = 100)",
        ),
        (
            TRANSLATE + '[data]\ntarget = "zh_Hans"\n[evaluation]\nconditions = "moses-lowercase"',
            'evaluation.conditions = "moses-lowercase" does not go with data.target = "zh_Hans"',
        ),
        (TRANSLATE + '[data]\nvalid = "train"', 'data.train and data.valid are both "train"'),
        (
            TRANSLATE + '[start]\nvocabulary = "extend"',
            'start.vocabulary = "extend" does not go with start.run = "none": name a run, or leave it out.',
        ),
        (TRANSLATE + '[data]\ntest = "tr"', 'data.test = "tr" stands for every name that begins so'),
        (TRANSLATE + '[data]\ntest = ""', 'data.test = "" cannot be used here: every name begins so'),
        (
            LANGUAGE_MODEL + '[model]\nkind = "ngram"',
            "model '{'kind': 'ngram'}' is unknown. Known: feed-forward, interpolation, ngram, recurrent.",
        ),
        (TRANSLATE + "format = 3", "format should be from 1 to 2, but is 3"),
        (TRANSLATE + '[training]\nmetric = "blue"', "training.metric 'blue' is unknown. Did you mean 'bleu'?"),
        (LANGUAGE_MODEL + "[encoder]\n", f'encoder is for task = {KNOWN}, but that is "language-model"'),
        (
            LANGUAGE_MODEL + 'model = "ngram"\n[embedding]\nsize = 3\n',  # before one of another task
            'embedding is for model = "recurrent" or "feed-forward", but that is "ngram": leave it out, or set model =',
        ),
        (
            TRANSLATE + '[output]\nproposal = "unigram"\n',
            'output.proposal is for output.kind = "sampled", but that is "full": leave it out, or set ',
        ),
        (
            TRANSLATE + "[recurrence]\nsize = 3\n",
            'recurrence is for task = "language-model" or "trace", but that is "translate": leave it out, or set ',
        ),
        (
            TRANSLATE + '[attention]\nkind = "none"\nspan = "local-p"\n',
            'attention.window is for attention.kind = "soft", but that is "none": leave it out, or set ',
        ),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(text: str, said: str) -> None:
    assert complaint(text).startswith(f"mine.toml: {said}")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        *(
            (["data.windows=random", f"training.reduction={one}"], 'set training.reduction = "mean_per_token"')
            for one in ("sum", "sum_per_sentence")
        ),
        (["recurrence.temporal_activation_regularization=1", "data.steps=1"], "the text is cut between any two"),
        *(
            ([f"text.tokenizer={tokens}", f"text.{option}=0.1"], f"text.{option} segments the sentences of translators")
            for tokens, option in (("bpe", "dropout"), ("unigram", "alpha"))
        ),
    ],
)
def test_options_of_language_models_that_do_not_go_together_are_refused(settings: list[str], said: str) -> None:
    assert said in complaint(LANGUAGE_MODEL, *settings)
    if settings[0].startswith("text"):
        read_experiment(TRANSLATE, "x", settings)  # translators segment their text anew
    if "data.steps=1" in settings:
        read_experiment(LANGUAGE_MODEL, "x", [settings[0], "data.steps=2"])


def test_what_going_on_needs_again_is_kept_by_its_whole_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    text = TRANSLATE + '[data]\nfiles = ["mine", "~/more"]\n[guide]\nkind = "file"\nfile = "train.links"\n'
    experiment = read_experiment(text, "x")
    assert isinstance(experiment, TranslationExperiment) and isinstance(experiment.guided_alignment, GivenGuide)
    assert experiment.data.files == (str(tmp_path / "mine"), str(tmp_path / "home" / "more"))
    assert experiment.guided_alignment.file == str(tmp_path / "train.links")


def test_own_data_takes_the_place_of_the_recipes_corpus_and_part_names() -> None:
    recipe = TRANSLATE + '[data]\ncorpus = "multi30k"\ntest = "test_2016_flickr"\nsource = "en"\ntarget = "de"\n'
    experiment = read_experiment(recipe, "x", ["data.max_length=7"], data=[Path("mine"), Path("more.tsv")], target="cs")
    assert isinstance(experiment, TranslationExperiment)
    assert (experiment.data.corpus, experiment.data.test, experiment.data.max_length) == ("none", "test", 7)
    assert (experiment.data.source, experiment.data.target) == ("en", "cs")
    assert experiment.data.files == (str(Path("mine").absolute()), str(Path("more.tsv").absolute()))


def test_every_option_has_a_sentence() -> None:
    assert {TranslationExperiment, NgramExperiment, Momentum, Bpe, Lstm} <= {*TABLES}
    assert [
        f"{config.__name__}.{key}"
        for config in TABLES
        for key, field in options_of(config).items()
        if not sentence_under(config, key) and len(get_args(field.annotation)) != 1  # what names a kind needs none
    ] == []


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            ["text.tokenizer=character"],
            r"It stands in mine.toml, .* give the whole table, as in --set .text={tokenizer=..}.",
        ),
        (["model=recurrent"], "take a recipe with another model"),
        (["text.size=3", "text.tokenizer=character"], r'text\.tokenizer = "bpe" or "unigram" or "word"\.$'),
        (["text.tokenizr=word"], r"Did you mean 'tokenizer'\?$"),
    ],
)
def test_what_is_left_over_beside_a_setting_is_explained(settings: list[str], said: str) -> None:
    counts = 'task = "language-model"\nmodel = "ngram"\n[text]\nunits = "word"\nsize = 9\n[ngram]\norder = 2\n'
    with pytest.raises(ConfigError, match=said):
        read_experiment(counts, "mine.toml", settings)
