"""Meaning of ``--data``: the training, validation and test splits of a corpus, each file read through once.

For translation a FOLDER holds line-aligned ``train.en`` and ``train.cs``, ``val.*`` (or ``valid.*``, ``validation.*``,
``dev.*``) and any ``test*.*``, or these splits as ``.tsv`` files of two columns; a FILE is a ``.tsv`` to train on.
Translation memories and documents of translators (``data.entry_files``) are FILES too, and a FOLDER may hold them. For
language models a FOLDER holds ``train.txt``, ``valid.txt`` and ``test.txt`` (or ``ptb.train.txt`` and so on); a FILE is
a text to train on. Anything may be gzipped, and several are put together.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from anaphora.data import corpora
from anaphora.data.corpora import EntryFile, Pair, PairCorpus, PairFile, PairFiles, Splits, StringFile, TextCorpus
from anaphora.data.directions import Direction, directed_paths, languages_named
from anaphora.data.entry_files import declared_languages
from anaphora.data.filters import SYNTHETIC_FILTERS, Filter, Filters
from anaphora.data.finding import (
    USUAL,
    Names,
    SplitFiles,
    demand_data,
    demand_named,
    find_files,
    find_pairs,
    find_texts,
)
from anaphora.data.holdout import LARGEST_COUNT, LARGEST_SHARE, HeldOut
from anaphora.data.readings import Facts, known_or_read
from anaphora.errors import DataError
from anaphora.events import Event, Note, Report, Skipped, silent
from anaphora.formats.lines import read_lines
from anaphora.formats.strings import STRINGS, TABLE_ENDINGS
from anaphora.formats.table_columns import TableColumns
from anaphora.formats.tsv import HEADING
from anaphora.text.special_tokens import without_special_tokens
from anaphora.wording import agreeing, inflect

_STRING_ENDINGS = (".tsv", ".txt", ".dict", ".dic", *TABLE_ENDINGS)
_TENTH = 0.1
"""Fraction of the inputs of strings that is held out at most."""


def translation_splits(
    data: Sequence[Path],
    source: str,
    target: str,
    names: Names = USUAL,
    *,
    filters: Sequence[Filter] = (),
    synthetic: Sequence[Path] = (),
    seed: int = 1,
    report: Report = silent,
) -> Splits[PairCorpus]:
    """Return the splits of a translation corpus; of several directions (``data.directions``), put together.

    Each direction is a part of the training and the validation split, and has test splits of its own. Pairs of the
    files ``synthetic`` are parts of the training split behind those of ``data``.
    ``filters`` leave pairs out of training, each reported. Without a validation split a seeded one is held out of the
    training split, which a Note says. Pairs with an empty side are dropped from training (a Skipped), and kept in the
    other splits, whose lines must stay in place.

    Raises DataError for a missing file or side, unequal line counts, invalid UTF-8 and a split with nothing in it.
    """
    demand_data(data, "--data FOLDER or --data pairs.tsv")
    directed, found = directed_paths(data, (source, target)), dict[Direction, Splits[PairCorpus]]()
    listed = {direction: find_pairs(paths, direction, names, report) for direction, paths in directed.items()}
    demand_named(data, names, listed.values())
    taken = set[Path]()
    for direction, files in listed.items():
        every = chain(files.train, files.valid, *files.tests.values())
        plain = {file.path for file in every if type(file) is PairFile and not file.layout.columns}
        if twice := plain & taken:
            heading = " and ".join(direction)
            raise DataError(
                f"{min(twice)} has one direction: call its columns {heading} in a first line, or give it once."
            )
        taken |= plain
        pairs = (pair for file in files.train for pair in file)
        chosen = Filters(filters, direction, pairs) if filters else None
        mark = f"{'-'.join(direction)} " if len(directed) > 1 else ""
        # both directions of two languages hold the same pairs out
        backward = direction[1] < direction[0] and direction[::-1] in directed
        held = HeldOut(seed, side="target" if backward else "source")
        found[direction] = _in_languages(_parts(files, names, held, report, chosen), direction, mark)
    real, made = list(found.values()), list[PairCorpus]()
    for direction, paths in directed_paths(synthetic, next(iter(directed)), "--synthetic").items():
        if direction not in directed or (len(directed) > 1 and not languages_named(synthetic)):
            known = ", ".join(map("-".join, directed))
            raise DataError(f"The data is in {known}: name one of them in front of the files of --synthetic.")
        made.append(_synthetic_part(paths, direction, names, found[direction], report))
    train = corpora.put_together(names.train, [*(one.train for one in real), *made])
    tests = {name: corpus for one in real for name, corpus in one.tests.items()}
    return Splits(train, corpora.put_together(names.valid, [one.valid for one in real]), tests)


def _in_languages(splits: Splits[PairCorpus], languages: Direction, mark: str = "") -> Splits[PairCorpus]:
    """Return the splits with their languages, which is what their names begin with where they have a ``mark``."""

    def labelled(corpus: PairCorpus) -> PairCorpus:
        return replace(corpus, name=f"{mark}{corpus.name}", languages=languages)

    tests = {f"{mark}{name}": labelled(corpus) for name, corpus in splits.tests.items()}
    return Splits(labelled(splits.train), labelled(splits.valid), tests)


def string_splits(
    data: Sequence[Path], names: Names, *, columns: TableColumns = STRINGS, seed: int = 1, report: Report = silent
) -> Splits[PairCorpus]:
    """Return the splits of pairs of strings, each file in a format that its content tells (``formats.strings``).

    Without a validation split a tenth of the inputs is held out, all answers of an input together. Notes say so, and
    how each file is read. Raises DataError as ``finding.find_files``, for a file of no known format, and with the line
    for one that is not in the format of its file.
    """
    found = find_files(data, names, _STRING_ENDINGS)

    def recognized(path: Path) -> StringFile:
        file = StringFile.of(path, columns)
        report(Note(f"{path} is read as {file.format.describe(file.found.chosen)}."))
        return file

    train, valid = (list(map(recognized, paths)) for paths in (found.train, found.valid))
    tests = {name: list(map(recognized, paths)) for name, paths in found.tests.items()}
    files: SplitFiles[PairFiles] = SplitFiles([*train], [*valid], {name: [*split] for name, split in tests.items()})
    return _parts(files, names, HeldOut(seed, _TENTH), report)


def _synthetic_part(
    paths: Sequence[Path], direction: Direction, names: Names, real: Splits[PairCorpus], report: Report
) -> PairCorpus:
    """Return the pairs of files that a program wrote, without copies, unusual lengths and pairs that are there."""
    found = SplitFiles(find_pairs(paths, direction, names, report).train, [*real.valid.files])
    known = corpora.put_together("", [real.train, real.valid, *real.tests.values()])
    filters = Filters(SYNTHETIC_FILTERS, direction, real.train, known)
    made = _in_languages(_parts(found, names, HeldOut(0), report, filters), direction, "synthetic ").train
    if made.count > real.train.count:
        counts = f"{made.count:,} and {real.train.count:,}"
        report(Note(f"There are more synthetic pairs than real ones from {direction[0]} to {direction[1]}: {counts}."))
    return replace(made, synthetic=True)


def _parts(
    found: SplitFiles[PairFiles], names: Names, held: HeldOut, report: Report, filters: Filters | None = None
) -> Splits[PairCorpus]:
    """Return the splits in files that are found; without a validation split, pairs are ``held`` out of training."""
    files, holds = tuple(found.train), not found.valid

    def scan(report: Report) -> Facts:
        read = set[str]()
        usable = _scan(files, held if holds else None, read, report, filters)
        pairs = held.choose() if holds else []
        facts = {"usable": usable, "digests": corpora.file_digests(_flat(files)), "read": sorted(read)}
        return facts | {"chosen": sorted(held.chosen), "pairs": pairs}

    choices = [
        "training pairs",
        repr(files),
        str(holds),
        *map(str, held.identity),
        *(filters.choices if filters else ()),
    ]
    facts = known_or_read(_flat(files), choices, scan, report)
    read = sorted({*facts["read"], *(f"without {name}" for name in (filters.marks if filters else ()))})
    usable, pairs = facts["usable"], tuple((source, target) for source, target in facts["pairs"])
    held.chosen = frozenset(facts["chosen"])

    def part(name: str, count: int, keep: Callable[[str, str], bool], *choices: object, **few: Any) -> PairCorpus:
        return PairCorpus(name, files, _digest(files, facts["digests"], read, *choices), count, keep, filters, **few)

    def kept(source: str, target: str) -> bool:
        return corpora.both_sides(source, target) and (source, target) not in held

    def held_out(source: str, target: str) -> bool:
        return corpora.both_sides(source, target) and (source, target) in held

    tests = {name: _every_pair(name, paths) for name, paths in found.tests.items()}
    if not holds:
        return Splits(
            part(names.train, usable, corpora.both_sides, "usable"), _every_pair(names.valid, found.valid), tests
        )
    if not pairs:
        raise DataError(
            f"{_paths(_flat(files))}: no validation split can be held out of {inflect(usable, 'pair')}: give one, or "
            f"pairs with more different {held.side}s."
        )
    held_pairs = f"{len(pairs):,} of {inflect(usable, 'pair')} {agreeing(len(pairs), 'are')}"
    how = f"held out of training for it (seed {held.seed}; pairs with the same {held.side} stay together)"
    report(Note(f"No validation split was given, so {held_pairs} {how}."))
    train = part(names.train, usable - len(pairs), kept, "without the held-out part", *held.identity)
    valid = part(names.valid, len(pairs), held_out, "the held-out part", *held.identity, pairs=pairs)
    return Splits(train, valid, tests)


def pair_corpus(path: Path, source: str, target: str, names: Names = USUAL) -> PairCorpus:
    """Return the pairs of a file, or of the training split of a folder; errors as for ``translation_splits``."""
    return _every_pair(path.name, find_pairs([path], (source, target), names, silent).train)


def text_splits(data: Sequence[Path], names: Names = USUAL, *, report: Report = silent) -> Splits[TextCorpus]:
    """Return the splits of a running text; without a validation split the last lines are held out, which a Note says.

    Raises DataError for a missing file, invalid UTF-8, and a text too short to split.
    """
    demand_data(data, "--data FOLDER or --data book.txt")
    found = find_texts(data, names, report)
    demand_named(data, names, [found])
    tests = {name: _read_text(name, files, report)[0] for name, files in found.tests.items()}
    whole, part = _read_text(names.train, found.train, report)
    if found.valid:
        return Splits(whole, _read_text(names.valid, found.valid, report)[0], tests)
    if whole.count < 2:
        raise DataError(
            f"The last lines are held out for validation, but {_paths(whole.paths)} has one line only: break it into "
            f"lines, or give a folder with {names.train}.txt and {names.valid}.txt."
        )
    tail = max(1, min(LARGEST_COUNT, int(whole.count * LARGEST_SHARE)))
    body = whole.count - tail
    lines = f"the last {tail:,} of {inflect(whole.count, 'line')} {agreeing(tail, 'are')}"
    report(Note(f"No validation split was given, so {lines} held out for it."))
    return Splits(part(names.train, 0, body), part(names.valid, body, tail), tests)


def _scan(
    files: Sequence[PairFiles], held: HeldOut | None, read: set[str], report: Report, filters: Filters | None
) -> int:
    """Read all training files once: find faults, count the usable pairs, gather candidates for the held-out part."""
    usable = 0
    reason = filters.begin() if filters else None
    dropped = Counter[str]()
    left_out = list[Skipped]()

    def told(event: Event) -> None:
        left_out.extend([event] if isinstance(event, Skipped) else [])
        report(event)

    for source, target in _report_left_out(files, read, told):
        if not corpora.both_sides(source, target):
            dropped["with an empty side"] += 1
        elif reason and (why := reason(source, target)):
            dropped[why] += 1
        else:
            usable += 1
            if held is not None:
                held.add(source, target)
    for why, count in dropped.items():
        told(Skipped(f"pairs {why} were left out of the training split", count))
    if not usable:
        why = "".join(f"; {one}" for one in left_out)
        if languages := ", ".join(declared_languages(_flat(files))):
            why += f"; languages there are {languages}: name those of the pairs (--source, --target or SOURCE-TARGET=)"
        raise DataError(f"There are no pairs of sentences to train on in {_paths(_flat(files))}{why}.")
    return usable


def _report_left_out(files: Sequence[PairFiles], read: set[str], report: Report) -> Iterator[Pair]:
    """Yield the pairs of all files; at their end, ``report`` receives what was left out of their lines.

    What versions before did not leave out is added to ``read``, which goes into the fingerprint of a split: a run of
    such a version is not resumed on other pairs unnoticed.
    """
    left_out: dict[str, tuple[int, str]] = {}  # how many lines for each reason, and where the first is

    def rejected(file: PairFiles, line: int, why: str) -> None:
        if why == HEADING:
            read.add("without heading")
            report(Note(f"The first line of {file.paths[0]} names its columns and is left out."))
            return
        what = f"entries {why}" if isinstance(file, EntryFile) else "lines that do not have two columns"
        count, first = left_out.get(what, (0, f"line {line} of {file.paths[0]}"))
        left_out[what] = count + 1, first

    for file in files:
        marked = 0
        for row in file.rows(partial(rejected, file)):
            pair = corpora.plain_pair(row)
            marked += pair != (row.source, row.target)
            if row.trimmed:
                read.add("without empty columns")
            yield pair
        if marked:
            read.add("without special tokens")
        _tell_special_tokens(marked, file.paths, report)
    for what, (count, first) in left_out.items():
        report(Skipped(f"{what} were left out (the first is {first})", count))


def _tell_special_tokens(count: int, paths: Sequence[Path], report: Report) -> None:
    if count:
        begin = f"{inflect(count, 'line')} of {_paths(paths)} {agreeing(count, 'begin or end')} with special tokens"
        report(Note(f"{begin} such as <s> or </s>: these are no part of the text, and are left out."))


def _every_pair(name: str, files: Sequence[PairFiles]) -> PairCorpus:
    def read_all(report: Report) -> Facts:
        read = set[str]()
        count = sum(1 for _ in _report_left_out(files, read, silent))
        return {"count": count, "read": sorted(read), "digests": corpora.file_digests(_flat(files))}

    facts = known_or_read(_flat(files), ["all pairs", repr(files)], read_all, silent)
    if not facts["count"]:
        raise DataError(f"{_paths(_flat(files))} has no pairs for the split '{name}': add some, or remove the file.")
    digest = _digest(files, facts["digests"], facts["read"], "all")
    return PairCorpus(name, tuple(files), digest, facts["count"])


def _read_text(
    name: str, files: Sequence[Path], report: Report
) -> tuple[TextCorpus, Callable[[str, int, int], TextCorpus]]:
    """A split of all lines, and a function to a part of it: from its name, its first line, and how many it has."""

    def read_all(report: Report) -> Facts:
        count = letters = marked = 0
        for path in files:
            for written in read_lines(path):
                line = without_special_tokens(written)
                count += 1
                letters += len(line)
                marked += line != written
        _tell_special_tokens(marked, files, report)
        return {"count": count, "letters": letters, "marked": marked, "digests": corpora.file_digests(files)}

    facts = known_or_read(files, ["text", repr(files)], read_all, report)
    if not facts["letters"]:
        raise DataError(f"{_paths(files)} has no text for the split '{name}': add some, or remove the file.")

    def part(name: str, start: int, count: int) -> TextCorpus:
        read = ["without special tokens"] if facts["marked"] else []
        return TextCorpus(
            name, tuple(files), corpora.fingerprint_of(facts["digests"], start, count, *read), count, start
        )

    return part(name, 0, facts["count"]), part


def _digest(files: Sequence[PairFiles], digests: Sequence[str], read: Sequence[str], *choices: object) -> str:
    layouts = {choice for file in files if isinstance(file, PairFile) for choice in file.choices}
    return corpora.fingerprint_of(digests, *choices, *sorted(layouts), *read)


def _flat(files: Sequence[PairFiles]) -> list[Path]:
    return [path for file in files for path in file.paths]


def _paths(paths: Sequence[Path]) -> str:
    """Return the paths for a message: of more than three the first, and how many others there are."""
    if len(paths) > 3:
        return f"{paths[0]} and {len(paths) - 1:,} other files"
    return ", ".join(str(path) for path in paths)
