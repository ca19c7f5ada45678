"""Parts of all pictures: colours that everyone can tell apart, fonts, and files that are written whole.

Figures are made on their own, never through pyplot: no window opens and no figure outlives the call.
"""

import re
import unicodedata
import warnings
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import regex

from anaphora.errors import ConfigError, MissingExtraError
from anaphora.formats.lines import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.colors import Colormap as Colormap
    from matplotlib.figure import Figure as Figure
    from matplotlib.image import AxesImage as AxesImage
    from matplotlib.transforms import Bbox as Bbox
else:
    Axes = AxesImage = Bbox = Colormap = Figure = Any
    """Types of matplotlib, which is imported when something is drawn."""

FORMATS = ("pdf", "png", "svg")
INK, QUIET, LINE, FRAME = "#22262e", "#7b828e", "#eef1f6", "#c3cad6"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
"""Colours of Okabe and Ito (2008), which people with any colour vision can tell apart."""
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
"""A dash pattern for each colour, so that lines differ in more than colour."""

_SHADES = ("#ffffff", "#e3eaf4", "#b9cae3", "#7f9fcb", "#4570ab", "#1f4480", "#0c2250")
_TWO_SIDED = ("#7f3b08", "#e08214", "#fdd9ae", "#ffffff", "#b9cae3", "#4570ab", "#0c2250")
_NO_NUMBER = "#f2d9c9"

_STYLE = Path(__file__).with_name("anaphora.mplstyle")
_INKED = {"axes.edgecolor": FRAME, "xtick.color": QUIET, "ytick.color": QUIET} | dict.fromkeys(
    ("axes.labelcolor", "axes.titlecolor", "text.color", "legend.labelcolor"), INK
)

_EMOJI = regex.compile(r"\p{Emoji}")
_CONTROL = regex.compile(r"(?!\n)[\p{Cc}\p{Zl}\p{Zp}]")

_MARGIN = 0.12
"""Inches around what is drawn."""
_DOTS, _PIXELS = 200.0, 8000.0
"""Dots an inch of a PNG, fewer where a side would have more than so many pixels, which viewers refuse."""
_METADATA: dict[str, dict[str, None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}


def draw(paths: Sequence[Path], make: Callable[[], Figure]) -> list[str]:
    """Make a figure and write it to each path, whose suffix chooses the format; missing folders are made.

    Returns one sentence for each script that the PNG lacks glyphs for: the font to install. Raises ConfigError for
    another suffix, and MissingExtraError without matplotlib.
    """
    for path in paths:
        if path.suffix.lower().removeprefix(".") not in FORMATS:
            raise ConfigError(f"A picture is written as {', '.join(FORMATS)}, but {path.name} is none: rename it.")

    def save(figure: Figure) -> None:
        covered = bounding_box(figure)
        for path in paths:
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as stream:
                _write(figure, covered, stream, path.suffix.lower().removeprefix("."))

    return _draw(make, save)


def svg(make: Callable[[], Figure]) -> str:
    """Return a figure as an SVG element with real text, for a page. Raises MissingExtraError without matplotlib."""
    stream = BytesIO()
    _draw(make, lambda figure: _write(figure, bounding_box(figure), stream, "svg"))
    text = stream.getvalue().decode()
    return re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)


def bounding_box(figure: Figure) -> Bbox:
    """Return what the contents of a figure cover, in inches, placed for good.

    Measuring every label takes longer than drawing them: so once, where "tight" and a layout engine do it three times a
    file.
    """
    if engine := figure.get_layout_engine():
        engine.execute(figure)
        figure.set_layout_engine(None)
    return figure.get_tightbbox()


def _write(figure: Figure, covered: Bbox, stream: IO[bytes], form: str) -> None:
    covered = covered.padded(_MARGIN)
    dots = min(_DOTS, _PIXELS / max(covered.width, covered.height))
    figure.savefig(stream, format=form, dpi=dots, bbox_inches=covered, metadata=_METADATA[form])


def _draw(make: Callable[[], Figure], save: Callable[[Figure], None]) -> list[str]:
    """Make and save a figure in the style of all pictures; return what it lacks, as ``draw`` returns it."""
    try:
        import matplotlib
        from matplotlib.font_manager import get_font_names
    except ImportError:
        raise MissingExtraError("matplotlib", "plot") from None
    installed = frozenset(get_font_names())
    style: dict[Any, Any] = {**matplotlib.rc_params_from_file(_STYLE, use_default_template=False), **_INKED}
    style["font.family"] = [font for font in style["font.family"] if font in installed]
    with matplotlib.rc_context(style), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        made = make()
        _without_controls(made)
        save(made)
    return _missing([str(warning.message) for warning in said])


def _without_controls(figure: Figure) -> None:
    """Draw control characters of texts, such as tabs, as spaces: no font has them."""
    from matplotlib.text import Text

    for one in figure.findobj(Text):
        if _CONTROL.search(one.get_text()):
            one.set_text(_CONTROL.sub(" ", one.get_text()))


def figure(width: float, height: float, **options: Any) -> Figure:
    """Return an empty figure of this many inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), facecolor="white", **options)


def panels(count: int, width: float, height: float, columns: int = 3, **options: Any) -> tuple[Figure, list[Axes]]:
    """Return a figure and its panels, each of so many inches with its labels, at most so many ``columns`` of them."""
    columns = min(columns, count)
    rows = -(-count // columns)
    made = figure(width * columns, height * rows, layout="constrained")
    grid = list(made.subplots(rows, columns, squeeze=False, **options).flat)
    for axes in grid[count:]:
        axes.set_visible(False)
    return made, grid[:count]


def sheet(width: float, height: float, across: tuple[float, float], down: tuple[float, float]) -> tuple[Figure, Axes]:
    """Return a figure of this many inches, and axes that fill it without a frame, from limit to limit."""
    made = figure(width, height)
    axes = made.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set(xlim=across, ylim=down)
    return made, axes


def shades(two_sided: bool = False) -> Colormap:
    """Return colours from white to dark blue; or from dark orange through white to dark blue."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = _TWO_SIDED if two_sided else _SHADES
    return LinearSegmentedColormap.from_list("anaphora", colours).with_extremes(bad=_NO_NUMBER)


def logarithmic(axes: Axes) -> None:
    """Set a logarithmic scale from bottom to top, with plain numbers."""
    from matplotlib.ticker import LogLocator, NullLocator

    axes.set_yscale("log")
    low, high = axes.get_ylim()
    if high < 100 * low:  # less than two decades have too few powers of ten
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter("{x:g}")


def _missing(messages: Sequence[str]) -> list[str]:
    """Return the fonts to install, from matplotlib's warnings of missing glyphs."""
    missing = (chr(int(found[1])) for message in messages if (found := re.match(r"Glyph (\d+) ", message)))
    fonts = dict.fromkeys(filter(None, map(_font_for, missing)))
    return [f"The picture lacks letters that no installed font has: install {font}." for font in fonts]


def _font_for(character: str) -> str:
    """Return a font that has a character; empty for one that is never visible, and where none is known."""
    name = unicodedata.name(character, "")
    match unicodedata.category(character)[0]:
        case "L" | "M" | "N":
            if name.startswith(("CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA")):
                return "Noto Sans CJK JP"
            script = re.split(" (?:LETTER|CHARACTER|SIGN|SYLLABLE|VOWEL|DIGIT|NUMBER|MARK)", name)[0].title()
            return f"Noto Sans {'CJK KR' if script == 'Hangul' else script}" if script else ""
        case "S":
            return "Noto Emoji" if _EMOJI.fullmatch(character) else "Noto Sans Symbols 2"
    return ""
