"""Commands and Python blocks of a page of the documentation, in their order.

A command stands in an indented block or in a fence without a language, or of ``sh``, ``bash`` or ``console``; where
lines have a prompt ``$``, the others are output. Output and synopses may have fences of ``text``.
"""

import re
from dataclasses import dataclass

from markdown_it import MarkdownIt

PROGRAMS = re.compile(
    r"(?:[A-Z_]+=\S* )*"
    r"(anaphora|awk|cat|cd|cp|curl|cut|echo|git|gunzip|make|mkdir|pip|printf|python|sort|tensorboard|torchrun|zcat)\b"
)
"""First words of a command, and what it sets in the environment."""

_SHELL = ("", "sh", "bash", "shell", "console")


@dataclass(frozen=True)
class Item:
    """A command of one or more lines, or a block of Python."""

    page: str
    line: int
    text: str
    language: str
    """``sh`` or ``python``; empty for a line that has a command where none is read."""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {'the block of Python' if self.language == 'python' else self.text}"


def items(page: str, text: str) -> list[Item]:
    """Return the commands and Python blocks of a page."""
    found: list[Item] = []
    for token in MarkdownIt().parse(text):
        if token.map and token.type in ("fence", "code_block"):
            first = token.map[0] + 1 + (token.type == "fence")
            if token.info == "python":
                found.append(Item(page, first, token.content, "python"))
            else:
                found += _commands(page, first, token.content.split("\n"), token.info in _SHELL)
    return found


def items_in_tables(page: str, text: str) -> list[Item]:
    """Return the commands in cells of the tables of a page, each once."""
    found: dict[str, Item] = {}
    for number, line in enumerate(text.split("\n"), 1):
        for command in re.findall(r"`(anaphora [^`]+)`", line) if line.startswith("|") else ():
            found.setdefault(command, Item(page, number, command, "sh"))
    return list(found.values())


def _commands(page: str, first: int, lines: list[str], shell: bool) -> list[Item]:
    """Return the commands of a block, and lines that have one but are not read as such."""
    prompt = "$ " if any(line.startswith("$ ") for line in lines) else ""
    found: list[Item] = []
    place = 0
    while place < len(lines):
        start, line = place, lines[place].removeprefix(prompt)
        place += 1
        if shell and lines[start].startswith(prompt) and PROGRAMS.match(line):
            while place < len(lines) and not _is_whole(line):
                line += "\n" + lines[place]
                place += 1
            found.append(Item(page, first + start, line, "sh"))
        elif re.match(r"(?:\S+ )?anaphora [a-z]+ [^\[]*$", line) and not prompt:
            found.append(Item(page, first + start, line, ""))
    return found


def _is_whole(text: str) -> bool:
    """True if a command ends here: no continued line, no open quote."""
    outside = re.sub(r"\\.|\"[^\"]*\"|'[^']*'|(?<=\s)#.*", "", text)
    return "'" not in outside and not text.endswith("\\")
