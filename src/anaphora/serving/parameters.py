"""Parameters of a request, in any of the ways of LibreTranslate's clients: JSON, a form, or the query string."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import PurePath
from typing import Any, NamedTuple, NoReturn
from urllib.parse import parse_qsl

from python_multipart.exceptions import FormParserError
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from anaphora.serving.keys import EVERYBODY
from anaphora.serving.limits import ServingLimits
from anaphora.serving.refusal import Refusal, bad
from anaphora.wording import inflect

_FIELDS = 1_000
"""Most fields of a form."""


class Upload(NamedTuple):
    """A document by name."""

    name: str
    content: bytes


class Parameters(dict[str, Any]):
    """The fields of a request, unchecked, and ways to read them that refuse what is wrong."""

    def __init__(self, fields: Mapping[str, Any], address: str) -> None:
        """``address`` is that of the server, as the client wrote it."""
        super().__init__(fields)
        self.address = address
        self.by = EVERYBODY
        """The key that the request was admitted with."""
        self.client = ""
        """The address of who asks, or the name of its key: clients have turns."""

    def text(self, name: str, default: str | None = None) -> str:
        """Return a field of text.

        ``default`` where it is missing or empty. Raises Refusal where there is no default.
        """
        value = self.get(name)
        if value is None or value == "":
            if default is None:
                raise bad(f"Invalid request: missing {name} parameter")
            return default
        if not isinstance(value, str):
            raise bad(f"Invalid request: {name} should be text")
        return _clean(value, name)

    def texts(self, name: str, limits: ServingLimits) -> tuple[list[str], bool]:
        """One text or a list of texts as a list, and whether a list was sent. Raises Refusal beyond the limits."""
        value: Any = self.get(name)
        several = isinstance(value, list)
        if value is None or value in ("", []):
            raise bad(f"Invalid request: missing {name} parameter")
        texts: list[Any] = value if several else [value]
        if len(texts) > limits.texts:
            raise bad(f"Invalid request: {inflect(len(texts), 'text')} exceed the batch limit ({limits.texts})")
        for text in texts:
            if not isinstance(text, str):
                raise bad(f"Invalid request: {name} should be text, or a list of texts")
            if len(text) > limits.characters:
                raise bad(f"Invalid request: request ({len(text)}) exceeds text limit ({limits.characters})")
        return [_clean(text, name) for text in texts], several

    def passage(self, name: str, limits: ServingLimits) -> str:
        """Return one text that is not blank. Raises Refusal for any other value, and beyond the limits."""
        texts, several = self.texts(name, limits)
        if several or not texts[0].strip():
            raise bad(f"Invalid request: {name} should be a text, and not blank")
        return texts[0]

    def number(self, name: str, most: int, default: int = 0) -> int:
        """Return a whole number from 0 to ``most``.

        0 where it is below, ``default`` where it is missing. Raises Refusal for any other value.
        """
        value = self.get(name)
        if value is None or value == "":
            return default
        if isinstance(value, str) and len(value) <= 20:
            with suppress(ValueError):
                value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise bad(f"Invalid request: {name} should be a whole number")
        if value > most:
            raise bad(f"Invalid request: {name} exceeds limit ({most})")
        return max(0, value)

    def upload(self, name: str, limits: ServingLimits) -> Upload:
        """Return a file. Raises Refusal where there is none, or a larger one than the limit."""
        value = self.get(name)
        if not isinstance(value, Upload):
            raise bad("Invalid request: missing file parameter")
        if len(value.content) > limits.document:
            raise Refusal(413, f"Invalid request: the file exceeds the limit ({limits.document})")
        return value

    def flag(self, name: str) -> bool:
        """True if a field is set: true, 1 or "true"."""
        return self.get(name) in (True, 1, "1", "true", "True")


async def parameters_of(request: Request, limits: ServingLimits) -> Parameters:
    """Return the fields of a request, from its query string and its body.

    The body of a GET is read and ignored. Raises Refusal for a body that is too large or too slow (413, 408), packed
    (415), or not what its type says (400).
    """
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refusal(415, "Invalid request: a packed body is not read; send it as it is")
    address, query = str(request.base_url), _form(request.scope["query_string"]) | request.path_params
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    try:
        async with asyncio.timeout(limits.upload):
            if kind == "multipart/form-data" and request.method != "GET":
                return Parameters(query | await _multipart(_bound(request, limits.document + limits.body)), address)
            body = await _bound(request, limits.body).body()
    except TimeoutError:
        raise Refusal(408, f"The request did not come within {limits.upload:g} s") from None
    except ClientDisconnect:
        raise Refusal(400, "The client has gone") from None
    if request.method == "GET" or not body:
        return Parameters(query, address)
    is_json = kind.endswith("json") or body.lstrip().startswith(b"{")  # some clients call it a form, or nothing
    return Parameters(query | (_json(body) if is_json else _form(body)), address)


def _bound(request: Request, most: int) -> Request:
    """Return the request, whose body is refused as soon as more than ``most`` bytes of it have come."""
    read = 0

    async def receive() -> Message:
        nonlocal read
        message = await request.receive()
        read += len(message.get("body", b""))
        if read > most:
            raise Refusal(413, f"Invalid request: the body exceeds the limit ({most})")
        return message

    return Request(request.scope, receive)


async def _value(field: UploadFile | str) -> Upload | str:
    if isinstance(field, str):
        return field
    return Upload(PurePath(field.filename or "").name or "document", await field.read())


async def _multipart(request: Request) -> dict[str, Any]:
    """Return the fields of a form with documents; of a name that comes twice the first counts."""
    try:
        async with request.form(max_files=1, max_fields=_FIELDS) as form:
            return {name: await _value(value) for name, value in reversed(form.multi_items())}
    except (FormParserError, HTTPException):  # of the parser, and of Starlette where that is within an application
        raise bad("Invalid request: the form cannot be read") from None


def _form(content: bytes) -> dict[str, Any]:
    """Return the fields of a form or query string; of a name that comes twice the first counts."""
    try:
        pairs = parse_qsl(content.decode("utf-8"), keep_blank_values=True, max_num_fields=_FIELDS, errors="strict")
    except ValueError as error:
        why = "is not UTF-8" if isinstance(error, UnicodeDecodeError) else "cannot be read"
        raise bad(f"Invalid request: the form {why}") from None
    return dict(reversed(pairs))


def _json(body: bytes) -> dict[str, Any]:
    def refuse(constant: object = None) -> NoReturn:
        raise bad("Invalid JSON format")

    try:
        value = json.loads(body.decode("utf-8-sig"), parse_constant=refuse)
    except (ValueError, RecursionError):
        refuse()
    return value if isinstance(value, dict) else refuse()


def _clean(text: str, name: str) -> str:
    """Return a text that is Unicode: JSON can also write half a character."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise bad(f"Invalid request: {name} has half of a surrogate pair, which is no character") from None
    return text
