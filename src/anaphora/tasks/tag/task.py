"""Tagging: a label, or several, for every token of a sentence, or for every vector of a sequence."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import tee
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, cast

import numpy as np
from annotated_types import Gt, Le
from pydantic import Field

from anaphora.data.corpora import Splits
from anaphora.data.fields.vectors import moments
from anaphora.data.labelled import LabelledCorpus, LabelledFormat, hold_vectors, labelled_corpus, labelled_splits
from anaphora.data.tagged import TaggedCorpus, tagged_splits
from anaphora.errors import DataError
from anaphora.evaluation.tags import TagCounts, never_predicted
from anaphora.events import Note, RemarkedMetrics, Report, silent
from anaphora.formats.columns import WORDS
from anaphora.formats.evidence import Evidence
from anaphora.formats.span_tags import ONE_TYPE, Span, check_tags, encoding_of, spans_of
from anaphora.formats.tagged import Sentence, labels_of
from anaphora.models.registry import NETWORKS
from anaphora.models.tagger import StepsConfig, StepTagger, TaggerConfig, VectorTaggerConfig
from anaphora.options import MAX_COUNT, MAX_LENGTH, SET, Conflict, other_than
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.data_table import DataConfig, TableData
from anaphora.tasks.evaluation import Request
from anaphora.tasks.field_task import FieldTask, ValidationSplit
from anaphora.tasks.scores import DigestedText
from anaphora.tasks.sizing import Tier, encoder_in_words, tier_for, training_table, value_at
from anaphora.tasks.tag.formats import Format, encoding_in, format_of, kind_by_name, resolve, vector_format
from anaphora.tasks.tag.predictor import StepPredictor, TaggerPredictor, VectorTaggerPredictor
from anaphora.tasks.tag.scores import TagScores
from anaphora.tasks.task import GivenData, SizedExperiment, Table
from anaphora.tasks.training_job import mean_loss
from anaphora.text.normalise import lowercase_of, normalise
from anaphora.text.segmentation import Segmentation
from anaphora.text.text_rule import TextRule
from anaphora.text.tokenization import AnyTokenizer, Word
from anaphora.text.tokenizer import MARKS, Tokenizer
from anaphora.text.words import WordTokenizer
from anaphora.training.best_checkpoint import Better
from anaphora.wording import inflect


class TaggedData(TableData):
    """Tagged sentences; ``valid = "none"`` holds a tenth of the training split out, by a hash of the words."""

    sides = (1, 2)
    sides_named = "one or two, that of the tag, or those of the word and the tag"
    usual_columns = WORDS.usual
    keeps_rows = True

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

    size: Annotated[int, Gt(4), Le(MAX_COUNT)] = 50_000
    """Words of the vocabulary, special tokens included: the most frequent ones."""
    segmentation: Segmentation = "whitespace"
    """Tokens are those of the files; "whitespace" has no other effect here."""
    min_count: Annotated[int, Gt(0)] = 2
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


Expected = tuple[Any, Sequence[str]]
"""The words of a sentence, or the vectors of a sequence, and their tags."""

_FEWEST = 2
"""Occurrences of a character at least; rarer ones are unknown, so that what is unknown is learnt too."""


TIERS = (
    Tier(500, embedding=64, size=100, dropout=0.5, epochs=60, batch=250),
    Tier(2_000, embedding=64, size=100, dropout=0.5, epochs=60, batch=1000),
    Tier(20_000, embedding=100, size=200, dropout=0.5, epochs=20, batch=1000),
    Tier(200_000, embedding=200, size=300, dropout=0.3, epochs=6, batch=1000),
    Tier(1 << 62, embedding=256, size=300, dropout=0.2, epochs=2, batch=1000),
)


class Tagging(FieldTask):
    """A label, or several, for every step of a row."""

    name = "tag"
    noun = "a tagger"
    own_formats = True
    predictor_class: ClassVar[type[StepPredictor]]
    counted, tiers = "tagged sentences", TIERS

    def check_data(self, experiment: TagExperiment, splits: Splits[Any], report: Report) -> None:
        """Report how tags are read: as spans, labels or sets of labels.

        Raises DataError for a tag that the encoding does not have, and for one that a CRF bars where it stands, which
        would never be learnt.
        """
        encoding, output, tags_of = encoding_in(experiment), experiment.output, self.predictor_class.tags_in_place
        by_kind = Evidence()
        for tags, place in map(tags_of, splits.train.examples()):
            labels = [Span(step, step + 1, tag) for step, tag in enumerate(tags)]
            for span in spans_of(tags, encoding) if encoding else labels:
                by_kind.add(span.type or ONE_TYPE, place(span.start))
        kinds = len(by_kind.counts)
        what = f"{'sets of labels' if output.several else 'labels, not of spans'}: {kinds:,} different ones"
        if encoding is not None:
            for corpus in (splits.train, splits.valid):
                check_tags(map(tags_of, corpus.examples()), encoding, bars=output.kind == "crf")
            what = f"spans in {encoding.upper()}: {inflect(kinds, 'type')}"
        report(Note(f"The tags are read as {what}, in {inflect(splits.train.count, self.example_noun)}: {by_kind}."))

    def longest(self, experiment: Any, training: bool) -> int:
        return int(experiment.data.max_length) if training else 0

    def validate(self, valid: ValidationSplit, model: StepTagger) -> Mapping[str, float]:
        """Return loss, accuracy and F1 of the validation split."""
        predictor = self.predictor_of(model, valid)
        text = self.text_to_score(predictor, valid.corpus)
        counts = self.score(predictor, text, Request(), silent).counts
        metrics = {"loss": mean_loss(model, valid.batches), "accuracy": counts.accuracy, "f1": counts.labels.f1}
        return RemarkedMetrics(metrics, " ".join(never_predicted(counts.by_tag)))

    def expected_tags(self, text: Any) -> Iterable[Expected]:
        """Return what is tagged of a text that is scored, and its tags."""
        return cast(Iterable[Expected], text)

    def score(self, model: Any, text: Any, request: Request, report: Report) -> TagScores:
        """Return accuracy and F1, of all and of each sentence or sequence."""
        scores = TagScores(TagCounts(model.encoding, model.targets.several), of_vectors=model.reads_arrays)
        given, again = tee(self.expected_tags(text))
        answers = model.predict_stream((value for value, _ in given), report=report)
        for (value, tags), found in zip(again, answers, strict=True):
            scores.add(tags, found.tags, model.are_known(value))
        return scores

    def suits(self, data: GivenData) -> bool:
        """Return True for files of CoNLL-U; other tables look like pairs or running text."""
        names = [path.name.lower().removesuffix(".gz") for path in data.paths]
        return bool(names) and all(name.endswith(".conllu") for name in names)

    def choose(self, data: GivenData) -> SizedExperiment:
        """Choose the tagger for as many sentences; DataError for data that cannot be read."""
        if hold_vectors(data.paths):
            splits = labelled_splits(data.paths, data.names, LabelledFormat(vectors=True, steps=True))
            count, spans = splits.train.count, encoding_of(example.labels for example in splits.train.examples())
            table = _table(count, sum(len(one.labels) for one in splits.train.examples()), bool(spans))
            kept = {name: table[name] for name in ("task", "encoder", "output", "training")}
            what = inflect(len(splits.labels), "tag")
            return SizedExperiment(kept | {"model": "vectors"}, f"{inflect(count, 'vector sequence')} of {what}")
        given = {"task": "tag", "data": data.names.own_files(data.paths)}
        experiment = resolve(TaggerExperiment.parse(given, "the data"))
        train = tagged_splits(data.paths, data.names, format_of(experiment)).train
        count, tokens = train.count, sum(len(sentence.words) for _, sentence in train.examples())
        tagged = f"column {experiment.data.column}" if experiment.data.format != "jsonl" else "spans"
        table = _table(count, tokens, experiment.spans != "none")
        return SizedExperiment(table, f"{inflect(count, 'sentence')} ({tagged})")

    def describe(self, table: Table, text: AnyTokenizer | None) -> str:
        output = value_at(table, "output.kind") or value_at(table, "output")
        of = " of vectors" if value_at(table, "model") == "vectors" else ""
        size = encoder_in_words(table)
        return f"a tagger{of}{size} with {output} output"


class TokenTagging(Tagging):
    """A label, or several, for every token of a sentence."""

    model, plural = "text", "taggers"
    experiment = TaggerExperiment
    network = NETWORKS["tagger"]
    next_command = "echo 'Your text.' | anaphora predict {run} --format text"
    example = 'tagger = anaphora.load("{path}")\nprint(tagger.predict([["A", "man", "walks", "."]])[0].tags)'
    example_noun: ClassVar[str] = "sentence"
    predictor_class = TaggerPredictor
    text_options = "--text"
    takes = ("text", "columns")

    def with_runs(self, experiment: TaggerExperiment, parent: object) -> tuple[TaggerExperiment, tuple[()]]:
        return resolve(experiment), ()

    def splits(self, experiment: TaggerExperiment, report: Report = silent) -> Splits[TaggedCorpus]:
        """Return the splits; errors as for ``data.tagged.tagged_splits``."""
        experiment = resolve(experiment)
        return tagged_splits(experiment.data.paths(), experiment.data.names, format_of(experiment), report)

    def with_data_statistics(self, experiment: TaggerExperiment, splits: Any) -> Any:
        return resolve(experiment)

    def learn_vocabulary(self, experiment: Any, splits: Any, report: Report) -> dict[str, Tokenizer]:
        """Return the words, characters and tags of the training split."""
        text, language = experiment.text, experiment.data.language
        lowercase = lowercase_of(text.lowercase, language)
        words, letters, tags, rule = Counter[str](), Counter[str](), Counter[str](), TextRule()
        for _, sentence in splits.train.examples():
            plain = list(map(rule.plain, sentence.words))
            words.update(normalise(word, lowercase=lowercase) for word in plain)
            letters.update("".join(map(normalise, plain)))
            for tag in sentence.tags:
                tags.update(labels_of(tag) if experiment.output.several else [tag])
        if not tags:
            raise DataError("The training split has no label at all: check data.column.")
        chosen = {
            "text": _frequent(words, text.min_count)[: text.size - len(MARKS)],
            "characters": _frequent(letters, _FEWEST),
            "tags": _frequent(tags, 1),
        }
        learnt = {
            side: WordTokenizer(names, lowercase=lowercase, segmentation=text.segmentation, language=language)
            for side, names in chosen.items()
        }
        learnt["text"].rule = rule
        return dict(learnt)

    def read_requested(
        self, experiment: TaggerExperiment, request: Request
    ) -> Mapping[str, Iterable[tuple[Path, Sentence]]]:
        if request.text is None:
            return {}
        name = request.text.name
        format_ = format_of(request.reading(experiment), kind_by_name(Path(name)) or "")
        return {name: ((Path(name), one) for one in format_.read(request.text.lines, name, labelled=True))}

    def text_to_score(self, model: TaggerPredictor, text: Any) -> DigestedText[Expected]:
        """Return its sentences; DataError with its line for a tag that training does not have."""

        def checked() -> Iterator[Expected]:
            for example in text.examples() if isinstance(text, TaggedCorpus) else text:
                model.targets.refuse_unknown(model.targets.get(example))
                _, sentence = example
                if sentence.words:
                    yield sentence.words, sentence.tags

        return DigestedText(checked())


class VectorTagging(Tagging):
    """A label, or several, for every vector of a sequence."""

    model, plural = "vectors", "taggers of vectors"
    experiment = VectorTaggerExperiment
    network = NETWORKS["vector-tagger"]
    example = 'tagger = anaphora.load("{path}")\nprint(tagger.predict([vectors])[0].tags)'
    example_noun: ClassVar[str] = "sequence"
    predictor_class = VectorTaggerPredictor

    def splits(self, experiment: VectorTaggerExperiment, report: Report = silent) -> Splits[LabelledCorpus]:
        """Return the splits; errors as for ``data.labelled.labelled_splits``."""
        return labelled_splits(experiment.data.paths(), experiment.data.names, vector_format(experiment), report)

    def with_data_statistics(self, experiment: VectorTaggerExperiment, splits: Any) -> VectorTaggerExperiment:
        """Return the experiment with the widths and scales of vectors and the encoding of spans of its training split.

        Raises DataError for vectors of several widths.
        """
        if experiment.is_resolved:
            return experiment
        train, spans, given = splits.train, experiment.spans, experiment.vectors
        if spans == "auto":
            encoding = None if experiment.output.several else encoding_of(one.labels for one in train.examples())
            spans = encoding or "none"
        vectors = given.with_scale(*moments(train.examples(), lambda one: one.vectors.astype(np.float64)))
        return experiment.with_options({"spans": spans, "vectors": vectors})

    def learn_vocabulary(self, experiment: Any, splits: Any, report: Report) -> dict[str, Tokenizer]:
        """Return the tags of the training split."""
        corpus, segmentation = splits.train, experiment.text.segmentation
        counts = Counter(name for example in corpus.examples() for name in corpus.format.names_of(example))
        return {"tags": WordTokenizer(_frequent(counts, 1), lowercase=False, segmentation=segmentation, language="en")}

    def read_requested(self, experiment: VectorTaggerExperiment, request: Request) -> Mapping[str, Any]:
        return {request.data.name: request.data} if request.data else {}

    def text_to_score(self, model: VectorTaggerPredictor, text: Any) -> LabelledCorpus:
        if isinstance(text, LabelledCorpus):
            return text
        return labelled_corpus(text, model.tags, vector_format(model.experiment))

    def expected_tags(self, text: LabelledCorpus) -> Iterator[Expected]:
        return ((example.vectors, example.labels) for example in text.examples())


TASKS = (TokenTagging, VectorTagging)
"""Tagging."""


def _frequent(counts: Counter[str], least: int) -> list[str]:
    """Return what is seen at least so often, the most frequent first; of equal ones in the order of code points."""
    names = (name for name, count in counts.items() if count >= least and name not in MARKS)
    return sorted(names, key=lambda name: (-counts[name], name))


def _table(count: int, tokens: int, spans: bool) -> dict[str, Any]:
    tier = tier_for(count, TIERS)
    metric = "f1" if spans else "accuracy"
    return {
        "task": "tag",
        "text": {"tokenizer": "word", "lowercase": True, "size": 50_000, "min_count": 2},
        "embedding": {"size": tier.embedding, "dropout": tier.dropout},
        "characters": {"kind": "character-cnn", "max_kernel": 4, "filters": 25, "dropout": tier.dropout},
        "encoder": {"cell": "lstm", "size": tier.size, "dropout": tier.dropout},
        "output": {"kind": "crf" if spans else "softmax"},
        "training": training_table(tier, 0.002, tier.batch, patience=6, tokens=tokens, metric=metric, precision="fp32"),
    }
