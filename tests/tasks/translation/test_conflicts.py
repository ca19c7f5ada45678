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


@pytest.mark.parametrize(
    ("text", "settings", "complaint"),
    [
        (
            TRANSLATE,
            "decoder.initial_state=zero decoder.initial_state_activation=tanh",
            r"decoder\.initial_state_activation .* leave it out",
        ),
        (TRANSLATE, "attention.size=7", r'attention\.size = 7 .* attention\.score = "general" .* leave it out'),
        (TRANSLATE, "encoder.residual=true", r"encoder\.residual .* encoder\.layers = 1: .* leave it out"),
        (TRANSLATE, "decoder.residual=true", r"decoder\.residual .* or set decoder\.layers = 2"),
        (TRANSLATE, "attention.score=dot attention.size=7", r'attention\.size .* or set attention\.score = "concat"'),
        *(
            (TRANSLATE, f"text={text} embedding.shared=true", r"one vocabulary .* set embedding.shared = false")
            for text in ('{tokenizer="word"}', '{tokenizer="bpe",joint=false}', '{tokenizer="character"}')
        ),
        *(
            (
                TRANSLATE,
                f"training.metric=bleu evaluation.{beam}=100000",
                rf"evaluation\.{beam} = 100000 .* at most 1,000",
            )
            for beam in ("beam", "validation_beam")
        ),
        *(
            (text, f"training.{name}={value}", rf"training\.{name} .* it is for updates, .* leave it out")
            for text in (NGRAM, MIXTURE, ALIGN)
            for name, value in (("epochs", 3), ("optimizer", "sgd"), ("minutes", 1), ("device", "cuda"))
        ),
        *(
            (text, f"{AVERAGED},from_epoch=2}}", r"training\.optimizer\.interval = 3 .*from_epoch = 2: .* leave out")
            for text in (TRANSLATE, LANGUAGE_MODEL)
        ),
        *(
            (
                TRANSLATE,
                f"{BACKWARD} decoder.initial_state={start}",
                r'encoder\.sentence_encoding_from .* set encoder\.sentence_encoding_from = "both"',
            )
            for start in ("mean", "zero")
        ),
        (
            TRANSLATE,
            f"{FEEDING} decoder.input_feeding=false",
            r"decoder\.input_feeding_from .* set decoder\.input_feeding = true",
        ),
        (
            TRANSLATE,
            f"attention=none {BACKWARD}",
            r"encoder\.sentence_encoding_from .* set encoder\.bidirectional = false",
        ),
        (
            LANGUAGE_MODEL,
            "recurrence.layers=1 recurrence.residual=true",
            r"recurrence\.residual .* or set recurrence\.layers = 2",
        ),
        *(
            (
                text,
                f"data.{setting}",
                rf"data\.{setting.split('=')[0]} .* says where gradients are cut, .* leave it out",
            )
            for text in (NGRAM, MIXTURE)
            for setting in ("steps=35", "windows=random")
        ),
        (
            ALIGN,
            'text={tokenizer="bpe",dropout=0.1}',
            r"text\.dropout segments .* differently every epoch, but this is an aligner",
        ),
        (TRANSLATE, "evaluation.validation_beam=3", r"validation_beam .* BLEU alone; leave it out, or set training"),
        (TRANSLATE, "evaluation.recorded_alignments=2 attention=none", "only attention over positions has alignments"),
        (ALIGN, "data.shuffle_window=5", r"data\.shuffle_window"),
        (ALIGN, RARE.format("posunk"), "but this is an aligner"),
        (LANGUAGE_MODEL, RARE.format("posunk"), "but this is a language model"),
        (TRANSLATE, f"{RARE.format('posall')} {LINKED}", "puts places between the words"),
        (
            TRANSLATE,
            'text={tokenizer="bpe",dropout=0.1} guided_alignment=learn',
            r"text\.dropout segments sentences anew every epoch, but guided_alignment links fixed tokens",
        ),
        *(
            (TRANSLATE, f"data.placeholders=0.1 {settings}", rf"data\.placeholders .*{why}")
            for settings, why in (
                ('text={tokenizer="byte"}', "bytes have none for it"),
                (RARE.format("copyable"), "both replace words"),
                (LINKED, "guided_alignment.file links"),
                ("data.target=ja", "replaces words between spaces"),
            )
        ),
    ],
)
def test_options_without_effect_or_in_conflict_are_refused(text: str, settings: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=f"mine.toml: .*{complaint}"):
        read(text, settings)


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        (TRANSLATE, "encoder.layers=2 encoder.residual=true attention.score=concat attention.size=7"),
        (TRANSLATE, "decoder.initial_state_activation=tanh"),
        (TRANSLATE, "attention.window=local-p attention.size=7"),
        (TRANSLATE, "attention=none"),
        *(
            (TRANSLATE, f"text={text} embedding.shared=true")
            for text in ('{tokenizer="bpe"}', '{tokenizer="byte"}', '{tokenizer="character",joint=true}')
        ),
        *((text, "training.seed=3 training.threads=1") for text in (NGRAM, MIXTURE, ALIGN)),
        *((text, f"{AVERAGED}}}") for text in (TRANSLATE, LANGUAGE_MODEL)),
        (TRANSLATE, BACKWARD),
        (TRANSLATE, FEEDING),
        (
            TRANSLATE,
            f"attention=none {BACKWARD} decoder.initial_state=mean decoder.sentence_encoding=every-step "
            "decoder.input_feeding=false",
        ),
        (LANGUAGE_MODEL, "recurrence.layers=2 recurrence.residual=true"),
        (TRANSLATE, "evaluation.validation_beam=3 training.metric=bleu"),
    ],
)
def test_options_that_have_an_effect_are_taken(text: str, settings: str) -> None:
    assert text.startswith(f'task = "{read(text, settings).task}"')


@pytest.mark.parametrize(
    "table", [{"decoder": {"initial_state": "zero", "initial_state_activation": "tanh"}}, {"attention": {"size": 7}}]
)
def test_a_run_that_has_one_still_loads(table: dict[str, object]) -> None:
    tables = {"task": "translate", **table}
    assert parse(tables, "experiment.toml").task == "translate"
    symbols = dict.fromkeys(("source", "target"), VocabularyInfo(9, 0, 1, 2, 3))
    assert build("translate", tables, symbols, "experiment.toml")
