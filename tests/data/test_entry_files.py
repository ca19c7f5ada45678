"""Translation memories and documents of translators as a corpus: found, told apart by language, split, and reported."""

import gzip
from pathlib import Path

import pytest

from anaphora.data.directions import Direction, direction_of
from anaphora.data.sources import translation_splits
from anaphora.datacheck.survey import survey_corpus
from anaphora.errors import DataError
from anaphora.events import Event, Note, Skipped
from anaphora.memory.segment import segments_in
from tests.formats.entries.test_tmx import tuv
from tests.formats.entries.test_xliff import first, trans_unit
from tests.formats.omegat_project import make_project


def tmx(*pairs: tuple[str, str]) -> str:
    body = "\n".join(f"<tu>{tuv('en-US', source)}{tuv('de', target)}</tu>" for source, target in pairs)
    return f'<tmx version="1.4"><header srclang="en-US"/><body>\n{body}\n</body></tmx>'


PO = 'msgid ""\nmsgstr "Language: de\\n"\n\n#, fuzzy\nmsgid "x"\nmsgstr "y"\n\nmsgid "po"\nmsgstr "PO"\n'
XLIFF = first(trans_unit("<source>xliff</source><target>XLIFF</target>"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of folders, with files of several formats and splits."""
    (tmp_path / "data" / "deep").mkdir(parents=True)
    data = tmp_path / "data"
    (data / "memory.tmx").write_text(tmx(("a", "A"), ("b", "B"), ("c", "")))
    (data / "deep" / "app.po.gz").write_bytes(gzip.compress(PO.encode()))
    (data / "deep" / "doc.xlf").write_text(XLIFF)
    (data / "table.csv").write_text("en,de\ncsv,CSV\n")
    (data / "valid.tmx").write_text(tmx(("v", "V")))
    (data / "test-web.tmx").write_text(tmx(("t", "T")))
    (data / ".hidden.tmx").write_text("no XML")
    (data / "readme.txt").write_text("no pairs")
    return data


def test_a_folder_is_read_with_all_that_is_in_it(folder: Path) -> None:
    reports: list[Event] = []
    splits = translation_splits([folder], "en", "de", report=reports.append)
    assert list(splits.train) == [("po", "PO"), ("xliff", "XLIFF"), ("a", "A"), ("b", "B"), ("csv", "CSV")]
    assert list(splits.valid) == [("v", "V")]
    assert {name: list(test) for name, test in splits.tests.items()} == {"test-web": [("t", "T")]}
    assert [event for event in reports if isinstance(event, Skipped)] == [
        Skipped(f"entries marked fuzzy were left out (the first is line 5 of {folder}/deep/app.po.gz)", 1),
        Skipped(f"entries without a translation were left out (the first is line 4 of {folder}/memory.tmx)", 1),
    ]


def test_a_split_may_be_in_files_of_another_kind_than_the_others(folder: Path, tmp_path: Path) -> None:
    for name in ("val", "test2"):
        for side in ("en", "de"):
            (folder / f"{name}.{side}").write_text(f"{name} {side}\n")
    (folder / "dev-web.tmx").write_text(tmx(("w", "W")))
    splits = translation_splits([folder], "en", "de")
    assert splits.train.count == 5 and {*splits.valid} == {("val en", "val de"), ("v", "V"), ("w", "W")}
    assert {*splits.tests} == {"test2", "test-web"}
    for side in ("en", "de"):
        (folder / f"train.{side}").write_text(f"train {side}\n")
    again = translation_splits([folder], "en", "de")
    assert list(again.train) == [("train en", "train de")]
    assert {*again.valid} == {*splits.valid} and {*again.tests} == {*splits.tests}


def test_what_is_said_of_forty_files_is_no_longer_than_of_two(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"part-{number}.po").write_text(PO.replace('"po"', f'"po {number}"'))
    reports: list[Event] = []
    assert translation_splits([tmp_path], "en", "de", report=reports.append).train.count == 38  # two are held out
    [skipped] = [str(one) for one in reports if isinstance(one, Skipped)]
    assert skipped == f"40 entries marked fuzzy were left out (the first is line 5 of {tmp_path}/part-0.po)"
    with pytest.raises(DataError, match="languages there are de: name those") as caught:
        translation_splits([tmp_path], "en", "fr")
    assert f"{tmp_path}/part-0.po and 39 other files" in str(caught.value)
    assert str(caught.value).count(".po") == 2


def test_files_and_folders_are_put_together(folder: Path) -> None:
    (folder / "pairs.tsv").write_text("tsv\tTSV\n")
    paths = [folder / "pairs.tsv", folder / "memory.tmx", folder / "deep"]
    splits = translation_splits(paths, "en", "de")
    pairs = [*splits.train, *splits.valid]
    assert sorted(pairs) == [("a", "A"), ("b", "B"), ("po", "PO"), ("tsv", "TSV"), ("xliff", "XLIFF")]


def test_a_file_that_is_named_itself_is_trained_on_and_said_to_be(tmp_path: Path) -> None:
    for name, pair in (("m.tmx", ("a", "A")), ("valid.tmx", ("b", "B")), ("test-web.tmx", ("c", "C"))):
        (tmp_path / name).write_text(tmx(pair))
    notes = list[Event]()
    files = [tmp_path / "m.tmx", tmp_path / "valid.tmx", tmp_path / "test-web.tmx"]
    splits = translation_splits(files, "en", "de", report=notes.append)
    assert sorted([*splits.train, *splits.valid]) == [("a", "A"), ("b", "B"), ("c", "C")]
    told = [one.text for one in notes if isinstance(one, Note) and "is trained on" in one.text]
    assert [text.split()[0] for text in told] == list(map(str, files[1:]))
    notes.clear()
    assert list(translation_splits([tmp_path], "en", "de", report=notes.append).valid) == [("b", "B")]
    assert not any("is trained on" in str(one) for one in notes)


def test_the_fingerprint_depends_on_the_languages(tmp_path: Path) -> None:
    memory = tmp_path / "m.tmx"
    memory.write_text(tmx(("a", "A"), ("b", "B")))
    there, back = (translation_splits([memory], *sides) for sides in (("en", "de"), ("de", "en")))
    assert there.train.fingerprint != back.train.fingerprint
    assert {(target, source) for source, target in [*back.train, *back.valid]} == {*there.train, *there.valid}


@pytest.mark.parametrize("name", ["app.po", "app.xlf"])
def test_a_file_with_a_direction_of_its_own_is_learnt_from_in_both(name: str, tmp_path: Path) -> None:
    po = PO + '\nmsgid "%d file"\nmsgid_plural "%d files"\nmsgstr[0] "%d Datei"\nmsgstr[1] "%d Dateien"\n'
    xliff = first(*(trans_unit(f"<source>{at}</source><target>T{at}</target>") for at in "abc"))
    (tmp_path / name).write_text({"app.po": po, "app.xlf": xliff}[name])
    there, back = (list(segments_in(tmp_path / name, sides)) for sides in (("en", "de"), ("de", "en")))
    assert len(there) == 3
    pairs = [(one.source, one.target) for one in back]
    assert pairs == [(one.target, one.source) for one in there]
    splits = translation_splits([tmp_path], "de", "en")
    assert sorted([*splits.train, *splits.valid]) == sorted(pairs)
    with pytest.raises(DataError, match="in other languages"):
        translation_splits([tmp_path], "fr", "en")


@pytest.mark.parametrize("sides", [("en", "en-GB"), ("en-US", "en_GB")])
def test_a_catalogue_of_a_variety_is_read_backward_where_that_is_the_source(sides: Direction, tmp_path: Path) -> None:
    (tmp_path / "a.po").write_text('msgid ""\nmsgstr "Language: en_GB\\n"\n\nmsgid "color"\nmsgstr "colour"\n')
    for asked, pair in ((sides, ("color", "colour")), (sides[::-1], ("colour", "color"))):
        assert [(one.source, one.target) for one in segments_in(tmp_path / "a.po", asked)] == [pair]


def test_catalogues_in_both_languages_are_no_pairs(tmp_path: Path) -> None:
    for language in ("ka", "sw", "fr"):
        (tmp_path / f"{language}.po").write_text(PO.replace("Language: de", f"Language: {language}"))
    for sides in (("ka", "sw"), ("sw", "ka")):
        with pytest.raises(DataError, match=r"messages \(msgid\) are in a third language"):
            translation_splits([tmp_path], *sides)
    for sides, warned in ((("ka", "en"), False), (("en", "sw"), False), (("ka", "sv"), True), (("it", "fr"), True)):
        notes = list[Event]()
        (tmp_path / "more.tsv").write_text("a\tb\n")
        translation_splits([tmp_path, tmp_path / "more.tsv"], *sides, report=notes.append)
        assert any("(msgid)" in str(note) for note in notes) == warned


def test_of_a_folder_of_catalogues_those_of_the_languages_are_read(tmp_path: Path) -> None:
    for language in ("en", "pt", "pt_BR", "sr", "sr@latin", "de"):
        (tmp_path / language).mkdir()
        own = PO.replace("Language: de", f"Language: {language}")
        (tmp_path / language / "django.po").write_text(own.replace('"PO"', f'"PO {language}"'))
    for language, variety in (("pt", "pt_BR"), ("sr", ""), ("pt-BR", "")):
        for sides in (("en", language), (language, "en")):
            notes = list[Event]()
            (tmp_path / "more.tsv").write_text("a\tb\n")
            splits = translation_splits([tmp_path, tmp_path / "more.tsv"], *sides, report=notes.append)
            pairs = {target if sides[0] == "en" else source for source, target in [*splits.train, *splits.valid]}
            assert pairs == {f"PO {language.replace('-', '_')}", "b" if sides[0] == "en" else "a"}
            told = [note.text for note in notes if isinstance(note, Note) and " left out" in note.text]
            named = "2 catalogues are left out, since translations into en, pt_BR"
            assert len(told) == 1
            assert told[0].startswith(named if variety else "1 catalogue is left out, since translations into en ")


def test_json_lines_of_pairs_may_be_the_splits_of_a_folder(tmp_path: Path) -> None:
    for split in ("train", "validation", "test"):
        (tmp_path / f"{split}.jsonl").write_text(f'{{"translation": {{"en": "{split}", "de": "von {split}"}}}}\n')
    (tmp_path / "statistics.jsonl").write_text('{"pairs": 3}\n')
    splits = translation_splits([tmp_path], "en", "de")
    assert list(splits.train) == [("train", "von train")] and list(splits.valid) == [("validation", "von validation")]
    assert list(splits.tests["test"]) == [("test", "von test")]


def test_a_project_of_omegat_gives_its_memories_but_no_machine_translation(tmp_path: Path) -> None:
    files = {
        "project-omegat.tmx": tmx(("a", "A")),
        "source/app.po": PO,
        "tm/old/o.tmx": tmx(("c", "C")),
        "tm/mt/m.tmx": tmx(("d", "D")),
    }
    project = make_project(tmp_path / "project", files, saved={"a": "A", "b": "B"})
    splits = translation_splits([project], "en", "de")
    assert sorted([*splits.train, *splits.valid]) == [("a", "A"), ("b", "B"), ("c", "C")]


@pytest.mark.parametrize(
    ("given", "direction"),
    [
        (("", ""), ("en", "de")),
        (("de", ""), ("de", "en")),
        (("", "en"), ("de", "en")),
        (("en", ""), ("en", "de")),
        (("fr", ""), None),
    ],
)
def test_a_memory_of_two_languages_says_which_they_are(
    given: tuple[str, str], direction: tuple[str, str] | None, tmp_path: Path
) -> None:
    (tmp_path / "m.tmx").write_text(tmx(("a", "A")))
    assert direction_of([tmp_path / "m.tmx"], given, ("en", "de")) == direction
    assert direction_of([tmp_path], given, ("en", "de")) == direction


def test_a_catalogue_says_its_target_alone(tmp_path: Path) -> None:
    (tmp_path / "a.po").write_text(PO)
    assert direction_of([tmp_path / "a.po"], ("", ""), ("en", "de")) is None
    assert direction_of([tmp_path / "a.po"], ("en", ""), ("en", "fr")) == ("en", "de")


def test_the_data_check_has_a_finding_for_every_reason(folder: Path) -> None:
    splits = translation_splits([folder], "en", "de")
    found = {one.kind: (one.count, one.total) for one in survey_corpus(splits, ("en", "de")).findings}
    assert found["marked fuzzy"] == found["without a translation"] == (1, 7)


def test_office_documents_get_a_sentence_that_says_how_to_get_there(tmp_path: Path) -> None:
    (tmp_path / "letter.docx").write_bytes(b"PK\x03\x04word/")
    with pytest.raises(DataError, match=r": (save|convert) .*\.$"):
        translation_splits([tmp_path / "letter.docx"], "en", "de")


def test_a_file_without_a_pair_in_the_languages_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.tmx").write_text(tmx(("a", "A")))
    with pytest.raises(
        DataError,
        match=r"no pairs of sentences to train on in .*m\.tmx; 1 entry without a translation was "
        r".*; languages there are en-US, de: name those of the pairs \(--source, --target or SOURCE-TARGET=\)\.$",
    ):
        translation_splits([tmp_path / "m.tmx"], "en", "fr")
