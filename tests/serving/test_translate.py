"""What LibreTranslate's clients send and read."""

import json
from copy import copy
from html import escape
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from anaphora.formats.glossary import GlossaryEntry
from anaphora.prediction.glossary import Glossary
from anaphora.serving.limits import ServingLimits
from anaphora.serving.translators import ServedRun
from anaphora.tasks.translation.confidence import fit
from tests.serving.conftest import PAIR, RUN, Serve

TEXT = "A man is walking."
CONFIRMED = {"q": "A man.", "s": "Un homme.", **PAIR}
CALLED_OTHERWISE = (
    {},
    {"Content-Type": "application/x-www-form-urlencoded"},
    {"Content-Type": "text/plain;charset=UTF-8"},
    {"Content-Type": "application/vnd.api+json"},
)
"""What clients call JSON that does not say so: ``curl -d`` and ``fetch`` by themselves, others by their libraries."""


def expected(stored: ServedRun, *texts: str) -> list[str]:
    return [one.text for one in stored.predictor.translate_text(list(texts))]


def test_json_a_form_and_a_query_string_are_understood_alike(client: TestClient, stored: ServedRun) -> None:
    fields = {"q": TEXT, **PAIR}
    [wanted] = expected(stored, TEXT)
    for answer in (
        client.post("/translate", json=fields),
        client.post("/translate", data=fields),
        client.post("/translate", params=fields),
        client.post("/translate", params={"source": "en"}, data={"q": TEXT, "target": "fr"}),
        client.post("/translate", data=fields, files={"unused": b""}),
        *(client.post("/translate", content=json.dumps(fields), headers=kind) for kind in CALLED_OTHERWISE),
        client.post("/translate", content="\ufeff" + json.dumps(fields), headers={"Content-Type": "application/json"}),
        client.post("/translate", data=fields, headers={"Content-Encoding": "Identity"}),
        client.post("http://localhost:5000//translate", data=fields),
    ):
        assert (answer.status_code, answer.json()) == (200, {"translatedText": wanted})
        assert answer.headers["content-type"] == "application/json"


def test_a_list_is_answered_by_a_list_in_its_order(client: TestClient, stored: ServedRun) -> None:
    texts = [TEXT, "", "Two dogs run.", " ", TEXT]
    answer = client.post("/translate", json={"q": texts, **PAIR}).json()
    assert answer == {"translatedText": expected(stored, *texts)}
    one = client.post("/translate", json={"q": [TEXT], **PAIR}).json()
    assert one == {"translatedText": expected(stored, TEXT)}


def test_the_only_source_is_detected_with_certainty(client: TestClient) -> None:
    sure = {"confidence": 100.0, "language": "en"}
    for code in ("auto", "Auto"):
        answer = client.post("/translate", json={"q": ["x", "y"], "source": code, "target": "fr"}).json()
        assert answer["detectedLanguage"] == [sure, sure]
    assert client.post("/detect", data={"q": TEXT}).json() == [sure]
    assert "detectedLanguage" not in client.post("/translate", json={"q": TEXT, **PAIR}).json()


def test_alternatives_are_other_translations(client: TestClient) -> None:
    answer = client.post("/translate", json={"q": ["Two dogs run."], "alternatives": 3, **PAIR}).json()
    [others] = answer["alternatives"]
    assert len(others) <= 3
    assert len({*others, *answer["translatedText"]}) == len(others) + 1
    assert "alternatives" not in client.post("/translate", json={"q": "x", "alternatives": -1, **PAIR}).json()


def test_translations_continue_a_prefix_without_a_word(client: TestClient) -> None:
    asked = {"q": TEXT, "alternatives": 3, **PAIR}
    [first, *_] = client.post("/translate", json=asked).json()["translatedText"].split()
    word = first.rstrip(".")
    found = client.post("/translate", json={**asked, "avoid": word}).json()
    assert word not in " ".join([found["translatedText"], *found["alternatives"]]).replace(".", " ").split()
    found = client.post("/translate", json={**asked, "prefix": "Un"}).json()
    assert all(one.split()[0] == "Un" for one in [found["translatedText"], *found["alternatives"]])
    refused = client.post("/translate", json={**asked, "prefix": "Un", "avoid": "Un"})
    assert refused.status_code == 400 and "forbidden there (avoid)" in refused.json()["error"]
    for given in ({"avoid": word}, {"prefix": "Un"}):
        refused = client.post("/translate", json={**asked, "format": "html", **given})
        assert refused.status_code == 400 and "are for plain text" in refused.json()["error"]


@pytest.mark.parametrize("avoid", [" ", "\t", "\u200b", "\u00ad", "\ufeff"])
def test_a_term_without_a_character_that_is_written_is_refused(client: TestClient, avoid: str) -> None:
    refused = client.post("/translate", json={"q": TEXT, "avoid": avoid, **PAIR})
    assert refused.status_code == 400 and "no character that is written" in refused.json()["error"]


def test_the_segments_of_a_text_make_it_with_their_gaps(client: TestClient, stored: ServedRun) -> None:
    text = "  A man. See https://a.b/c.d now.\n\nTwo dogs."
    found = client.post("/segments", json={"q": text, "source": "auto", "target": "fr"}).json()
    assert found["segments"] == ["A man.", "See https://a.b/c.d now.", "Two dogs."]
    assert found["gaps"] == ["  ", " ", "\n\n", ""] and found["detectedLanguage"]["language"] == "en"
    translated = expected(stored, *found["segments"])
    joined = "".join(f"{gap}{one}" for gap, one in zip(found["gaps"], [*translated, ""], strict=True))
    assert [joined] == expected(stored, text)


def test_references_to_quotes_are_read_as_quotes(client: TestClient, stored: ServedRun) -> None:
    text = 'A "man" & two dogs'
    plain = client.post("/translate", json={"q": text, "alternatives": 2, **PAIR}).json()
    escaped = client.post("/translate", json={"q": escape(text), "alternatives": 2, **PAIR}).json()
    assert escaped["translatedText"] == escape(plain["translatedText"])
    assert escaped["alternatives"] == list(map(escape, plain["alternatives"]))


def test_a_glossary_is_obeyed_and_its_hits_are_said(serve: Serve, stored: ServedRun) -> None:
    glossary = Glossary(
        [GlossaryEntry("terms:1", "man", ("homme",), ("type",)), GlossaryEntry("terms:2", "cat", ("chat",), ())]
    )
    client = serve([stored._replace(terms=glossary)])
    asked = {"q": [TEXT, "Two dogs."], "terms": True, **PAIR}
    found = client.post("/translate", json=asked).json()
    assert "type" not in found["translatedText"][0].lower()
    assert found["terms"] == [[{"source": "man", "targets": ["homme"], "forbidden": ["type"]}], []]
    assert found["missing_terms"] == [["man"], []]
    found = client.post("/translate", json={**asked, "avoid": "Un"}).json()
    assert "type" not in found["translatedText"][0].lower()
    asked["q"] = ["cat", "<b>man</b> and <i>cat</i>"]
    found = client.post("/translate", json=asked).json()
    assert found["translatedText"][0] == "Chat." and found["missing_terms"][0] == []
    found = client.post("/translate", json=asked | {"format": "html"}).json()
    assert "Chat" in found["translatedText"][0] and found["missing_terms"][0] == []
    files = {"file": ("a.html", b"<p>cat</p><p>man</p>")}
    assert client.post("/translate_file", data=PAIR, files=files).json()["missing_terms"] == {"man": ["man"]}


def test_placeholders_come_back(client: TestClient) -> None:
    texts = [f"The man sees [X{number}X] dogs." for number in range(20)]
    found = client.post("/translate", json={"api_key": "", "q": texts, **PAIR}).json()["translatedText"]
    assert [text.count(f"[X{number}X]") for number, text in enumerate(found)] == [1] * 20


def test_an_alignment_links_words_by_their_places(client: TestClient) -> None:
    answer = client.post("/translate", json={"q": TEXT, "alignment": True, **PAIR}).json()
    words = len(TEXT.split()), len(answer["translatedText"].split())
    assert answer["alignment"]
    assert all(source < words[0] and target < words[1] for source, target in answer["alignment"])


def test_confidence_is_calibrated_or_said_how_to_calibrate(client: TestClient, serve: Serve, stored: ServedRun) -> None:
    asked = {"q": [TEXT, " "], "confidence": True, **PAIR}
    plain = client.post("/translate", json=asked)
    assert (
        plain.json()["translatedText"]
        == client.post("/translate", json={"q": [TEXT, " "], **PAIR}).json()["translatedText"]
    )
    assert plain.json()["confidence"] == [None, None]
    assert "run anaphora calibrate RUN" in plain.json()["note"][0] and str(RUN) not in plain.text
    predictor = copy(stored.predictor)
    [found] = predictor.translate_text([TEXT], signals=True)
    rows = [[one.signals.sentence for one in found.sentences or [found]], [one for one in found.signals.words if one]]
    sentence, word = (fit(np.array(row * 4), np.arange(len(row) * 4) % 2.0) for row in rows)
    fitted = SimpleNamespace(sentence=sentence, word=word, known_words=("", ""))
    predictor.calibrations = SimpleNamespace(calibration=lambda *_: fitted)
    [wanted, _] = predictor.translate_text(asked["q"], confidence=True)
    answer = serve([stored._replace(predictor=predictor)]).post("/translate", json=asked).json()
    assert answer["translatedText"] == [wanted.text, " "]
    assert answer["confidence"] == [pytest.approx(wanted.confidence), None]
    assert answer["wordConfidences"] == [pytest.approx(list(wanted.word_confidences)), []]


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({}, "missing q"),
        ({"q": ""}, "missing q"),
        ({"q": []}, "missing q"),
        ({"q": 5}, "q should be text"),
        ({"q": ["x", 5]}, "q should be text"),
        ({"q": "x", "source": "", "target": "fr"}, "missing source"),
        ({"q": "x", "source": ["en"], "target": "fr"}, "source should be text"),
        ({"q": "x", "source": "en", "target": "zz"}, "zz is not supported"),
        ({"q": "x", "source": "fr", "target": "en"}, "English (en) is not available as a target language from French"),
        ({"q": "x", "format": "pdf", **PAIR}, "pdf format is not supported"),
        ({"q": "x", "alternatives": "many", **PAIR}, "alternatives should be a whole number"),
        ({"q": "x", "alternatives": True, **PAIR}, "alternatives should be a whole number"),
        ({"q": "x", "alternatives": 1.5, **PAIR}, "alternatives should be a whole number"),
        ({"q": "x", "alternatives": 10**30, **PAIR}, "alternatives exceeds limit"),
        ({"q": "x" * 5_001, **PAIR}, "exceeds text limit (5000)"),
        ({"q": ["x"] * 129, **PAIR}, "exceed the batch limit (128)"),
    ],
)
def test_what_is_wrong_is_said_with_status_400(client: TestClient, fields: dict[str, Any], error: str) -> None:
    answer = client.post("/translate", json=fields)
    assert answer.status_code == 400
    assert list(answer.json()) == ["error"] and error in answer.json()["error"]


def test_a_form_that_is_not_utf8_is_called_so(client: TestClient) -> None:
    kind = {"Content-Type": "application/x-www-form-urlencoded; charset=ISO-8859-1"}
    for body in (b"q=%E9t%E9&source=en&target=fr", b"q=\xe9&source=en&target=fr"):
        answer = client.post("/translate", content=body, headers=kind)
        assert (answer.status_code, answer.json()) == (400, {"error": "Invalid request: the form is not UTF-8"})


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b"5",
        b"{",
        b"\xff",
        b'{"q": NaN}',
        b'{"q": ' + b"9" * 5_000 + b"}",
        b"[" * 100_000,
        b'{"q": "\\ud800", "source": "en", "target": "fr"}',
    ],
)
def test_what_is_not_json_of_unicode_is_refused(client: TestClient, body: bytes) -> None:
    answer = client.post("/translate", content=body, headers={"Content-Type": "application/json; charset=utf-8"})
    assert answer.status_code == 400
    assert list(answer.json()) == ["error"]


def test_a_body_beyond_the_limit_or_packed_is_refused(serve: Serve) -> None:
    client = serve(limits=ServingLimits(body=100))
    assert client.post("/translate", data={"q": "x" * 200}).status_code == 413
    packed = client.post("/translate", content=b"x", headers={"Content-Encoding": "gzip"})
    assert packed.status_code == 415


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/detect", 405), ("POST", "/health", 405), ("GET", "/x", 404)]
)
def test_errors_of_routes_are_json_too(client: TestClient, method: str, path: str, status: int) -> None:
    answer = client.request(method, path)
    assert answer.status_code == status
    assert list(answer.json()) == ["error"]


def test_the_languages_have_names_and_targets(client: TestClient) -> None:
    # with a body, as some clients send a GET
    assert client.request("GET", "/languages", data={"api_key": ""}).json() == [
        {"code": "en", "name": "English", "targets": ["fr"]},
        {"code": "fr", "name": "French", "targets": []},
    ]


def test_pairs_are_answered_by_word(serve: Serve, stored: ServedRun) -> None:
    known = {"source": "A man walks.", "target": "[Un] homme", "distance": 0.5}
    asked = list[tuple[str, str]]()

    def nearest(text: str, translation: str) -> list[list[dict[str, Any]]]:
        asked.append((text, translation))
        return [[known], []]

    client = serve([stored._replace(nearest=nearest)])
    assert client.get("/frontend/settings").json()["neighbours"] is True
    assert client.post("/neighbours", json=CONFIRMED).json() == {"neighbours": [[known], []]}
    assert asked == [("A man.", "Un homme.")]


def test_a_server_that_was_not_asked_to_shows_nothing(client: TestClient) -> None:
    assert client.get("/frontend/settings").json()["neighbours"] is False
    answer = client.post("/neighbours", json=CONFIRMED)
    assert (answer.status_code, answer.json()) == (403, {"error": "Training pairs are not shown by this server"})
