"""``anaphora memory``: the translation memory of a run.

Examples:
    anaphora memory runs/en-de add project.tmx week.po
    anaphora memory runs/en-de list
    anaphora memory runs/en-de list --text "Save the file" --fuzzy 60
    anaphora memory runs/en-de remove 12 13
    anaphora memory runs/en-de remove --origin week.po
    anaphora memory runs/en-de export all.tmx
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from anaphora.cli.files import check_writable, writing
from anaphora.cli.options import Json, RunFolder, SourceOption, ToOption
from anaphora.cli.talk import print_json, say, show
from anaphora.errors import ConfigError, DataError
from anaphora.options import Argument, Option
from anaphora.wording import inflect

if TYPE_CHECKING:
    from anaphora.memory import Memory, Segment


def run(
    run_folder: RunFolder,
    action: Annotated[
        Literal["add", "list", "remove", "export"], Argument("Action on the memory.", metavar="add|list|remove|export")
    ],
    given: Annotated[list[str] | None, Argument("Files, or numbers to remove.", metavar="[FILE...|NUMBER...]")] = None,
    origin: Annotated[str, Option("With list and remove: the segments of this file.")] = "",
    text: Annotated[str, Option("With list: the segments for this text, best first.")] = "",
    fuzzy: Annotated[int, Option("With --text: minimum similarity in percent.", min=0, max=100)] = 75,
    to: ToOption = "",
    source: SourceOption = "",
    as_json: Json = False,
) -> None:
    """Edit or list the translation memory of a run.

    add takes TMX, PO, XLIFF, CSV and TSV files; export writes .tmx or .tsv.
    """
    from anaphora.memory import Memory
    from anaphora.run.layout import check_is_run
    from anaphora.tasks.runs import direction_at

    _check_options(action, origin=origin, text=text)
    check_is_run(run_folder)
    arguments = given or []
    pair = direction_at(run_folder, to, source)
    with Memory(run_folder, create=action == "add", pair="-".join(pair or ())) as memory:
        if action == "add":
            _add(memory, pair or _languages(run_folder), arguments, as_json=as_json)
        elif action == "list":
            _list(memory, arguments, origin, text, fuzzy, as_json=as_json)
        elif action == "remove":
            _remove(memory, arguments, origin, as_json=as_json)
        else:
            _export(memory, pair or _languages(run_folder), arguments, as_json=as_json)


def _check_options(action: str, **given: object) -> None:
    """Raise ConfigError for an option that the action does not have."""
    takes = {"list": ("origin", "text"), "remove": ("origin",)}.get(action, ())
    for name, value in given.items():
        if value and name not in takes:
            raise ConfigError(f"--{name} has no effect with {action}: leave it out.")


def _languages(run_folder: Path) -> tuple[str, str]:
    """Return the languages of a run; ConfigError where it does not say them."""
    from anaphora.tasks.runs import options_at

    data = getattr(options_at(run_folder), "data", None)
    source, target = getattr(data, "source", ""), getattr(data, "target", "")
    if not (source and target):
        raise ConfigError(f"{run_folder} names no languages, but only translators have a memory: give a translator.")
    return source, target


def _add(memory: "Memory", languages: tuple[str, str], files: Sequence[str], *, as_json: bool) -> None:
    from anaphora.memory.segment import segments_in

    if not files:
        raise ConfigError(f"Name the files to add: anaphora memory {memory.path.parent} add FILE...")
    added_by_file = list[dict[str, Any]]()
    for file in map(Path, files):
        skipped, read = Counter[str](), Counter[str]()

        def counting(into: Counter[str], segments: "Iterator[Segment]") -> "Iterator[Segment]":
            for segment in segments:
                into["read"] += 1
                yield segment

        def skip(line: int, why: str, into: Counter[str] = skipped) -> None:
            into[why] += 1

        added = memory.add(counting(read, segments_in(file, languages, skip)), file.name)
        why = ", ".join(f"{count:,} {reason}" for reason, count in skipped.items())
        if not read:
            raise DataError(f"{file} has no segments {' to '.join(languages)} ({why or 'it is empty'}): give another.")
        known = f"{read.total() - added:,} known or repeated"
        added_by_file.append({"file": str(file), "added": added, "known": read.total() - added, "skipped": skipped})
        say(f"{file}: {inflect(added, 'new segment')}, {known}{f', skipped: {why}' if why else ''}.")
    say(f"The memory has {inflect(len(memory), 'segment')}.")
    if as_json:
        print_json({"files": added_by_file, "segments": len(memory)})


def _list(memory: "Memory", arguments: Sequence[str], origin: str, text: str, fuzzy: int, *, as_json: bool) -> None:
    if arguments:
        raise ConfigError(f"list takes no {arguments[0]!r}: say --text TEXT or --origin FILE.")
    if text:
        found = memory.find(text, fuzzy)
        rows = [(one.segment, one.json() if as_json else {"memory": str(one)}) for one in found]
        rows = [(segment, extra) for segment, extra in rows if origin in ("", segment.origin)]
    segment: Segment | None = None
    for segment, extra in rows if text else ((one, {}) for one in memory if origin in ("", one.origin)):
        if as_json:
            print_json(segment.json() | extra)
        else:
            shown = (str(segment.number), *extra.values(), _cell(segment.source), _cell(segment.target))
            show("\t".join((*shown, _cell(segment.origin), segment.day)))
    if segment is None:
        say("No segment was found.")


def _remove(memory: "Memory", numbers: Sequence[str], origin: str, *, as_json: bool) -> None:
    if bool(numbers) == bool(origin):
        raise ConfigError("Say which segments to remove: their numbers, as list shows them, or --origin FILE.")
    for number in numbers:
        if not (number.isdecimal() and len(number) < 19):
            raise ConfigError(f"A segment to remove should be a number, as list shows it, but is {number!r}.")
    removed = memory.remove_origin(origin) if origin else memory.remove([int(number) for number in numbers])
    if removed < max(1, len(set(numbers))):
        known = ", ".join(memory.origins()) or "none"
        if not removed:
            which = f"segment of {origin}; its files are {known}" if origin else "segment of these numbers; see list"
            raise ConfigError(f"Nothing was removed: the memory has no {which}.")
        say("The memory had not all of these numbers.")
    say(f"{inflect(removed, 'segment', 'were')} removed; {len(memory):,} are left.")
    if as_json:
        print_json({"removed": removed, "segments": len(memory)})


def _export(memory: "Memory", languages: tuple[str, str], files: Sequence[str], *, as_json: bool) -> None:
    from anaphora.formats.entries.tmx import tmx_lines

    ending = Path(files[0].lower().removesuffix(".gz")).suffix if len(files) == 1 else ""
    if ending not in (".tmx", ".tsv"):
        raise ConfigError(f"Name one file that ends in .tmx or .tsv to export {memory.path.parent} to.")
    file = Path(files[0])
    check_writable(file)
    pairs = ((one.source, one.target) for one in memory)
    as_tsv = ("\t".join(map(_cell, pair)) for pair in pairs)
    with writing(file) as write:
        for line in as_tsv if ending == ".tsv" else tmx_lines(pairs, languages):
            write(line)
    say(f"{file}: {inflect(len(memory), 'segment')}.")
    if as_json:
        print_json({"output": str(file), "segments": len(memory)})


def _cell(text: str) -> str:
    """Return a text for a column."""
    return " ".join(text.split("\t")).replace("\r", " ").replace("\n", " ")
