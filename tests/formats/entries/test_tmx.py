"""TMX: languages, inline codes, text inside of them, and what is no pair."""

import pytest

from anaphora.formats.entries.entry import Reason
from anaphora.formats.entries.tmx import tmx_lines
from tests.formats.entries.filling import fill_each, filled_text, pairs_of, read_document, skipped_of

HEAD = '<?xml version="1.0"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4"><header srclang="en"/><body>\n'


def tmx(*entries: str) -> str:
    return HEAD + "\n".join(f"<tu>{entry}</tu>" for entry in entries) + "\n</body></tmx>"


def tuv(language: str, text: str, attribute: str = "xml:lang") -> str:
    return f'<tuv {attribute}="{language}"><seg>{text}</seg></tuv>'


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (tuv("en", "Open"), tuv("de", "Öffnen")),
        (tuv("EN-us", "Open"), tuv("de_AT", "Öffnen")),
        (tuv("en", "Open", "lang"), tuv("de", "Öffnen", "lang")),
        (tuv("fr", "Ouvrir") + tuv("en", "Open"), tuv("cs", "Otevřít") + tuv("de", "Öffnen")),
        (tuv("en-GB", "Open it") + tuv("en", "Open"), tuv("de", "Öffnen")),
        (tuv("en", " Open\n "), tuv("de", "<![CDATA[Öffnen]]>")),
        (tuv("de", "Öffnen"), tuv("en", "Open")),
    ],
)
def test_a_pair_is_found_by_its_languages(source: str, target: str) -> None:
    assert pairs_of("m.tmx", tmx(source + target)) == [("Open", "Öffnen")]


def test_a_region_that_is_asked_for_takes_no_other() -> None:
    entry = tuv("en-US", "Color") + tuv("en-GB", "Colour") + tuv("de", "Farbe")
    assert pairs_of("m.tmx", tmx(entry), ("en-GB", "de")) == [("Colour", "Farbe")]


@pytest.mark.parametrize(("source", "target"), [("en", "en-GB"), ("en-US", "en"), ("en-US", "en-GB")])
def test_a_variety_is_of_the_side_that_names_it(source: str, target: str) -> None:
    both = tuv("en-US", "Color") + tuv("en-GB", "Colour")
    assert pairs_of("m.tmx", tmx(both), (source, target)) == [("Color", "Colour")]
    assert pairs_of("m.tmx", tmx(tuv("en-GB", "Colour")), (source, "en-GB")) == []


def test_a_text_outside_of_an_entry_is_none() -> None:
    entry = tuv("en", "Open") + tuv("de", "Öffnen")
    text = tmx().replace("</body>", f"<uu>{entry}</uu><tu>{entry}</tu></body>")
    assert pairs_of("m.tmx", text) == [("Open", "Öffnen")]


NATIVE = 'Press <{0} i="1">&lt;b&gt;</{0}>OK, <hi type="b">now</hi> &amp; here'
LINK = 'A <ph>&lt;a title="<sub>big <ph>!</ph>link</sub>"&gt;</ph>word'
GERMAN = 'Ein <ph>&lt;a title="<sub>großer Link</sub>"&gt;</ph>Wort'


@pytest.mark.parametrize(
    ("entry", "pairs"),
    [
        (
            tuv("en", "a") + tuv("en", "b") + tuv("de", "x") + tuv("de", "y") + tuv("de", ""),
            [("a", "x"), ("a", "y"), ("b", "x")],
        ),
        *(
            (tuv("en", NATIVE.format(code)) + tuv("de", "x"), [("Press OK, now & here", "x")])
            for code in ("bpt", "ept", "ph", "it", "ut")
        ),
        (tuv("en", LINK) + tuv("de", GERMAN), [("A word", "Ein Wort"), ("big link", "großer Link")]),
        (tuv("en", LINK) + tuv("de", "Ein Wort"), [("A word", "Ein Wort")]),
        (tuv("en", "a<!-- a -->b<?x y?>") + "<note><seg>no</seg></note>" + tuv("de", "x"), [("ab", "x")]),
    ],
)
def test_texts_are_what_stands_outside_of_native_code_and_in_subflows(entry: str, pairs: list[tuple[str, str]]) -> None:
    assert pairs_of("m.tmx", tmx(entry)) == pairs


def test_what_is_no_pair_says_why_and_where() -> None:
    text = tmx(
        tuv("en", "a"),
        tuv("fr", "a") + tuv("de", "b"),
        tuv("en", " ") + tuv("de", "b"),
        tuv("en", "a") + tuv("de", '<ph x="1"/>'),
        '<tuv xml:lang="en">a</tuv>' + tuv("de", "b"),
        '<tuv xml:lang="fr">a</tuv>' + tuv("de", "b"),
    )
    reasons = ("UNTRANSLATED", "OTHER_LANGUAGES", "EMPTY", "UNTRANSLATED", "WITHOUT_SEG", "OTHER_LANGUAGES")
    assert skipped_of("m.tmx", text) == [(line, Reason[one]) for line, one in enumerate(reasons, 4)]


@pytest.mark.parametrize("prefix", ["", "t:"])
def test_elements_of_other_name_spaces_are_not_seen(prefix: str) -> None:
    text = tmx(tuv("en", "Open <x:g>it</x:g>") + "<x:tuv><seg>no</seg></x:tuv>" + tuv("de", "Auf"))
    for name in ("tmx", "header", "body", "tu", "tuv", "seg"):
        text = text.replace(f"<{name}", f"<{prefix}{name}").replace(f"</{name}", f"</{prefix}{name}")
    text = text.replace(f"<{prefix}seg>no</{prefix}seg>", "<x:seg>no</x:seg>")
    assert pairs_of("m.tmx", text) == [("Open it", "Auf")]
    gap = text.replace(f'<{prefix}tuv xml:lang="de"><{prefix}seg>Auf</{prefix}seg></{prefix}tuv>', "")
    assert pairs_of("m.tmx", filled_text("m.tmx", gap)) == [("Open it", "OPEN IT")]


def test_pairs_that_are_written_are_read_back() -> None:
    pairs = [("a < b & c", '"d"'), ("two words", "\u0001zwei\uffff Wörter"), ("日本", "𝔘 ]]>")]
    found = pairs_of("a.tmx", "\n".join(tmx_lines(pairs, ("en", "de"))))
    assert found == [pairs[0], ("two words", "zwei  Wörter"), pairs[2]]


@pytest.mark.parametrize(
    ("name", "gap", "written"),
    [
        ("a.tmx", tmx(tuv("en", "Open it")), 'xml:lang="sr-Latn"'),
        ("a.html", '<p lang="en">Open it</p>', 'lang="sr-Latn"'),
    ],
)
def test_codes_are_written_with_hyphens(name: str, gap: str, written: str) -> None:
    assert written in fill_each(read_document(name, gap, ("en", "sr_Latn")), {0: "Otvori"}).decode()
    assert 'xml:lang="sr-Latn"' in "".join(tmx_lines([("a", "b")], ("en", "sr_Latn")))
