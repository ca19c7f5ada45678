"""A language model as inspection looks at it: see ``prediction.examples``."""

from collections.abc import Iterator, Sequence

from anaphora.batch import Batch, pad
from anaphora.errors import ConfigError, DataError
from anaphora.kernels.runtime import running
from anaphora.prediction.arguments import demand_short, one_text
from anaphora.prediction.examples import Example, Search
from anaphora.search.request import SearchRequest
from anaphora.search.search import search
from anaphora.tasks.language_model.line_scores import LineScores
from anaphora.tasks.language_model.lines import prompt_batch
from anaphora.text.tokenizer import MARKS

_LINE = 200
"""Tokens of a continuation at most."""
_BESIDE = 32
"""Lines that are continued side by side."""
_LONGEST = 65_536
"""Tokens of a text that is looked into."""


class InspectedLanguageModel(LineScores):
    """Texts as a language model reads and continues them."""

    def example(self, text: str, target: str | None = None) -> Example:
        """A text, of several lines for a model of running text; each token is the target of the one before it."""
        if target is not None:
            raise ConfigError("A language model predicts the text that it reads, but a target was given: leave it out.")
        ids, stepper = self._readable(text), self._stepper()
        batch = Batch.of_rows([0], pad([[stepper.bos, *ids]]), pad([[*ids, stepper.eos]]))
        pieces = tuple(self._tokenizer.pieces(ids))
        return Example(batch, {"recurrence": (MARKS[stepper.bos], *pieces)}, (*pieces, MARKS[stepper.eos]))

    def search_for(self, text: str) -> Search:
        """The search for the rest of a line."""
        ids, model = self._readable(text), self._stepper()
        request = SearchRequest(max_length=len(ids) + _LINE, banned_tokens=self._tokenizer.symbols.unwritten)
        return Search(model, prompt_batch(model.bos, [ids], [0]), len(ids), request, self._tokenizer.pieces)

    def searched(self, texts: Sequence[str], beam: int) -> Iterator[tuple[str, float]]:
        """The rests of lines by a beam of this size."""
        rows, model = [self._readable(text) for text in texts], self._stepper()
        for start in range(0, len(rows), _BESIDE):
            own = rows[start : start + _BESIDE]
            batch = prompt_batch(model.bos, own, range(len(own)))
            lengths = [len(ids) + _LINE for ids in own]
            request = SearchRequest(max_length=lengths, beam=beam, banned_tokens=self._tokenizer.symbols.unwritten)
            with running(self._runtime):
                found = search(model, batch, request)
            for [best, *_] in found:
                yield self._tokenizer.decode(best.ids), best.score

    def _encode(self, text: str) -> list[int]:
        """The tokens of a text, its line ends among them."""
        eos = self._tokenizer.symbols.eos
        return [token for line in text.split("\n") for token in [eos, *self._tokenizer.encode(line)]][1:]

    def _readable(self, text: str) -> list[int]:
        """The same of a text that can be looked into; DataError for others."""
        if "\n" in one_text(text) and self._of_sentences:
            raise DataError("A model of sentences reads one line at a time, but the text has several: give one.")
        ids = self._encode(text)
        demand_short(ids, _LONGEST, 1, "give a part of it")
        return ids
