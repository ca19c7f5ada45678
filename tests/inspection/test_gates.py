"""Gates are those that make the states; properties and correlations are right on texts that one can count."""

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from anaphora.errors import ConfigError, DataError
from anaphora.inspection.gates import BINS, PROPERTIES, WEAK, followers, gates, lacks_gates, saturation
from anaphora.inspection.subject import LONGEST, Layer, Subject


def test_the_gates_over_a_sentence_make_its_states(language_model: Subject) -> None:
    found = gates(language_model, "line 3")
    assert [unit.unit for unit in found.units] == ["recurrence layer0", "recurrence layer1"]
    for unit in found.units:
        values = {name: torch.tensor(rows) for name, rows in unit.values.items()}
        assert unit.steps == ("</s>", *"line", "▁", "3") and set(values) == set("ifgoch")
        before = torch.cat([torch.zeros(1, 5), values["c"][:-1]])
        assert torch.allclose(values["c"], values["f"] * before + values["i"] * values["g"], atol=1e-4)
        assert torch.allclose(values["h"], values["o"] * torch.tanh(values["c"]), atol=1e-4)


def test_a_translator_shows_encoder_and_decoder_over_a_given_or_its_own_translation(translator: Subject) -> None:
    found = gates(translator, "adf", "fda")
    assert [unit.steps for unit in found.units] == [("</s>", *"fda"), (*"adf", "</s>"), ("<s>", *"fda")]
    own = gates(translator, "adf")
    [output] = translator.predictor.translate(["adf"], beam=1, attention=True)
    assert own.units[-1].steps == ("<s>", *output.target_pieces[: len(output.target_pieces) - output.finished])


def test_saturation_counts_every_value_once(language_model: Subject) -> None:
    found = saturation(language_model, ["line 3", "book"])
    assert found.steps == 7 + 5 and len(found.gates) == 2 * 4
    for gate in found.gates:
        assert len(gate.histogram) == BINS and sum(gate.histogram) == 12 * 5
        assert len(gate.low) == len(gate.high) == 5
    f = torch.tensor([row for text in ("line 3", "book") for row in gates(language_model, text).units[0].values["f"]])
    [of_f] = [gate for gate in found.gates if gate.unit == "recurrence layer0" and gate.gate == "f"]
    assert of_f.high == pytest.approx((f > 0.9).float().mean(0).tolist())


def test_saturation_holds_no_more_for_a_longer_text(language_model: Subject) -> None:
    held = list[int]()

    def lines() -> Iterator[str]:
        for _ in range(6):
            gc.collect()
            held.append(sum(one.numel() for one in gc.get_objects() if type(one) is torch.Tensor))
            yield "line 3"

    saturation(language_model, lines())
    assert held[2] == held[-1]


def test_saturation_counts_more_values_than_a_float(language_model: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Layer, "gates", lambda layer, unit: {"f": torch.full((2_000_000, 5), 0.5)})
    found = saturation(language_model, ["a", "a"])
    assert [sum(gate.histogram) for gate in found.gates] == [20_000_000] * 2


def test_properties_are_what_one_counts() -> None:
    pieces = ("</s>", *'a"b(c[d])"', "</s>", "e", "f")
    assert {name: count(pieces) for name, count in PROPERTIES.items()} == {
        "position": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 1, 2],
        "quote": [0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0],
        "bracket": [0, 0, 0, 0, 1, 1, 2, 2, 1, 0, 0, 0, 0, 0],
        "line length": [10] * 11 + [2] * 3,
    }
    assert PROPERTIES["quote"](["“a", "b", "”", "c", '"', "</s>", "a"]) == [1, 1, 0, 0, 1, 0, 0]


def test_the_cells_that_follow_a_property_best_are_found_with_their_correlation(language_model: Subject) -> None:
    text = "\n".join(f'line {n} of "the (little) book"' for n in range(3))
    found = followers(language_model, text, best=3)
    pieces = language_model.example(text).reads["recurrence"]
    assert found.count == len(pieces) and {one.property for one in found.found} >= {"position", "quote", "bracket"}
    for name in ("position", "quote"):
        own = [abs(one.correlation) for one in found.found if one.property == name]
        assert len(own) == 3 and own == sorted(own, reverse=True)
    best = found.found[0]
    both = torch.tensor([best.values, PROPERTIES["position"](pieces)])
    assert best.correlation == pytest.approx(float(torch.corrcoef(both)[0, 1]), abs=1e-4)
    assert not [one for one in followers(language_model, "line").found if one.property == "bracket"]
    assert all(abs(one.correlation) >= WEAK for one in found.found)


def test_an_excerpt_is_where_its_property_varies(language_model: Subject) -> None:
    found = followers(language_model, "a" * 300 + '\n"b" c' + "d" * 300)
    assert set(found.properties) == {"position", "quote", "line length"}
    for excerpt in found.properties.values():
        assert len(excerpt.steps) == len(excerpt.values) == LONGEST and len(set(excerpt.values)) > 1
    quotes = found.properties["quote"]
    assert quotes.steps[quotes.values.index(1)] == '"' and "b" in quotes.steps


def test_what_cannot_be_shown_is_refused(language_model: Subject, make_language_model: Any) -> None:
    elman, counts = make_language_model("elman"), Subject.open(Path(__file__).parents[1] / "runs/kinds-2/counts")
    assert "no gates" in lacks_gates(elman) and followers(elman, "line 12 of").found
    for subject, given, said in (
        (elman, ["line"], "its cells have none"),
        (counts, ["line"], "cannot be looked into: it has no recurrent layers"),
        (language_model, ["a" * LONGEST], f"at most {LONGEST} are shown"),
        (language_model, ["line", "a target"], "leave it out"),
    ):
        with pytest.raises(ConfigError, match=said):
            gates(subject, *given)
    with pytest.raises(DataError, match="no lines"):
        saturation(language_model, [])
