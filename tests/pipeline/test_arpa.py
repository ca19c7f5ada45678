"""Count models as ARPA files: what any reader of that format finds in them is what the model says."""

import json
import random
from pathlib import Path

import pytest

from anaphora.cli.app import main
from anaphora.errors import DataError
from anaphora.export.arpa import save_arpa
from anaphora.formats.arpa import read_arpa
from anaphora.pipeline import LanguageModel, load
from anaphora.pipeline.arpa import load_arpa

WORDS = ["the", "man", "walks", "sees", "na\u00efve", "no\u00a0break", "a"]

SMALL = """\\data\\
ngram 1=4
ngram 2=2

\\1-grams:
-99\t<s>\t-0.5
-0.6\t</s>
-0.4\ta\t-0.25
-0.9\tb

\\2-grams:
-0.1\t<s> a
-0.2\ta </s>

\\end\\
"""


@pytest.fixture(scope="module")
def run(count_model: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arpa")
    draw = random.Random(5)
    lines = [" ".join(draw.choices(WORDS, weights=range(9, 2, -1), k=draw.randint(0, 9))) for _ in range(400)]
    (folder / "text.txt").write_text("".join(f"{line}\n" for line in lines))
    (folder / "counted.toml").write_text(count_model)
    assert (
        main(["train", str(folder / "counted.toml"), "--data", str(folder / "text.txt"), "--run", str(folder / "run")])
        == 0
    )
    return folder / "run"


def by_the_book(text: str, sentence: list[str]) -> float:
    """log10 p of a sentence as the format defines it, from the lines of the file alone."""
    table: dict[tuple[str, ...], tuple[float, float]] = {}
    for line in text.splitlines():
        fields = line.split("\t")
        if len(fields) > 1:
            table[tuple(fields[1].split(" "))] = (float(fields[0]), float(fields[2]) if len(fields) > 2 else 0.0)
    order = max(map(len, table))

    def log10(context: tuple[str, ...], word: str) -> float:
        if (*context, word) in table:
            return table[*context, word][0]
        if not context:
            return table[("<unk>",)][0]
        return table.get(context, (0.0, 0.0))[1] + log10(context[1:], word)

    known = ["<s>", *(word if (word,) in table else "<unk>" for word in sentence), "</s>"]
    return sum(log10(tuple(known[max(0, n - order + 1) : n]), known[n]) for n in range(1, len(known)))


def test_a_written_file_says_by_the_book_what_the_model_says(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.arpa"
    assert main(["export", str(run), "--to", "arpa", "--output", str(path)]) == 0
    model, draw = load(run), random.Random(9)
    assert isinstance(model, LanguageModel)
    for _ in range(50):
        words = [word for word in draw.choices([*WORDS, "zebra"], k=draw.randint(0, 8)) if "\u00a0" not in word]
        assert model.score(" ".join(words)) == pytest.approx(by_the_book(path.read_text(), words), abs=1e-4)


@pytest.mark.parametrize("name", ["model.arpa", "model.arpa.gz"])
def test_a_file_read_again_is_the_same_model(run: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    assert main(["export", str(run), "--output", str(path)]) == 0
    before, after = load(run), load(path)
    assert isinstance(before, LanguageModel) and isinstance(after, LanguageModel)
    assert after.order == before.order == 3
    for line in ["the man walks", "", "a a a a a", "zebra sees the na\u00efve"]:
        assert after.score(line) == pytest.approx(before.score(line), abs=1e-4)
        assert [word[1:] for word in after.full_scores(line)] == [word[1:] for word in before.full_scores(line)]
    again = tmp_path / f"again-{name}"
    save_arpa(*load_arpa(path), again)
    for first, second in zip(read_arpa(path), read_arpa(again), strict=True):
        assert {gram.words for gram in first} == {gram.words for gram in second}
        numbers = [{gram.words: (gram.log10, gram.backoff) for gram in grams} for grams in (first, second)]
        assert all(numbers[1][words] == pytest.approx(found, abs=1e-5) for words, found in numbers[0].items())
    assert path.read_bytes()[:2] == (b"\x1f\x8b" if name.endswith(".gz") else b"\\d")


def test_a_file_of_another_program_is_read_as_it_is_meant(tmp_path: Path) -> None:
    path = tmp_path / "small.arpa"
    path.write_text("a comment\n\n" + SMALL)
    model = load(path)
    assert isinstance(model, LanguageModel)
    scores = [word.log_prob for word in model.full_scores("a b a")]
    assert scores == pytest.approx([-0.1, -0.25 - 0.9, -0.4, -0.2], abs=1e-6)
    assert [word.oov for word in model.full_scores("a c")] == [False, True, False]
    assert main(["score", str(path), str(path)]) == 0


def test_a_file_is_evaluated_on_a_text_that_is_given(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, text = tmp_path / "model.arpa", tmp_path / "text.txt"
    assert main(["export", str(run), "--output", str(path)]) == 0
    text.write_text("the man walks\na zebra sees\n")
    found = []
    for model in (run, path):
        capsys.readouterr()
        assert main(["evaluate", str(model), "--text", str(text), "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out)["parts"]["text.txt"])
        assert found[-1].pop("adaptation") == ""
    assert found[0] == pytest.approx(found[1], rel=1e-4) and found[1]["unknown"] == 1
    assert main(["evaluate", str(path)]) == 2
    assert "with --text" in capsys.readouterr().err
    assert main(["evaluate", str(path), "--text", str(text), "--details"]) == 2
    assert "is a language model" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("\\data\\", "data", "no line"),
        ("ngram 2=2", "ngram 3=2", r"small\.arpa:3 should read ngram 2=COUNT"),
        ("ngram 1=4", "ngram 1=5", "should have 5 n-grams of order 1, .* has 4"),
        ("\\2-grams:", "\\3-grams:", r":11 should read \\2-grams:"),
        ("-0.6\t</s>", "nought\t</s>", r":7 should read LOG10 WORD \[BACKOFF\]"),
        ("-0.6\t</s>", "0.6\t</s>", r":7 should read"),
        ("-0.1\t<s> a", "-0.1\t<s>", r":12 should read LOG10 WORD WORD"),
        ("-0.1\t<s> a", "-0.1\t<s> a b 1", r":12 should read"),
        ("-0.1\t<s> a", "-0.1\t<s> c", "the word 'c' in an n-gram of order 2, but not alone"),
        ("\\end\\\n", "", "breaks off"),
        ("\\end\\", "end", r"should read \\end\\"),
    ],
)
def test_a_damaged_file_is_named_with_its_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "small.arpa"
    assert old in SMALL
    path.write_text(SMALL.replace(old, new))
    with pytest.raises(DataError, match=said):
        load(path)


def test_an_ngram_whose_context_is_missing_is_no_model(tmp_path: Path) -> None:
    path = tmp_path / "pruned.arpa"
    path.write_text(
        SMALL.replace("ngram 2=2", "ngram 2=2\nngram 3=1").replace("\\end\\", "\\3-grams:\n-0.1\ta b a\n\n\\end\\")
    )
    with pytest.raises(DataError, match="order 3 whose first 2"):
        load(path)


def test_a_model_that_is_not_counted_is_no_arpa_file(
    toy_pairs: Path, tiny_translator: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "run"
    assert main(["train", str(tiny_translator), "--data", str(toy_pairs), "--target", "fr", "--run", str(other)]) == 0
    assert main(["export", str(other), "--output", str(tmp_path / "x.arpa")]) == 2
    assert "is no count model" in capsys.readouterr().err
    assert not (tmp_path / "x.arpa").exists()
