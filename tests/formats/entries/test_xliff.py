"""XLIFF 1.2 and 2: states, languages, codes, protected text, and proposals that are no translations."""

import pytest

from anaphora.formats.entries.entry import Reason
from tests.formats.entries.filling import pairs_of, skipped_of


def first(*entries: str, target: str = "de-DE") -> str:
    """A document in version 1.2."""
    return (
        '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">\n'
        f'<file source-language="en-US" target-language="{target}"><body>\n'
        + "\n".join(entries)
        + "\n</body></file></xliff>"
    )


def second(*entries: str) -> str:
    """A document in version 2."""
    return (
        '<xliff version="2.0" srcLang="en" trgLang="de" xmlns:m="urn:oasis:names:tc:xliff:matches:2.0">\n'
        '<file id="f">\n' + "\n".join(entries) + "\n</file></xliff>"
    )


def trans_unit(content: str, attributes: str = "") -> str:
    return f'<trans-unit id="1" {attributes}>{content}</trans-unit>'


def segment(content: str, attributes: str = "") -> str:
    return f'<unit id="1"><segment{" " if attributes else ""}{attributes}>{content}</segment></unit>'


BOTH = "<source>Open</source><target{}>Öffnen</target>"


@pytest.mark.parametrize(
    ("document", "taken"),
    [
        (first(trans_unit(BOTH.format(""))), True),
        (first(trans_unit(BOTH.format(' state="translated"'), 'approved="no"')), True),
        (first(trans_unit(BOTH.format(' state="needs-review-translation"'), 'approved="yes"')), True),
        (first(trans_unit(BOTH.format(""), 'approved="no"')), False),
        (first(trans_unit(BOTH.format(' state="new"'))), False),
        (first(trans_unit(BOTH.format(' state="needs-translation"'))), False),
        (first(trans_unit(BOTH.format(' state="needs-review-translation"'))), False),
        (second(segment(BOTH.format(""))), True),
        (second(segment(BOTH.format(""), 'state="translated"')), True),
        (second(segment(BOTH.format(""), 'state="initial"')), False),
    ],
)
def test_the_state_decides_what_is_a_translation(document: str, taken: bool) -> None:
    assert pairs_of("d.xlf", document) == ([("Open", "Öffnen")] if taken else [])
    assert [why for _, why in skipped_of("d.xlf", document)] == ([] if taken else [Reason.UNAPPROVED])


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (first(trans_unit(BOTH.format(""), 'translate="no"')), Reason.NOT_FOR_TRANSLATION),
        (
            first(f'<group translate="no"><group>{trans_unit(BOTH.format(""))}</group></group>'),
            Reason.NOT_FOR_TRANSLATION,
        ),
        (second(f'<unit translate="no"><segment>{BOTH.format("")}</segment></unit>'), Reason.NOT_FOR_TRANSLATION),
        (second(f'<group translate="no">{segment(BOTH.format(""))}</group>'), Reason.NOT_FOR_TRANSLATION),
        (first(trans_unit("<source>Open</source>")), Reason.UNTRANSLATED),
        (first(trans_unit("<source>Open</source><target/>")), Reason.UNTRANSLATED),
        (first(trans_unit('<source>Open</source><target> <x id="1"/></target>')), Reason.UNTRANSLATED),
        (first(trans_unit("<source/><target>Auf</target>")), Reason.EMPTY),
        (first(trans_unit("<target>Auf</target>")), Reason.EMPTY),
        (first(trans_unit(BOTH.format("")), target="fr"), Reason.OTHER_LANGUAGES),
    ],
)
def test_what_is_no_pair_says_why(document: str, why: Reason) -> None:
    assert skipped_of("d.xlf", document) == [(3, why)]


OPEN = trans_unit(BOTH.format(""), 'translate="yes"')
OTHER = "<source>no</source><target>nein</target>"


@pytest.mark.parametrize(
    "document",
    [
        first(f'<group translate="no">{OPEN}{trans_unit(OTHER)}</group>'),
        first(trans_unit(OTHER), target="fr").replace(
            "</xliff>", first(trans_unit(BOTH.format(""))).split("\n", 1)[1]
        ),  # each file is of its own languages
        first(trans_unit(f"{BOTH.format('')}<alt-trans>{OTHER}</alt-trans>")),
        second(f"<unit><m:matches><m:match>{OTHER}</m:match></m:matches><segment>{BOTH.format('')}</segment></unit>"),
    ],
)
def test_the_nearest_declaration_counts_and_proposals_are_no_translations(document: str) -> None:
    assert pairs_of("d.xlf", document) == [("Open", "Öffnen")]


CODES_1 = [
    ('Press <g id="1">OK <x id="2"/></g>now', "Press OK now"),
    ('<bpt id="1">&lt;b&gt;</bpt>Bold<ept id="1">&lt;/b&gt;</ept> <ph id="2">%s</ph>!', "Bold !"),
    ('<mrk mtype="seg" mid="0">One.</mrk> <mrk mtype="seg" mid="1">Two.</mrk>', "One. Two."),
    ('By <mrk mtype="protected">ACME</mrk> &amp; us', "By  & us"),
    ("<g><g><g>De<g>e</g>p</g></g></g>", "Deep"),
]
CODES_2 = [
    ('Press <pc id="1">OK</pc><ph id="2"/>.', "Press OK."),
    ('A<cp hex="001a"/>B <sc id="1"/>C<ec startRef="1"/>', "AB C"),
    ('By <mrk id="m" translate="no">ACME</mrk>', "By"),
    ('By <sm id="m" translate="no"/>ACME<em startRef="m"/>!', "By !"),
]


@pytest.mark.parametrize(
    ("source", "text", "version"), [*((*one, 1) for one in CODES_1), *((*one, 2) for one in CODES_2)]
)
def test_codes_are_no_text(source: str, text: str, version: int) -> None:
    content = f"<source>{source}</source><target>x</target>"
    document = first(trans_unit(content)) if version == 1 else second(segment(content))
    assert pairs_of("d.xlf", document) == [(text, "x")]
