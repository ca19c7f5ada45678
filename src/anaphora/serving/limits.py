"""Limits of a server."""

from typing import NamedTuple


class ServingLimits(NamedTuple):
    """Bounds of a request and of the queue."""

    characters: int = 5_000
    """Characters of one text."""
    texts: int = 128
    """Texts of one request."""
    alternatives: int = 16
    """Other translations of a text that may be asked for."""
    body: int = 1 << 20
    """Bytes of a request."""
    document: int = 10 << 20
    """Bytes of a document."""
    document_texts: int = 20_000
    """Texts of a document."""
    segments: int = 1_000_000
    """Segments of a memory, beyond which it takes no more from clients."""
    waiting: int = 200_000
    """Characters that wait in the queue; a request beyond them waits outside for ``patience``, then is refused."""
    patience: float = 10.0
    """Seconds that a request waits for a place in the queue, and that a queue may stand still and count as ready."""
    deadline: float = 30.0
    """Seconds after which a request without an answer is given up, its place in the queue included."""
    document_deadline: float = 300.0
    """The same of a document."""
    connections: int = 256
    """Connections at once; of the files that the process may open they take a quarter at most."""
    upload: float = 20.0
    """Seconds that a client may take to send the headers of a request, and as many for its body."""
    download: float = 20.0
    """Seconds in which a client has to take ``pace`` bytes for each of them of an answer that is sent to it."""
    pace: int = 4096
    """Bytes of an answer that a client takes in a second at least."""
    drain: float = 30.0
    """Seconds that requests in work are given when the server has to stop."""
