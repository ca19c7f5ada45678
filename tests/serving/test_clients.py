"""Requests in the ways of Weblate and Mastodon, and what each reads of the answer."""

import re

from tests.serving.conftest import Serve


def test_weblate_translates_twenty_texts_and_gets_its_placeholders_back(serve: Serve) -> None:
    client = serve()
    assert {one["code"] for one in client.get("/languages").json()} == {"en", "fr"}
    texts = [f"The man sees [X{number}X] dogs." for number in range(20)]
    answer = client.post("/translate", json={"api_key": "", "q": texts, "source": "en", "target": "fr"})
    found = answer.json()["translatedText"]
    assert len(found) == 20
    assert all(text.count(f"[X{number}X]") == 1 for number, text in enumerate(found))


def test_mastodon_detects_the_language_and_keeps_its_emoji_and_links(serve: Serve) -> None:
    client = serve()
    listed = client.get("/languages", headers={"Content-Type": "application/json"}).json()
    assert all(isinstance(one["targets"], list) for one in listed)
    status = '<p>A man <span translate="no">:wave:</span><br/>Two <a href="https://a.example/?a=1&amp;b=2">dogs</a></p>'
    body = {"q": [status, "<p></p>"], "source": "auto", "target": "fr", "format": "html", "api_key": None}
    answer = client.post("/translate", json=body).json()
    first, second = answer["translatedText"]
    assert re.findall("<[^>]*>", first) == re.findall("<[^>]*>", status) and ">:wave:<" in first
    assert second == "<p></p>"
    assert [one["language"] for one in answer["detectedLanguage"]] == ["en", "en"]
