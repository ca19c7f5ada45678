"""Files of every format in which something was changed: a reader reads them or names the place, in little memory."""

import json
import os
import tempfile
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


_TMX = (
    '<?xml version="1.0"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4"><header srclang="en"/><body>\n<tu>'
    '<tuv xml:lang="en">\n<seg>a <bpt i="1">&lt;b&gt;</bpt>b<ept i="1">x<sub>c</sub></ept></seg></tuv></tu>\n<tu>'
    '<tuv lang="EN-us"><seg><![CDATA[a]]> &amp; b</seg></tuv><tuv lang="de"><seg/></tuv></tu></body></tmx>'
)
_XLIFF = (
    '<xliff version="1.2" xmlns="urn:x"><file source-language="en" target-language="de"><body>\n<group>'
    '<trans-unit id="1"><source>a <g id="1">b<x id="2"/></g></source>\n<target state="new"/>'
    "<alt-trans><target>c</target></alt-trans></trans-unit></group>"
    '<trans-unit id="2"><source>d</source><target>D</target></trans-unit></body></file></xliff>'
)
_XLIFF_2 = (
    "<?xml version='1.0'?><xliff version='2.0' srcLang='en'><file id='f'><unit id='1'>\n  <segment state='initial'>\n"
    "    <source>a <pc id='1'>b</pc><sm id='m' translate='no'/>c<em startRef='m'/></source>\n  </segment></unit></file>"
    "</xliff>"
)
_SDLXLIFF = (
    '<xliff version="1.2" xmlns:sdl="s"><file source-language="en"><body><trans-unit id="1"><source>a b c</source>\n'
    '<seg-source><g id="1"><mrk mtype="seg" mid="1">a</mrk> <mrk mtype="seg" mid="2">b</mrk></g> '
    '<mrk mtype="seg" mid="3">c</mrk></seg-source>\n<target><mrk mtype="seg" mid="1">A</mrk> '
    '<mrk mtype="seg" mid="3"/></target><sdl:seg-defs><sdl:seg id="1" conf="Translated"/><sdl:seg id="3"/>'
    "</sdl:seg-defs></trans-unit></body></file></xliff>"
)
_PO = (
    'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\nPlural-Forms: nplurals=2;\\n"\n\n'
    '#, c-format\n#| msgid "o"\nmsgctxt "x"\nmsgid "a \\"b\\""\n"c\\n"\n'
    'msgid_plural "d"\nmsgstr[0] ""\nmsgstr[1] ""\n\n'
    '#~ msgid "e"\n#~ msgstr "f"\n'
    'msgid\n"g" msgid_plural "h" msgstr [0]"i" msgstr[\n1] ""\n'
)
_HTML = (
    "<!DOCTYPE html>\n<html><head><title>a</title><script>b < c</script></head><body><p class='x'>d <b>e</b> &eacute; "
    "&#65; <img alt='f' src=g><!-- h --><br/>i</p><ul><li>j<li>k</ul><% if l > m %><p lang='en'>{{ n | o }} p</p>"
    "{% q %}<p lang='de'>r <?php s ?></body></html>"
)


_BLOCKS = "EU B-ORG\nrejects O\n. O\n\n-DOCSTART- -X-\n\nA B-PER\nB I-PER\n"
_TREES = (
    "# sent_id = 1\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\tde\tADP\t_\t_\t0\troot\t_\t_\n"
    "2\tle\tle\tDET\t_\tA=B|C=D\t1\tdet\t_\t_\n2.1\te\t_\t_\t_\t_\t_\t_\t_\t_\n\n1\tfin\tfin\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
)
_OFFSETS = (
    '{"text": "EU rejects it", "label": [[0, 2, "ORG"]]}\n'
    '{"data": {"text": "a B"}, "annotations": [{"result": [{"value": {"start": 2, "end": 3, "labels": ["X"]}}]}]}\n'
    '{"text": "a", "entities": [{"start_offset": 0, "end_offset": 1, "label": "Y"}]}\n'
)
_ARPA = (
    "\\data\\\nngram 1=4\nngram 2=2\n\n\\1-grams:\n-99\t<s>\t-0.3\n-0.5\t</s>\n-0.4\t<unk>\n-0.2\ta\t-0.1\n\n"
    "\\2-grams:\n-0.1\t<s> a\n-0.3\ta </s>\n\n\\end\\\n"
)
_VALUES = {"values": np.ones((5, 3), np.float32), "lengths": np.array([2, 3]), "names": np.array(["a", "b\u00e9"])}
_LABELLED = {**{name: _VALUES[name] for name in ("values", "lengths")}, "labels": np.array(["good", "bad"])}
_INK = "<WhiteboardCaptureSession><StrokeSet><Stroke>\n<Point x='1' y='2' time='0.1'/><Point x='2' y='3' time='1'/>\n"
_KARPATHY = '{"images": [{"filename": "a.jpg", "split": "train", "sentences": [{"raw": "a cat"}]}]}'
_COCO = '{"images": [{"id": 1, "file_name": "a.jpg"}], "annotations": [{"image_id": 1, "caption": "a cat"}]}'
_TBX = (
    '<martif type="TBX"><text><body><termEntry><langSet xml:lang="en"><tig><term>man</term></tig></langSet>'
    '<langSet xml:lang="de"><tig><term>Mann</term></tig></langSet></termEntry></body></text></martif>'
)
_PROJECT = (
    "<omegat><project version='1.0'><source_dir>a</source_dir><source_lang>en</source_lang>"
    "<target_lang>de</target_lang></project></omegat>"
)


class _Everything:
    def __contains__(self, word: object) -> bool:
        return True


READERS = (
    Reader("strings.dict", ";;; a\nCAT K AE1 T\nDOG(2)  D AO1 G # b\n", _strings),
    Reader("strings.tsv", "sagen\tsagst\tV;IND;PST\nlaufen\tlief\tV;PST;3;SG\n", _strings),
    Reader("karpathy.json", _KARPATHY, _all(read_captions)),
    Reader("coco.json", _COCO, _all(read_captions)),
    Reader("flickr.token", "a.jpg#0\ta cat\nb.jpg#1\ta dog\n", _all(read_captions)),
    Reader("ink.xml", f"{_INK}</Stroke></StrokeSet></WhiteboardCaptureSession>", _all(read_ink_xml)),
    Reader("ink.inkml", "<ink><trace>1 2, 3 4</trace><trace>5 6</trace></ink>", _all(read_ink_xml)),
    Reader(
        "strokes.jsonl",
        '{"text": "hi", "strokes": [[[1, 2], [3, 4]]]}\n{"word": "c", "drawing": [[[1, 2], [3, 4]]]}\n[[1, 2, 0]]\n',
        _all(read_stroke_json),
    ),
    Reader("strokes.json", '{"train": [[[1, 2, 0], [0, 1, 1]]], "a": []}', _all(read_stroke_json)),
    Reader("one.npy", _saved(np.save, _VALUES["values"]), _arrays),
    Reader("names.npy", _saved(np.save, _VALUES["names"]), _arrays),
    Reader("some.npz", _saved(np.savez, **_VALUES), _arrays),
    Reader("packed.npz", _saved(np.savez_compressed, **_VALUES), _arrays),
    Reader("some.safetensors", save({name: _VALUES[name] for name in ("values", "lengths")}), _arrays),
    Reader("lines.txt", "a line\nein Straße\r\n\nlast", _all(read_lines)),
    Reader("exact.txt", "a\nein Straße\r\n\nlast", _all(read_lines, exact=True, any_format=True)),
    Reader("invalid.txt", "a line\n\u00e9\n", _all(read_lines, replace_invalid=True)),
    Reader("bytes.txt", "a line\n", _all(read_unpacked)),
    Reader("sequences.npz", _saved(np.savez, **_LABELLED), _all(read_labelled_vectors)),
    Reader("labelled.tsv", "label\ttext\ngood\ta fine film\nbad\tdull\n", _all(read_labelled)),
    Reader("bare.tsv", "good\ta fine film\nbad\tdull\n", _all(read_labelled)),
    Reader("labelled.csv", 'label,text\ngood,"a, ""fine""\nfilm"\nbad,dull\n', _all(read_labelled)),
    Reader(
        "labelled.jsonl", '{"label": "good", "text": "a \\u00e9"}\n{"text": "b", "label": 3}\n', _all(read_labelled)
    ),
    Reader("labelled.txt", "__label__good a fine film\nbad dull\n", _all(read_labelled)),
    Reader("pairs.tsv", "en\tfr\na cat\tun chat\na dog\tun chien\t\n", _all(read_pairs)),
    Reader("quoted.tsv", '1\t"a ""cat"""\tun chat\n2\ta\tb\n', _all(read_pairs, Layout((2, 3), True))),
    Reader("rows.csv", 'text,label\n"a, ""b""\nc",x\n', _table),
    Reader("rows.tsv", "text\tlabel\na\tx\n", _table),
    Reader("rows.jsonl", '{"text": "a", "label": ["x"]}\n[{"text": "b", "label": 1}]\n', _table),
    Reader("trees.conllu", _TREES, partial(_tagged, Conllu())),
    Reader("features.conllu", _TREES, partial(_tagged, Conllu("FEATS"))),
    Reader("blocks.conll", _BLOCKS, partial(_tagged, Columns(2))),
    Reader("spans.jsonl", _OFFSETS, partial(_tagged, Offsets("iob2"), is_exact=False)),
    Reader(
        "array.json",
        json.dumps([json.loads(line) for line in _OFFSETS.splitlines()], indent=1),
        partial(_tagged, Offsets("iob2"), is_exact=False),
    ),
    Reader("plain.txt", "a man walks.\n\nit's 5:30\n", partial(_tagged, Plain())),
    Reader("model.arpa", _ARPA, read_arpa),
    Reader("list.moses", "0 ||| a man ||| lm: -3 tm= 1 ||| -4\n0 ||| a ||| 0-0 ||| F= -1\n", partial(_nbest, "moses")),
    Reader("list.kaldi", "utt-7-1 the man\nutt-7-2\n", partial(_nbest, "kaldi")),
    Reader("list.srilm", "-120.5 -36.2 3 <s> the man </s>\n-1 -2 0\n", partial(_nbest, "srilm")),
    Reader("words.vec", "2 3\nman 0.1 -2 3e-1\nwoman 1 2 3\n", _all(read_vectors, 3, _Everything())),
    Reader("words.dictionary", "man\tMann\t0.9\nhouse\tHaus\t0.5\n", read_dictionary),
    Reader("terms.glossary", "man\tMann | Herr\n*\t!Weib\n", read_glossary),
    Reader("terms.tab", "# a\nman\tMann\tnoun\nx\n", _all(read_terms, ("en", "de"))),
    Reader("terms.tbx", _TBX, _all(read_terms, ("en", "de"))),
    Reader("omegat.project", _PROJECT, lambda path: read_project(path.parent).languages),
    Reader("links.pharaoh", "0-0 1-1\n\n2-0\n", _all(each_links, [None] * 3)),
    Reader("memory.tmx", _TMX, _entries),
    Reader("first.xlf", _XLIFF, _entries),
    Reader("second.xlf", _XLIFF_2, _entries),
    Reader("third.xlf", _SDLXLIFF, _entries),
    Reader("app.po", _PO, _entries),
    Reader("page.html", _HTML, _entries),
    Reader("film.srt", "1\n00:00:01,000 --> 00:00:02,000\n<i>a\nb</i>\n\n2\n00:00:03,0 --> 0:00:04,0\n- c\n", _entries),
    Reader("film.vtt", "WEBVTT\n\nNOTE a\n\n00:01.000 --> 00:02.000 line:0\n<v Al>a &amp; b</v>\n", _entries),
    Reader("table.csv", 'en,de\n"a, ""b""\nc",d\n', _all(read_entries, "csv", ("en", "de"))),
    Reader("start.bin", "<?xml version='1.0'?><!-- a --><tmx version='1.4'>", _start),
    Reader("start.po", '# a\n#, fuzzy\nmsgctxt "x"\nmsgid "a"\nmsgstr "b"\n', _start),
    Reader("start.srt", "1\n00:00:01,000 --> 00:00:02,000\nHello\n", _start),
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
