"""Which host names a server answers to, and which pages may send it files.

A name that another site moves to this address (DNS rebinding) makes its page look like ours, so that it could read
what is answered. So the host that a client names has to be known; an address cannot be moved.
"""

from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

from anaphora.serving.refusal import Refusal


def check_host(header: str | None, names: Collection[str]) -> None:
    """Raise Refusal for a ``Host`` header that is no address, not "localhost" and none of ``names``.

    A client that sends none is no browser: checks of load balancers by HTTP/1.0 do not.
    """
    if header is None:
        return
    host = _host(header)
    if host != "localhost" and host not in names and not _is_address(host):
        raise Refusal(403, f"This server is not called '{host}': if it is, start it with --name {host}")


def check_origin(origin: str | None, host: str, origins: Collection[str]) -> None:
    """Raise Refusal for a request of a page that is not from this ``host`` nor from one of ``origins``.

    A browser sends some forms to any address without asking; other clients have no origin.
    """
    if origin is not None and origin not in origins and (origin == "null" or urlsplit(origin).netloc != host):
        raise Refusal(403, "Pages of other origins may not do this")


def _host(header: str) -> str:
    """The name in a header, without its port; "" where there is none."""
    try:
        return (urlsplit(f"//{header}").hostname or "").lower()
    except ValueError:
        return ""


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
