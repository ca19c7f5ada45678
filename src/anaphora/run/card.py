"""``card.md``: what a run is, for whoever finds the folder."""

from collections.abc import Mapping
from typing import Any

import tomli_w

_USE = {
    "translate": 'translator = anaphora.load("{path}")\nprint(translator.translate(["..."])[0].text)',
    "language-model": 'model = anaphora.load("{path}")\nprint(model.score("..."), model.generate("..."))',
}


def render(name: str, experiment: Mapping[str, Any], data: Mapping[str, str], scores: Mapping[str, float]) -> str:
    """The Markdown text for the run called ``name``; ``data`` are fingerprints by part, ``scores`` may be empty."""
    task = str(experiment.get("task", "unknown"))
    parts = [f"# {name}", f"Task: {task}. Trained with Anaphora; every option is in `experiment.toml`."]
    parts.append("## Data")
    if isinstance(experiment.get("data"), Mapping):
        parts.append(_fenced("toml", tomli_w.dumps({"data": experiment["data"]})))
    digests = [f"- `{part}`: SHA-256 `{digest}`" for part, digest in sorted(data.items())]
    parts.append("\n".join(digests) or "Its files were not recorded.")
    parts.append("## Scores")
    lines = [f"| {metric} | {value:.4f} |" for metric, value in sorted(scores.items())]
    parts.append("\n".join(["| metric | value |", "| --- | --- |", *lines]) if lines else "None yet.")
    if task in _USE:
        parts += ["## Use", _fenced("python", "import anaphora\n\n" + _USE[task].format(path=name))]
    return "\n\n".join(parts) + "\n"


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"
