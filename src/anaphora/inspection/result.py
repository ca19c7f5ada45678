"""Base class of what inspection finds."""

from collections.abc import Iterable

from anaphora.formats.json_text import Jsonable


class Result(Jsonable):
    """Numbers with pictures, both of which a notebook shows."""

    def lines(self) -> Iterable[str]:
        """Return the lines of its text."""
        raise NotImplementedError

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        from anaphora.inspection.drawing import html_of

        return html_of(self)
