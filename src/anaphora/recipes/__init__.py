"""Recipes: experiments that come with the package, one TOML file each. Names and texts only; nothing is run here."""

from anaphora.recipes.catalogue import describe, names, read

__all__ = ["describe", "names", "read"]
