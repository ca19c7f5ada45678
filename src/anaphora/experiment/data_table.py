"""The ``[data]`` table: where text comes from, and what its parts are called."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from anaphora.config import Config
from anaphora.errors import ConfigError


class DataConfig(Config):
    """Where text comes from: a known corpus, or files of one's own."""

    corpus: str = "none"
    """A known corpus, fetched before (``anaphora fetch``); "none" when ``files`` are given."""
    files: tuple[str, ...] = ()
    """Folders and files of one's own, put together."""
    train: str = "train"
    """What the files of the training part are called."""
    valid: str = "val"
    """What the files of the validation part are called; "val" also finds valid and dev."""
    test: str = "test"
    """What the names of the test parts begin with."""


class PairData(DataConfig):
    """Pairs of sentences."""

    source: str = "en"
    """The language translated from, as files of it end."""
    target: str = "de"
    """The language translated into, as files of it end."""
    longest: int = Field(100, ge=0)
    """Pairs of the training and the validation part with more units than this on a side are left out (an aligner keeps
    those of the validation part); 0 keeps them all."""


class TextData(DataConfig):
    """Running text."""

    language: str = "en"
    """The language of the text, for units that are words."""
    steps: int = Field(100, ge=1)
    """Predictions between two cuts of the gradient (truncated backpropagation); the state is carried over them."""
    windows: Literal["equal", "random"] = "equal"
    """Whether gradients are cut every ``steps`` predictions, or at random places about as far apart, drawn again every
    epoch, the learning rate following the length (Merity et al. 2018)."""
    longest: int = Field(0, ge=0)
    """Training sentences with more units than this are left out, and none of the validation part; 0 keeps them all."""


CUTS = ("steps", "windows")
"""The options that say where gradients are cut, which what is counted has none of."""


def refuse_parts(data: DataConfig, where: str) -> None:
    """Raise ConfigError where two parts of an experiment from ``where`` would be the same files, or any."""
    for name in ("train", "valid", "test"):
        if not getattr(data, name):
            raise ConfigError(f"{where}: data.{name} is empty, and so is the name of any file: name the part.")
    if data.train == data.valid:
        raise ConfigError(f"{where}: data.train and data.valid are both '{data.train}': name the files of two parts.")
    if data.train.startswith(data.test):
        raise ConfigError(
            f"{where}: data.test = '{data.test}' stands for every name that begins so, data.train = '{data.train}' "
            f"among them: name other files."
        )


def own_files(table: Any, data: Sequence[Path]) -> dict[str, Any]:
    """The ``[data]`` table for a person's own files; those of a corpus take the names of its parts along with them."""
    options = dict(table) if isinstance(table, Mapping) else {}
    if options.get("corpus", "none") != "none":
        options = {key: value for key, value in options.items() if key not in DataConfig.model_fields}
    return options | {"files": [str(path) for path in data]}


def with_whole_paths(table: dict[str, Any]) -> dict[str, Any]:
    """The tables with whole paths to what going on needs again, so that a run works from wherever it is called."""
    data, guide = table.get("data"), table.get("guide")
    if isinstance(data, Mapping) and isinstance(data.get("files"), list):
        table["data"] = {**data, "files": [_whole(path) for path in data["files"]]}
    if isinstance(guide, Mapping) and "file" in guide:
        table["guide"] = {**guide, "file": _whole(guide["file"])}
    return table


def _whole(path: Any) -> Any:
    """What is no path stays, and is refused by those who know what it should be."""
    return str(Path(path).expanduser().absolute()) if isinstance(path, str) else path
