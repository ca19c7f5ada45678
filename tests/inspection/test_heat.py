"""Heat maps over texts and grids: what is drawn, in which formats, and what is refused."""

import sys
import warnings
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
import torch
from matplotlib.image import imread

from anaphora.errors import ConfigError, MissingExtraError, ShapeError
from anaphora.inspection.drawing.canvas import FORMATS
from anaphora.inspection.drawing.heat import draw_attention, draw_grid_attention

SOURCE = ["▁The", "▁red", "▁car", "."]
TARGET = ["▁La", "▁voi", "ture", "▁rouge", "."]
WEIGHTS = np.eye(5, 4) * 0.6 + 0.1

WORDS = ["a", "red", "$dot", "</s>"]
GRIDS = np.random.default_rng(1).dirichlet(np.ones(6), 4).reshape(4, 2, 3)
IMAGE = np.full((20, 30, 3), 200, dtype=np.uint8)

BEGINNINGS = {"png": b"\x89PNG\r\n\x1a\n", "svg": b"<?xml", "pdf": b"%PDF-"}
SCRIPTS = [
    *("日本語", "한국어", "中文"),
    *("🙂", "👩‍👩‍👧", "🇫🇷"),
    *("العربية", "हिन्दी", "ไทย"),
    *("$\\frac{", "a_b^{", "<&>\"'"),
    *("\n", "\x00\x1b", "\ud800"),
    *("", " ", "x" * 500),
    *("\u0301", "\u200f", "\U0010ffff"),
]


@pytest.mark.parametrize("form", FORMATS)
def test_the_suffix_chooses_the_format_and_the_same_picture_is_the_same_bytes(tmp_path: Path, form: str) -> None:
    path = tmp_path / "a" / "new" / f"picture.{form}"
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # labels in any script give none
        shown = (SCRIPTS, ["Stück"], SCRIPTS[0]), (["piece"] * 70, ["a"], ""), (["a"], ["b"], ""), (SOURCE, TARGET, "A")
        for source, target, title in shown:
            weights = np.eye(len(target), len(source)) * 0.6 + 0.1
            assert draw_attention(path, source, target, weights, title) == path
            assert path.read_bytes().startswith(BEGINNINGS[form]) and list(path.parent.iterdir()) == [path]
    again = draw_attention(tmp_path / f"again.{form}", SOURCE, TARGET, WEIGHTS, "A")
    assert again.read_bytes() == path.read_bytes()


def test_labels_and_title_can_be_read_in_the_svg_and_pyplot_and_settings_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)  # an import of it fails
    before = matplotlib.rcParams.copy()
    text = draw_attention(tmp_path / "picture.svg", SOURCE, TARGET, WEIGHTS, "Prix: $5_a$").read_text("utf-8")
    assert matplotlib.rcParams.copy() == before
    for shown in (">The<", ">car<", ">voi<", ">·ture<", ">rouge<", ">Prix: $5_a$<"):
        assert shown in text
    assert "▁" not in text


def test_a_tensor_and_lists_of_numbers_are_drawn_alike_and_other_weights_apart(tmp_path: Path) -> None:
    holes = WEIGHTS.copy()
    holes[1, 2] = np.nan
    given = {
        "array": WEIGHTS,
        "tensor": torch.tensor(WEIGHTS, requires_grad=True),
        "list": WEIGHTS.tolist(),
        "half": torch.tensor(WEIGHTS, dtype=torch.bfloat16),
        "other": WEIGHTS[::-1],
        "holes": holes,
    }
    array, *same, _, other, no_number = (
        draw_attention(tmp_path / f"{name}.svg", SOURCE, TARGET, weights).read_bytes()
        for name, weights in given.items()
    )
    assert same == [array, array] and array not in (other, no_number)


@pytest.mark.parametrize(
    ("targets", "weights", "complaint"),
    [
        (TARGET, WEIGHTS.T, r"5 target and 4 source pieces need weights \[T, S\] = \[5, 4\]"),
        (TARGET[:2], [[0.1, 0.2], [0.3]], "rows of one length"),
        (TARGET[:2], [["a", "b"], ["c", "d"]], "rows of one length"),
        ([], np.zeros((0, 4)), "0 target and 4 source"),
    ],
)
def test_weights_that_do_not_fit_are_refused(tmp_path: Path, targets: list[str], weights: Any, complaint: str) -> None:
    with pytest.raises(ShapeError, match=complaint):
        draw_attention(tmp_path / "picture.png", SOURCE, targets, weights)
    assert not list(tmp_path.iterdir())


def test_an_unknown_suffix_and_a_missing_matplotlib_are_answered_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "picture.jpg", "picture":
        with pytest.raises(ConfigError, match="pdf, png, svg"):
            draw_attention(tmp_path / name, SOURCE, TARGET, WEIGHTS)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'anaphora\[plot\]'"):
        draw_attention(tmp_path / "picture.png", SOURCE, TARGET, WEIGHTS)


def test_a_grid_is_drawn_alone_or_over_an_image_of_bytes_or_fractions(tmp_path: Path) -> None:
    alone, *over = (
        draw_grid_attention(tmp_path / "new" / "one.svg", WORDS, GRIDS, image, "A title").read_text()
        for image in (None, IMAGE, IMAGE / 255)
    )
    assert all(word in alone for word in ("red", "$dot", "A title"))
    assert over[0] == over[1] != alone


def test_an_image_is_bright_where_it_is_attended_to(tmp_path: Path) -> None:
    weights = np.zeros((1, 1, 2))
    weights[0, 0, 1] = 1
    pixels = imread(draw_grid_attention(tmp_path / "one.png", ["dot"], weights, np.ones((40, 40, 3))))[..., :3]
    dark = (np.abs(pixels - 0.3) < 0.02).all(-1)
    assert dark.mean() > 0.2 and (pixels[:, np.flatnonzero(dark.any(0)).max() + 10 :] > 0.9).mean() > 0.8


def test_a_grid_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ShapeError, match=r"4 words need weights \[4, rows, columns\], but they are \[3, 2, 3\]"):
        draw_grid_attention(tmp_path / "a.png", WORDS, GRIDS[:3])
    with pytest.raises(ShapeError, match="An image should be height x width x 3"):
        draw_grid_attention(tmp_path / "a.png", WORDS, GRIDS, IMAGE[..., 0])
