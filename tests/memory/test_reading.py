"""Segments out of files, and a memory written to a file."""

from collections import Counter
from pathlib import Path

import pytest

from anaphora.errors import DataError
from anaphora.formats.entries.kinds import read_entries
from anaphora.formats.entries.tmx import tmx_lines
from anaphora.memory.segment import segments_in

PO = """msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\n"

msgid "one"
msgstr "eins"

#, fuzzy
msgid "two"
msgstr "zwei"

msgid "three"
msgstr "drei"
"""


def test_segments_have_their_neighbours_and_drafts_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.po").write_text(PO)
    skipped = Counter[str]()
    found = list(segments_in(tmp_path / "a.po", ("en", "de"), lambda line, why: skipped.update([why])))
    assert [one[:4] for one in found] == [("one", "eins", "", "three"), ("three", "drei", "one", "")]
    assert skipped["marked fuzzy"] == 1


def test_a_table_has_segments_and_pairs_without_text_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("one\teins\n \tzwei\nthree\tdrei\n")
    assert [one.target for one in segments_in(tmp_path / "a.tsv", ("en", "de"))] == ["eins", "drei"]


def test_a_file_without_pairs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("text\n")
    with pytest.raises(DataError, match="should be TMX, PO, XLIFF, CSV or TSV"):
        list(segments_in(tmp_path / "a.md", ("en", "de")))


def test_what_is_written_as_tmx_is_read_back(tmp_path: Path) -> None:
    pairs = [("a < b & c", '"d"'), ("two words", "\u0001zwei\uffff Wörter"), ("日本", "𝔘 ]]>")]
    (tmp_path / "a.tmx").write_text("\n".join(tmx_lines(pairs, ("en", "de"))), encoding="utf-8")
    found = [(one.source, one.target) for one in read_entries(tmp_path / "a.tmx", "tmx", ("en", "de"))]
    assert found == [pairs[0], ("two words", "zwei  Wörter"), pairs[2]]
