"""The experiments of taggers."""

from typing import ClassVar, Literal

from pydantic import Field

from anaphora.config import MAX_COUNT, MAX_LENGTH, SET, Conflict, other_than
from anaphora.formats.columns import WORDS
from anaphora.models.tagger import StepsConfig, TaggerConfig, VectorTaggerConfig
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.data_table import DataConfig, TableData
from anaphora.text.segmentation import Segmentation
from anaphora.text.tokenization import Word
from anaphora.training.best_checkpoint import Better

Format = Literal["auto", "conllu", "columns", "jsonl"]
"""Format of files of tagged sentences."""


class TaggedData(TableData):
    """Tagged sentences; ``valid = "none"`` holds a tenth of the training split out, by a hash of the words."""

    sides = (1, 2)
    sides_named = "one or two, that of the tag, or those of the word and the tag"
    usual_columns = WORDS.usual

    format: Format = "auto"
    """File format: CoNLL-U, columns (CoNLL-2003 among them), or JSON lines with offsets; "auto": by the files."""
    column: str = "auto"
    """Column to predict: a name of CoNLL-U (UPOS, XPOS, FEATS, ..), or a number from 1 or a name in the first line;
    "auto": UPOS, or the last. The columns of word and tag, where they are given, come first."""
    language: str = "en"
    """Language code of the text, for lower-casing."""
    max_length: int = Field(0, ge=0, le=MAX_LENGTH)
    """Training sentences with more tokens than this are left out; 0 keeps them all."""


class TokenVocabulary(Word):
    """Words as the files have them."""

    size: int = Field(50_000, gt=4, le=MAX_COUNT)
    """Words of the vocabulary, special tokens included: the most frequent ones."""
    segmentation: Segmentation = "whitespace"
    """Tokens are those of the files; "whitespace" has no other effect here."""
    min_count: int = Field(2, gt=0)
    """Words seen less often than this in the training text are unknown."""


class FramesData(DataConfig):
    """Sequences of vectors with a tag for each; ``valid = "none"`` holds a tenth of the training split out."""

    max_length: int = Field(0, ge=0, le=MAX_LENGTH)
    """Training sequences with more vectors than this are left out; 0 keeps them all."""


class TagExperiment(StepsConfig, ExperimentBase):
    """Base of every tagger's experiment."""

    metrics: ClassVar[dict[str, Better]] = {"loss": "lower", "accuracy": "higher", "f1": "higher"}
    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"start.run": SET}, "a tagger starts from no other run; leave start.run out"),
        Conflict(
            {"output.kind": "sigmoid", "spans": ("iob1", "iob2", "bioes")},
            'a step is in one span at most; set spans = "none", or another output',
        ),
    )

    task: Literal["tag"]
    """Name of the task."""


class TaggerExperiment(TaggerConfig, TagExperiment):
    """A tagger of tokens."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            {"text.segmentation": other_than("whitespace")},
            "a tagger takes the tokens of its files; leave text.segmentation out",
        ),
        Conflict({"text.rare": SET}, "it is for the rare words of a translation; leave it out"),
    )
    chosen_by_data = ("data.format", "data.column", "data.columns", "data.header", "spans")
    encoder_side = "text"

    model: Literal["text"] = "text"
    """Kind of input: tokens, or vectors."""
    data: TaggedData = TaggedData()
    """Tagged sentences."""
    text: TokenVocabulary = TokenVocabulary()
    """Vocabulary of words."""


class VectorTaggerExperiment(VectorTaggerConfig, TagExperiment):
    """A tagger of vectors."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (Conflict({"text": SET}, "there is no text; leave [text] out"),)
    chosen_by_data = ("spans", "vectors")

    model: Literal["vectors"]
    """Kind of input: tokens, or vectors."""
    data: FramesData = FramesData()
    """Sequences of vectors, and their tags."""
    text: TokenVocabulary = TokenVocabulary()
    """Not used: there is no text."""
