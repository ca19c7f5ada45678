"""Words scored one by one, each at its place in a text."""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from anaphora.batch import Batch, Constraints, pad
from anaphora.evaluation.perplexity import perplexity_of_log10
from anaphora.formats.json_text import LN_10
from anaphora.kernels.runtime import Runtime, running
from anaphora.prediction.arguments import one_text
from anaphora.prediction.running import ON_CPU
from anaphora.protocols import TextModel, TextStepper
from anaphora.text.tokenizer import EOS, MARKS, Tokenizer
from anaphora.text.whitespace import by_word, words_in


@dataclass(frozen=True)
class Context:
    """A place in a text."""

    log_probs_V: Tensor
    """ln p of every symbol there."""
    state: Any
    """State of the stepper, of one row."""
    read: int
    """Tokens before it, ``<s>`` among them."""
    inside: bool
    """True if a word of its sentence stands before it, and the tokens of the next depend on that."""


class State:
    """A place in a text that a model writes into: ``model.BeginSentenceWrite(state)``.

    Two states are equal when the same model can no longer tell them apart.
    """

    def __init__(self) -> None:
        """It holds nothing yet."""
        self._context: Context | None = None

    @property
    def context(self) -> Context:
        """Return the context of a model's file; raise ValueError for anything else."""
        if self._context is None:
            raise ValueError("A state should be written before it is read: call BeginSentenceWrite(state) first.")
        return self._context

    def become(self, context: Context) -> None:
        """Hold another place."""
        self._context = context

    def _key(self) -> tuple[bytes, ...]:
        if self._context is None:
            return ()
        tensors = _tensors(self._context.state)
        return (str(self._context.inside).encode(), *(tensor.numpy().tobytes() for tensor in tensors))

    def __eq__(self, other: object) -> bool:
        """True if what both hold is the same to the last bit."""
        return self._key() == other._key() if isinstance(other, State) else NotImplemented

    def __hash__(self) -> int:
        """Equal states have equal ones; a state that is written again has another."""
        return hash(self._key())

    def __deepcopy__(self, memo: object) -> "State":
        return copy(self)


def _tensors(state: Any) -> Iterator[Tensor]:
    """The tensors of a state, in an order that is always the same."""
    if isinstance(state, Tensor):
        yield state
        return
    for part in [state[name] for name in sorted(state)] if isinstance(state, dict) else state:
        yield from _tensors(part)


Place = State


class FullScore(NamedTuple):
    """Score of one word by a language model."""

    log_prob: float
    """log10 p of the word given what stands before it."""
    ngram_length: int
    """Number of words of the matched n-gram, itself included; for a recurrent model, all words of the line so
    far."""
    oov: bool
    """True if the word, or a part of it, is ``<unk>`` to the model."""


class WordScores:
    """Scores of words by a language model.

    What ``score``, ``full_scores``, ``perplexity``, ``in`` and the methods over a ``State`` are called, and what they
    mean, is that of the Python interface of KenLM (Heafield 2011): logarithms to base 10, words between ASCII white
    space, a sentence by itself between ``<s>`` and ``</s>``. Where tokens spell white space, it is scored with the word
    or the ``</s>`` that comes after it. Sentences and words may be bytes, which are UTF-8.
    """

    def __init__(
        self, model: TextModel, tokenizer: Tokenizer, path: Path | None = None, runtime: Runtime = ON_CPU
    ) -> None:
        """The network may go on being trained in between: every call reads it again.

        It lies on the device of ``runtime``.
        """
        self._model = model
        self._tokenizer = tokenizer
        self._runtime = runtime
        self.path = bytes(path.absolute()) if path else b""
        """Path it was loaded from, as KenLM gives it; empty for a model that was not."""

    def score(self, sentence: str | bytes, bos: bool = True, eos: bool = True) -> float:
        """log10 p of a sentence; without ``bos`` it may stand anywhere, without ``eos`` it may go on."""
        return sum(word.log_prob for word in self.full_scores(sentence, bos, eos))

    def full_scores(self, sentence: str | bytes, bos: bool = True, eos: bool = True) -> Iterator[FullScore]:
        """The score of every word, and of ``</s>`` with ``eos``."""
        state, after = self.State(), self.State()
        (self.BeginSentenceWrite if bos else self.NullContextWrite)(state)
        *words, behind = by_word(self._tokenizer, one_text(sentence))
        for word in words:
            yield self._full_score(state, word, after)
            state, after = after, state
        if eos:
            yield self._full_score(state, [*behind, self._tokenizer.symbols.eos], after)

    def perplexity(self, sentence: str | bytes) -> float:
        """10 to the mean -log10 p of a word, ``</s>`` among the words."""
        scores = [word.log_prob for word in self.full_scores(sentence)]
        return perplexity_of_log10(sum(scores), len(scores))

    @property
    def order(self) -> int:
        """Maximum number of words of an n-gram of an n-gram language model; 0 for a model that remembers everything."""
        return self._stepper().order

    def __contains__(self, word: str | bytes) -> bool:
        """True if the model knows a word, ``</s>`` among them, or can spell it; several words are none."""
        word = one_text(word)
        if word == MARKS[EOS]:
            return True
        tokens = self._tokenizer.encode(word) if words_in(word) == [word] else []
        return bool(tokens) and self._tokenizer.symbols.unk not in tokens

    State = Place

    def BeginSentenceWrite(self, state: Place) -> None:
        """Let ``state`` be the start of a sentence."""
        stepper = self._stepper()
        with running(self._runtime):
            before = stepper.start(prompt_batch(stepper.bos, [[]], [0])).state
            step = stepper.advance(None, before, self._id(stepper.bos))
        state.become(Context(step.log_probs_NV[0], step.state, 1, False))

    def NullContextWrite(self, state: Place) -> None:
        """Let ``state`` be a place of which nothing is known; to a recurrent model, the start of a sentence."""
        with running(self._runtime):
            step = self._stepper().unconditional()
        state.become(Context(step.log_probs_NV[0], step.state, 0, False))

    def BaseScore(self, before: Place, word: str | bytes, after: Place) -> float:
        """log10 p of ``word`` after ``before``, and ``after`` becomes the state after it; they may be one."""
        return self.BaseFullScore(before, word, after).log_prob

    def BaseFullScore(self, before: Place, word: str | bytes, after: Place) -> FullScore:
        """``BaseScore`` with all that is known of the word."""
        word = one_text(word)
        if word == "</s>":
            tokens = [self._tokenizer.symbols.eos]
        elif before.context.inside:
            # as it stands after another word, which may have a space between them
            _, *words = by_word(self._tokenizer, f"a {word}")
            tokens = list(chain.from_iterable(words))
        else:
            tokens = self._tokenizer.encode(word)
        return self._full_score(before, tokens, after)

    def _full_score(self, before: Place, tokens: Sequence[int], after: Place) -> FullScore:
        """The score of a word by its tokens, one step each."""
        stepper, context, nats, length = self._stepper(), before.context, 0.0, 0
        for token in tokens:
            ids_N = self._id(token)
            nats += float(context.log_probs_V[token])
            with running(self._runtime):
                length = stepper.matched(context.state, ids_N, context.read)
                step = stepper.advance(None, context.state, ids_N)
            inside = not self._tokenizer.context_free
            context = Context(step.log_probs_NV[0], step.state, context.read + 1, inside)
        after.become(context)
        return FullScore(nats / LN_10, length, self._tokenizer.symbols.unk in tokens)

    def _id(self, token: int) -> Tensor:
        return torch.tensor([token], device=self._runtime.device)

    def _stepper(self) -> TextStepper:
        return cast(TextStepper, self._model.stepper())


def prompt_batch(bos: int, prompts: Sequence[list[int]], example_ids: Sequence[int]) -> Batch:
    """Lines that a search begins after ``bos``, and that must continue these prompts, perhaps empty ones."""
    constraints = Constraints(prefixes=pad(prompts) if any(prompts) else None)
    return Batch.of_rows(example_ids, pad([[bos]] * len(prompts)), constraints=constraints)
