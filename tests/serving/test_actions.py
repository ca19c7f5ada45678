"""Requests in the way of Weblate's "tmserver", and what it reads of the answers."""

from typing import Any
from urllib.parse import quote

from anaphora.memory import Memory, Segment
from anaphora.serving.limits import ServingLimits
from anaphora.serving.translators import Served
from tests.serving.conftest import Serve


def asked(client: Any, text: str, pair: tuple[str, str] = ("en", "fr"), **query: int) -> list[tuple[str, str, int]]:
    """What Weblate reads of the answer for a text, whose code it writes in lower case, cut to 500 characters."""
    path = f"/tmserver/{pair[0]}/{pair[1]}/unit/{quote(text[:500].replace(chr(13), ' '), safe='')}"
    answer = client.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return [(one["source"], one["target"], int(one["quality"])) for one in answer.json()]


def test_segments_come_with_their_quality_the_most_similar_first(
    serve: Serve, remembering: Served, memory: Memory
) -> None:
    pairs = [("Save the file", "Enregistrer"), ("Save the files", "Tout enregistrer"), ("Quit", "Quitter")]
    memory.add([Segment(*pair) for pair in pairs], "app.po")
    memory.add([Segment("Save the file", "Sauver")], "later.po")
    client = serve([remembering])
    assert asked(client, "Save the file") == [("Save the file", "Sauver", 100), ("Save the file", "Enregistrer", 100)]
    assert asked(client, "Save the file", min_similarity=60, max_candidates=3)[2] == (*pairs[1], 66)
    assert len(asked(client, "Save the file", min_similarity=60, max_candidates=1)) == 1
    assert asked(client, "Nothing of the kind") == []


def test_any_text_is_found(serve: Serve, remembering: Served, memory: Memory) -> None:
    texts = ["a/b", "a?b=c&d", "100 %", "#1", "Ünïcode 日本", "a\nb", "a+b", "x" * 500]
    memory.add([Segment(text, "trouvé") for text in texts], "app.po")
    client = serve([remembering])
    for text in texts:
        assert asked(client, text)[0] == (text, "trouvé", 100)


def test_languages_are_those_of_memories_in_the_codes_that_are_asked_for(
    serve: Serve, remembering: Served, stored: Served, memory: Memory
) -> None:
    memory.add([Segment("Quit", "Sair")], "app.po")
    client = serve([remembering._replace(target="pt-BR"), stored])
    listed = client.get("/tmserver/languages/", follow_redirects=False).json()
    assert listed == {"sourceLanguages": ["en"], "targetLanguages": ["pt_br"]}
    assert asked(client, "Quit", ("en", "pt_br")) == [("Quit", "Sair", 100)]
    assert asked(client, "Quit", ("en", "fr")) == []


def test_what_cannot_be_looked_up_is_refused(serve: Serve, remembering: Served) -> None:
    client = serve([remembering], limits=ServingLimits(characters=10))
    for path in ("en/de/unit/a", "fr/en/unit/a", "en/fr/unit/%20", f"en/fr/unit/{'x' * 11}"):
        assert client.get(f"/tmserver/{path}").status_code == 400, path
    for query in ("min_similarity=101", "min_similarity=x", "max_candidates=51", f"max_candidates={'9' * 5000}"):
        assert client.get(f"/tmserver/en/fr/unit/a?{query}").status_code == 400, query
