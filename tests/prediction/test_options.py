"""What can be asked of a search: conflicts are refused in one sentence, and scores keep everything that was asked."""

from typing import Any

import pytest

from anaphora.errors import ConfigError
from anaphora.prediction.adaptation import Adaptation
from anaphora.prediction.candidates import Candidates
from anaphora.prediction.glossary import Glossary
from anaphora.prediction.options import SearchOptions
from anaphora.search.ranking import LengthModel
from anaphora.search.sampling import Sampling

CONFLICTING: list[tuple[dict[str, Any], str]] = [
    ({"sampling": Sampling(), "beam": 5}, "leave out beam, or sampling"),
    ({"sampling": Sampling(), "length_penalty": 1.0}, "Samples are not ranked"),
    ({"sampling": Sampling(temperature=0.0)}, "finite temperature above 0"),
    ({"sampling": Sampling(top_p=1.5)}, "top-p above 0 and at most 1"),
    ({"per_token": True, "length_penalty": 1.0}, "leave out per_token, or length_penalty"),
    ({"diversity": 0.5}, "diversity belongs to groups, which is missing"),
    ({"beam": 5, "groups": 2}, "groups of equal size"),
    ({"minimum_risk": 1}, "choose among 2 to 1,000 hypotheses, but is to choose among 1:"),
    ({"coverage_penalty": -0.1}, "coverage_penalty should be at least 0"),
    ({"adaptation": Adaptation(lambda text: []), "confidence": True}, "calibrated for the model alone"),
    ({"adaptation": Adaptation(lambda text: [], weight=1.0)}, "below 1"),
    ({"adaptation": Adaptation(lambda text: [], temperature=0.0)}, "above 0"),
    ({"adaptation": Adaptation(lambda text: [], pairs=33)}, "1 to 32 pairs"),
    ({"known": True, "replace_unknown": {}}, "no unknown word is left to replace"),
]


@pytest.mark.parametrize(
    ("asked", "message"), CONFLICTING, ids=lambda one: ",".join(one) if isinstance(one, dict) else ""
)
def test_what_does_not_go_together_is_refused_in_one_sentence(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as refused:
        SearchOptions(**asked).resolve(5, 0.0)
    assert str(refused.value).count("\n") == 0 and str(refused.value).endswith(".")


def test_what_is_left_open_is_as_the_run_has_it() -> None:
    assert SearchOptions().resolve(7, 0.6)[:2] == (7, 0.6)
    assert SearchOptions(beam=3, length_penalty=0.0).resolve(7, 0.6)[:2] == (3, 0.0)
    # scores per token take no length penalty from the run, and samples no beam either
    assert SearchOptions(per_token=True).resolve(7, 0.6).ranking.length_penalty == 0
    assert SearchOptions(sampling=Sampling()).resolve(7, 0.6)[:2] == (None, None)


ASKED: dict[str, tuple[Any, str]] = {
    "per_token": (True, "scores per token"),
    "coverage_penalty": (0.2, "coverage penalty 0.2"),
    "min_length": (3, "minimum length 3"),
    "no_repeat_ngram": (3, "no 3-gram twice"),
    "groups": (5, "5 groups of diversity 0.5"),
    "sampling": (Sampling(0.7, 10, 0.9, 4), "sampled at temperature 0.7, top-k 10, top-p 0.9, seed 4"),
    "minimum_risk": (8, "minimum risk among 8"),
    "length_penalty": (0.6, "length penalty 0.6"),
    "length_model": (LengthModel(1.0, 0.5), "length model"),
    "beam": (8, "beam 8"),
    "candidates": (Candidates({}, 10, 2), "among 10 frequent words"),
    "known": (True, "of known words only"),
    "terms": (Glossary([]), "terms of"),
    "protect": (("urls",), "urls protected"),
    "adaptation": (Adaptation(lambda text: []), "adapted to 8 similar pairs"),
}


@pytest.mark.parametrize("name", ASKED)
def test_everything_that_changes_a_search_is_stored_with_its_scores_and_stays_resolved(name: str) -> None:
    value, words = ASKED[name]
    plain, asked = SearchOptions().resolve(5, 0.0), SearchOptions(**{name: value}).resolve(5, 0.0)
    assert words in asked.describe(9, 0, 0) and words not in plain.describe(9, 0, 0)
    assert asked.json(0, 0) != plain.json(0, 0) and asked.json(0, 0).keys() >= plain.json(0, 0).keys()
    assert asked.resolve(9, 2.0) == asked


def test_nothing_but_what_is_returned_is_missing_from_that_list() -> None:
    returned = {"alternatives", "attention", "confidence", "diversity", "max_tokens", "replace_unknown", "signals"}
    of_lines = {"suffixes"}  # which are translated, not evaluated
    assert ASKED.keys() | returned | of_lines == set(SearchOptions._fields)
