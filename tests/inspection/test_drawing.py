"""Pictures: text stays text, what is shown is there, and nothing depends on colour alone."""

import re
from html import escape
from pathlib import Path
from typing import Any

import pytest

from anaphora.inspection import drawing
from anaphora.inspection.attention import alignments
from anaphora.inspection.attribution import attribution, token_attribution
from anaphora.inspection.drawing import canvas
from anaphora.inspection.drawing.canvas import COLOURS, DASHES
from anaphora.inspection.gates import followers, gates, saturation
from anaphora.inspection.gradients import gradients
from anaphora.inspection.remedies import Remedies, Remedy
from anaphora.inspection.subject import Subject

SHOWN: dict[str, tuple[Any, list[str], list[str]]] = {
    "attention": (lambda t, m: alignments([t, t], ["adf"], ["fda"])[0], [""], ["a", "d", "f", "</s>", "attention"]),
    "gates": (lambda t, m: gates(m, "line"), [""], ["cell state c", "layer 1, h, cell"]),
    "saturation": (lambda t, m: saturation(m, ["line", "book"]), [""], ["fraction of steps above 0.9"]),
    "cells": (lambda t, m: followers(m, 'a "line" (of)\nbook'), [""], ["position", "quote", "bracket"]),
    "gradients": (
        lambda t, m: gradients(m, "line"),
        ["-reach", "-terms", "-items"],
        ["layer 2, h (lstm)", "recurrent layers"],
    ),
    "gradients of two": (
        lambda t, m: [gradients(m, "line"), gradients(m, "book")],
        ["-reach"],
        ["|dh_T / dh_T-k|, ", "|dc_T / dc_T-k|, ", "k, steps before the last"],
    ),
    "remedies": (
        lambda t, m: Remedies(4, 3, (Remedy("simple unit", 0.2, 1e-5, 1e-2), Remedy("LSTM", 0.9, 1e-3, 2.0))),
        [""],
        ["simple unit", "before training", "0.001"],
    ),
    "attributed": (lambda t, m: attribution(m, "ab"), [""], ["gradient x input", "each token read (across)"]),
    "token": (lambda t, m: token_attribution(m, "ab", token=1, instead="l", steps=1), [""], ["inputs deleted"]),
}
"""What is on no page of a report."""


@pytest.mark.matrix
@pytest.mark.parametrize("name", SHOWN)
def test_every_result_is_drawn_with_real_text(name: str, translator: Subject, language_model: Subject) -> None:
    make, endings, words = SHOWN[name]
    figures = drawing.figures_of(make(translator, language_model))
    assert list(figures) == endings
    text = "".join(map(canvas.svg, figures.values()))
    shown = [one.strip() for one in re.findall(r"<text[^>]*>([^<]*)</text>", text)]
    for word in map(escape, words):
        assert any(word in one for one in shown), (word, shown[:40])
    assert "mathdefault" not in text


def test_lines_differ_in_their_dashes_too() -> None:
    assert len(set(COLOURS)) == len(COLOURS) == len(DASHES) == len(set(map(str, DASHES)))


@pytest.mark.parametrize(
    ("text", "font", "drawn"),
    [
        ("\U00010380", "Noto Sans Ugaritic", "\U00010380"),
        ("\U00010000", "Noto Sans Linear B", "\U00010000"),
        ("\U0001f469", "Noto Emoji", "\U0001f469"),
        ("\U0001fbb0", "Noto Sans Symbols 2", "\U0001fbb0"),
        ("a\tb\x07c\u2028d", "", "a b c d"),
    ],
)
def test_a_missing_font_is_named_and_a_control_character_drawn_as_a_space(
    tmp_path: Path, text: str, font: str, drawn: str
) -> None:
    def figure() -> Any:
        made = canvas.figure(1, 1)
        made.text(0, 0, text)
        return made

    notes = canvas.draw([tmp_path / "picture.png", tmp_path / "picture.svg"], figure)
    assert notes == [f"The picture lacks letters that no installed font has: install {one}." for one in [font] if one]
    assert drawn in (tmp_path / "picture.svg").read_text(encoding="utf-8")
