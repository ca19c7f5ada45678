"""Languages of a corpus and direction of its translation: in front of its path, by names, a heading, or its files.

``es-gn=FOLDER`` is data in the direction from Spanish to Guarani, ``es-gn,gn-es=FOLDER`` the same data in both.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from anaphora.data.entry_files import entry_files_in, languages_of_entries, stem_of
from anaphora.data.finding import USUAL
from anaphora.errors import ConfigError, DataError
from anaphora.formats.tsv import PLAIN, Layout, languages_of_heading
from anaphora.languages import CODES, bare

_CODE = r"[a-z]{2,3}(?:[-_][A-Z][A-Za-z]{1,3})?"
_ENDING = re.compile(rf"\.({_CODE})")
_LOOKED_AT = 20
"""Files of a folder that tell its languages."""
_DIRECTION = re.compile(rf"(?<![A-Za-z])(?=({_CODE})(?:-|-to-|2)({_CODE})(?![A-Za-z]))")
_ANY_CODE = r"([a-z]{2,3}(?:[-_](?:[A-Z][A-Za-z]{1,3}|\d{3}))*(?:@[a-z]+)?)"
"""A language in front of a path, where more can be told from a name than within one: zh-Hant-TW, es-419, sr@latin."""
_PAIR = rf"{_ANY_CODE}-{_ANY_CODE}"
_PAIRS = re.compile(_PAIR)
_NAMED = re.compile(rf"({_PAIR}(?:,{_PAIR})*)=(.*)", re.DOTALL)


Direction = tuple[str, str]
"""The languages of source and target."""


def split_directions(path: str) -> tuple[str, str]:
    """Return the directions in front of a path (``es-gn,gn-es=``), empty where there are none, and the path alone."""
    found = _NAMED.fullmatch(path)
    return (f"{found[1]}=", found.group(found.re.groups)) if found else ("", path)


def directed_paths(data: Sequence[Path], usual: Direction, option: str = "--data") -> dict[Direction, list[Path]]:
    """Return the paths of each direction, in the order they are given; those that name none are in the ``usual`` one.

    Raises ConfigError for two sides of one language, where some paths name theirs and others do not, and where none
    does and the ``usual`` direction is of several languages, with commas between.
    """
    named, found = [split_directions(str(path)) for path in data], dict[Direction, list[Path]]()
    for directions, path in named:
        if not directions and "," in "".join(usual):
            first = "-".join(codes.split(",")[0] for codes in usual)
            raise ConfigError(
                f"{path} names no pair of languages, but they are several ({' to '.join(usual)}): write the pair in "
                f"front, as in {option} {first}={path}."
            )
        if not directions and any(others for others, _ in named):
            codes, written, _ = path.partition("=")
            remedy = f"'{codes}' is no pair of codes such as es-gn" if written else f"write SOURCE-TARGET={path}"
            raise ConfigError(f"{option} names the languages of other files, but not of {path}: {remedy}.")
        for source, target in _PAIRS.findall(directions) or [usual]:
            if directions and source == target:
                raise ConfigError(f"Both sides of {option} {directions}{path} are '{source}': name two languages.")
            found.setdefault((source, target), []).append(Path(path))
    return found


def languages_named(data: Sequence[Path]) -> dict[str, str]:
    """Return the languages that paths name in front, by ``source`` and ``target``, with commas between several."""
    named = [pair for path in data for pair in _PAIRS.findall(split_directions(str(path))[0])]
    sides = zip(("source", "target"), zip(*named, strict=True), strict=True) if named else ()
    return {side: ",".join(dict.fromkeys(codes)) for side, codes in sides}


def direction_of(
    data: Sequence[Path], given: tuple[str, str], usual: tuple[str, str], layout: Layout = PLAIN
) -> Direction | None:
    """Return the languages of pairs, as the names of files and folders or the heading of a table have them; else None.

    ``given`` are those that are known, empty where not. Two files are source and target in their order; a folder with
    ``train.cs`` and ``train.en`` goes in the direction of its name (``cs-en``), or else in that of ``usual``, where the
    source or the target is as there. ``layout`` says which columns of a table are the sides. Raises DataError where
    the direction stays open.
    """
    found: dict[Direction, None] = {}
    for path in data:
        sides = _by_ending(path, data)
        is_table = path.is_file() and path.name.lower().removesuffix(".gz").endswith(".tsv")
        named = _by_name(path) or (_by_heading(path, layout) if is_table else _by_content(path, given))
        if named and (not sides or set(named) == set(sides)):
            found[named] = None
        elif sides:
            found[_resolve_direction(path, sides, given, usual) if path.is_dir() else (sides[0], sides[1])] = None
    fitting = [two for two in found if all(code in ("", own) for code, own in zip(given, two, strict=True))]
    return fitting[0] if len(fitting) == len(found) == 1 else None


def _by_ending(path: Path, data: Sequence[Path]) -> tuple[str, ...]:
    """Return the languages that the names of line-aligned files end in."""
    if path.is_dir():
        entries = sorted(entry for entry in path.iterdir() if entry.is_file())
        chosen = [entry for entry in entries if stem_of(entry) == USUAL.train] or entries
    else:
        chosen = [one for one in data if stem_of(one) == stem_of(path)]
    codes = dict.fromkeys(_code(entry) for entry in chosen if _code(entry) and stem_of(entry) == stem_of(chosen[0]))
    return tuple(codes) if len(codes) > 1 else ()


def _resolve_direction(path: Path, sides: tuple[str, ...], given: tuple[str, str], usual: tuple[str, str]) -> Direction:
    """Return the languages of a folder in order, by what is known of one of them."""
    for source, target in (given, usual, (usual[0], ""), ("", usual[1])):
        if source in sides and target in sides and source != target:
            return source, target
        others = [side for side in sides if side not in (source, target)]
        if len(others) == 1 and (source in sides or target in sides) and not (source and target):
            return source or others[0], target or others[0]
    raise DataError(
        f"{path} holds text in {', '.join(sides)}, and nothing says which is translated into which: "
        f"name two of them with --source and --target."
    )


def _by_name(path: Path) -> Direction | None:
    """Return the languages of a name such as ``Tatoeba.en-fr.tsv``."""
    pairs = _DIRECTION.findall(path.absolute().name)
    return next((two for two in pairs if all(map(_is_code, two)) and two[0] != two[1]), None)


def _by_heading(path: Path, layout: Layout) -> Direction | None:
    """Return the languages that the first line of a table names."""
    first, second = languages_of_heading(path, layout)
    return (first, second) if _is_code(first) and _is_code(second) else None


def _by_content(path: Path, given: tuple[str, str]) -> Direction | None:
    """The languages that translation memories and documents of translators declare, besides one that is given."""
    codes = languages_of_entries([path] if path.is_file() else entry_files_in(path)[:_LOOKED_AT])
    others = [code for code in codes if code not in given]
    if any(given):
        return (given[0] or others[0], given[1] or others[0]) if len(others) == 1 else None
    return (others[0], others[1]) if len(others) == 2 else None


def _code(path: Path) -> str:
    """Return the language that a name ends in; nothing where it ends otherwise."""
    found = _ENDING.fullmatch(Path(path.name.removesuffix(".gz")).suffix)
    return found[1] if found and _is_code(found[1]) else ""


def _is_code(word: str) -> bool:
    return bare(word) in CODES
