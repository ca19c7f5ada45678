"""Every planted fault is found and named with its line, in a large split by a sample; a clean one has none."""

import json
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.data.finding import Names
from anaphora.data.labelled import labelled_splits
from anaphora.data.sources import text_splits, translation_splits
from anaphora.data.tagged import tagged_splits
from anaphora.datacheck import splits, survey
from anaphora.datacheck.findings import Finding, Place, Tally
from anaphora.datacheck.survey import Repeats, Survey, survey_corpus
from anaphora.formats.lines import write_lines
from anaphora.formats.offsets import Offsets

from .corpora import WORDS, sentences, write

Pairs = list[tuple[str, str]]
LANGUAGES = sorted(WORDS)
LINES = 50


def look(train: Pairs, valid: Pairs, source: str = "en", target: str = "fr", *, lowercase: bool = False) -> Survey:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, "train", train, source, target)
        write(folder, "val", valid, source, target)
        parts = translation_splits([folder], source, target)
        return survey_corpus(parts, (source, target), lowercase=lowercase)


def clean(source: str, target: str, seed: int) -> tuple[Pairs, Pairs]:
    pairs = sentences(source, target, seed)
    return pairs[:LINES], pairs[LINES:]


@given(source=st.sampled_from(LANGUAGES), target=st.sampled_from(LANGUAGES), seed=st.integers(0, 1000))
@settings(max_examples=8)
def test_a_clean_corpus_has_no_findings(source: str, target: str, seed: int) -> None:
    if source != target:
        assert look(*clean(source, target, seed), source, target).findings == []


def test_every_side_of_every_part_is_counted() -> None:
    survey = look(*clean("en", "ru", 1), "en", "ru")
    counted = [(side.split, side.side, side.lines, side.words) for side in survey.sides]
    assert counted == [("train", "en", 50, 300), ("train", "ru", 50, 300), ("val", "en", 10, 60), ("val", "ru", 10, 60)]
    assert [side.scripts() for side in survey.sides[:2]] == [{"Latin"}, {"Cyrillic"}]


ONE_SIDE: dict[str, Callable[[str], str]] = {
    "empty": lambda _: "",
    "blank": lambda _: " \t ",
    "control": lambda text: f"{text}\x07",
    "separator": lambda text: f"{text[:9]}\u2028{text[9:]}",
    "replacement": lambda text: f"{text[:4]}\ufffd{text[4:]}",
    "mojibake": lambda text: text + " été".encode().decode("latin-1"),
    "mark": lambda text: f"{text[:4]}\ufeff{text[4:]}",
    "invisible": lambda text: f"{text[:4]}\u200b{text[4:]}",
    "decomposed": lambda text: f"{text} e\u0301te\u0301",
    "entities": lambda text: f"{text} &quot;",
    "subwords": lambda text: f"{text} bi@@ rd",
    "special-tokens": lambda text: f"{text} </s>",
    "unknown-mark": lambda text: f"{text} <unk>",
    "script": lambda _: "ψψψψ ωωωωω ψψψψ ωωωωω ψψψ",
    "long": lambda text: " ".join([text] * 40),
}
BOTH_SIDES: dict[str, Callable[[str, str], tuple[str, str]]] = {
    "copied": lambda source, _: (source, source),
    "numbers": lambda source, target: (f"{source} 42", f"{target} 43"),
    "addresses": lambda source, target: (f"{source} www.a.org/1", f"{target} www.b.org/2"),
    "placeholders": lambda source, target: (source + " {0} %s", target + " {0}"),
    "ratio": lambda source, _: (source, "oui"),
}
COMPANIONS = {"ratio": ("long", "replacement", "blank", "script"), "placeholders": ("special-tokens", "unknown-mark")}
"""Faults that lines with others may have too."""


@given(lines=st.permutations(range(2, LINES + 1)), side=st.sampled_from([0, 1]), seed=st.integers(0, 1000))
@settings(max_examples=8)
def test_every_fault_is_named_with_its_line(lines: list[int], side: int, seed: int) -> None:
    train, valid = clean("en", "fr", seed)
    planted = dict(zip((*ONE_SIDE, *BOTH_SIDES), lines, strict=False))
    for kind, line in planted.items():
        pair = list(train[line - 1])
        if kind in ONE_SIDE:
            pair[side] = ONE_SIDE[kind](pair[side])
        else:
            pair = list(BOTH_SIDES[kind](*pair))
        train[line - 1] = (pair[0], pair[1])
    findings = by_kind(look(train, valid).findings)
    assert findings.keys() == planted.keys()
    for kind, found in findings.items():
        others = {planted[other] for other in COMPANIONS.get(kind, ())}
        assert planted[kind] in (named := {place.line for place in found.places}) and named <= {planted[kind], *others}
        assert (found.split, found.count, found.total) == ("train", len(named), LINES)
        if kind in ONE_SIDE:
            assert found.side == ("en", "fr")[side] and {p.file.name for p in found.places} == {f"train.{found.side}"}
            assert f"train.{found.side}:{planted[kind]}" in str(found) and found.remedy in str(found)


def by_kind(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.kind: finding for finding in findings}


@pytest.mark.parametrize(("head", "found"), [(("en", "FR"), ["header"]), (("en", "de"), [])])
def test_the_head_of_a_table_is_no_pair(head: tuple[str, str], found: list[str]) -> None:
    train, valid = clean("en", "fr", 1)
    kinds = {finding.kind for finding in look([head, *train], valid).findings}
    assert sorted(kinds & {"header"}) == found


@given(
    lines=st.lists(st.integers(0, LINES - 1), min_size=2, max_size=2, unique=True),
    line=st.integers(0, 9),
    seed=st.integers(0, 1000),
)
@settings(max_examples=6)
def test_repeats_in_a_part_and_between_two_are_named_with_both_lines(lines: list[int], line: int, seed: int) -> None:
    (first, later), (train, valid) = sorted(lines), clean("en", "fr", seed)
    source, target = train[first]
    for kind, pair in (("duplicate", (f"  {source} ", target)), ("ambiguous", (source, "le voisin voit autre chose"))):
        [repeat] = look([*train[:later], pair, *train[later + 1 :]], valid).findings
        assert (repeat.kind, repeat.count) == (kind, 1)
        assert [(place.line, place.shown) for place in repeat.places] == [(later + 1, f"as {first + 1}")]
    for kind, pair in (("overlap", train[first]), ("source-overlap", (source, valid[line][1]))):
        [shared] = look(train, [*valid[:line], pair, *valid[line + 1 :]]).findings
        assert (shared.kind, shared.split, shared.count) == (kind, "val", 1)
        assert kind == "source-overlap" or shared.severity == "warning"
        assert [(place.line, place.shown) for place in shared.places] == [(line + 1, f"as train.en:{first + 1}")]


def test_a_repeat_is_one_whether_its_letters_are_composed_or_not() -> None:
    train, valid = clean("en", "fr", 1)
    train[3] = (f"{train[3][0]} été", f"{train[3][1]} été")
    train[7] = (train[3][0], unicodedata.normalize("NFD", train[3][1]))
    findings = by_kind(look(train, valid).findings)
    assert findings.keys() == {"decomposed", "duplicate"}
    assert [(place.line, place.shown) for place in findings["duplicate"].places] == [(8, "as 4")]


@pytest.mark.parametrize("language", ["en", "el", "ru"])
def test_a_part_in_another_case_is_told_from_one_of_other_words(language: str) -> None:
    train, valid = clean(language, "ka", 1)
    shouted = [(source.upper(), target) for source, target in valid]
    [case] = look(train, shouted, language, "ka").findings
    assert (case.kind, case.split, case.side) == ("case", "val", language)
    assert case.count > 0.9 * case.total
    assert look(train, shouted, language, "ka", lowercase=True).findings == []

    strange = [(f"{source} abcd{line} efgh{line}", target) for line, (source, target) in enumerate(valid)]
    kinds = by_kind(look(train, strange, language, "ka").findings)
    assert kinds["unknown-words"].count == 2 * len(valid)
    assert kinds["unknown-words"].places[0].shown == "abcd0"


def test_tokenised_text_is_known_by_its_spaces() -> None:
    train, valid = clean("en", "fr", 1)
    tokenised = [(f"{source} , yes .", target) for source, target in train]
    assert {f.kind for f in look(tokenised, valid).findings if f.side == "en"} >= {"tokenised"}


def test_text_that_lacks_spaces_is_looked_up_by_letters() -> None:
    train, valid = clean("ja", "en", 1)
    joined = [(source.replace(" ", ""), target) for source, target in train]
    strange = [("漢字" + source.replace(" ", ""), target) for source, target in valid]
    [finding] = look(joined, [("漢字漢字漢字漢字", valid[0][1]), *strange[1:]], "ja", "en").findings
    assert (finding.kind, finding.side) == ("unknown-words", "ja")
    assert [place.shown for place in finding.places] == ["漢", "字"]


def test_rows_without_two_columns_and_pairs_without_a_side_are_named_once(tmp_path: Path) -> None:
    rows = [f"{source}\t{target}" for source, target in sentences("en", "fr", 1)]
    rows[3], rows[7] = "one column", "\tne pas"
    write_lines(tmp_path / "pairs.tsv", rows)
    survey = survey_corpus(translation_splits([tmp_path / "pairs.tsv"], "en", "fr"), ("en", "fr"))
    named = [(f.kind, f.split, [place.line for place in f.places]) for f in survey.findings]
    assert [row for row in named if row[0] in ("columns", "empty")] == [
        ("empty", "train", [8]),
        ("columns", "train", [4]),
    ]
    assert sum(side.lines for side in survey.sides if side.side == "en") == 59


def test_sides_of_one_language_are_told_apart_and_each_has_a_script_of_its_own(tmp_path: Path) -> None:
    write_lines(tmp_path / "spelling.tsv", map("\t".join, sentences("ru", "en", 1)))
    survey = survey_corpus(translation_splits([tmp_path / "spelling.tsv"], "ru", "ru"), ("ru", "ru"))
    source, target = "source", "target"
    assert survey.findings == []
    assert [side.side for side in survey.sides] == 2 * [source, target]
    assert [side.scripts() for side in survey.sides[:2]] == [{"Cyrillic"}, {"Latin"}]
    assert [side.side for side in survey.sides if side.unknown] == [source, target]


def test_running_text_is_looked_at_too(tmp_path: Path) -> None:
    lines = [source for source, _ in sentences("ru", "en", 1)]
    train, valid = lines[:LINES], lines[LINES:]

    def found() -> dict[str, tuple[str, list[int]]]:
        write_lines(tmp_path / "train.txt", [*train, ""])
        write_lines(tmp_path / "valid.txt", valid)
        findings = survey_corpus(text_splits([tmp_path])).findings
        return {one.kind: (one.split, [place.line for place in one.places]) for one in findings}

    assert found() == {}
    train[4], valid[2] = train[4] + "\x07", train[8]
    assert found() == {"control": ("train", [5]), "overlap": ("val", [3])}


def test_the_held_out_lines_of_a_text_keep_their_numbers(tmp_path: Path) -> None:
    lines = [source for source, _ in sentences("en", "fr", 1)]
    write_lines(tmp_path / "book.txt", [*lines[:-1], lines[-1] + "\x07"])
    found = by_kind(survey_corpus(text_splits([tmp_path / "book.txt"])).findings)
    assert (found["control"].split, found["control"].places[0].line) == ("val", 60)


Line = tuple[int, str, str]
lines = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abcdef"), st.sampled_from("xyz")), max_size=60)


@given(lines=lines, buffered=st.sampled_from([1, 3, 1000]))
def test_the_counts_are_those_of_dictionaries(lines: list[Line], buffered: int, tmp_path_factory, monkeypatch) -> None:
    monkeypatch.setattr(survey, "_BUFFERED", buffered)
    found = Repeats(tmp_path_factory.mktemp("repeats"))
    for number, (part, source, target) in enumerate(lines, 1):
        found.add(part, Place(Path(f"part{part}"), number), source, target)
    results = found.results(3)
    train = {(source, target) for part, source, target in lines if part == 0}
    for part in range(3):
        own = [(source, target) for owner, source, target in lines if owner == part]
        counts = {kind: tally.count for kind, tally in results[part].items()}
        distinct = set(own)
        assert counts.get("duplicate", 0) == len(own) - len(distinct)
        assert counts.get("ambiguous", 0) == sum(n - 1 for n in Counter(source for source, _ in distinct).values())
        if part:
            assert counts.get("overlap", 0) == sum(pair in train for pair in own)
            sources = {source for source, _ in train}
            assert counts.get("source-overlap", 0) == sum(s in sources and (s, t) not in train for s, t in own)


@given(lines=lines, every=st.integers(2, 4))
def test_a_sample_has_all_lines_of_its_sources_and_all_that_held_out_splits_share(
    lines: list[Line], every: int, tmp_path_factory
) -> None:
    ordered = sorted(lines, key=lambda line: line[0] == 0)
    whole, sample = Repeats(tmp_path_factory.mktemp("whole")), Repeats(tmp_path_factory.mktemp("sample"), every)
    for number, (split, source, target) in enumerate(ordered, 1):
        for found in (whole, sample):
            found.add(split, Place(Path(f"split{split}"), number), source, target)
    expected, results = (
        [{kind: tally for kind, tally in of.items() if tally.count} for of in found.results(3)]
        for found in (whole, sample)
    )
    assert results[1:] == expected[1:]
    drawn = [(s, t) for split, s, t in lines if split == 0 and (survey._hash(s) >> 32) % every == 0]
    assert sample.compared == len(drawn)
    assert results[0].get("duplicate", Tally()).count == len(drawn) - len(set(drawn))


def test_the_first_places_are_named_whatever_the_slices(tmp_path: Path) -> None:
    found = Repeats(tmp_path)
    for number in range(1, 401):
        found.add(0, Place(Path("train"), number), f"line {(number - 1) % 200}")
    tally = found.results(1)[0]["duplicate"]
    assert tally.count == 200
    assert [(place.line, place.shown) for place in tally.places] == [(201 + n, f"as {1 + n}") for n in range(5)]


def test_an_overlapping_source_is_named_with_its_first_training_line(tmp_path: Path) -> None:
    found = Repeats(tmp_path)
    found.add(1, Place(Path("valid"), 1), "source", "another")
    for number, target in enumerate("zyxwvu", 1):
        found.add(0, Place(Path("train"), number), "source", target)
    assert found.results(2)[1]["source-overlap"].places == [Place(Path("valid"), 1, "as train:1")]


def test_a_corpus_may_have_more_files_than_two_bytes_number(tmp_path: Path) -> None:
    found = Repeats(tmp_path)
    for number in range(70_000):
        found.add(0, Place(Path(f"{number}.txt"), 1), f"line {number % 69_999}")
    assert found.results(1)[0]["duplicate"].places == [Place(Path("69999.txt"), 1, "as 0.txt:1")]


COUNT, EVERY = 3000, 6


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A split is large from few lines on."""
    monkeypatch.setattr(splits, "LARGE", COUNT)
    monkeypatch.setattr(splits, "SAMPLED", COUNT // EVERY)


@pytest.mark.usefixtures("few")
def test_a_sample_has_the_fractions_the_heading_and_the_overlap_of_the_whole_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a third of the pairs repeat an earlier one, and a tenth have a control character; validation repeats ten
    sources = [f"the number {number % 2000} is good" + "\x07" * (number % 10 == 9) for number in range(COUNT)]
    targets = [f"le nombre {number % 2000} est bon" for number in range(COUNT)]
    for side, lines in (("en", sources), ("fr", targets)):
        write_lines(tmp_path / f"train.{side}", [side, *lines[1:]])
        write_lines(tmp_path / f"val.{side}", [*lines[2500:2510], f"{side} alone"])
    pairs = translation_splits([tmp_path], "en", "fr")
    survey, whole = (survey_corpus(pairs, ("en", "fr"), exact=exact) for exact in (False, True))
    found, counted = by_kind(survey.findings), by_kind(whole.findings)
    surveyed = survey.sides[0].lines
    assert surveyed == pytest.approx(COUNT / EVERY, rel=0.05)
    assert str(found["sampled"]) == (
        f"train: {surveyed} of 3,000 lines were surveyed, drawn evenly. Pass --exact to survey all of them."
    )
    assert found["sampled"].severity == "note"
    for kind in ("control", "duplicate"):
        fraction, of_all = (finding.count / finding.total for finding in (found[kind], counted[kind]))
        assert found[kind].total < COUNT / EVERY * 1.2
        assert fraction == pytest.approx(of_all, rel=0.25)
    assert counted["duplicate"].count == 1000 - 1
    assert found["header"].places == counted["header"].places
    assert (found["overlap"].count, found["overlap"].total) == (10, 11)
    assert found["overlap"].places == counted["overlap"].places
    monkeypatch.setattr(splits, "LARGE", COUNT + 1)
    assert survey_corpus(pairs, ("en", "fr"), exact=False).findings == whole.findings


@pytest.mark.usefixtures("few")
def test_running_text_is_sampled_too(tmp_path: Path) -> None:
    write_lines(tmp_path / "train.txt", (f"line number {number} of a long book" for number in range(COUNT)))
    write_lines(tmp_path / "valid.txt", ["line number 77 of a long book", "another line that is not in it"])
    found = by_kind(survey_corpus(text_splits([tmp_path]), exact=False).findings)
    assert found["overlap"].count == 1
    assert found["sampled"].total == COUNT


@given(lines=st.sampled_from([-3, -2, -1, 1, 2, 3]), begin=st.integers(0, 300))
@settings(max_examples=8)
def test_a_side_that_is_shifted_from_a_line_on_is_found_with_its_block(lines: int, begin: int) -> None:
    draw = Random(1)
    sizes = [draw.randrange(41) for _ in range(600)]
    sources = [f"line {number} " + "word " * size for number, size in enumerate(sizes)]
    targets = [f"Zeile {number} " + "Wort " * size for number, size in enumerate(sizes)]
    moved = targets[:begin] + targets[begin + lines :] if lines > 0 else targets[: begin - lines] + targets[begin:]
    found = look([*zip(sources, moved, strict=False)], [("a man", "ein Mann")], target="de").findings
    [shifted] = [one for one in found if one.kind == "shifted"]
    assert shifted.count in range(200, 601, 100)
    assert begin - 100 <= shifted.places[0].line - 1 <= begin + 100
    assert f"{abs(lines)} line" in shifted.places[0].shown
    assert ("earlier" if lines > 0 else "later") in shifted.places[0].shown


def test_labels_that_contradict_each_other_are_found_in_a_split_and_between_two(tmp_path: Path) -> None:
    write_lines(tmp_path / "train.tsv", ["good\ta fine film", "bad\tdull", "bad\ta fine  film", "bad\tdull"])
    write_lines(tmp_path / "val.tsv", ["good\tdull", "bad\ta new one"])
    found = survey_corpus(labelled_splits([tmp_path], Names())).findings
    lines = {one.kind: (one.split, one.count, one.places[0].line) for one in found if "label" in one.what}
    assert lines == {"contradictory": ("train", 1, 3), "label-overlap": ("val", 1, 1)}


@pytest.mark.parametrize(("unit", "expected"), [("characters", 0), ("UTF-16", 1)])
def test_spans_that_cut_words_are_found(tmp_path: Path, unit: str, expected: int) -> None:
    text, first = "\U0001f49a Ada Li lives here", 2 + (unit == "UTF-16")
    spans = {"text": text, "label": [[first, first + 6, "PER"]]}
    for split in ("train", "val"):
        (tmp_path / f"{split}.jsonl").write_text(f"{json.dumps(spans)}\n")
    found = survey_corpus(tagged_splits([tmp_path], Names(), Offsets("iob2"))).findings
    assert [one.count for one in found if one.kind == "cut-words"] == [expected] * 2 * expected
