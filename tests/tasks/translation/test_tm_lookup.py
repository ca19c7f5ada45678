"""A translator with a memory: what it has comes back as it is, and the model translates the rest."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import anaphora
from anaphora.memory import Memory, Segment
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.tm_lookup import RememberingTranslator

RUN = Path(__file__).resolve().parents[2] / "runs" / "format-2"


@pytest.fixture(scope="module")
def model() -> TranslationPredictor:
    found = anaphora.load(RUN)
    assert isinstance(found, TranslationPredictor)
    return found


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path, create=True) as made:
        made.add([Segment("A man is walking.", "Exactement ceci."), Segment("A man is walking.", "Cela.")], "a.tmx")
        yield made


def test_exact_matches_come_back_exactly_and_the_model_translates_the_rest(
    model: TranslationPredictor, memory: Memory
) -> None:
    lines = ["Two dogs run.", "A  man is walking.", "", "A man is walking", "A man is walking."]
    plain = model.translate_text(lines)
    found = RememberingTranslator(model, memory).translate_text(lines)
    assert [one.text for one in found] == [plain[0].text, "Cela.", "", plain[3].text, "Cela."]
    assert [one.origin("m")["memory"] for one in found] == ["none", "exact", "none", "fuzzy 80%", "exact"]
    assert found[1].origin("m")["from"]["origin"] == "a.tmx"
    assert model.translate_text(lines) == plain and plain[1].match is None


def test_other_targets_are_alternatives_and_outer_white_space_stays(
    model: TranslationPredictor, memory: Memory
) -> None:
    [found] = RememberingTranslator(model, memory).translate_text(["  A man is walking.\n"], alternatives=3)
    assert (found.text, [one.text for one in found.alternatives]) == ("  Cela.\n", ["  Exactement ceci.\n"])
    [whole] = RememberingTranslator(model, memory).translate(["  A man is walking. "])
    assert whole.text == "Cela." and not whole.alternatives


def test_the_lines_around_a_text_are_its_neighbours_and_similar_segments_are_told_of_from_a_threshold(
    model: TranslationPredictor, memory: Memory
) -> None:
    memory.add([Segment("Dogs.", "Chiens.", "Cats.", ""), Segment("Dogs.", "Toutous.", "", "Cats.")], "b.tmx")
    remembering = RememberingTranslator(model, memory)
    assert remembering.translate(["Cats.", "Dogs."])[1].text == "Chiens."
    assert remembering.translate(["Dogs.", "Cats."])[0].text == "Toutous."
    for least, found in (80, "fuzzy 80%"), (81, "None"), (100, "None"):
        [similar] = RememberingTranslator(model, memory, least).translate(["A man is walking"])
        assert str(similar.match) == found
