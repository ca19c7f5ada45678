"""What would have no effect is refused where a person writes it, and taken from where it lies in a run."""

import pytest

from anaphora.errors import ConfigError
from anaphora.experiment.reading import read_experiment
from anaphora.protocols import VocabularyInfo
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.registry import parse
from tests.networks import build

TRANSLATE, LANGUAGE_MODEL, ALIGN = (f'task = "{task}"\n' for task in ("translate", "language-model", "align"))
NGRAM = LANGUAGE_MODEL + 'model = "ngram"\n'
MIXTURE = LANGUAGE_MODEL + 'model = "mixture"\n[mixture]\nruns = ["a", "b"]\n'
BACKWARD = "encoder.bidirectional=true encoder.sentence_encoding_from=backward"
FEEDING = "decoder.input_feeding_from=context"
RARE, LINKED = 'text={{tokenizer="word",rare="{}"}}', 'guided_alignment={kind="file",file="links"}'
AVERAGED = 'training.optimizer={kind="averaged-sgd",interval=3'


def read(text: str, settings: str) -> ExperimentBase:
    return read_experiment(text, "mine.toml", settings.split())


REFUSED = {
    TRANSLATE: {
        "decoder.initial_state=zero decoder.initial_state_activation=tanh": r"decoder\.initial_state_activation",
        "attention.size=7": r'attention\.size = 7 .* attention\.score = "general" .* leave it out',
        "attention.score=dot attention.size=7": r'attention\.size .* or set attention\.score = "concat"',
        "encoder.residual=true": r"encoder\.residual .* encoder\.layers = 1: .* leave it out",
        "decoder.residual=true": r"decoder\.residual .* or set decoder\.layers = 2",
        'text={tokenizer="word"} embedding.shared=true': r"one vocabulary .* set embedding.shared = false",
        'text={tokenizer="bpe",joint=false} embedding.shared=true': r"one vocabulary .* set embedding.shared = false",
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
    },
    NGRAM: {
        "training.epochs=3": r"training\.epochs .* it is for updates, .* leave it out",
        "data.steps=35": r"data\.steps .* says where gradients are cut, .* leave it out",
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


def test_options_without_effect_or_in_conflict_are_refused() -> None:
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
    ],
    LANGUAGE_MODEL: [f"{AVERAGED}}}", "recurrence.layers=2 recurrence.residual=true"],
    **{text: ["training.seed=3 training.threads=1"] for text in (NGRAM, MIXTURE, ALIGN)},
}


def test_options_that_have_an_effect_are_taken() -> None:
    for text, allowed in ALLOWED.items():
        for settings in allowed:
            assert text.startswith(f'task = "{read(text, settings).task}"')


@pytest.mark.parametrize(
    "table", [{"decoder": {"initial_state": "zero", "initial_state_activation": "tanh"}}, {"attention": {"size": 7}}]
)
def test_a_run_that_has_one_still_loads(table: dict[str, object]) -> None:
    tables = {"task": "translate", **table}
    assert parse(tables, "experiment.toml").task == "translate"
    symbols = dict.fromkeys(("source", "target"), VocabularyInfo(9, 0, 1, 2, 3))
    assert build("translate", tables, symbols, "experiment.toml")
