"""``card.md``: what a run is, for whoever finds the folder."""

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

import tomli_w

from anaphora.data.catalogue import CORPORA
from anaphora.run.logs import Evaluation, newest

_UNRECORDED = "that of the files; it was not recorded"


def render(
    name: str,
    experiment: Mapping[str, Any],
    data: Mapping[str, str],
    scores: Mapping[str, float],
    evaluations: Iterable[Evaluation] = (),
    use: str = "",
) -> str:
    """Return the Markdown text for the run called ``name``.

    ``data`` are fingerprints by split, ``scores`` the validation metrics of the best checkpoint; both may be
    empty. The last of several measurements under the same conditions is shown. ``use`` is Python that uses the run,
    with ``{path}`` for its name.
    """
    task = str(experiment.get("task", "unknown"))
    parts = [f"# {name}", f"Task: {task}. Trained with Anaphora; every option is in `experiment.toml`."]
    parts.append("## Data")
    source = experiment.get("data")
    if isinstance(source, Mapping):
        # names of files alone: where they lie is nobody else's business
        own = {"files": [PurePath(file).name for file in source["files"]]} if source.get("files") else {}
        parts.append(_fence("toml", tomli_w.dumps({"data": {**source, **own}})))
    digests = [f"- `{part}`: SHA-256 `{digest}`" for part, digest in sorted(data.items())]
    parts.append("\n".join(digests) or "Its files were not recorded.")
    parts.append(f"Licence: {licence_of(source) or _UNRECORDED}.")
    parts.append("## Scores")
    lines = [f"| validation {metric} | {value:.4f} |" for metric, value in sorted(scores.items())]
    parts.append("\n".join(["| metric | value |", "| --- | --- |", *lines]) if lines else "None yet.")
    measured = _metric_rows(evaluations)
    if measured:
        head = ["| text | metric | value | conditions | checkpoint | date |", "| --- | --- | --- | --- | --- | --- |"]
        parts.append("\n".join([*head, *measured]))
    if use:
        parts += ["## Use", _fence("python", "import anaphora\n\n" + use.format(path=name))]
    return "\n\n".join(parts) + "\n"


def with_notice(card: bytes, notice: bytes) -> bytes:
    """Return a card that ends with a notice of its data's licence and attribution."""
    unrecorded = f"Licence: {_UNRECORDED}.\n\n".encode()
    return card.replace(unrecorded, b"") + b"\n## Licence and attribution\n\n" + notice


def _metric_rows(evaluations: Iterable[Evaluation]) -> list[str]:
    """Return a row of a table for every metric."""
    return [
        f"| {of.text} | {metric.name} | {metric.shown} | {metric.conditions.replace('|', ', ')} | {of.checkpoint} | "
        f"{of.date[:10]} |"
        for of in newest(evaluations)
        for metric in of.metrics
    ]


def licence_of(data: Any) -> str:
    """Return the licence of the corpus that a ``[data]`` table names, as the catalogue has it, or nothing."""
    corpus = data.get("corpus") if isinstance(data, Mapping) else None
    return CORPORA[corpus].licence if isinstance(corpus, str) and corpus in CORPORA else ""


def _fence(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"
