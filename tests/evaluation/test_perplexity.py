import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import DataError
from anaphora.evaluation.perplexity import Prediction, TextSize, perplexity, text_size


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_the_perplexity_of_even_guessing_is_the_number_of_choices(choices: int, tokens: int) -> None:
    assert perplexity(tokens * math.log(choices), tokens) == pytest.approx(choices)


def test_a_hopeless_model_has_infinite_perplexity() -> None:
    assert perplexity(1e6, 1) == math.inf


def test_an_empty_text_has_no_perplexity() -> None:
    with pytest.raises(DataError, match="at least one prediction"):
        perplexity(0.0, 0)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"))))
def test_the_size_of_a_text_is_that_of_its_file(lines: list[str]) -> None:
    file = "".join(line + "\n" for line in lines)
    assert text_size(lines) == (len(file), len(file.encode()))


def test_one_bit_a_character_is_half_a_bit_a_byte_of_two_byte_letters() -> None:
    prediction = Prediction(
        nats=10 * math.log(2),
        tokens=5,
        unknown=1,
        size=TextSize(characters=10, bytes=20),
        unknown_nats=6 * math.log(2),
        sentence_nats=15 * math.log(2),
        carried=True,
        adaptation="",
    )
    assert prediction.perplexity == pytest.approx(4)
    assert prediction.known_perplexity == pytest.approx(2)
    assert prediction.sentence_perplexity == pytest.approx(8)
    assert prediction.bits_per_character == pytest.approx(1)
    assert prediction.bits_per_byte == pytest.approx(0.5)
    assert json.loads(json.dumps(prediction.json()))["bits_per_byte"] == pytest.approx(0.5)
    assert "one pass      perplexity 4.000 of 5 predictions; 2.000 without 1 unknown" in str(prediction)
    assert "line by line  perplexity 8.000" in str(prediction)
    alone = replace(prediction, carried=False, adaptation="as it is")
    assert str(alone).startswith("line by line  perplexity 4.000 of 5") and str(alone).endswith("; as it is")
