"""A process that has everything imported, and runs commands of the documentation with small trainings.

    python -m tests.docs.server SOCKET

Programs in ``PROGRAMS`` on a page's path connect to it, and it forks for each of them: a command starts in a hundredth
of the time that its imports take.
"""

import gc
import io
import json
import os
import pkgutil
import runpy
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from socketserver import ForkingMixIn, UnixStreamServer
from threading import Thread
from typing import Any

PROGRAMS = ("anaphora", "python", "python3")
"""Programs that run here."""

CLIENT = f"""#!{sys.executable} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect({{place!r}})
    socket.send_fds(connection, [b"\\n"], [0, 1, 2])
    request = json.dumps([{{program!r}}, sys.argv[1:], os.getcwd(), dict(os.environ)])
    connection.sendall(f"{{{{request}}}}\\n".encode())
    answer = connection.recv(16)
sys.exit(int(answer or b"70"))
"""

LARGEST = 16
"""Size of every layer at most."""


def write_programs(folder: Path, place: Path) -> None:
    """Write the programs into a folder that is to be in front of the path."""
    folder.mkdir()
    for program in PROGRAMS:
        (folder / program).write_text(CLIENT.format(place=str(place), program=program))
        (folder / program).chmod(0o755)


class Server(ForkingMixIn, UnixStreamServer):
    """A server that answers every client in a process of its own."""

    timeout = 5


def serve(place: Path) -> None:
    """Run what clients ask for until the process that started this one ends."""
    _prepare()
    gc.freeze()
    with Server(str(place), _answer) as server:  # type: ignore[arg-type]  # any callable will do
        print("ready", flush=True)
        parent = os.getppid()
        while os.getppid() == parent:
            server.handle_request()
            server.service_actions()  # lets processes that ended go


def _answer(connection: socket.socket, *_: object) -> None:
    """Run one program, and end the process."""
    code = 70
    try:
        streams = socket.recv_fds(connection, 1, 3)[1]
        program, arguments, folder, environment = json.loads(connection.makefile().readline())
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        sys.stdin, sys.stdout, sys.stderr = (
            io.TextIOWrapper(os.fdopen(number, mode + "b", closefd=False), encoding="utf-8", line_buffering=number == 2)
            for number, mode in enumerate("rww")
        )
        Thread(target=_end_with, args=(connection,), daemon=True).start()
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        code = _run(program, arguments)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        for text in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                text.flush()
        connection.sendall(str(code).encode())
        os._exit(code)


def _end_with(client: socket.socket) -> None:
    """End this process when its client was ended."""
    client.recv(1)
    os.kill(os.getpid(), signal.SIGTERM)


def _run(program: str, arguments: list[str]) -> int:
    from anaphora.cli.app import main

    if program == "anaphora":
        return main(arguments)
    sys.path.insert(0, "")
    if arguments == ["-"]:  # the blocks of a page, one after another in one namespace
        return _run_blocks()
    if arguments[0].endswith(".py"):
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")
    elif arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = ["-c", *arguments[2:]]
        exec(compile(arguments[1], "-c", "exec"), {"__name__": "__main__"})
    return 0


def _run_blocks() -> int:
    """Run the blocks that standard input has, a line of JSON each: what is defined for it, and its text.

    Each is answered with what went wrong.
    """
    import numpy

    import anaphora
    from anaphora.inspection.subject import Subject

    tools = {"anaphora": anaphora, "numpy": numpy, "Path": Path, "Subject": Subject}
    namespace: dict[str, Any] = {"__name__": "__main__"}
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        found = ""
        try:
            defined, text = json.loads(line)
            namespace |= {name: eval(value, tools) for name, value in defined.items()}
            exec(compile(text, "block", "exec"), namespace)
        except BaseException:
            found = traceback.format_exc()
        print(json.dumps(found), file=answers, flush=True)
    return 0


def _prepare() -> None:
    """Import all, and make trainings and corpora small."""
    import anaphora

    for module in pkgutil.walk_packages(anaphora.__path__, "anaphora."):
        if not module.name.endswith(("__main__", "._library")):
            import_module(module.name)
    for name in ("matplotlib.pyplot", "matplotlib.backends.backend_agg", "torch._dynamo"):
        import_module(name)

    from anaphora.data import fetch
    from anaphora.experiment import reading
    from anaphora.inspection import remedies, span
    from anaphora.samples import english_french, handwriting, scenes

    read = reading.read_experiment

    def read_small(text: Any, where: str, settings: Iterable[str] = (), **options: Any) -> Any:
        experiment = read(text, where, settings, **options)
        table = experiment.tables()
        if "epochs" in table.get("training", ()):  # one more where a run goes on
            table["training"]["epochs"] = min(table["training"]["epochs"], 2 if isinstance(text, str) else 3)
        return reading.parse(_reduced(table), where)

    _replace(read, read_small)
    os.fsync = lambda descriptor: None
    small = replace(span.QUICK, size=8, sequences=1600, longest=8, units=("gru",))
    fetch._is_whole = lambda place, file: place.is_file()  # the corpora of a scratch folder are small
    remedies.remedies.__defaults__ = (10, 20, *remedies.remedies.__defaults__[2:])
    for samples in (english_french, handwriting, scenes):
        samples.write = _write_few(samples.write)
    _replace(span.QUICK, small)
    _replace(span.FULL, small)


def _replace(old: Any, new: Any) -> None:
    """Replace a value in all modules that have a name for it."""
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("anaphora"):
            for name, value in list(vars(module).items()):
                if value is old:
                    setattr(module, name, new)


def _write_few(write: Callable[..., Path]) -> Callable[..., Path]:
    return lambda folder, seed=1, train=0, valid=0, test=0: write(folder, seed, 100, 12, 12)


def _reduced(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table of options with small layers."""
    found = dict(table)
    for name, value in found.items():
        if isinstance(value, Mapping) and name != "text":
            found[name] = _reduced(value)
        elif name.endswith("size") and isinstance(value, int):
            found[name] = min(value, LARGEST)
    return found


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
