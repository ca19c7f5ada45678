"""``anaphora recipes``: list the recipes, or print one."""

from typing import Annotated

import typer

EXAMPLES = (
    "anaphora recipes",
    "anaphora recipes character-lm > mine.toml",
)


def run(name: Annotated[str, typer.Argument(metavar="[RECIPE]", help="Print this recipe's TOML.")] = "") -> None:
    """List the recipes, or print one to start your own from."""
    from anaphora import recipes

    if name:
        typer.echo(recipes.read(name), nl=False)
        return
    names = recipes.names()
    width = max(map(len, names))
    for known in names:
        typer.echo(f"{known:<{width}}  {recipes.describe(known)}")
