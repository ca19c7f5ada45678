"""The page of a server in a real browser, as its user has it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.serving.conftest import RUN, server_process

NEEDS = [pytest.mark.slow, pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium")]
TEXT = "A man is walking."
HEAD = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'
BRANCHES = "{n, plural, one {file} other {files}} of it"
CATALOGUE = f'{HEAD}msgid "Two dogs run."\nmsgstr ""\n\nmsgid "{BRANCHES}"\nmsgstr ""\n'


@contextmanager
def opened(browser: Any, *options: str, key: str = "", run: Path = RUN) -> Iterator[Any]:
    """The page of another server, which asks for a key where there is one."""
    with server_process("--quiet", *options, run=run) as (_, address):
        made = browser.new_page()
        made.goto(address)
        if key:
            made.fill("#key", key)
            made.press("#key", "Enter")
        made.wait_for_selector("#to option[value=fr]", state="attached")
        yield made
        made.close()


def translated(page: Any, text: str) -> str:
    """What the page shows for a text that is typed."""
    page.fill("#source", text)
    page.wait_for_selector("#segments:not([aria-busy])", state="attached")
    return shown(page)


def shown(page: Any) -> str:
    """The translations of all segments."""
    return " ".join(page.locator(".words").all_inner_texts())


def choose(page: Any, place: int, segment: int = 0) -> None:
    """Click a word, and wait for what could stand in its place."""
    page.locator(".segment").nth(segment).locator(".words [role=button]").nth(place).click()
    page.wait_for_selector(".offers :is(.choice, .small:not(:text-is('Looking ...')))")


def confirm(page: Any, written: str) -> None:
    """Write the translation of the current segment, and wait until that is confirmed."""
    page.click(".tools :text('Edit')")
    page.fill(".field:visible", written)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".state.done")
