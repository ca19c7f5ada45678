"""The data and the validation of a translator: pairs of sentences, their loss, and BLEU where that decides."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import torch

from anaphora.batch import Batch
from anaphora.data.columns import Integers
from anaphora.data.corpora import PairCorpus
from anaphora.data.pairs import PairBatches, search_batches
from anaphora.data.ragged import Ragged, token_counts
from anaphora.data.shuffle_window import LARGE, WINDOW
from anaphora.data.store import PairStore, pair_store
from anaphora.evaluation.bleu import bleu, metric_of
from anaphora.evaluation.perplexity import perplexity
from anaphora.events import Note, Report
from anaphora.kernels.runtime import Runtime
from anaphora.models.guide import GivenGuide, LearntGuide
from anaphora.nn.device import device_of
from anaphora.nn.lengths import Lengths
from anaphora.protocols import Batches, Searchable
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.pairs import PairWork
from anaphora.tasks.translation.config import TranslationExperiment, TranslatorExperiment
from anaphora.tasks.translation.guidance import GivenLinks, learnt_links
from anaphora.tasks.translation.linked_words import LinkedWords
from anaphora.tasks.translation.placed import with_placeholders
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.rare import RareWords
from anaphora.tasks.translation.recording import MOST_RECORDS, recorded, short_pairs
from anaphora.tasks.work import Begun, UpdatingWork, mean_loss, not_skipping, report_unknown
from anaphora.text import tokenization
from anaphora.text.tokenization import Word
from anaphora.text.tokenizer import Tokenizer
from anaphora.training.loop import Record, Validate
from anaphora.wording import counted


class TranslatorWork(PairWork, UpdatingWork):
    """A translator's experiment, its data found: see ``work.UpdatingWork``."""

    _experiment: TranslatorExperiment

    def __init__(self, experiment: TranslatorExperiment, report: Report) -> None:
        """Find and check the data; errors as for ``found``."""
        super().__init__(experiment, report)
        guide, train = experiment.guided_alignment, self.splits.train
        rare = isinstance(experiment.text, Word) and experiment.text.rare != "none"
        self._words = LinkedWords(experiment, train)
        self._rare = RareWords(self._words) if rare else None
        self._given = GivenLinks(guide, train, report) if isinstance(guide, GivenGuide) else None

    @property
    def fingerprints(self) -> Mapping[str, str]:
        """SHA-256 of the data by part, and of the links that attention is guided by."""
        return {**super().fingerprints, **({"guide": self._given.fingerprint} if self._given else {})}

    def completed(self, experiment: ExperimentBase, report: Report) -> ExperimentBase:
        """Large corpora are shuffled in windows, where the experiment leaves that open."""
        assert isinstance(experiment, TranslatorExperiment)
        count = self.learnt_from.count
        if experiment.data.shuffle_window or experiment.start.replay or count <= LARGE:
            return experiment
        report(Note(f"{WINDOW:,} of {counted(count, 'pair')} are shuffled at a time (data.shuffle_window)."))
        self._experiment = changed = experiment.with_options({"data.shuffle_window": WINDOW})
        return changed

    def _dictionary(self, report: Report) -> Mapping[str, str] | None:
        return self._rare.dictionary(report) if self._rare else None

    def counts(self, begun: Begun, report: Report) -> Integers:
        """Every token of the target as it is stored, and ``</s>`` once a pair."""
        target = begun.tokenizers["target"].symbols
        train = self.encoded_train(begun.tokenizers, begun.encoded / "train", report)
        counts_V = token_counts(train.targets.ids, target.size)
        counts_V[target.eos] += len(train)
        return counts_V

    def tell_counts(self, begun: Begun, report: Report) -> None:
        """As for any work; and tell the model how long translations are."""
        super().tell_counts(begun, report)
        unknown = [module for module in begun.model.modules() if isinstance(module, Lengths) and not module.known]
        if unknown:
            train = self.encoded_train(begun.tokenizers, begun.encoded / "train", not_skipping(report))
            for module in unknown:  # </s> counts on both sides
                module.set_lengths(*(torch.from_numpy(side.lengths + 1) for side in (train.sources, train.targets)))

    def batches(self, begun: Begun, report: Report) -> Batches:
        """Batches by token budget."""
        train = self.encoded_train(begun.tokenizers, begun.encoded / "train", report)
        return self._batched(train, begun.tokenizers, begun.training.batch_tokens, self._links(train, begun, report))

    def _batched(
        self, train: PairStore, tokenizers: Mapping[str, Tokenizer], batch_tokens: int, links: Ragged | None = None
    ) -> PairBatches:
        source, target = tokenizers["source"], tokenizers["target"]
        return PairBatches(
            train,
            source.symbols,
            target.symbols,
            batch_tokens=batch_tokens,
            seed=self._experiment.training.seed,
            shuffle_window=self._experiment.data.shuffle_window,
            resegment=(
                tokenization.resegment_of(self._experiment.text, source),
                tokenization.resegment_of(self._experiment.text, target),
            ),
            alignments=links,
        )

    def encoded_train(self, tokenizers: Mapping[str, Tokenizer], folder: Path, report: Report) -> PairStore:
        """The training split as ids, encoded in ``folder`` unless it was before."""
        return self._encoded(self.learnt_from, tokenizers, folder, self.longest, report)

    def _encoded(
        self, part: PairCorpus, tokenizers: Mapping[str, Tokenizer], folder: Path, longest: int, report: Report
    ) -> PairStore:
        """A part as ids, its rare words annotated where they should be."""
        source, target = tokenizers["source"], tokenizers["target"]
        annotate = self._rare.annotate(part, target, report) if self._rare else None
        return pair_store(part, source, target, folder, longest=longest, annotate=annotate, report=report)

    def _links(self, train: PairStore, begun: Begun, report: Report) -> Ragged | None:
        """The links that attention is guided by, where it is."""
        source, target, path = begun.tokenizers["source"], begun.tokenizers["target"], begun.encoded / "train.links"
        if self._given:
            return self._given.tokens(train, source, target, path, report)
        if isinstance(self._experiment.guided_alignment, LearntGuide):
            return learnt_links(self._experiment.guided_alignment, train, source, target, path, report)
        return None

    def validation(self, begun: Begun, report: Report) -> Validate:
        """The loss of the validation split, and the scores of its outputs."""
        tokenizers = begun.tokenizers
        valid = self._encoded(self.splits.valid, tokenizers, begun.encoded / "valid", self.longest, report)
        report_unknown(valid.targets.ids, tokenizers["target"].symbols, begun.run, report)
        batches = held_out_batches(valid, tokenizers, begun.training.batch_tokens)

        def validate(model: torch.nn.Module) -> Mapping[str, float]:
            loss = mean_loss(model, batches)
            scores = self.scores(model, tokenizers, valid.numbers[:])
            return {"loss": loss, "perplexity": perplexity(loss, 1), **scores}

        return validate

    def scores(
        self, model: torch.nn.Module, tokenizers: Mapping[str, Tokenizer], numbers: Integers
    ) -> Mapping[str, float]:
        """The scores of what ``model`` makes of the validation pairs of these numbers; none where only loss counts."""
        return {}

    def searched(
        self, model: torch.nn.Module, tokenizers: Mapping[str, Tokenizer], sources: Sequence[str]
    ) -> list[str]:
        """What ``model`` makes of ``sources``, searched as [evaluation] says for validation."""
        beam = self._experiment.evaluation.validation_beam
        translator = self.translator(model, tokenizers)
        return [output.text for output in translator.translate(sources, beam=beam, protect=())]

    def translator(self, model: torch.nn.Module, tokenizers: Mapping[str, Tokenizer]) -> TranslationPredictor:
        """``model`` in training as what translates."""
        return TranslationPredictor(
            cast(Searchable, model).stepper,
            tokenizers["source"],
            tokenizers["target"],
            self._experiment.evaluation,
            runtime=Runtime.inference(device_of(model)),
        )


def held_out_batches(valid: PairStore, tokenizers: Mapping[str, Tokenizer], batch_tokens: int) -> Sequence[Batch]:
    """Pairs in batches without more padding than search has, the same every time."""
    source, target = tokenizers["source"].symbols, tokenizers["target"].symbols
    return search_batches(valid.sources, source, batch_tokens=batch_tokens, targets=valid.targets, target=target)


class TranslationWork(TranslatorWork):
    """A translator of sentences, its data found."""

    def __init__(self, experiment: TranslationExperiment, report: Report) -> None:
        """Find and check the data; MissingExtraError where BLEU decides and its tokeniser is missing."""
        if experiment.training.metric == "bleu":
            metric_of("BLEU", experiment.data.target, experiment.evaluation.conditions)
        super().__init__(experiment, report)
        self._of_sentences, train, fraction = experiment, self.splits.train, experiment.data.placeholders
        seed = experiment.training.seed
        self._learnt_from = with_placeholders(train, self._words, fraction, seed, report) if fraction else train

    @property
    def learnt_from(self) -> PairCorpus:
        """The training split, with placeholders where the experiment asks for them."""
        return self._learnt_from

    def scores(
        self, model: torch.nn.Module, tokenizers: Mapping[str, Tokenizer], numbers: Integers
    ) -> Mapping[str, float]:
        """BLEU where it decides."""
        if self._of_sentences.training.metric != "bleu":
            return {}
        pairs = list(self.splits.valid)
        sources, references = zip(*(pairs[number] for number in numbers.tolist()), strict=True)
        texts = self.searched(model, tokenizers, sources)
        language, condition = self._of_sentences.data.target, self._of_sentences.evaluation.conditions
        return {"bleu": bleu(texts, references, language=language, condition=condition).value}

    def recording(self, begun: Begun) -> Record | None:
        """The alignments of the first short validation pairs, as many as [evaluation] asks for."""
        tokenizers = begun.tokenizers
        pairs = short_pairs(self.splits.valid, tokenizers, self._of_sentences.evaluation.recorded_alignments)
        if not pairs:
            return None
        sources, targets = zip(*pairs, strict=True)

        def record(model: torch.nn.Module) -> Mapping[str, Any]:
            if sum("alignments" in line for line in begun.run.metrics.lines()) >= MOST_RECORDS:
                return {}
            found = self.translator(model, tokenizers).score_pairs(sources, targets, attention=True)
            return {"alignments": [recorded(one) for one in found]}

        return record
