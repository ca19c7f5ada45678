"""Languages are taken from the names of files, or asked for."""

from itertools import permutations
from pathlib import Path

import pytest

from anaphora.data.directions import directed_paths, direction_of
from anaphora.data.finding import Names, find_pairs
from anaphora.errors import ConfigError, DataError
from anaphora.events import silent
from anaphora.formats.tsv import PLAIN, Layout

USUAL = ("en", "de")
NONE = ("", "")


def files(folder: Path, *names: str) -> list[Path]:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text("a\n", encoding="utf-8")
    return [folder / name for name in names]


@pytest.mark.parametrize(
    ("folder", "names", "given", "expected"),
    [
        ("mine", "train.en train.cs", NONE, ("en", "cs")),
        ("mine", "train.cs train.de", NONE, ("cs", "de")),
        ("cs-en", "train.en train.cs", NONE, ("cs", "en")),
        ("mine", "train.en train.cs", ("cs", ""), ("cs", "en")),
        ("mine", "train.uk train.cs", ("", "uk"), ("cs", "uk")),
        ("mine", "train.en train.de train.fr", NONE, ("en", "de")),
        ("en-fr", "train.tsv valid.tsv", NONE, ("en", "fr")),
        ("mine", "Tatoeba.en-fr.en Tatoeba.en-fr.fr", NONE, ("en", "fr")),
        ("mine", "train.chr train.en", NONE, ("en", "chr")),
        ("mine", "train.tar train.en", NONE, None),
        ("mine", "train.txt valid.txt", NONE, None),
        ("my-own", "train.tsv", NONE, None),
        ("", "train.cs.gz train.en.gz", NONE, ("cs", "en")),
        ("", "Tatoeba.en-fr.fr Tatoeba.en-fr.en", NONE, ("en", "fr")),
        ("", "pairs.en-cs.tsv", NONE, ("en", "cs")),
        ("", "ted_pt-BR-en.tsv.gz", NONE, ("pt-BR", "en")),
        ("", "it_is.tsv", NONE, None),
        ("", "book.txt other.txt", NONE, None),
        ("", "book.en", NONE, None),
    ],
)
def test_of_a_folder_or_of_files(
    tmp_path: Path, folder: str, names: str, given: tuple[str, str], expected: tuple[str, str] | None
) -> None:
    data = files(tmp_path / folder, *names.split())
    assert direction_of([tmp_path / folder] if folder else data, given, USUAL) == expected


CODES = ["en", "gn", "pt-BR", "pt_BR", "zh-Hant-TW", "es-419", "sr@latin", "sr_RS@latin", "hsb"]


@pytest.mark.parametrize(("source", "target"), [*permutations(CODES, 2)])
def test_any_two_codes_name_the_direction_of_a_path(source: str, target: str) -> None:
    given = Path(f"{source}-{target},{target}-{source}=a=b/en-de")
    assert directed_paths([given], USUAL) == {pair: [Path("a=b/en-de")] for pair in permutations((source, target))}


@pytest.mark.parametrize(
    ("path", "remedy"), [("folder", "write SOURCE-TARGET=folder"), ("en-hsbb=folder", "'en-hsbb' is no pair of codes")]
)
def test_a_path_without_a_direction_beside_others_is_told_what_to_write(path: str, remedy: str) -> None:
    with pytest.raises(ConfigError, match=remedy):
        directed_paths([Path("en-cs=other"), Path(path)], USUAL)


def test_a_language_in_front_of_a_path_is_told_that_it_takes_two(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no ka=.*: check the path, or write two codes of languages"):
        find_pairs([Path(f"ka={tmp_path}")], USUAL, Names(), silent)


def test_two_files_are_a_pair_in_either_order(tmp_path: Path) -> None:
    first, second = files(tmp_path, "mine.cs", "mine.en")
    for data in ([first, second], [second, first]):
        (pair,) = find_pairs(data, ("cs", "en"), Names("train", "val", "test"), silent).train
        assert pair.paths == (first, second)
    with pytest.raises(DataError, match=r"mine\.cs is one side of pairs: give .*mine\.en"):
        find_pairs([first], ("cs", "en"), Names("train", "val", "test"), silent)


def test_the_only_pair_of_a_folder_is_what_is_trained_on(tmp_path: Path) -> None:
    first, second, *_ = files(tmp_path, "Tatoeba.en-fr.en", "Tatoeba.en-fr.fr", "val.en", "val.fr", "README")
    found = find_pairs([tmp_path], ("en", "fr"), Names("train", "val", "test"), silent)
    assert [pair.paths for pair in found.train] == [(first, second)]
    assert len(found.valid) == 1


@pytest.mark.parametrize(
    ("file", "heading", "layout", "expected"),
    [
        ("a.tsv", "fr\ten", PLAIN, ("fr", "en")),
        ("a.tsv", "English\tCzech", PLAIN, ("en", "cs")),
        ("a.tsv", "Georgian\tSwahili text", PLAIN, ("ka", "sw")),
        ("a.tsv", "Guaraní\tWixárika", PLAIN, ("gn", "hch")),
        ("a.tsv", "ქართული\tGuarani", PLAIN, ("ka", "gn")),
        ("a.csv", "Quechua,Northern Sami", PLAIN, ("qu", "se")),
        ("a.tsv", "A man.\tUn homme.", PLAIN, None),
        ("a.tsv", "id\tfr\ten", Layout(("en", "fr")), ("en", "fr")),
        ("a.csv", "ID,en,Deutsch", PLAIN, ("en", "de")),
        ("a.csv", "en,id", PLAIN, ("en", "id")),
        ("a.csv", "en,de,fr", PLAIN, None),
    ],
)
def test_of_a_heading_in_which_a_number_of_rows_is_no_language(
    tmp_path: Path, file: str, heading: str, layout: Layout, expected: tuple[str, str] | None
) -> None:
    (tmp_path / file).write_text(f"{heading}\na\tb\n1,a,b\n", encoding="utf-8")
    assert direction_of([tmp_path / file], ("", ""), ("en", ""), layout) == expected


@pytest.mark.parametrize("heading", ["en\tfr", "fr\ten", "id\tfr\ten", "French\tEnglish", "id\tEnglish\tFrench"])
def test_a_table_with_two_languages_in_its_first_line_has_both_directions(tmp_path: Path, heading: str) -> None:
    pair = {"en": "a man", "fr": "un homme", "id": "1", "English": "a man", "French": "un homme"}
    (tmp_path / "a.tsv").write_text(f"{heading}\n" + "\t".join(pair[code] for code in heading.split("\t")) + "\n")
    for direction in ("en", "fr"), ("fr", "en"):
        (found,) = find_pairs([tmp_path / "a.tsv"], direction, Names("train", "val", "test"), silent).train
        assert [*found] == [(pair[direction[0]], pair[direction[1]])]


def test_the_direction_of_other_languages_is_asked_for_and_no_target_is_usual(tmp_path: Path) -> None:
    files(tmp_path / "mine", "train.cs", "train.uk")
    files(tmp_path / "three", "train.en", "train.de", "train.fr")
    for folder, usual, named in ("mine", USUAL, "cs, uk"), ("three", ("en", ""), "de, en, fr"):
        with pytest.raises(DataError, match=rf"text in {named}, .*--source and --target"):
            direction_of([tmp_path / folder], ("", ""), usual)
    files(tmp_path / "english", "train.cs", "train.en")
    assert direction_of([tmp_path / "english"], ("", ""), ("en", "")) == ("en", "cs")
