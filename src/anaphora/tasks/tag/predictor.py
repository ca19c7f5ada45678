"""A trained tagger: sentences in, their tags out; files and streams come back with nothing but their tags changed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack

from anaphora.data.tagged_store import TokenEncoder, TokenTable, prediction_batches
from anaphora.errors import ConfigError, DataError
from anaphora.events import silent
from anaphora.formats.span_tags import Encoding
from anaphora.formats.tagged import Plain, Sentence
from anaphora.kernels.runtime import Runtime, running
from anaphora.models.tagger import Tagger
from anaphora.prediction.arguments import demand_several, demand_text, given_text
from anaphora.prediction.examples import Example
from anaphora.prediction.limits import Streaming, Watch
from anaphora.prediction.running import ON_CPU
from anaphora.prediction.stream import answers, by_row
from anaphora.tasks.data_table import chosen_columns
from anaphora.tasks.tag.config import TaggerExperiment
from anaphora.tasks.tag.formats import encoding_in, recognized
from anaphora.tasks.tag.tagging import WithSpans, tags_of

_BUDGET = 8000
"""Tokens of a batch."""


@dataclass(frozen=True)
class Tagged(WithSpans):
    """The tags of a sentence."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    """One for each word; of several labels, those with ``|`` between them, or ``_`` for none."""
    encoding: Encoding | None = None
    """How tags stand for spans; None where they do not."""
    text: str | None = None
    """The lines of the sentence with these tags, as its file has them; None for a sentence from no file."""

    def json(self) -> dict[str, Any]:
        return {"words": list(self.words)} | super().json()

    def __str__(self) -> str:
        """The lines of the sentence in its file, or a word, a tab and its tag a line."""
        if self.text is not None:
            return self.text
        return "".join(f"{word}\t{tag}\n" for word, tag in zip(self.words, self.tags, strict=True))


class TaggerPredictor:
    """A trained tagger."""

    def __init__(
        self, model: Tagger, tokenizer: TokenEncoder, experiment: TaggerExperiment, runtime: Runtime = ON_CPU
    ) -> None:
        """``experiment`` is the settled one that the model was trained by."""
        self.model, self._experiment, self._runtime = model, experiment, runtime
        self.tokenizer = tokenizer
        """Words, characters and tags as ids."""
        self.encoding = encoding_in(experiment)
        """How tags stand for spans; None where they do not."""

    @property
    def tags(self) -> Sequence[str]:
        """All tags, or labels, that there are."""
        return self.tokenizer.tags.vocabulary

    def predict(self, sentences: Iterable[str | Sequence[str]]) -> list[Tagged]:
        """The tags of sentences, each a list of words, or a text that is tokenized first.

        Raises TypeError for one text in place of several.
        """
        return list(self.predict_stream(sentences))

    def predict_stream(
        self, sentences: Iterable[str | Sequence[str]], **streaming: Unpack[Streaming]
    ) -> Iterator[Tagged]:
        demand_several(sentences)
        return self._tagged(sentences, _sentence, lambda sentence, tags: None, **streaming)

    def predict_lines(
        self,
        lines: Iterable[str],
        where: str,
        *,
        format: str = "",
        columns: Sequence[int | str] = (),
        **streaming: Unpack[Streaming],
    ) -> Iterator[Tagged]:
        """The same for lines with their ends that came from the file ``where``; ``text`` has them with their new tags.

        ``format`` is "conllu", "columns", "jsonl" or "text"; without it the name of the file or the first line decides.
        ``columns`` are that of tags, or those of words and tags, where the file has others than training files; without
        them tags get a column after the last there.
        Raises ConfigError for a format that is unknown, DataError with its line for one that is not in the format,
        after the answers for the lines before it.
        """
        experiment = self._experiment.with_options(chosen_columns(columns)) if columns else self._experiment
        found, lines = recognized(experiment, lines, where, streaming.get("report", silent), format)
        return self._tagged(found.read(lines, where), lambda sentence, number: sentence, found.written, **streaming)

    def example(self, text: str, target: str | None = None) -> Example:
        """A sentence with the tags that the model gives it: see ``prediction.examples``."""
        if target is not None:
            raise ConfigError("A tagger is shown with its own tags, but a target was given: leave it out.")
        words = _sentence(text, 1).words
        if not words:
            raise DataError("There is no word in the sentence: give one that has some.")
        [batch] = prediction_batches(TokenTable.of([words], self.tokenizer), _BUDGET)
        with running(self._runtime):
            found = deepcopy(self.model.predict(batch))  # which autograd may save
        return Example(replace(batch, targets=found), {"encoder": words}, self.predict([words])[0].tags)

    def knows(self, word: str) -> bool:
        return self.tokenizer.word(word) != self.tokenizer.words.symbols.unk

    def _tagged(
        self,
        sentences: Iterable[Any],
        read: Callable[[Any, int], Sentence],
        written: Callable[[Sentence, Sequence[str]], str | None],
        **streaming: Unpack[Streaming],
    ) -> Iterator[Tagged]:
        def answer(rows: Sequence[Sentence], watch: Watch, answered: Callable[[int], None]) -> Iterable[Tagged]:
            table = TokenTable.of((sentence.words for sentence in rows), self.tokenizer)
            batches, tags_in = prediction_batches(table, _BUDGET), partial(tags_of, self.model, self.tokenizer)
            found = by_row(batches, tags_in, watch, answered)
            for row, sentence in enumerate(rows):
                tags = tuple(found.get(row, ()))
                yield Tagged(sentence.words, tags, self.encoding, written(sentence, tags))

        return answers(sentences, read, answer, task="predict", unit="sentences", runtime=self._runtime, **streaming)


def _sentence(given: str | Sequence[str], number: int) -> Sentence:
    """A sentence that a caller gave."""
    if isinstance(given, str):
        [sentence] = Plain().read([given_text(given, number).replace("\n", " ")], "")
        return sentence
    words = tuple(given)
    for word in words:
        demand_text(word, number)
        if not word:
            raise DataError(f"Sentence {number} has an empty word: leave it out.")
    return Sentence(number, words, (), (), ())
