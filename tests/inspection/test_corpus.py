"""The page and the pictures of a corpus."""

from pathlib import Path

from anaphora.datacheck.distribution import Histogram
from anaphora.datacheck.findings import Finding, Place
from anaphora.datacheck.tables import Table
from anaphora.inspection.corpus import draw_histograms, write_report

HISTOGRAM = Histogram("How long lines are", "characters", ("0", "1"), (("en", (1, 2)), ("fr", (0, 3))))


def test_the_same_histograms_are_the_same_picture(tmp_path: Path) -> None:
    for form in ("svg", "png"):
        first = draw_histograms(tmp_path / f"a.{form}", [HISTOGRAM]).read_bytes()
        assert first == draw_histograms(tmp_path / f"b.{form}", [HISTOGRAM]).read_bytes()


def test_the_page_escapes_what_a_corpus_says(tmp_path: Path) -> None:
    finding = Finding("control", "warning", "train", "en", 1, 2, "hold", "Remove.", (Place(Path("a"), 1, "<script>"),))
    table = Table("T", ("name", "count"), (("<i>", "1"),))
    page = write_report(tmp_path / "new" / "folder", "data: <x>", [table], [finding], [], {}).read_text()
    assert "<script>" not in page and "<i>" not in page and "<x>" not in page
    assert "&lt;script&gt;" in page
