"""What is exported computes what the package computes: the same scores and the same text, whatever the options."""

from pathlib import Path
from typing import Any

import pytest

from anaphora.errors import ConfigError

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from anaphora.export.folder import write_folder
from tests.export.driver import both
from tests.networks import SENTENCES, SMALL, TRANSLATORS, untrained_translator, untrained_writer

PLAIN = [*SENTENCES[:2], "a Ünicode çat", "b"]


@pytest.mark.matrix
@pytest.mark.parametrize("name", TRANSLATORS)
def test_an_exported_translator_translates_as_the_package_does(tmp_path: Path, name: str) -> None:
    model, predictor = both(untrained_translator(name), tmp_path)
    for beam, penalty in ((1, 0.0), (3, 0.6)):
        expected = predictor.translate(PLAIN, beam=beam, length_penalty=penalty)
        for sentence, translation in zip(PLAIN, expected, strict=True):
            ids = model.tokens["source"].encode(sentence)
            found, score = model.write(ids, beam, penalty)
            assert model.tokens["target"].decode(found) == translation.text
            assert score == pytest.approx(translation.score, abs=1e-4)
    for target in ("The man", ""):
        ids = [model.tokens[side].encode(text) for side, text in (("source", PLAIN[0]), ("target", target))]
        [scored] = predictor.score_pairs(PLAIN[:1], [target])
        assert sum(model.score(*ids)) == pytest.approx(scored.score, abs=1e-4)


@pytest.mark.parametrize(
    ("table", "named"),
    [
        ({"encoder": {"kind": "convolution"}, "attention": "none"}, "convolution"),
        ({"output": {"kind": "hierarchical"}}, "hierarchical"),
    ],
)
def test_a_model_without_a_graph_is_refused_by_name(tmp_path: Path, table: dict[str, Any], named: str) -> None:
    table = {"encoder": {}, "decoder": {}, **table}
    table["decoder"] = SMALL | table["decoder"]
    trained = untrained_writer({"task": "translate", "embedding": SMALL, **table})
    with pytest.raises(ConfigError, match=named):
        write_folder(trained, tmp_path / "exported")
    assert not (tmp_path / "exported").exists()


@pytest.mark.parametrize("cell", ["lstm", "gru", "elman", "peephole", "two-gate"])
def test_an_exported_language_model_continues_and_scores_as_the_package_does(tmp_path: Path, cell: str) -> None:
    recurrence = {"cell": cell, "size": 8, "layers": 2, "initial_state": "learned" if cell == "lstm" else "zero"}
    recurrence |= {"layer_norm": cell == "gru", "residual": cell == "elman"}
    trained = untrained_writer({"task": "language-model", "embedding": SMALL, "recurrence": recurrence})
    model, predictor = both(trained, tmp_path)
    for sentence in PLAIN:
        ids = model.tokens["text"].encode(sentence)
        for beam in (1, 2):
            expected = predictor.generate(sentence, length=20, lines=1, beam=beam)
            found, score = model.write(ids, beam, longest=len(ids) + 20)
            assert sentence + model.tokens["text"].decode(found[len(ids) :]) == expected.text
            assert score == pytest.approx(expected.score, rel=1e-6, abs=1e-4)
        [scored] = predictor.score_lines([sentence])
        assert sum(model.score([], ids)) == pytest.approx(scored.log10 * 2.302585093, rel=1e-6, abs=1e-4)
