"""Options that several verbs share, and the little languages of their values."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypedDict

import typer

from anaphora.cli.files import given_lines, given_texts, name_of
from anaphora.errors import ConfigError
from anaphora.kernels.device import Device
from anaphora.options import Argument, Excludes, Needs, Option

if TYPE_CHECKING:
    from anaphora.evaluation.adaptation import Adaptation
    from anaphora.tasks.evaluation import Text
    from anaphora.tasks.task import Task

RunFolder = Annotated[Path, Argument("Run folder, as created by anaphora train.", metavar="RUN")]
InitialState = Annotated[Path | None, Option("Initial states (.npz, .safetensors), such as layer0.h.", metavar="FILE")]
SettingsOption = Annotated[
    list[str] | None, Option("Change one option of the experiment; may be repeated.", metavar="KEY=VALUE", name="--set")
]
ColumnsOption = Annotated[str, Option("Columns of input and output (or tags): numbers from 1 or names.", metavar="2,1")]
ToOption = Annotated[str, Option("Language to translate into, of a run of several.", metavar="CODE", name="--to")]
SourceOption = Annotated[str, Option("Language of the text, where a run has several.", metavar="CODE", name="--source")]
Json = Annotated[bool, Option("Print one JSON object instead of text.", name="--json")]

_COMPILED_PRODUCTS = "32"
"""Compiled matrix products that torch and its oneDNN each keep. One takes half a megabyte, is for one number of rows
alone, and is made again in 0.4 ms; of the usual 1,024 a long text fills more and more."""


def _use_threads(count: int) -> int:
    """Let predictions use ``count`` threads, in memory that stays bounded; 0 leaves the choice to torch."""
    for cache in ("LRU_CACHE_CAPACITY", "ONEDNN_PRIMITIVE_CACHE_CAPACITY"):
        os.environ.setdefault(cache, _COMPILED_PRODUCTS)  # read when torch makes its first product
    if count:
        from anaphora.prediction.runtime import use_threads

        use_threads(count)
    return count


Threads = Annotated[
    int, typer.Option(min=0, max=1024, help="Number of CPU threads; 0 for one a core.", callback=_use_threads)
]

PrecisionName = Literal["fp32", "bf16", "int8", "auto"]
TrainingThreads = Annotated[int | None, Option("Number of CPU threads; 0 lets torch choose.", min=0, max=1024)]
"""An option of an experiment."""


@dataclass(frozen=True)
class GivenPairs:
    """A text and its translation, in place of a split of a run."""

    source: Annotated[Path | None, Option("Source text, for a translator.")] = None
    reference: Annotated[Path | None, Option("Reference translation.")] = None

    conflicts: ClassVar[tuple[Excludes | Needs, ...]] = (
        Needs("--source", "--reference"),
        Needs("--reference", "--source"),
    )

    @property
    def pairs(self) -> tuple[Path, Path] | None:
        """Both files, None where they are not given."""
        return (self.source, self.reference) if self.source and self.reference else None


@dataclass(frozen=True)
class GivenTexts(GivenPairs):
    """Texts of any task, in place of a split of a run."""

    text: Annotated[str, Option("Text to score, or - for standard input.", metavar="FILE|-")] = ""
    data: Annotated[Path | None, Option("Data to score, as the task trains on.", metavar="FILE|FOLDER")] = None
    to: ToOption = ""

    conflicts: ClassVar = (
        *GivenPairs.conflicts,
        Excludes("--source", "--text", "{option} is for a translator, {other} for a language model"),
        Excludes("--source", "--data", "{option} and {other} both give a text"),
    )

    def given(self, task: "Task") -> "tuple[Text | None, Path | None]":
        """Return the text and the data; what a task takes as the other is given as that.

        A text has texts, or lines of a format of its task.
        """
        from anaphora.tasks.evaluation import Text

        text, data = self.text, self.data
        if not data and text not in ("", "-") and "text" not in task.takes and "data" in task.takes:
            text, data = "", Path(text)
        elif not text and data and data.is_file() and "data" not in task.takes and "text" in task.takes:
            text, data = str(data), None
        if not text:
            return None, data
        lines = given_lines(text, exact=True) if task.own_formats else given_texts(text)
        return Text(Path(name_of(text)).name, lines), data


@dataclass(frozen=True)
class Combination:
    """Several models that translate together."""

    heading: ClassVar = "Several models"

    mean: Annotated[
        Literal["", "arithmetic", "geometric"], Option("Mean of an ensemble's probabilities.", default="arithmetic")
    ] = ""
    language_model: Annotated[Path | None, Option("Language model of the same vocabulary, for shallow fusion.")] = None
    fusion_weight: Annotated[float, Option("With --language-model: weight of its log-probabilities.")] = 0.2

    conflicts: ClassVar = (Needs("--fusion-weight", "--language-model"),)

    def mean_of(self, runs: int) -> Literal["arithmetic", "geometric"]:
        """Return the mean that is asked for; ConfigError where one run was given."""
        if self.mean and runs == 1:
            raise ConfigError("--mean is for several runs, but one run was given: leave it out, or add runs.")
        return self.mean or "arithmetic"

    @property
    def fusion(self) -> tuple[Path, float] | None:
        """The language model and its weight."""
        return (self.language_model, self.fusion_weight) if self.language_model else None


@dataclass(frozen=True)
class AdaptationOptions:
    """Adaptation of a language model to the text that it reads."""

    neural_cache: Annotated[
        str,
        Option("Neural cache of this many tokens (Grave et al. 2017).", metavar="TOKENS|tokens=..,theta=..,weight=.."),
    ] = ""
    dynamic: Annotated[
        str,
        Option(
            "Dynamic evaluation at this learning rate; 0 fits it (Krause et al. 2018).",
            metavar="RATE|learning_rate=..,steps=..,decay=..,rule=..,epsilon=..",
        ),
    ] = ""

    conflicts: ClassVar = (Excludes("--neural-cache", "--dynamic", "Both are ways to use the text"),)

    def value(self) -> "Adaptation":
        """Return what is asked for; ConfigError for what it does not take."""
        from anaphora.evaluation.adaptation import Dynamic, NeuralCache, Static

        if not self.neural_cache and not self.dynamic:
            return Static()
        from anaphora.config import parse

        if self.neural_cache:
            return parse(NeuralCache, _table(self.neural_cache, "tokens"), "--neural-cache")
        return parse(Dynamic, _table(self.dynamic, "learning_rate"), "--dynamic")


@dataclass(frozen=True)
class Processor:
    """Threads, which are set when the command line is parsed, and precision of a trained network."""

    threads: Threads = 0
    precision: Annotated[PrecisionName, Option("Precision of matrix products.")] = "fp32"


class DeviceAndPrecision(TypedDict):
    """Keyword arguments for what loads a network."""

    device: Device
    precision: PrecisionName


@dataclass(frozen=True)
class Machine(Processor):
    """The same, and the device."""

    device: Annotated[Device, Option("Device of the network.")] = "cpu"

    @property
    def options(self) -> DeviceAndPrecision:
        """The device and the precision."""
        return {"device": self.device, "precision": self.precision}


_DURATION = re.compile(r"(?:(?P<h>\d+(?:\.\d+)?)h)?(?:(?P<m>\d+(?:\.\d+)?)m)?(?:(?P<s>\d+(?:\.\d+)?)s)?")


def seconds(text: str, option: str) -> float:
    """Return the seconds in the time of an ``option``, such as ``30m``, ``1h30m`` or ``90s``.

    ConfigError for anything else, and for none.
    """
    match = _DURATION.fullmatch(text.strip().lower())
    hours, minutes, rest = (float(part or 0) for part in match.groups()) if match else (0.0, 0.0, 0.0)
    found = hours * 3600 + minutes * 60 + rest
    if not found:
        raise ConfigError(f"{option} must be a duration such as 30m, 1h30m or 90s, but is '{text}'.")
    return found


def _table(text: str, first: str) -> dict[str, int | float | str]:
    """Return the options in ``key=value,key=value``; a value alone is that of ``first``."""
    pairs = [part.partition("=") for part in (text if "=" in text else f"{first}={text}").split(",")]
    return {key.strip(): _number(value.strip()) for key, _, value in pairs}


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def columns_in(named: str) -> list[int | str]:
    """Return the columns in ``ColumnsOption``, each a number or a name."""
    return [int(one) if one.isdecimal() else one for one in map(str.strip, named.split(","))] if named else []
