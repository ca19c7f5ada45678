"""What ``anaphora translate`` writes beside the best translation, and translations with prefixes and suffixes."""

import json

import pytest

import anaphora
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
def text(cli: Cli) -> str:
    return str(cli.write("text.en", TEXT))


def test_an_nbest_list_has_every_line_its_best_first_and_can_be_rescored(
    run: str, text: str, trained: Trained, cli: Cli
) -> None:
    search = ["translate", run, text, "--beam", "6", "--length-penalty", "0.6"]
    best, listed = cli(*search).lines, cli(*search, "--nbest", "4").lines
    entries = [line.split(" ||| ") for line in listed]
    for number, (source, line) in enumerate(zip(TEXT.splitlines(), best, strict=True)):
        of_line = [entry for entry in entries if entry[0] == str(number)]
        totals = [float(entry[3]) for entry in of_line]
        assert of_line[0][1] == line and totals == sorted(totals, reverse=True)
        assert len(of_line) == (4 if source else 1) and len({entry[1] for entry in of_line}) == len(of_line)
        for _, _, features, total in of_line if source else ():
            _, logprob, _, tokens = features.split()
            assert float(total) == pytest.approx(float(logprob) / ((5 + int(tokens)) / 6) ** 0.6, abs=1e-5)
    assert all(FORMATS["moses"].parse(line, "list").features == {"logprob", "tokens"} for line in listed)
    every = [one for line in cli(*search, "--nbest", "4", "--json").objects for one in (line, *line["alternatives"])]
    assert [one["text"] for one in every] == [entry[1] for entry in entries]
    nbest = cli.folder / "nbest"
    cli(*search, "--nbest", "4", "--output", nbest)
    assert nbest.read_text().splitlines() == listed
    rescored = cli("rescore", trained("language-model"), nbest).lines
    assert len(rescored) == len(listed) and all(" LM0= " in line for line in rescored)
    shown = cli("translate", run, text, "--beam", "1", "--nbest", "3")
    assert len(shown.lines) == 3
    assert "2 of 3 lines have fewer than 3 translations" in shown.said and "a larger beam" in shown.said


def test_samples_and_minimum_risk(run: str, text: str, cli: Cli) -> None:
    sample = ["translate", run, text, "--sample", "--temperature", "2"]
    one, other = (cli(*sample, "--seed", seed).lines for seed in "12")
    assert one != other and one == cli(*sample, "--seed", "1").lines
    assert one[1] == "" and len(one) == 3
    assert len(cli(*sample, "--minimum-risk", "4", "--nbest", "4").lines) > 5


def test_alignments_are_the_same_by_forced_decoding_and_soft_ones_point_to_them(run: str, text: str, cli: Cli) -> None:
    links, forced, soft, pairs = (cli.folder / name for name in ("links", "forced", "soft", "pairs.tsv"))
    command = ["translate", run, text, "--beam", "3", "--min-length", "5"]
    lines = cli(*command, "--alignments", links).lines
    assert cli(*command, "--align-with", run, "--alignments", forced).lines == lines
    assert all(len(line) >= 5 for line in lines[::2]) and forced.read_text() == links.read_text()
    cli(*command, "--soft-alignments", soft, "--pairs", pairs)
    rows, hard = [json.loads(row) for row in soft.read_text().splitlines()], links.read_text().splitlines()
    for source, line, pointed, row in zip(TEXT.splitlines(), lines, hard, rows, strict=True):
        assert row["source"] == source.split() and row["target"] == line.split()
        assert [len(one) for one in row["weights"]] == [len(row["source"])] * len(row["target"])
        assert all(row["weights"][j][i] > 0 for i, j in from_pharaoh(pointed, "links"))
    assert cli("align", run, pairs, "--soft").lines == soft.read_text().splitlines()


def test_a_translator_without_attention_is_aligned_by_another(run: str, text: str, trained: Trained, cli: Cli) -> None:
    other, links = str(trained("translator", "training.epochs=3", "attention=none")), cli.folder / "links"
    lines = cli("translate", other, text, "--alignments", links, "--align-with", run).lines
    model = anaphora.load(run)
    assert isinstance(model, anaphora.TranslationPredictor)
    expected = model.align(TEXT.splitlines(), lines)
    assert [from_pharaoh(line, "links") for line in links.read_text().splitlines()] == expected
    links.unlink()
    for command in (
        ["translate", run, text, "--alignments", links, "--align-with", other],
        ["translate", run, other, text, "--alignments", links],
        ["align", other, "--source", text, "--target", text],
    ):
        assert "this translator has none" in cli.refuse(*command) and not links.exists()


def test_a_refused_line_stays_empty_and_the_others_come_out(run: str, cli: Cli) -> None:
    long = cli.write("long.en", "abc\n" + "dab " * 5_000 + "{n} 15\ndab\n")
    whole = cli("translate", run, long, "--beam", "1").lines
    refused = ["translate", run, str(long), "--beam", "1", "--no-split", "--max-tokens", "50"]
    shown = cli(*refused, code=2)
    lines, said = shown.lines, shown.said
    assert lines == [whole[0], "", whole[2]] and whole[1] != ""
    assert "Line 2 should have at most 50 tokens, but has" in said and said.count("anaphora: ") == 2
    assert "1 line was refused and has no translation." in said and "differ" not in said
    output = cli.folder / "output"
    assert cli(*refused, "--output", output, code=2).lines == []
    assert output.read_text().splitlines() == lines
    pairs = cli.folder / "pairs.tsv"
    said = cli(*refused, "--pairs", pairs, code=2).said
    assert lines[2] == "" and pairs.read_text() == f"abc\t{lines[0]}\n"
    assert f"2 lines without a translation were left out of {pairs}." in said


def test_an_evaluation_says_how_it_searched(run: str, cli: Cli) -> None:
    lines = cli("evaluate", run, "--beam", "4", "--coverage-penalty", "0.2", "--groups", "2", "--no-keep").lines
    assert "3 sentences, beam 4, coverage penalty 0.2, 2 groups of diversity 0.5" in lines
    scores = cli("evaluate", run, "--sample", "--seed", "3", "--no-keep", "--json").split
    assert scores["sampling"] == {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "seed": 3}


FRAMED = "dab\n\nabcd\ncab\n"


def test_every_line_begins_with_its_prefix_and_ends_with_its_suffix(run: str, cli: Cli) -> None:
    begun, ends = ["dab", "", "", "da"], ["dab", "", "da", ""]
    text, output = cli.write("text.en", FRAMED), cli.folder / "found.fr"
    files = {
        option: cli.write(option, "\n".join(given) + "\n")
        for option, given in (("prefixes", begun), ("suffixes", ends))
    }
    framed = ["translate", run, text, "--beam", "4", "--prefixes", files["prefixes"]]
    cli(*framed, "--suffixes", files["suffixes"], "--output", output)
    found = output.read_text().splitlines()
    assert all(line.startswith(prefix) for line, prefix in zip(found, begun, strict=True)) and not found[1]
    assert all(line.endswith(suffix) for line, suffix in zip(found, ends, strict=True))
    listed = cli(*framed, "--nbest", "2").lines
    assert all(line.split(" ||| ")[1].startswith(begun[int(line[0])]) for line in listed)


@pytest.mark.parametrize(
    ("prefixes", "text", "said", "found"),
    [
        ("dab\n\n", FRAMED, "Line 3 has no prefix", ["dab", "", "", ""]),
        ("dab\n" * 6, "dab\ncab\n", "has more lines than the text, which has 2: give one for every", ["dab", "dab"]),
    ],
)
def test_where_prefixes_and_lines_are_not_equally_many_the_others_come_out(
    prefixes: str, text: str, said: str, found: list[str], run: str, cli: Cli
) -> None:
    asked = ["translate", run, cli.write("text.en", text), "--prefixes", cli.write("begun.fr", prefixes)]
    shown = cli(*asked, code=2)
    assert said in shown.said and ("2 lines were refused" in shown.said) == (found[-1] == "")
    assert [line[:3] for line in shown.lines] == found
