"""Training of a translator: pairs of sentences, their loss, BLEU where that decides, and fusion (``[fusion]``)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch

from anaphora.data.buckets import LARGE, WINDOW
from anaphora.data.columns import Integers
from anaphora.data.corpora import Pair, PairCorpus
from anaphora.data.directions import split_directions
from anaphora.data.example_store import ExampleStore, example_store
from anaphora.data.mixture import Mixture
from anaphora.data.pairs import PairBatches, pair_fields, scored_batches
from anaphora.data.ragged import Ragged
from anaphora.errors import ConfigError, DataError
from anaphora.evaluation.bleu import bleu, metric_of
from anaphora.evaluation.perplexity import perplexity
from anaphora.events import Note, RemarkedMetrics, Report
from anaphora.models.translator import GivenGuide, LearntGuide, Translator
from anaphora.nn.lengths import Lengths
from anaphora.prediction.runtime import runtime_for_validation
from anaphora.protocols import Batches, Searchable
from anaphora.run.weights import fill, tensors_of
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.pretrained import PretrainedRun
from anaphora.tasks.task import Tokenizers
from anaphora.tasks.training_job import PairJob, TrainingContext, UpdatingJob, mean_loss, not_skipping, report_unknown
from anaphora.tasks.translation.config import TranslationExperiment, TranslatorExperiment
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.translation import Translation
from anaphora.tasks.translation.word_links import GivenLinks, WordAligner, learnt_links, with_placeholders
from anaphora.text.tokenization import resegment_of
from anaphora.text.tokenizer import Tokenizer
from anaphora.training.loop import Record, Validate
from anaphora.wording import inflect

MOST_RECORDS = 100
"""Validations of a training whose alignments are recorded."""
SHORT = range(3, 17)
"""Tokens of a side of a pair whose alignment is recorded."""
_COUNTED = 10_000
_LEAST_VARIANCE = 0.1
"""Variance of pairs that are alike, as in a toy language."""


class TranslatorJob(PairJob, UpdatingJob):
    """Training of a translator: see ``training_job.UpdatingJob``."""

    _experiment: TranslatorExperiment

    def __init__(self, experiment: TranslatorExperiment, report: Report) -> None:
        """Find and check the data; errors as for ``found``."""
        super().__init__(experiment, report)
        guide = experiment.guided_alignment
        self._given = GivenLinks(guide, self.splits.train, report) if isinstance(guide, GivenGuide) else None

    @cached_property
    def _words(self) -> WordAligner:
        return WordAligner(self._experiment, self.splits.train)

    @property
    def fingerprints(self) -> Mapping[str, str]:
        """SHA-256 of the data by part, and of the links that attention is guided by."""
        return {**super().fingerprints, **({"guide": self._given.fingerprint} if self._given else {})}

    def with_data_statistics(self, experiment: ExperimentBase, report: Report) -> ExperimentBase:
        """Return the experiment, large corpora shuffled in windows where it leaves that open."""
        assert isinstance(experiment, TranslatorExperiment)
        count = self.learnt_from.count
        mixed = len(self.learnt_from.parts) > 1
        if experiment.data.shuffle_window or experiment.start.replay or mixed or count <= LARGE:
            return experiment
        report(Note(f"{WINDOW:,} of {inflect(count, 'pair')} are shuffled at a time (data.shuffle_window)."))
        self._experiment = changed = experiment.with_options({"data.shuffle_window": WINDOW})
        return changed

    def _dictionary(self, report: Report) -> Mapping[str, str] | None:
        return self._words.dictionary(report) if self._experiment.text.annotates else None

    def counts(self, context: TrainingContext, report: Report) -> Integers:
        """Return how often each token of the target is stored, and ``</s>`` once a pair."""
        _, target = pair_fields(context.tokenizers)
        return target.counts(self.encoded_train(context.tokenizers, context.encoded / "train", report).rows(target))

    def set_token_counts(self, context: TrainingContext, report: Report) -> None:
        """Tell the model token counts, as for any work, and the lengths of translations."""
        super().set_token_counts(context, report)
        unknown = [module for module in context.model.modules() if isinstance(module, Lengths) and not module.known]
        if unknown:
            train = self.encoded_train(context.tokenizers, context.encoded / "train", not_skipping(report))
            for module in unknown:  # </s> counts on both sides
                module.set_lengths(*(torch.from_numpy(side.lengths + 1) for side in train.all_rows()))

    def batches(self, context: TrainingContext, report: Report) -> Batches:
        """Return batches by token budget."""
        train = self.encoded_train(context.tokenizers, context.encoded / "train", report)
        tokenizers, links = context.tokenizers, self._links(train, context, report)
        mixture = self._mixture(train, tokenizers["source"])
        return self._batches_of(train, tokenizers, context.training.batch_tokens, alignments=links, mixture=mixture)

    def _mixture(self, train: ExampleStore, source: Tokenizer) -> Mixture:
        """Return the parts of the stored training split, in the proportions of the experiment."""
        parts, seed = self.learnt_from.parts, self._experiment.training.seed
        ends = np.searchsorted(train.numbers[:], np.cumsum([part.count for part in parts[:-1]]))
        counts = np.diff([0, *ends, len(train)]).tolist()
        return Mixture(counts, self._experiment.data.proportions.draws(parts, counts), self.prefixes(source), seed)

    def _batches_of(self, train: ExampleStore, tokenizers: Tokenizers, batch_tokens: int, **others: Any) -> PairBatches:
        text = self._experiment.text
        return PairBatches(
            train,
            batch_tokens=batch_tokens,
            seed=self._experiment.training.seed,
            shuffle_window=self._experiment.data.shuffle_window,
            resegment=(resegment_of(text, tokenizers["source"]), resegment_of(text, tokenizers["target"])),
            **others,
        )

    def encoded_train(self, tokenizers: Tokenizers, folder: Path, report: Report) -> ExampleStore:
        """Return the training split as ids, encoded in ``folder`` unless it was before."""
        return self._encode(self.learnt_from, tokenizers, folder, report)

    def _encode(self, part: PairCorpus, tokenizers: Tokenizers, folder: Path, report: Report) -> ExampleStore:
        """Return a part as ids, its rare words annotated where they should be."""
        annotates = self._experiment.text.annotates
        transform = self._words.annotation(part, tokenizers["target"], report) if annotates else None
        fields, longest = pair_fields(tokenizers), self._experiment.data.max_length
        return example_store(
            part,
            fields,
            folder,
            noun="pair",
            longest=longest,
            transform=transform,
            threads=self._experiment.training.threads,
            report=report,
        )

    def _links(self, train: ExampleStore, context: TrainingContext, report: Report) -> Ragged | None:
        """Return the links that attention is guided by, if it is."""
        guide, path = self._experiment.guided_alignment, context.encoded / "train.links"
        if self._given:
            return self._given.tokens(train, path, report)
        return learnt_links(guide, train, path, report) if isinstance(guide, LearntGuide) else None

    def validation(self, context: TrainingContext, report: Report) -> Validate:
        """Return the measurement of the validation split: its loss, and the scores of its outputs.

        Of several directions it is the mean over them, with the measurements of each.
        """
        parts = self.splits.valid.parts
        names = ["-".join(part.languages) for part in parts] if len(parts) > 1 else [""]
        measures = {name: self._measure(part, context, name, report) for name, part in zip(names, parts, strict=True)}

        def validate(model: torch.nn.Module) -> RemarkedMetrics:
            found = {name: measure(model) for name, measure in measures.items()}
            means = {key: sum(one[key] for one in found.values()) / len(found) for key in found[names[0]]}
            each = {f"{key} {name}": one[key] for name, one in found.items() if name for key in one}
            loss = means.pop("loss")
            remark = " ".join(one.remark for one in found.values())
            return RemarkedMetrics({"loss": loss, "perplexity": perplexity(loss, 1), **means, **each}, remark)

        return validate

    def _measure(
        self, part: PairCorpus, context: TrainingContext, name: str, report: Report
    ) -> Callable[[torch.nn.Module], RemarkedMetrics]:
        """Return the measurement of a part of the validation split, called ``name`` where there are several."""
        tokenizers, folder = context.tokenizers, context.encoded / "-".join(filter(None, ("valid", name)))
        store = self._encode(part, tokenizers, folder, report)
        report_unknown(store.all_rows()[1].ids, tokenizers["target"].symbols, context.run, report)
        tags = self.prefix(part, tokenizers["source"])
        batches = scored_batches(store, context.training.batch_tokens, tags)
        example = [source for source, _ in short_pairs(part, tokenizers, 1)]

        def measure(model: torch.nn.Module) -> RemarkedMetrics:
            translator = self.translator(model, tokenizers, tags)
            scores = self.scores(translator, part, store.numbers[:])
            sample = zip(example, self.outputs(translator, example), strict=True)
            remark = " ".join(f'Sample: "{source}" -> "{output}".' for source, output in sample).replace("\t", " ")
            return RemarkedMetrics({"loss": mean_loss(model, batches), **scores}, remark)

        return measure

    def scores(self, translator: TranslationPredictor, part: PairCorpus, numbers: Integers) -> Mapping[str, float]:
        """Return the scores of the outputs for pairs of these numbers in a part; none where only loss counts."""
        return {}

    def outputs(self, translator: TranslationPredictor, sources: Sequence[str]) -> list[str]:
        """Return what a translator writes for ``sources``, searched as [evaluation] says for validation."""
        beam = self._experiment.evaluation.validation_beam
        return [output.text for output in translator.translate(sources, beam=beam, protect=())]

    def translator(self, model: torch.nn.Module, tokenizers: Tokenizers, tags: tuple[int, ...]) -> TranslationPredictor:
        """Return a predictor of ``model`` in training, for sources behind these tags."""
        stepper, runtime = cast(Searchable, model).stepper, runtime_for_validation(model)
        sides, penalty = (tokenizers["source"], tokenizers["target"]), self._experiment.evaluation.length_penalty
        return TranslationPredictor(stepper, *sides, tags=tags, length_penalty=penalty, runtime=runtime)


class TranslationJob(TranslatorJob):
    """Training of a translator of sentences."""

    _experiment: TranslationExperiment

    def __init__(self, experiment: TranslationExperiment, report: Report) -> None:
        """Find and check the data; MissingExtraError where BLEU decides and its tokeniser is missing."""
        if experiment.training.metric == "bleu":
            for _, target in experiment.data.directions:
                metric_of("BLEU", target, experiment.evaluation.conditions)
        paths = (Path(split_directions(file)[1]) for file in experiment.data.synthetic)
        if missing := next((path for path in paths if not path.exists()), None):
            raise DataError(f"--synthetic should be a file or a folder, but there is no {missing}: check the path.")
        super().__init__(experiment, report)
        fraction, seed = experiment.data.placeholders, experiment.training.seed
        if fraction:
            self.learnt_from = with_placeholders(self.learnt_from, self._words, fraction, seed, report)

    def with_token_statistics(self, experiment: ExperimentBase, tokenizers: Tokenizers) -> ExperimentBase:
        """Return the experiment with the length model of each direction, if it is to have one."""
        assert isinstance(experiment, TranslationExperiment)
        if not experiment.evaluation.length_model or experiment.evaluation.length_ratios:
            return experiment
        real = [part for part in self.learnt_from.parts if not part.synthetic]
        directions = experiment.data.directions
        of_each = [[part for part in real if len(directions) == 1 or part.languages == one] for one in directions]
        ratios, variances = zip(*(self._length_statistics(parts, tokenizers) for parts in of_each), strict=True)
        lengths = {"evaluation.length_ratios": ratios, "evaluation.length_variances": variances}
        self._experiment = changed = experiment.with_options(lengths)
        return changed

    def _length_statistics(self, parts: Sequence[PairCorpus], tokenizers: Tokenizers) -> tuple[float, float]:
        """Return ratio and variance of a ``LengthModel`` of pairs in one direction, with all that the encoder reads."""
        sources, targets = zip(*islice(chain.from_iterable(parts), _COUNTED), strict=True)
        tags = len(self.prefix(parts[0], tokenizers["source"]))
        inputs_N = np.array([tags + len(ids) + 1 for ids in tokenizers["source"].encode_lines(sources, 1)])
        outputs_N = np.array([len(ids) + 1 for ids in tokenizers["target"].encode_lines(targets, 1)])
        ratio = outputs_N.sum() / inputs_N.sum()
        variance = ((outputs_N - ratio * inputs_N) ** 2 / inputs_N).mean()
        return float(ratio), max(float(variance), _LEAST_VARIANCE)

    def scores(self, translator: TranslationPredictor, part: PairCorpus, numbers: Integers) -> Mapping[str, float]:
        """Return BLEU where it decides."""
        if self._experiment.training.metric != "bleu":
            return {}
        pairs = list(part)
        sources, references = zip(*(pairs[number] for number in numbers.tolist()), strict=True)
        texts = self.outputs(translator, sources)
        language, condition = part.languages[1], self._experiment.evaluation.conditions
        return {"bleu": bleu(texts, references, language=language, condition=condition).value}

    def recording(self, context: TrainingContext) -> Record | None:
        """Return a record of the alignments of the first short validation pairs, as many as [evaluation] asks for."""
        tokenizers = context.tokenizers
        pairs = short_pairs(self.splits.valid.parts[0], tokenizers, self._experiment.evaluation.recorded_alignments)
        if not pairs:
            return None
        sources, targets = zip(*pairs, strict=True)
        tags = self.prefix(self.splits.valid.parts[0], tokenizers["source"])

        def record(model: torch.nn.Module) -> Mapping[str, Any]:
            if sum("alignments" in line for line in context.run.metrics.lines()) >= MOST_RECORDS:
                return {}
            found = self.translator(model, tokenizers, tags).score_pairs(sources, targets, attention=True)
            return {"alignments": [_record_of(one) for one in found]}

        return record


def short_pairs(pairs: Iterable[Pair], tokenizers: Tokenizers, count: int) -> list[Pair]:
    """Return the first ``count`` pairs both of whose sides are neither longer nor shorter than ``SHORT``."""

    def fits(pair: Pair) -> bool:
        sides = zip(pair, (tokenizers["source"], tokenizers["target"]), strict=True)
        return all(len(tokenizer.encode(text)) in SHORT for text, tokenizer in sides)

    return list(islice(filter(fits, pairs), count))


def _record_of(translation: Translation) -> dict[str, Any]:
    """Return the pieces of a forced translation and its weights, to three digits after the point."""
    assert translation.weights is not None
    return {
        "source": list(translation.source_pieces),
        "target": list(translation.target_pieces),
        "weights": [[round(float(weight), 3) for weight in row] for row in translation.weights],
    }


class FusedRun(PretrainedRun):
    """The run of the language model that a translator is fused with."""

    def load_into(self, model: torch.nn.Module, tokenizers: Tokenizers, report: Report) -> None:
        """Copy the weights of its best checkpoint into a translator; ConfigError for another target vocabulary."""
        own, target = self.tokenizer, tokenizers["target"]
        if own.fingerprint != target.fingerprint or own.tags != target.tags:
            raise ConfigError(
                f"Fusion needs a language model of the same target vocabulary ({target.symbols.size:,} tokens), "
                f"but {self.path} has another ({own.symbols.size:,}): train it with --from RUN --vocabulary only, "
                f"RUN being the translator."
            )
        checkpoint = self.load(report)
        language_model = cast(Translator, model).language_model
        assert language_model is not None
        kept = {name: checkpoint.model[name] for name in tensors_of(language_model)}
        fill(language_model, kept, checkpoint.path / "model.safetensors")
        report(Note(f"Its language model is {checkpoint.path.name} of {self.path}."))
