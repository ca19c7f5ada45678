"""Options of a translator that cannot be combined, across its tables; those of one table stand beside its options."""

from anaphora.config import SET, Conflict, other_than
from anaphora.text.language import is_unspaced

CONFLICTS = (
    Conflict(
        {"evaluation.conditions": "moses-lowercase", "data.target": is_unspaced},
        "it counts what stands between spaces, which that language is written without; set "
        'evaluation.conditions = "raw"',
    ),
    Conflict(
        lambda experiment: experiment.fusion.kind != "none" and not experiment.start.gives_weights,
        'fusion.kind = "deep" keeps all of a translator but its readout and output as they are: give it one that has '
        "learnt, with its weights (train --from RUN, start.run)",
    ),
    Conflict(
        lambda experiment: experiment.start.encoder != "none" and experiment.start.gives_weights,
        "start.encoder has no effect, since start.run gives an encoder that has learnt: leave it out",
    ),
    Conflict(
        lambda experiment: (
            experiment.start.encoder != "none"
            and experiment.embedding.files
            and (experiment.embedding.shared or "source" in experiment.embedding.files)
        ),
        "start.encoder gives vectors of source units, and so does a file that embedding names for them: keep one of "
        "the two",
    ),
    Conflict(
        {"start.encoder": other_than("none"), "encoder.kind": other_than("recurrent")},
        'it gives layers of recurrence; leave it out, or set encoder.kind = "recurrent"',
    ),
    Conflict(
        {"start.encoder": other_than("none"), "encoder.reversed": True},
        "it gives what reads from left to right; set encoder.reversed = false, or leave start.encoder out",
    ),
    Conflict(
        {"start.encoder": other_than("none"), "encoder.bidirectional": True, "encoder.layers": lambda count: count > 1},
        "it fits the bottom layer alone, since those above read both ways; set encoder.layers = 1, or "
        "encoder.bidirectional = false",
    ),
    Conflict(
        {"guide.kind": "file", "text.rare": "posall"},
        'it puts places between the words that guide.file links; set guide = "learn"',
    ),
    Conflict(
        lambda experiment: experiment.text.sampling_option and experiment.guide.kind != "none",
        "text.{table.text.sampling_option} cuts sentences differently every epoch, but guide links fixed units: leave "
        "out one of the two",
    ),
    Conflict(
        lambda experiment: experiment.embedding.shared and not experiment.text.one_vocabulary,
        "embedding.shared needs one vocabulary for both sides, but each side has one of its own: set embedding.shared "
        "= false, or text.joint = true where the vocabulary is learnt and not of words",
        written=True,
    ),
    Conflict(
        {"encoder.summary_from": SET, "attention.kind": "none", "decoder.start": other_than("mean")},
        "the other direction of the top layer is trained but unused; set encoder.bidirectional = false, or leave "
        "encoder.summary_from out",
        written=True,
    ),
    Conflict(
        {"encoder.summary_from": SET, "decoder.start": ("mean", "zero"), "attention.kind": "soft"},
        'it is the last state that the decoder starts from; set encoder.summary_from = "both", or '
        'decoder.start = "project"',
        written=True,
    ),
    Conflict(
        lambda experiment: (
            experiment.attention.kind == "soft"
            and 0 < experiment.data.longest < getattr(experiment.attention.span, "window", 0)
        ),
        "attention.span.window = {table.attention.span.window} is larger than any sentence (data.longest = "
        '{table.data.longest}): make it smaller, or set attention.span = "global"',
        written=True,
    ),
    Conflict(
        {"evaluation.validation_beam": SET, "training.metric": other_than("bleu")},
        'validation searches for BLEU alone; leave it out, or set training.metric = "bleu" and '
        'training.better = "higher"',
        written=True,
    ),
)
"""By the keys of an experiment."""
