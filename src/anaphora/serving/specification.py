"""The routes as an OpenAPI document, made from their table."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from anaphora.serving.actions import Action
from anaphora.version import VERSION

_FIELDS: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("fields.json").read_text(encoding="utf-8"))
"""Schemas of the fields of requests."""
_ERROR = {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}


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
