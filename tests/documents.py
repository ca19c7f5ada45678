"""``make documents``: documents of all kinds, filled by stand-ins of translators, one of them hostile.

Each document is filled for three languages; catalogues are emptied first. A fault is an error other than a refusal; XML
that is none any more; a catalogue that ``msgfmt -c`` took before and refuses now; a placeholder or address that did not
come back; another number of gaps than those of before without the filled ones; a byte that changed where nothing was
filled.
"""

import argparse
import gzip
import random
import re
import shutil
import subprocess
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from anaphora.errors import DataError
from anaphora.formats.entries.document import Document
from anaphora.formats.entries.kinds import READERS, kind_of
from anaphora.tasks.translation.documents import fill
from anaphora.text.placeholders import PATTERNS, Kind

SHARED = Path(__file__).resolve().parents[2] / "shared"
_TRANSLATED = re.compile(rb'(?m)(^msgid (?:"(?!").*|"".*\n").*\n(?:".*\n|msgid_plural.*\n)*msgstr ).*(\n)(?:".*\n)*')
"""A message but the first, with one string."""
_CODE = re.compile(r"\{[^}]*\}+|<[^>]*>|%\S*|&\w+;|\w+")
Translate = Callable[[str], str | None]
_KEPT: tuple[Kind, ...] = ("urls", "emails", "placeholders")


def _capitals(text: str) -> str:
    return _CODE.sub(lambda found: found[0].capitalize() if found[0][0].isalpha() else found[0], text)


def _hostile(text: str) -> str:
    return " ".join(reversed(text.split(" "))).replace("<", "< ") + " & l'\"<b>\\"


TRANSLATORS: dict[str, Translate] = {"capitals": _capitals, "hostile": _hostile, "nothing": lambda _: None}


def _kept(text: str) -> Iterator[str]:
    return (found[0] for kind in _KEPT for found in PATTERNS[kind].finditer(text))


class Outcome(NamedTuple):
    """What became of a document."""

    gaps: int = 0
    filled: int = 0
    faults: Sequence[str] = ()


def _msgfmt(content: bytes) -> bool:
    command = ["msgfmt", "-c", "--use-fuzzy", "-o", "/dev/null", "-"]
    return subprocess.run(command, input=content, capture_output=True, check=False).returncode == 0


def _faults(path: Path, kind: str, language: str, translate: Translate) -> Iterator[str | Outcome]:
    """Yield the faults of a document, and what became of it."""
    content = path.read_bytes()
    if content.startswith(b"\x1f\x8b"):
        content = gzip.decompress(content)
    if kind == "po":
        content = _TRANSLATED.sub(rb'\1""\2', content)
    document = Document(content, path.name, kind, ("en", language))
    gaps = {place for place, entry in enumerate(document.entries) if entry.gap}
    if not gaps:
        return
    found = fill(document, lambda texts: map(translate, texts), language)
    yield Outcome(len(gaps), found.entries)
    if not found.entries and found.content != content:
        yield "bytes changed and nothing was filled"
    if kind in ("xliff", "tmx"):
        expat.ParserCreate().Parse(found.content, True)
    if kind == "po" and shutil.which("msgfmt") and _msgfmt(content) and not _msgfmt(found.content):
        yield "msgfmt -c refuses it"
    again = Document(re.sub(rb"#, fuzzy(, )?", b"#, ", found.content), path.name, kind, ("en", language))
    if kind in ("html", "subtitles"):  # whose targets stand where their sources were
        return
    if sum(entry.gap is not None for entry in again.entries) != len(gaps) - found.entries:
        yield "another number of gaps"
    for place, entry in enumerate(again.entries if len(again.entries) == len(document.entries) else ()):
        if place in gaps and entry.target:
            kept = [Counter(_kept(text)) for text in (entry.source, entry.target)]
            if kept[0] != kept[1]:
                yield f"line {entry.line}: {entry.source!r} became {entry.target!r}"


def try_document(path: Path, kind: str) -> tuple[bool, dict[str, Outcome]]:
    """Return whether a document is read, and what each translator made of it, over all languages."""
    made = {}
    for name, translate in TRANSLATORS.items():
        gaps, filled, faults = 0, 0, list[str]()
        for language in ("fr", "de", "it"):
            try:
                for one in _faults(path, kind, language, translate):
                    if isinstance(one, str):
                        faults.append(f"{path} ({name}, {language}): {one}")
                    else:
                        gaps, filled = gaps + one.gaps, filled + one.filled
            except DataError:
                return False, {}
            except Exception:
                faults.append(f"{path} ({name}, {language}): {traceback.format_exc(limit=-2)}")
        made[name] = Outcome(gaps, filled, faults)
    return True, made


def documents(folders: Sequence[Path]) -> list[tuple[Path, str]]:
    """Return the documents of folders with their kinds, in an order that is drawn."""
    found = []
    for path in sorted(path for folder in folders for path in folder.rglob("*") if path.is_file()):
        try:
            kind = kind_of(path)
        except (DataError, OSError):
            continue
        if kind in READERS:
            found.append((path, kind))
    random.Random(58).shuffle(found)
    return found


def campaign(folders: Sequence[Path], seconds: float) -> tuple[list[str], list[str]]:
    """Return a table by kind of what became of documents, and the faults; it ends after some seconds."""
    end, rows, faults = time.monotonic() + seconds, defaultdict[str, Counter[str]](Counter), list[str]()
    for path, kind in documents(folders):
        if time.monotonic() > end:
            break
        is_read, made = try_document(path, kind)
        rows[kind].update(("files", *["refused"] * (not is_read)))
        for name, one in made.items():
            rows[kind].update({f"gaps, {name}": one.gaps, f"filled, {name}": one.filled, "faults": len(one.faults)})
            faults += one.faults
    names = ["files", "refused", *(f"{what}, {name}" for name in TRANSLATORS for what in ("gaps", "filled")), "faults"]
    table = [f"| | {' | '.join(names)} |", "| --- |" + " --: |" * len(names)]
    table += [f"| {kind} | {' | '.join(f'{row[name]:,}' for name in names)} |" for kind, row in sorted(rows.items())]
    return table, faults


def main() -> None:
    """Print the table and the faults; exit with 1 where there are some."""
    parser = argparse.ArgumentParser(prog="python -m tests.documents", description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, default=[SHARED / "data", SHARED / "cases"])
    parser.add_argument("--minutes", type=float, default=5)
    options = parser.parse_args()
    table, faults = campaign(options.folders, 60 * options.minutes)
    print("\n".join([*table, *faults]))
    raise SystemExit(bool(faults))


if __name__ == "__main__":
    main()
