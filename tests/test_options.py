"""Options are declared once: the command line, TOML tables, keyword arguments and their checks agree with that."""

from typing import Any, get_args, get_type_hints

import pytest
from typer.main import get_command

from anaphora.cli.app import app
from anaphora.errors import ConfigError
from anaphora.options import Excludes, Needs, check_bounds, check_conflicts, declarations, with_known_names
from anaphora.prediction.options import CONFLICTS, SearchKeywords, SearchOptions
from anaphora.search.sampling import Sampling, SamplingKeywords
from anaphora.tasks.describe.predictor import DescriberPredictor
from anaphora.tasks.language_model.predictor import LanguageModelPredictor
from anaphora.tasks.registry import find_tasks
from anaphora.tasks.transduce.predictor import TransducerPredictor, VectorTransducerPredictor
from anaphora.tasks.translation.predictor import TranslationPredictor

TABLES = {SearchOptions: SearchKeywords, Sampling: SamplingKeywords}


def parameters(verb: str) -> dict[str, Any]:
    command: Any = get_command(app)
    return {one.name: one for one in command.commands[verb].params}


@pytest.mark.parametrize("table", TABLES)
def test_keyword_arguments_are_the_fields_of_a_table(table: Any) -> None:
    # mypy compares the types, where keywords become fields
    assert TABLES[table].__annotations__.keys() == set(table._fields) - {"suffixes"}


@pytest.mark.parametrize("verb", ["translate", "evaluate", "calibrate", "compare", "generate"])
def test_the_command_line_has_the_names_defaults_bounds_and_help_that_are_declared(verb: str) -> None:
    shown, found = parameters(verb), set()
    tables: list[Any] = [Sampling] if verb == "generate" else [Sampling, SearchOptions]
    for table in tables:
        for name, (_, option) in declarations(table).items():
            if name not in shown or (verb, name) in [("compare", "seed")]:
                continue
            one = shown[name]
            assert one.default == table._field_defaults[name] and one.help.startswith(option.help), name
            assert (one.min, one.max) == (option.min, option.max), name
            assert one.opts == [f"--{'known-words' if name == 'known' else name.replace('_', '-')}"]
            found.add(name)
    everywhere = {"beam", "length_penalty"} if verb == "compare" else set(declarations(Sampling))
    if verb in ("translate", "evaluate", "calibrate"):
        everywhere |= declarations(SearchOptions).keys() - {"alternatives", "known", "max_tokens"}
    assert found >= everywhere


@pytest.mark.parametrize("task", ["translate", "describe"])
def test_tables_of_experiments_have_the_bounds_that_are_declared(task: str) -> None:
    for kind in find_tasks(task):
        fields = kind.experiment.model_fields["evaluation"].annotation.model_fields
        for name in declarations(SearchOptions).keys() & fields.keys():
            [least] = [one.ge for one in fields[name].metadata if hasattr(one, "ge")]
            assert least == declarations(SearchOptions)[name][1].min


@pytest.mark.parametrize("table", TABLES)
def test_a_help_text_is_a_short_sentence(table: Any) -> None:
    for _, option in declarations(table).values():
        assert option.help.endswith(".") and len(option.help) < 80 and option.help[0].isupper()


@pytest.mark.parametrize("table", TABLES)
def test_values_out_of_bounds_are_refused_by_their_names(table: Any) -> None:
    for name, (kind, option) in declarations(table).items():
        for bound, value in ((option.min, -1.0), (option.max, 2.0)):
            if bound is None:
                continue
            wrong = bound + (value if float not in (kind, *get_args(kind)) else value / 2)
            with pytest.raises(ConfigError, match=rf"^{name} should be at (least|most) .*, but is .*: change it\.$"):
                check_bounds(table(**{name: type(bound)(wrong) if int in (kind, *get_args(kind)) else wrong}))


def test_conflicts_name_fields() -> None:
    for row in CONFLICTS:
        assert {*row.options.split(), *row.others.split()} <= set(SearchOptions._fields)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a"}, "a belongs to c or d, which are missing."),
        ({"a", "b"}, "a and b belong to c or d, which are missing."),
        ({"a", "c"}, ""),
        ({"e"}, "e belongs to f, which is missing."),
        ({"e", "f", "g"}, "f, not g: leave out f, or g."),
        ({"f"}, ""),
        (set(), ""),
    ],
)
def test_the_first_conflict_is_refused(given: set[str], message: str) -> None:
    rows = (Needs("a b", "c d"), Needs("e", "f"), Excludes("f", "h g", "{option}, not {other}"))
    if not message:
        check_conflicts(rows, given)
        return
    with pytest.raises(ConfigError) as refused:
        check_conflicts(rows, given)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("call", "wrong", "right"),
    [
        (TranslationPredictor.translate, "beem", "beam"),
        (TranslationPredictor.translate_text, "lenght_penalty", "length_penalty"),
        (LanguageModelPredictor.generate, "temprature", "temperature"),
        (LanguageModelPredictor.generate_stream, "top_q", "top_p"),
        (TransducerPredictor.predict, "alternative", "alternatives"),
        (VectorTransducerPredictor.predict, "atention", "attention"),
        (DescriberPredictor.predict, "beams", "beam"),
    ],
)
def test_a_wrong_name_is_refused_with_the_nearest(call: Any, wrong: str, right: str) -> None:
    with pytest.raises(ConfigError, match=f"^The option '{wrong}' is unknown. Did you mean '{right}'?"):
        call(None, ["a"], **{wrong: 5})


def test_a_function_that_knows_its_names_keeps_its_signature_and_answers() -> None:
    @with_known_names
    def total(first: int, *, second: int = 2) -> int:
        """Add."""
        return first + second

    assert (total(1), total(1, second=3), total(first=4), total.__doc__) == (3, 4, 6, "Add.")
    assert get_type_hints(total) == {"first": int, "second": int, "return": int}
    with pytest.raises(TypeError):
        total()  # type: ignore[call-arg]
