"""Pictures: text stays text, what is shown is there, and nothing depends on colour alone."""

import re
from pathlib import Path
from typing import Any

import pytest

from anaphora.inspection import drawing
from anaphora.inspection.attention import alignments
from anaphora.inspection.curves import curves
from anaphora.inspection.drawing import canvas
from anaphora.inspection.drawing.canvas import COLOURS, DASHES
from anaphora.inspection.embeddings import sentence_projection, word_neighbours
from anaphora.inspection.gates import followers, gates, saturation
from anaphora.inspection.gradients import gradients
from anaphora.inspection.length import by_lengths
from anaphora.inspection.subject import Subject
from anaphora.inspection.tree import tree

SHOWN: dict[str, tuple[Any, list[str], list[str]]] = {
    "attention": (lambda t, m: alignments([t, t], ["adf"], ["fda"])[0], [""], ["a", "d", "f", "</s>", "attention"]),
    "gates": (lambda t, m: gates(m, "line"), [""], ["gate i", "gate f", "memory c", "line", "recurrence layer0"]),
    "saturation": (lambda t, m: saturation(m, ["line", "book"]), [""], ["fraction of steps above 0.9"]),
    "cells": (lambda t, m: followers(m, 'a "line" (of)\nbook'), [""], ["position", "quote", "bracket"]),
    "gradients": (lambda t, m: gradients(m, "line"), ["-reach", "-terms", "-items"], ["recurrence"]),
    "beam": (lambda t, m: tree(t, "adf", 3), [""], ["mass kept", "thick: result"]),
    "length": (lambda t, m: by_lengths([t], ["adf", "beg"], ["fda", "geb"]), [""], ["BLEU", "words of the source"]),
    "embeddings": (lambda t, m: word_neighbours(t, ["a"], 3), [""], ["first component", "a (source)"]),
    "sentences": (lambda t, m: sentence_projection(t, ["adf", "beg", "cdh"]), [""], ["adf", "beg", "cdh"]),
    "curves": (lambda t, m: curves([t.trained.path, m.trained.path]), [""], ["training loss", "validation loss"]),
}


@pytest.mark.matrix
@pytest.mark.parametrize("name", SHOWN)
def test_every_result_is_drawn_with_real_text(
    name: str, translator: Subject, language_model: Subject, tmp_path: Path
) -> None:
    make, endings, words = SHOWN[name]
    result = make(translator, language_model)
    files, notes = drawing.save(tmp_path / "new", name, result)
    expected = [f"{name}{ending}.{form}" for ending in endings for form in ("png", "svg")]
    assert [file.name for file in files] == expected and notes == []
    text = "".join(file.read_text() for file in files if file.suffix == ".svg")
    shown = [one.strip() for one in re.findall(r"<text[^>]*>([^<]*)</text>", text)]
    for word in words:
        escaped = word.replace("<", "&lt;").replace(">", "&gt;")
        assert any(escaped in one for one in shown), (word, shown[:40])
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
