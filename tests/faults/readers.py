"""Files of every format in which something was changed: a reader reads them or names the place, in little memory."""

import os
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from random import Random

import numpy as np
from safetensors.numpy import save

from anaphora.errors import AnaphoraError
from anaphora.formats.arpa import read_arpa
from anaphora.formats.arrays import ArrayFile, Floats, Sequences
from anaphora.formats.captions import read_captions
from anaphora.formats.columns import Columns
from anaphora.formats.conllu import Conllu
from anaphora.formats.dictionary import read_dictionary
from anaphora.formats.documents import recognize
from anaphora.formats.entries.document import Document
from anaphora.formats.entries.kinds import read_entries
from anaphora.formats.glossary import read_glossary, read_terms
from anaphora.formats.ink_xml import read_ink_xml
from anaphora.formats.labelled import read_labelled
from anaphora.formats.labelled_vectors import read_labelled_vectors
from anaphora.formats.lines import read_lines, read_unpacked
from anaphora.formats.nbest import FORMATS
from anaphora.formats.offsets import Offsets
from anaphora.formats.omegat import read_project
from anaphora.formats.pharaoh import each_links
from anaphora.formats.strings import lines_of, read_format, string_lines
from anaphora.formats.stroke_json import read_stroke_json
from anaphora.formats.table_rows import read_sides, table_rows
from anaphora.formats.tagged import Plain, TaggedFormat
from anaphora.formats.tsv import Layout, read_pairs
from anaphora.formats.vectors import read_vectors
from tests.faults.inputs import changed
from tests.faults.processes import Fault, checked, forked

FILES = 200


@dataclass(frozen=True)
class Reader:
    name: str
    content: str | bytes
    read: Callable[[Path], object]
    """Its values hold all that was read; what must be so for any file, it asserts."""


def _entries(path: Path) -> list[object]:
    """The entries of a document; it is written as it was, and with its gaps filled it has the same entries."""
    kind = {".xlf": "xliff", ".srt": "subtitles", ".vtt": "subtitles"}.get(path.suffix, path.suffix[1:])
    document = Document.read(path, kind, ("en", "de"))
    assert document.fill({}) == b"".join(read_unpacked(path))
    gaps = {number: entry.gap for number, entry in enumerate(document.entries) if entry.gap}
    assert all(len(document.sentences(gap)) > 0 for gap in gaps.values())
    path.write_bytes(document.fill({number: {run: run.text for run in gap.runs} for number, gap in gaps.items()}))
    again = Document.read(path, kind, ("en", "de"))
    assert {entry.source for entry in document.entries} <= {entry.source for entry in again.entries}
    return [entry[1:4] for entry in document.entries]


def _tagged(format_: TaggedFormat, path: Path, *, is_exact: bool = True) -> list[object]:
    """The sentences; with the tags that they have, each is written as it was read, if the format keeps all else."""
    found: list[object] = []
    for labelled in (False, True):
        for sentence in format_.read(read_lines(path, exact=True, any_format=True), str(path), labelled=labelled):
            found.append(sentence)
            if labelled and sentence.tags:
                written = format_.write(sentence, sentence.tags)
                assert not is_exact or written == "".join(sentence.lines), (sentence, written)
    return found


def _all(read: Callable[..., Iterable[object]], *options: object, **named: object) -> Callable[[Path], list[object]]:
    return lambda path: list(read(path, *options, **named))


def _nbest(name: str, path: Path) -> list[object]:
    format_ = FORMATS[name]
    entries = [format_.parse(line, f"{path}:{number}") for number, line in enumerate(read_lines(path), 1)]
    return [entries, [format_.score(entry, -1.5, "new") for entry in entries]]


def _strings(path: Path) -> list[object]:
    form, _ = read_format(lines_of(path), str(path))
    return list(form.read(string_lines(lines_of(path), str(path)), str(path)))


def _table(path: Path) -> list[object]:
    rows = table_rows(read_lines(path, exact=True, any_format=True), str(path))
    return [(row.with_cell("x", "y"), cells) for row, cells in read_sides(rows, str(path), lambda *_: ([0], True))]


def _arrays(path: Path) -> list[object]:
    file, found = ArrayFile(path), list[object]()
    for name in file.names:
        for read in (lambda name: file.real(name)[:], file.integers, file.strings):
            with suppress(AnaphoraError):
                found.append(read(name))
    with suppress(AnaphoraError):
        sequences = Sequences(file)
        found += [sequences[number] for number in range(len(sequences))]
    return found


def _saved(save: Callable[..., None], *arrays: Floats, **named: Floats) -> bytes:
    stream = BytesIO()
    save(stream, *arrays, **named)
    return stream.getvalue()


def _start(path: Path) -> object:
    start = path.read_bytes()
    return [recognize(start, name) and start[:9].hex() for name in ("a.csv", "a.html", "a.docx", "a", "a.txt.gz")]


_VALUES = {"values": np.ones((5, 3), np.float32), "lengths": np.array([2, 3]), "names": np.array(["a", "b\u00e9"])}
_LABELLED = {**{name: _VALUES[name] for name in ("values", "lengths")}, "labels": np.array(["good", "bad"])}


class _Everything:
    def __contains__(self, word: object) -> bool:
        return True


_FILES: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_READ: dict[Callable[[Path], object], str] = {
    _strings: "strings.dict strings.tsv",
    _all(read_captions): "karpathy.json coco.json flickr.token",
    _all(read_ink_xml): "ink.xml ink.inkml",
    _all(read_stroke_json): "strokes.jsonl strokes.json",
    _all(read_lines): "lines.txt",
    _all(read_lines, exact=True, any_format=True): "exact.txt",
    _all(read_lines, replace_invalid=True): "invalid.txt",
    _all(read_unpacked): "bytes.txt",
    _all(read_labelled): "labelled.tsv bare.tsv labelled.csv labelled.jsonl labelled.txt",
    _all(read_pairs): "pairs.tsv",
    _all(read_pairs, Layout((2, 3), True)): "quoted.tsv",
    _table: "rows.csv rows.tsv rows.jsonl",
    partial(_tagged, Conllu()): "trees.conllu",
    partial(_tagged, Conllu("FEATS")): "features.conllu",
    partial(_tagged, Columns(2)): "blocks.conll",
    partial(_tagged, Offsets("iob2"), is_exact=False): "spans.jsonl array.json",
    partial(_tagged, Plain()): "plain.txt",
    read_arpa: "model.arpa",
    **{partial(_nbest, name): f"list.{name}" for name in FORMATS},
    _all(read_vectors, 3, _Everything()): "words.vec",
    read_dictionary: "words.dictionary",
    read_glossary: "terms.glossary",
    _all(read_terms, ("en", "de")): "terms.tab terms.tbx",
    lambda path: read_project(path.parent).languages: "omegat.project",
    _all(each_links, [None] * 3): "links.pharaoh",
    _entries: "memory.tmx first.xlf second.xlf third.xlf app.po page.html film.srt film.vtt",
    _all(read_entries, "csv", ("en", "de")): "table.csv",
    _start: "start.bin start.po start.srt",
}
READERS = (
    *(Reader(name, _FILES[name], read) for read, names in _READ.items() for name in names.split()),
    Reader("one.npy", _saved(np.save, _VALUES["values"]), _arrays),
    Reader("names.npy", _saved(np.save, _VALUES["names"]), _arrays),
    Reader("some.npz", _saved(np.savez, **_VALUES), _arrays),
    Reader("packed.npz", _saved(np.savez_compressed, **_VALUES), _arrays),
    Reader("some.safetensors", save({name: _VALUES[name] for name in ("values", "lengths")}), _arrays),
    Reader("sequences.npz", _saved(np.savez, **_LABELLED), _all(read_labelled_vectors)),
)


def trial(random: Random) -> str:
    """Read ``FILES`` changed files of random formats in one process; returns what was read."""
    draws = [(random.choice(READERS), Random(random.random())) for _ in range(FILES)]

    def work() -> int:
        with tempfile.TemporaryDirectory() as folder:
            for reader, draw in draws:
                path = Path(folder) / reader.name
                path.write_bytes(
                    changed(draw, reader.content if isinstance(reader.content, bytes) else reader.content.encode())
                )
                os.write(1, f"{reader.name}: {path.read_bytes()[:3000]!r}\n".encode())
                try:
                    _check_text(reader.read(path))
                except AnaphoraError as error:
                    assert reader.name in str(error), error
        return 0

    ended = forked(work)
    last = "".join(ended.out.splitlines()[-1:])
    if ended.code:
        try:
            checked(ended, "reading")
        except Fault as fault:
            raise Fault(f"{last[:4000]}\n{fault}") from None
        raise Fault(f"{last[:4000]}: {ended.code}")
    return "files"


def _check_text(value: object) -> None:
    """Every string can be written, and has no NUL, wherever it came from."""
    if isinstance(value, str):
        assert value.encode() is not None and "\0" not in value, value
    elif isinstance(value, Mapping):
        _check_text([*value.keys(), *value.values()])
    elif isinstance(value, Iterable) and not isinstance(value, bytes):
        for one in value:
            _check_text(one)
    elif hasattr(value, "__dict__"):
        _check_text(vars(value))
