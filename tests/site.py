"""The site of the documentation, built from plain Markdown: ``python -m tests.site`` writes ``build/site``.

``zensical.toml`` has the order of the pages. README.md, ``docs`` and what these link to are staged in ``build/pages``
under their own paths, beside two reference pages that the program itself prints. A link that leads nowhere ends the
build.
"""

import contextlib
import io
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from typer.main import get_command

from anaphora.cli.app import app, main
from anaphora.experiment.settings import every_setting

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = get_command(app).commands  # type: ignore[attr-defined]
STAGED = ROOT / "build" / "pages"
SITE = ROOT / "build" / "site"
CODE = re.compile(r"^( *)(`{3,})[^\n]*\n.*?^\1\2`*$|^ {4}[^\n]*|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")
HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)


def pages() -> list[Path]:
    """Return README.md and all pages below ``docs``."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def links(page: Path) -> Iterator[tuple[str, Path, str]]:
    """Yield the links of a page to files here: as it is written, the file, and the anchor."""
    for found in LINK.finditer(CODE.sub("", page.read_text(encoding="utf-8"))):
        target = found[1] or found[2]
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            yield target, (page.parent / unquote(path)).resolve() if path else page, anchor


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings: lower case, words joined by hyphens."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    shown = (re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", heading) for heading in HEADING.findall(text))
    return {re.sub(r"[^\w\- ]", "", one.lower()).strip().replace(" ", "-") for one in shown}


def linked() -> set[Path]:
    """Return the pages and every file that they link to, directly or through others."""
    found, left = set[Path](), [*pages(), *(ROOT / "docs").rglob("*")]
    while left:
        one = left.pop()
        if one.is_file() and one not in found and one.is_relative_to(ROOT):
            found.add(one)
            left += [path for _, path, _ in links(one)] if one.suffix == ".md" else []
    return found


def printed(*command: str) -> str:
    """Return the output of a command."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(command) == 0
    return out.getvalue()


def commands() -> str:
    """Return the page of commands: the help of each."""
    parts = ["# Commands\n\nThe help of every command, as `anaphora COMMAND --help` prints it.\n"]
    for verb in COMMANDS:
        parts.append(f"## {verb}\n\n```text\n{printed(verb, '--help').strip()}\n```\n")
    return "\n".join(parts)


def settings() -> str:
    """Return the page of options: every table of an experiment."""
    parts = [
        "# All options\n\nEvery option, as `anaphora settings` prints it. [Options](options.md) says how to set them.\n"
    ]
    for name in dict.fromkeys(owned.setting.name for owned in every_setting()):
        parts.append(f"## {name}\n\n```text\n{printed('settings', name).strip()}\n```\n")
    return "\n".join(parts)


MADE = {"docs/reference/commands.md": commands, "docs/reference/settings.md": settings}
"""Pages that are printed by the program, by the place that they have on the site."""


def build() -> int:
    """Build the site, and return 0, or 1 where a link leads nowhere."""
    shutil.rmtree(STAGED, ignore_errors=True)
    for source in linked():
        target = STAGED / source.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    for place, page in MADE.items():
        (STAGED / place).write_text(page(), encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(build())
