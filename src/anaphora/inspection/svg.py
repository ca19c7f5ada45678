"""What diagrams share: colours, arrows and text as SVG."""

from collections.abc import Sequence
from html import escape

FILLS = ("#cfe3f5", "#fde0c5", "#cdeee0", "#f3dbe8", "#e3e3e3", "#fff2bf", "#dcd6f2", "#e6f2d5")
_STYLE = """text { font: 12px system-ui, sans-serif; fill: #22262e }
.small { font-size: 10px; fill: #4b515c } .title { font-size: 14px; font-weight: 600 }
.middle { text-anchor: middle } .box { stroke: #4b515c }
.flow { stroke: #4b515c; fill: none; marker-end: url(#tip) }
.carried { stroke: #0072b2; stroke-width: 1.8; fill: none; marker-end: url(#blue) }
.first { stroke: #0072b2; stroke-dasharray: 4 3; fill: none; marker-end: url(#blue) }
.memory { stroke: #009e73; stroke-dasharray: 7 3; fill: none; marker-end: url(#green) }
.cut { stroke: #d55e00; stroke-width: 2; stroke-dasharray: 2 5 }"""
_TIPS = "".join(
    f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    f'<path d="M0 0 8 4 0 8z" fill="{colour}"/></marker>'
    for name, colour in (("tip", "#4b515c"), ("blue", "#0072b2"), ("green", "#009e73"))
)


def picture(title: str, described: str, width: float, height: float, drawn: Sequence[str]) -> str:
    """A whole picture of what is ``drawn``; ``described`` is read aloud."""
    body = "\n".join(drawn)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" aria-label="{escape(described)}">\n<style>{_STYLE}</style>'
        f'<defs>{_TIPS}</defs>\n<rect width="100%" height="100%" fill="white"/>\n'
        f"{text(20, 28, title, 'title')}\n{body}\n</svg>"
    )


def path(kind: str, x: float, y: float, to_x: float, to_y: float) -> str:
    """A straight arrow."""
    return f'<path class="{kind}" d="M{x:.0f} {y:.0f} L{to_x:.0f} {to_y:.0f}"/>'


def text(x: float, y: float, written: str, kind: str = "") -> str:
    """A line of text from x on."""
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.0f}" y="{y:.0f}"{named}>{escape(written)}</text>'
