"""How an experiment gets from the function that conducts training to the training loop.

    python -m benchmarks.path [--entry anaphora.experiment.run_training:train] [--loop anaphora.training.loop:train]

It profiles a tiny training of a translator, from the call of the entry to the first call of the loop. Of the folders
that conduct an experiment (``--folders``) it counts

- files on the way: distinct files with any call, which a reader has to know who follows an experiment;
- times back up: the calls that hold the experiment, in their order, form a way from file to file; a step of it is back
  up where it leads to a file that was passed before. Counted are distinct pairs of files, so that a loop over batches,
  or a lookup that is repeated, counts once. A call holds the experiment as an argument, or as an attribute of one (of
  ``self``, or of a value that bundles it); methods of the experiment itself are left out.

It also prints all such steps, repeated ones too, and the files and the calls of the whole package.

Where a refactoring renames the two functions, name the new ones: the counts mean the same.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import anaphora

EXPERIMENT = """
task = "translate"
[data]
source = "en"
target = "fr"
[text]
tokenizer = "word"
[embedding]
size = 4
[encoder]
size = 4
[decoder]
size = 4
[training]
batch_tokens = 40
epochs = 1
threads = 1
"""
ENTRY = "anaphora.experiment.run_training:train"
FOLDERS = ("experiment", "tasks", "run", "training")
PACKAGE = str(Path(anaphora.__file__).parent)


@dataclass
class Passage:
    """Calls on the way from the entry to the loop."""

    entry: CodeType
    loop: CodeType
    folders: frozenset[str]
    way: list[str] = field(default_factory=list)
    """The files of the calls that hold the experiment, in their order, without repetitions in a row."""
    entered: set[str] = field(default_factory=set)
    calls: int = 0
    arrived: bool = False
    """True once the loop was called."""
    _begun: bool = False

    def see(self, frame: FrameType, event: str, argument: Any) -> None:
        """Take a call into account, for ``sys.setprofile``."""
        code = frame.f_code
        if event != "call" or self.arrived or not code.co_filename.startswith(PACKAGE):
            return
        self._begun = self._begun or code is self.entry
        if not self._begun:
            return
        self.arrived = code is self.loop
        file = code.co_filename[len(PACKAGE) + 1 :]
        self.calls += 1
        self.entered.add(file)
        if self._conducts(file) and (self.arrived or _holds_experiment(frame)) and self.way[-1:] != [file]:
            self.way.append(file)

    @property
    def files(self) -> list[str]:
        """The files of the folders that conduct the experiment."""
        return sorted(filter(self._conducts, self.entered))

    def steps_back(self) -> list[tuple[str, str]]:
        """Return the steps of the way to a file that was passed before."""
        steps = enumerate(pairwise(self.way), 1)
        return [(here, there) for number, (here, there) in steps if there in self.way[:number]]

    def _conducts(self, file: str) -> bool:
        return file.partition("/")[0] in self.folders


def _holds_experiment(frame: FrameType) -> bool:
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    given = [frame.f_locals.get(name) for name in (*code.co_varnames[:count], *code.co_freevars)]
    if given and isinstance(given[0], anaphora.ExperimentBase) and code.co_varnames[:1] == ("self",):
        return False
    return any(isinstance(one, anaphora.ExperimentBase) for value in given for one in (value, *_attributes(value)))


def _attributes(value: Any) -> Iterator[Any]:
    module = getattr(type(value), "__module__", "")
    if module.startswith("anaphora") and not isinstance(value, type):
        yield from getattr(value, "__dict__", {}).values()


def measured(entry: Callable[..., Any], loop: Callable[..., Any], folders: Iterable[str]) -> Passage:
    """Return the calls of a tiny training."""
    passage = Passage(entry.__code__, loop.__code__, frozenset(folders))
    with tempfile.TemporaryDirectory() as folder:
        names = [f"{begin} {end}\n" for begin in "abcdef" for end in "ghij"]
        for split in "train", "val":
            for language in "en", "fr":
                Path(folder, f"{split}.{language}").write_text("".join(names))
        experiment = anaphora.read_experiment(EXPERIMENT, "benchmarks.path", data=[Path(folder)])
        sys.setprofile(passage.see)
        try:
            entry(experiment, Path(folder) / "run")
        finally:
            sys.setprofile(None)
    if not passage.arrived:
        raise SystemExit("The loop was never called: name the function that is, with --loop MODULE:FUNCTION.")
    return passage


def _function(name: str) -> Callable[..., Any]:
    module, _, attribute = name.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), attribute)
    return found


def main() -> None:
    """Print the counts, and with --files the files in order."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.path", description=str(__doc__).partition("\n")[0])
    parser.add_argument(
        "--entry", default="anaphora.experiment.run_training:train", help="function that conducts training"
    )
    parser.add_argument("--loop", default="anaphora.training.loop:train", help="function that updates")
    parser.add_argument("--folders", nargs="+", default=FOLDERS, help="folders of the package that conduct experiments")
    parser.add_argument("--files", action="store_true", help="list the files, and the way of the experiment")
    asked = parser.parse_args()
    passage = measured(_function(asked.entry), _function(asked.loop), asked.folders)
    if asked.files:
        print("\n".join([*passage.files, "", *passage.way, ""]))
    steps = passage.steps_back()
    print(f"files on the way                 {len(passage.files):>6}")
    print(f"times back up                    {len(set(steps)):>6}")
    print(f"  with those that are repeated   {len(steps):>6}")
    print(f"files of the whole package       {len(passage.entered):>6}")
    print(f"calls of the whole package       {passage.calls:>6}")


if __name__ == "__main__":
    main()
