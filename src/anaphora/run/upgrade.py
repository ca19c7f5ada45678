"""Experiments of older formats, brought up to the present one in memory; the files of a run are never changed.

A new format is one more change here and one more stored run in ``tests/runs``. Format 2 has the names of the field
for options that had names of their own; the same map reads TOML files and settings that people wrote before it.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from anaphora.errors import ConfigError
from anaphora.run.manifest import FORMAT

Table = dict[str, Any]

GONE = ""
"""The new name of an option that is no more."""

ROOT = ""
"""The table around all others; so is each of ``members``, and the language model of a deep fusion."""

_ROOTS = ("members", "model")

NAMES: Mapping[str, Mapping[str, str]] = {
    ROOT: {"guide": "guided_alignment", "initialise": "initializer", "mixture": "interpolation", "window": "network"},
    "aligner": {
        "empty": "null_probability",
        "even": "jump_smoothing",
        "hmm": "hmm_iterations",
        "links": "max_word_pairs",
        "model1": "model1_iterations",
        "symmetrise": "symmetrization",
    },
    "attention": {"span": "window", "weights": "normalizer"},
    "cache": {"units": "tokens"},
    "data": {"longest": "max_length"},
    "decoder": {
        "fed": "input_feeding_from",
        "readout": "readout_size",
        "start": "initial_state",
        "start_activation": "initial_state_activation",
        "summary": "sentence_encoding",
        "summary_layer": "sentence_encoding_layer",
        "summary_place": "sentence_encoding_place",
    },
    "dropout": {"rate": "probability"},
    "embedding": {
        "character": "character_size",
        "longest": "max_length",
        "most": "max_filters",
        "widths": "max_kernel",
    },
    "encoder": {"longest": "max_length", "summary_from": "sentence_encoding_from", "widest": "max_kernel"},
    "optimizer": {"centred": "centered", "rate": "learning_rate"},
    "output": {"noise": "noise_samples"},
    "recurrence": {"change_penalty": "temporal_activation_regularization", "size_penalty": "activation_regularization"},
    "schedule": {"minimum": "min_learning_rate"},
    "scheduled_sampling": {"least": "min_probability"},
    "score": {"longest": "max_length"},
    "span": {"window": "radius"},
    "text": {"least": "min_count", "tokenise": "segmentation", "units": "tokenizer"},
    "training": {"better": GONE, "fallbacks": "divergence_retries"},
}
"""Options of format 1 whose names changed in format 2: by the table they stand in, wherever that stands."""

VALUES: Mapping[tuple[str, str], Mapping[str, str]] = {
    (ROOT, "attention"): {"window": "gaussian-window"},
    (ROOT, "embedding"): {"characters": "character-cnn"},
    (ROOT, "model"): {"mixture": "interpolation", "window": "feed-forward"},
    (ROOT, "window"): {"feedforward": "feed-forward"},
    ("attention", "kind"): {"window": "gaussian-window"},
    ("decoder", "summary"): {"start": "initial-state"},
    ("embedding", "kind"): {"characters": "character-cnn"},
    ("scheduled_sampling", "draw"): {"likeliest": "argmax"},
    ("text", "tokenise"): {"none": "whitespace"},
    ("window", "kind"): {"feedforward": "feed-forward"},
}
"""Values that changed with them, by table and option of format 1."""


class RenamedKey(NamedTuple):
    """An option or a value that has another name in the present format, with dotted keys."""

    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.old} is now {self.new}" if self.new else f"{self.old} has no effect any more"


def rename_keys(table: Mapping[str, Any], where: str = "The experiment") -> tuple[Table, list[RenamedKey]]:
    """Return a table that was written for format 1 in the names of format 2, and what was renamed in it.

    What it names as format 2 does stays. Raises ConfigError where it has an option under both names.
    """
    found: list[RenamedKey] = []
    return _rename_value(table, ROOT, "", "", found, where), found


def _rename_value(value: Any, kind: str, before: str, after: str, found: list[RenamedKey], where: str) -> Any:
    """``value`` at the dotted key ``before``, ``after`` the change; a table is of the ``kind`` that NAMES has."""
    if isinstance(value, list | tuple):
        return [
            _rename_value(item, kind, f"{before}[{place}]", f"{after}[{place}]", found, where)
            for place, item in enumerate(value)
        ]
    if not isinstance(value, Mapping):
        return value
    before, after = before and f"{before}.", after and f"{after}."
    names = NAMES.get(kind, {})
    changed: Table = {}
    for key, inner in value.items():
        name = names.get(key, key)
        if name != key:
            found.append(RenamedKey(before + key, name and after + name))
        if name == GONE:
            continue
        if name in changed or (name != key and name in value):
            raise ConfigError(f"{where}: {before}{key} is the old name of {after}{name}, and both are given: keep one.")
        word = VALUES.get((kind, key), {}).get(inner, inner) if isinstance(inner, str) else inner
        if word != inner:
            found.append(RenamedKey(f"{before}{key} = {inner!r}", f"{word!r}"))
        below = ROOT if key in _ROOTS else key
        changed[name] = _rename_value(word, below, f"{before}{key}", f"{after}{name}", found, where)
    return changed


def upgrade(experiment: Table, number: int) -> Table:
    """Return the experiment of format ``number`` as the present format says it."""
    return rename_keys(experiment)[0] if number < FORMAT else experiment
