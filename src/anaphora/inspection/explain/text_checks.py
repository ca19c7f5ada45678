"""Answers of lessons about texts, by the package that evaluates, counts and batches them."""

from typing import Any

import numpy as np

from anaphora.batch import pad
from anaphora.evaluation.bleu import bleu
from anaphora.evaluation.perplexity import Likelihood, TextSize, perplexity
from anaphora.inspection.explain.checks import Values
from anaphora.kernels.rows import rows_of
from anaphora.models.ngram.model import NgramConfig, NgramModel, NgramModelConfig
from anaphora.protocols import VocabularyInfo

Answers = dict[str, Any]


def perplexity_of_text(values: Values) -> Answers:
    """Return the perplexities of a text and its lines, and bits per character."""
    losses, characters = -np.log(values["p"]), values["characters"]
    text = Likelihood(losses.sum(), 7, TextSize(characters, characters, 7))
    lines = {f"PPL[{line}]": perplexity(part.sum(), len(part)) for line, part in ((1, losses[:4]), (2, losses[4:]))}
    return {"PPL": text.perplexity, **lines, "B[character]": text.bits_per_character}


def bleu_of_sentences(values: Values) -> Answers:
    """Return BLEU."""
    return {"BLEU": bleu(values["output"].tolist(), values["reference"].tolist(), language="en").value}


def kneser_ney_of_lines(values: Values) -> Answers:
    """Return the probabilities of an n-gram model, which has single precision."""
    lines = [line.split() for line in values["lines"].tolist()]
    words = ["<pad>", "<unk>", "<s>", "</s>", *sorted({word for line in lines for word in line})]
    ids = np.array([3, *(words.index(word) for line in lines for word in (*line, "</s>"))])
    model = NgramModel(NgramModelConfig(ngram=NgramConfig(order=2)), VocabularyInfo(len(words), 0, 1, 2, 3))
    model.fit(ids, lambda order: None)
    found = Answers()
    for context, place in (("", -1), ("see,", words.index("see")), ("San,", words.index("San"))):
        [log_probs] = model.backoff.log_probs(np.array([[place]]))
        found |= {f"p[{context}{word}]": np.exp(one) for word, one in zip(words, log_probs, strict=True)}
    return {key: one for key, one in found.items() if key in values}


def padding(values: Values) -> Answers:
    """Return cells of padded batches, and rows of a packed one."""
    mixed, found = values["n"].tolist(), Answers()
    for name, lengths in (("m", mixed), ("s", sorted(mixed, reverse=True))):
        found[f"C_{name}"] = sum(pad([[0] * n for n in part]).ids_BT.size for part in (lengths[:4], lengths[4:]))
    return found | {"R": len(rows_of(np.array(lengths[:4]), lengths[0]))}
