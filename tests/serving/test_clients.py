"""Requests in the ways of Weblate, Mastodon, wagtail-localize and Discourse, and what each reads of the answer."""

from tests.serving.conftest import Serve


def test_weblate_translates_twenty_texts_and_gets_its_placeholders_back(serve: Serve) -> None:
    client = serve()
    assert {one["code"] for one in client.get("/languages").json()} == {"en", "fr"}
    texts = [f"The man sees [X{number}X] dogs." for number in range(20)]
    answer = client.post("/translate", json={"api_key": "", "q": texts, "source": "en", "target": "fr"})
    found = answer.json()["translatedText"]
    assert len(found) == 20
    assert all(text.count(f"[X{number}X]") == 1 for number, text in enumerate(found))


def test_weblate_is_told_why_a_pair_is_missing(serve: Serve) -> None:
    answer = serve().post("/translate", json={"api_key": "", "q": ["test"], "source": "en", "target": "de"})
    assert (answer.status_code, answer.json()["error"]) == (400, "de is not supported")


def test_mastodon_detects_the_language_and_keeps_its_emoji_and_links(serve: Serve) -> None:
    client = serve()
    listed = client.get("/languages", headers={"Content-Type": "application/json"}).json()
    assert all(isinstance(one["targets"], list) for one in listed)
    status = '<p>A man <span translate="no">:wave:</span><br/>Two <a href="https://a.example/?a=1&amp;b=2">dogs</a></p>'
    body = {"q": [status, "<p></p>"], "source": "auto", "target": "fr", "format": "html", "api_key": None}
    answer = client.post("/translate", json=body).json()
    first, second = answer["translatedText"]
    for kept in (
        '<span translate="no">:wave:</span>',
        "<br/>",
        '<a href="https://a.example/?a=1&amp;b=2">',
        "</a></p>",
    ):
        assert kept in first
    assert second == "<p></p>"
    assert [one["language"] for one in answer["detectedLanguage"]] == ["en", "en"]


def test_wagtail_gets_as_many_texts_as_it_sent(serve: Serve) -> None:
    body = {"q": ["<b>A man</b>", "Two dogs.", "<i>3</i>"], "source": "en", "target": "fr", "format": "html"}
    found = serve().post("/translate", json=body).json()["translatedText"]
    assert len(found) == 3
    assert found[0].startswith("<b>") and found[2] == "<i>3</i>"


def test_discourse_detects_lists_and_translates_by_forms(serve: Serve) -> None:
    client = serve()
    language = client.post("/detect", data={"q": "A man is walking.", "api_key": "bare"}).json()[0]["language"]
    assert language in {one["code"] for one in client.get("/languages").json()}
    body = {"q": "<p>A man.</p>", "source": language, "target": "fr", "format": "html", "api_key": "bare"}
    assert client.post("/translate", data=body).json()["translatedText"].startswith("<p>")
