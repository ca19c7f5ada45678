"""HTML pages of reports, lessons and data checks: one template and one style, nothing from elsewhere."""

from html import escape

PICTURES = """\
.picture { overflow-x: auto; border: 1px solid #8884; border-radius: 6px; padding: .5rem }
.picture svg { display: block; max-width: 100%; min-width: min(100%, 34rem); height: auto }
@media (prefers-color-scheme: dark) { .picture svg { filter: invert(1) hue-rotate(180deg) } }"""
"""Style of pictures, on light and on dark pages."""

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem }}
h1, p, li {{ overflow-wrap: anywhere }}
table {{ border-collapse: collapse; margin: .5rem 0 1.5rem; display: block; overflow-x: auto }}
td, th {{ padding: .2rem 1.2rem .2rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid #8884 }}
.value {{ font-variant-numeric: tabular-nums; font-weight: 600; white-space: nowrap }}
.blank {{ display: inline-block; min-width: 7rem; border-bottom: 1px solid currentColor }}
.count {{ text-align: right }}
.bar {{ color: #4570ab; letter-spacing: -.1em }}
.error {{ color: light-dark(#b3261e, #f2b8b5) }}
.warning {{ color: light-dark(#9a6700, #e3b341) }}
.note {{ color: light-dark(#1f4480, #9ec1f7) }}
figure {{ margin: 1rem 0 }}
{pictures}
pre {{ overflow-x: auto; font-size: 13px }}
:focus-visible {{ outline: 3px solid #0072b2; outline-offset: 2px }}
</style>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


def page(title: str, *body: str) -> str:
    """Return a page; ``body`` is HTML, ``title`` plain text."""
    return _PAGE.format(title=escape(title), pictures=PICTURES, body="\n".join(body))


def picture(svg: str, description: str) -> str:
    """Return a figure of an SVG element, which is scrolled where it is wider than the page."""
    label = escape(description, quote=True)
    return f'<figure><div class="picture" tabindex="0" role="group" aria-label="{label}">\n{svg}\n</div></figure>'
