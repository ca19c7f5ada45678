import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import DataError
from anaphora.evaluation.perplexity import Prediction, TextSize, perplexity, size_of_line


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_the_perplexity_of_even_guessing_is_the_number_of_choices(choices: int, tokens: int) -> None:
    assert perplexity(tokens * math.log(choices), tokens) == pytest.approx(choices)
    assert perplexity(1e6, 1) == math.inf
    with pytest.raises(DataError, match="at least one prediction"):
        perplexity(0.0, 0)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"))))
def test_the_size_of_a_text_is_that_of_its_file(lines: list[str]) -> None:
    file = "".join(line + "\n" for line in lines)
    size = sum(map(size_of_line, lines), start=TextSize(0, 0, 0))
    assert size == TextSize(len(file), len(file.encode()), len(file.encode().split()) + len(lines))


def test_one_bit_a_character_is_half_a_bit_a_byte_of_two_byte_letters() -> None:
    bit, size, known_size = math.log(2), TextSize(10, 20, words=2), TextSize(8, 16, words=2)
    prediction = Prediction(10 * bit, 5, size, 1, known_size, 6 * bit, 15 * bit, carried=True, adaptation="")
    figures = {"perplexity": 4, "known_perplexity": 2, "sentence_perplexity": 8, "word_perplexity": 32}
    figures |= {"bits_per_character": 1, "bits_per_byte": 0.5, "known_bits_per_byte": 0.25}
    found = json.loads(json.dumps(prediction.json()))
    assert {name: found[name] for name in figures} == pytest.approx(figures)
    assert str(prediction).splitlines() == [
        "one pass         perplexity 4.000 of 5 predictions, 32.000 per word; 1.0000 bits per character, "
        "0.5000 bits per byte",
        "without unknown  perplexity 2.000 of 4 predictions, 4.000 per word; 0.5000 bits per character, "
        "0.2500 bits per byte",
        "line by line     perplexity 8.000",
    ]
    alone = replace(prediction, unknown=0, carried=False, adaptation="as it is")
    [line] = str(alone).splitlines()
    assert line.startswith("line by line     perplexity 4.000 of 5 predictions, 32.000 per word; ")
    assert line.endswith("; as it is")
    of_words = replace(alone, size=TextSize(10, 20, words=5))
    assert of_words.tokens_are_words and "per word" not in str(of_words) and not alone.tokens_are_words
