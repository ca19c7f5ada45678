"""A small parallel corpus, English to French, made from a seeded phrase grammar, with gold word links."""

from anaphora.data.grammar.corpus import GrammarParts, corpus, sentences, write
from anaphora.data.grammar.pair import Pair

__all__ = ["GrammarParts", "Pair", "corpus", "sentences", "write"]
