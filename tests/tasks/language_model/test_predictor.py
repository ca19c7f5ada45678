"""Language models: scores by the names and meanings of KenLM, one suite for every kind, and texts that they write."""

import copy
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from anaphora.errors import ConfigError, DataError
from anaphora.evaluation.adaptation import Dynamic
from anaphora.evaluation.perplexity import TextSize
from anaphora.events import Event, Progress
from anaphora.models.language_model import LanguageModel
from anaphora.models.ngram.model import NgramConfig, NgramModel, NgramModelConfig
from anaphora.prediction.scores import LineScore
from anaphora.tasks.language_model.generation import StreamedText
from anaphora.tasks.language_model.predictor import LanguageModelPredictor
from anaphora.tasks.language_model.scores import State
from anaphora.text.bytes import ByteTokenizer
from anaphora.text.characters import CharacterTokenizer
from anaphora.text.subwords import SubwordTokenizer
from anaphora.text.tokenizer import Tokenizer
from anaphora.text.words import WordTokenizer
from tests.networks import build, made

WORDS = ["the", "man", "walks", "and", "a", "woman", "sees", "big", "red", "dogs", "in", "every", "house"]
LINES = [" ".join(random.Random(n).choices(WORDS, k=1 + n % 9)) for n in range(200)]
RECURRENT = {"embedding": {"size": 8}, "recurrence": {"cell": {"kind": "gru"}, "layers": 2, "size": 16}}


@cache
def word_tokenizer() -> Tokenizer:
    return WordTokenizer.learn(LINES, size=50, least=1, lowercase=False, segmentation="whitespace", language="en")


@cache
def character_tokenizer() -> Tokenizer:
    return CharacterTokenizer.learn(LINES, lowercase=False, least=1)


@cache
def subword_tokenizer() -> Tokenizer:
    return SubwordTokenizer.learn(LINES, size=300, lowercase=False, byte_fallback=True)


@cache
def counted(tokenizer: Tokenizer, order: int = 3) -> LanguageModelPredictor:
    eos = tokenizer.symbols.eos
    ids = [eos] + [unit for line in LINES for unit in (*tokenizer.encode(line), eos)]
    model = NgramModel(NgramModelConfig(ngram=NgramConfig(order=order)), tokenizer.symbols)
    model.fit(np.array(ids), lambda order: None)
    return LanguageModelPredictor(model, tokenizer)


@cache
def recurrent(tokenizer: Tokenizer) -> LanguageModelPredictor:
    return LanguageModelPredictor(made(LanguageModel, "language-model", RECURRENT, tokenizer.symbols), tokenizer)


@cache
def mixed(tokenizer: Tokenizer) -> LanguageModelPredictor:
    """Counts, a network, and a cache of the text."""
    members = [{"model": "ngram", "ngram": {"order": 3}}, {"model": "recurrent"} | RECURRENT]
    tables = {"interpolation": {"runs": ["a", "b"], "members": members, "cache": {"kind": "counts", "tokens": 20}}}
    model = build("language-model", {"model": "interpolation"} | tables, {"text": tokenizer.symbols}, "test.toml")
    model.members[0], model.members[1] = counted(tokenizer)._model, recurrent(tokenizer)._model
    return LanguageModelPredictor(model.eval(), tokenizer)


Make = Callable[[Tokenizer], LanguageModelPredictor]
EVERY_PAIR = pytest.mark.parametrize(
    ("make", "tokenizer"), [(counted, subword_tokenizer), (recurrent, character_tokenizer), (mixed, word_tokenizer)]
)
"""Each kind of model with some kind of tokens, and each of these with some model."""
EVERY_MODEL = pytest.mark.parametrize("make", [counted, recurrent, mixed], ids=["ngram", "recurrent", "mixture"])
SENTENCES = ["the man walks", "a", "", "every red dogs sees a zebra", "in in in in in in in in in"]


@EVERY_PAIR
def test_a_score_is_the_sum_over_words_and_over_chained_states(make: Make, tokenizer: Callable[[], Tokenizer]) -> None:
    model = make(tokenizer())
    for sentence in SENTENCES:
        words = sentence.split()
        every = list(model.full_scores(sentence))
        assert len(every) == len(words) + 1
        assert model.score(sentence) == pytest.approx(sum(word.log_prob for word in every), abs=1e-9)
        state, after, total = model.State(), model.State(), 0.0
        model.BeginSentenceWrite(state)
        for word, expected in zip([*words, "</s>"], every, strict=True):
            found = model.BaseFullScore(state, word, after)
            assert found == pytest.approx(expected, abs=1e-9)
            assert model.BaseScore(state, word, model.State()) == found.log_prob
            total += found.log_prob
            state, after = after, state
        assert total == pytest.approx(model.score(sentence), abs=1e-9)
        assert model.perplexity(sentence) == pytest.approx(10 ** (-total / (len(words) + 1)))
        assert model.score(sentence, eos=False) == pytest.approx(total - every[-1].log_prob, abs=1e-9)


@cache
def moses_tokenizer() -> Tokenizer:
    return WordTokenizer.learn(LINES, size=50, least=1, lowercase=False, segmentation="moses", language="en")


@cache
def byte_tokenizer() -> Tokenizer:
    return ByteTokenizer(lowercase=False)


@pytest.mark.parametrize(
    "tokenizer", [word_tokenizer, moses_tokenizer, subword_tokenizer, character_tokenizer, byte_tokenizer]
)
def test_words_are_those_of_an_evaluation_and_their_scores_sum_to_the_line(tokenizer: Callable[[], Tokenizer]) -> None:
    model = recurrent(tokenizer())
    spaced = ["the\tman walks", "the   man", " the man ", "a big\t\t", "red\u00a0dogs in", "", " \t ", "\u3000 a"]
    for line in [*spaced, 'the " big " man', "the man walks.", "a , b", "«the man»"]:
        full, [scored] = list(model.full_scores(line)), model.score_lines([line])
        assert len(full) == model.evaluate([line]).size.words == len(line.encode().split()) + 1
        assert sum(word.log_prob for word in full) == pytest.approx(scored.log10, abs=1e-5)
    found = model.evaluate(SENTENCES)
    assert found.size.words == sum(len(line.split()) + 1 for line in SENTENCES)
    assert found.word_perplexity == pytest.approx(math.exp(found.nats / found.size.words))
    assert found.tokens_are_words is (tokenizer in (word_tokenizer, moses_tokenizer))


def test_white_space_is_scored_with_what_comes_after_it() -> None:
    model = recurrent(character_tokenizer())
    spaced, plain = (list(model.full_scores(line)) for line in ("the man ", "the man"))
    assert spaced[:2] == plain[:2] and spaced[2] != plain[2]
    assert model.score("the man ", eos=False) == model.score("the man", eos=False)


@EVERY_PAIR
def test_lines_are_scored_alike_one_by_one_and_all_together(make: Make, tokenizer: Callable[[], Tokenizer]) -> None:
    model, heard = make(tokenizer()), list[Event]()
    together = model.score_lines([*SENTENCES, *LINES], report=heard.append)
    assert heard[-1] == Progress("score", len(SENTENCES) + len(LINES), len(SENTENCES) + len(LINES), "lines")
    for sentence, found in zip(SENTENCES, together, strict=False):
        assert model.score_lines([sentence]) == [found]
        assert found.log10 == pytest.approx(model.score(sentence), abs=1e-5)
        assert found.nats == pytest.approx(found.log10 * math.log(10))


@EVERY_MODEL
def test_a_line_too_long_to_be_scored_by_itself_is_refused_after_the_lines_before_it(make: Make) -> None:
    model, found = make(word_tokenizer()), list[LineScore]()
    with pytest.raises(DataError, match=r"Line 2 should have at most 65,536 tokens, but has 65,537: split it, or"):
        found.extend(model.score_stream(["the man", "man " * 65_536, "a"]))
    assert found == model.score_lines(["the man"])


@EVERY_MODEL
def test_an_unknown_word_is_marked_and_not_in_the_model(make: Make) -> None:
    model = make(word_tokenizer())
    assert "man" in model and "zebra" not in model and "" not in model
    assert "</s>" in model and "the man" not in model
    assert [word.oov for word in model.full_scores("the zebra walks")] == [False, True, False, False]
    assert [line.unknown for line in model.score_lines(["the zebra", "the man"])] == [1, 0]
    assert [model.generate(prompt, length=1).unknown for prompt in ("the zebra", "the man", "")] == [1, 0, 0]


def test_a_count_model_says_how_long_an_ngram_it_found() -> None:
    model = counted(word_tokenizer(), order=3)
    assert model.order == 3
    seen = LINES[8].split()
    assert [word.ngram_length for word in model.full_scores(LINES[8])] == [2, *[3] * len(seen)]
    assert next(model.full_scores("zebra", bos=False)).ngram_length == 1
    assert model.path == b""  # it was loaded from nowhere
    remembering = recurrent(word_tokenizer())
    assert remembering.order == 0
    assert [word.ngram_length for word in remembering.full_scores("the man walks")] == [2, 3, 4, 5]


def test_without_a_begin_a_count_model_knows_nothing_of_what_came_before() -> None:
    model = counted(word_tokenizer())
    total = math.fsum(10 ** next(model.full_scores(word, bos=False)).log_prob for word in [*WORDS, "zebra"])
    state = model.State()
    model.NullContextWrite(state)
    total += 10 ** model.BaseScore(state, "</s>", model.State())
    assert total == pytest.approx(1, abs=1e-6)


@EVERY_MODEL
def test_states_that_a_model_cannot_tell_apart_are_equal(make: Make) -> None:
    model = make(word_tokenizer())

    def behind(sentence: str) -> State:
        state = model.State()
        model.BeginSentenceWrite(state)
        for word in sentence.split():
            model.BaseScore(state, word, state)
        return state

    one, again, other = behind("the man walks"), behind("the man walks"), behind("the man sees")
    assert one == again and hash(one) == hash(again) and one != other
    assert copy.copy(one) == one == copy.deepcopy(one)
    assert model.State() == model.State() != one
    with pytest.raises(ValueError, match="BeginSentenceWrite"):
        model.BaseScore(model.State(), "man", model.State())
    # two words before count to a model of order 3, all words to a recurrent one
    assert (behind("a big man walks") == behind("red dogs man walks")) is (model.order == 3)


def test_what_is_no_text_is_neither_scored_nor_gone_on_from() -> None:
    model: Any = recurrent(word_tokenizer())
    for call in (model.score, model.perplexity, model.generate):
        with pytest.raises(TypeError, match="A text was expected, but this is of type list"):
            call(["the man"])
    for call in (model.score_lines, model.evaluate):
        with pytest.raises(TypeError, match="put it into a list"):
            call("the man")


def test_bytes_are_the_text_that_they_spell() -> None:
    model = counted(character_tokenizer())
    text, state = "the na\u00efve man", model.State()
    assert model.score(text.encode()) == model.score(text)
    assert list(model.full_scores(text.encode())) == list(model.full_scores(text))
    assert model.perplexity(text.encode()) == model.perplexity(text)
    assert b"man" in model and "na\u00efve".encode() not in model and b"</s>" in model
    model.BeginSentenceWrite(state)
    for word in ("the", "</s>"):
        assert model.BaseScore(state, word.encode(), model.State()) == model.BaseScore(state, word, model.State())
    with pytest.raises(DataError, match=r"should be UTF-8, but byte 3 of this one is 0xFF .*: decode it"):
        model.score(b"a \xff")


@EVERY_MODEL
def test_without_unknown_words_bits_are_shared_among_what_the_known_ones_write(make: Make) -> None:
    found = make(word_tokenizer()).evaluate(["the ζέβρα", "the  man"])
    assert found.size == TextSize(len("the ζέβρα\nthe  man\n"), len("the ζέβρα\nthe  man\n".encode()), 6)
    assert found.known_size == TextSize(len("the\nthe  man\n"), len("the\nthe  man\n"), 5)


@EVERY_MODEL
def test_a_text_is_read_once_and_measured_in_one_pass_and_line_by_line(make: Make) -> None:
    model, lines, read = make(word_tokenizer()), [*SENTENCES, *LINES[:20]], list[str]()

    def stream() -> Iterator[str]:
        for line in lines:
            read.append(line)
            yield line

    each = model.score_lines(lines)
    found = model.evaluate(stream())
    assert read == lines and found == model.evaluate(lines)
    assert found.sentence_nats == pytest.approx(-sum(line.nats for line in each), rel=1e-5)
    assert found.tokens == sum(line.tokens for line in each)
    assert found.unknown == sum(line.unknown for line in each) == 1
    assert 0 < found.unknown_nats < found.nats
    with pytest.raises(DataError, match="there is no line"):
        model.evaluate([])
    assert model.evaluate([""]).tokens == 1
    first = model.evaluate(lines[:1])
    assert first.known.bits_per_character == first.bits_per_character
    assert first.nats == pytest.approx(first.sentence_nats, rel=1e-5) == pytest.approx(-each[0].nats, rel=1e-5)


def test_a_model_of_sentences_has_one_figure_and_no_text_to_adapt_to() -> None:
    tokenizer = word_tokenizer()
    network = made(LanguageModel, "language-model", RECURRENT | {"reads": "sentences"}, tokenizer.symbols)
    model = LanguageModelPredictor(network.eval(), tokenizer)
    found = model.evaluate(SENTENCES)
    assert not found.carried and found.sentence_nats == found.nats
    assert found.nats == pytest.approx(-sum(line.nats for line in model.score_lines(SENTENCES)), rel=1e-5)
    for call in (model.evaluate, model.adapt):
        with pytest.raises(ConfigError, match="a model of sentences begins every line from nothing"):
            call(SENTENCES, Dynamic())


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


@pytest.mark.parametrize("tokenizer", [word_tokenizer, subword_tokenizer, character_tokenizer])
@pytest.mark.parametrize(
    "prompt", ["Zürich ζ", "the man ", "THE\n  the", "\u00a0the", "字 ", " ", "", "e\u0301", "a man\nthe dog"]
)
def test_a_prompt_is_written_as_given_and_the_text_is_heard(tokenizer: Callable[[], Tokenizer], prompt: str) -> None:
    model = counted(tokenizer())
    for beam in (0, 1, 3):
        heard: list[str] = []
        written = model.generate(prompt, beam=beam, seed=2, length=9, on_text=heard.append)
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
    assert "".join(heard) == page.text and len(heard) > 2
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


def test_options_of_drawing_are_refused_before_the_prompt_is_shown() -> None:
    model, heard = recurrent(character_tokenizer()), list[str]()
    for options in ({"top_p": 0.0}, {"temperature": 0.0}, {"top_k": -1}, {"seed": -1}):
        with pytest.raises(ConfigError, match="Sampling needs"):
            model.generate("the", length=3, on_text=heard.append, **options)  # type: ignore[arg-type]
    assert not heard


def test_the_seed_decides_a_text_whose_score_is_that_of_its_evaluation(model: LanguageModelPredictor) -> None:
    first, again, other = (model.generate("the", seed=seed) for seed in (1, 1, 2))
    assert first == again != other
    found = (model.generate("the", seed=seed) for seed in range(100))
    line = next(one for one in found if one.finished and "\n" not in one.text)
    assert model.evaluate([line.text]).nats == pytest.approx(-line.score, rel=1e-5)
