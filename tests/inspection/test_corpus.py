"""The page of a corpus."""

from pathlib import Path

from anaphora.datacheck.findings import Finding, Place
from anaphora.datacheck.tables import Table
from anaphora.inspection.corpus import write_report


def test_the_page_escapes_what_a_corpus_says(tmp_path: Path) -> None:
    finding = Finding("control", "warning", "train", "en", 1, 2, "hold", "Remove.", (Place(Path("a"), 1, "<script>"),))
    table = Table("T", ("name", "count"), (("<i>", "1"),))
    page = write_report(tmp_path / "new" / "folder", "data: <x>", [table], [finding], [], [], {}).read_text()
    assert "<script>" not in page and "<i>" not in page and "<x>" not in page
    assert "&lt;script&gt;" in page
