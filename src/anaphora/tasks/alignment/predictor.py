"""Links between the words of sentences and their translations, by a trained aligner."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from anaphora.data.ragged import Ragged
from anaphora.errors import ConfigError
from anaphora.evaluation.alignment import merge, words_of
from anaphora.events import Report, Skipped, silent
from anaphora.formats.dictionary import Entry
from anaphora.formats.pharaoh import Links
from anaphora.prediction.arguments import EncodedSentence, given_pairs, given_text, pieces_of
from anaphora.prediction.limits import UNLIMITED, Count, Limits, Streaming, Watch
from anaphora.prediction.stream import answers
from anaphora.text.tokenizer import MARKS, Tokenizer
from anaphora.text.words import WordTokenizer, spellings
from anaphora.wording import inflect

if TYPE_CHECKING:
    from anaphora.inference.alignment.symmetrise import Symmetrise


class AlignmentPredictor:
    """Links the words of sentences and their translations.

    >>> aligner = anaphora.load("runs/links", kind=anaphora.AlignmentPredictor)
    >>> aligner.align(["the cat sees a book ."], ["le chat voit un livre ."])
    [frozenset({(4, 4), (5, 5), (0, 0), (1, 1), (3, 3), (2, 2)})]
    """

    noun = "an aligner"

    def __init__(self, model: Any, source: Tokenizer, target: Tokenizer) -> None:
        self._model, self._source, self._target = model, source, target

    def align(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        *,
        symmetrise: "Symmetrise | None" = None,
        **streaming: Unpack[Streaming],
    ) -> list[Links]:
        """Return the links between the space-separated words of every pair, in their order.

        Raises DataError for unequal counts, and as ``align_stream``.

        >>> [links] = aligner.align(["the cat sees a book ."], ["le chat voit un livre ."])
        >>> sorted(links)
        [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]
        """
        pairs = given_pairs(sources, targets)
        return list(self.align_stream(pairs, symmetrise=symmetrise, **streaming))

    def align_stream(
        self,
        pairs: Iterable[tuple[str, str]],
        *,
        symmetrise: "Symmetrise | None" = None,
        limits: Limits = UNLIMITED,
        report: Report = silent,
    ) -> Iterator[Links]:
        """Yield the links of pairs as they come, in order; no more than a window is held (``prediction.stream``).

        ``symmetrise`` says how the links of both directions become one set; the run's own way where it is None. A pair
        with a side too long to be looked at has none (a Skipped). Raises StoppedError as ``limits`` say.

        >>> pairs = [("a book", "un livre"), ("the cat", "le chat")]
        >>> [sorted(links) for links in aligner.align_stream(pairs)]
        [[(0, 0), (1, 1)], [(0, 0), (1, 1)]]
        """
        longer = 0

        def read(pair: tuple[str, str], number: int) -> tuple[EncodedSentence, EncodedSentence]:
            source, target = (given_text(text, number) for text in pair)
            return EncodedSentence(source, self._source.encode(source)), EncodedSentence(
                target, self._target.encode(target)
            )

        def answer(
            rows: Sequence[tuple[EncodedSentence, EncodedSentence]], watch: Watch, answered: Count
        ) -> Iterator[Links]:
            nonlocal longer
            sources, targets = Ragged.of(row.ids for row, _ in rows), Ragged.of(row.ids for _, row in rows)
            for (ours, theirs), found in zip(rows, self._model.align_each(sources, targets, symmetrise), strict=True):
                watch.check()
                longer += max(len(ours.ids), len(theirs.ids)) > self._model.longest
                # pieces of an endless line take long, and it has no links
                yield merge(found, _words(self._source, ours), _words(self._target, theirs)) if found else found

        yield from answers(pairs, read, answer, task="align", unit="pairs", limits=limits, report=report)
        if longer:
            limit = inflect(self._model.longest, "token")
            report(Skipped(f"pairs with more than {limit} on a side have no links", longer))

    def dictionary(self, least: float = 0.01) -> Iterator[Entry]:
        """Yield every source word with its translations of at least the probability ``least``, the most probable first.

        Raises ConfigError where tokens are not words.

        >>> [entry.target for entry in aligner.dictionary(0.1) if entry.source == "the"]
        ['les', 'la']
        """
        if not isinstance(self._source, WordTokenizer) or not isinstance(self._target, WordTokenizer):
            raise ConfigError(
                'A dictionary has words, but the tokens of this aligner are not words: set text.tokenizer = "word".'
            )
        ours, theirs = spellings(self._source), spellings(self._target)
        for source, target, probability in self._model.to_target.lexicon.translations(least):
            if min(source, target) >= len(MARKS):
                yield Entry(ours[source], theirs[target], probability)


def _words(tokenizer: Tokenizer, side: EncodedSentence) -> list[int | None]:
    return words_of(pieces_of(tokenizer, side.text, side.ids))


def make_predictor(trained: Any) -> AlignmentPredictor:
    """Return the predictor of a ``TrainedModel``."""
    return AlignmentPredictor(trained.model, trained.tokenizers["source"], trained.tokenizers["target"])
