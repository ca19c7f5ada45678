"""The lengths of translations in whole experiments: counted once, kept with the weights, the same in every batch."""

from pathlib import Path

import anaphora
from anaphora.tasks.base import ExperimentBase

from .runs import assert_resumes, changed, last_weights

UNFOLDED = {
    "attention": "none",
    "encoder": {"kind": "ngram-convolution", "folds": 1, "max_kernel": 3},
    "decoder": {
        "cell": "elman",
        "size": 8,
        "initial_state": "zero",
        "sentence_encoding": "every-step",
        "input_feeding": False,
    },
}


def test_a_run_knows_how_long_its_training_pairs_are_goes_on_as_if_left_alone_and_translates_alike_in_any_batch(
    translator: ExperimentBase, toy_pairs: Path, tmp_path: Path
) -> None:
    sources, targets = ["ad", "ad", "c"] * 6, ["dag", "d", "cadf"] * 6
    for language, lines in ("en", sources), ("fr", targets):
        (toy_pairs / f"train.{language}").write_text("".join(f"{line}\n" for line in lines))
    run = assert_resumes(changed(translator, **UNFOLDED), tmp_path, 2)
    observed = last_weights(run)["encoder.lengths.observed"]
    assert observed[:, 2:4].tolist() == [[6, 12], [6 * 5, 6 * (4 + 2)]]
    assert observed.sum(1).tolist() == [18, 66]
    predictor = anaphora.load(run)
    assert isinstance(predictor, anaphora.TranslationPredictor)
    lines = ["adf", "", "a", "cehadf", "bdg"]
    together = predictor.translate(lines, beam=3)
    for line, expected in zip(lines, together, strict=True):
        assert predictor.translate([line], beam=3) == [expected]
