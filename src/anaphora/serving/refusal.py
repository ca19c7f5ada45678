"""Refusals of requests."""

from collections.abc import Mapping


class Refusal(Exception):
    """An answer ``{"error": message}`` with an HTTP status."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, dict(headers or {})


def bad(message: str) -> Refusal:
    """Return a request that is not right: status 400, which clients of LibreTranslate expect."""
    return Refusal(400, message)
