"""The ``[data]`` table: where text comes from, and what its splits are called."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from anaphora.config import Config
from anaphora.data.directions import Direction, directed_paths, languages_named, split_directions
from anaphora.data.fetch import corpus_folder
from anaphora.data.filters import Filter
from anaphora.data.finding import Names
from anaphora.data.mixture import Proportions
from anaphora.formats.tsv import Layout
from anaphora.options import MAX_COUNT, MAX_LENGTH, SET, Conflict


class DataConfig(Config):
    """Source of text: a known corpus, or files of one's own."""

    corpus: str = "none"
    """A known corpus, fetched before (``anaphora fetch``); "none" when ``files`` are given."""
    files: tuple[str, ...] = ()
    """Folders and files of one's own, put together."""
    train: str = "train"
    """Name of the training files."""
    valid: str = "val"
    """Name of the validation files; "val" also finds valid, validation and dev."""
    test: str = "test"
    """Prefix of the names of test files."""

    @property
    def languages(self) -> Mapping[str, str]:
        """The language of every side by its name: of a text its ``language``; empty where there is none."""
        return {"text": self.language} if hasattr(self, "language") else {}

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"corpus": SET, "files": SET}, "keep one of them"),
        *(
            Conflict({name: ""}, "every name begins so; name the split", written=True)
            for name in ("train", "valid", "test")
        ),
        Conflict(
            lambda data: data.train == data.valid,
            '{at}train and {at}valid are both "{table.train}": name the files of two splits',
            written=True,
        ),
        Conflict(
            lambda data: data.train.startswith(data.test),
            '{at}test = "{table.test}" stands for every name that begins so, {at}train = "{table.train}" among them: '
            "name other files",
            written=True,
        ),
    )

    @property
    def names(self) -> Names:
        """Return the names of the files of the splits."""
        return Names(self.train, self.valid, self.test)

    def paths(self) -> list[Path]:
        """Return the paths of the text; raise DataError for a corpus that was not fetched."""
        return [Path(file) for file in self.files] if self.corpus == "none" else [corpus_folder(self.corpus)]


COLUMNS = Conflict(
    lambda data: bool(data.columns) and (len(data.columns) not in data.sides or not all(map(_is_column, data.columns))),
    "--columns ({at}columns) should be {table.sides_named}: numbers from 1, or names",
)
"""Other columns of a table than there are sides."""
TWICE = Conflict(
    lambda data: len({*data.columns}) < len(data.columns),
    "--columns ({at}columns) names one column twice: name {table.sides_named}",
    written=True,
)
"""A column of a table for two sides."""


class TableData(DataConfig):
    """Tables, among other files."""

    columns: tuple[int | str, ...] = ()
    """Columns of the input and the output in a table, counted from 1 or named as in its first line; empty: by the names
    in its first line or by its content."""
    header: tuple[str, ...] = ()
    """All columns of the training table by name, or by number where it has no heading; other tables are compared with
    it. Chosen by the data."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (COLUMNS, TWICE)
    usual_columns: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Names that headings often have for input, output and others."""
    sides: ClassVar[tuple[int, ...]] = (2,)
    """Number of columns that may be chosen."""
    sides_named: ClassVar[str] = "two, that of the input and that of the output"
    keeps_rows: ClassVar[bool] = False
    """True if a sample of the data has the rows of its tables; else it has the usual columns alone."""


class PairsData(DataConfig):
    """Pairs of lines, whatever they are."""

    max_length: int = Field(100, ge=0, le=MAX_LENGTH)
    """Leave out training and validation pairs with more tokens than this on a side (an aligner keeps those of the
    validation split); 0 keeps all."""
    shuffle_window: int = Field(0, ge=0, le=MAX_COUNT)
    """Training pairs that are shuffled together, 64 stretches of the corpus; 0 shuffles all, or takes 1,048,576 when a
    run is begun with more than 4,194,304."""

    @property
    def proportions(self) -> Proportions:
        """Return the proportions of the parts of the training split."""
        return Proportions()


class PairData(PairsData):
    """Pairs of sentences."""

    source: str = "en"
    """The language translated from, as files of it end; several, with commas between, where ``files`` name them."""
    target: str = "de"
    """The language translated into, as files of it end, or several."""
    columns: tuple[int | str, ...] = ()
    """Columns of source and target in a .tsv, counted from 1 or named as in its first line; empty for the only two."""
    quoted: bool = False
    """True if cells of a .tsv may stand in double quotes, with those inside doubled."""
    filters: tuple[Filter, ...] = ()
    """Leave pairs out of training: "near-duplicates" (all but the first), "length-ratio" (over three times the usual
    one), "script" (no letter of the language's scripts), "copies" (both sides the same)."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (COLUMNS, TWICE)
    sides: ClassVar[tuple[int, ...]] = (2,)
    sides_named: ClassVar[str] = "two, that of the source and that of the target"

    @property
    def names(self) -> Names:
        """Names of the files, and where the pairs stand in tables."""
        columns = (self.columns[0], self.columns[1]) if self.columns else None
        return replace(super().names, layout=Layout(columns, self.quoted))

    @model_validator(mode="before")
    @classmethod
    def _take_languages_of_files(cls, table: Any) -> Any:
        files = table.get("files") if isinstance(table, Mapping) else None
        if not isinstance(files, list | tuple) or not all(isinstance(file, str) for file in files):
            return table
        named = languages_named(list(map(Path, files)))
        if other := next((side for side, codes in named.items() if table.get(side, codes) != codes), None):
            raise ValueError(f"names languages before its files ({files[0]}), so leave {other} out.")
        return {**table, **named}

    @property
    def languages(self) -> Mapping[str, str]:
        return {"source": self.source, "target": self.target}

    @property
    def directions(self) -> tuple[Direction, ...]:
        """Pairs of languages that the data has, source first."""
        return tuple(directed_paths([*map(Path, self.files)] or [Path()], (self.source, self.target)))


class TextData(DataConfig):
    """Running text."""

    language: str = "en"
    """Language code of the text, for word tokens."""
    steps: int = Field(100, ge=1, le=MAX_LENGTH)
    """Predictions between two cuts of the gradient (truncated backpropagation); the state is carried over them."""
    windows: Literal["equal", "random"] = "equal"
    """Places where gradients are cut: every ``steps`` predictions, or random ones about as far apart, drawn again every
    epoch, the learning rate following the length (Merity et al. 2018)."""
    max_length: int = Field(0, ge=0, le=MAX_LENGTH)
    """Leave out training sentences with more tokens than this; 0 keeps all."""


def _is_column(named: int | str) -> bool:
    return named >= 1 if isinstance(named, int) else bool(named.strip())


CUTS = ("steps", "windows")
"""The options that say where gradients are truncated; what is fitted in one go has none of them."""


def own_files(table: Any, data: Sequence[Path]) -> dict[str, Any]:
    """The ``[data]`` table for a person's own files; those of a corpus take the names of its splits along with them."""
    options = dict(table) if isinstance(table, Mapping) else {}
    if options.get("corpus", "none") != "none":
        options = {key: value for key, value in options.items() if key not in DataConfig.model_fields}
    return options | {"files": [str(path) for path in data]} | languages_named(data)


def with_whole_paths(table: dict[str, Any], places: Sequence[str]) -> dict[str, Any]:
    """Return the tables with whole paths at these dotted keys, so that a run works from wherever it is called."""
    for key in places:
        name, _, option = key.partition(".")
        inside = table.get(name)
        if isinstance(inside, Mapping) and option in inside:
            table[name] = {**inside, option: _whole(inside[option])}
    return table


def _whole(path: Any) -> Any:
    """Return the path, or what is no path as it is, which the class that owns the option then refuses."""
    if isinstance(path, list):
        return [_whole(one) for one in path]
    if not isinstance(path, str):
        return path
    directions, place = split_directions(path)
    return f"{directions}{Path(place).expanduser().absolute()}"
