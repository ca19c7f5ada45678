"""From batches to tags, and how well they fit."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import torch

from anaphora.batch import Batch, Ids, Values
from anaphora.data.corpora import Splits
from anaphora.data.tagged_store import TagEncoder
from anaphora.evaluation.tags import TagCounts
from anaphora.events import Note, Report
from anaphora.formats.span_tags import OUTSIDE, Encoding, Span, TagsInPlace, check_tags, parsed, spans_of
from anaphora.models.tagger import StepTagger
from anaphora.nn.device import device_of
from anaphora.tasks.tag.config import TagExperiment
from anaphora.tasks.tag.formats import encoding_in
from anaphora.tasks.work import mean_loss
from anaphora.text.tokenizer import MARKS
from anaphora.training.loop import Validate
from anaphora.wording import counted


class WithSpans:
    """Tags that may stand for spans."""

    tags: tuple[str, ...]
    encoding: Encoding | None

    @property
    def spans(self) -> list[Span]:
        """The spans, none where tags are not of spans."""
        return spans_of(self.tags, self.encoding) if self.encoding else []

    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"tags": list(self.tags)}
        return found | ({"spans": [span._asdict() for span in self.spans]} if self.encoding else {})


def tags_of(model: StepTagger, encoder: TagEncoder, batch: Batch) -> list[list[str]]:
    """The tags of each row of a batch; puts the model into evaluation mode."""
    found = model.predict(batch.to(device_of(model)))
    lengths = cast(Ids | Values, batch.inputs).lengths_B.tolist()
    if isinstance(found, Ids):
        names = encoder.tags.vocabulary
        return [[names[tag] for tag in tags[:n]] for tags, n in zip(found.ids_BT.tolist(), lengths, strict=True)]
    several = cast(Values, found).values_BTD.tolist()
    return [
        [encoder.tag(label for label, there in enumerate(labels) if there) for labels in tags[:n]]
        for tags, n in zip(several, lengths, strict=True)
    ]


def validation_of(
    encoding: Encoding | None,
    encoder: TagEncoder,
    batches: Sequence[Batch],
    alone: Callable[[], Iterable[Batch]],
    expected: Callable[[], Iterable[Sequence[str]]],
) -> Validate:
    """What measures a tagger: the loss of ``batches``, and the tags of those for prediction against the expected."""

    def validate(model: torch.nn.Module) -> Mapping[str, float]:
        found: dict[int, list[str]] = {}
        for batch in alone():
            rows = tags_of(cast(StepTagger, model), encoder, batch)
            found.update(zip(batch.example_ids_B.tolist(), rows, strict=True))
        counts = TagCounts(encoding, encoder.several)
        for row, tags in enumerate(expected()):
            counts.add(tags, found[row], [True] * len(tags))
        return {"loss": mean_loss(model, batches), "accuracy": counts.accuracy, "f1": counts.labels.f1}

    return validate


def frequent(counts: Counter[str], least: int) -> list[str]:
    """What is seen at least so often, the most frequent first; equally frequent ones in the order of code points."""
    names = (name for name, count in counts.items() if count >= least and name not in MARKS)
    return sorted(names, key=lambda name: (-counts[name], name))


def check_splits(
    splits: Splits[Any], in_place: Callable[[Any], TagsInPlace], experiment: TagExperiment, noun: str, report: Report
) -> None:
    """Check the tags of training and validation, and report how they are read: as spans, labels or sets of labels.

    Raises DataError for a tag that the encoding does not have, and for one that a CRF bars where it stands.
    """
    encoding, output = encoding_in(experiment), experiment.output
    tags = {tag for example in splits.train.examples() for tag in in_place(example)[0]}
    what = f"{'sets of labels' if output.several else 'labels, not of spans'}: {len(tags):,} different ones"
    if encoding is not None:
        for corpus in (splits.train, splits.valid):
            check_tags(map(in_place, corpus.examples()), encoding, bars=output.kind == "crf")
        types = {read.type for tag in tags if (read := parsed(tag, encoding)) and tag != OUTSIDE}
        what = f"spans in {encoding.upper()}: {counted(len(types), 'type')}"
    report(Note(f"The tags are read as {what}, in {counted(splits.train.count, noun)}."))
