"""The data and the validation of a tagger."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

import numpy as np

from anaphora.batch import Batch
from anaphora.data.columns import Integers
from anaphora.data.corpora import Splits
from anaphora.data.ragged import token_counts
from anaphora.data.tagged import TaggedCorpus, tags_in_place
from anaphora.data.tagged_store import (
    TaggedBatches,
    TaggedStore,
    TokenEncoder,
    prediction_batches,
    tagged_store,
)
from anaphora.errors import DataError
from anaphora.events import Report
from anaphora.formats.tagged import labels_of
from anaphora.nn.spelling import CharactersConfig
from anaphora.tasks.tag.config import TaggerExperiment
from anaphora.tasks.tag.formats import encoding_in, settled, splits_of
from anaphora.tasks.tag.tagging import check_splits, frequent, validation_of
from anaphora.tasks.work import Begun, UpdatingWork
from anaphora.text.normalise import lowercase_of, normalise
from anaphora.text.text_rule import TextRule
from anaphora.text.tokenizer import MARKS, Tokenizer
from anaphora.text.words import WordTokenizer
from anaphora.training.loop import Validate

_FEWEST = 2
"""Characters that are seen less often in training are unknown, so that what is unknown is learnt too."""


class TaggerWork(UpdatingWork):
    """Tagged sentences, and how well they are tagged."""

    _experiment: TaggerExperiment
    splits: Splits[TaggedCorpus]

    def __init__(self, experiment: TaggerExperiment, report: Report) -> None:
        """Find and check the data; DataError for a tag that is barred where it stands, which a CRF never learns."""
        self._experiment = settled(experiment)
        self.splits = splits_of(self._experiment, report)
        check_splits(self.splits, tags_in_place, self._experiment, "sentence", report)

    def learn_vocabulary(self, report: Report) -> dict[str, Tokenizer]:
        text = self._experiment.text
        lowercase = lowercase_of(text.lowercase, self._experiment.data.language)
        words, letters, tags, rule = Counter[str](), Counter[str](), Counter[str](), TextRule()
        for _, sentence in self.splits.train.examples():
            plain = list(map(rule.plain, sentence.words))
            words.update(normalise(word, lowercase=lowercase) for word in plain)
            letters.update("".join(map(normalise, plain)))
            for tag in sentence.tags:
                tags.update(labels_of(tag) if self._experiment.output.several else [tag])
        if not tags:
            raise DataError("The training split has no label at all: check data.column.")
        chosen = {
            "text": frequent(words, text.min_count)[: text.size - len(MARKS)],
            "characters": frequent(letters, _FEWEST),
            "tags": frequent(tags, 1),
        }
        learnt = {
            side: WordTokenizer(
                names, lowercase=lowercase, segmentation=text.segmentation, language=self._experiment.data.language
            )
            for side, names in chosen.items()
        }
        learnt["text"].rule = rule
        return dict(learnt)

    def counts(self, begun: Begun, report: Report) -> Integers:
        tokens = self._store(self.splits.train, begun, "train", report).tokens
        return token_counts(tokens.words_W[np.asarray(tokens.sentences.ids)], begun.tokenizers["text"].symbols.size)

    def batches(self, begun: Begun, report: Report) -> TaggedBatches:
        store, training = self._store(self.splits.train, begun, "train", report), begun.training
        encoder = token_tokenizer(self._experiment, begun.tokenizers)
        return TaggedBatches(store, encoder, batch_tokens=training.batch_tokens, seed=training.seed)

    def validation(self, begun: Begun, report: Report) -> Validate:
        """Loss, accuracy and F1 of the validation split."""
        experiment, valid, batch_tokens = self._experiment, self.splits.valid, begun.training.batch_tokens
        tokenizer = token_tokenizer(experiment, begun.tokenizers)
        store = self._store(valid, begun, "valid", report)
        batches = TaggedBatches(store, tokenizer, batch_tokens=batch_tokens, seed=0)

        def expected() -> Iterator[Sequence[str]]:
            return (sentence.tags for _, sentence in valid.examples())

        def alone() -> Iterable[Batch]:
            return prediction_batches(store.tokens, batch_tokens)

        return validation_of(encoding_in(experiment), tokenizer, batches.epoch(1), alone, expected)

    def _store(self, corpus: TaggedCorpus, begun: Begun, split: str, report: Report) -> TaggedStore:
        longest = self.longest if split == "train" else 0
        encoder = token_tokenizer(self._experiment, begun.tokenizers)
        return tagged_store(corpus, encoder, begun.encoded / split, longest=longest, report=report)


def token_tokenizer(experiment: TaggerExperiment, tokenizers: Mapping[str, Tokenizer]) -> TokenEncoder:
    """Words, characters and tags as ids, by the vocabularies of a run."""
    words, characters, tags = (cast(WordTokenizer, tokenizers[side]) for side in ("text", "characters", "tags"))
    spelt = experiment.characters
    longest = spelt.max_length if isinstance(spelt, CharactersConfig) else 0
    return TokenEncoder(words, characters, tags, experiment.output.several, longest)
