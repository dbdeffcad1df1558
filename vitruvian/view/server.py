"""The server behind the page: on this machine only unless told otherwise, on a free port, until told to stop.

A browser lets any web page open a WebSocket to this machine, and tells the server which page that is (`Origin`, RFC
6455, 10.2). A page that did not come from this server is refused; so is a request under a name that is not this
machine's, by which a foreign page could pass for one of ours (DNS rebinding).
"""

from __future__ import annotations

import contextlib
import http
import io
import ipaddress
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from vitruvian.errors import InputError

TRIED_PORTS = 20


def start_server(host: str, port: int, title: str) -> Any:
    """A viser server on `port`, or on the next free one, which is then said on stderr."""
    import viser

    if not 0 <= port <= 65535:
        raise InputError(f"port {port} is not between 0 and 65535")
    chosen = next((p for p in range(port, min(port + TRIED_PORTS, 65536)) if p == 0 or _free(host, p)), None)
    if chosen is None:
        raise InputError(
            f"ports {port} to {port + TRIED_PORTS - 1} on {host} are all busy or not allowed; give another"
        )
    if chosen != port:
        print(f"port {port} is busy, so the page is on port {chosen}", file=sys.stderr)
    # The server writes a banner to stdout, which is kept for results.
    with contextlib.redirect_stdout(io.StringIO()), _own_pages_only():
        server = viser.ViserServer(host=host, port=chosen, label=title or "vitruvian", verbose=False)
    server.request_share_url = lambda verbose=True: None  # type: ignore[method-assign]
    return server


def wait_for_stop() -> None:
    """Return when the process is asked to end by SIGINT (Ctrl-C) or SIGTERM. For the main thread."""
    asked = threading.Event()
    kinds = (signal.SIGINT, signal.SIGTERM)
    before = {kind: signal.signal(kind, lambda *_: asked.set()) for kind in kinds}
    try:
        # Where waiting cannot be broken off by a signal (Windows), the handler runs between waits.
        while not asked.wait(0.5):
            pass
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


def _free(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True


_starting = threading.Lock()


@contextlib.contextmanager
def _own_pages_only() -> Iterator[None]:
    """Servers that viser starts inside refuse foreign pages; viser itself has no place to ask for that."""
    import websockets.asyncio.server as library
    from websockets import Headers
    from websockets.http11 import Response

    plain = library.serve

    def serve(*given: Any, process_request: Any = None, **how: Any) -> Any:
        def checked(connection: Any, request: Any) -> Any:
            if not welcome(request.headers.get_all("Host"), request.headers.get_all("Origin")):
                return Response(http.HTTPStatus.FORBIDDEN.value, "Forbidden", Headers(), b"")
            return process_request(connection, request) if process_request else None

        return plain(*given, process_request=checked, **how)

    with _starting:
        library.serve = serve  # type: ignore[assignment,misc]
        try:
            yield
        finally:
            library.serve = plain  # type: ignore[misc]


def welcome(hosts: list[str], origins: list[str]) -> bool:
    """Whether a request with these `Host` and `Origin` headers may be answered.

    The host must be an address, or a name of this machine; the origin, which programs other than browsers leave out,
    must be a page of this server.
    """
    if len(hosts) != 1 or len(origins) > 1:
        return False
    try:
        name = urlsplit(f"//{hosts[0]}").hostname or ""
    except ValueError:
        return False
    own = {"localhost", socket.gethostname().lower(), socket.getfqdn().lower()}
    if name not in own and not _is_address(name):
        return False
    return not origins or origins[0].lower() in (f"http://{hosts[0].lower()}", f"https://{hosts[0].lower()}")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
