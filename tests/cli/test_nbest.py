"""What ``anaphora translate`` writes beside the best translation, and translations with prefixes and suffixes."""

import json
from pathlib import Path

import pytest

import anaphora
from anaphora.cli.app import main
from anaphora.formats.nbest import FORMATS
from anaphora.formats.pharaoh import from_pharaoh

from ..conftest import Trained
from .conftest import Cli

TEXT = "dab\n\ndabdab\n"


@pytest.fixture
def run(trained: Trained) -> str:
    """A translator with attention."""
    return str(trained("translator", "training.epochs=3"))


@pytest.fixture
def text(tmp_path: Path) -> str:
    path = tmp_path / "text.en"
    path.write_text(TEXT)
    return str(path)


def test_an_nbest_list_has_every_line_its_best_first_and_can_be_rescored(
    run: str, text: str, trained: Trained, tmp_path: Path, cli: Cli
) -> None:
    best = cli("translate", run, text, "--beam", "6", "--length-penalty", "0.6").lines
    moses = ["translate", run, text, "--beam", "6", "--length-penalty", "0.6", "--nbest", "4"]
    listed = cli(*moses).lines
    entries = [line.split(" ||| ") for line in listed]
    assert sorted({int(number) for number, *_ in entries}) == [0, 1, 2]
    for number, (source, line) in enumerate(zip(TEXT.splitlines(), best, strict=True)):
        of_line = [entry for entry in entries if entry[0] == str(number)]
        totals = [float(entry[3]) for entry in of_line]
        assert of_line[0][1] == line and totals == sorted(totals, reverse=True)
        assert len(of_line) == (4 if source else 1) and len({entry[1] for entry in of_line}) == len(of_line)
        for _, _, features, total in of_line:
            _, logprob, _, tokens = features.split()
            if source:
                assert float(total) == pytest.approx(float(logprob) / ((5 + int(tokens)) / 6) ** 0.6, abs=1e-5)
    parsed = [FORMATS["moses"].parse(line, "list") for line in listed]
    assert [one.text for one in parsed] == [entry[1].strip() for entry in entries]
    assert all(one.features == {"logprob", "tokens"} for one in parsed)
    nbest = tmp_path / "nbest"
    assert main([*moses, "--output", str(nbest)]) == 0 and nbest.read_text().splitlines() == listed
    rescored = cli("rescore", trained("language-model"), nbest).lines
    assert len(rescored) == len(listed) and all(" LM0= " in line for line in rescored)


def test_an_nbest_list_as_json_has_a_line_for_every_line(run: str, text: str, cli: Cli) -> None:
    listed = cli("translate", run, text, "--beam", "6", "--nbest", "4").lines
    found = cli("translate", run, text, "--beam", "6", "--nbest", "4", "--json").objects
    every = [(number, one) for number, line in enumerate(found) for one in (line, *line["alternatives"])]
    assert [(str(number), one["text"]) for number, one in every] == [
        (line.split(" ||| ")[0], line.split(" ||| ")[1]) for line in listed
    ]
    assert found[1]["text"] == "" and found[1]["alternatives"] == []


def test_too_few_translations_are_reported(run: str, text: str, cli: Cli) -> None:
    shown = cli("translate", run, text, "--beam", "1", "--nbest", "3")
    assert len(shown.lines) == 3
    assert "2 of 3 lines have fewer than 3 translations" in shown.said and "a larger beam" in shown.said


def test_samples_and_minimum_risk(run: str, text: str, cli: Cli) -> None:
    sample = ["translate", run, text, "--sample", "--temperature", "2"]
    one, other = (cli(*sample, "--seed", seed).lines for seed in "12")
    assert one != other and one == cli(*sample, "--seed", "1").lines
    assert one[1] == "" and len(one) == 3
    assert len(cli(*sample, "--minimum-risk", "4", "--nbest", "4").lines) > 5


def test_alignments_are_the_same_by_forced_decoding_and_soft_ones_point_to_them(
    run: str, text: str, tmp_path: Path, cli: Cli
) -> None:
    links, forced, soft = (tmp_path / name for name in ("links", "forced", "soft"))
    command = ["translate", run, text, "--beam", "3", "--min-length", "5"]
    lines = cli(*command, "--alignments", links, "--soft-alignments", soft).lines
    assert cli(*command, "--align-with", run, "--alignments", forced).lines == lines
    assert all(len(line) >= 5 for line in lines[::2])
    assert forced.read_text() == links.read_text() and len(links.read_text().splitlines()) == 3
    for source, line, hard, row in zip(
        TEXT.splitlines(),
        lines,
        links.read_text().splitlines(),
        map(json.loads, soft.read_text().splitlines()),
        strict=True,
    ):
        assert row["source"] == source.split() and row["target"] == line.split()
        assert [len(one) for one in row["weights"]] == [len(row["source"])] * len(row["target"])
        assert all(0 <= weight <= 1.0001 for one in row["weights"] for weight in one)
        assert all(row["weights"][j][i] > 0 for i, j in from_pharaoh(hard, "links"))


def test_pairs_are_aligned_softly(run: str, text: str, tmp_path: Path, cli: Cli) -> None:
    pairs, soft = tmp_path / "pairs.tsv", tmp_path / "soft"
    command = ["translate", run, text, "--beam", "2", "--min-length", "4"]
    cli(*command, "--soft-alignments", soft, "--pairs", pairs)
    lines = cli("align", run, pairs, "--soft").lines
    assert lines == soft.read_text().splitlines()


def test_a_translator_without_attention_is_aligned_by_another(
    run: str, text: str, trained: Trained, tmp_path: Path, cli: Cli
) -> None:
    other, links = str(trained("translator", "training.epochs=3", "attention=none")), tmp_path / "links"
    lines = cli("translate", other, text, "--alignments", links, "--align-with", run).lines
    model = anaphora.load(run)
    assert isinstance(model, anaphora.TranslationPredictor)
    expected = model.align(TEXT.splitlines(), lines)
    assert [from_pharaoh(line, "links") for line in links.read_text().splitlines()] == expected
    assert cli("translate", run, text, "--alignments", links, "--align-with", other, code=2).lines == []


def test_a_refused_line_stays_empty_and_the_others_come_out(run: str, tmp_path: Path, cli: Cli) -> None:
    long = tmp_path / "long.en"
    long.write_text("abc\n" + "dab " * 5_000 + "{n} 15\ndab\n")
    whole = cli("translate", run, long, "--beam", "1").lines
    refused = ["translate", run, str(long), "--beam", "1", "--no-split", "--max-tokens", "50"]
    shown = cli(*refused, code=2)
    lines, said = shown.lines, shown.said
    assert lines == [whole[0], "", whole[2]] and whole[1] != ""
    assert "Line 2 should have at most 50 tokens, but has" in said and said.count("anaphora: ") == 2
    assert "1 line was refused and has no translation." in said and "differ" not in said
    output = tmp_path / "output"
    assert cli(*refused, "--output", output, code=2).lines == []
    assert output.read_text().splitlines() == lines
    pairs = tmp_path / "pairs.tsv"
    said = cli(*refused, "--pairs", pairs, code=2).said
    assert lines[2] == "" and pairs.read_text() == f"abc\t{lines[0]}\n"
    assert f"2 lines without a translation were left out of {pairs}." in said


def test_an_evaluation_says_how_it_searched(run: str, cli: Cli) -> None:
    lines = cli("evaluate", run, "--beam", "4", "--coverage-penalty", "0.2", "--groups", "2", "--no-keep").lines
    assert "3 sentences, beam 4, coverage penalty 0.2, 2 groups of diversity 0.5" in lines
    scores = cli("evaluate", run, "--sample", "--seed", "3", "--no-keep", "--json").split
    assert scores["sampling"] == {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "seed": 3}


@pytest.mark.parametrize(
    ("options", "said"),
    [("--beam 5 --groups 2", "groups of equal size"), ("--nbest 3 --pairs made.tsv", "--nbest is for translations")],
)
def test_options_that_do_not_go_together_are_refused_in_a_sentence(
    options: str, said: str, run: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said in cli.refused("translate", run, text, *options.replace("RUN", run).split())


FRAMED = "dab\n\nabcd\ncab\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    text, prefixes, output = (tmp_path / name for name in ("text.en", "begun.fr", "found.fr"))
    text.write_text(FRAMED)
    return text, prefixes, output


def test_every_line_begins_with_its_prefix(run: str, files: tuple[Path, Path, Path], cli: Cli) -> None:
    text, prefixes, output = files
    translator = anaphora.load(run)
    assert isinstance(translator, anaphora.TranslationPredictor)
    begun = ["dab", "", "", "da"]
    prefixes.write_text("\n".join(begun) + "\n")
    cli("translate", run, text, "--prefixes", prefixes, "--output", output, "--beam", "3")
    lines = FRAMED.splitlines()
    found = output.read_text().splitlines()
    assert found == [one.text for one in translator.translate(lines, prefixes=begun, beam=3)]
    assert all(line.startswith(prefix) for line, prefix in zip(found, begun, strict=True)) and not found[1]
    listed = cli("translate", run, text, "--prefixes", prefixes, "--nbest", "2").lines
    assert all(line.split(" ||| ")[1].startswith(begun[int(line[0])]) for line in listed)


def test_every_line_ends_with_its_suffix(run: str, files: tuple[Path, Path, Path], cli: Cli) -> None:
    text, suffixes, output = files
    suffixes.write_text("dab\n\nda\n\n")
    given = ("--suffixes", str(suffixes), "--beam", "4")
    cli("translate", run, text, *given, "--output", output)
    found = output.read_text().splitlines()
    assert found[0].endswith("dab") and not found[1] and found[2].endswith("da")
    said = cli("translate", run, text, *given, "--no-repeat-ngram", "2", code=2).said
    assert "Suffixes are written by a beam of all words" in said


@pytest.mark.parametrize(
    ("prefixes", "text", "said", "found"),
    [
        ("dab\n\n", FRAMED, "Line 3 has no prefix", ["dab", "", "", ""]),
        ("dab\n" * 6, "dab\ncab\n", "has more lines than the text, which has 2: give one for every", ["dab", "dab"]),
    ],
)
def test_where_prefixes_and_lines_are_not_equally_many_the_others_come_out(
    prefixes: str, text: str, said: str, found: list[str], run: str, files: tuple[Path, Path, Path], cli: Cli
) -> None:
    for file, content in zip(files, (text, prefixes), strict=False):
        file.write_text(content)
    shown = cli("translate", run, files[0], "--prefixes", files[1], "--output", files[2], code=2).said
    assert said in shown and ("2 lines were refused" in shown) == (found[-1] == "")
    assert [line[:3] for line in files[2].read_text().splitlines()] == found


def test_what_has_no_prefix_is_refused_before_work(
    run: str, files: tuple[Path, Path, Path], tmp_path: Path, cli: Cli
) -> None:
    text, prefixes, _ = files
    prefixes.write_text("dab\n")
    (document := tmp_path / "text.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nabc\n")
    given = ("--prefixes", str(prefixes))
    assert "leave out --prefixes, or --memory" in cli.refused("translate", run, text, "--memory", *given)
    assert "--prefixes is for lines of text" in cli.refused("translate", run, document, *given)
    assert "would be lost" in cli.refused("translate", run, text, *given, "--output", prefixes)
    cli("translate", run, text, "--prefixes", tmp_path / "none", code=2)
