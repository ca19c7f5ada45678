"""Segments inside of XLIFF 1.2 units: one entry each, in the states of the programs that wrote them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.formats.entries.entry import Reason
from tests.formats.entries.filling import fill_each, filled_text, pairs_of, read_document, skipped_of
from tests.formats.entries.test_xliff import first, trans_unit

DRAFT = Reason.UNAPPROVED


def mrk(number: int, text: str) -> str:
    return f'<mrk mtype="seg" mid="{number}">{text}</mrk>'


def unit(sources: list[str], targets: dict[int, str] | None, more: str = "", attributes: str = "") -> str:
    """A unit whose target has some of the segments; None for one without a target."""
    segments = " ".join(mrk(number, text) for number, text in enumerate(sources))
    there = " ".join(mrk(number, text) for number, text in (targets or {}).items())
    target = "" if targets is None else f"<target>{there}</target>"
    whole = " ".join(sources)
    return trans_unit(f"<source>{whole}</source><seg-source>{segments}</seg-source>{target}{more}", attributes)


def described(*segments: str) -> str:
    every = "".join(f'<sdl:seg id="{number}" {text}/>' for number, text in enumerate(segments))
    return f'<sdl:seg-defs xmlns:sdl="http://sdl.com/FileTypes/SdlXliff/1.0">{every}</sdl:seg-defs>'


TRADOS = {
    True: (
        'conf="Translated" origin="tm" percent="100"',
        'conf="ApprovedSignOff"',
        'conf="ApprovedTranslation" origin="mt"',
    ),
    False: (
        *('conf="Translated" origin="mt"', 'conf="Translated" origin="nmt"', 'conf="Draft" origin="mt"'),
        *('conf="RejectedTranslation"', 'origin="mt"', ""),
    ),
}
OTHERS = {
    True: (
        *('mq:status="ManuallyConfirmed"', 'mq:status="ConfirmedTranslator"', 'mq:status="Proofread"'),
        *('m:confirmed="2"', 'm:confirmed="1" approved="no"'),
    ),
    False: (
        *('mq:status="MachineTranslated"', 'mq:status="Rejected" approved="yes"', 'mq:status="NotStarted"'),
        *('m:confirmed="0"', 'm:confirmed="0" m:trans-origin="mt"'),
    ),
}


@pytest.mark.parametrize(("is_taken", "description"), [(taken, one) for taken in TRADOS for one in TRADOS[taken]])
def test_states_of_trados_go_before_those_of_the_unit(description: str, is_taken: bool) -> None:
    text = first(unit(["One.", "Two."], {0: "Eins.", 1: "Zwei."}, described('conf="Translated"', description)))
    assert pairs_of("a.sdlxliff", text) == [("One.", "Eins."), *([("Two.", "Zwei.")] if is_taken else [])]
    approved = first(unit(["One."], {0: "Eins."}, described(description), 'approved="yes"'))
    assert bool(pairs_of("a.sdlxliff", approved)) == is_taken


@pytest.mark.parametrize(("is_taken", "attributes"), [(taken, one) for taken in OTHERS for one in OTHERS[taken]])
def test_states_of_memoq_and_phrase_count(attributes: str, is_taken: bool) -> None:
    for target in ("Eins", mrk(0, "Eins")):
        text = first(trans_unit(f"<source>One</source><target>{target}</target>", attributes))
        assert pairs_of("a.xlf", text) == ([("One", "Eins")] if is_taken else [])
        assert skipped_of("a.xlf", text) == ([] if is_taken else [(3, DRAFT)])


def test_a_filled_text_is_pretranslated_for_memoq() -> None:
    text = first(trans_unit("<source>One</source>", 'mq:status="NotStarted"'))
    filled = filled_text("a.xlf", text)
    assert 'mq:status="Pretranslated"' in filled and "ONE</target>" in filled
    assert skipped_of("a.xlf", filled) == [(3, DRAFT)]


def test_a_copy_of_the_source_is_a_gap_where_nobody_began() -> None:
    text = first(unit(["One.", "Two."], {0: "One.", 1: "Two."}, described("", 'conf="Draft"')))
    assert filled_text("a.xlf", text) == text.replace(f"<target>{mrk(0, 'One.')}", f"<target>{mrk(0, 'ONE.')}").replace(
        'id="0" />', 'id="0" conf="Draft" origin="mt" />'
    )


@pytest.mark.parametrize("locked", ['mq:locked="locked"', 'm:locked="true"', 'mq:status="NotStarted" mq:locked="yes"'])
def test_what_is_locked_stays(locked: str) -> None:
    for text in (
        first(trans_unit("<source>One</source>", locked)),
        first(unit(["One."], {0: ""}, described('locked="true"'))),
    ):
        assert filled_text("a.xlf", text) == text
        assert skipped_of("a.xlf", text) == [(3, Reason.NOT_FOR_TRANSLATION)]


def test_deleted_text_is_no_text() -> None:
    target = f'<target>{mrk(0, """Ein<mrk mtype="x-sdl-deleted">e</mrk><mrk mtype="x-sdl-added">s</mrk>.""")}</target>'
    text = first(trans_unit(f"<source>One.</source><seg-source>{mrk(0, 'One.')}</seg-source>{target}"))
    assert pairs_of("a.xlf", text) == [("One.", "Eins.")]


@pytest.mark.parametrize(
    ("target", "pairs"),
    [
        ("<target>Eins. Zwei.</target>", [("One. Two.", "Eins. Zwei.")]),
        (f"<target>{mrk(7, 'Eins.')}</target>", [("One. Two.", "Eins.")]),
        (f"<target>{mrk(0, 'Eins.')}{mrk(0, 'Zwei.')}</target>", [("One. Two.", "Eins.Zwei.")]),
    ],
)
def test_a_target_that_is_divided_otherwise_is_that_of_the_unit(target: str, pairs: list[tuple[str, str]]) -> None:
    segments = f"{mrk(0, 'One.')} {mrk(1, 'Two.')}"
    text = first(trans_unit(f"<source>One. Two.</source><seg-source>{segments}</seg-source>{target}"))
    assert pairs_of("a.xlf", text) == pairs


@pytest.mark.parametrize("there", [{1: "t1"}, {0: "t0"}, {2: "t2"}, {0: "t0", 2: "t2"}, {1: "t1", 2: "t2"}])
def test_segments_that_a_target_lacks_are_put_in_their_places(there: dict[int, str]) -> None:
    every = {number: there.get(number, f"S{number}") for number in range(3)}
    before, after = (first(unit(["s0", "s1", "s2"], targets, described("", "", ""))) for targets in (there, every))
    states = re.compile("(?<=<sdl:seg id=).*?(?=/>)")
    assert states.sub("", filled_text("a.xlf", before)) == states.sub("", after)


def test_codes_around_segments_are_those_of_the_source() -> None:
    inner = f'<g id="1">{mrk(0, "_a <x id=&quot;2&quot;/>".replace("&quot;", chr(34)))} </g><x id="3"/>{mrk(1, "_b")}'
    text = first(trans_unit(f"<source>_a _b</source>\n  <seg-source>{inner}</seg-source>"))
    target = f'<target state="needs-review-translation">{inner.replace("_a", "_A").replace("_b", "_B")}</target>'
    assert filled_text("a.xlf", text) == text.replace("</seg-source>", f"</seg-source>{target}")


def test_the_size_of_a_unit_is_that_of_all_its_segments() -> None:
    text = first(unit(["One.", "Two."], None, "", 'maxwidth="9" size-unit="char"'))
    gaps = [entry.gap for entry in read_document("a.xlf", text).entries]
    assert [gap.fits("x" * size) for gap in gaps if gap for size in (9, 10)] == [None, False] * 2


@pytest.mark.parametrize("target", ["", ' target-language=""'])
def test_a_file_in_version_1_declares_the_language_of_its_targets(target: str) -> None:
    text = first(unit(["a", "b"], None), trans_unit("<source>c</source>")).replace(' target-language="de-DE"', target)
    found = filled_text("a.xlf", text)
    assert found.count('<file source-language="en-US" target-language="de">') == 1
    done = first(trans_unit("<source>c</source><target>C</target>")).replace(' target-language="de-DE"', target)
    assert filled_text("a.xlf", done) == done


STATES = st.sampled_from(["done", "draft", "empty", "absent"])


@given(segments=st.lists(st.tuples(STATES, st.booleans()), min_size=1, max_size=6), has_states=st.booleans())
def test_some_segments_are_filled_and_the_others_stay(segments: list[tuple[str, bool]], has_states: bool) -> None:
    if not has_states:
        segments = [("done" if state == "draft" else state, is_filled) for state, is_filled in segments]
    has_target = any(state != "absent" for state, _ in segments)
    texts = {n: "" if one == "empty" else f"t{n}" for n, (one, _) in enumerate(segments) if one != "absent"}
    conf = {"done": 'conf="Translated"', "draft": 'conf="Draft"'}
    states = described(*(conf.get(state, "") for state, _ in segments)) if has_states else ""
    sources = [f"s{number}" for number in range(len(segments))]
    before = first(unit(sources, texts if has_target else None, states), trans_unit("<source>z</source>"))
    document = read_document("a.xlf", before)
    gaps = [place for place, (state, _) in enumerate(segments) if state in ("empty", "absent")]
    assert [place for place, one in enumerate(document.entries) if one.gap] == [*gaps, len(segments)]
    put = [place for place in gaps if segments[place][1]]
    after = fill_each(document, {place: f"f{place}" for place in put}).decode()
    if not put:
        assert after == before
        return
    again = read_document("b.xlf", after).entries[:-1]
    [target] = re.findall("<target.*?</target>", after)
    found = dict(re.findall(r'mid="(\d)">(.*?)</mrk>', target))
    assert {int(mid): text for mid, text in found.items() if text} == {
        **{place: text for place, text in texts.items() if text},
        **{place: f"f{place}" for place in put},
    }
    assert list(found) == sorted(found)
    for place, entry in enumerate(again):
        assert bool(entry.gap) == (place in gaps and place not in put)
        if has_states:
            assert bool(entry.target) == (segments[place][0] == "done")
