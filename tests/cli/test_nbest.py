"""What ``anaphora translate`` writes beside the best translation: n-best lists, alignments, and refused lines."""

import json
from pathlib import Path

import pytest

import anaphora
from anaphora.cli.app import main
from anaphora.formats.nbest import FORMATS
from anaphora.formats.pharaoh import from_pharaoh

from ..conftest import Trained

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


def printed(capsys: pytest.CaptureFixture[str], *command: str, code: int = 0) -> tuple[list[str], str]:
    capsys.readouterr()
    assert main(list(command)) == code
    shown = capsys.readouterr()
    return shown.out.splitlines(), shown.err


def test_an_nbest_list_has_every_line_its_best_first_and_can_be_rescored(
    run: str, text: str, trained: Trained, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    best, _ = printed(capsys, "translate", run, text, "--beam", "6", "--length-penalty", "0.6")
    moses = ["translate", run, text, "--beam", "6", "--length-penalty", "0.6", "--nbest", "4"]
    listed, _ = printed(capsys, *moses)
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
    rescored, _ = printed(capsys, "rescore", str(trained("language-model")), str(nbest))
    assert len(rescored) == len(listed) and all(" LM0= " in line for line in rescored)


def test_an_nbest_list_as_json_has_a_line_for_every_line(
    run: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    listed, _ = printed(capsys, "translate", run, text, "--beam", "6", "--nbest", "4")
    lines, _ = printed(capsys, "translate", run, text, "--beam", "6", "--nbest", "4", "--json")
    found = [json.loads(line) for line in lines]
    every = [(number, one) for number, line in enumerate(found) for one in (line, *line["alternatives"])]
    assert [(str(number), one["text"]) for number, one in every] == [
        (line.split(" ||| ")[0], line.split(" ||| ")[1]) for line in listed
    ]
    assert found[1]["text"] == "" and found[1]["alternatives"] == []


def test_too_few_translations_are_reported(run: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    listed, said = printed(capsys, "translate", run, text, "--beam", "1", "--nbest", "3")
    assert len(listed) == 3
    assert "2 of 3 lines have fewer than 3 translations" in " ".join(said.split()) and "a larger beam" in said


def test_samples_and_minimum_risk(run: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    sample = ["translate", run, text, "--sample", "--temperature", "2"]
    one, other = (printed(capsys, *sample, "--seed", seed)[0] for seed in "12")
    assert one != other and one == printed(capsys, *sample, "--seed", "1")[0]
    assert one[1] == "" and len(one) == 3
    assert len(printed(capsys, *sample, "--minimum-risk", "4")[0]) == 3
    assert len(printed(capsys, *sample, "--nbest", "4")[0]) > 5


def test_alignments_are_the_same_by_forced_decoding_and_soft_ones_point_to_them(
    run: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    links, forced, soft = (tmp_path / name for name in ("links", "forced", "soft"))
    command = ["translate", run, text, "--beam", "3", "--min-length", "5"]
    lines, _ = printed(capsys, *command, "--alignments", str(links), "--soft-alignments", str(soft))
    assert printed(capsys, *command, "--align-with", run, "--alignments", str(forced))[0] == lines
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


def test_pairs_are_aligned_softly(run: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs, soft = tmp_path / "pairs.tsv", tmp_path / "soft"
    command = ["translate", run, text, "--beam", "2", "--min-length", "4"]
    assert main([*command, "--soft-alignments", str(soft), "--pairs", str(pairs)]) == 0
    lines, _ = printed(capsys, "align", run, str(pairs), "--soft")
    assert lines == soft.read_text().splitlines()
    refused = ["align", run, str(pairs), "--soft", "--gold", str(soft)]
    assert "--soft prints weights" in printed(capsys, *refused, code=2)[1]


def test_a_translator_without_attention_is_aligned_by_another(
    run: str, text: str, trained: Trained, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other, links = str(trained("translator", "training.epochs=3", "attention=none")), tmp_path / "links"
    lines, _ = printed(capsys, "translate", other, text, "--alignments", str(links), "--align-with", run)
    model = anaphora.load(run)
    assert isinstance(model, anaphora.TranslationPredictor)
    expected = model.align(TEXT.splitlines(), lines)
    assert [from_pharaoh(line, "links") for line in links.read_text().splitlines()] == expected
    assert printed(capsys, "translate", run, text, "--alignments", str(links), "--align-with", other, code=2)[0] == []
    # one with attention and one without translate together
    together, _ = printed(capsys, "translate", run, other, text)
    assert len(together) == 3


def test_a_refused_line_stays_empty_and_the_others_come_out(
    run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = tmp_path / "long.en"
    long.write_text("abc\n" + "dab " * 5_000 + "{n} 15\ndab\n")
    whole, _ = printed(capsys, "translate", run, str(long), "--beam", "1")
    refused = ["translate", run, str(long), "--beam", "1", "--no-split", "--max-tokens", "50"]
    lines, said = printed(capsys, *refused, code=2)
    assert lines == [whole[0], "", whole[2]] and whole[1] != ""
    assert "Line 2 should have at most 50 tokens, but has" in said and said.count("anaphora: ") == 2
    assert "1 line was refused and has no translation." in said and "differ" not in said
    output = tmp_path / "output"
    assert printed(capsys, *refused, "--output", str(output), code=2)[0] == []
    assert output.read_text().splitlines() == lines
    pairs = tmp_path / "pairs.tsv"
    _, said = printed(capsys, *refused, "--pairs", str(pairs), code=2)
    assert lines[2] == "" and pairs.read_text() == f"abc\t{lines[0]}\n"
    assert f"2 lines without a translation were left out of {pairs}." in said


def test_an_evaluation_says_how_it_searched(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines, _ = printed(
        capsys, "evaluate", run, "--beam", "4", "--coverage-penalty", "0.2", "--groups", "2", "--no-keep"
    )
    assert "3 sentences, beam 4, coverage penalty 0.2, 2 groups of diversity 0.5" in lines
    lines, _ = printed(capsys, "evaluate", run, "--sample", "--seed", "3", "--no-keep", "--json")
    [scores] = json.loads(lines[0])["splits"].values()
    assert scores["sampling"] == {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "seed": 3}


REFUSED = {
    "--temperature 0.5": "--temperature belongs to --sample",
    "--sample --beam 3": "leave out beam, or sampling",
    "--sample --temperature 0": "finite temperature above 0",
    "--beam 5 --groups 2": "groups of equal size",
    "--diversity 1": "diversity belongs to groups",
    "--per-token --length-penalty 1": "leave out per_token, or length_penalty",
    "--minimum-risk 1": "2 to 1,000 hypotheses",
    "--align-with RUN": "--align-with belongs to",
    "--nbest 3 --pairs made.tsv": "--nbest is for translations",
}


def test_options_that_do_not_go_together_are_refused_in_a_sentence(
    run: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for options, said in REFUSED.items():
        words = [run if word == "RUN" else word for word in options.split()]
        lines, complaint = printed(capsys, "translate", run, text, *words, code=2)
        assert lines == [] and said in " ".join(complaint.split()), options


def test_the_help_of_translate_is_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    shown, _ = printed(capsys, "translate", "--help")
    headings = [line for line in shown if line.endswith(":") and not line.startswith(" ")]
    assert headings[:6] == ["Arguments:", "Options:", "Output:", "Word alignments:", "Search:", "Sampling:"]
