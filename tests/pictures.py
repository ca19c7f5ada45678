"""Pictures of the documentation that need no corpus: ``python -m tests.pictures`` draws them into ``docs/images``.

The attention is that of the quickstart, the page of a server that of the bundled translator. The other pictures need
a corpus; the commands that draw them are on their pages.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import sync_playwright

import anaphora
from tests.serving.conftest import server_process
from tests.site import ROOT

IMAGES = ROOT / "docs" / "images"
TEXT = "She bought a red dress for the party. The children play in the garden. Yesterday he spoke of the weather."
TERMS = "party\tfête | soirée\nchildren\tenfants\n"
PAGES: dict[str, Any] = {
    "page-light.png": {"viewport": {"width": 1120, "height": 1040}, "color_scheme": "light"},
    "page-dark-narrow.png": {"viewport": {"width": 390, "height": 1160}, "color_scheme": "dark"},
}
"""Window of each picture of the page."""


def draw_attention() -> Path:
    """Train the quickstart, and return the picture that it draws of its attention."""
    with TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "anaphora", "quickstart"], cwd=folder, check=True)
        return Path(shutil.copy(Path(folder) / "runs" / "quickstart" / "alignment.png", IMAGES))


def draw_page() -> Iterator[Path]:
    """Yield pictures of the page of a server with a glossary, of whose translation one word is chosen."""
    with TemporaryDirectory() as folder, sync_playwright() as playwright, ExitStack() as running:
        terms = Path(folder) / "terms.tsv"
        terms.write_text(TERMS, encoding="utf-8")
        server = server_process("--quiet", "--terms", str(terms), run=anaphora.trial_model())
        _, address = running.enter_context(server)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, window in PAGES.items():
            page = browser.new_page(**window)
            page.goto(address)
            page.fill("#source", TEXT)
            page.wait_for_selector("#segments:not([aria-busy]) .words [role=button]")
            page.locator(".words [role=button]").nth(6).click()
            page.wait_for_selector(".offers .choice")
            page.mouse.move(0, 0)
            page.screenshot(path=IMAGES / name)
            yield IMAGES / name
        browser.close()


if __name__ == "__main__":
    for picture in (*draw_page(), draw_attention()):
        print(picture.relative_to(ROOT))
