"""Page of a trained model, in one HTML file that needs no server and no network.

``contents.py`` puts the description of a network (``models/description``) into it, with each step as the primitive
operations that ``steps.py`` records, and tensors and tokenizers. A template takes them, the weights as float16 in
base64. In the page, ``primitives.js`` computes a step, ``operations.js`` whole sequences, ``network.js`` the model, as
``inference/`` does here; ``tokens.js`` is text/, ``search.js`` search/. ``page.js`` shows it, ``formula.js`` typesets
how a number came about, and ``tree.js`` draws the search.
"""

import json
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from itertools import islice
from pathlib import Path
from string import Template

import torch

from anaphora.errors import AnaphoraError, ConfigError
from anaphora.events import Report, silent
from anaphora.formats.lines import replacing
from anaphora.inspection.microscope.contents import contents
from anaphora.inspection.microscope.steps import Table
from anaphora.run import Run
from anaphora.tasks.registry import task_of
from anaphora.tasks.runs import load_trained
from anaphora.tasks.task import TrainedModel

LARGEST = 25_000_000
"""Bytes of the largest page: what every browser opens from a file without trouble."""

RECORDS = 60
"""Validations whose alignments a page has at most."""

_EXAMPLES, _LINES, _READABLE = 3, 200, range(5, 12)
"""Examples of a page: the shortest of the first lines with so many words."""

_CHUNK = 3 << 18
"""Bytes of weights in one element, a multiple of 3 and of 2, so that chunks are joined without padding."""

_NAMES = ("numbers", "primitives", "operations", "network", "moses", "tokens", "search", "formula", "tree", "page")
SCRIPTS = tuple(f"{name}.js" for name in _NAMES)
"""Scripts in the order in which they need each other."""


def write_microscope(run: Path, path: Path, examples: Sequence[str] = (), report: Report = silent) -> None:
    """Write a page that computes the best checkpoint of a run, one step at a time, to ``path``.

    ``examples`` are texts that a reader can choose from, by default those of ``examples_of``. Raises as ``page_of``;
    RunError for a folder that holds no trained run.
    """
    trained = load_trained(run, report=report)
    page = page_of(trained, f"Microscope: {run.resolve().name}", examples or examples_of(trained), records_of(run))
    with replacing(path) as file:
        file.write(page.encode())


def examples_of(trained: TrainedModel) -> list[str]:
    """Return short texts of the validation split, beginnings for a language model; none where the data is missing."""
    try:
        valid = islice(task_of(trained.experiment).job(trained.experiment, silent).splits.valid, _LINES)
        lines = [" ".join(one.split()[:4]) if isinstance(one, str) else one[0] for one in valid]
    except AnaphoraError:
        return []
    texts = [text for text in dict.fromkeys(lines) if text.strip()]
    return sorted(texts, key=lambda text: (len(text.split()) not in _READABLE, len(text)))[:_EXAMPLES]


def records_of(run: Path) -> list[Table]:
    """Return the alignments that training recorded, at ``RECORDS`` validations at most, with their updates."""
    found = [line for line in Run.open(run).metrics.lines() if "alignments" in line]
    step = max(1, -(-len(found) // RECORDS))
    kept = found[::-1][::step][::-1]  # the last one is among them
    return [{"update": line["update"], "pairs": line["alignments"]} for line in kept]


def page_of(trained: TrainedModel, title: str, examples: Sequence[str] = (), records: Sequence[Table] = ()) -> str:
    """Return the page of a trained model, its weights rounded to float16; ``records`` as ``records_of`` gives them.

    Raises ConfigError for a model that the page does not compute, and for one whose page would be larger than
    ``LARGEST``.
    """
    network, tensors = contents(trained)
    weights = sum(tensor.numel() for tensor in tensors.values())
    if 8 * weights // 3 > LARGEST:
        raise ConfigError(
            f"This model has {weights:,} weights, a page of {8 * weights / 3e6:,.0f} MB, but a page should have at "
            f"most {LARGEST / 1e6:.0f} MB: train a smaller model."
        )
    evaluation, data = getattr(trained.experiment, "evaluation", None), trained.experiment.data
    lengths = [getattr(evaluation, name, ()) for name in ("length_ratios", "length_variances")]
    network |= {
        "tensors": [[name, list(tensor.shape)] for name, tensor in tensors.items()],
        "search": {
            "beam": getattr(evaluation, "beam", 1),
            "length_penalty": getattr(evaluation, "length_penalty", 0.0),
            "length_model": [one[0] for one in lengths if one],
        },
        "languages": {side: getattr(data, side, "") for side in trained.tokenizers},
        "examples": list(examples),
        "records": list(records),
        "about": f"{weights:,} weights, trained with Anaphora. This page computes everything itself and sends nothing.",
    }
    own = files("anaphora.inspection.microscope")
    packed = b"".join(tensor.detach().to(torch.float16).numpy().astype("<f2").tobytes() for tensor in tensors.values())
    chunks = [b64encode(packed[at : at + _CHUNK]).decode() for at in range(0, len(packed), _CHUNK)]
    return Template((own / "page.html").read_text(encoding="utf-8")).substitute(
        title=escape(title),
        style=(own / "page.css").read_text(encoding="utf-8"),
        script="\n".join((own / name).read_text(encoding="utf-8") for name in SCRIPTS),
        network=json.dumps(network, ensure_ascii=False).replace("<", "\\u003c"),
        weights="\n".join(f'<script type="text/plain" class="weights">{chunk}</script>' for chunk in chunks),
    )
