"""The server as an ASGI application: every route goes through one function, which decides whether it may be done."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine
from contextlib import asynccontextmanager, suppress
from importlib.resources import files
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from anaphora.errors import ConfigError, DataError
from anaphora.serving import actions
from anaphora.serving.actions import STOPPING, Action, Service
from anaphora.serving.batching import RETRY, Search
from anaphora.serving.log import fault
from anaphora.serving.metrics import CONTENT_TYPE
from anaphora.serving.parameters import Parameters, parameters_of
from anaphora.serving.refusal import Refusal
from anaphora.serving.specification import specification

Say = Callable[[str], None]
GONE = 499
"""The status in the log of a request whose client went away; nobody reads the answer."""

_PAGE = {
    "": ("index.html", "text/html"),
    "page.css": ("page.css", "text/css"),
    "page.js": ("page.js", "text/javascript"),
}
_PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


class _Lines(PathConvertor):
    """The rest of an address, whatever is in it: that of a path has no line ends."""

    regex = r"[\s\S]*"


register_url_convertor("lines", _Lines())


def _page(name: str, kind: str) -> Callable[[Service, Parameters], Awaitable[Response]]:
    content = files("anaphora.serving.page").joinpath(name).read_bytes()

    async def page(service: Service, given: Parameters) -> Response:
        """``GET``: a file of the page."""
        return Response(content, media_type=kind, headers=_PAGE_HEADERS)

    return page


async def _metrics(service: Service, given: Parameters) -> Response:
    """``GET /metrics``: counters for Prometheus."""
    return Response(service.metrics.page(service.batching.waiting), headers={"Content-Type": CONTENT_TYPE})


async def _spec(service: Service, given: Parameters) -> dict[str, Any]:
    """``GET /spec``: this description, by OpenAPI."""
    return specification(ACTIONS)


ACTIONS = (
    *(Action(f"/{path}", "GET", _page(name, kind), open=True) for path, (name, kind) in _PAGE.items()),
    Action("/health", "GET", actions.health, open=True),
    Action("/health/ready", "GET", actions.ready, open=True),
    Action("/spec", "GET", _spec),
    Action("/languages", "GET", actions.languages),
    Action("/frontend/settings", "GET", actions.settings),
    Action(
        "/translate",
        "POST",
        actions.translate,
        needs="q source target",
        takes="format alternatives alignment confidence memory terms prefix avoid",
    ),
    Action("/segments", "POST", actions.segments, needs="q source target"),
    Action("/neighbours", "POST", actions.neighbours, needs="q s source target"),
    Action("/detect", "POST", actions.detect, needs="q"),
    Action("/suggest", "POST", actions.suggest, own=True, learns=True, needs="q s source target", takes="undo"),
    Action("/suggest/undo", "POST", actions.undo, own=True, learns=True, needs="token"),
    Action("/translate_file", "POST", actions.translate_file, own=True, patient=True, needs="file source target"),
    # its name cannot be guessed
    Action("/download_file/{name}", "GET", actions.download_file, open=True, needs="name"),
    Action("/tmserver/languages/", "GET", actions.memory_languages),
    Action(
        "/tmserver/{source}/{target}/unit/{text:lines}",
        "GET",
        actions.memory_unit,
        needs="source target text",
        takes="min_similarity max_candidates",
    ),
    Action("/metrics", "GET", _metrics),
)


class _OneSlash:
    """Paths that begin with several slashes begin with one: some clients add theirs to an address that ends in one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["path"] = "/" + scope["path"].lstrip("/")
        await self._app(scope, receive, send)


def check_host(header: str | None, names: Collection[str]) -> None:
    """Raise Refusal for a ``Host`` header that is no address, not "localhost" and none of ``names``.

    A client that sends none is no browser: checks of load balancers by HTTP/1.0 do not.

    A name that another site moves to this address (DNS rebinding) makes its page look like ours, so that it could read
    what is answered. So the host that a client names has to be known; an address cannot be moved.
    """
    if header is None:
        return
    host = ""
    with suppress(ValueError):  # of a header that is no host, and of a name that is no address
        host = (urlsplit(f"//{header}").hostname or "").lower()
        if host == "localhost" or host in names or ip_address(host):
            return
    raise Refusal(403, f"This server is not called '{host}': if it is, start it with --name {host}")


def check_origin(origin: str | None, host: str, origins: Collection[str]) -> None:
    """Raise Refusal for a request of a page that is not from this ``host`` nor from one of ``origins``.

    A browser sends some forms to any address without asking; other clients have no origin.
    """
    if origin is not None and origin not in origins and (origin == "null" or urlsplit(origin).netloc != host):
        raise Refusal(403, "Pages of other origins may not do this")


def application(service: Service, say: Say = lambda line: None) -> Starlette:
    """Return the application. ``say`` takes a line for each request, which holds no text."""

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        service.batching.start()
        for served in service.translators:  # the first translation takes longer than others
            await service.batching.translate(Search(served, served.options()), ["."])
        yield
        await service.stop()

    allowed = Middleware(
        CORSMiddleware,
        allow_origins=list(service.origins),
        allow_methods=["GET", "POST"],
        allow_headers=["Authorization"],
    )
    return Starlette(
        routes=[Route(one.path, _endpoint(one, service, say), methods=[one.method], name=one.path) for one in ACTIONS],
        lifespan=life,
        middleware=[Middleware(_OneSlash), *([allowed] if service.origins else [])],
        exception_handlers={HTTPException: _no_route},
    )


def _endpoint(action: Action, service: Service, say: Say) -> Callable[[Request], Coroutine[Any, Any, Response]]:
    async def respond(request: Request) -> Response:
        begin = time.monotonic()
        try:
            response = await _answer(action, service, request)
        except Refusal as refusal:
            response = _json({"error": refusal.message}, refusal.status, refusal.headers)
        except (ConfigError, DataError) as error:
            response = _json({"error": str(error)}, 400)
        except asyncio.CancelledError:  # after the time that a server has to stop
            if not service.stopping:
                raise
            response = _json({"error": STOPPING}, 503, RETRY)
        except Exception as error:
            say(fault(error))
            response = _json({"error": "The server made a mistake, which is in its log"}, 500)
        seconds = time.monotonic() - begin
        service.metrics.count_request(action.path, response.status_code, seconds)
        say(f"{action.method} {action.path} {response.status_code} {1000 * seconds:.0f} ms")
        return response

    return respond


async def _answer(action: Action, service: Service, request: Request) -> Response:
    check_host(request.headers.get("host"), service.names)
    if action.own:
        check_origin(request.headers.get("origin"), request.headers.get("host", ""), service.origins)
    given = await parameters_of(request, service.limits)
    given.client = request.client.host if request.client else ""
    if not action.open:
        given.by = service.doorkeeper.admit(_key(request, given), given.client)
        given.client = given.by.name or given.client
    if action.learns and not service.learns_from(given.by):
        raise Refusal(403, "Suggestions are not enabled on this server, or not for this API key")
    deadline = service.limits.document_deadline if action.patient else service.limits.deadline
    try:
        async with asyncio.timeout(deadline):
            answer = await _unless_gone(request, action.run(service, given))
    except TimeoutError:
        raise Refusal(504, f"Not done within {deadline:g} s: send less at once, or try again later") from None
    return answer if isinstance(answer, Response) else _json(answer)


def _key(request: Request, given: Parameters) -> str:
    bearer = request.headers.get("authorization", "")
    key = given.get("api_key") or (bearer[len("Bearer ") :] if bearer.lower().startswith("bearer ") else "")
    return key if isinstance(key, str) else ""


async def _unless_gone(request: Request, work: Awaitable[Any]) -> Any:
    """Return the result of ``work``, which is cancelled once the client has gone."""
    working, gone = asyncio.ensure_future(work), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({working, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Refusal(GONE, "The client has gone")
        return working.result()
    finally:
        for task in (working, gone):
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _no_route(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _json({"error": error.detail}, error.status_code, error.headers)


def _json(value: Any, status: int = 200, headers: Any = None) -> Response:
    return Response(json.dumps(value, ensure_ascii=False).encode(), status, headers, "application/json")
