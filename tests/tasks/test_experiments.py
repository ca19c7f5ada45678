"""Experiments: written and read, and refused in one sentence where options are wrong, in conflict or useless."""

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
from anaphora.protocols import VocabularyInfo
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.language_model.config import NgramExperiment
from anaphora.tasks.registry import parse
from anaphora.tasks.translation.config import TranslationExperiment
from anaphora.text.tokenization import Bpe
from anaphora.training.rules import Momentum
from tests.experiment.test_options import TABLES
from tests.networks import build

TRANSLATE, LANGUAGE_MODEL, ALIGN = (f'task = "{task}"\n' for task in ("translate", "language-model", "align"))
KNOWN = '"translate" or "classify" or "tag" or "describe" or "trace" or "transduce"'


def read(text: str, settings: str = "") -> ExperimentBase:
    return read_experiment(text, "mine.toml", settings.split())


@pytest.mark.parametrize(
    "experiment",
    [
        read(TRANSLATE + '[text]\nunits = "character"\n[decoder]\ncell = "gru"\n', "training.seed=9"),
        read(TRANSLATE + 'attention = "gaussian-window"\n', "decoder.cell=gru"),
        read(TRANSLATE, "attention.window.kind=local-p attention.score=hybrid"),
        read(LANGUAGE_MODEL, "training.optimizer.learning_rate=1e-7 initialise=uniform"),
    ],
)
def test_an_experiment_survives_being_written_and_read(experiment: ExperimentBase) -> None:
    assert read(experiment.to_toml()) == experiment
    assert parse(experiment.tables(), "x") == experiment
    for key in ("epochs = ", "learning_rate = "):
        assert re.search(rf"^{key}", experiment.to_toml(), re.MULTILINE), key  # defaults are written out
    if experiment.task == "language-model":
        with pytest.raises(ConfigError, match="no task of two languages, as --source and --target are for"):
            read_experiment(experiment.to_toml(), "mine.toml", source="en")


WRONG = {
    "": {
        "": "task is missing. Known: align, ",
        "task = 3": "task is missing. Known: align, ",
        'task = "translat"': "task 'translat' is unknown. Did you mean 'translate'? Known: align, ",
    },
    TRANSLATE: {
        "format = 3": "format should be from 1 to 2, but is 3",
        "[training]\nepoch = 3": "training.epoch is not an option. Did you mean 'epochs'?",
        '[training]\nmetric = "blue"': "training.metric 'blue' is unknown. Did you mean 'bleu'?",
        '[attention]\nspan = "globl"': "attention.window 'globl' is unknown. Did you mean 'global'?",
        '[attention]\nkind = "none"\nspan = "local-p"': (
            'attention.window is for attention.kind = "soft", but that is "none": leave it out, or set '
        ),
        '[attention]\nspan = {kind = "local-p", window = 101}': (
            "attention.window.radius = 101 is larger than any sentence (data.max_length = 100)"
        ),
        '[output]\nproposal = "unigram"': (
            'output.proposal is for output.kind = "sampled", but that is "full": leave it out, or set '
        ),
        "[recurrence]\nsize = 3": (
            'recurrence is for task = "language-model" or "trace", but that is "translate": leave it out, or set '
        ),
        '[data]\nvalid = "train"': 'data.train and data.valid are both "train"',
        '[data]\ntest = "tr"': 'data.test = "tr" stands for every name that begins so',
        '[data]\ntest = ""': 'data.test = "" cannot be used here: every name begins so',
        '[start]\nvocabulary = "extend"': (
            'start.vocabulary = "extend" does not go with start.run = "none": name a run, or leave it out.'
        ),
    },
    LANGUAGE_MODEL: {
        '[model]\nkind = "ngram"': (
            "model '{'kind': 'ngram'}' is unknown. Known: feed-forward, interpolation, ngram, recurrent."
        ),
        "[encoder]\n": f'encoder is for task = {KNOWN}, but that is "language-model": leave it out, or',
        # before one of another task
        'model = "ngram"\n[embedding]\n': (
            'embedding is for model = "recurrent" or "feed-forward", but that is "ngram": leave it out, or set model ='
        ),
    },
}
"""By experiment and what is added to it: how the complaint begins."""


def test_a_wrong_file_is_refused_in_one_sentence() -> None:
    for text, complaints in WRONG.items():
        for more, said in complaints.items():
            with pytest.raises(ConfigError, match=f"^mine.toml: {re.escape(said)}"):
                read(text + more)


def test_what_going_on_needs_again_is_kept_by_its_whole_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    text = TRANSLATE + '[data]\nfiles = ["mine", "~/more"]\n[guide]\nkind = "file"\nfile = "train.links"\n'
    experiment = read(text)
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


COUNTS = 'task = "language-model"\nmodel = "ngram"\n[text]\nunits = "word"\nsize = 9\n[ngram]\norder = 2\n'

NGRAM = LANGUAGE_MODEL + 'model = "ngram"\n'
MIXTURE = LANGUAGE_MODEL + 'model = "mixture"\n[mixture]\nruns = ["a", "b"]\n'
BACKWARD = "encoder.bidirectional=true encoder.sentence_encoding_from=backward"
FEEDING = "decoder.input_feeding_from=context"
RARE, LINKED = 'text={{tokenizer="word",rare="{}"}}', 'guided_alignment={kind="file",file="links"}'
AVERAGED = 'training.optimizer={kind="averaged-sgd",interval=3'


REFUSED = {
    TRANSLATE: {
        "decoder.initial_state=zero decoder.initial_state_activation=tanh": r"decoder\.initial_state_activation",
        "attention.size=7": r'attention\.size = 7 .* attention\.score = "general" .* leave it out',
        "attention.score=dot attention.size=7": r'attention\.size .* or set attention\.score = "concat"',
        "encoder.residual=true": r"encoder\.residual .* encoder\.layers = 1: .* leave it out",
        "decoder.residual=true": r"decoder\.residual .* or set decoder\.layers = 2",
        'text={tokenizer="word"} embedding.shared=true': r"one vocabulary .* set embedding.shared = false",
        'text={tokenizer="bpe",joint=false} embedding.shared=true': r"one vocabulary .* set embedding.shared = false",
        "data.target=zh_Hans evaluation.conditions=moses-lowercase": 'does not go with data.target = "zh_Hans"',
        "evaluation.beam=100000": r"evaluation\.beam = 100000 .* at most 1,000",
        f"{AVERAGED},from_epoch=2}}": r"training\.optimizer\.interval = 3 .*from_epoch = 2: .* leave out",
        f"{BACKWARD} decoder.initial_state=mean": r'set encoder\.sentence_encoding_from = "both"',
        f"{BACKWARD} attention=none": r"encoder\.sentence_encoding_from .* set encoder\.bidirectional = false",
        f"{FEEDING} decoder.input_feeding=false": r"decoder\.input_feeding_from .* set decoder\.input_feeding = true",
        "evaluation.length_ratios=[1.0]": r"length_variances have a number for each direction: give both",
        "evaluation.validation_beam=3": r"validation_beam .* BLEU alone; leave it out, or set training",
        "evaluation.recorded_alignments=2 attention=none": "only attention over positions has alignments",
        f"{RARE.format('posall')} {LINKED}": "puts places between the words",
        'text={tokenizer="bpe",dropout=0.1} guided_alignment=learn': "anew every epoch, but guided_alignment links",
        'data.placeholders=0.1 text={tokenizer="byte"}': r"data\.placeholders .*bytes have none for it",
        f"data.placeholders=0.1 {RARE.format('copyable')}": r"data\.placeholders .*both replace words",
        f"data.placeholders=0.1 {LINKED}": r"data\.placeholders .*guided_alignment.file links",
        "data.placeholders=0.1 data.target=ja": r"data\.placeholders .*replaces words between spaces",
    },
    LANGUAGE_MODEL: {
        "recurrence.layers=1 recurrence.residual=true": r"recurrence\.residual .* or set recurrence\.layers = 2",
        RARE.format("posunk"): "but this is a language model",
        "data.windows=random training.reduction=sum": 'set training.reduction = "mean_per_token"',
        "data.windows=random training.reduction=sum_per_sentence": 'set training.reduction = "mean_per_token"',
        "recurrence.temporal_activation_regularization=1 data.steps=1": "the text is cut between any two",
        "text.tokenizer=bpe text.dropout=0.1": r"text\.dropout segments the sentences of translators",
        "text.tokenizer=unigram text.alpha=0.1": r"text\.alpha segments the sentences of translators",
    },
    NGRAM: {
        "training.epochs=3": r"training\.epochs .* it is for updates, .* leave it out",
        "data.steps=35": r"data\.steps .* says where gradients are cut, .* leave it out",
    },
    COUNTS: {
        "text.tokenizer=character": "It stands in mine.toml, .* give the whole table, as in --set .text={tokenizer=",
        "model=recurrent": "It stands in mine.toml, .* take a recipe with another model",
        "text.size=3 text.tokenizer=character": r'text\.tokenizer = "bpe" or "unigram" or "word"\.$',
        "text.tokenizr=word": r"Did you mean 'tokenizer'\?$",
    },
    MIXTURE: {
        'training.optimizer="sgd"': r"training\.optimizer .* it is for updates, .* leave it out",
        "data.windows=random": r"data\.windows .* says where gradients are cut, .* leave it out",
    },
    ALIGN: {
        "training.minutes=1": r"training\.minutes .* it is for updates, .* leave it out",
        "training.device=cuda": r"training\.device .* it is for updates, .* leave it out",
        'text={tokenizer="bpe",dropout=0.1}': r"text\.dropout .* every epoch, but this is an aligner",
        "data.shuffle_window=5": r"data\.shuffle_window",
        RARE.format("posunk"): "but this is an aligner",
    },
}
"""By experiment and settings: the complaint."""


def test_options_without_effect_in_conflict_or_left_over_are_refused() -> None:
    for text, complaints in REFUSED.items():
        for settings, complaint in complaints.items():
            with pytest.raises(ConfigError, match=f"mine.toml: .*{complaint}"):
                read(text, settings)


ALLOWED = {
    TRANSLATE: [
        "encoder.layers=2 encoder.residual=true attention.score=concat attention.size=7",
        "decoder.initial_state_activation=tanh",
        "attention.window=local-p attention.size=7",
        "attention=none",
        'text={tokenizer="bpe"} embedding.shared=true',
        'text={tokenizer="character",joint=true} embedding.shared=true',
        f"{AVERAGED}}}",
        BACKWARD,
        FEEDING,
        f"attention=none {BACKWARD} decoder.initial_state=mean decoder.sentence_encoding=every-step "
        "decoder.input_feeding=false",
        "evaluation.validation_beam=3 training.metric=bleu",
        "text.tokenizer=bpe text.dropout=0.1",
        "text.tokenizer=unigram text.alpha=0.1",
    ],
    LANGUAGE_MODEL: [
        f"{AVERAGED}}} recurrence.layers=2 recurrence.residual=true",
        "recurrence.temporal_activation_regularization=1 data.steps=2",
    ],
    **{text: ["training.seed=3 training.threads=1"] for text in (NGRAM, MIXTURE, ALIGN)},
}


def test_options_that_have_an_effect_are_taken() -> None:
    for text, allowed in ALLOWED.items():
        for settings in allowed:
            assert text.startswith(f'task = "{read(text, settings).task}"')


def test_a_run_that_has_one_still_loads() -> None:
    decoder = {"initial_state": "zero", "initial_state_activation": "tanh"}
    tables = {"task": "translate", "decoder": decoder, "attention": {"size": 7}}
    assert parse(tables, "experiment.toml").task == "translate"
    symbols = dict.fromkeys(("source", "target"), VocabularyInfo(9, 0, 1, 2, 3))
    assert build("translate", tables, symbols, "experiment.toml")
