"""Documents and HTML: what is no text stays as it is, and what is written is escaped."""

import re
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from anaphora.formats.entries.document import Document
from anaphora.serving.documents import HELD, LARGEST_PAGE, Downloads
from anaphora.serving.limits import ServingLimits
from anaphora.serving.refusal import Refusal
from anaphora.serving.translators import ServedRun
from anaphora.tasks.translation.documents import PARTS, fill
from tests.serving.conftest import PAIR, Serve

PO = b'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "A man."\nmsgstr ""\n'
TAG = re.compile("<[^>]*>")
FOREIGN = (
    b'<xliff><file source-language="es" target-language="pt"><trans-unit><source>a</source></trans-unit></file></xliff>'
)


def test_html_keeps_its_tags_and_what_is_not_translated(client: TestClient) -> None:
    page = '<p>A man <b>is</b> walking.<br>Two <a href="/x?a=1&amp;b=2">dogs</a> <span translate="no">:run:</span></p>'
    asked = {"q": [page, ""], "format": "html", "alternatives": 2, **PAIR, "source": "auto"}
    answer = client.post("/translate", json=asked).json()
    translated, empty = answer["translatedText"]
    assert TAG.findall(translated) == TAG.findall(page)
    assert ":run:" in translated
    [others, none] = answer["alternatives"]
    assert (empty, none) == ("", [])
    assert others and translated not in others and all(TAG.findall(one) == TAG.findall(page) for one in others)
    assert [one["language"] for one in answer["detectedLanguage"]] == ["en", "en"]


def test_a_document_comes_back_with_its_gaps_filled(client: TestClient) -> None:
    message = b'\nmsgid "{n, plural, one {file} other {files}} of it"\nmsgstr ""\n'
    answer = client.post("/translate_file", data=PAIR, files={"file": ("app.po", PO + message)})
    assert (answer.json()["filled"], answer.json()["left"]) == (1, {PARTS: [7]})
    address = answer.json()["translatedFileUrl"]
    assert address.startswith("http://localhost:5000/download_file/")
    fetched = client.get(address)
    assert fetched.headers["content-disposition"] == "attachment; filename*=UTF-8''app.po"
    assert PO.splitlines()[:2] == fetched.content.splitlines()[:2]
    assert b"fuzzy" in fetched.content


def test_lines_of_a_text_are_translated_between_their_ends(client: TestClient, stored: ServedRun) -> None:
    text = "\ufeffA man.\r\n\r\n  Two dogs run. A man.\nA man."
    answer = client.post("/translate_file", data=PAIR, files={"file": ("a.TXT", text.encode())}).json()
    for line in ("  Two dogs run. A man.", "A man."):
        text = text.replace(line, stored.predictor.translate_text([line])[0].text)
    assert client.get(answer["translatedFileUrl"]).content.decode() == text


def test_a_form_may_come_in_chunks_up_to_the_limit(serve: Serve) -> None:
    def chunks(count: int) -> Iterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
        yield from [b"A man. " * 10] * count
        for name, value in PAIR.items():
            yield f'\r\n--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}'.encode()
        yield b"\r\n--b--\r\n"

    client = serve(limits=ServingLimits(document=1000, body=1000))
    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    for count, status in ((1, 200), (100, 413)):
        assert client.post("/translate_file", content=chunks(count), headers=kind).status_code == status
    twice = {**PAIR, "target": [PAIR["target"], "xx"]}
    assert client.post("/translate_file", data=twice, files={"file": ("a.txt", b"A man.")}).status_code == 200


@pytest.mark.parametrize(
    ("files", "status", "error"),
    [
        ({}, 400, "missing file parameter"),
        ({"file": ("a.md", b"text")}, 400, "a.md is none that is known"),
        ({"file": ("a.po", b"")}, 400, "a.po is empty"),
        ({"file": ("a.xlf", FOREIGN)}, 400, "a.xlf is in other languages than en and fr"),
        ({"file": ("a.txt", b"text\n\xe4")}, 400, "a.txt:2 should be UTF-8"),
        ({"file": ("a.pdf", b"%PDF-1.7")}, 400, "a.pdf is a PDF: convert it with  pdftotext a.pdf"),
        ({"file": ("a.po", b"msgid")}, 400, ""),
        ({"file": ("a.po", b"#" * (ServingLimits().document + 1))}, 413, "exceeds the limit"),
        ({"file": ("a.html", b"<!doctype html><p>" + b"A man. " * (LARGEST_PAGE // 7))}, 413, "the page exceeds"),
    ],
)
def test_what_is_no_document_is_refused(
    client: TestClient, files: dict[str, tuple[str, bytes]], status: int, error: str
) -> None:
    answer = client.post("/translate_file", data=PAIR, files=files)
    assert answer.status_code == status
    assert error in answer.json()["error"]


def test_the_oldest_documents_are_dropped_first() -> None:
    downloads = Downloads()
    first, second, third = (downloads.add(f"{name}.po", bytes(HELD // 2)) for name in "abc")
    assert [downloads.get(name).name for name in (second, third)] == ["b.po", "c.po"]
    with pytest.raises(Refusal):
        downloads.get(first)
    assert len({first, second, third}) == 3


@given(text=st.text(alphabet="<>&\"'/ab =!-", max_size=40))
def test_what_a_model_writes_never_becomes_a_tag(text: str) -> None:
    def script(texts: Sequence[str]) -> list[str]:
        return [f"<script>{one}" for one in texts]

    page = Document(f"<html>{text}".encode(), "q", "html", ("en", "fr"))
    assert b"<script>" not in fill(page, script, "fr").content
