"""A server with memories: what they have comes back as it was confirmed, and is found in the way of Weblate."""

import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from anaphora.memory import Memory, Segment
from anaphora.prediction.options import SearchOptions
from anaphora.serving.limits import ServingLimits
from anaphora.serving.translators import ServedRun, Translators
from anaphora.tasks.translation.tm_lookup import adaptation_to
from tests.serving.conftest import PAIR, RUN, Serve

TEXT, CONFIRMED, OLDER = "A man is walking.", "Un type se promène.", "Un monsieur marche."


@pytest.fixture(autouse=True)
def known(memory: Memory) -> None:
    memory.add([Segment(TEXT, OLDER)], "old.tmx")
    memory.add([Segment(TEXT, CONFIRMED)], "new.tmx")


def test_what_the_memory_has_comes_back_as_it_was_confirmed(serve: Serve, remembering: ServedRun) -> None:
    client = serve([remembering])
    other = client.post("/translate", json={"q": "Two dogs run.", **PAIR}).json()["translatedText"]
    texts = ["Two dogs run.", f"  {TEXT}\n", ""]
    found = client.post("/translate", json={"q": texts, **PAIR}).json()["translatedText"]
    assert found == [other, f"  {CONFIRMED}\n", ""]


def test_sentences_come_from_the_memory_within_paragraphs_and_across_tags(serve: Serve, remembering: ServedRun) -> None:
    client = serve([remembering])
    alone = client.post("/translate", json={"q": "Two dogs run.", "alignment": True, **PAIR}).json()
    dogs = alone["translatedText"]
    asked = {"q": [f"{TEXT} Two dogs run.\n{TEXT}", f"<b>{TEXT}</b> 12"], "memory": True, "alignment": True, **PAIR}
    answer = client.post("/translate", json={**asked, "confidence": True}).json()
    assert answer["translatedText"] == [f"{CONFIRMED} {dogs}\n{CONFIRMED}", f"<b>{CONFIRMED}</b> 12"]
    assert answer["memory"][0] == "exact for 2 of 3 sentences"
    assert [one["memory"] for one in answer["sentences"][0]] == ["exact", "none", "exact"]
    assert answer["alignment"] == [[[source + 4, target + 4] for source, target in alone["alignment"]], [[4, 4]]]
    page = f"<p><i>{TEXT}</i> Two <b>dogs</b> run.</p>"
    found = client.post("/translate", json={"q": page, "format": "html", **PAIR}).json()["translatedText"]
    assert found.startswith(f"<p><i>{CONFIRMED}</i> ") and found.count("<b>") == found.count("</b>") == 1


def test_other_targets_of_the_memory_are_the_alternatives(serve: Serve, remembering: ServedRun) -> None:
    answer = serve([remembering]).post("/translate", json={"q": TEXT, "alternatives": 3, "alignment": True, **PAIR})
    assert answer.json() == {"translatedText": CONFIRMED, "alternatives": [OLDER], "alignment": []}


def test_the_texts_of_a_request_are_neighbours(serve: Serve, remembering: ServedRun, memory: Memory) -> None:
    memory.add([Segment("Open.", "Ouvert.", before="It is"), Segment("Open.", "Ouvre.", before="Do")], "ui.po")
    client = serve([remembering])
    for before, wanted in (("It is", "Ouvert."), ("Do", "Ouvre.")):
        assert client.post("/translate", json={"q": [before, "Open."], **PAIR}).json()["translatedText"][1] == wanted


@pytest.mark.parametrize("confirmed", ["<script>alert(1)</script>", "</b><b onclick=alert(1)>", "1 < 2 & 3"])
def test_a_memory_never_becomes_markup(serve: Serve, remembering: ServedRun, memory: Memory, confirmed: str) -> None:
    memory.add([Segment("Dogs", confirmed)], "bad.tmx")
    answer = serve([remembering]).post("/translate", json={"q": "<b>Dogs</b>", "format": "html", **PAIR})
    text = answer.json()["translatedText"].removeprefix("<b>").removesuffix("</b>")
    assert not re.search(r"[<>]|&(?!amp;|lt;|gt;)", text)


def test_a_loaded_run_has_its_memory_and_is_adapted_to_it(serve: Serve, tmp_path: Path) -> None:
    run = shutil.copytree(RUN, tmp_path / "run")
    with Memory(run, create=True) as memory:
        memory.add([Segment("A man is walking.", "Un homme marche dans la rue.")], "old.tmx")
    [served] = Translators.load([run], memory=True, adapt=True)
    assert served.memory is not None and served.learning is None
    text = "A man is walking today."
    adapted = SearchOptions(adaptation=adaptation_to(served.memory))
    [wanted], [plain] = (served.predictor.translate_text([text], options) for options in (adapted, SearchOptions()))
    answer = serve([served]).post("/translate", json={"q": text, **PAIR})
    assert answer.json() == {"translatedText": wanted.text} != {"translatedText": plain.text}


def test_an_answer_says_where_a_translation_comes_from_only_when_asked(serve: Serve, remembering: ServedRun) -> None:
    client = serve([remembering])
    texts = [TEXT, "A man is walking fast.", "Two dogs."]
    plain = client.post("/translate", json={"q": texts, **PAIR}).json()
    told = client.post("/translate", json={"q": texts, "memory": True, "alignment": True, **PAIR}).json()
    assert list(plain) == ["translatedText"]
    assert told["translatedText"] == plain["translatedText"]
    assert told["memory"] == ["exact", "fuzzy 83%", "none"]
    assert told["model"] == ["format-2"] * 3
    assert [one and one["target"] for one in told["from"]] == [CONFIRMED, CONFIRMED, None]
    assert [bool(links) for links in told["alignment"][:2]] == [False, True]
    single = client.post("/translate", data={"q": TEXT, "memory": "1", **PAIR}).json()
    assert (single["memory"], single["model"], single["from"]["origin"]) == ("exact", "format-2", "new.tmx")


def test_without_a_memory_the_model_is_named(client: TestClient) -> None:
    answer = client.post("/translate", json={"q": TEXT, "memory": True, **PAIR}).json()
    assert (answer["model"], answer["memory"], answer["from"]) == ("format-2", "none", None)


def asked(client: Any, text: str, pair: tuple[str, str] = ("en", "fr"), **query: int) -> list[tuple[str, str, int]]:
    """What Weblate reads of the answer for a text, whose code it writes in lower case, cut to 500 characters."""
    path = f"/tmserver/{pair[0]}/{pair[1]}/unit/{quote(text[:500].replace(chr(13), ' '), safe='')}"
    answer = client.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return [(one["source"], one["target"], int(one["quality"])) for one in answer.json()]


def test_segments_have_a_quality_the_most_similar_first(serve: Serve, remembering: ServedRun, memory: Memory) -> None:
    pairs = [("Save the file", "Enregistrer"), ("Save the files", "Tout enregistrer"), ("Quit", "Quitter")]
    memory.add([Segment(*pair) for pair in pairs], "app.po")
    memory.add([Segment("Save the file", "Sauver")], "later.po")
    client = serve([remembering])
    assert asked(client, "Save the file") == [("Save the file", "Sauver", 100), ("Save the file", "Enregistrer", 100)]
    assert asked(client, "Save the file", min_similarity=60, max_candidates=3)[2] == (*pairs[1], 66)
    assert len(asked(client, "Save the file", min_similarity=60, max_candidates=1)) == 1
    assert asked(client, "Nothing of the kind") == asked(client, "Save it", min_similarity="") == []
    assert [percent for *_, percent in asked(client, "Save it all", min_similarity=0)] == [33, 33, 33, 0, 0]


def test_any_text_is_found(serve: Serve, remembering: ServedRun, memory: Memory) -> None:
    texts = ["a/b", "a?b=c&d", "100 %", "#1", "Ünïcode 日本", "a\nb", "a+b", "x" * 500]
    memory.add([Segment(text, "trouvé") for text in texts], "app.po")
    client = serve([remembering])
    for text in texts:
        assert asked(client, text)[0] == (text, "trouvé", 100)


def test_languages_are_in_codes_asked_for(
    serve: Serve, remembering: ServedRun, stored: ServedRun, memory: Memory
) -> None:
    memory.add([Segment("Quit", "Sair")], "app.po")
    client = serve([remembering._replace(target="pt-BR"), stored])
    listed = client.get("/tmserver/languages/", follow_redirects=False).json()
    assert listed == {"sourceLanguages": ["en"], "targetLanguages": ["pt_br"]}
    assert asked(client, "Quit", ("en", "pt_br")) == [("Quit", "Sair", 100)]
    assert asked(client, "Quit", ("en", "fr")) == []


def test_what_cannot_be_looked_up_is_refused(serve: Serve, remembering: ServedRun) -> None:
    client = serve([remembering], limits=ServingLimits(characters=10))
    for path in ("en/de/unit/a", "fr/en/unit/a", "en/fr/unit/%20", f"en/fr/unit/{'x' * 11}"):
        assert client.get(f"/tmserver/{path}").status_code == 400, path
    for query in ("min_similarity=101", "min_similarity=x", "max_candidates=51", f"max_candidates={'9' * 5000}"):
        assert client.get(f"/tmserver/en/fr/unit/a?{query}").status_code == 400, query
