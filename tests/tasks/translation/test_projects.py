"""Which segments of an OmegaT project are translated, and what becomes of them."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from anaphora.errors import DataError
from anaphora.formats.omegat import read_project
from anaphora.tasks.translation.documents import LOST, NO_TEXT, UNKNOWN, UNSURE
from anaphora.tasks.translation.pretranslation import Segments, pretranslate, segments_of
from tests.formats.entries.test_xliff import first, trans_unit
from tests.formats.omegat_project import make_project

PAGE = "<html><p>Open the <b>file</b>. Then close it.</p><p>{}</p>"


def segments(folder: Path, files: dict[str, str], **options: object) -> Segments:
    project = make_project(folder / "p", {f"source/{name}": text for name, text in files.items()}, **options)  # type: ignore[arg-type]
    return segments_of(read_project(project))


def test_paragraphs_are_segmented_as_the_project_says(tmp_path: Path) -> None:
    page = PAGE.format("Yes.")
    by_sentences = segments(tmp_path / "1", {"a.html": page}).new
    assert by_sentences == ["Open the <b0>file</b0>.", "Then close it.", "Yes."]
    whole = segments(tmp_path / "2", {"a.html": page}, by_sentences=False).new
    assert whole == ["Open the <b0>file</b0>. Then close it.", "Yes."]


def test_documents_of_all_formats_are_read_and_others_are_listed(tmp_path: Path) -> None:
    files = {
        "a.po": 'msgid "Save"\nmsgstr ""\n\nmsgid "Done"\nmsgstr "Fertig"\n\nmsgid "%d file"\nmsgid_plural "%d files"\n'
        'msgstr[0] ""\nmsgstr[1] ""\n',
        "b.srt": "1\n00:00:01,0 --> 00:00:02,0\nIn two\nlines\n",
        "c.txt": "A line.\n\n12\nSave\n",
        "deep/d.xlf": first(trans_unit("<source>A unit</source>")),
        "e.docx": "PK\x03\x04word/",
        "f.tmx": "<tmx version='1.4'><body/></tmx>",
    }
    found = segments(tmp_path, files)
    assert found.new == ["Save", "%d file", "%d files", "In two lines", "A line.", "A unit"]
    assert [path.name for path in found.unread] == ["e.docx", "f.tmx"]


def test_what_the_project_has_translated_stays_out(tmp_path: Path) -> None:
    saved = {
        "Open the &lt;b1&gt;file&lt;/b1&gt;.": "Die &lt;b1&gt;Datei&lt;/b1&gt; öffnen.",
        "Then  close it.": "Dann schließen.",
        "No.": "",
        "Elsewhere.": "Anderswo.",
    }
    found = segments(tmp_path, {"a.html": PAGE.format("No.")}, saved=saved)
    assert found == Segments(["No."], 2, [])


def test_a_project_may_have_no_memory_yet_but_no_broken_document(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p", {"source/a.txt": "One."})
    (project / "omegat" / "project_save.tmx").unlink()
    assert segments_of(read_project(project)).new == ["One."]
    with pytest.raises(DataError, match=r"a\.xlf:1 is no XML"):
        segments(tmp_path / "broken", {"a.xlf": '<xliff version="1.2"><file'})


def test_translations_keep_keys_and_stay_out_where_they_lost_something() -> None:
    table = {
        "Open": "Öffnen",
        "the <b0>file</b0>": "die Datei",
        "x %s": "<unk> %s",
        "y": "",
        "not sure": None,
        "the  <i0/>end": "am\n<i0/>end",
    }

    def translate(texts: Sequence[str]) -> list[str | None]:
        assert list(texts) == list(table)
        return [table[text] for text in texts]

    done = pretranslate(["_Open", *list(table)[1:]], translate, "de")
    assert done.pairs == [("_Open", "_Öffnen"), ("the  <i0/>end", "am  <i0/>end")]
    assert done.left == {LOST: ["the <b0>file</b0>"], UNKNOWN: ["x %s"], NO_TEXT: ["y"], UNSURE: ["not sure"]}
