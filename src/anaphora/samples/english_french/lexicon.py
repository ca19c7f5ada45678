"""The lexicon: tables of open word classes, the closed classes, and French forms that depend on the next word.

Every entry has one French reading, so that the English sentence alone decides the French: no "you" (tu or vous), no
"they" (ils or elles), no verb whose English past looks like its present, no past of a state (imparfait or passé
composé). A verb takes, and an adjective modifies, the nouns that share a tag with it.
"""

import csv
import re
from functools import cache
from importlib.resources import files

Row = dict[str, str]
"""A word by column."""


def _rows(name: str) -> list[Row]:
    with (files(__package__) / f"{name}.tsv").open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream, delimiter="\t"))


TABLES = {name: _rows(name) for name in ("nouns", "adjectives", "determiners", "verbs")}
"""Adjectives are in the order of English: opinion, size, age, colour, origin."""

THE, *_OTHERS = TABLES["determiners"]
DETERMINERS = {number: [row for row in _OTHERS if row[number]] for number in ("english", "english plural")}
"""All but "the"."""
BE, *_VERBS = TABLES["verbs"]
VERBS = [verb for verb in _VERBS if verb["takes"] != "clause"]
OPINIONS = [verb for verb in _VERBS if verb["takes"] == "clause"]

# Forms for je, il or elle, nous, ils or elles.
AM, WAS = ("am", "is", "are", "are"), ("was", "was", "were", "were")
SUIS, ETAIS = ("suis", "est", "sommes", "sont"), ("étais", "était", "étions", "étaient")
AI, VAIS = ("ai", "a", "avons", "ont"), ("vais", "va", "allons", "vont")

PRONOUNS = (("he", "il", 1, "masculine"), ("she", "elle", 1, "feminine"), ("I", "je", 0, ""), ("we", "nous", 2, ""))
"""English, French, index of the verb form, and gender, which "I" and "we" do not show."""
NAMES = dict.fromkeys(("Arthur", "Louis", "Paul"), "masculine") | dict.fromkeys(
    ("Alice", "Claire", "Marie"), "feminine"
)
PLACES = {"in": "dans", "behind": "derrière", "in front of": "devant", "near": "près de"}
TIMES = {
    "present": {"every day": "chaque jour"},
    "past": {"yesterday": "hier", "this morning": "ce matin"},
    "future": {"tomorrow": "demain", "this evening": "ce soir"},
}
NEGATIONS = {"not": "pas", "never": "jamais"}
ADVERBS = NEGATIONS | {"often": "souvent", "always": "toujours"}

VOWEL = re.compile("[aeiouâéêîôœ]|h(?!ibou)", re.IGNORECASE)
"""The beginning of a word before which others elide: a vowel or a mute h (the h of hibou is aspirated)."""
ELISIONS = {"le": "l'", "la": "l'", "de": "d'", "ne": "n'", "que": "qu'", "je": "j'"}
CONTRACTIONS = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}


def form(row: Row, gender: str, plural: bool, before: str = "") -> str:
    """Return the French form of a determiner or an adjective, in front of a word if any (cet homme, un vieil homme)."""
    return row[f"{gender} plural" if plural else f"{gender} vowel" if VOWEL.match(before) else gender]


@cache
def sharing(table: str, tags: str) -> list[Row]:
    """Return the rows of a table that have one of the tags."""
    return [row for row in TABLES[table] if {*row["tags"].split()} & {*tags.split()}]
