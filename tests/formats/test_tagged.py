"""Files of tagged sentences: what is read, what is refused with its line, and that nothing but tags changes."""

import gzip
import json
from itertools import repeat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import DataError
from anaphora.formats import json_text, tagged
from anaphora.formats.columns import WORDS, Columns
from anaphora.formats.conllu import Conllu
from anaphora.formats.lines import read_lines, writing_text
from anaphora.formats.offsets import Offsets
from anaphora.formats.tagged import Plain, Sentence, TaggedFormat, token_places

CONLLU = """\
# newdoc
# sent_id = 1
1-2\tcannot\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tcan\tcan\tAUX\tMD\tA=b\t0\troot\t_\t_
2\tnot\tnot\tPART\tRB\t_\t1\tadvmod\t_\t_
2.1\tgo\tgo\tVERB\tVB\t_\t_\t_\t1:conj\t_

# sent_id = 2
1\t1 000\t1 000\tNUM\tCD\t_\t0\troot\t_\t_

"""

CONLL_2003 = """\
-DOCSTART- -X- -X- O

EU NNP B-NP B-ORG
rejects  VBZ B-VP O

Peter NNP B-NP B-PER
-DOCSTART- -X- -X- O

. . O O
"""


def ended(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def sentences(format_: TaggedFormat, text: str, *, labelled: bool = True) -> list[Sentence]:
    return list(format_.read(ended(text), "file", labelled=labelled))


def rewritten(format_: TaggedFormat, text: str) -> str:
    return "".join(format_.write(one, one.tags) for one in sentences(format_, text))


TRAINED = Columns(3, table=WORDS._replace(chosen=("token", "ner"), header=("token", "pos", "ner")))
UNNAMED = Columns(2, table=WORDS._replace(chosen=(1, 2), header=("1", "2")))


@pytest.mark.parametrize(
    ("format_", "text", "expected"),
    [
        (Conllu(), CONLLU, {4: ("can not", "AUX PART"), 9: ("1 000", "NUM")}),  # ranges and empty nodes are no words
        (Conllu("XPOS"), CONLLU, {4: ("can not", "MD RB"), 9: ("1 000", "CD")}),
        # a mark between documents is no sentence
        (Columns(4), CONLL_2003, {3: ("EU rejects", "B-ORG O"), 6: ("Peter", "B-PER"), 9: (".", "O")}),
        # a word that could head a column is a token with a tag and below other rows
        (Columns(2), "Word NN\nToken tag\n", {1: ("Word Token", "NN tag")}),
        (TRAINED, "n\tNER\tToken\n7\tB-ORG\tEU\n", {2: ("EU", "B-ORG")}),  # by the name of their column
    ],
)
def test_words_and_tags_are_those_of_their_columns(
    format_: TaggedFormat, text: str, expected: dict[int, tuple[str, str]]
) -> None:
    found = [one for one in sentences(format_, text) if one.words]
    assert {one.line_of(0): (" ".join(one.words), " ".join(one.tags)) for one in found} == expected


@pytest.mark.parametrize("heading", ["token\tpos\tner_tag\n", "Word POS Tag\n", "\ufefftext\tupos\tlabel\r\n\r\n"])
def test_a_heading_is_no_token_and_stays(heading: str) -> None:
    text = heading + "EU\tNNP\tB-ORG\n"
    assert [one.words for one in sentences(Columns(3), text) if one.words] == [("EU",)]
    assert rewritten(Columns(3), text) == text


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("format_", "text", "tagged"),
    [
        (TRAINED, "token\tpos\tner\nEU\tNNP\tO\n", "token\tpos\tner\nEU\tNNP\tX\n"),
        (TRAINED, "EU NNP O\n", "EU NNP X\n"),
        (TRAINED, "token\tner\tpos\nEU\tO\tNNP\n", "token\tner\tpos\tprediction\nEU\tO\tNNP\tX\n"),
        (TRAINED, "id\tToken\nn1\tEU\n", "id\tToken\tprediction\nn1\tEU\tX\n"),
        (TRAINED, "EU NNP I-NP O\n", "EU NNP I-NP O X\n"),
        (TRAINED, "EU\n", "EU\tX\n"),
        (UNNAMED, "EU NNP I-NP O\n", "EU NNP I-NP O X\n"),
        (UNNAMED, "id word\n1 EU\n", "id word prediction\n1 EU X\n"),
        (Columns(2), "EU\n", "EU\tX\n"),
        (Columns(2), " EU\n", " EU\tX\n"),
        (Columns(2), "EU \n", "EU \tX\n"),
        (Columns(3), "EU\tNNP\n", "EU\tNNP\tX\n"),
        (Conllu(""), "1\tEU\t_\tX\t_\t_\t_\t_\t_\t_\n\n", "1\tEU\t_\tX\t_\t_\t_\t_\t_\t_\tX\n\n"),
    ],
)
def test_tags_get_a_new_column_where_others_than_in_training_are_there(
    format_: TaggedFormat, text: str, tagged: str, end: str
) -> None:
    text = text.replace("\n", end)
    if isinstance(format_, Columns):
        format_ = format_.fit(text.splitlines()[0], "file:1")
    found = sentences(format_, text, labelled=False)
    tags = ("O",) if len(text.split()) == len(tagged.split()) else ()  # in the column that they change, or none
    assert [(one.words, one.tags) for one in found if one.words] == [(("EU",), tags)]
    written = "".join(format_.write(one, ["X"] * len(one.words)) for one in found)
    assert written == tagged.replace("\n", end)


@pytest.mark.parametrize(
    ("format_", "text", "changed"),
    [
        (Conllu(), CONLLU, CONLLU.replace("\tAUX\t", "\tX\t").replace("\tPART\t", "\tX\t").replace("\tNUM\t", "\tX\t")),
        (Columns(2), "EU B-ORG\n\t. O\nit\tO\n\n", "EU X\n\t. X\nit\tX\n\n"),
        (Columns(4), "rejects  VBZ B-VP O\n\n", "rejects  VBZ B-VP X\n\n"),
    ],
)
def test_other_tags_change_their_column_alone(format_: TaggedFormat, text: str, changed: str) -> None:
    assert "".join(format_.write(one, ["X"] * len(one.words)) for one in sentences(format_, text)) == changed
    assert rewritten(format_, text) == text


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize(
    ("format_", "text"),
    [(Conllu(), CONLLU), (Columns(4), CONLL_2003), (Columns(2), "a\tX\n\n\nb\tY"), (Columns(2), " . O\n\n")],
)
def test_with_its_own_tags_a_file_is_what_it_was(format_: TaggedFormat, text: str, bom: str, end: str) -> None:
    text = bom + text.replace("\n", end)
    assert rewritten(format_, text) == text


@pytest.mark.parametrize(
    ("format_", "text", "line", "message"),
    [
        (Conllu(), CONLLU.replace("\n\n# sent_id = 2\n", "\n"), 7, "begins a sentence"),
        (Conllu(), CONLLU.replace("\n\n# sent", "\n# sent"), 7, "comment right after words"),
        (Conllu(), CONLLU.removesuffix("\n"), 9, "no blank line follows"),
        (Conllu(), CONLLU.replace("\t1:conj", ""), 6, "has 9"),
        (Conllu(), CONLLU.replace("\n2\tnot", "\n3\tnot"), 5, "should have the ID 2"),
        (Columns(4), CONLL_2003.replace("Peter NNP", "Peter"), 6, "has 3"),
        (Columns(3), "a\tX\n", 1, "columns 1 and 3"),
        (TRAINED, "EU NNP I-NP O\n", 1, "'token' and 'ner' as training had .token, pos, ner., but has 4 columns"),
        (TRAINED, "token\tpos\nEU\tNNP\n", 1, "columns 'token' and 'ner' as training had"),
        (UNNAMED, "EU NNP O\n", 1, "columns 1 and 2 as training had .1, 2., but has 3 columns"),
        (UNNAMED, "1 EU NNP O\n", 1, "columns 1 and 2 as training had"),
        (Columns(0, table=WORDS._replace(chosen=(1, "nre"))), "token\tner\n", 1, "Did you mean 'ner'?"),
        (Columns(2), "a\tX\n\tX\n", 2, "empty word"),
        (Offsets("iob2"), '{"text": "a"}\n', 1, "spans"),
        (Offsets("iob2"), '{"text": "a", "label": []}\nno\n', 2, "should be JSON"),
        (Offsets("iob2"), '\u00a0{"text": "a", "label": []}\n', 1, "should be JSON"),
        (Offsets("iob2"), '{"text": "a b", "label": [[0, 4, "X"]]}\n', 1, "lies outside"),
        (Offsets("iob2"), '{"text": "a b", "label": [[0, 2, "X"], [1, 3, "Y"]]}\n', 1, "overlaps"),
        (Offsets("iob2"), '{"text": "a b", "label": [[0, "1", "X"]]}\n', 1, "spans such as"),
        (Offsets("iob2"), '{"text": "a b", "label": [[0, 1, "X\\nY"]]}\n', 1, "spans such as"),
        (Offsets("iob2"), '{"text": "a", "annotations": [{"result": 1}]}\n{"text": 1}\n', 2, "should have its text"),
        (Offsets("iob2"), '{"text": "a \\udead", "label": []}\n', 1, "surrogates"),
    ],
)
def test_what_is_not_in_the_format_is_named_by_line(format_: TaggedFormat, text: str, line: int, message: str) -> None:
    with pytest.raises(DataError, match=rf"file:{line}\b.*{message}"):
        sentences(format_, text)


BOTH = [(0, 2, "ORG"), (11, 21, "MISC")]
STUDIO = [{"start": begin, "end": end, "labels": [label]} for begin, end, label in BOTH]
SPANS: dict[str, dict[str, object]] = {
    "doccano": {"label": BOTH},
    "spans beside the class of a text": {"entities": BOTH, "label": "news"},
    "doccano, unsorted": {"labels": BOTH[::-1]},
    "doccano, relations": {"entities": [{"start_offset": b, "end_offset": e, "label": label} for b, e, label in BOTH]},
    "Label Studio, JSON-MIN": {"label": STUDIO},
    "Label Studio, JSON": {"annotations": [{"result": [{"value": one} for one in STUDIO]}]},
}
TEXT = "EU rejects German-led naïve call."


@pytest.mark.parametrize("spans", SPANS.values(), ids=SPANS)
@pytest.mark.parametrize("array", [False, True])
def test_offsets_become_tags_of_tokens(spans: dict[str, object], array: bool) -> None:
    item = {"data": {"text": TEXT}, **spans} if "annotations" in spans else {"text": TEXT, **spans}
    text = json.dumps([item], indent=1) if array else json.dumps(item) + "\n"
    [found] = sentences(Offsets("bioes"), text)
    assert found.words == ("EU", "rejects", "German", "-", "led", "naïve", "call", ".")
    assert found.tags == ("S-ORG", "O", "B-MISC", "I-MISC", "E-MISC", "O", "O", "O")
    [unlabelled] = sentences(Offsets("bioes"), text, labelled=False)
    written = json.loads(Offsets("bioes").write(unlabelled, found.tags))
    key = next(iter(spans)) if "annotations" not in spans else "label"
    assert written == {**json.loads(json.dumps(item)), key: [*map(list, BOTH)]}


def test_a_span_that_begins_or_ends_within_a_word_cuts_it_and_is_written_again() -> None:
    line = '{"text": "overlooked c", "label": [[4, 8, "VERB"], [11, 12, "Y"]]}\n'
    [found] = sentences(Offsets("iob2"), line)
    assert found.words == ("over", "look", "ed", "c")
    assert found.tags == ("O", "B-VERB", "O", "B-Y")
    assert json.loads(Offsets("iob2").write(found, found.tags)) == json.loads(line)


def test_plain_text_becomes_two_columns() -> None:
    found = sentences(Plain(), "It doesn't.\n\n  \nNo\n", labelled=False)
    assert found[0].words == ("It", "does", "n't", ".")
    assert [Plain().write(one, ["X"] * len(one.words)) for one in found[1:]] == ["", "", "No\tX\n\n"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("राम दिल्ली गया।", ["राम", "दिल्ली", "गया", "।"]),  # vowel signs
        ("كِتَابٌ جميل، نعم", ["كِتَابٌ", "جميل", "،", "نعم"]),
        ("می\u200cخواهم بروم", ["می\u200cخواهم", "بروم"]),
        ("e\u0301te\u0301 5 m²", ["e\u0301te\u0301", "5", "m²"]),
        ("小明去iPhone店。2024年", ["小", "明", "去", "iPhone", "店", "。", "2024", "年"]),
        ("สวัสดี", ["ส", "วั", "ส", "ดี"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("👩\u200d👧 ❤\ufe0f👍🏽 🙂🙂", ["👩\u200d👧", "❤\ufe0f", "👍🏽", "🙂🙂"]),
    ],
)
def test_tokens_of_other_scripts(text: str, tokens: list[str]) -> None:
    assert [text[start:end] for start, end in token_places(text)] == tokens


@given(st.text())
def test_tokens_hold_everything_but_white_space(text: str) -> None:
    places = token_places(text)
    assert sorted(places) == places
    assert "".join(text[start:end] for start, end in places) == "".join(text.split())


@pytest.mark.parametrize("packed", [False, True])
def test_exact_lines_are_the_bytes_of_the_file(tmp_path: Path, packed: bool) -> None:
    text = '\ufeff{"text": "a"}\r\n\nno end'
    path = tmp_path / ("file.gz" if packed else "file")
    with writing_text(path) as write:
        for line in ended(text):
            write(line)
    data = path.read_bytes()
    assert (gzip.decompress(data) if packed else data) == text.encode()
    assert list(read_lines(path, exact=True, any_format=True)) == ['\ufeff{"text": "a"}\r\n', "\n", "no end"]
    with pytest.raises(DataError, match="a JSON document"):
        list(read_lines(path, exact=True))


@pytest.mark.parametrize(
    ("format_", "line"),
    [
        (Conllu(), "# a comment\n"),
        (Conllu(), "1-2\ta\t_\t_\t_\t_\t_\t_\t_\t_\n"),
        (Columns(2), "a X\n"),
        (Columns(2), f"{'a' * 5_000} X\n"),
    ],
)
def test_a_sentence_without_end_is_refused(format_: TaggedFormat, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tagged, "_MOST_LINES", 1_000)
    monkeypatch.setattr(tagged, "LONGEST", 100_000)
    with pytest.raises(DataError, match=r"file:\d+ is in a sentence of more than"):
        list(format_.read(repeat(line), "file", labelled=True))


def test_an_array_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "LARGEST", 10_000)
    with pytest.raises(DataError, match="file:1 begins something of more than 10,000 characters"):
        list(Offsets("iob2").read((line for line in ("[\n", *repeat(" \n", 10_000))), "file"))
