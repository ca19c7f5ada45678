"""The configuration of tokenizers; tokenizers learnt, saved and loaded.

sentencepiece and sacremoses are imported only where needed, so that a recipe can be read without them.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, cast

from annotated_types import Ge, Gt, Le, Lt

from anaphora.errors import RunError
from anaphora.events import Note, Report, silent
from anaphora.files import MEGABYTE, DamagedError, parse_json, read, sha256
from anaphora.languages import bare
from anaphora.options import MAX_COUNT
from anaphora.records import Record
from anaphora.text.bytes import ByteTokenizer
from anaphora.text.characters import CharacterTokenizer
from anaphora.text.normalise import Lowercase, lower_case, lowercase_of
from anaphora.text.rare_word_annotation import AnnotatedTokenizer, NumberingTokenizer, Rare, annotations
from anaphora.text.sampling import sample
from anaphora.text.scripts import are_run_together
from anaphora.text.segmentation import Segmentation
from anaphora.text.symbols import TAB, SymbolTokenizer, are_separated
from anaphora.text.text_rule import TextRule, are_converted, in_lines
from anaphora.text.tokenizer import SPACE, Tokenizer
from anaphora.text.variants import Variants
from anaphora.text.words import WordTokenizer
from anaphora.wording import inflect

if TYPE_CHECKING:
    from anaphora.text.resegmentation import Resegment
    from anaphora.text.subwords import SubwordTokenizer

Read = Callable[[Path, int], bytes]
"""Function from the path of a file to its bytes, up to so many; DamagedError where it has more, or there is none."""

Lines = Callable[[], Iterator[str]]
"""A text that can be walked more than once."""

LARGEST = 1 << 28
"""Bytes of the largest vocabulary that is read."""

_INDEX = "vocabulary.json"
_NOTATIONS = {False: "characters", True: "separated by spaces"}


class TokenizerConfig(Record, extra="forbid"):
    """Options of all tokenizers."""

    lowercase: bool = False
    """True to lower-case text, by the rules of its language."""
    sentences: Literal["split", "whole"] = "split"
    """True if a line to be translated is split into sentences first, false if it is taken whole."""
    unify_variants: bool = False
    """True to read apostrophes, quotes, dashes and full-width forms as the variant that the training text uses most."""

    SAMPLING: ClassVar[str] = ""
    """Option that samples the segmentation of training pairs; 0 takes the most probable one."""

    @property
    def one_vocabulary(self) -> bool:
        """True if all sides share one vocabulary."""
        return bool(getattr(self, "joint", False))

    @property
    def annotates(self) -> bool:
        """True if rare words are annotated."""
        return getattr(self, "rare", "none") != "none"

    @property
    def sampling_option(self) -> str:
        """The name of that option where it is set, else nothing."""
        return self.SAMPLING if self.SAMPLING and getattr(self, self.SAMPLING) else ""

    def without_sampling(self) -> Self:
        """Return the same tokenizer without sampling."""
        return self.with_options({self.sampling_option: 0.0}) if self.sampling_option else self


class Subwords(TokenizerConfig):
    """Parts of words, frequent words among them."""

    size: Annotated[int, Gt(0), Le(MAX_COUNT)] = 8000
    """Vocabulary size, special tokens and bytes included; a small text gives a smaller one, which is reported."""
    joint: bool = True
    """True if all sides share one vocabulary."""
    byte_fallback: bool = True
    """True if characters outside the vocabulary are spelt in bytes instead of becoming ``<unk>``."""
    sample: Annotated[int, Gt(0), Le(MAX_COUNT)] = 50_000
    """A vocabulary is learnt from at most this many lines of a side, drawn evenly, so that memory has a bound."""


class Bpe(Subwords):
    """Byte-pair subwords."""

    SAMPLING: ClassVar[str] = "dropout"

    tokenizer: Literal["bpe"] = "bpe"
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.0
    """BPE-dropout: probability of skipping a merge in training, drawn anew every epoch (Provilkov et al. 2020)."""


class Unigram(Subwords):
    """Subwords of a unigram model."""

    SAMPLING: ClassVar[str] = "alpha"

    tokenizer: Literal["unigram"] = "unigram"
    alpha: Annotated[float, Ge(0)] = 0.0
    """Subword sampling: sharpness of the distribution that segmentations of training pairs are drawn from every
    epoch (Kudo 2018: 0.1 to 0.5); 0 always takes the most probable one."""


class Word(TokenizerConfig):
    """Whole words."""

    tokenizer: Literal["word"] = "word"
    size: Annotated[int, Gt(4), Le(MAX_COUNT)] = 10_000
    """Vocabulary size of a side, special tokens included: the most frequent words; others become ``<unk>``."""
    segmentation: Segmentation = "joiner"
    """Segmentation of text into words: "joiner" at words and punctuation, with joiners where there is no space, so that
    text is restored exactly; "moses" by the rules of Moses, without joiners; "whitespace" at spaces."""
    min_count: Annotated[int, Gt(0)] = 1
    """Words seen less often than this in the training text become ``<unk>``."""
    rare: Rare = "none"
    """Annotation of a translator's unknown words with their source words: "copyable", "posall", "posunk" (Luong et
    al. 2015) or "none"."""


class Character(TokenizerConfig):
    """Single characters."""

    tokenizer: Literal["character"] = "character"
    joint: bool = False
    """True if all sides share one alphabet."""
    min_count: Annotated[int, Gt(0)] = 1
    """Characters seen less often than this in the training text become ``<unk>``."""


Notation = Literal["auto", "characters", "separated"]
"""Spelling of strings."""


class Symbol(TokenizerConfig):
    """Symbols of strings: characters, or what spaces separate; and tags after a tab."""

    tokenizer: Literal["symbol"] = "symbol"
    source: Notation = "auto"
    """Symbols of the input: "characters", or what spaces separate ("separated"); "auto" goes by the training data."""
    target: Notation = "auto"
    """Symbols of the output: the same."""
    joint: bool = False
    """True if all sides share one vocabulary."""
    features: Literal["encoder", "decoder"] = "encoder"
    """Reader of the tags of an input: the encoder, behind its symbols, or every step of the decoder, as their sum."""
    min_count: Annotated[int, Gt(0)] = 1
    """Symbols seen less often than this in the training text become ``<unk>``."""


class Byte(TokenizerConfig):
    """Single bytes of UTF-8, the same ones for every text and side."""

    joint: ClassVar[bool] = True

    tokenizer: Literal["byte"] = "byte"


AnyTokenizer = Bpe | Unigram | Word | Character | Symbol | Byte
"""The ``[text]`` table."""


def fit(
    config: AnyTokenizer,
    sides: Mapping[str, Lines],
    report: Report = silent,
    *,
    languages: Mapping[str, str] | None = None,
    dictionary: Mapping[str, str] | None = None,
    tags: Sequence[str] = (),
) -> dict[str, Tokenizer]:
    """Learn a tokenizer for every side from its training text, by its rule.

    With ``joint``, and for bytes, all have one vocabulary. ``languages`` are codes, by default English; ``dictionary``
    has target words by source word, for annotations; ``tags`` are reserved tokens of the source. Raises DataError for
    no text, ConfigError for too small a size.
    """
    rules = {side: _rule(config, side, sides) for side in sides}
    end = TAB if isinstance(config, Symbol) else "\n"
    sides, variants = {side: in_lines(lines, rules[side], end) for side, lines in sides.items()}, dict[str, Variants]()
    for side, lines in sides.items() if config.unify_variants else ():
        variants[side] = Variants.learn(lines(), written=side != "source")
        sides = {**sides, side: variants[side].in_lines(lines)}
    codes = {side: (languages or {}).get(side, "en") for side in sides}
    cases = {side: lowercase_of(config.lowercase, code) for side, code in codes.items()}
    learnt: dict[str, Tokenizer]
    if isinstance(config, Word):
        learnt = {
            side: _learn_words(config, side, lines, codes[side], dictionary or {}, report)
            for side, lines in sides.items()
        }
    elif isinstance(config, Symbol):
        learnt = _learn_symbols(config, sides, cases, report)
    elif isinstance(config, Byte):
        learnt = dict.fromkeys(sides, ByteTokenizer(lowercase=config.lowercase))
    elif config.joint:
        learnt = dict.fromkeys(sides, _learn(config, sides, cases, report))
    else:
        learnt = {side: _learn(config, {side: lines}, cases, report) for side, lines in sides.items()}
    learnt = {side: copy(tokenizer) for side, tokenizer in learnt.items()}
    for side, tokenizer in learnt.items():
        tokenizer.lowercase, tokenizer.rule, tokenizer.variants = cases[side], rules[side], variants.get(side)
        tokenizer.tags = tuple(tags) if side == "source" or config.one_vocabulary else ()
    return learnt


def _rule(config: AnyTokenizer, side: str, sides: Mapping[str, Lines]) -> TextRule | None:
    """Return the rule of a side that is read; written sides and running text of characters have none."""
    if side == "target" or (side != "source" and isinstance(config, Character | Byte)):
        return None
    pairs = side == "source" and "target" in sides and not isinstance(config, Symbol)
    return TextRule(copies=pairs and not are_converted(sides[side](), sides["target"]()))


def resegment_of(config: AnyTokenizer, tokenizer: Tokenizer) -> "Resegment | None":
    """Return the random segmentation of the rows of ``tokenizer``; None where ``config`` samples none."""
    if isinstance(config, Bpe) and config.dropout:
        return cast("SubwordTokenizer", tokenizer).merge_dropout(config.dropout)
    if isinstance(config, Unigram) and config.alpha:
        return cast("SubwordTokenizer", tokenizer).lattice_sampling(config.alpha)
    return None


def save(tokenizers: Mapping[str, Tokenizer], folder: Path) -> None:
    """Write the vocabularies into ``folder``, which is made if need be; shared ones once, as ``joint``."""
    folder.mkdir(parents=True, exist_ok=True)
    contents = {side: tokenizer.serialise() for side, tokenizer in tokenizers.items()}
    shared = len(tokenizers) > 1 and len(set(contents.values())) == 1
    index = dict[str, dict[str, Any]]()
    for side, tokenizer in tokenizers.items():
        name, data = "joint" if shared else side, contents[side]
        (folder / name).write_bytes(data)
        options = {
            "casing": tokenizer.lowercase if isinstance(tokenizer.lowercase, str) else None,
            "copies": tokenizer.rule and tokenizer.rule.copies,
            "variants": tokenizer.variants and asdict(tokenizer.variants),
            "tags": tokenizer.tags or None,
        }
        index[side] = {"file": name, "size": tokenizer.symbols.size, "sha256": sha256(data)}
        index[side] |= {key: option for key, option in options.items() if option is not None}
    (folder / _INDEX).write_text(json.dumps({"sides": index}, indent=2) + "\n", encoding="utf-8")


def load(config: AnyTokenizer, folder: Path, read: Read = read) -> dict[str, Tokenizer]:
    """Return the tokenizers that ``save`` wrote, side by side; RunError names the file that is missing or damaged."""
    return {side: _load_one(config, side, folder, one, read) for side, one in _index_of(folder / _INDEX, read).items()}


def _learn_words(
    config: Word, side: str, lines: Lines, language: str, dictionary: Mapping[str, str], report: Report
) -> Tokenizer:
    numbered, annotated = config.rare == "copyable" and side == "source", config.rare != "none" and side == "target"
    code = bare(language)
    tokenizer = (NumberingTokenizer if numbered else WordTokenizer).learn(
        lines(),
        size=config.size,
        least=config.min_count,
        lowercase=lowercase_of(config.lowercase, code),
        segmentation=config.segmentation,
        language=code,
        first=annotations(config.rare) if numbered or annotated else (),
    )
    if are_run_together(tokenizer.vocabulary):
        report(
            Note(
                f"The words of the training text ({side}) are as long as sentences, in a script that sets no space "
                f"between words, so other sentences will be unknown: set spaces between words with a segmenter, or set "
                f"text.tokenizer to bpe, unigram, character or byte.",
                warning=True,
            )
        )
    return AnnotatedTokenizer(tokenizer, config.rare, dictionary) if annotated else tokenizer


def _learn_symbols(
    config: Symbol, sides: Mapping[str, Lines], cases: Mapping[str, Lowercase], report: Report
) -> dict[str, Tokenizer]:
    """Return the vocabulary of each side, or one for both, each with the notation of its side, which a Note reports."""
    separated = {}
    for side, lines in sides.items():
        notation = getattr(config, side, "auto")
        separated[side] = are_separated(lines()) if notation == "auto" else notation == "separated"
    empty = {side: SymbolTokenizer((), lowercase=cases[side], separated=separated[side]) for side in sides}
    notations = " and ".join(f"{_NOTATIONS[apart]} in the {side}" for side, apart in separated.items())
    report(Note(f"Symbols are {notations} (text.source, text.target)."))
    learnt: dict[str, Tokenizer] = {}
    for group in [tuple(sides)] if config.joint else [(side,) for side in sides]:
        strings = (empty[side].symbols_of(line) for side in group for line in sides[side]())
        vocabulary = SymbolTokenizer.learn(strings, lowercase=cases[group[0]], least=config.min_count)
        learnt |= {side: vocabulary.beside(separated[side], config.features == "decoder") for side in group}
    return learnt


def _learn(
    config: Bpe | Unigram | Character, sides: Mapping[str, Lines], cases: Mapping[str, Lowercase], report: Report
) -> "SubwordTokenizer | CharacterTokenizer":
    """The tokenizer of some sides, with the casing of the first: lower-casing a lower-cased text changes nothing."""
    first = cases[next(iter(sides))]
    if isinstance(config, Character):
        every_line = (lower_case(line, cases[side]) for side, lines in sides.items() for line in lines())
        return CharacterTokenizer.learn(every_line, lowercase=first, least=config.min_count)
    from anaphora.text.subwords import SubwordTokenizer

    drawn: list[str] = []
    for side, lines in sides.items():
        kept, seen = sample(lines(), config.sample)
        if seen > len(kept):
            report(
                Note(f"The {side} vocabulary is learnt from {len(kept):,} of {inflect(seen, 'line')} (text.sample).")
            )
        drawn += (lower_case(line, cases[side]) for line in kept)
    if any(SPACE in line for line in drawn):
        report(
            Note(
                f"The training text ({' and '.join(sides)}) holds U+2581 ({SPACE}), which subwords cannot tell from a "
                f"space and give back as one: replace it where it should stay, or set text.tokenizer to character "
                f"or byte.",
                warning=True,
            )
        )
    tokenizer = SubwordTokenizer.learn(
        drawn, size=config.size, lowercase=first, byte_fallback=config.byte_fallback, kind=config.tokenizer
    )
    if tokenizer.symbols.size < config.size:
        report(
            Note(
                f"text.size asks for {config.size:,} tokens, but the training text ({' and '.join(sides)}) holds only "
                f"{tokenizer.symbols.size:,}: these are used."
            )
        )
    return tokenizer


def _index_of(path: Path, read: Read) -> dict[str, dict[str, Any]]:
    if path.parent.is_dir() and not path.exists():
        raise RunError(f"A vocabulary should be in {path.parent}, but {path.name} is not there.")
    try:
        sides = parse_json(read(path, MEGABYTE), path)["sides"]
        kinds = {"file": str, "size": int, "sha256": str, "tags": list}
        complete = all(isinstance(one.get(key, []), kind) for one in sides.values() for key, kind in kinds.items())
    except (DamagedError, KeyError, TypeError, AttributeError):
        complete = False
    if not complete:
        raise RunError(f"{path} should list the vocabularies beside it, but is damaged: restore it from a copy.")
    return dict(sides)


def _load_one(config: AnyTokenizer, side: str, folder: Path, entry: Mapping[str, Any], read: Read) -> Tokenizer:
    if Path(entry["file"]).name != entry["file"] or entry["file"].startswith("."):
        raise RunError(f"A vocabulary should lie beside its index, but {entry['file']!r} is hidden or elsewhere.")
    data = read(path := folder / entry["file"], LARGEST)
    if sha256(data) != entry["sha256"]:
        raise RunError(f"The vocabulary {path} is not the one that was saved (sha256): restore it from a copy.")
    lowercase: Lowercase = "tr" if config.lowercase and entry.get("casing") == "tr" else config.lowercase
    try:
        tokenizer = _deserialise(config, side, data, lowercase)
        if "variants" in entry:
            tokenizer.variants = Variants.from_table(entry["variants"], folder / _INDEX, "variants of characters")
    except (RunError, DamagedError) as error:
        raise RunError(f"{path} is damaged: {error}") from None
    tokenizer.tags = tuple(map(str, entry.get("tags", ())))
    if tokenizer.symbols.size != entry["size"]:
        raise RunError(f"The vocabulary {path} should have {entry['size']} tokens, but has {tokenizer.symbols.size}.")
    tokenizer.rule = TextRule(copies=bool(entry["copies"])) if "copies" in entry else None
    return tokenizer


_PLAIN: Mapping[type[TokenizerConfig], type[CharacterTokenizer | ByteTokenizer]] = {
    Symbol: SymbolTokenizer,
    Character: CharacterTokenizer,
    Byte: ByteTokenizer,
}
"""Tokenizers of one class whatever the options."""


def _deserialise(config: AnyTokenizer, side: str, data: bytes, lowercase: Lowercase) -> Tokenizer:
    if plain := _PLAIN.get(type(config)):
        return plain.deserialise(data, lowercase=lowercase)
    if isinstance(config, Word) and config.rare != "none" and side == "target":
        return AnnotatedTokenizer.restore(data, config.rare, lowercase=lowercase, segmentation=config.segmentation)
    if isinstance(config, Word):
        kind = NumberingTokenizer if config.rare == "copyable" else WordTokenizer
        return kind.deserialise(data, lowercase=lowercase, segmentation=config.segmentation)
    from anaphora.text.subwords import SubwordTokenizer

    return SubwordTokenizer(data, lowercase=lowercase)
