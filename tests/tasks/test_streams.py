"""What all streams of all predictors share, over small untrained models."""

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from anaphora.data.ragged import Ragged
from anaphora.errors import CancelledError, ConfigError, DataError, DeadlineError
from anaphora.evaluation.adaptation import Dynamic
from anaphora.formats.nbest import FORMATS
from anaphora.models.alignment import aligner as models
from anaphora.prediction.limits import Limits
from anaphora.prediction.options import SearchOptions
from anaphora.tasks.alignment.predictor import AlignmentPredictor
from anaphora.tasks.language_model.predictor import LanguageModelPredictor
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.text.words import WordTokenizer

from .conftest import WORDS

Stream = Callable[..., Iterator[Any]]


@pytest.fixture(scope="module")
def streams(predictor: TranslationPredictor, model: LanguageModelPredictor) -> dict[str, Stream]:
    """Every stream over short lines, of which each verb makes what it takes."""
    tokenizer = WordTokenizer(list(WORDS), lowercase=False, segmentation="whitespace", language="en")
    aligner = models.Aligner(models.AlignerModelConfig(), tokenizer.symbols, tokenizer.symbols)
    rows = Ragged.of([tokenizer.encode("a man walks"), tokenizer.encode("the dog")])
    aligner.fit(rows, rows)
    links = AlignmentPredictor(aligner, tokenizer, tokenizer)

    def pairs(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
        return ((line, line) for line in lines)

    def entries(lines: Iterable[str]) -> Iterator[str]:
        return (f"0 ||| {line} ||| tm= -1 ||| -1" for line in lines)

    def listed(lines: Iterable[str], **options: Any) -> Iterator[Any]:
        return model.rescore_stream(entries(lines), FORMATS["moses"], where="list", **options)

    return {
        "translate": lambda lines, **options: predictor.stream(lines, SearchOptions(beam=1), **options),
        "score pairs": lambda lines, **options: predictor.score_stream(pairs(lines), **options),
        "align": lambda lines, **options: predictor.align_stream(pairs(lines), **options),
        "align by an aligner": lambda lines, **options: links.align_stream(pairs(lines), **options),
        "score": model.score_stream,
        "rescore": listed,
        "generate": lambda lines, **options: model.generate_stream(lines, length=3, **options),
    }


NAMES = ["translate", "score pairs", "align", "align by an aligner", "score", "rescore", "generate"]
EVERY_STREAM = pytest.mark.parametrize("name", NAMES)


@EVERY_STREAM
def test_a_line_is_answered_as_it_is_alone_whatever_window_it_comes_in(streams: dict[str, Stream], name: str) -> None:
    lines = ["the man walks", "", "a dog", "the big red house in a tree"]
    together = list(streams[name](iter(lines)))
    assert len(together) == len(lines)
    if name != "generate":  # the draws of a line depend on its number
        assert together == [alone for line in lines for alone in streams[name]([line])]


@EVERY_STREAM
def test_a_client_that_waits_for_each_answer_gets_it(streams: dict[str, Stream], name: str) -> None:
    lines, answered = ["the man walks", "a dog", "the tree"], threading.Semaphore(0)

    def client() -> Iterator[str]:
        for line in lines:
            yield line
            assert answered.acquire(timeout=30)

    found = []
    for one in streams[name](client()):
        found.append(one)
        answered.release()
    assert found == list(streams[name](iter(lines)))


@EVERY_STREAM
def test_a_deadline_that_has_passed_stops_a_stream_at_its_first_line(streams: dict[str, Stream], name: str) -> None:
    with pytest.raises(DeadlineError, match="at line 1: allow more time") as raised:
        list(streams[name](["a dog"], limits=Limits(deadline=0)))
    assert raised.value.line == 1


@pytest.mark.parametrize("name", [name for name in NAMES if name != "align by an aligner"])
def test_a_stream_is_cancelled_in_the_middle_of_a_window(streams: dict[str, Stream], name: str) -> None:
    """Between steps or batches: it is asked more often than once a line is read."""
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked > 8  # once a line as it is read

    with pytest.raises(CancelledError, match="at line 1"):
        list(streams[name](["the man walks"] * 8, limits=Limits(cancelled=cancelled)))
    assert asked == 9


@EVERY_STREAM
def test_a_line_that_is_no_text_is_refused_after_those_before_it(streams: dict[str, Stream], name: str) -> None:
    if name == "rescore":
        pytest.skip("the lines of a list are written by the test")
    lines: list[Any] = ["a", "the dog", None, "a"]
    found: list[Any] = []
    with pytest.raises(TypeError, match="number 3 of them is of type NoneType"):
        found.extend(streams[name](lines))
    assert found == list(streams[name](lines[:2]))


def test_the_same_prompt_is_continued_by_draws_of_its_number(model: LanguageModelPredictor) -> None:
    prompts = ["the", "the", "a man", "", "the"]
    found = [one.text for one in model.generate_stream(prompts, length=20, seed=3)]
    assert found[0] == model.generate("the", length=20, seed=3, lines=1).text
    assert len({found[0], found[1], found[4]}) == 3
    assert all(text.startswith(prompt) for text, prompt in zip(found, prompts, strict=True))
    assert found == [one.text for one in model.generate_stream(iter(prompts), length=20, seed=3)]
    for beam in (1, 3):
        together = list(model.generate_stream(prompts, length=9, beam=beam))
        assert together == [model.generate(prompt, length=9, beam=beam, lines=1) for prompt in prompts]


def test_lines_of_a_list_are_refused_by_their_number_after_those_before_them(model: LanguageModelPredictor) -> None:
    good, moses = "0 ||| a man ||| tm= -1 ||| -1", FORMATS["moses"]
    for line, error, said in (
        ("a man", DataError, "list:3 should read NUMBER"),
        ("0 ||| a ||| LM0= -1 ||| -1", ConfigError, "list:3 should have no feature LM0 yet"),
        (f"0 ||| {'a' * 70_000} ||| tm= 1 ||| -1", DataError, "Line 3 should have at most 65,536"),
    ):
        found: list[str] = []
        with pytest.raises(error, match=said):
            for one, score in model.rescore_stream([good, good, line, good], moses, where="list"):
                found.append(one)
                assert f"LM0= {score.nats:.6f}" in one
        assert len(found) == 2
    with pytest.raises(ConfigError, match="name of a feature"):
        model.rescore_stream([good], moses, feature="a b")


def test_running_text_is_scored_under_limits_too(model: LanguageModelPredictor) -> None:
    with pytest.raises(DeadlineError, match="line 1"):
        list(model.score_stream(["a"], Dynamic(learning_rate=0.1), limits=Limits(deadline=0)))
