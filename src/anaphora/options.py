"""Bounds and conflicts of options; and options that are declared as the fields of a named tuple, with their help.

Of the latter, the command line, the checks of values and those of keyword arguments follow from the declaration.
"""

from collections.abc import Callable, Container, Iterable, Mapping
from functools import cache, wraps
from inspect import Parameter, signature
from typing import Any, NamedTuple, ParamSpec, TypeVar, get_args

from anaphora.errors import ConfigError
from anaphora.wording import agreeing, unknown

P = ParamSpec("P")
R = TypeVar("R")

MAX_UNITS = 1 << 16
"""Most units of a layer."""

MAX_LAYERS = 64
"""Most layers on top of each other."""

MAX_LENGTH = 1 << 20
"""Most tokens of a row, steps of a window, or hypotheses of a beam."""

MAX_BEAM = 1_000
"""Maximum beam size. Each hypothesis takes the scores of a whole vocabulary at every step, 200 MB in all for 50,000
words; and translations get worse long before (Koehn and Knowles 2017, section 3.6)."""

MAX_COUNT = 100_000_000
"""Most words of a vocabulary, draws from it, or tokens of a batch."""

SET = object()
"""Mark of any value but the default, in a conflict."""


class Conflict(NamedTuple):
    """Options that cannot be combined, or one that has no effect beside others."""

    options: Mapping[str, Any] | Callable[[Any], Any]
    """Dotted key to the value that conflicts, a tuple of such values, ``SET``, or whether a value conflicts. Where that
    cannot be said option by option: whether a table conflicts."""
    remedy: str
    """Why, and what to do instead; the whole sentence where ``options`` looks at a table. ``{at}size`` is the key of an
    option of the table, ``{table.size}`` its value."""
    written: bool = False
    """True if only experiments that a person writes are refused; stored runs of older versions may have it."""


def other_than(*values: str) -> Callable[[str], bool]:
    """Return a condition of a conflict: any value but these."""
    return lambda value: value not in values


class Option(NamedTuple):
    """The declaration of a field: ``beam: Annotated[int | None, Option("Beam size.", min=1)] = None``."""

    help: str
    min: float | None = None
    max: float | None = None
    default: str = ""
    """Meaning of None."""
    metavar: str | None = None
    words: str = ""
    """A format of the value, for a description of the settings; empty for an option that changes no result."""
    name: str = ""
    """Name on the command line, where it is not that of the field with hyphens."""
    heading: str = ""
    """Heading of the command line's help under which it is listed."""


class Argument(NamedTuple):
    """The declaration of an argument of a command."""

    help: str
    metavar: str


class Excludes(NamedTuple):
    """Options of which none can be combined with any of the others; names are separated by spaces."""

    options: str
    others: str
    reason: str
    """``{option}`` is the first given of ``options``, ``{other}`` of ``others``."""

    def refusal(self, given: Container[str]) -> str:
        """Return the message for options that were given, or nothing."""
        options, others = (_among(names, given) for names in self[:2])
        if not options or not others:
            return ""
        reason = self.reason.format(option=options[0], other=others[0])
        return f"{reason}: leave out {options[0]}, or {others[0]}."


class Needs(NamedTuple):
    """Options without effect where none of the others is given; names are separated by spaces."""

    options: str
    others: str

    def refusal(self, given: Container[str]) -> str:
        """Return the message for options that were given, or nothing."""
        options, others = _among(self.options, given), self.others.split()
        if not options or _among(self.others, given):
            return ""
        missing = f"{' or '.join(others)}, which {agreeing(len(others), 'are')} missing"
        named = " and ".join(filter(None, (", ".join(options[:-1]), options[-1])))
        return f"{named} {agreeing(len(options), 'belong')} to {missing}."


def check_conflicts(rows: Iterable[Excludes | Needs], given: Container[str]) -> None:
    """Raise ConfigError for the first row that refuses the options that were given."""
    for message in filter(None, (row.refusal(given) for row in rows)):
        raise ConfigError(message)


@cache
def declarations(table: Any) -> Mapping[str, tuple[Any, Option]]:
    """Return the type and the declaration of every field that has one."""
    hints = ((name, get_args(hint)) for name, hint in table.__annotations__.items())
    return {name: (found[0], found[1]) for name, found in hints if found and isinstance(found[-1], Option)}


def check_bounds(options: Any) -> None:
    """Raise ConfigError for the first option that is not within its bounds."""
    for name, (_, option) in declarations(options.__class__).items():
        value = getattr(options, name)
        if value is not None and option.min is not None and not value >= option.min:
            raise ConfigError(f"{name} should be at least {option.min:,}, but is {value:,}: change it.")
        if value is not None and option.max is not None and not value <= option.max:
            raise ConfigError(f"{name} should be at most {option.max:,}, but is {value:,}: change it.")


def with_known_names(call: Callable[P, R]) -> Callable[P, R]:
    """Let a function refuse keyword arguments of other names by a ConfigError that has the nearest name."""
    names = frozenset(_names(signature(call).parameters.values()))

    @wraps(call)
    def checked(*values: P.args, **options: P.kwargs) -> R:
        for name in filter(lambda one: one not in names, options):
            raise ConfigError(unknown("The option", name, names - {"self"}))
        return call(*values, **options)

    return checked


def _names(parameters: Iterable[Parameter]) -> Iterable[str]:
    for one in parameters:
        if one.kind is Parameter.VAR_KEYWORD:
            yield from get_args(one.annotation)[0].__annotations__  # Unpack of a TypedDict
        else:
            yield one.name


def _among(names: str, given: Container[str]) -> list[str]:
    return [name for name in names.split() if name in given]
