"""The data and the validation of a tagger of vectors: the data path of classifiers, with a label for each vector."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

import numpy as np

from anaphora.batch import Batch, pad
from anaphora.data.labelled import LabelledCorpus, LabelledFormat, LabelledSplits, check_labels, labelled_splits
from anaphora.data.tagged_store import TagEncoder
from anaphora.data.trace_store import moments
from anaphora.data.vector_batches import VectorBatches, checked, prediction_batches
from anaphora.errors import DataError
from anaphora.events import Report, Skipped, silent
from anaphora.formats.labelled import Example
from anaphora.formats.span_tags import TagsInPlace, encoding_of
from anaphora.tasks.tag.config import VectorTaggerExperiment
from anaphora.tasks.tag.formats import encoding_in
from anaphora.tasks.tag.tagging import check_splits, frequent, validation_of
from anaphora.tasks.work import Begun, UpdatingWork
from anaphora.text.tokenizer import Tokenizer
from anaphora.text.words import WordTokenizer
from anaphora.training.loop import Validate


def format_of(experiment: VectorTaggerExperiment) -> LabelledFormat:
    """How the files of an experiment are read."""
    return LabelledFormat(separator="|" if experiment.output.several else None, vectors=True, steps=True)


def splits_of(experiment: VectorTaggerExperiment, report: Report = silent) -> LabelledSplits:
    """The splits of an experiment; errors as for ``data.labelled.labelled_splits``."""
    return labelled_splits(experiment.data.paths(), experiment.data.names, format_of(experiment), report)


def settled(experiment: VectorTaggerExperiment, found: LabelledSplits) -> VectorTaggerExperiment:
    """The experiment with the widths and scales of vectors, and the encoding of spans, of its training split.

    Raises DataError for vectors of several widths.
    """
    if experiment.is_settled:
        return experiment
    train, spans, given = found.train, experiment.spans, experiment.vectors
    if spans == "auto":
        encoding = None if experiment.output.several else encoding_of(one.labels for one in train.examples())
        spans = encoding or "none"
    vectors = given.measured(*moments(train.examples(), lambda one: one.vectors.astype(np.float64)))
    return experiment.with_options({"spans": spans, "vectors": vectors})


def tags_in_place(example: Example) -> TagsInPlace:
    """The tags of a sequence and their places."""
    return example.labels, lambda number: f"{example.place}, vector {number + 1},"


def tag_encoder(experiment: VectorTaggerExperiment, tokenizers: Mapping[str, Tokenizer]) -> TagEncoder:
    """Tags as ids, by the vocabulary of a run."""
    return TagEncoder(cast(WordTokenizer, tokenizers["tags"]), experiment.output.several)


class VectorTaggerWork(UpdatingWork):
    """Tagged sequences of vectors, all in memory, and how well they are tagged."""

    _experiment: VectorTaggerExperiment
    splits: LabelledSplits

    def __init__(self, experiment: VectorTaggerExperiment, report: Report) -> None:
        """Find and check the data; DataError for a tag that is barred where it stands, which a CRF never learns."""
        self.splits = splits_of(experiment, report)
        self._experiment = settled(experiment, self.splits)
        check_splits(self.splits, tags_in_place, self._experiment, "sequence", report)

    def learn_vocabulary(self, report: Report) -> dict[str, Tokenizer]:
        """Of the tags alone."""
        corpus = self.splits.train
        counts = Counter(name for example in corpus.examples() for name in corpus.format.names_of(example))
        segmentation = self._experiment.text.segmentation
        return {"tags": WordTokenizer(frequent(counts, 1), lowercase=False, segmentation=segmentation, language="en")}

    def batches(self, begun: Begun, report: Report) -> VectorBatches:
        return self._batches(list(self._kept(report)), tag_encoder(self._experiment, begun.tokenizers), begun)

    def validation(self, begun: Begun, report: Report) -> Validate:
        """Loss, accuracy and F1 of the validation split."""
        encoder, batch_tokens = tag_encoder(self._experiment, begun.tokenizers), begun.training.batch_tokens
        examples = list(self._checked(self.splits.valid))
        batches = self._batches(examples, encoder, begun).epoch(1)

        def expected() -> Iterator[Sequence[str]]:
            return (one.labels for one in examples)

        def alone() -> Iterable[Batch]:
            return prediction_batches([one.vectors for one in examples], batch_tokens)

        return validation_of(encoding_in(self._experiment), encoder, batches, alone, expected)

    def _batches(self, examples: list[Example], encoder: TagEncoder, begun: Begun) -> VectorBatches:
        numbers: dict[str, int] = {}
        rows = [[numbers.setdefault(tag, len(numbers)) for tag in one.labels] for one in examples]
        labels = [encoder.labels(tag) for tag in numbers]
        return VectorBatches(
            [one.vectors for one in examples],
            lambda chosen: encoder.targets(pad([rows[row] for row in chosen]), labels),
            batch_tokens=begun.training.batch_tokens,
            seed=begun.training.seed,
        )

    def _kept(self, report: Report) -> Iterator[Example]:
        """The training sequences that are not too long; DataError where none is left."""
        skipped, train = 0, self.splits.train
        for example in self._checked(train):
            if self.longest and len(example.vectors) > self.longest:
                skipped += 1
            else:
                yield example
        if skipped == train.count:
            raise DataError(
                f"Every sequence of {train.name} has more than {self.longest} vectors: raise data.max_length."
            )
        if skipped:
            report(Skipped(f"sequences of more than {self.longest} vectors were left out of {train.name}", skipped))

    def _checked(self, corpus: LabelledCorpus) -> Iterator[Example]:
        """The examples of a corpus; DataError for a tag that training does not have, and for another width."""
        width = self._experiment.vectors.size
        for example in check_labels(corpus, self.splits.labels):
            checked(example.place, example.vectors, width)
            yield example
