"""Texts with spans by their offsets, a JSON object a line, as doccano and Label Studio export them.

    {"text": "EU rejects", "label": [[0, 2, "ORG"]]}                                     doccano
    {"text": "EU rejects", "entities": [{"start_offset": 0, "end_offset": 2, "label": "ORG"}]}
    {"text": "EU rejects", "label": [{"start": 0, "end": 2, "labels": ["ORG"]}]}         Label Studio, JSON-MIN
    {"data": {"text": ..}, "annotations": [{"result": [{"value": {"start": 0, ..}}]}]}   Label Studio, JSON

The file may also be one JSON array of such objects. Offsets count characters. Texts whose annotations are all cancelled
(``was_cancelled``), or were refused (Prodigy's ``answer``), have not been labelled and are left out.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from anaphora.errors import DataError
from anaphora.formats.json_text import json_objects
from anaphora.formats.span_tags import ONE_TYPE, Encoding, Span, spans_of, tags_of
from anaphora.formats.tagged import Sentence, content_of, is_label, split_end, token_places
from anaphora.wording import inflect

_LABELS = ("label", "labels", "entities", "spans")
"""Keys that spans may be under."""

Labelled = tuple[int, int, str]
"""Begin, end and type of a span in its text."""


@dataclass(frozen=True)
class Offsets:
    """JSON with offsets; tokens are tagged in ``encoding``. See ``TaggedFormat``."""

    encoding: Encoding

    def read(self, lines: Iterable[str], where: str, *, labelled: bool = False) -> Iterator[Sentence]:
        """Yield the texts, each as one sentence.

        Where a span of a labelled one begins or ends inside of a token, it is cut.

        Raises DataError for a line that is no such object, and spans that overlap or lie outside of their text.
        """
        for number, line, item in json_objects(lines, where):
            place = f"{where}:{number}"
            if labelled and _is_cancelled(item):
                yield Sentence(number, (), (), (line,), ())
                continue
            text, spans = _text(item, place), _spans(item, place) if labelled else []
            _check(spans, len(text), place)
            whole, edges = token_places(text), {edge for start, end, _ in spans for edge in (start, end)}
            places = _cut(whole, sorted(edges))
            cut = tuple(text[start:end] for start, end in whole if any(start < edge < end for edge in edges))
            words = tuple(text[start:end] for start, end in places)
            tags: tuple[str, ...] = ()
            if labelled:
                tags = tuple(tags_of(_of_tokens(spans, places), len(words), self.encoding))
            yield Sentence(number, words, tags, (line,), (), cut, tuple(places))

    def write(self, sentence: Sentence, tags: Sequence[str]) -> str:
        """Return the object with the spans of these tags under "label", or the key that it had them under."""
        (line,) = sentence.lines
        content, end = split_end(line)
        item = json.loads(content_of(content))
        places = sentence.offsets
        spans = [[places[s][0], places[e - 1][1], type_ or ONE_TYPE] for s, e, type_ in spans_of(tags, self.encoding)]
        key = _key_of_spans(item) or next((key for key in _LABELS if item.get(key) is None), _LABELS[0])
        return json.dumps({**item, key: spans}, ensure_ascii=False) + end


def _key_of_spans(item: Mapping[str, Any]) -> str:
    """Return the key that spans are under; empty for none."""
    return next((key for key in _LABELS if isinstance(item.get(key), list)), "")


def _text(item: Mapping[str, Any], place: str) -> str:
    data = item.get("data")
    text = item.get("text", data.get("text") if isinstance(data, Mapping) else data)
    if not isinstance(text, str):
        raise DataError(
            f'{place} should have its text under "text", but has {", ".join(item) or "nothing"}: rename it, or write '
            f"lists of tokens and tags as lines: token, tab, tag, and a blank line after each sentence."
        )
    return text


def _is_cancelled(item: Mapping[str, Any]) -> bool:
    """True if a text, or one annotation of it, was not labelled in the end; so is a text without any annotation."""
    made = None if _key_of_spans(item) else item.get("annotations")
    unmade = isinstance(made, list) and all(isinstance(one, Mapping) and _is_cancelled(one) for one in made)
    return unmade or item.get("was_cancelled") is True or item.get("answer") in ("ignore", "reject")


def _spans(item: Mapping[str, Any], place: str) -> list[Labelled]:
    found = item.get(_key_of_spans(item))
    if found is None and isinstance(item.get("annotations"), list):
        made = [one for one in item["annotations"] if isinstance(one, Mapping) and not _is_cancelled(one)]
        results = [one.get("result") for one in made[:1]]
        values = chain(*(result for result in results if isinstance(result, list)))
        found = [one.get("value") for one in values if isinstance(one, Mapping)]
    if found is None:
        raise DataError(
            f'{place} should have its spans under "label", but has {", ".join(item)}: label it, or drop it.'
        )
    return sorted(_span(one, place) for one in found)


def _span(found: Any, place: str) -> Labelled:
    if isinstance(found, Mapping):
        names = found.get("labels")
        if isinstance(names, list) and len(names) > 1:
            raise DataError(f"{place} has a span with the labels {', '.join(map(str, names))[:100]}: keep one of them.")
        type_ = found.get("label", names[0] if isinstance(names, list) and names else None)
        found = [found.get("start_offset", found.get("start")), found.get("end_offset", found.get("end")), type_]
    match found:
        case [int(start), int(end), str(type_)] if is_label(type_):
            return start, end, type_
    raise DataError(f'{place} should have spans such as [0, 2, "ORG"], but has {json.dumps(found):.200}: correct it.')


def _check(spans: Sequence[Labelled], length: int, place: str) -> None:
    last = 0
    for start, end, type_ in spans:
        if not 0 <= start < end <= length:
            raise DataError(
                f"{place}: the span {start} to {end} ({type_}) lies outside of its {inflect(length, 'character')}: "
                f"correct or remove it."
            )
        if start < last:
            raise DataError(f"{place}: the span {start} to {end} ({type_}) overlaps another: keep one of them.")
        last = end


def _cut(places: Sequence[tuple[int, int]], edges: Sequence[int]) -> list[tuple[int, int]]:
    pieces = list[tuple[int, int]]()
    for start, end in places:
        inner = [edge for edge in edges if start < edge < end]
        pieces += zip([start, *inner], [*inner, end], strict=True)
    return pieces


def _of_tokens(spans: Sequence[Labelled], places: Sequence[tuple[int, int]]) -> Iterator[Span]:
    """Yield the spans by the numbers of their tokens; those of white space alone have none."""
    for start, end, type_ in spans:
        inside = [number for number, (a, b) in enumerate(places) if start <= a and b <= end]
        if inside:
            yield Span(inside[0], inside[-1] + 1, type_)
