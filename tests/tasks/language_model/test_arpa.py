"""Count models as ARPA files: what any reader of that format finds in them is what the model says."""

import importlib
import itertools
import random
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anaphora.errors import DataError, RunError
from anaphora.formats.arpa import read_arpa
from anaphora.inference.ngram import BackoffModel
from anaphora.models.ngram.model import NgramConfig, NgramModel, NgramModelConfig
from anaphora.tasks.language_model.arpa import load_arpa, save_arpa
from anaphora.tasks.language_model.predictor import LanguageModelPredictor
from anaphora.tasks.language_model.scores import State
from anaphora.tasks.runs import load, opener_of
from anaphora.text.characters import CharacterTokenizer
from anaphora.text.tokenizer import EOS
from anaphora.text.words import WordTokenizer

from ..conftest import shown

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
    shown("train", folder / "counted.toml", "--data", folder / "text.txt", "--run", folder / "run")
    return folder / "run"


@pytest.fixture(scope="module")
def exported(run: Path) -> Path:
    """The file of the run."""
    path = run.with_name("model.arpa")
    shown("export", run, "--output", path)
    return path


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A file that another program might have written."""
    path = tmp_path / "small.arpa"
    path.write_text(SMALL)
    return path


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


@pytest.mark.parametrize("package", ["anaphora", "kenlm"])
def test_the_real_package_and_ours_pass_one_suite(run: Path, exported: Path, package: str) -> None:
    pytest.importorskip(package)
    model: Any = load(exported) if package == "anaphora" else importlib.import_module(package).Model(str(exported))
    new_state = model.State if package == "anaphora" else importlib.import_module(package).State
    text, draw, counted = exported.read_text(), random.Random(11), load(run)
    assert model.path == str(exported).encode()
    assert b"man" in model and model.score(b"the man") == model.score("the man")
    assert model.order == 3 and "man" in model and "zebra" not in model and "the man" not in model
    for _ in range(20):
        words = draw.choices([*WORDS, "zebra"], k=draw.randint(1, 8))
        line, expected = " ".join(words), by_the_book(text, words)
        assert model.score(line) == pytest.approx(expected, abs=1e-4)
        # text without tokens is split at every white space, a file of words at that of ASCII
        assert counted.score(line) == pytest.approx(by_the_book(text, line.split()), abs=1e-4)
        full = [tuple(word) for word in model.full_scores(line)]
        assert sum(word[0] for word in full) == pytest.approx(expected, abs=1e-4)
        assert [word[2] for word in full] == [*(f"\t{word}\t" not in text for word in words), False]
        assert model.perplexity(line) == pytest.approx(10 ** (-expected / (len(words) + 1)), rel=1e-4)
        state, after, total = new_state(), new_state(), 0.0
        model.BeginSentenceWrite(state)
        for word in [*words, "</s>"]:
            total += model.BaseScore(state, word, after)
            state, after = after, state
        assert total == pytest.approx(expected, abs=1e-4)


def check_figures(ours: Any, theirs: Any, line: str) -> None:
    """Both packages say the same of every word of a line."""
    for bos, eos in itertools.product((True, False), repeat=2):
        found, expected = (list(model.full_scores(line, bos=bos, eos=eos)) for model in (ours, theirs))
        assert [tuple(word)[1:] for word in found] == [tuple(word)[1:] for word in expected]
        assert [word[0] for word in found] == pytest.approx([word[0] for word in expected], abs=1e-4)


def test_every_figure_is_that_of_the_real_package(exported: Path) -> None:
    kenlm, draw = pytest.importorskip("kenlm"), random.Random(12)
    ours, theirs = load(exported), kenlm.Model(str(exported))
    for _ in range(20):
        check_figures(ours, theirs, " ".join(draw.choices([*WORDS, "zebra", "na\u3000ive"], k=draw.randint(0, 8))))


def test_states_are_equal_where_those_of_the_real_package_are(exported: Path, small: Path) -> None:
    kenlm = pytest.importorskip("kenlm")
    small.write_text(SMALL.replace("ngram 1=4", "ngram 1=5").replace("-0.9\tb", "-0.9\tb\n-0.8\t<unk>"))
    draw, words = random.Random(13), [*WORDS, "b", "zebra", "gnu"]
    histories = [(draw.random() < 0.8, draw.choices(words, k=draw.randint(0, 3))) for _ in range(60)]
    for file in exported, small:
        ours, theirs = load(file), kenlm.Model(str(file))
        keys: list[dict[Any, int]] = [{}, {}]
        for begins, history in histories:
            found = []
            for model, state, seen in zip((ours, theirs), (State(), kenlm.State()), keys, strict=True):
                (model.BeginSentenceWrite if begins else model.NullContextWrite)(state)
                for word in history:
                    before, state = state, type(state)()
                    model.BaseScore(before, word, state)
                found.append(seen.setdefault(state, len(seen)))
            assert found[0] == found[1], (file.name, begins, history)
        assert 1 < len(keys[0]) < len(histories)


def test_nothing_counts_that_stands_before_an_unknown_word(small: Path) -> None:
    model = load(small)
    states = [model.State() for _ in range(4)]
    for state, history in zip(states, (["zebra"], ["a", "zebra"], ["b"], []), strict=True):
        (model.BeginSentenceWrite if history else model.NullContextWrite)(state)
        for word in history:
            model.BaseScore(state, word, state)
    assert len(set(states)) == 1


@pytest.mark.parametrize("name", ["model.arpa", "model.ARPA.GZ"])
def test_a_file_read_again_is_the_same_model(run: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    shown("export", run, "--output", path)
    before, after = load(run), load(path)
    assert after.order == before.order == 3
    for line in ["the man walks", "", "a a a a a", "zebra sees the na\u00efve"]:
        assert after.score(line) == pytest.approx(before.score(line), abs=1e-4)
        assert [word[1:] for word in after.full_scores(line)] == [word[1:] for word in before.full_scores(line)]
    again = tmp_path / f"again-{name}"
    save_arpa(*load_arpa(path), again)
    models = [read_arpa(file) for file in (path, again)]
    for order in range(1, before.order + 1):
        first, second = (list(model.grams(order)) for model in models)
        assert {gram.words for gram in first} == {gram.words for gram in second}
        numbers = [{gram.words: (gram.log10, gram.backoff) for gram in grams} for grams in (first, second)]
        assert all(numbers[1][words] == pytest.approx(found, abs=1e-5) for words, found in numbers[0].items())
    assert path.read_bytes()[:2] == (b"\x1f\x8b" if name.endswith(".GZ") else b"\\d")


def test_a_file_of_another_program_is_read_as_it_is_meant(small: Path) -> None:
    small.write_text("a comment\n\n" + SMALL)
    model = load(small)
    scores = [word.log_prob for word in model.full_scores("a b a")]
    assert scores == pytest.approx([-0.1, -0.25 - 0.9, -0.4, -0.2], abs=1e-6)
    assert [word.oov for word in model.full_scores("a c")] == [False, True, False]
    # what stands in front of a begin or behind an end is in no line
    more = "-0.2\ta </s>\n-9\t</s> a\n-9\ta <s>"
    small.write_text(SMALL.replace("ngram 2=2", "ngram 2=4").replace("-0.2\ta </s>", more))
    assert [word.log_prob for word in load(small).full_scores("a")] == pytest.approx([-0.1, -0.2], abs=1e-6)
    shown("score", small, small)


def test_an_unknown_word_costs_what_the_real_package_has_it_cost_where_a_file_has_none(small: Path) -> None:
    ours = load(small)
    expected = [-0.1, -0.25 - 100, -0.9, -0.6]
    assert [word.log_prob for word in ours.full_scores("a c b")] == pytest.approx(expected, abs=1e-4)
    theirs = pytest.importorskip("kenlm").Model(str(small))
    for line in "c", "a c", "c c a b", "a c b", "<unk> b":
        check_figures(ours, theirs, line)


def test_a_file_is_evaluated_on_a_text_that_is_given(run: Path, exported: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("the man walks\na zebra sees\n")
    first, second = (shown("evaluate", model, "--text", text, "--json").split for model in (run, exported))
    assert first.pop("adaptation") == second.pop("adaptation") == ""
    assert first == pytest.approx(second, rel=1e-4) and second["unknown"] == 1
    assert "with --text" in shown("evaluate", exported, code=2).err
    assert "is a language model" in shown("evaluate", exported, "--text", text, "--details", code=2).err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("\\data\\", "data", "no line"),
        ("ngram 2=2", "ngram 3=2", r"small\.arpa:3 should read ngram 2=COUNT"),
        ("\\2-grams:", "\\3-grams:", r":11 should read \\2-grams:"),
        ("-0.6\t</s>", "nought\t</s>", r":7 should read LOG10 WORD \[BACKOFF\]"),
        ("-0.6\t</s>", "0.6\t</s>", r":7 should read .* the first at most 0"),
        ("-0.6\t</s>", "nan\t</s>", r":7 should read"),
        ("-0.6\t</s>", "-1e39\t</s>", r":7 should read"),
        ("a\t-0.25", "a\tnan", r":8 should read .* between -200 and 200"),
        ("ngram 1=4", "ngram 1=\u00b2", r":2 should read ngram 1=COUNT"),
        ("ngram 1=4", f"ngram 1={'9' * 5000}", r":2 should read ngram 1=COUNT"),
        ("-0.9\tb", "-0.9\ta", r":9 repeats the n-gram 'a'"),
        ("-0.2\ta </s>", "-0.2\t<s>  a", r":13 repeats the n-gram '<s> a'"),
        ("-0.6\t</s>", "-0.6\tc", "should have </s>, the end of a line, among its 4 n-grams of order 1"),
        ("-0.1\t<s> a", "-0.1\t<s>", r":12 should read LOG10 WORD WORD"),
        ("-0.1\t<s> a", "-0.1\t<s> a b 1", r":12 should read"),
        ("-0.1\t<s> a", "-0.1\t<s> c", "the word 'c' in an n-gram of order 2, but not alone"),
        ("\\end\\\n", "", "breaks off"),
        ("\\end\\", "end", r"should read \\end\\"),
        ("\\end\\", "\\end\\\n\nmore", r"should read nothing after \\end\\"),
        (SMALL, "\\data\\\nngram 1=0\n\n\\1-grams:\n\n\\end\\\n", "the end of a line, among its 0 n-grams"),
        (
            SMALL,
            SMALL.replace("2=2", "2=2\nngram 3=1").replace("\\end\\", "\\3-grams:\n-0.1\ta b a\n\n\\end\\"),
            "order 3 whose beginning is no n-gram of order 2",
        ),
    ],
)
def test_a_damaged_file_is_named_with_its_line(small: Path, old: str, new: str, said: str) -> None:
    assert old in SMALL
    small.write_text(SMALL.replace(old, new))
    with pytest.raises(DataError, match=said):
        load(small)


def scores(path: Path, *grams: tuple[float, str], line: str) -> list[tuple[float, bool]]:
    """log10 p of every word of a line, and whether it is unknown, by a model of single words."""
    lines = ["-99\t<s>", "-0.5\t</s>", *(f"{log10}\t{word}" for log10, word in grams)]
    unigrams = "\n".join(lines)
    path.write_bytes(f"\\data\\\nngram 1={len(lines)}\n\n\\1-grams:\n{unigrams}\n\n\\end\\\n".encode())
    model = load(path)
    return [(round(word.log_prob, 4), word.oov) for word in model.full_scores(line)][:-1]


def test_the_unknown_word_may_be_written_in_capitals(tmp_path: Path) -> None:
    path = tmp_path / "capitals.arpa"
    assert scores(path, (-0.7, "<UNK>"), (-0.2, "a"), line="a b <UNK>") == [(-0.2, False), (-0.7, True), (-0.7, True)]
    path.write_text(SMALL.replace("\tb", "\t<UNK>").replace("a </s>", "<UNK> a"))
    model = load(path)
    assert [word.log_prob for word in model.full_scores("x a")][:2] == pytest.approx([-0.5 - 0.9, -0.2])


def test_both_spellings_of_the_unknown_word_are_one_word_and_the_later_counts(tmp_path: Path) -> None:
    path, text = tmp_path / "both.arpa", SMALL.replace("ngram 1=4", "ngram 1=5")
    for first, second in (("<UNK>", "<unk>"), ("<unk>", "<UNK>")):
        path.write_text(text.replace("-0.9\tb", f"-0.7\t{first}\n-0.3\t{second}"))
        model = load(path)
        assert "<UNK>" not in model and "<unk>" not in model
        found = [tuple(word) for word in model.full_scores("b <UNK> a")]
        assert [word[2] for word in found] == [True, True, False, False]
        assert [word[0] for word in found] == pytest.approx([-0.5 - 0.3, -0.3, -0.4, -0.2])
        path.write_text(path.read_text().replace("a </s>", "<unk> a").replace("<s> a", "<UNK> a"))
        with pytest.raises(DataError, match=r"of order 2 has one with <unk> and with <UNK>, which are the same word"):
            load(path)


@pytest.mark.parametrize("sign", ["\u00a0", "\u3000", "\u2003", "\x1c", "\x85", "\u2028"])
def test_a_word_of_a_file_ends_at_ascii_white_space_alone(tmp_path: Path, sign: str) -> None:
    path, word = tmp_path / "spaces.arpa", f"a{sign}b"
    known = [(-0.2, False), (-0.4, False)]
    for between in " ", "\t", "\n", "\r", "\x0b", "\x0c", "  ":
        assert scores(path, (-0.2, word), (-0.4, "a"), line=f" {word}{between}a ") == known
    # alone, it is a word
    assert scores(path, (-0.2, sign), (-0.4, "a"), line=f"{sign} a") == known


def test_a_word_is_found_however_its_letters_are_composed(tmp_path: Path) -> None:
    composed, path = "na\u00efve", tmp_path / "forms.arpa"
    apart = unicodedata.normalize("NFD", composed)
    for written in composed, apart:
        assert scores(path, (-0.2, written), line=f"{composed} {apart}") == [(-0.2, False)] * 2
    both = [(-0.2, apart), (-0.4, composed)]
    assert scores(path, *both, line=f"{composed} {apart}") == [(-0.4, False), (-0.2, False)]
    model = load(path)
    assert apart in model
    with pytest.raises(DataError, match="lone surrogate U\\+D800"):
        model.score("a \ud800")


def test_a_model_whose_tokens_are_no_words_of_a_file_is_refused(tmp_path: Path) -> None:
    letters = CharacterTokenizer(list("a\tb"), lowercase=False)
    words = WordTokenizer(["a", "<UNK>"], lowercase=False, segmentation="whitespace", language="en")
    for tokenizer, said in (letters, r"no white space, but the token '\\t'"), (words, "<UNK> is read as the unknown"):
        with pytest.raises(DataError, match=said):
            save_arpa(BackoffModel((), tokenizer.symbols), tokenizer, tmp_path / "tokens.arpa")
    assert not (tmp_path / "tokens.arpa").exists()


def test_a_space_and_the_character_that_stands_for_it_are_two_words_of_a_file(tmp_path: Path) -> None:
    tokenizer, path = CharacterTokenizer(list("a \u2581"), lowercase=False), tmp_path / "units.arpa"
    model = NgramModel(NgramModelConfig(ngram=NgramConfig(order=1)), tokenizer.symbols)
    model.fit(np.array([EOS, *tokenizer.encode("a \u2581"), EOS]), lambda order: None)
    save_arpa(model.backoff, tokenizer, path)
    assert [gram.words[0] for gram in read_arpa(path).grams(1)][-3:] == ["a", "\u2581", "<U+2581>"]


def test_a_file_of_counts_is_known_by_its_name_in_any_case(small: Path) -> None:
    assert all(map(opener_of, map(Path, ["a.arpa", "a.arpa.gz", "A.ARPA", "a.Arpa.GZ", "a.lm.gz"])))
    assert not any(map(opener_of, map(Path, ["arpa", "lm", "a.arpa.txt", "a.klm"])))
    other = small.rename(small.with_name("model.LM"))
    assert isinstance(load(other), LanguageModelPredictor)
    with pytest.raises(RunError, match=r"is a file: name a folder; files of counts \(\.arpa, \.lm, or gzipped\) are"):
        load(other.rename(other.with_name("model.txt")))


def test_a_model_that_is_not_counted_is_no_arpa_file(trained: Callable[..., Path], tmp_path: Path) -> None:
    said = shown("export", trained("translator"), "--output", tmp_path / "x.arpa", code=2).err
    assert "is for n-gram language models and" in said and "use --to bundle or" in said
    assert not (tmp_path / "x.arpa").exists()
