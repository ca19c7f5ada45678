"""Run folders in which one file was changed: what is used is what was written, or the file is named.

Half of the changes are made by somebody who then makes the checksums fit: no traceback, no hang, no gigabytes.
"""

import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

from tests.faults.damage import drawn
from tests.faults.forged import ENDLESS, forged
from tests.faults.processes import Fault, Outcome, command, shown
from tests.faults.tasks import AIDED, SAMPLES, Sample
from tests.sealing import reseal

PAYLOAD = b"cos\nsystem\n(S'touch executed'\ntR."

DAMAGED = (*SAMPLES, AIDED)

MEMORY = "memory.sqlite"

MEANT = ("experiment.toml", "best")
"""Files in which a person, too, may have written something else, which is then obeyed."""


class _Trained:
    """A trained run with what it says, from its best checkpoint and from any other, and where it goes on to."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self._folder = tempfile.TemporaryDirectory()
        self.place = Path(self._folder.name) / "place"
        sample.write(self.place)
        self._done(sample.training())
        for made in sample.made:
            self._done(sample.filled(made))
        self.files = sorted(
            str(file.relative_to(self.place / "run")) for file in (self.place / "run").rglob("*") if file.is_file()
        )
        folders = {folder for name in self.files for folder in map(str, Path(name).parents) if folder != "."}
        self.names = [*self.files, *sorted(folders)]
        best = (self.place / "run" / "best").read_text()
        self.said = {self._done(sample.using()).out}
        for step in (self.place / "run" / "checkpoints").iterdir():
            (self.place / "run" / "best").write_text(f"{step.name}\n")
            ended = command(sample.using(), at=self.place)
            self.said |= {ended.out} if ended.code == 0 else set()  # a calibration is for one checkpoint
        (self.place / "run" / "best").write_text(best)
        with tempfile.TemporaryDirectory() as other:
            copy = shutil.copytree(self.place, Path(other) / "place")
            self._done(sample.resuming(), copy)
            self.ends = final_weights(copy / "run")

    def _done(self, arguments: list[str | Path], at: Path | None = None) -> Outcome:
        ended = command(arguments, at=at or self.place)
        if ended.code:
            raise Fault(f"{self.sample.name} cannot be used: {ended.err}")
        return ended


trained = cache(_Trained)


def contents(run: Path) -> dict[str, bytes]:
    """What is in every regular file of a run that is no larger than those that were written.

    A memory is left out: SQLite repairs its file.
    """
    files = [file for file in run.rglob("*") if not file.is_symlink() and file.is_file()]
    files = [file for file in files if not file.name.startswith(MEMORY)]
    return {str(file.relative_to(run)): file.read_bytes() for file in files if file.stat().st_size < _LARGE}


def final_weights(run: Path) -> bytes:
    newest = max(run.glob("checkpoints/step-*"), key=lambda step: int(step.name.removeprefix("step-")))
    return (newest / "model.safetensors").read_bytes()


def trial(random: Random) -> str:
    whole = trained(random.choice(DAMAGED))
    is_forged = random.random() < 0.5
    name = random.choice(whole.files if is_forged else whole.names)
    verb = random.choice(["use", "show", "resume"])
    with tempfile.TemporaryDirectory() as folder:
        place = shutil.copytree(whole.place, Path(folder) / "place")
        run = place / "run"
        if is_forged:
            other = SAMPLES[whole.sample is SAMPLES[0]]
            what = forged(random, run / name, trained(other).place / "run" / name)
            reseal(run)
        else:
            what = (_change_folder if (run / name).is_dir() else _change)(random, run / name)
        before, elsewhere = contents(run), contents(place / "elsewhere")
        try:
            if verb == "resume":
                ended = command(whole.sample.resuming(), at=place)
                _check_resumed(whole, ended, run, "" if is_forged else name)
            else:
                sample = whole.sample
                ended = (
                    command(sample.using(), at=place)
                    if verb == "use"
                    else shown(sample.filled(random.choice(sample.shown)), place)
                )
                _check_forged(whole, ended, what, verb) if is_forged else _check_same(whole, ended, name, verb)
                if contents(run) not in (before, contents(whole.place / "run")):  # a lost description is written again
                    raise Fault("it changed the run")
            if contents(place / "elsewhere") != elsewhere:
                raise Fault("it changed what is elsewhere")
        except Fault as fault:
            raise Fault(f"{whole.sample.name}: {verb} with {name} {what}: {fault}") from None
    return whole.sample.name


def _check_same(whole: _Trained, ended: Outcome, name: str, verb: str) -> None:
    """Checksums reveal what was changed: it is named, or what is said is what was said before."""
    if ended.code == 1 and verb == "use":
        raise Fault("it exits with 1")
    may_differ = verb == "show" or name.startswith(MEMORY) or (name in MEANT and "anaphora:" in ended.err)
    if ended.code == 0 and ended.out not in whole.said and not may_differ:
        raise Fault(f"it says something else:\n{ended.out[:500]}\n{ended.err[-500:]}")


def _check_forged(whole: _Trained, ended: Outcome, what: str, verb: str) -> None:
    """No checksum reveals it: it is refused in a sentence, or used as what it is."""
    if ended.code not in ((0, 1, 2) if verb == "show" else (0, 2)):  # info exits with 1 where no checkpoint is of use
        raise Fault(f"it exits with {ended.code}")
    is_silent = ended.code == 0 and not ended.out.strip() and not ended.err.strip()
    if what == ENDLESS and is_silent and ended.out not in whole.said:
        raise Fault("it answers nothing without a word")


def _check_resumed(whole: _Trained, ended: Outcome, run: Path, name: str) -> None:
    if ended.code not in (0, 2):
        raise Fault(f"it exits with {ended.code}")
    if ended.code == 0 and name and name not in MEANT and final_weights(run) != whole.ends:
        raise Fault(f"it ends with other weights\n{ended.err[-500:]}")


def _change(random: Random, file: Path) -> str:
    what = random.choice([*_WHOLE, "changed", "changed", "changed", "changed"])
    if what in _WHOLE:
        content = file.read_bytes()
        file.unlink()
        _WHOLE[what](file, content)
        return what
    damage = drawn(random, random.choice([b"", b"", b"[" * 3000, b"\n", PAYLOAD, b"9" * 5000, b"\\ud800"]))
    file.write_bytes(damage(file.read_bytes()))
    return str(damage)[:120]


def _change_folder(random: Random, folder: Path) -> str:
    """Remove a folder, or put another thing in its place: a link to where it went, say, with a text of a person."""
    elsewhere = folder.parents[len(folder.parts) - folder.parts.index("run") - 1] / "elsewhere"
    folder.rename(elsewhere)
    for precious in (elsewhere, *(entry for entry in elsewhere.iterdir() if entry.is_dir())):
        (precious / "thesis.txt").write_text("years of work")
    what = random.choice(["gone", "a link", "a file", "a pipe"])
    if what == "a link":
        folder.symlink_to(elsewhere, target_is_directory=True)
    elif what == "a file":
        folder.write_text("x")
    elif what == "a pipe":
        os.mkfifo(folder)
    return what


_WHOLE: dict[str, Callable[[Path, bytes], object]] = {
    "gone": lambda file, content: None,
    "empty": lambda file, content: file.touch(),
    "a pipe": lambda file, content: os.mkfifo(file),
    "a device": lambda file, content: file.symlink_to("/dev/zero"),
    "a link": lambda file, content: (
        file.with_name(".moved").write_bytes(content),
        file.symlink_to(file.with_name(".moved")),
    ),
    "a loop": lambda file, content: file.symlink_to(file.name),
    "a folder": lambda file, content: file.mkdir(),
    "endless": lambda file, content: (file.touch(), os.truncate(file, 10**13)),
    "nested": lambda file, content: file.write_bytes(b'{"a":' * 20_000),
    "a program": lambda file, content: file.write_bytes(PAYLOAD),
}
_LARGE = 1 << 26
