"""A translator with a memory: what it has comes back as it is, and the model translates the rest."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import anaphora
from anaphora.formats.glossary import GlossaryEntry
from anaphora.memory import Memory, Segment
from anaphora.prediction.glossary import Glossary
from anaphora.tasks.translation import tm_lookup
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.tm_lookup import RememberingTranslator

RUN = Path(__file__).resolve().parents[2] / "runs" / "format-2"


@pytest.fixture(scope="module")
def model() -> TranslationPredictor:
    return anaphora.load(RUN, kind=TranslationPredictor)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path, create=True) as made:
        made.add([Segment("A man is walking.", "Exactement ceci."), Segment("A man is walking.", "Cela.")], "a.tmx")
        yield made


def test_exact_matches_come_back_and_the_model_translates_the_rest(model: TranslationPredictor, memory: Memory) -> None:
    lines = ["Two dogs run.", "A  man is walking.", "", "A man is walking", "A man is walking."]
    plain = model.translate_text(lines)
    found = RememberingTranslator(model, memory).translate_text(lines)
    assert [one.text for one in found] == [plain[0].text, "Cela.", "", plain[3].text, "Cela."]
    assert [one.origin("m")["memory"] for one in found] == ["none", "exact", "none", "fuzzy 80%", "exact"]
    assert found[1].origin("m")["from"]["origin"] == "a.tmx"
    assert model.translate_text(lines) == plain and plain[1].match is None


def test_other_targets_are_alternatives_and_outer_spaces_stay(model: TranslationPredictor, memory: Memory) -> None:
    [found] = RememberingTranslator(model, memory).translate_text(["  A man is walking.\n"], alternatives=3)
    assert (found.text, [one.text for one in found.alternatives]) == ("  Cela.\n", ["  Exactement ceci.\n"])
    [whole] = RememberingTranslator(model, memory).translate(["  A man is walking. "])
    assert whole.text == "Cela." and not whole.alternatives


def test_neighbours_decide_and_similar_segments_have_a_threshold(model: TranslationPredictor, memory: Memory) -> None:
    memory.add([Segment("Dogs.", "Chiens.", "Cats.", ""), Segment("Dogs.", "Toutous.", "", "Cats.")], "b.tmx")
    remembering = RememberingTranslator(model, memory)
    assert remembering.translate(["Cats.", "Dogs."])[1].text == "Chiens."
    assert remembering.translate(["Dogs.", "Cats."])[0].text == "Toutous."
    for least, found in (80, "fuzzy 80%"), (81, "None"), (100, "None"):
        [similar] = RememberingTranslator(model, memory, least).translate(["A man is walking"])
        assert str(similar.match) == found


def test_required_terms_that_a_segment_lacks_are_reported(model: TranslationPredictor, memory: Memory) -> None:
    dogs, page = ("Two dogs run.", "Deux chiens courent."), ("See https://a.org.", "Voir https://a.org.")
    memory.add([Segment(*dogs), Segment(*page)], "b.tmx")
    entries = [("man", "homme"), ("two dogs", "deux chiens"), ("org", "organe")]
    terms = Glossary(GlossaryEntry("terms.tsv:1", source, (target,), ()) for source, target in entries)
    lines = ["A man is walking.", "Two <i>dogs</i> run.", "A man is walking. Two dogs run.", page[0]]
    found = RememberingTranslator(model, memory, writes=True).translate_text(lines, terms=terms)
    assert all(one.matches for one in found)
    assert [one.missing_terms for one in found] == [("man",), (), ("man",), ()]


def test_a_line_gets_a_line_of_a_segment_of_several(model: TranslationPredictor, memory: Memory) -> None:
    memory.add([Segment("Dogs\nrun.", "Des chiens\ncourent.")], "b.tmx")
    found = RememberingTranslator(model, memory).translate_text(["Dogs run.", "Dogs\nrun."])
    assert [one.text for one in found] == ["Des chiens courent.", "Des chiens\ncourent."]


PARAGRAPH = "A man is walking. Two dogs run. A woman is reading."


def test_a_paragraph_takes_sentences_from_memory_and_model(model: TranslationPredictor, memory: Memory) -> None:
    memory.add([Segment("A woman is reading.", "Une dame lit.")], "b.tmx")
    remembering = RememberingTranslator(model, memory)
    [dogs] = model.translate(["Two dogs run."])
    [found] = remembering.translate_text([f" {PARAGRAPH}\n"], alternatives=1)
    assert found.text == f" Cela. {dogs.text} Une dame lit.\n" and len(found.alternatives) == 1
    assert found.origin("m")["memory"] == "exact for 2 of 3 sentences"
    told = [(one["text"], one["memory"]) for one in found.origin("m")["sentences"]]
    assert told == [("Cela.", "exact"), (dogs.text, "none"), ("Une dame lit.", "exact")]
    [whole] = remembering.translate([PARAGRAPH])
    assert whole.text == model.translate([PARAGRAPH])[0].text, "a text that is not split is one sentence"
    lines = ["A man is walking. Two dogs run. Two cats run.", "12.", PARAGRAPH, "", "A man. A cat."]
    together = remembering.translate_text(lines)
    assert [one.text for one in together] == [remembering.translate_text([line])[0].text for line in lines]


def test_sentences_of_a_paragraph_are_neighbours_of_each_other(model: TranslationPredictor, memory: Memory) -> None:
    memory.add([Segment("Dogs.", "Chiens.", "Cats run.", ""), Segment("Dogs.", "Toutous.", "", "Cats run.")], "b.tmx")
    found = RememberingTranslator(model, memory).translate_text(["Cats run. Dogs.", "Dogs. Cats run."])
    assert found[0].text.endswith(" Chiens.") and found[1].text.startswith("Toutous. ")


def test_tags_around_a_sentence_stay_around_what_the_memory_has(model: TranslationPredictor, memory: Memory) -> None:
    translate = RememberingTranslator(model, memory).translate_text
    for text in "<b>A man is walking.</b>", " <x1/>A man is walking.":
        [found] = translate([text])
        assert found.text == text.replace("A man is walking", "Cela") and found.matches[0].is_exact
    [found] = translate(["<b>A man is walking.</b> Two <i>dogs</i> run."])
    assert found.text.startswith("<b>Cela.</b> ") and found.text.count("<i>") == found.text.count("</i>") == 1


def test_tags_go_where_attention_is_clear_and_else_the_match_is_a_similar_one(
    model: TranslationPredictor, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, asked = "Two <b>dogs</b> run.", "Two dogs run."
    memory.add([Segment(asked, "Deux chiens courent.")], "b.tmx")
    remembering = RememberingTranslator(model, memory)
    plain = model.translate([text])[0].text
    for clear, exact in ((0.0, True), (1.01, False)):
        monkeypatch.setattr(tm_lookup, "_CLEAR", clear)
        [found] = remembering.translate([text])
        assert found.match is not None and found.match.segment.target == "Deux chiens courent."
        assert (found.match.percent, found.match.is_exact) == ((100, True) if exact else (99, False))
        assert re.sub("</?b>", "", found.text) == "Deux chiens courent." if exact else found.text == plain
    [review] = RememberingTranslator(model, memory, writes=True).translate([text])
    assert re.sub("</?b>", "", review.text) == "Deux chiens courent." and str(review.match) == "fuzzy 99%"


def test_similar_segments_say_what_differs_and_are_used_on_request(model: TranslationPredictor, memory: Memory) -> None:
    text = "A Man is running fast."
    [shown] = RememberingTranslator(model, memory, 50).translate([text])
    assert shown.text == model.translate([text])[0].text and shown.match is not None
    changes = [tuple(one.values()) for one in shown.origin("m")["changes"]]
    wanted = [("kept", "A Man is"), ("removed", "walking"), ("added", "running fast"), ("kept", ".")]
    assert changes == wanted
    assert shown.match.difference == "removed 'walking', added 'running fast'"
    [used] = RememberingTranslator(model, memory, 50, writes=True).translate([text])
    assert used.text == "Cela." and used.match is not None and not used.match.is_exact
    [lost] = RememberingTranslator(model, memory, 50, writes=True).translate(["A man is walking {0}."])
    assert "{0}" in lost.text, "what would lose a placeholder is left to the model"
