import os
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from anaphora.bulk.engines import USAGE_STATISTICS, RayActors


@pytest.mark.parametrize(("address", "sent"), [("", "0"), ("local", "0"), ("10.0.0.1:6379", "1")])
def test_ray_that_is_started_here_sends_no_statistics_and_another_cluster_stays_as_it_is(
    monkeypatch: pytest.MonkeyPatch, address: str, sent: str
) -> None:
    seen: dict[str, Any] = {}

    def init(**given: Any) -> None:
        seen.update(given, sent=os.environ[USAGE_STATISTICS])

    ray = SimpleNamespace(
        init=init, is_initialized=lambda: False, cluster_resources=lambda: {"CPU": 8}, shutdown=lambda: None
    )
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setenv(USAGE_STATISTICS, "1")
    monkeypatch.setenv("RAY_ADDRESS", address) if address else monkeypatch.delenv("RAY_ADDRESS", raising=False)
    nothing: Any = None
    with RayActors(nothing, nothing, 2, 1, lambda event: None):
        pass
    assert (seen["address"], seen["sent"]) == (address or "local", sent)
