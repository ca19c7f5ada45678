"""What would have no effect is refused where a person writes it, and taken from where it lies in a run."""

import pytest

from anaphora.errors import ConfigError
from anaphora.experiment.reading import read_experiment
from anaphora.protocols import VocabularyInfo
from anaphora.tasks.registry import parse
from tests.networks import build

IDLE = [
    (
        "decoder",
        {"initial_state": "zero", "initial_state_activation": "tanh"},
        r"decoder\.initial_state_activation .* leave it out",
    ),
    ("attention", {"size": 7}, r'attention\.size = 7 .* attention\.score = "general" .* leave it out'),
    ("encoder", {"residual": "true"}, r"encoder\.residual .* encoder\.layers = 1: .* leave it out"),
    ("decoder", {"residual": "true"}, r"decoder\.residual .* or set decoder\.layers = 2"),
    ("attention", {"score": "dot", "size": 7}, r'attention\.size .* or set attention\.score = "concat"'),
]


@pytest.mark.parametrize(("table", "options", "complaint"), IDLE)
def test_an_option_without_effect_is_refused(table: str, options: dict[str, object], complaint: str) -> None:
    settings = [f"{table}.{name}={value}" for name, value in options.items()]
    with pytest.raises(ConfigError, match=f"mine.toml: {complaint}"):
        read_experiment('task = "translate"\n', "mine.toml", settings)


@pytest.mark.parametrize("text", ['{tokenizer="word"}', '{tokenizer="bpe",joint=false}', '{tokenizer="character"}'])
def test_two_vocabularies_have_no_table_in_common_even_if_they_are_of_one_size(text: str) -> None:
    settings = [f"text={text}", "embedding.shared=true"]
    with pytest.raises(ConfigError, match=r"needs one vocabulary for both sides, .* set embedding.shared = false"):
        read_experiment('task = "translate"\n', "mine.toml", settings)


@pytest.mark.parametrize("text", ['{tokenizer="bpe"}', '{tokenizer="byte"}', '{tokenizer="character",joint=true}'])
def test_one_vocabulary_may_have_one_table(text: str) -> None:
    settings = [f"text={text}", "embedding.shared=true"]
    assert read_experiment('task = "translate"\n', "mine.toml", settings).text.tokenizer in text


@pytest.mark.parametrize("name", ["beam", "validation_beam"])
def test_a_beam_that_no_search_takes_is_refused_before_training(name: str) -> None:
    settings = ["training.metric=bleu", f"evaluation.{name}=100000"]
    with pytest.raises(ConfigError, match=rf"mine.toml: evaluation\.{name} = 100000 .* at most 1,000"):
        read_experiment('task = "translate"\n', "mine.toml", settings)


FITTED = {
    "ngram": 'task = "language-model"\nmodel = "ngram"\n',
    "mixture": 'task = "language-model"\nmodel = "mixture"\n[mixture]\nruns = ["a", "b"]\n',
    "aligner": 'task = "align"\n',
}


@pytest.mark.parametrize("kind", FITTED)
def test_an_option_of_updates_is_refused_where_there_are_none(kind: str) -> None:
    for setting in ("epochs=3", "optimizer=sgd", "minutes=1", "device=cuda"):
        with pytest.raises(
            ConfigError, match=rf"training\.{setting.partition('=')[0]} .* it is for updates, .* leave it out"
        ):
            read_experiment(FITTED[kind], "mine.toml", [f"training.{setting}"])
    assert read_experiment(FITTED[kind], "mine.toml", ["training.seed=3", "training.threads=1"]).training.seed == 3


@pytest.mark.parametrize("task", ["translate", "language-model"])
def test_averaging_starts_by_an_epoch_or_by_validation(task: str) -> None:
    rule = 'training.optimizer={kind="averaged-sgd",interval=3'
    with pytest.raises(
        ConfigError, match=r"mine.toml: training\.optimizer\.interval = 3 .*from_epoch = 2: .* leave out"
    ):
        read_experiment(f'task = "{task}"\n', "mine.toml", [f"{rule},from_epoch=2}}"])
    assert read_experiment(f'task = "{task}"\n', "mine.toml", [f"{rule}}}"])


@pytest.mark.parametrize(("table", "options", "complaint"), IDLE[:2])
def test_a_run_that_has_one_still_loads(table: str, options: dict[str, object], complaint: str) -> None:
    tables = {"task": "translate", table: options}
    assert parse(tables, "experiment.toml").task == "translate"
    assert build(
        "translate", tables, dict.fromkeys(("source", "target"), VocabularyInfo(9, 0, 1, 2, 3)), "experiment.toml"
    )


def test_options_that_have_an_effect_are_taken() -> None:
    settings = [
        "encoder.layers=2",
        "encoder.residual=true",
        "attention.score=concat",
        "attention.size=7",
        "decoder.initial_state_activation=tanh",
    ]
    assert read_experiment('task = "translate"\n', "mine.toml", settings).task == "translate"
    settings = ["attention.window=local-p", "attention.size=7"]
    assert read_experiment('task = "translate"\n', "mine.toml", settings).task == "translate"
    assert read_experiment('task = "translate"\nattention = "none"\n', "mine.toml").task == "translate"


@pytest.mark.parametrize("start", ["mean", "zero"])
def test_the_state_that_a_decoder_starts_from_is_not_chosen_where_it_starts_from_none(start: str) -> None:
    settings = [
        "encoder.bidirectional=true",
        "encoder.sentence_encoding_from=backward",
        f"decoder.initial_state={start}",
    ]
    with pytest.raises(
        ConfigError, match=r'encoder\.sentence_encoding_from .* set encoder\.sentence_encoding_from = "both"'
    ):
        read_experiment('task = "translate"\n', "mine.toml", settings)
    assert read_experiment('task = "translate"\n', "mine.toml", settings[:2])


def test_what_is_fed_is_chosen_where_something_is_fed() -> None:
    settings = ["decoder.input_feeding_from=context", "decoder.input_feeding=false"]
    with pytest.raises(ConfigError, match=r"decoder\.input_feeding_from .* set decoder\.input_feeding = true"):
        read_experiment('task = "translate"\n', "mine.toml", settings)
    assert read_experiment('task = "translate"\n', "mine.toml", settings[:1])


def test_a_direction_that_nobody_hears_is_not_trained() -> None:
    settings = ["attention=none", "encoder.bidirectional=true", "encoder.sentence_encoding_from=backward"]
    with pytest.raises(ConfigError, match=r"encoder\.sentence_encoding_from .* set encoder\.bidirectional = false"):
        read_experiment('task = "translate"\n', "mine.toml", settings)
    every_step = ["decoder.initial_state=mean", "decoder.sentence_encoding=every-step", "decoder.input_feeding=false"]
    assert read_experiment('task = "translate"\n', "mine.toml", [*settings, *every_step])


def test_connections_around_a_lone_layer_of_a_language_model_are_refused() -> None:
    text = 'task = "language-model"\n'
    with pytest.raises(ConfigError, match=r"recurrence\.residual .* or set recurrence\.layers = 2"):
        read_experiment(text, "mine.toml", ["recurrence.layers=1", "recurrence.residual=true"])
    read_experiment(text, "mine.toml", ["recurrence.layers=2", "recurrence.residual=true"])


@pytest.mark.parametrize("kind", ["ngram", "mixture"])
@pytest.mark.parametrize("setting", ["steps=35", "windows=random"])
def test_where_gradients_are_cut_is_refused_where_there_are_none(kind: str, setting: str) -> None:
    with pytest.raises(
        ConfigError, match=rf"data\.{setting.partition('=')[0]} .* says where gradients are cut, .* leave it out"
    ):
        read_experiment(FITTED[kind], "mine.toml", [f"data.{setting}"])


def test_an_aligner_counts_sentences_that_are_cut_one_way() -> None:
    with pytest.raises(ConfigError, match=r"text\.dropout segments .* differently every epoch, but this is an aligner"):
        read_experiment(FITTED["aligner"], "mine.toml", ['text={tokenizer="bpe",dropout=0.1}'])


def test_a_beam_of_validation_is_for_validation_that_searches() -> None:
    beam = "evaluation.validation_beam=3"
    with pytest.raises(ConfigError, match=r"validation_beam .* BLEU alone; leave it out, or set training.metric"):
        read_experiment('task = "translate"\n', "mine.toml", [beam])
    by_bleu = ["training.metric=bleu"]
    assert read_experiment('task = "translate"\n', "mine.toml", [beam, *by_bleu]).training.metric == "bleu"
