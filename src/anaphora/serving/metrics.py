"""Counters of a server, in the format of Prometheus. No label has a text, a key or an address."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

CONTENT_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_SIZES = (1, 2, 4, 8, 16, 32, 64)


class Metrics:
    """The counters of one server."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._requests = Counter(
            "anaphora_requests", "Requests by route and status.", ("route", "status"), registry=registry
        )
        self._seconds = Histogram(
            "anaphora_request_seconds", "Seconds until the answer.", ("route",), buckets=_SECONDS, registry=registry
        )
        self._waiting = Gauge("anaphora_waiting_texts", "Texts in the queue.", registry=registry)
        self._batches = Histogram("anaphora_batch_texts", "Texts of a batch.", buckets=_SIZES, registry=registry)
        self._translating = Counter("anaphora_translating_seconds", "Seconds of translation.", registry=registry)

    def count_request(self, route: str, status: int, seconds: float) -> None:
        """Count a request; ``route`` is the path of the route, not what the client wrote."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def count_batch(self, texts: int, seconds: float) -> None:
        """Count a batch."""
        self._batches.observe(texts)
        self._translating.inc(seconds)

    def page(self, waiting: int) -> bytes:
        """Return all of them, with how many texts wait now."""
        self._waiting.set(waiting)
        return generate_latest(self._registry)
