"""What the readers of all kinds of files have in common."""

from collections.abc import Iterable, Iterator

from anaphora.formats.entries.entry import Edit, Entry


class Reader:
    """The entries of one file."""

    def __init__(self, name: str, languages: tuple[str, str]) -> None:
        """Of a file that messages call ``name``, in the ``languages`` of source and target."""
        self.name, (self.source, self.target) = name, languages

    def read(self, pieces: Iterable[bytes]) -> Iterator[Entry]:
        """The entries of a file in UTF-8; DataError, with the line, for what is not in its format."""
        raise NotImplementedError

    def declared(self, content: bytes) -> list[Edit]:
        """From the whole file once it was read: what it has to declare when gaps were filled."""
        return []
