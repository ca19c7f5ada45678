"""The toy training, in this process as a module and in other processes that may be killed."""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

_TOY = Path(__file__).with_name("toy.py")
Answer = dict[str, Any]


@pytest.fixture(scope="session")
def toy() -> ModuleType:
    """The module ``toy.py``."""
    spec = importlib.util.spec_from_file_location("toy", _TOY)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def trainer() -> Iterator[Callable[..., Answer]]:
    """``trainer(folder=..., kill_at=...)`` trains in a process of its own and says how that ended."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, str(_TOY)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        requests, answers = process.stdin, process.stdout
        answers.readline()  # it is ready

        def ask(**request: Any) -> Answer:
            requests.write(json.dumps(request, default=str) + "\n")
            requests.flush()
            answer: Answer = json.loads(answers.readline())
            return answer

        yield ask
        requests.close()
