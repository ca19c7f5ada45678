"""Pictures of the documentation that need no corpus: ``python -m tests.pictures`` draws them into ``docs/images``.

The attention is that of the quickstart, the page of a server that of the bundled translator. The other pictures need
a corpus; the commands that draw them are on their pages.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import sync_playwright

import anaphora
from tests.serving.conftest import server_process
from tests.site import ROOT

IMAGES = ROOT / "docs" / "images"
TEXT = "She bought a red dress for the party."
PAGES: dict[str, Any] = {
    "page-light.png": {"viewport": {"width": 960, "height": 740}, "color_scheme": "light"},
    "page-dark-narrow.png": {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
}
"""Window of each picture of the page."""


def draw_attention() -> Path:
    """Train the quickstart, and return the picture that it draws of its attention."""
    with TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "anaphora", "quickstart"], cwd=folder, check=True)
        return Path(shutil.copy(Path(folder) / "runs" / "quickstart" / "alignment.png", IMAGES))


def draw_page() -> Iterator[Path]:
    """Yield pictures of the page of a server with a translation, of which one word is chosen."""
    with server_process("--quiet", run=anaphora.trial_model()) as (_, address), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, window in PAGES.items():
            page = browser.new_page(**window)
            page.goto(address)
            page.fill("#source", TEXT)
            page.wait_for_selector("#target-words button")
            page.locator("#target-words button").nth(4).click()
            page.screenshot(path=IMAGES / name)
            yield IMAGES / name
        browser.close()


if __name__ == "__main__":
    for picture in (*draw_page(), draw_attention()):
        print(picture.relative_to(ROOT))
