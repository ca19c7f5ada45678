"""Running text translated: its sentences, the white space around them, and the links between its words."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from anaphora.evaluation.alignment import words_of
from anaphora.formats.pharaoh import words_between_spaces
from anaphora.tasks.runs import load
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.translation import Translation
from anaphora.text.sentences import Splitter
from anaphora.text.tokenizer import Tokenizer

from ..conftest import TRANSLATOR, network, same, saved


@pytest.fixture
def splitting(untrained_translator: TranslationPredictor) -> TranslationPredictor:
    """The same, for running text."""
    return replace(untrained_translator, splitter=Splitter("en", "en"))


PARAGRAPHS = ["The man walks. A dog sees the cat!", "", "  the tree ", "\n", "a man.\n\n\tThe house. The red cat."]


def test_running_text_is_the_translations_of_its_sentences_with_the_white_space_it_had(
    untrained_translator: TranslationPredictor, splitting: TranslationPredictor
) -> None:
    whole = ["The man walks.", "A dog sees the cat!", "the tree", "a man.", "The house.", "The red cat."]
    one, two, three, four, five, six = untrained_translator.translate(whole, attention=True)
    found = splitting.translate_text(PARAGRAPHS, attention=True)
    assert [t.text for t in found] == [
        f"{one.text} {two.text}",
        "",
        f"  {three.text} ",
        "\n",
        f"{four.text}\n\n\t{five.text} {six.text}",
    ]
    assert found[0].score == one.score + two.score
    assert found[0].finished == (one.finished and two.finished)
    assert found[0].sentences == (one, two) and found[2].sentences == ()
    assert same(replace(found[2], text=three.text), three)


def test_links_of_running_text_are_those_of_its_sentences_moved_to_their_words(splitting: TranslationPredictor) -> None:
    [found] = splitting.translate_text([PARAGRAPHS[4]], attention=True)
    expected, sources, targets = set(), 0, 0
    for part, source in zip(found.sentences, ["a man.", "The house.", "The red cat."], strict=True):
        expected |= {(sources + i, targets + j) for i, j in part.links()}
        sources, targets = sources + len(source.split()), targets + len(part.text.split())
    assert found.links() == expected != set()
    assert all(i < sources and j < max(1, targets) for i, j in found.links())


@pytest.mark.parametrize("space", ["", " ", " \n", "\t", "\u00a0", "\u3000"])
def test_words_of_running_text_are_those_between_its_spaces(
    untrained_translator: TranslationPredictor, space: str
) -> None:
    one, two = untrained_translator.translate(["a man", "the dog"], attention=True)
    joined = Translation.join(f"{one.text}{space}{two.text}", [one, two], [(space, space)])
    pieces = joined.source_pieces[:-1]
    assert len(set(words_of(pieces))) == len(words_between_spaces(f"a man{space}the dog"))
    assert "".join(pieces) == f"▁a▁man{'▁' if ' ' in space else ''}the▁dog"


def test_alternatives_of_running_text_are_the_best_that_its_sentences_make(splitting: TranslationPredictor) -> None:
    [found] = splitting.translate_text([PARAGRAPHS[0]], beam=6, alternatives=4)
    parts = splitting.translate(Splitter("en", "en").split(PARAGRAPHS[0]).sentences, beam=6, alternatives=4)
    assert len(parts) > 1 and len(found.alternatives) == 4
    every = product(*([one, *one.alternatives] for one in parts))
    best = sorted((sum(one.score for one in chosen) for chosen in every), reverse=True)[:5]
    assert [one.score for one in (found, *found.alternatives)] == pytest.approx(best)
    assert [one.rank for one in (found, *found.alternatives)] == pytest.approx(best)
    assert len({one.text for one in (found, *found.alternatives)}) == 5


@pytest.mark.parametrize("lines", ["split", "whole", "unsaid"])
def test_a_run_remembers_whether_its_lines_are_split(
    untrained_translator: TranslationPredictor, tmp_path: Path, lines: str
) -> None:
    text = {"tokenizer": "bpe"} | ({} if lines == "unsaid" else {"sentences": lines})
    experiment = {"task": "translate", "text": text, "data": {"source": "en", "target": "de"}, **TRANSLATOR}
    tokenizers: dict[str, Tokenizer] = {"source": untrained_translator.source, "target": untrained_translator.target}
    saved(tmp_path / "run", experiment, network(untrained_translator), tokenizers)  # type: ignore[arg-type]
    loaded = load(tmp_path / "run")
    assert isinstance(loaded, TranslationPredictor)
    [found] = loaded.translate_text([PARAGRAPHS[0]])
    assert len(found.sentences) == (0 if lines == "whole" else 2)
