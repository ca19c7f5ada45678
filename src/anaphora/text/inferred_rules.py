"""Rules of vocabularies that a run saved without one."""

from anaphora.text.bytes import ByteTokenizer
from anaphora.text.characters import CharacterTokenizer
from anaphora.text.joiner_tokens import JOINER
from anaphora.text.symbols import SymbolTokenizer
from anaphora.text.text_rule import TextRule
from anaphora.text.tokenizer import MARKS, Tokenizer
from anaphora.text.words import written


def with_rules(tokenizers: dict[str, Tokenizer]) -> dict[str, Tokenizer]:
    """Tokenizers to be used: those without a rule go by their vocabulary, which says what training text had.

    They copy texts without a word, unless few of their tokens have a letter: then numbers are what they translate.
    """
    for tokenizer in tokenizers.values():
        if tokenizer.rule is None and not isinstance(tokenizer, ByteTokenizer):
            tokens = [token for token in written(tokenizer)[len(MARKS) :] if not token.startswith("<")]
            double = isinstance(tokenizer, CharacterTokenizer) or 2 * JOINER in tokens
            letters = sum(any(map(str.isalpha, token)) for token in tokens)
            copies = 2 * letters > len(tokens) and not isinstance(tokenizer, SymbolTokenizer)
            tokenizer.rule = TextRule({*"".join(tokens)} - {" "} | ({" "} if double else set()), copies)
    return tokenizers
