"""Translation memories and documents of translators among the files of a corpus, by name in folders, else by content.

A folder is searched with all folders in it. A file called ``valid.tmx`` or ``test-web.po`` is of that split, any other
of the training split. Of an OmegaT project, its memory and those it was given are taken, but none of machine
translations, and no document.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from anaphora.data.corpora import EntryFile, PairFiles
from anaphora.errors import DataError
from anaphora.events import Note, Report
from anaphora.formats.entries.entry import places_of
from anaphora.formats.entries.kinds import KINDS, kind_of, languages_in
from anaphora.formats.lines import read_lines
from anaphora.formats.omegat import is_project, read_project
from anaphora.formats.tsv import PLAIN, Layout
from anaphora.languages import CODES, bare
from anaphora.wording import inflect

ENDINGS = (".tmx", ".po", ".xlf", ".xliff", ".mxliff", ".sdlxliff", ".csv")
"""Endings of the names of such files, ``.gz`` aside."""


def entry_file(path: Path, sides: tuple[str, str] = ("", ""), layout: Layout = PLAIN) -> EntryFile | None:
    """Return a file of entries, in the languages ``sides``; None for any other file.

    Raises DataError for a file that cannot be read, and by its name for one that is no text.
    """
    kind = kind_of(path)
    if kind in KINDS:
        return EntryFile(path, layout, sides, kind)
    next(read_lines(path), None)  # which refuses a document by the name of its format
    return None


def entry_files(paths: Iterable[Path], sides: tuple[str, str], layout: Layout, report: Report) -> Iterator[EntryFile]:
    """Yield the files of entries among those of a folder; errors as for ``entry_file``.

    Of catalogues, those of the language that messages are in are left out beside translations of these, and those in a
    variety of a language (``pt_BR``) where others are in exactly that; they are counted in a Note.
    """
    files = [file for path in paths if (file := entry_file(path, sides, layout))]
    codes = [next(iter(languages_in(file.path, file.kind)), "") if file.kind == "po" else "" for file in files]
    chosen = [places_of(codes, *sides), places_of(codes, *sides[::-1])]
    english = min((side for side in (0, 1) if bare(sides[side]) == "en"), key=lambda side: len(sides[side]), default=0)
    if all(chosen) and bare(sides[english]) == "en":
        chosen[english] = []
    fitting = [{*places_of([code], *sides), *places_of([code], *sides[::-1])} for code in codes]
    others = [place for place, fits in enumerate(fitting) if fits and place not in chain(*chosen)]
    if others:
        named = ", ".join(dict.fromkeys(codes[place] for place in others))
        clause = f"are left out, since translations into {named} fit less well than others"
        report(Note(f"{inflect(len(others), 'catalogue', clause)} (the first is {files[others[0]].path})."))
    yield from (file for place, file in enumerate(files) if place not in others)


def holds_pairs(path: Path) -> bool:
    """True if one file holds both sides of pairs: a table, a memory or a document of translators."""
    return path.is_file() and (path.name.lower().removesuffix(".gz").endswith(".tsv") or kind_of(path) in KINDS)


def entry_files_in(folder: Path) -> list[Path]:
    """Return the files of entries in a folder by their names, in their order, hidden ones left out."""
    if is_project(folder):
        project = read_project(folder)
        return [*filter(Path.is_file, [project.saved]), *project.other_memories()]
    return sorted(filter(_has_entries, _visible(folder)))


def _has_entries(path: Path) -> bool:
    """True for the name of a file of entries, and for JSON lines that are one."""
    name = path.name.lower().removesuffix(".gz")
    return name.endswith(ENDINGS) or (name.endswith((".jsonl", ".ndjson")) and kind_of(path) in KINDS)


def _visible(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith(".") for part in parts):
            yield path


def stem_of(path: Path) -> str:
    """Return the name of a file without its ending."""
    return Path(path.name.removesuffix(".gz")).stem


def declared_languages(paths: Iterable[Path]) -> tuple[str, ...]:
    """The languages of the files of entries among ``paths``, as they write them; errors as for ``entry_file``."""
    found = (languages_in(path, kind) for path in paths if (kind := kind_of(path)) in KINDS)
    return tuple(dict.fromkeys(language for languages in found for language in languages))


def languages_of_entries(paths: Sequence[Path]) -> tuple[str, ...]:
    """Return the same without their regions, and only those that are known."""
    return tuple(dict.fromkeys(code for code in map(bare, declared_languages(paths)) if code in CODES))


def check_catalogues(files: Sequence[PairFiles], sides: tuple[str, str], report: Report) -> None:
    """Report the language that catalogues are read as, since they name that of their translations alone.

    Raises DataError for catalogues in both languages, whose messages cannot be in both.
    """
    found = dict[int, Path]()  # the place of a language, and a catalogue whose translations are in it
    for file in files:
        declared = languages_in(file.path, file.kind)[:1] if isinstance(file, EntryFile) and file.kind == "po" else ()
        for place, (side, other) in enumerate((sides, sides[::-1])):
            if places_of(declared, side, other):
                found.setdefault(place, file.paths[0])
    if len(found) > 1:
        raise DataError(
            f"{found[0]} is translated into {sides[0]} and {found[1]} into {sides[1]}, so their messages (msgid) are "
            f"in a third language: name that and one of these."
        )
    for place, path in found.items():
        if bare(sides[1 - place]) != "en":
            report(Note(f"The messages (msgid) of {path} and the like are read as {sides[1 - place]}.", warning=True))
