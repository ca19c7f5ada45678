"""Commands and Python blocks of the pages of the documentation, in their order."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = frozenset(
    "anaphora cat cd cp curl cut docker echo for git gunzip make mkdir pip printf python sort tensorboard torchrun zcat".split()
)
"""First words of a command, after what it sets in the environment."""

_FENCE = re.compile(r"^( *)(`{3,}|~{3,}) *([\w+-]*).*$")
_SHELL = ("", "sh", "bash", "shell", "console")


@dataclass(frozen=True)
class Item:
    """A command of one or more lines, or a block of Python."""

    page: str
    line: int
    text: str
    language: str
    """``sh`` or ``python``."""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.text if self.language == 'sh' else 'the block of Python'}"


def pages() -> list[Path]:
    """Return README.md and all pages below ``docs``."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def items(page: str, text: str) -> list[Item]:
    """Return the commands and Python blocks of a page."""
    found: list[Item] = []
    for first, language, lines in _blocks(text):
        if language == "python":
            found.append(Item(page, first, "\n".join(lines) + "\n", "python"))
        elif language in _SHELL:
            found += _commands(page, first, lines)
    return found


def _blocks(text: str) -> list[tuple[int, str, list[str]]]:
    """Return first line, language and lines of each fenced or indented block, without its indentation."""
    found: list[tuple[int, str, list[str]]] = []
    fence = ""
    indented = False
    for number, line in enumerate(text.split("\n"), 1):
        match = _FENCE.match(line)
        if fence:
            if match and match[2].startswith(fence) and not match[3]:
                fence = ""
            else:
                found[-1][2].append(line.removeprefix(indent))
        elif match:
            indent, fence, language = match[1], match[2], match[3]
            found.append((number + 1, language, []))
            indented = False
        elif line.startswith("    "):
            if not indented:
                found.append((number, "", []))
            indented = True
            found[-1][2].append(line[4:])
        elif line.strip():
            indented = False
        elif indented:
            found[-1][2].append("")
    return found


def _commands(page: str, first: int, lines: list[str]) -> list[Item]:
    """Return the commands of a block: of all of its lines, or of those after a prompt where there are prompts."""
    prompts = any(line.startswith("$ ") for line in lines)
    found: list[Item] = []
    place = 0
    while place < len(lines):
        start, line = place, lines[place].removeprefix("$ ") if prompts else lines[place]
        place += 1
        word = re.match(r"(?:[A-Z_]+=\S* )*([\w-]+)", line)
        if (prompts and not lines[start].startswith("$ ")) or not word or word[1] not in PROGRAMS:
            continue
        while place < len(lines) and not _whole(line):
            line += "\n" + lines[place]
            place += 1
        found.append(Item(page, first + start, line, "sh"))
    return found


def _whole(text: str) -> bool:
    """True if a command ends here: no continued line, no open loop, no open here-document."""
    document = re.search(r"<<-?\s*'?\"?(\w+)", text)
    if document and not re.search(rf"^\s*{document[1]}$", text.partition("\n")[2], re.MULTILINE):
        return False
    return not text.endswith("\\") and (not text.startswith("for ") or re.search(r"\bdone\b", text) is not None)
