"""The translators of a server, by their languages, and the codes of languages as clients write them."""

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import anaphora
from anaphora.errors import ConfigError
from anaphora.kernels.backends import InferencePrecision
from anaphora.languages import NAMES, plain_code
from anaphora.memory import Memory
from anaphora.prediction.adaptation import Adaptation
from anaphora.prediction.candidates import Shortlist
from anaphora.prediction.glossary import Glossary
from anaphora.prediction.options import SearchOptions
from anaphora.serving.refusal import bad
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.tm_lookup import adaptation_to
from anaphora.text.tokenizer import UNK

_SAME = (("zh", "zh-Hans"), ("zt", "zh-Hant"), ("pb", "pt-BR"), ("iw", "he"), ("no", "nb"), ("in", "id"))
"""Pairs of codes of one language, of which either may be asked for."""


def name_of(code: str) -> str:
    """Return the English name of a language; the code itself for one without a two-letter code."""
    return NAMES.get(code) or NAMES.get(code.split("-")[0]) or code


def known_as(code: str, known: Collection[str]) -> str | None:
    """Return the language among ``known`` that a client means by a code, or None.

    Case and ``_`` for ``-`` make no difference, and old or other codes of the same language are understood. Where
    there is no model for a region ("en-GB"), the language without it is meant ("en"), and the other way round.
    """
    asked = plain_code(code)
    codes = {plain_code(one): one for one in known}
    for wanted in (asked, *_other_names(asked), asked.split("-")[0], *_other_names(asked.split("-")[0])):
        if wanted in codes:
            return codes[wanted]
    return next((codes[one] for one in sorted(codes) if one.split("-")[0] == asked), None)


def _other_names(plain: str) -> list[str]:
    pairs = [(plain_code(one), plain_code(other)) for one, other in _SAME]
    return [other for one, other in pairs if one == plain] + [one for one, other in pairs if other == plain]


Nearest = Callable[[str, str], list[list[dict[str, Any]]]]
"""Function from a text and its translation to the training pairs nearest to each word of that, as values for JSON."""


class ServedRun(NamedTuple):
    """A loaded run."""

    source: str
    target: str
    predictor: TranslationPredictor
    attends: bool
    """True if it can say which words became which."""
    model: str = ""
    """The name of its run folder."""
    memory: Memory | None = None
    """The memory of the run, where it is used."""
    learning: Memory | None = None
    """The same to add to, where that is allowed: adding may wait for other processes, and finding should not."""
    adaptation: Adaptation | None = None
    """Memory that every search is adapted to, where that is asked for."""
    nearest: Nearest | None = None
    """Finds training pairs for clients, where that is allowed."""
    candidates: Shortlist | None = None
    """The part of the run's shortlist that every search is restricted to, where that is asked for."""
    terms: Glossary | None = None
    """Terms that every translation must have and must not."""

    def options(self, **others: Any) -> SearchOptions:
        """Return its search options, with ``others`` changed."""
        return SearchOptions(adaptation=self.adaptation, candidates=self.candidates, terms=self.terms, **others)


class Translators:
    """Loaded runs, one for each pair of languages."""

    def __init__(self, served: Sequence[ServedRun]) -> None:
        """Raises ConfigError for two of the same languages."""
        self._served: dict[tuple[str, str], ServedRun] = {}
        for one in served:
            if (one.source, one.target) in self._served:
                raise ConfigError(f"Two of the runs translate {one.source} to {one.target}: serve one of them.")
            self._served[one.source, one.target] = one

    @classmethod
    def load(
        cls,
        runs: Sequence[Path],
        precision: InferencePrecision = "fp32",
        *,
        memory: bool = False,
        learns: bool = False,
        adapt: bool = False,
        shortlist: bool = False,
        terms: Glossary | None = None,
        nearest: Callable[[Path], Nearest] | None = None,
    ) -> "Translators":
        """Return the translators of some run folders.

        With ``memory`` they use the memories of the runs; with ``learns`` a run without one gets one, which can be
        added to; with ``adapt`` similar segments take part in their predictions. With ``shortlist`` they write the
        tokens of the runs' shortlists alone; ``nearest`` opens what finds the training pairs of a run. Raises
        ConfigError for a run of another task, without a shortlist, or that cannot write one of the ``terms``, which are
        those of one run, and RunError where a memory cannot be opened.
        """
        translators = list[ServedRun]()
        for run in runs:
            own, finder = _load(run, precision), nearest(run) if nearest else None
            if shortlist:
                own = list(map(_shortlist, own))
            if terms:
                own = [_with_terms([*translators, *own], terms)]
            if memory:
                is_only = len(own) == 1
                own = [_remembering(one, run, is_only=is_only, learns=learns, adapt=adapt) for one in own]
            translators += [one._replace(nearest=finder) for one in own]
        return cls(translators)

    def __iter__(self) -> Iterator[ServedRun]:
        return iter(self._served.values())

    def close(self) -> None:
        """Close the memories; nothing is found in them afterwards."""
        for memory in (one for served in self for one in (served.memory, served.learning)):
            if memory is not None:
                memory.close()

    @property
    def sources(self) -> list[str]:
        """The languages that can be translated from, sorted."""
        return sorted({one.source for one in self._served.values()})

    def targets(self, source: str) -> list[str]:
        """Return the languages that a source can be translated to, sorted."""
        return sorted(one.target for one in self._served.values() if one.source == source)

    def find(self, source: str, target: str) -> ServedRun:
        """Return the translator that a client means by two codes.

        Raises Refusal for a language or a pair that is not served.
        """
        languages = {code for pair in self._served for code in pair}
        codes = [known_as(code, languages) for code in (source, target)]
        for asked, code in zip((source, target), codes, strict=True):
            if code is None:
                raise bad(f"{asked} is not supported")
        found_source, found_target = (code or "" for code in codes)
        if found_target not in self.targets(found_source):
            raise bad(
                f"{name_of(found_target)} ({found_target}) is not available as a target language from "
                f"{name_of(found_source)} ({found_source})"
            )
        return self._served[found_source, found_target]


def _load(run: Path, precision: InferencePrecision) -> list[ServedRun]:
    """Return a run for each pair of its languages."""
    predictor = anaphora.load(run, kind=TranslationPredictor, precision=precision)
    if not all(predictor.languages):
        raise ConfigError(f"{run} does not say which languages it translates: train it with --source and --target.")
    pairs = predictor.directions or (predictor.languages,)
    name = run.resolve().name
    own = [predictor.with_languages(*pair[::-1]) for pair in pairs]
    return [ServedRun(*one.languages, one, one.attends, name) for one in own]


def _shortlist(served: ServedRun) -> ServedRun:
    """Return a translator that is restricted to the shortlist of its run, which is read now."""
    restricted = served._replace(candidates=Shortlist())
    served.predictor.translate(["a"], restricted.options(beam=1))
    return restricted


def _with_terms(translators: Sequence[ServedRun], terms: Glossary) -> ServedRun:
    """Return the only translator with terms, each of which it can write in one of its forms."""
    if len(translators) > 1:
        raise ConfigError("A glossary is of one pair of languages: serve one run with --terms.")
    [served] = translators
    for entry in terms.entries:
        if entry.required and all(UNK in served.predictor.target.encode(form) for form in entry.required):
            raise ConfigError(
                f"{entry.where} needs '{entry.required[0]}', which has words outside the vocabulary of the translator: "
                f"use another translation."
            )
    return served._replace(terms=terms)


def _remembering(served: ServedRun, run: Path, *, is_only: bool, learns: bool, adapt: bool) -> ServedRun:
    """Return a translator with the memory of its run, or that of its languages where it is not the run's only one.

    It is read now, and not when the first client waits for it.
    """
    pair = "" if is_only else f"{served.source}-{served.target}"
    memory = Memory(run, create=learns, pair=pair)
    memory.refresh()
    learning = Memory(run, pair=pair) if learns else None
    return served._replace(memory=memory, learning=learning, adaptation=adaptation_to(memory) if adapt else None)
