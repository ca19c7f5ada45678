"""The routes as an OpenAPI document, made from their table."""

import re
from collections.abc import Sequence
from typing import Any

from anaphora.serving.actions import Action
from anaphora.version import VERSION

_TEXT = {"type": "string"}
_FLAG = {"type": "boolean", "default": False}
_FIELDS: dict[str, dict[str, Any]] = {
    "q": {"description": "A text; for /translate and /detect, in JSON, also a list of texts."},
    "s": _TEXT | {"description": "The translation of the text."},
    "source": _TEXT | {"description": "The language of the text; auto for /translate to detect it."},
    "target": _TEXT | {"description": "The language to translate to."},
    "format": {"type": "string", "enum": ["text", "html"], "default": "text"},
    "alternatives": {"type": "integer", "minimum": 0, "description": "How many other translations to return."},
    "alignment": _FLAG | {"description": "Return the links between words."},
    "confidence": _FLAG | {"description": "Return the confidence of each translation and of its words."},
    "memory": _FLAG | {"description": "Return the model, the kind of match, and the segment of the memory."},
    "undo": _FLAG | {"description": "Return a token that takes the pair back."},
    "token": _TEXT | {"description": "What /suggest returned as undo."},
    "file": {"type": "string", "format": "binary", "description": "A document."},
    "name": _TEXT | {"description": "The end of a translatedFileUrl."},
    "text": _TEXT | {"description": "The text to look up."},
    "min_similarity": {"type": "integer", "minimum": 1, "maximum": 100, "description": "Least similarity in percent."},
    "max_candidates": {"type": "integer", "minimum": 1, "description": "Maximum number of segments."},
}
_ERROR = {"type": "object", "required": ["error"], "properties": {"error": _TEXT}}


def specification(actions: Sequence[Action]) -> dict[str, Any]:
    """Return an OpenAPI 3 document of some routes, for ``json.dumps``."""
    paths: dict[str, dict[str, Any]] = {}
    for action in actions:
        paths.setdefault(re.sub(r":\w+}", "}", action.path), {})[action.method.lower()] = _operation(action)
    key = {"type": "http", "scheme": "bearer", "description": "An API key, which may also be sent as a field api_key."}
    return {
        "openapi": "3.0.3",
        "info": {"title": "Anaphora", "version": VERSION},
        "paths": paths,
        "components": {"securitySchemes": {"key": key}, "schemas": {"Error": _ERROR}},
    }


def _operation(action: Action) -> dict[str, Any]:
    in_path = re.findall(r"{(\w+)", action.path)
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    found: dict[str, Any] = {
        "summary": (action.run.__doc__ or "").split(": ", 1)[-1].strip(),
        "responses": {"200": {"description": "The answer."}, "default": {"description": "Refused.", "content": error}},
        "security": [] if action.open else [{}, {"key": []}],
    }
    needed, names = action.needs.split(), f"{action.needs} {action.takes}".split()
    if action.method == "GET":
        found["parameters"] = [
            {
                "name": name,
                "in": "path" if name in in_path else "query",
                "required": name in needed,
                "schema": _FIELDS[name],
            }
            for name in names
        ]
    else:
        schema = {"type": "object", "required": needed, "properties": {name: _FIELDS[name] for name in names}}
        plain = ["application/json", "application/x-www-form-urlencoded"]
        kinds = ["multipart/form-data"] if "file" in names else plain
        found["requestBody"] = {"required": True, "content": {kind: {"schema": schema} for kind in kinds}}
    return found
