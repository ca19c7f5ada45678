"""Small tasks that only a network which learns everything can do: turn words round, and know a text by heart."""

import random
from pathlib import Path

import pytest

import anaphora
from anaphora.tasks.language_model.predictor import LanguageModelPredictor
from anaphora.tasks.translation.predictor import TranslationPredictor

TRANSLATOR = """
task = "translate"
{attention}
[text]
tokenizer = "character"
[embedding]
size = 32
[encoder]
{encoder}
[decoder]
{decoder}
[training]
optimizer = {{ kind = "adam", learning_rate = 0.005 }}
schedule = {{ kind = "decay", half_life = 3 }}
batch_tokens = {batch_tokens}
epochs = 12
patience = 0
"""

BY_HEART = """
task = "language-model"
[data]
steps = 25
[text]
tokenizer = "character"
[embedding]
size = 16
[recurrence]
cell = "{cell}"
size = 64
[training]
optimizer = {{ kind = "adam", learning_rate = 0.01 }}
batch_tokens = 250
epochs = 30
patience = 0
"""

LUONG = {
    "attention": 'attention = { score = "general", query = "current", context = "output" }',
    "encoder": 'cell = "lstm"\nsize = 48',
    "decoder": 'cell = "lstm"\nsize = 48',
}
BAHDANAU = {
    "attention": 'attention = { score = "concat", query = "previous", context = "state" }',
    "encoder": 'cell = "gru"\nsize = 48',
    "decoder": 'cell = "gru"\nsize = 48',
}
ALONE = 'size = 64\ninput_feeding = false\ncell = "{}"\n'
"""The decoder of a translator without attention."""
SUTSKEVER = {
    "attention": 'attention = "none"',
    "encoder": 'cell = "lstm"\nsize = 64\nbidirectional = false\nreversed = true',
    "decoder": ALONE.format("lstm") + 'start = "copy"\nreadout_layer = "none"',
}
CHO = {
    "attention": 'attention = "none"',
    "encoder": 'kind = "gated-convolution"\nsize = 64',
    "decoder": ALONE.format("gru") + 'summary = "every-step"\nreadout_layer = "maxout"\nreadout_word = true',
}
KALCHBRENNER = {
    "attention": 'attention = "none"',
    "encoder": 'kind = "convolution"\nwidest = 3',
    "decoder": ALONE.format("gru") + 'summary = "every-step"\nstart = "zero"\nreadout_layer = "none"',
}
UNFOLDING = KALCHBRENNER | {"encoder": 'kind = "ngram-convolution"\nwidest = 3\nfolds = 1'}


def words(count: int, longest: int) -> list[str]:
    draw = random.Random(1)
    return ["".join(draw.choices("abcdefgh", k=draw.randint(2, longest))) for _ in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tables", "backwards", "longest", "least"),
    [
        (LUONG, True, 8, 0.98),
        (BAHDANAU, True, 8, 0.98),
        (SUTSKEVER, False, 4, 0.9),
        (CHO, False, 4, 0.9),
        (KALCHBRENNER, False, 4, 0.5),
        (UNFOLDING, False, 8, 0.98),
    ],
    ids=["luong", "bahdanau", "sutskever", "cho", "kalchbrenner", "kalchbrenner's second"],
)
def test_a_translator_learns_to_spell_words(
    tables: dict[str, str], backwards: bool, longest: int, least: float, tmp_path: Path
) -> None:
    step = -1 if backwards else 1
    known, unseen = words(3300, longest)[:3000], words(3300, longest)[3000:]
    for part, lines in ("train", known), ("val", unseen[:50]):
        (tmp_path / f"{part}.en").write_text("".join(f"{line}\n" for line in lines))
        (tmp_path / f"{part}.de").write_text("".join(f"{line[::step]}\n" for line in lines))
    toml = TRANSLATOR.format(**tables, batch_tokens=500 if backwards else 300)
    anaphora.train(anaphora.read_experiment(toml, "spelling.toml", data=[tmp_path]), tmp_path / "run")
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
    anaphora.train(anaphora.read_experiment(BY_HEART.format(cell=cell), "heart.toml", data=[book]), tmp_path / "run")
    model = anaphora.load(tmp_path / "run")
    assert isinstance(model, LanguageModelPredictor)
    assert model.evaluate(verse * 5).bits_per_character < 0.3
    assert model.generate("a child", beam=1).text == "a child reads the long letter"
