"""Translation: a sentence of one language in, one of another out.

Without a recipe a translator is sized by the number of pairs. A network with more parameters than its text can fill
memorizes it, so little text gets small layers, much dropout and many epochs, and a learning rate that is high for as
long as it can be. The tiers of 100,000 and 300,000 pairs follow the recipes ``multi30k-en-de`` and ``tatoeba-en-fr``;
the settings not in them are those of ``multi30k-en-de``, but for left-out words, guided attention and averaged weights,
which changed little where they were measured. From 2,000 to 20,000 pairs it is the other way round: a network that
could memorize its text is kept from it by words and merges that are left out at random. Up to there, a lexical model
(Nguyen and Chiang 2018) learns translations of rare words. Up to 2,000 pairs the last checkpoint is kept: of so few
held-out pairs an early one is often the best by chance.
"""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from anaphora.data.corpora import Pair
from anaphora.data.sources import translation_splits
from anaphora.errors import MissingExtraError
from anaphora.evaluation.bleu import metric_of
from anaphora.events import Report
from anaphora.languages import is_unspaced
from anaphora.models.registry import NETWORKS
from anaphora.nn.fusion import DeepFusion, FrozenLanguageModelConfig
from anaphora.nn.stack import StackConfig
from anaphora.options import MAX_COUNT
from anaphora.tasks.evaluation import Answer, Request
from anaphora.tasks.sizing import TOKENS, figure, tier_for, value_at
from anaphora.tasks.task import GivenData, SizedExperiment, Table, Task, WeightSource
from anaphora.tasks.translation.config import TranslationExperiment
from anaphora.tasks.translation.evaluation import DISTILLATION, TAKEN, evaluate
from anaphora.tasks.translation.incremental_training import IncrementalJob
from anaphora.tasks.translation.training import FusedRun, TranslationJob, TranslatorJob
from anaphora.tasks.translation.word_links import common_placeholders
from anaphora.text.placeholders import PATTERNS
from anaphora.text.scripts import main_script
from anaphora.text.tokenization import AnyTokenizer, Bpe, Byte
from anaphora.wording import inflect


def with_fused_run(experiment: Any, parent: Any) -> tuple[Any, Sequence[FusedRun]]:
    """Return the experiment with the tables of the language model that it is fused with, and its run.

    There is none without fusion, or where ``parent``, the experiment of the run that it starts from, has it in it.
    Errors as for ``PretrainedRun``.
    """
    if not isinstance(experiment.fusion, DeepFusion) or (parent and parent.fusion == experiment.fusion):
        return experiment, ()
    run = FusedRun(experiment.fusion.run, "Deep fusion")
    recurrence = StackConfig(**{name: getattr(run.recurrence, name) for name in StackConfig.model_fields})
    model = FrozenLanguageModelConfig(reads=run.reads, embedding=run.embedding, recurrence=recurrence)
    return experiment.with_options({"fusion.model": model}), [run]


class Tier(NamedTuple):
    """The translator for at most this many pairs."""

    pairs: int
    vocabulary: int
    embedding: int
    encoder: int
    decoder: int
    dropout: float
    epochs: int
    rate: float
    """Rate of the first update; it falls in a straight line over the epochs. The fewer updates, the higher."""
    batch: int
    """Tokens of a batch, small where a text gives few updates an epoch; 0 takes what fits into memory."""
    word_dropout: float = 0.0
    """Probability that a word is left out, with further noise, for a network larger than its text."""


TIERS = (
    # in the order of the fields, word dropout by its name
    Tier(700, 1_000, 96, 96, 128, 0.3, 80, 0.005, 500),
    Tier(2_000, 1_000, 96, 96, 128, 0.3, 60, 0.005, 500),
    Tier(20_000, 2_000, 256, 256, 384, 0.4, 30, 0.0045, 1_000, word_dropout=0.15),
    Tier(100_000, 8_000, 256, 256, 384, 0.2, 10, 0.0045, 1_000),
    Tier(300_000, 8_000, 256, 256, 384, 0.1, 6, 0.003, 1_500),
    Tier(1_000_000, 10_000, 256, 384, 512, 0.2, 8, 0.002, 2_000),
    Tier(1 << 62, 16_000, 384, 512, 768, 0.1, 3, 0.001, 0),
)
PLACEHOLDERS = 0.1
"""``data.placeholders`` for text with placeholders, URLs or addresses of its own."""
FEW, NAMES = 20_000, 0.03
"""Pairs at most that have a lexical model; and fraction of source words with which copying of names is not learnt from
as many (``evaluation.protect``)."""
_SEEN = 10_000
"""Pairs that are looked at for both."""


class SentenceTranslation(Task):
    """A sentence of one language in, one of another out."""

    name = "translate"
    noun, plural = "a translator", "translators"
    experiment, network = TranslationExperiment, NETWORKS["translator"]
    takes = TAKEN
    see = "see anaphora translate"
    next_command = "echo 'Your text.' | anaphora translate {run}"
    example = 'translator = anaphora.load("{path}")\nprint(translator.translate(["..."])[0].text)'
    distillation = DISTILLATION
    counted, tiers = "pairs", TIERS

    def with_runs(self, experiment: Any, parent: Any) -> tuple[Any, Sequence[WeightSource]]:
        return with_fused_run(experiment, parent)

    def job(self, experiment: TranslationExperiment, report: Report) -> TranslatorJob:
        """Return the training of a translator, or of one that starts from a trained one whose pairs are replayed."""
        return (IncrementalJob if experiment.start.replay else TranslationJob)(experiment, report)

    def evaluate(self, paths: Sequence[Path], request: Request, report: Report) -> Answer:
        return evaluate(paths, request, report)

    def own_text(self, table: Table, settings: Sequence[str], recipe: str) -> tuple[list[str], str]:
        """Return settings without the lower case and the scores of its corpus, the conditions of published scores."""
        text: Any = table.get("text", {})
        if not text.get("lowercase", False):
            return [], ""
        keeps = not any(setting.replace(" ", "").startswith("text.lowercase=true") for setting in settings)
        note = (
            f"Your own text keeps its capitals and is scored with them, though {recipe} lower-cases its corpus; --set "
            f"text.lowercase=true --set evaluation.conditions=moses-lowercase does so here too."
        )
        return ["text.lowercase=false", "evaluation.conditions=raw"], note if keeps else ""

    def suits(self, data: GivenData) -> bool:
        """True: data that no other task claims is pairs."""
        return True

    def choose(self, data: GivenData) -> SizedExperiment:
        """Return the translator for as many pairs; DataError for data that cannot be read."""
        # with the sides' usual names where none are given, as an experiment has them
        source, target = data.languages[0] or "en", data.languages[1] or "de"
        pairs = translation_splits(data.paths, source, target, data.names).train
        tier = tier_for(min(pairs.count, data.at_most), TIERS)
        table = _translator(tier, data.text, _metric(target.split(",")))
        table["training"] |= {"validate_every": MAX_COUNT} if tier in TIERS[:2] else {}
        if not any(map(is_unspaced, (source, target))) and not isinstance(data.text, Byte):
            seen = list(islice(pairs, _SEEN))
            if _has_placeholders(seen):
                table["data"] = {"placeholders": PLACEHOLDERS}
            if 0 < pairs.count <= FEW and _lacks_names(seen):
                table["evaluation"]["protect"] = ["numbers", "names"]
        return SizedExperiment(table, inflect(pairs.count, "pair"))

    def describe(self, table: Table, text: AnyTokenizer | None) -> str:
        token = TOKENS.get(str(value_at(table, "text.tokenizer")), "token")
        dropouts = (figure(table, f"{part}.dropout", "{:g}") for part in ("embedding", "encoder", "decoder"))
        kept = value_at(table, "evaluation.protect")
        sides = "2 x " if value_at(table, "encoder.bidirectional") is True else ""
        figures = (
            "the vocabulary of that run" if text else figure(table, "text.size", "{:,} ") + f"{token}s",
            figure(table, "embedding.size", "word vectors of {:,}"),
            figure(table, "encoder.size", f"encoder {sides}" + "{:,}"),
            figure(table, "decoder.size", "decoder {:,}"),
            "dropout " + " and ".join(dict.fromkeys(filter(None, dropouts))),
            figure(table, "data.placeholders", "words that become placeholders in {:.0%} of the pairs"),
            f"{' and '.join(kept)} copied" if isinstance(kept, list) and kept else "",
            figure(table, "training.epochs", "{:,} epochs"),
        )
        return f"a translator with {', '.join(filter(None, figures))}"


TASKS = (SentenceTranslation,)


def _has_placeholders(pairs: Sequence[Pair]) -> bool:
    """True if one of a hundred pairs has some that are the same on both sides."""
    return 100 * sum(bool(common_placeholders(pair)) for pair in pairs) >= len(pairs) > 0


def _lacks_names(pairs: Sequence[Pair]) -> bool:
    """True if sources have so few names that a translator does not learn to copy them, and targets are in their script.

    Nouns with capitals, as in German, are no names, but there are many of them.
    """
    sources, targets = (" ".join(side) for side in zip(*pairs, strict=True))
    names = sum(len(found[0].split()) for found in PATTERNS["names"].finditer(sources))
    return names < NAMES * len(sources.split()) and main_script(sources) == main_script(targets)


def _metric(targets: Sequence[str]) -> str:
    """Return BLEU; the loss where a word segmenter that BLEU needs for a target language is not installed."""
    try:
        for target in targets:
            metric_of("BLEU", target, "raw")
    except MissingExtraError:
        return "loss"
    return "bleu"


def _translator(tier: Tier, given: AnyTokenizer | None, metric: str) -> Table:
    merges_left_out = 0.1 if tier.word_dropout else 0.0
    text = given or Bpe(size=tier.vocabulary, joint=True, dropout=merges_left_out, unify_variants=True)
    shared = text.one_vocabulary  # else there is no table for both sides to share
    of_words = (
        {"kind": "variational", "probability": 0.3, "words": tier.word_dropout} if tier.word_dropout else tier.dropout
    )
    layers = {"cell": "gru", "layer_norm": True, "dropout": tier.dropout}
    return {
        "task": "translate",
        "text": asdict(text),
        "embedding": {"size": tier.embedding, "shared": shared, "scaled": True, "dropout": of_words},
        "encoder": layers | {"size": tier.encoder, "bidirectional": True},
        "decoder": layers | {"size": tier.decoder, "input_feeding": True, "readout_size": tier.embedding},
        "attention": {"score": "concat", "size": tier.embedding},
        "output": {"tied": True, "label_smoothing": 0.1, "lexical": tier.pairs <= FEW},
        "training": {
            "optimizer": {"kind": "adam", "learning_rate": tier.rate},
            "schedule": "linear",
            "batch_tokens": tier.batch,
            "epochs": tier.epochs,
            "patience": 10 if tier.word_dropout else 6,
            "metric": metric,
        },
        "evaluation": {"beam": 5, "length_penalty": 1.0, "length_model": True},
    }
