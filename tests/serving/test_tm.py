"""A server with memories: what they have comes back as it was confirmed, whatever else is in the queue."""

import re
import shutil
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from anaphora.memory import Memory, Segment
from anaphora.prediction.options import SearchOptions
from anaphora.serving.translators import Served, Translators
from anaphora.tasks.translation import adaptation_to
from tests.serving.conftest import RUN, Serve

PAIR = {"source": "en", "target": "fr"}
TEXT, CONFIRMED, OLDER = "A man is walking.", "Un type se promène.", "Un monsieur marche."
PO = b'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "A man is walking."\nmsgstr ""\n'


@pytest.fixture(autouse=True)
def known(memory: Memory) -> None:
    memory.add([Segment(TEXT, OLDER)], "old.tmx")
    memory.add([Segment(TEXT, CONFIRMED)], "new.tmx")


def test_what_the_memory_has_comes_back_as_it_was_confirmed(serve: Serve, remembering: Served) -> None:
    client = serve([remembering])
    other = client.post("/translate", json={"q": "Two dogs run.", **PAIR}).json()["translatedText"]
    texts = ["Two dogs run.", f"  {TEXT}\n", ""]
    found = client.post("/translate", json={"q": texts, **PAIR}).json()["translatedText"]
    assert found == [other, f"  {CONFIRMED}\n", ""]


def test_other_targets_of_the_memory_are_the_alternatives(serve: Serve, remembering: Served) -> None:
    answer = serve([remembering]).post("/translate", json={"q": TEXT, "alternatives": 3, "alignment": True, **PAIR})
    assert answer.json() == {"translatedText": CONFIRMED, "alternatives": [OLDER], "alignment": []}


def test_the_texts_of_a_request_are_neighbours(serve: Serve, remembering: Served, memory: Memory) -> None:
    memory.add([Segment("Open.", "Ouvert.", before="It is"), Segment("Open.", "Ouvre.", before="Do")], "ui.po")
    client = serve([remembering])
    for before, wanted in (("It is", "Ouvert."), ("Do", "Ouvre.")):
        assert client.post("/translate", json={"q": [before, "Open."], **PAIR}).json()["translatedText"][1] == wanted


def test_documents_take_what_the_memory_has(serve: Serve, remembering: Served) -> None:
    client = serve([remembering])
    sent = client.post("/translate_file", data=PAIR, files={"file": ("app.po", PO)}).json()["translatedFileUrl"]
    assert f'msgstr "{CONFIRMED}"'.encode() in client.get(sent).content


@pytest.mark.parametrize("confirmed", ["<script>alert(1)</script>", "</b><b onclick=alert(1)>", "1 < 2 & 3"])
def test_what_the_memory_has_never_becomes_markup(
    serve: Serve, remembering: Served, memory: Memory, confirmed: str
) -> None:
    memory.add([Segment("Dogs", confirmed)], "bad.tmx")
    answer = serve([remembering]).post("/translate", json={"q": "<b>Dogs</b>", "format": "html", **PAIR})
    text = answer.json()["translatedText"].removeprefix("<b>").removesuffix("</b>")
    assert not re.search(r"[<>]|&(?!amp;|lt;|gt;)", text)


def test_a_loaded_run_has_its_memory_and_is_adapted_to_it(tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(RUN, run)
    with Memory(run, create=True) as memory:
        memory.add([Segment("A man is walking.", "Un homme marche dans la rue.")], "old.tmx")
    [served] = Translators.load([run], memory=True, adapt=True)
    assert served.memory is not None and served.adaptation is not None and served.learning is None
    text = "A man is walking today."
    adapted = SearchOptions(adaptation=adaptation_to(served.memory))
    [wanted] = served.predictor.translate_text([text], adapted)
    [found] = served.predictor.translate_text([text], SearchOptions(adaptation=served.adaptation))
    [plain] = served.predictor.translate_text([text])
    assert found == wanted and found.score != plain.score
    served.memory.close()


def test_the_server_searches_with_the_adaptation(serve: Serve, remembering: Served, memory: Memory) -> None:
    adaptation = adaptation_to(memory)
    text = "A man is walking today."
    [wanted] = remembering.predictor.translate_text([text], SearchOptions(adaptation=adaptation))
    asked: list[str] = []
    spying = adaptation._replace(find=lambda text: (asked.append(text), adaptation.find(text))[1])
    answer = serve([remembering._replace(adaptation=spying)]).post("/translate", json={"q": text, **PAIR})
    assert answer.json() == {"translatedText": wanted.text}
    assert text in asked


def test_an_answer_says_where_a_translation_comes_from_only_when_asked(serve: Serve, remembering: Served) -> None:
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
