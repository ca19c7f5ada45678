"""What the verbs are given, opened: a translator, a language model, a recipe."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import tomli_w

from anaphora.cli.options import known_mean
from anaphora.errors import ConfigError, DataError, RunError
from anaphora.events import Note, Report

if TYPE_CHECKING:
    from anaphora.pipeline import Aligner, LanguageModel, Translator

AUTO = "auto"
"""What the experiment is called that the data chooses."""


def open_translator(folder: Path, report: Report) -> "Translator":
    """The translator in a run folder; RunError when it holds another kind of model."""
    from anaphora.pipeline import Translator, load

    model = load(folder, report=report)
    if not isinstance(model, Translator):
        raise RunError(f"{folder} should be a translator, but is {_kind(model)}")
    return model


def open_translators(
    folders: Sequence[Path], mean: str, fusion: tuple[Path, float] | None, report: Report
) -> "Translator":
    """The translators in run folders as one, beside the language model of ``fusion``, weighted, where there is one.

    Raises ConfigError where they do not go together, or ``mean`` is none.
    """
    from anaphora.pipeline import Translator

    how = known_mean(mean, len(folders))
    translators = [open_translator(folder, report) for folder in folders]
    together = translators[0] if len(translators) == 1 else Translator.ensemble(translators, how)
    return together if fusion is None else together.fused(open_language_model(fusion[0], report), fusion[1])


def open_language_model(folder: Path, report: Report) -> "LanguageModel":
    """The language model in a run folder; RunError when it holds another kind of model."""
    from anaphora.pipeline import LanguageModel, load

    model = load(folder, report=report)
    if not isinstance(model, LanguageModel):
        raise RunError(f"{folder} should be a language model, but is {_kind(model)}")
    return model


def open_aligner(folder: Path, report: Report) -> "Aligner":
    """The aligner in a run folder; RunError when it holds another kind of model."""
    from anaphora.pipeline import Aligner, load

    model = load(folder, report=report)
    if not isinstance(model, Aligner):
        raise RunError(f"{folder} should be an aligner, but is {_kind(model)}")
    return model


def _kind(model: "Translator | LanguageModel | Aligner") -> str:
    """What a model is, and the verbs for it."""
    return {
        "Translator": "a translator: see anaphora translate.",
        "LanguageModel": "a language model: see anaphora generate and evaluate.",
        "Aligner": "an aligner: see anaphora align.",
    }[type(model).__name__]


def experiment_text(recipe: str, data: list[Path], source: str, target: str, report: Report) -> tuple[str, str]:
    """The TOML of an experiment, and what messages call it; ConfigError when there is none.

    It is that of a recipe, of a file when the name ends in ``.toml``, or for ``auto`` and no name that chosen by the
    look of the data.
    """
    if recipe in ("", AUTO):
        from anaphora.experiment.auto import automatic

        return automatic(data, source, target, report), f"{AUTO}.toml"
    if not recipe.endswith(".toml"):
        return _recipe(recipe, bool(data), report), f"{recipe}.toml"
    try:
        return Path(recipe).read_text(encoding="utf-8"), recipe
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError(f"The experiment {recipe} cannot be read: {reason}.") from None


def _recipe(name: str, own_text: bool, report: Report) -> str:
    """The TOML of a recipe; a translator's without the lower case and the scores of its corpus, for text of one's own.

    These are the conditions that others published their figures under. People want their letters back.
    """
    from anaphora import recipes
    from anaphora.experiment.overrides import override, read_table

    text = recipes.read(name)
    table = read_table(text, f"{name}.toml")
    if not own_text or table["task"] != "translate" or not table.get("text", {}).get("lowercase", False):
        return text
    report(
        Note(
            f"Your own text keeps its capitals and is scored with them, though {name} lower-cases its corpus; "
            f"--set text.lowercase=true --set evaluation.conditions=moses-lowercase does so here too."
        )
    )
    return tomli_w.dumps(override(table, ["text.lowercase=false", "evaluation.conditions=raw"]))


def given_lines(file: str) -> list[str]:
    """The lines of a file, or of standard input for ``-``; errors as for ``formats.lines``."""
    from anaphora.formats.lines import decode_lines, read_lines

    return list(decode_lines(sys.stdin.buffer, "standard input") if file == "-" else read_lines(Path(file)))


def split_pairs(lines: list[str]) -> tuple[list[str], list[str]]:
    """The sources and the targets of lines of two columns; DataError for the first line that has not two."""
    pairs = [line.split("\t") for line in lines]
    for number, pair in enumerate(pairs, 1):
        if len(pair) != 2:
            raise DataError(
                f"Pairs are a source and its translation with a tab between them, but line {number} has {len(pair)} "
                f"column(s): put both into one file of two columns."
            )
    return [source for source, _ in pairs], [target for _, target in pairs]


def check_writable(*files: Path | None) -> None:
    """Refuse an output whose folder is missing, or that is one, before any work is done for it."""
    for file in filter(None, files):
        if not file.absolute().parent.is_dir():
            raise DataError(f"{file} cannot be written: there is no folder {file.absolute().parent}; make it first.")
        if file.is_dir():
            raise DataError(f"{file} cannot be written: it is a folder; name a file in it.")
