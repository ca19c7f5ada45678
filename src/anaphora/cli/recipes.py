"""``anaphora recipes``: list the recipes, or print one."""

from typing import Annotated

import typer

from anaphora.cli.experiments import AUTO

EXAMPLES = (
    "anaphora recipes",
    "anaphora recipes character-lm > mine.toml",
    "anaphora recipes auto",
)


def run(name: Annotated[str, typer.Argument(metavar="[RECIPE]", help="Print this recipe's TOML.")] = "") -> None:
    """List the recipes, or print one to start your own from."""
    from anaphora import recipes
    from anaphora.experiment import auto

    if name == AUTO:
        typer.echo(auto.description(), nl=False)
        return
    if name:
        typer.echo(recipes.read(name), nl=False)
        return
    described = {AUTO: auto.SUMMARY} | {known: recipes.describe(known) for known in recipes.names()}
    width = max(map(len, described))
    for known, line in described.items():
        typer.echo(f"{known:<{width}}  {line}")
