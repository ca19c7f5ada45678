"""Small tasks that only a network which learns everything can do: turn words round, and know a text by heart."""

import random
from pathlib import Path

import pytest

import anaphora
from anaphora.tasks.language_model.predictor import LanguageModelPredictor
from anaphora.tasks.translation.predictor import TranslationPredictor

TRANSLATOR = """
task = "translate"
text = { tokenizer = "character" }
embedding = { size = 32 }
[training]
optimizer = { kind = "adam", learning_rate = 0.005 }
schedule = { kind = "decay", half_life = 3 }
epochs = 12
patience = 0
"""

BY_HEART = """
task = "language-model"
data = { steps = 25 }
text = { tokenizer = "character" }
embedding = { size = 16 }
recurrence = { size = 64 }
[training]
optimizer = { kind = "adam", learning_rate = 0.01 }
batch_tokens = 250
epochs = 30
patience = 0
"""

ALONE = "decoder={size=64,input_feeding=false,"
"""The decoder of a translator without attention."""
SUMMARY = f'attention=none {ALONE}cell="gru",summary="every-step"'
TRANSLATORS = {
    "luong": "attention={score='general',query='current',context='output'} encoder.cell=lstm decoder.cell=lstm",
    "bahdanau": "attention={score='concat',query='previous',context='state'} encoder.cell=gru decoder.cell=gru",
    "sutskever": "attention=none encoder={cell='lstm',size=64,bidirectional=false,reversed=true} "
    f"{ALONE}cell='lstm',start='copy',readout_layer='none'}}",
    "cho": f"{SUMMARY},readout_layer='maxout',readout_word=true}} encoder={{kind='gated-convolution',size=64}}",
    "kalchbrenner": f"{SUMMARY},start='zero',readout_layer='none'}} encoder={{kind='convolution',widest=3}}",
    "kalchbrenner's second": f"{SUMMARY},start='zero',readout_layer='none'}} "
    "encoder={kind='ngram-convolution',widest=3,folds=1}",
}
"""Settings of each, between spaces."""


def words(count: int, longest: int) -> list[str]:
    draw = random.Random(1)
    return ["".join(draw.choices("abcdefgh", k=draw.randint(2, longest))) for _ in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "backwards", "longest", "least"),
    [
        ("luong", True, 8, 0.98),
        ("bahdanau", True, 8, 0.98),
        ("sutskever", False, 4, 0.9),
        ("cho", False, 4, 0.9),
        ("kalchbrenner", False, 4, 0.5),
        ("kalchbrenner's second", False, 8, 0.98),
    ],
)
def test_a_translator_learns_to_spell(name: str, backwards: bool, longest: int, least: float, tmp_path: Path) -> None:
    step = -1 if backwards else 1
    known, unseen = words(3300, longest)[:3000], words(3300, longest)[3000:]
    for part, lines in ("train", known), ("val", unseen[:50]):
        (tmp_path / f"{part}.en").write_text("".join(f"{line}\n" for line in lines))
        (tmp_path / f"{part}.de").write_text("".join(f"{line[::step]}\n" for line in lines))
    sizes = ["encoder.size=48", "decoder.size=48"] if backwards else []
    settings = [*TRANSLATORS[name].split(), *sizes, f"training.batch_tokens={500 if backwards else 300}"]
    experiment = anaphora.read_experiment(TRANSLATOR, "spelling.toml", settings, data=[tmp_path])
    anaphora.train(experiment, tmp_path / "run")
    translator = anaphora.load(tmp_path / "run")
    assert isinstance(translator, TranslationPredictor)
    asked = [word for word in unseen if word not in known]
    outputs = translator.translate(asked, **({} if backwards else {"beam": 1}))
    right = sum(output.text == word[::step] for output, word in zip(outputs, asked, strict=True))
    assert right >= least * len(asked)


@pytest.mark.slow
@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_a_language_model_learns_a_text_by_heart(cell: str, tmp_path: Path) -> None:
    verse = ["the man walks", "the woman sleeps", "a child reads the long letter", "nobody sings"]
    book = tmp_path / "book.txt"
    book.write_text("".join(f"{line}\n" for line in verse * 60))
    experiment = anaphora.read_experiment(BY_HEART, "heart.toml", [f"recurrence.cell={cell}"], data=[book])
    anaphora.train(experiment, tmp_path / "run")
    model = anaphora.load(tmp_path / "run")
    assert isinstance(model, LanguageModelPredictor)
    assert model.evaluate(verse * 5).bits_per_character < 0.3
    assert model.generate("a child", beam=1).text == "a child reads the long letter"
