"""Texts that language models write, from any prompt: as they are written, and as they are passed on."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from anaphora.errors import ConfigError
from anaphora.tasks.language_model.generation import StreamedText
from anaphora.tasks.language_model.predictor import LanguageModelPredictor
from anaphora.text.tokenizer import Tokenizer
from anaphora.text.words import WordTokenizer

from .test_predictor import EVERY_CODER, EVERY_MODEL, Make, character_tokenizer, counted, recurrent, word_tokenizer


@EVERY_CODER
def test_what_is_heard_is_the_text_that_is_written(tokenizer: Callable[[], Tokenizer]) -> None:
    model, pieces = counted(tokenizer()), 0
    for seed in range(8):
        heard: list[str] = []
        written = model.generate("the man", seed=seed, length=30, on_text=heard.append)
        assert "".join(heard) == written.text
        pieces += len(heard)
    assert pieces > 2 * 8
    for size in (1, 3):
        heard = []
        assert model.generate("the", beam=size, length=9, on_text=heard.append).text == "".join(heard)


def test_a_long_text_is_heard_in_larger_pieces_so_that_writing_stays_quick() -> None:
    heard, decoded = list[str](), 0

    def decode(ids: Sequence[int]) -> str:
        nonlocal decoded
        decoded += len(ids)
        return "x" * len(ids)

    streamed = StreamedText(decode, [], heard.append, eos=-1)
    for unit in range(20_000):
        streamed.add(0, unit)
    streamed.close("x" * 20_000)
    assert heard[:199] == ["x"] * 199
    assert "".join(heard) == "x" * 20_000
    assert decoded < 250 * 20_000


@EVERY_CODER
@pytest.mark.parametrize(
    "prompt", ["Zürich ζ", "the man ", "THE\n  the", "\u00a0the", "字 ", " ", "", "e\u0301", "a man\nthe dog"]
)
def test_a_prompt_is_written_as_it_was_given(tokenizer: Callable[[], Tokenizer], prompt: str) -> None:
    model, heard = counted(tokenizer()), list[str]()
    written = model.generate(prompt, seed=2, length=9, on_text=heard.append)
    assert written.text.startswith(prompt) and written.text == "".join(heard)
    assert "  " not in written.text[len(prompt) - 1 :] or tokenizer is not word_tokenizer
    [streamed] = model.generate_stream([prompt], seed=2, length=9)
    assert streamed.text.startswith(prompt)


@pytest.mark.parametrize("prompt", ["<s> the man", "the man </s>", "<bos>\tthe man <eos>"])
def test_special_tokens_of_a_prompt_are_printed_but_not_read(prompt: str) -> None:
    model = counted(word_tokenizer())
    plain = model.generate("the man", seed=2, length=9)
    assert model.generate(prompt, seed=2, length=9) == replace(plain, text=prompt + plain.text.removeprefix("the man"))
    [streamed] = model.generate_stream([prompt], seed=2, length=9)
    assert streamed.unknown == plain.unknown and streamed.text.startswith(prompt)


@pytest.mark.parametrize("language", ["en", "fr"])
def test_a_prompt_stays_where_what_follows_moves_its_spaces(language: str) -> None:
    lines = ['He said: "No!" ... and $5 ( a ) "b" c.', "He's l'ami."]
    tokenizer = WordTokenizer.learn(lines, size=50, least=1, lowercase=False, segmentation="moses", language=language)
    for prompt in ('He said: "', "and $", "He '", "l'", '" ( "', "He's ("):
        found = recurrent(tokenizer).generate(prompt, length=6, seed=1)
        assert found.text.startswith(prompt)
        assert found.text.removeprefix(prompt).strip()


@EVERY_MODEL
def test_a_text_goes_on_for_a_length_past_line_ends_or_for_lines(make: Make) -> None:
    model, heard = make(word_tokenizer()), list[str]()
    page = model.generate("the man", length=60, seed=1, on_text=heard.append)
    ids = model._encode(page.text)[2:]
    assert len(ids) + page.finished == 60 and "\n" in page.text
    assert "".join(heard) == page.text
    for lines in (1, 2, 5):
        found = model.generate("the man", lines=lines, seed=1)
        assert found.finished and found.text.count("\n") == lines - 1
        assert page.text.startswith(found.text) or len(model._encode(found.text)) > 60
    assert model.generate("the man", lines=5, length=3, seed=1).text.count("\n") <= 3
    assert model.generate("the man", length=9, beam=3).text.count("\n") == 0
    with pytest.raises(ConfigError, match="sample them, or take the most probable"):
        model.generate("the man", lines=2, beam=3)
    for options in ({"lines": 0}, {"length": 0}):
        with pytest.raises(ConfigError, match="at least 1 token and 1 line"):
            model.generate("the man", **options)


def test_tokens_of_a_prompt_that_the_model_does_not_know_are_counted() -> None:
    model = counted(word_tokenizer())
    assert [model.generate(prompt, length=1).unknown for prompt in ("the zebra", "the man", "")] == [1, 0, 0]


def test_options_of_drawing_are_refused_before_the_prompt_is_shown() -> None:
    model, heard = recurrent(character_tokenizer()), list[str]()
    for options in ({"top_p": 0.0}, {"temperature": 0.0}, {"top_k": -1}, {"seed": -1}):
        with pytest.raises(ConfigError, match="Sampling needs"):
            model.generate("the", length=3, on_text=heard.append, **options)  # type: ignore[arg-type]
    assert not heard


def test_the_seed_decides_a_text_whose_score_is_that_of_its_evaluation(
    untrained_language_model: LanguageModelPredictor,
) -> None:
    model = untrained_language_model
    first, again, other = (model.generate("the", seed=seed) for seed in (1, 1, 2))
    assert first == again != other
    found = (model.generate("the", seed=seed) for seed in range(100))
    line = next(one for one in found if one.finished and "\n" not in one.text)
    assert model.evaluate([line.text]).nats == pytest.approx(-line.score, rel=1e-5)
