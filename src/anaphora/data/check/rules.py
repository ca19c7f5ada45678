"""Every rule of ``anaphora check``: what is looked for, from which share on it is a warning, and what helps.

Shares are of the part's lines, or of its letters, running words or units where the rule speaks of those.
``docs/check.md`` has the same table for people; a test compares the two.
"""

from collections.abc import Iterator, Mapping
from math import inf

from anaphora.data.check.findings import Finding, Rule, Tally

_RULES = (
    Rule(
        "empty",
        "lines are empty",
        "Training leaves such pairs out: remove them, or translate the side that is missing.",
    ),
    Rule(
        "blank",
        "lines hold white space only",
        "Training leaves such pairs out: remove them, or translate the side that is missing.",
    ),
    Rule(
        "columns",
        "lines do not have two columns",
        "They are left out: write one pair a line with a single tab between its sides.",
    ),
    Rule(
        "header",
        "first lines name the two languages, as the head of a table does",
        "Remove the line: it is trained on as a pair.",
    ),
    Rule(
        "long",
        "lines are more than 500 characters long and 20 times as long as the middle line",
        "Cut them into sentences: they take memory, and pairs of more than data.longest units are not trained on.",
    ),
    Rule(
        "ratio",
        "pairs have sides of very different lengths, three times what is usual",
        "Check whether the lines still belong together; a lost or added line moves all that follow.",
        warn_from=0.01,
    ),
    Rule(
        "copied",
        "pairs have the same text on both sides (12 characters or more)",
        "Remove what is not translated, or the translator learns to copy.",
        warn_from=0.01,
    ),
    Rule(
        "numbers",
        "pairs have other digits on one side than on the other",
        "Correct them unless numbers are spelt out on one side.",
        warn_from=0.1,
    ),
    Rule(
        "placeholders",
        "pairs have other placeholders or tags on one side than on the other",
        "Make both sides hold the same ones: a translator learns to lose what is lost in its examples.",
    ),
    Rule(
        "script",
        "lines hold no letter of the script that this side is written in",
        "Check whether they are in another language, or the sides were swapped there.",
    ),
    Rule(
        "swapped",
        "letters are in no script of this side's language, but in one of the other side's: the sides look swapped",
        "Exchange the two columns or files, or --source and --target.",
        silent_below=0.5,
    ),
    Rule(
        "language",
        "letters are in no script that this side's language is usually written in",
        "Check that --source and --target name the languages of the text, and that no file was taken for another.",
        silent_below=0.5,
    ),
    Rule("control", "lines hold a control character", "Remove the character."),
    Rule(
        "separator",
        "lines hold a line separator such as U+2028, which ends no line here",
        "Replace it by a space, since other programs may count lines differently.",
    ),
    Rule(
        "replacement",
        "lines hold U+FFFD, the mark of bytes that were once lost",
        "Convert the original again with its right encoding, or remove the lines.",
    ),
    Rule(
        "mojibake",
        "lines look like UTF-8 that was read in another encoding",
        "Convert the original again; it was UTF-8 already.",
    ),
    Rule(
        "mark",
        "lines hold a byte order mark inside the text",
        "Remove it: files that begin with one were joined.",
    ),
    Rule(
        "invisible",
        "lines hold a zero-width space, word joiner or soft hyphen",
        "Remove the character unless it is meant: it makes two words of what looks like one.",
        warn_from=0.01,
    ),
    Rule(
        "decomposed",
        "lines are not in Unicode normal form C",
        "Nothing has to be done: text is composed when it is coded.",
        warn_from=inf,
    ),
    Rule(
        "entities",
        "lines hold an escaped character such as &amp;",
        "Unescape them, or the model writes such escapes itself.",
        warn_from=0.01,
    ),
    Rule(
        "subwords",
        "lines are cut into subwords already (@@ or U+2581)",
        "Give the text as people write it: the recipe cuts it itself.",
    ),
    Rule(
        "unknown-mark",
        "lines hold the word <unk>",
        "Fine for a published corpus that has it; in a corpus of your own, put the words back.",
        warn_from=inf,
    ),
    Rule(
        "tokenised",
        "lines have a space before a comma or full stop, as tokenised text has",
        "Give the text as people write it, or expect the model to read and write it so.",
        warn_from=0.2,
        silent_below=0.2,
    ),
    Rule(
        "duplicate",
        "lines repeat an earlier one of the part",
        "Keep one of each unless they should weigh more.",
        warn_from=0.1,
    ),
    Rule(
        "ambiguous",
        "pairs translate a source that the part translates otherwise elsewhere",
        "Fine for free translations; make it one where a fixed wording is wanted.",
        warn_from=0.1,
    ),
    Rule(
        "overlap",
        "lines are in the training part as well",
        "Remove them from training, or figures on this part are too good.",
        warn_from=0.01,
    ),
    Rule(
        "source-overlap",
        "pairs have a source that is in the training part with another translation",
        "Remove such sources from training, or figures on this part may be too good.",
        warn_from=0.01,
    ),
    Rule(
        "unknown-words",
        "running words never occur in the training part",
        "Train on text of the same kind; units smaller than words (bpe, character) can still spell them.",
        warn_from=0.1,
        silent_below=0.1,
    ),
    Rule(
        "case",
        "running words occur in the training part in another case only",
        "The parts are cased differently: bring them to one, or set text.lowercase = true.",
        warn_from=0.02,
        silent_below=0.02,
    ),
    Rule(
        "unknown-units",
        "units are outside the vocabulary that the training part gives",
        'Train on text that has them or raise text.size; units = "bpe" with byte_fallback = true spell anything.',
        warn_from=0.01,
        silent_below=0.001,
    ),
)

RULES = {rule.kind: rule for rule in _RULES}
"""The rules by kind."""


def findings(part: str, side: str, tallies: Mapping[str, Tally], total: int) -> Iterator[Finding]:
    """What tallies by kind make, of ``total`` lines or words, in the order of the rules."""
    for kind, rule in RULES.items():
        tally = tallies.get(kind, Tally())
        if finding := rule.finding(part, side, tally.count, total, tally.places):
            yield finding
