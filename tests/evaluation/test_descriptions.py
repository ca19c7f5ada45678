"""CIDEr-D: values computed by hand, and what must hold of every text."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.evaluation.descriptions import cider_d, description_scores

texts = st.lists(st.sampled_from("abcd"), max_size=6)
images = st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), min_size=1, max_size=5)


def scored(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
    return cider_d([text.split() for text in outputs], [[text.split() for text in of_one] for of_one in references])


def test_a_word_that_every_image_has_counts_nothing() -> None:
    # of two images: log 2 for a word of one, 0 for "a"; only orders 1 and 2 have n-grams
    assert scored(["a cat", "a"], [["a cat"], ["a dog"]]) == pytest.approx([10 * (1 + 1) / 4, 0])


def test_orders_lengths_and_references_by_hand() -> None:
    # every n-gram weighs L = log 2. Order 1: "the red cat" shares two of three words with "the red dog"; order 2: one
    # of two; order 3: none. The other reference has one bigram less and shares one word of two: 1 / (sqrt 3 sqrt 2).
    found = scored(["the red cat", "x"], [["the red dog", "red bird"], ["x"]])
    first = (2 / 3 + 1 / 2) / 4
    second = 1 / math.sqrt(6) / 4 * math.exp(-1 / 72)
    assert found == pytest.approx([10 * (first + second) / 2, 10 / 4])


def test_a_repeated_word_is_clipped() -> None:
    # "cat cat": weights 2L against L: min(2L, L) L / (2L L) = 1/2, and one bigram more
    assert scored(["cat cat", "x"], [["cat"], ["x"]])[0] == pytest.approx(10 / 2 / 4 * math.exp(-1 / 72))


@given(images)
def test_scores_are_from_0_to_10_and_do_not_depend_on_the_order(rows: list[tuple[list[str], list[list[str]]]]) -> None:
    outputs, references = [output for output, _ in rows], [of_one for _, of_one in rows]
    found = cider_d(outputs, references)
    assert all(0 <= value <= 10 + 1e-9 for value in found)
    assert cider_d(outputs[::-1], [of_one[::-1] for of_one in references[::-1]]) == pytest.approx(found[::-1])


def test_case_and_punctuation_of_descriptions_do_not_count() -> None:
    references = [["A dog runs on grass."], ["two cats sleep there"]]
    plain = description_scores(["a dog runs on grass", "two cats sleep there"], references, language="en")
    assert plain.cider == pytest.approx(10)
    other = description_scores(["A DOG runs, on grass!", "Two cats sleep there."], references, language="en")
    assert other.cider == pytest.approx(10) and other.json()["cider_d"] == other.cider
