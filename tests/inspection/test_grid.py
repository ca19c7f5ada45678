"""Attention over a grid is drawn as one panel for each word, over the image where there is one."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from anaphora.errors import ConfigError, ShapeError
from anaphora.inspection.drawing.heat import draw_grid_attention

WORDS = ["a", "red", "$dot", "</s>"]
WEIGHTS = np.random.default_rng(1).dirichlet(np.ones(6), 4).reshape(4, 2, 3)
IMAGE = np.full((20, 30, 3), 200, dtype=np.uint8)


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
@pytest.mark.parametrize("image", [None, IMAGE, IMAGE / 255], ids=["grid", "bytes", "fractions"])
def test_a_picture_is_written_and_the_same_again(tmp_path: Path, form: str, image: object) -> None:
    first = draw_grid_attention(tmp_path / "new" / f"one.{form}", WORDS, WEIGHTS, image, "A title")  # type: ignore[arg-type]
    second = draw_grid_attention(tmp_path / f"two.{form}", WORDS, WEIGHTS, image, "A title")  # type: ignore[arg-type]
    assert first.stat().st_size > 1000 and first.read_bytes() == second.read_bytes()
    if form == "svg":
        assert all(word in first.read_text() for word in ("red", "$dot", "A title"))


def test_an_image_is_bright_where_it_is_attended_to(tmp_path: Path) -> None:
    weights = np.zeros((1, 1, 2))
    weights[0, 0, 1] = 1
    pixels = imread(draw_grid_attention(tmp_path / "one.png", ["dot"], weights, np.ones((40, 40, 3))))[..., :3]
    dark = (np.abs(pixels - 0.3) < 0.02).all(-1)
    assert dark.mean() > 0.2 and (pixels[:, np.flatnonzero(dark.any(0)).max() + 10 :] > 0.9).mean() > 0.8


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ShapeError, match=r"4 words need weights \[4, rows, columns\], but they are \[3, 2, 3\]"):
        draw_grid_attention(tmp_path / "a.png", WORDS, WEIGHTS[:3])
    with pytest.raises(ShapeError, match="An image should be height x width x 3"):
        draw_grid_attention(tmp_path / "a.png", WORDS, WEIGHTS, IMAGE[..., 0])
    with pytest.raises(ConfigError, match=r"a\.txt"):
        draw_grid_attention(tmp_path / "a.txt", WORDS, WEIGHTS)
