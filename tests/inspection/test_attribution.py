"""Attributions are derivatives: they agree with finite differences, and integrated ones sum to what they explain."""

from typing import Any

import pytest
import torch

from anaphora.errors import ConfigError
from anaphora.inspection.attribution import _Query, attribution, token_attribution
from anaphora.inspection.subject import Subject


def score(subject: Subject, text: str, until: int, factors: dict[int, float]) -> float:
    """ln p of the first output tokens with the vector of each input times a factor."""
    if not until:
        return 0.0
    asked = _Query(subject, text, None)
    table: list[Any] = []

    def scaled(module: Any, arguments: Any, vectors_TBE: torch.Tensor) -> torch.Tensor:
        start = sum(table)
        table.append(len(vectors_TBE))
        rows = [factors.get(start + place, 1.0) for place in range(len(vectors_TBE))]
        return vectors_TBE * torch.tensor(rows, dtype=torch.float64)[:, None, None]

    for module in dict.fromkeys(asked._model.modules()):
        if type(module).__name__ == "Embedding":
            module.register_forward_hook(scaled)
    with torch.no_grad():
        return -float(asked._model(asked._batch([asked.outputs[:until]]))[0].sum)


@pytest.mark.slow
def test_gradient_times_input_is_a_derivative_and_integrated_gradients_sum_to_what_they_explain(
    make_translator: Any, make_language_model: Any
) -> None:
    for subject, text in (
        (make_translator("lstm"), "adf"),
        (make_translator("gru"), "beh"),
        (make_language_model("gru", 2), "line 1"),
    ):
        found = attribution(subject, text)
        assert len(found.values) == len(found.outputs) and len(found.values[0]) == len(found.inputs)
        for token in (1, len(found.outputs)):
            for place in range(0, len(found.inputs), 2):
                sides = []
                for step in (1e-5, -1e-5):
                    whole, before = (score(subject, text, until, {place: 1 + step}) for until in (token, token - 1))
                    sides.append(whole - before)
                assert found.values[token - 1][place] == pytest.approx((sides[0] - sides[1]) / 2e-5, abs=1e-6)
        for token in (1, len(found.outputs)):
            integrated = token_attribution(subject, text, token=token, steps=40)
            assert abs(integrated.difference) < 1e-3 * max(1.0, abs(integrated.explained))
            most, least = integrated.most_first, integrated.least_first
            assert most[0] == least[0] and most[-1] == least[-1] == pytest.approx(most[0] - integrated.explained)
            coarse, fine = (token_attribution(subject, text, token=token, steps=steps) for steps in (2, 100))
            assert abs(fine.difference) < max(abs(integrated.difference), 1e-5) < abs(coarse.difference)


def test_a_contrast_is_the_difference_of_two_tokens(make_translator: Any) -> None:
    subject = make_translator("lstm")
    found = attribution(subject, "adf")
    other = next(piece for piece in ("a", "b") if piece != found.outputs[0])
    against = token_attribution(subject, "adf", token=1, instead=other, steps=8)
    same = token_attribution(subject, "adf", token=1, instead=found.outputs[0], steps=1)
    assert same.values == pytest.approx([0.0] * len(same.values), abs=1e-12) and same.explained == 0
    assert abs(against.difference) < 0.01 and against.instead == other
    with pytest.raises(ConfigError, match=r"has \d+ tokens, but token 99 was asked for"):
        token_attribution(subject, "adf", token=99)
    with pytest.raises(ConfigError, match="'xyz' is no token of the vocabulary"):
        token_attribution(subject, "adf", token=1, instead="xyz")
