"""``anaphora export``: a run in the format of another program.

Examples:
    anaphora export runs/ptb-ngram --to arpa --output ptb.arpa.gz
    anaphora export runs/links --to dictionary --output en-de.tsv
    anaphora export runs/en-de --to bundle --precision int8 --output en-de.anaphora
    anaphora export runs/en-de --to html --output microscope.html
    anaphora export runs/en-de --to onnx --output en-de-onnx
    anaphora export runs/en-de --to onnx --int8 --output en-de-int8
"""

from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from anaphora.cli.files import check_writable
from anaphora.cli.options import Json, RunFolder
from anaphora.cli.progress import listening
from anaphora.cli.talk import print_json, show
from anaphora.errors import AnaphoraError, ConfigError
from anaphora.events import Note, Report
from anaphora.options import Option
from anaphora.tasks.registry import every_task, task_of
from anaphora.wording import check_known

if TYPE_CHECKING:
    from anaphora.export.folder import Example, RoundingResult
    from anaphora.tasks.task import TrainedModel


NETWORKS = ("bundle", "html", "onnx")
"""Formats of exported networks, whatever their task."""

_MEASURED = 200
"""Lines of the validation split on which rounding to int8 is measured."""


def run(
    run_folder: RunFolder,
    output: Annotated[Path, Option("Output file, or new folder for onnx; .gz compresses an ARPA file.")],
    to: Annotated[
        str,
        Option(
            "File format; bundle: one file to load; html: a page that computes the model.",
            default="arpa or dictionary",
            metavar="arpa|bundle|dictionary|html|onnx",
        ),
    ] = "",
    int8: Annotated[bool, Option("With onnx: round weights to 8 bits.")] = False,
    precision: Annotated[
        Literal["", "fp32", "bf16", "int8"],
        Option("With bundle: precision of products and their weights.", default="fp32"),
    ] = "",
    as_json: Json = False,
) -> None:
    """Export a run as one file, a page or ONNX graphs.

    One file is a bundle, an ARPA file or a dictionary.
    """
    to, rounded = _write(run_folder, output, to, precision, int8=int8)
    if as_json:
        written = {"run": str(run_folder), "format": to, "output": str(output)}
        return print_json(written | {"rounding": rounded and asdict(rounded)})
    if rounded:
        show(rounded)
    show(output)


def _write(
    run_folder: Path, output: Path, to: str, precision: Literal["", "fp32", "bf16", "int8"], *, int8: bool
) -> "tuple[str, RoundingResult | None]":
    """Write the export; return its format and, of graphs in int8, the effect of rounding."""
    from anaphora.tasks.runs import experiment_of, export_bundle

    known = [name for task in every_task() for name in task.exports]
    if to == "ctranslate2":
        raise ConfigError("CTranslate2 has no recurrent layers, so no run can be exported to it: use --to onnx.")
    if to:
        check_known("--to", to, [*known, *NETWORKS])
    for option, given, own in (("--precision", precision, "bundle"), ("--int8", int8, "onnx")):
        if given and to != own:
            raise ConfigError(f"{option} belongs to --to {own}: leave it out.")
    if to != "onnx" or not output.exists():
        check_writable(output, read=[run_folder])
    if to == "bundle":
        with listening() as report:
            export_bundle(run_folder, output, precision or "fp32", report)
        return to, None
    exports = task_of(experiment_of(run_folder)).exports
    others = " or ".join(f"--to {name}" for name in exports or NETWORKS)
    if to in NETWORKS and exports:
        raise ConfigError(f"{run_folder} cannot be exported as {to}, which is for networks: use {others}.")
    if to == "onnx":
        from anaphora.export.folder import write_folder
        from anaphora.tasks.runs import load_trained

        with listening() as report:
            trained = load_trained(run_folder, report=report)
            return to, write_folder(trained, output, int8=int8, examples=_examples(trained, report))
    to = to or next(iter(exports), "")
    if to != "html" and to not in exports:
        whose = " and ".join(task.plural for task in every_task() if task.exports.keys() & ({to} if to else known))
        raise ConfigError(f"--to {to or ' or '.join(known)} is for {whose}, not for {run_folder}: use {others}.")
    with listening() as report:
        if to == "html":
            from anaphora.inspection.microscope import write_microscope

            write_microscope(run_folder, output, report=report)
        else:
            exports[to](run_folder, output, report)
    return to, None


def _examples(trained: "TrainedModel", report: Report) -> "Iterator[Example]":
    """Yield some of the validation split; none where the data is no longer there, with a Note."""
    from anaphora.data.corpora import PairCorpus
    from anaphora.export.folder import Example

    try:
        job: Any = task_of(trained.experiment).job(trained.experiment, report)
        valid = job.splits.valid
        if not isinstance(valid, PairCorpus):
            yield from map(Example, islice(valid, _MEASURED))
            return
        for part in valid.parts:
            tags, pairs = job.prefix(part, trained.tokenizers["source"]), islice(part, _MEASURED // len(valid.parts))
            yield from (Example(target, source, tags) for source, target in pairs)
    except AnaphoraError as error:
        report(Note(f"What rounding does to the loss is not measured: {error}", warning=True))
