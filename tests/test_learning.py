"""Small tasks that only a network which learns everything can do: turn words round, and know a text by heart."""

import random
from pathlib import Path

import pytest

import anaphora
from anaphora.tasks.language_model import LanguageModelPredictor
from anaphora.tasks.translation import TranslationPredictor

REVERSE = """
task = "translate"
[text]
tokenizer = "character"
[embedding]
size = 32
[encoder]
cell = "{cell}"
size = 48
[decoder]
cell = "{cell}"
size = 48
[attention]
score = "{score}"
query = "{query}"
context = "{context}"
[training]
optimizer = {{ kind = "adam", learning_rate = 0.005 }}
schedule = {{ kind = "decay", half_life = 3 }}
batch_tokens = 500
epochs = 12
patience = 0
"""

COPY = """
task = "translate"
attention = "none"
[text]
tokenizer = "character"
[embedding]
size = 32
[encoder]
{encoder}
[decoder]
cell = "{cell}"
size = 64
{decoder}
input_feeding = false
[training]
optimizer = {{ kind = "adam", learning_rate = 0.005 }}
schedule = {{ kind = "decay", half_life = 3 }}
batch_tokens = 300
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

LUONG = {"query": "current", "context": "output"}
BAHDANAU = {"query": "previous", "context": "state"}


SUTSKEVER = {
    "cell": "lstm",
    "encoder": 'cell = "lstm"\nsize = 64\nbidirectional = false\nreversed = true',
    "decoder": 'start = "copy"\nreadout_layer = "none"',
}
CHO = {
    "cell": "gru",
    "encoder": 'kind = "gated-convolution"\nsize = 64',
    "decoder": 'summary = "every-step"\nreadout_layer = "maxout"\nreadout_word = true',
}
KALCHBRENNER = {
    "cell": "gru",
    "encoder": 'kind = "convolution"\nwidest = 3',
    "decoder": 'summary = "every-step"\nstart = "zero"\nreadout_layer = "none"',
}

UNFOLDING = KALCHBRENNER | {"encoder": 'kind = "ngram-convolution"\nwidest = 3\nfolds = 1'}


def words(count: int, longest: int = 8) -> list[str]:
    draw = random.Random(1)
    return ["".join(draw.choices("abcdefgh", k=draw.randint(2, longest))) for _ in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "order", "longest", "beam", "least"),
    [
        (REVERSE.format(**LUONG, cell="lstm", score="general"), -1, 8, 5, 0.98),
        (REVERSE.format(**BAHDANAU, cell="gru", score="concat"), -1, 8, 5, 0.98),
        (COPY.format(**SUTSKEVER), 1, 4, 1, 0.9),
        (COPY.format(**CHO), 1, 4, 1, 0.9),
        (COPY.format(**KALCHBRENNER), 1, 4, 1, 0.5),
        (COPY.format(**UNFOLDING), 1, 8, 1, 0.98),
    ],
    ids=["luong", "bahdanau", "sutskever", "cho", "kalchbrenner", "kalchbrenner's second"],
)
def test_a_translator_learns_to_spell_words_forwards_or_backwards(
    text: str, order: int, longest: int, beam: int, least: float, tmp_path: Path
) -> None:
    known, unseen = words(3300, longest)[:3000], words(3300, longest)[3000:]
    for split, lines in ("train", known), ("val", unseen[:50]):
        (tmp_path / f"{split}.en").write_text("".join(f"{line}\n" for line in lines))
        (tmp_path / f"{split}.de").write_text("".join(f"{line[::order]}\n" for line in lines))
    anaphora.train(anaphora.read_experiment(text, "words.toml", data=[tmp_path]), tmp_path / "run")
    translator = anaphora.load(tmp_path / "run")
    assert isinstance(translator, TranslationPredictor)
    asked = [word for word in unseen if word not in known]
    outputs = translator.translate(asked, beam=beam)
    right = sum(output.text == word[::order] for output, word in zip(outputs, asked, strict=True))
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
