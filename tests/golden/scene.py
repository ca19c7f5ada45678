"""Scenes: folders in which commands are run, and the answers that are recorded of them."""

import hashlib
import io
import json
import os
import shlex
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.numpy import load_file

from anaphora.cli.app import main
from anaphora.kernels.compiled.library import run as run_compiled
from tests.golden.batches import batches_seen

AVX2 = 1
"""The instruction set of the C library, which other processors of this kind have too."""
FAILED = "FAILED"
OUT = Path("out")
TIMES = frozenset({"seconds", "sentences per second", "environment", "bytes"})
"""Keys of JSON that depend on time or machine, or on the digits of a time."""
KILLED_AT = 11
"""Updates after which a training is killed; every scene saves before."""

Answers = Iterator[tuple[str, str]]


@dataclass(frozen=True)
class Scene:
    name: str
    prepare: Callable[[], object]
    steps: Sequence[Callable[[], Answers]]

    def answers(self) -> dict[str, str]:
        torch.set_num_threads(1)
        run_compiled("limit_instructions", AVX2)
        before = Path.cwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                self.prepare()
                found = [(f"{self.name}: {label}", answer) for step in self.steps for label, answer in attempted(step)]
            finally:
                os.chdir(before)
            names = [name for name, _ in found]
            assert len(set(names)) == len(names), [name for name in names if names.count(name) > 1]
            return {name: answer.replace(os.path.realpath(folder), "FOLDER") for name, answer in found}


class FailedError(Exception):
    """A command that should answer and does not."""


def attempted(step: Callable[[], Answers]) -> Answers:
    try:
        yield from step()
    except FailedError as error:
        yield str(error).splitlines()[0], f"{FAILED}: {error}"


def command(label: str, line: str) -> Callable[[], Answers]:
    """Record what ``anaphora LINE`` prints to standard output, and the files that it writes into ``out``."""

    def step() -> Answers:
        OUT.mkdir(exist_ok=True)
        yield label, f"{run(line)}{_written()}"

    return step


def inspections(run_folder: str, **texts: str) -> list[Callable[[], Answers]]:
    """Record the numbers of inspections, by verb, with the options of each."""
    return [command(f"inspect {verb}", f"inspect {run_folder} {verb} {text} --json") for verb, text in texts.items()]


def training(line: str, run_folder: str = "run", *, killed: bool = True) -> Callable[[], Answers]:
    """Record the weights and the log that ``anaphora train LINE`` leaves, and its batches.

    With ``killed``, train a second time, kill that, resume it, and record the same of the resumed run.
    """

    def step() -> Answers:
        with batches_seen() as seen:
            run(f"{line} --run {run_folder}")
        name = "trained" if run_folder == "run" else run_folder
        yield f"{name} batches", seen()
        yield from left_by(run_folder, name)
        if killed:
            _kill(f"{line} --run killed")
            run("train --resume --run killed")
            resumed = {place: value for place, (_, value) in enumerate(left_by("killed", ""))}
            same = all(value == resumed[place] for place, (_, value) in enumerate(left_by(run_folder, "")))
            yield f"{name}, killed and resumed", "the same" if same else resumed[0]

    return step


def resuming(run_folder: str) -> Callable[[], Answers]:

    def step() -> Answers:
        run(f"train --resume --run {run_folder}")
        yield from left_by(run_folder, "resumed")

    return step


def left_by(run_folder: str, label: str) -> Answers:
    """Return the tensors of the best and the latest checkpoint, and the log without its times."""
    run_path = Path(run_folder)
    names = [(run_path / pointer).read_text().strip() for pointer in ("best", "latest")]
    tensors = [
        f"{place.parent.name}/{place.stem}/{name} {list(tensor.shape)} {_digest(tensor.tobytes())}"
        for checkpoint in sorted(set(names))
        for place in sorted((run_path / "checkpoints" / checkpoint).glob("*.safetensors"))
        for name, tensor in sorted(load_file(place).items())
    ]
    yield f"{label} weights", "\n".join([f"best {names[0]}", f"latest {names[1]}", *tensors])
    yield f"{label} log", canonical((run_path / "metrics.jsonl").read_text())


def run(line: str) -> str:
    """Run ``anaphora LINE`` and return its standard output; FailedError where it fails."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    arguments = shlex.split(line)
    with redirect_stdout(out), redirect_stderr(err):
        code = main(arguments)
    said, complaint = (_content(stream) for stream in (out, err))
    if code:
        raise FailedError(f"anaphora {line}\nexits with {code}: {complaint}")
    return canonical(said) if "--json" in arguments else said


def canonical(text: str) -> str:
    """Return JSON lines with sorted keys, every number as it was printed, and nothing that depends on time."""
    found = [json.loads(one, parse_float=str) for one in text.splitlines() if one]
    return "\n".join(json.dumps(_timeless(one), ensure_ascii=False, sort_keys=True) for one in found)


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(one) for key, one in value.items() if key not in TIMES}
    return [_timeless(one) for one in value] if isinstance(value, list) else value


def _content(stream: io.TextIOWrapper) -> str:
    stream.flush()
    content: bytes = stream.buffer.getvalue()  # type: ignore[attr-defined]
    return content.decode()


def _written() -> str:
    found = []
    for file in sorted(path for path in OUT.rglob("*") if path.is_file()):
        content = file.read_bytes()
        try:
            text = content.decode()
        except UnicodeDecodeError:
            text = _digest(content)
        found.append(f"\n== {file.relative_to(OUT)}\n{canonical(text) if file.suffix == '.jsonl' else text}")
        file.unlink()
    return "".join(found)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _kill(line: str) -> None:
    """Run a training in another process, and kill that in the middle of an update."""
    process = os.fork()
    if not process:
        with _killing(KILLED_AT):
            run(line)
        os._exit(0)
    _, status = os.waitpid(process, 0)
    if os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
        raise FailedError(f"anaphora {line}\nwas not killed: it had fewer updates than {KILLED_AT}.")


@contextmanager
def _killing(update: int) -> Iterator[None]:
    """Kill this process before it computes the given update."""
    from tests.golden.batches import watching

    count = 0

    def killed(model: torch.nn.Module, batch: object) -> None:
        nonlocal count
        count += model.training
        if count > update:
            os.kill(os.getpid(), signal.SIGKILL)

    with watching(killed):
        yield
