"""A trained tagger: sentences or sequences of vectors in, the tag of each of their steps out.

Files and streams of sentences come back with nothing but their tags changed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack, cast

from anaphora.batch import Batch, Ids, Values
from anaphora.data.example_batches import Side, prediction_batches
from anaphora.data.fields.field import Field
from anaphora.data.fields.tags import Tags
from anaphora.data.fields.vectors import Vectors
from anaphora.data.fields.words import Words
from anaphora.errors import ConfigError, DataError
from anaphora.events import silent
from anaphora.formats.span_tags import Encoding, Span, TagsInPlace, spans_of
from anaphora.formats.table_columns import chosen_columns
from anaphora.formats.tagged import Plain, Sentence
from anaphora.kernels.runtime import running
from anaphora.prediction.arguments import demand_several, demand_text, given_text
from anaphora.prediction.examples import Example
from anaphora.prediction.limits import Streaming, Watch
from anaphora.prediction.predictor import FieldPredictor, VectorPredictor
from anaphora.tasks.tag.formats import encoding_in, recognize_format
from anaphora.text.tokenizer import UNK


@dataclass(frozen=True)
class TaggedVectors:
    """The tags of a sequence of vectors."""

    tags: tuple[str, ...]
    """One for each vector; of several labels, those with ``|`` between them, or ``_`` for none."""
    encoding: Encoding | None = None
    """Encoding of spans as tags; None where tags are no spans."""

    @property
    def spans(self) -> list[Span]:
        """The spans, none where tags are not of spans."""
        return spans_of(self.tags, self.encoding) if self.encoding else []

    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"tags": list(self.tags)}
        return found | ({"spans": [span._asdict() for span in self.spans]} if self.encoding else {})

    def __str__(self) -> str:
        return " ".join(self.tags)


@dataclass(frozen=True)
class TaggedSentence(TaggedVectors):
    """The tags of a sentence, one for each word."""

    words: tuple[str, ...] = ()
    text: str | None = None
    """The lines of the sentence with these tags, as its file has them; None for a sentence from no file."""
    offsets: tuple[tuple[int, int], ...] = ()
    """Begin and end of each word in the text, in characters; none where words were given."""

    def json(self) -> dict[str, Any]:
        found = {"words": list(self.words)} | super().json()
        return found | ({"offsets": list(map(list, self.offsets))} if self.offsets else {})

    def __str__(self) -> str:
        """Return the lines of the sentence in its file, or a word, a tab and its tag a line."""
        if self.text is not None:
            return self.text
        return "".join(f"{word}\t{tag}\n" for word, tag in zip(self.words, self.tags, strict=True))


class StepPredictor(FieldPredictor[list[str]]):
    """A trained tagger of either kind."""

    @property
    def encoding(self) -> Encoding | None:
        """Encoding of spans as tags; None where tags are no spans."""
        return encoding_in(self.experiment)

    @property
    def tags(self) -> Sequence[str]:
        """All tags, or labels, that there are."""
        return cast(Tags, self.targets).names

    @staticmethod
    def tags_in_place(example: Any) -> TagsInPlace:
        """Return the tags of an example, and the place of each in its file."""
        raise NotImplementedError

    @classmethod
    def fields(cls, experiment: Any, tokenizers: Mapping[str, Any]) -> tuple[Field[Any], Field[Any]]:
        names, several = tokenizers["tags"].vocabulary, experiment.output.several
        return cls.steps(experiment, tokenizers), Tags("tags", names, cls.tags_in_place, several=several)

    @staticmethod
    def steps(experiment: Any, tokenizers: Mapping[str, Any]) -> Field[Any]:
        """Return the field of the inputs."""
        raise NotImplementedError

    def are_known(self, steps: Sequence[Any]) -> list[bool]:
        """Return True for each step that is a word of the vocabulary; vectors always are."""
        return [True] * len(steps)

    def _answer(self, batch: Batch, watch: Watch) -> list[list[str]]:
        found = self.model.predict(batch)
        return cast(Tags, self.targets).decode(found, cast(Ids | Values, batch.inputs).lengths_B.tolist())


class TaggerPredictor(StepPredictor):
    """A trained tagger of sentences."""

    unit = "sentences"

    @staticmethod
    def tags_in_place(example: Any) -> TagsInPlace:
        path, sentence = example
        return sentence.tags, lambda number: f"{path}:{sentence.line_of(number)}"

    @staticmethod
    def steps(experiment: Any, tokenizers: Mapping[str, Any]) -> Words:
        """Return the words with their characters."""
        longest = getattr(experiment.characters, "max_length", 0)
        words, characters = tokenizers["text"], tokenizers["characters"]
        return Words("words", words, characters, lambda example: example[1].words, longest=longest)

    def predict(self, sentences: Iterable[str | Sequence[str]]) -> list[TaggedSentence]:
        """Return the tags of sentences, each a list of words, or a text that is tokenized first.

        Raises TypeError for one text in place of several, and for what is neither a text nor words.

        >>> [found] = tagger.predict(["A man walks."])
        >>> list(zip(found.words, found.tags, found.offsets))
        [('A', 'DET', (0, 1)), ('man', 'NOUN', (2, 5)), ('walks', 'VERB', (6, 11)), ('.', 'PUNCT', (11, 12))]
        """
        return list(self.predict_stream(sentences))

    def predict_stream(
        self, sentences: Iterable[str | Sequence[str]], **streaming: Unpack[Streaming]
    ) -> Iterator[TaggedSentence]:
        """Yield the same for sentences as they come, in order."""
        demand_several(sentences)

        def read(given: Any, number: int) -> tuple[Any, str, Sequence[str]]:
            sentence = _sentence(given, number)
            return (sentence, None), f"Sentence {number}", sentence.words

        return self._stream(sentences, read, **streaming)

    def predict_lines(
        self,
        lines: Iterable[str],
        where: str,
        *,
        format: str = "",
        columns: Sequence[int | str] = (),
        **streaming: Unpack[Streaming],
    ) -> Iterator[TaggedSentence]:
        """Yield the same for lines with their ends from the file ``where``; ``text`` has them with their new tags.

        ``format`` is "conllu", "columns", "jsonl" or "text"; without it the name of the file or the first line decides.
        ``columns`` are that of tags, or those of words and tags, where the file has others than training files; without
        them tags get a column after the last there.
        Raises ConfigError for a format that is unknown, DataError with its line for one that is not in the format,
        after the answers for the lines before it.
        """
        experiment = self.experiment
        if columns:
            experiment = experiment.with_options(chosen_columns(columns))
        found, lines = recognize_format(experiment, lines, where, streaming.get("report", silent), format)

        def read(sentence: Sentence, number: int) -> tuple[Any, str, Sequence[str]]:
            return (sentence, found.write), f"Sentence {number}", sentence.words

        return self._stream(found.read(lines, where), read, **streaming)

    def example(self, text: str, target: str | None = None) -> Example:
        """Return a sentence with the tags that the model gives it: see ``prediction.examples``."""
        if target is not None:
            raise ConfigError("A tagger is shown with its own tags, but a target was given: leave it out.")
        words = _sentence(text, 1).words
        if not words:
            raise DataError("There is no word in the sentence: give one that has some.")
        [batch] = prediction_batches(Side.of(self.field, [self.field.encode([words], str)]), self.batch_size)
        with running(self.runtime):
            found = self.model.predict(batch)
        return Example(replace(batch, targets=found), {"encoder": words}, self.predict([words])[0].tags)

    def are_known(self, steps: Sequence[str]) -> list[bool]:
        return [self.field.word(word) != UNK for word in steps]

    def _finish(self, kept: Any, found: list[str] | None) -> TaggedSentence:
        (sentence, written), tags = kept, tuple(found or ())
        lines = written(sentence, tags) if written else None
        return TaggedSentence(tags, self.encoding, sentence.words, lines, sentence.offsets)


class VectorTaggerPredictor(VectorPredictor[list[str]], StepPredictor):
    """A trained tagger of sequences of vectors."""

    by_step = True

    @staticmethod
    def tags_in_place(example: Any) -> TagsInPlace:
        return example.labels, lambda number: f"{example.place}, vector {number + 1},"

    @staticmethod
    def steps(experiment: Any, tokenizers: Mapping[str, Any]) -> Vectors:
        return Vectors("vectors", experiment.vectors.size, lambda example: example.vectors)

    def _finish(self, kept: None, found: list[str] | None) -> TaggedVectors:
        return TaggedVectors(tuple(found or ()), self.encoding)


def make_predictor(trained: Any) -> StepPredictor:
    """Return the predictor of a ``TrainedModel``."""
    kind = VectorTaggerPredictor if trained.experiment.model == "vectors" else TaggerPredictor
    return kind.of(trained)


def _sentence(given: str | Sequence[str], number: int) -> Sentence:
    """Return a sentence that a caller gave."""
    if isinstance(given, str):
        [sentence] = Plain().read([given_text(given, number).replace("\n", " ")], "")
        return sentence
    if not isinstance(given, Iterable) or isinstance(given, bytes | Mapping):
        kind = type(given).__name__
        raise TypeError(
            f"Sentence {number} should be a text or a list of words, but is of type {kind}: give one of them."
        )
    words = tuple(given)
    for word in words:
        demand_text(word, number)
        if not word:
            raise DataError(f"Sentence {number} has an empty word: leave it out.")
    return Sentence(number, words, (), (), ())
