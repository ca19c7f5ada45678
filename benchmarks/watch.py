"""Steps that are measured each in a process of its own, and the memory and disk that they take there."""

import multiprocessing
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any


def alone(step: Callable[..., None], *arguments: Any) -> None:
    """Take a step, a function at the top of a module, in a fresh process; SystemExit where it fails there."""
    process = multiprocessing.get_context("spawn").Process(target=step, args=arguments)
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(process.exitcode)


class Watch(threading.Thread):
    """The largest memory, and size of nameless files, of this process, in MB."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.memory = self.disk = 0
        self.done = threading.Event()

    def run(self) -> None:
        while not self.done.wait(0.05):
            status = Path("/proc/self/status").read_text().split("RssAnon:")[1]
            self.memory = max(self.memory, int(status.split()[0]) // 1024)
            files = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
            sizes = [os.stat(file).st_size for file in files if os.path.lexists(file) and _is_nameless(file)]
            self.disk = max(self.disk, sum(sizes) // 10**6)


def _is_nameless(file: str) -> bool:
    try:
        return os.readlink(file).endswith("(deleted)")
    except OSError:
        return False
