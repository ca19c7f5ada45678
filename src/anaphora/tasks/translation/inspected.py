"""A translator as inspection looks at it: see ``prediction.examples``."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from anaphora.kernels.runtime import running
from anaphora.prediction.arguments import Given, pieces_of, sentence_of
from anaphora.prediction.examples import Example, Search
from anaphora.search.request import SearchRequest
from anaphora.search.search import search
from anaphora.tasks.translation.forced import ForcedDecoding
from anaphora.text.tokenizer import BOS, MARKS


class InspectedTranslator(ForcedDecoding):
    """Sentences as a translator reads and searches them."""

    def example(self, text: str, target: str | None = None) -> Example:
        """A sentence with its given translation, or with the greedy one."""
        source = Given(text, sentence_of(self._source, text, 1))
        if target is None:
            searched = self.search_for(text)
            with running(self._runtime):
                [[best]] = search(searched.stepper, searched.batch, replace(searched.request, beam=1))
            ids = list(best.ids)
            pieces = self._target.pieces(ids)
        else:
            ids = sentence_of(self._target, target, 1)
            pieces = pieces_of(self._target, target, ids)
        [batch] = self._batches([source], [ids])
        end = self._target.pieces([self._target.symbols.eos])
        read = (MARKS[BOS], *pieces)
        of_source = (*pieces_of(self._source, text, source.ids), *self._source.pieces([self._source.symbols.eos]))
        return Example(batch, {"encoder": of_source, "decoder": read, "language_model": read}, (*pieces, *end))

    def search_for(self, text: str) -> Search:
        """The search for the translation of a sentence."""
        ids = sentence_of(self._source, text, 1)
        [batch] = self._batches([Given(text, ids)])
        request = SearchRequest(max_length=longest(len(ids)), banned_tokens=self._target.symbols.unwritten)
        return Search(self._stepper(), batch, 0, request, self._target.pieces)

    def searched(self, texts: Sequence[str], beam: int) -> Iterator[tuple[str, float]]:
        """The translations of sentences by a beam of this size, unnormalised."""
        rows = [Given(text, sentence_of(self._source, text, number)) for number, text in enumerate(texts, 1)]
        stepper, banned = self._stepper(), self._target.symbols.unwritten
        found: dict[int, tuple[str, float]] = {}
        for batch in self._batches(rows, beam=beam):
            numbers = batch.example_ids_B.tolist()
            most = [longest(len(rows[number].ids)) for number in numbers]
            request = SearchRequest(max_length=most, beam=beam, banned_tokens=banned, attention=False)
            with running(self._runtime):
                hypotheses = search(stepper, batch, request)
            for number, [best, *_] in zip(numbers, hypotheses, strict=True):
                found[number] = self._target.decode(best.ids), best.score
        return (found[number] for number in range(len(texts)))


def longest(units: int) -> int:
    """Return the maximum length of a translation of ``units`` tokens, ``</s>`` included."""
    return min(3 * units + 10, 2 * units + 200)
