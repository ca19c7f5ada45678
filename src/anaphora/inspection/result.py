"""Base class of what inspection finds."""

from anaphora.formats.json_text import Jsonable


class Result(Jsonable):
    """Numbers with pictures, both of which a notebook shows."""

    def _repr_html_(self) -> str:
        from anaphora.inspection.drawing import html_of

        return html_of(self)
