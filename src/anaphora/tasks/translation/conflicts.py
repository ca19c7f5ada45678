"""Options of a translator that cannot be combined, across its tables; those of one table stand beside its options."""

from anaphora.config import SET, Conflict, other_than
from anaphora.text.language import is_unspaced

CONFLICTS = (
    Conflict(
        lambda experiment: experiment.fusion.kind != "none" and not experiment.start.gives_weights,
        'fusion.kind = "deep" keeps all of a translator but its readout and output as they are: give it one that has '
        "learnt, with its weights (train --from RUN, start.run)",
    ),
    Conflict(
        {"guided_alignment.kind": "file", "text.rare": "posall"},
        'it puts places between the words that guided_alignment.file links; set guided_alignment = "learn"',
    ),
    Conflict(
        lambda experiment: experiment.text.sampling_option and experiment.guided_alignment.kind != "none",
        "text.{table.text.sampling_option} segments sentences anew every epoch, but guided_alignment links fixed "
        "tokens: leave out one of the two",
    ),
    Conflict(
        lambda experiment: experiment.embedding.shared and not experiment.text.one_vocabulary,
        "embedding.shared needs one vocabulary for both sides, but each side has one of its own: set embedding.shared "
        "= false, or text.joint = true where the vocabulary is learnt and not of words",
        written=True,
    ),
    Conflict(
        {"encoder.sentence_encoding_from": SET, "attention.kind": "none", "decoder.initial_state": other_than("mean")},
        "the other direction of the top layer is trained but unused; set encoder.bidirectional = false, or leave "
        "encoder.sentence_encoding_from out",
        written=True,
    ),
    Conflict(
        {"encoder.sentence_encoding_from": SET, "decoder.initial_state": ("mean", "zero"), "attention.kind": "soft"},
        'it is the last state that the decoder starts from; set encoder.sentence_encoding_from = "both", or '
        'decoder.initial_state = "project"',
        written=True,
    ),
    Conflict(
        lambda experiment: (
            experiment.attention.kind == "soft"
            and 0 < experiment.data.max_length < getattr(experiment.attention.window, "radius", 0)
        ),
        "attention.window.radius = {table.attention.window.radius} is larger than any sentence (data.max_length = "
        '{table.data.max_length}): make it smaller, or set attention.window = "global"',
        written=True,
    ),
)
"""By the keys of an experiment."""

OF_SENTENCES = (
    Conflict(
        {"data.placeholders": SET, "text.tokenizer": "byte"},
        "a placeholder is one token, and bytes have none for it; set data.placeholders = 0, or take another tokenizer",
    ),
    Conflict(
        {"data.placeholders": SET, "text.rare": other_than("none")},
        'both replace words of the training pairs; set data.placeholders = 0, or text.rare = "none"',
    ),
    Conflict(
        {"data.placeholders": SET, "guided_alignment.kind": "file"},
        'it changes the words that guided_alignment.file links; set guided_alignment = "learn", or leave it out',
    ),
    Conflict(
        lambda experiment: (
            experiment.data.placeholders and any(map(is_unspaced, (experiment.data.source, experiment.data.target)))
        ),
        "data.placeholders replaces words between spaces, which data.source or data.target is written without: leave "
        "it out",
    ),
    Conflict(
        {"start.replay": SET, "data.shuffle_window": SET}, "new and old pairs are shuffled as a whole; leave it out"
    ),
    Conflict(
        {"start.replay": SET, "training.metric": "bleu"},
        'old and new pairs together are judged by their loss; set training.metric = "loss"',
    ),
    Conflict(
        {"evaluation.recorded_alignments": SET, "attention.kind": other_than("soft")},
        "only attention over positions has alignments; leave it out",
        written=True,
    ),
    Conflict(
        {"evaluation.recorded_alignments": SET, "text.rare": other_than("none")},
        "given translations are not aligned where rare words are annotated; leave it out",
        written=True,
    ),
    Conflict(
        {"evaluation.conditions": "moses-lowercase", "data.target": is_unspaced},
        "it counts what stands between spaces, which that language is written without; set "
        'evaluation.conditions = "raw"',
    ),
    Conflict(
        {"evaluation.validation_beam": SET, "training.metric": other_than("bleu")},
        'validation searches for BLEU alone; leave it out, or set training.metric = "bleu"',
        written=True,
    ),
)
"""Those of a translator of sentences, whose outputs are scored by BLEU."""
