"""The sentence under each option of a table, read from the source of its class.

Only ``anaphora settings`` shows them, so nothing else pays for reading source.
"""

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise

from anaphora.config import Config


def sentence_under(table: type[Config], option: str) -> str:
    """What the string under an option says, in the class of the table or in the first base that has one; else empty."""
    owners = (owner for owner in table.__mro__ if issubclass(owner, Config))
    texts = (_in_module(owner.__module__).get((owner.__qualname__, option), "") for owner in owners)
    return next(filter(None, texts), "")


@cache
def _in_module(name: str) -> Mapping[tuple[str, str], str]:
    """By class at the top of a module and by option."""
    tree = ast.parse(inspect.getsource(sys.modules[name]))
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef))
    return {(owner.name, option): text for owner in classes for option, text in _in_class(owner)}


def _in_class(owner: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for pair in pairwise(owner.body):
        match pair:
            case ast.AnnAssign(target=ast.Name(id=option)), ast.Expr(value=ast.Constant(value=str(text))):
                yield option, text
