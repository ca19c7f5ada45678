"""Alignments are the predictor's own, under each way of decoding, by one model or several."""

from typing import Any

import numpy as np
import pytest

from anaphora.errors import ConfigError, DataError
from anaphora.inspection.attention import MOST, alignments, lacks_attention
from anaphora.inspection.subject import Subject


def test_the_alignment_of_its_own_output_is_that_of_the_predictor(translator: Subject) -> None:
    [[found]] = alignments([translator], ["adf"], beam=3)
    [output] = translator.predictor.translate(["adf"], beam=3, attention=True)
    assert (found.output, found.score) == (output.text, output.score)
    assert np.array(found.weights) == pytest.approx(output.weights)
    assert found.source_pieces == ("a", "d", "f", "</s>") and found.json()["weights"] == found.weights


def test_given_translations_are_forced_and_several_models_stand_side_by_side(
    translator: Subject, make_translator: Any
) -> None:
    other = make_translator("gru")
    rows = alignments([translator, other], ["adf", "beg"], ["fda", "geb"])
    assert [[one.run for one in row] for row in rows] == [[translator.name, other.name]] * 2
    [output] = other.predictor.score_pairs(["adf"], ["fda"], attention=True)
    found = rows[0][1]
    assert found.score == output.score and found.target_pieces == ("f", "d", "a", "</s>")
    assert [sum(row) for row in found.weights] == pytest.approx([1] * 4)


def test_local_windows_come_with_their_centres(make_translator: Any) -> None:
    for kind in "local-m", "local-p":
        subject = make_translator("gru", f'attention.window={{kind = "{kind}", radius = 1}}')
        [[found]] = alignments([subject], ["adf"], ["fda"])
        assert found.radius == 1 and all(0 < centre < 5 for centre in found.centres)
        assert kind == "local-p" or found.centres == (1, 2, 3, 4)
        for centre, row in zip(found.centres, found.weights, strict=True):
            assert all(weight == 0 for place, weight in enumerate(row, 1) if abs(place - centre) > 1.001)


def test_what_has_no_alignment_is_refused(translator: Subject, make_translator: Any, language_model: Subject) -> None:
    blind = make_translator("gru", "attention=none", "decoder.initial_state=project")
    assert "no attention" in lacks_attention(blind) and "from a source" in lacks_attention(language_model)
    for subject, sources, targets, error, said in (
        (blind, ["adf"], None, ConfigError, "has no attention"),
        (translator, ["a" * 125], ["a"], ConfigError, "126 tokens"),
        (translator, ["adf"] * 21, None, ConfigError, f"at most {MOST}"),
        (translator, ["adf"], [], DataError, "equally many"),
    ):
        with pytest.raises(error, match=said):
            alignments([subject], sources, targets)
