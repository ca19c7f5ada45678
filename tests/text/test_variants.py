"""Typographic variants: a text typed with another apostrophe is the same text."""

from pathlib import Path

import pytest

from anaphora.errors import RunError
from anaphora.text.tokenization import Bpe, fit, load, save
from anaphora.text.variants import Variants

GUARANI = ["Che ha’e mbo’ehára", "mba’éichapa nde’", 'ko’ẽ "porã" – ha’e', "mba'e porã..."] * 30
SPANISH = ["soy maestro", "cómo estás", 'buen "día" - él', "algo bueno..."] * 30


@pytest.mark.parametrize("apostrophe", "'’ʼʹ′‘´＇")
def test_another_apostrophe_has_the_tokens_of_the_one_in_training(tmp_path: Path, apostrophe: str) -> None:
    config = Bpe(size=400, unify_variants=True)
    save(fit(config, {"source": lambda: iter(GUARANI), "target": lambda: iter(SPANISH)}), tmp_path)
    source = load(config, tmp_path)["source"]
    typed = f"Che ha{apostrophe}e mba{apostrophe}e"
    assert source.encode(typed) == source.encode("Che ha’e mba’e")
    assert source.decode(source.encode(typed)) == "Che ha’e mba’e"


def test_what_is_read_has_the_quotes_dashes_and_widths_of_the_training_text() -> None:
    variants = Variants.learn(['"a" – b-c … （(' * 3] * 30, written=False)
    assert variants.unify("“a” — b‑c... （Ａ!") == '"a" – b-c… （Ａ!'
    assert Variants.learn(["“a” „b“ A"] * 30, written=False).unify('"a" “b” Ａ') == "“a“ “b” A"


def test_what_is_written_keeps_all_but_the_apostrophe_within_words() -> None:
    text = "“Don't” – x = ‘a’ … ＡＢ"
    assert Variants.learn(["it's “so”"] * 30, written=True).unify(text) == text
    assert Variants.learn(["nothing"], written=True).unify(text) == text
    variants = Variants.learn(["l'homme et l'eau", "l’enfant"], written=True)
    assert variants.unify("l’homme, lʼeau ‘l'enfant’ x = 'a'") == "l'homme, l'eau ‘l'enfant’ x = 'a'"


def test_damaged_variants_are_refused(tmp_path: Path) -> None:
    config, sides = Bpe(size=400, unify_variants=True), {"text": lambda: iter(GUARANI)}
    save(fit(config, sides), tmp_path)
    index = tmp_path / "vocabulary.json"
    index.write_text(index.read_text("utf-8").replace('"apostrophe": "\\u2019"', '"apostrophe": 3'), "utf-8")
    with pytest.raises(RunError, match="variants of characters"):
        load(config, tmp_path)
