"""The server behind the page: on this machine only unless told otherwise, on a free port, until told to stop.

Any web page may send requests to this machine, under its own name (`Origin`) or, by a name of its own that points here,
as if it came from us (DNS rebinding). What did not come from a page of this server, or asks for a name that is not this
machine's, is refused.
"""

from __future__ import annotations

import ipaddress
import json
import signal
import socket
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from vitruvian.errors import InputError, VitruvianError

TRIED_PORTS = 20
PATIENCE = 30.0  # [s] that a connection may be silent
POLICY = "default-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"

Answer = Callable[[str, list[str]], bytes | dict[str, Any] | str | None]


class Server:
    """Answers requests by `answer(method, parts of the path)`: bytes, a table, a page, or None for "not found"."""

    def __init__(self, host: str, port: int, answer: Answer) -> None:
        if not 0 <= port <= 65535:
            raise InputError(f"port {port} is not between 0 and 65535")

        class Handler(_Handler):
            ask = staticmethod(answer)

        self._http = _listening(host, port, Handler)
        self.port: int = self._http.server_address[1]
        if port not in (0, self.port):
            print(f"port {port} is busy, so the page is on port {self.port}", file=sys.stderr)
        self.url = f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.1,), name="page", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop answering."""
        self._http.shutdown()
        self._thread.join(timeout=5.0)
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE
    ask: Answer

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def _answer(self, method: str) -> None:
        if not welcome(self.headers.get_all("Host", []), self.headers.get_all("Origin", [])):
            return self._send(403, b"", "text/plain")
        parts = [unquote(part) for part in urlsplit(self.path).path.split("/") if part]
        try:
            found = type(self).ask(method, parts)
        except (VitruvianError, LookupError, ValueError) as error:
            return self._send(404, str(error).encode(), "text/plain; charset=utf-8")
        if found is None:
            self._send(404, b"", "text/plain")
        elif isinstance(found, bytes):
            self._send(200, found, "application/octet-stream")
        elif isinstance(found, str):
            self._send(200, found.encode(), "text/html; charset=utf-8")
        else:
            self._send(200, json.dumps(found).encode(), "application/json")

    def _send(self, status: int, body: bytes, kind: str) -> None:
        try:
            self.send_response(status)
            for name, value in (
                ("Content-Type", kind),
                ("Content-Length", str(len(body))),
                ("Cache-Control", "no-store"),
                ("Content-Security-Policy", POLICY),
                ("X-Content-Type-Options", "nosniff"),
                ("Cross-Origin-Resource-Policy", "same-origin"),
            ):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
        except OSError:  # the page was closed meanwhile
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        pass


def welcome(hosts: list[str], origins: list[str]) -> bool:
    """Whether a request with these `Host` and `Origin` headers may be answered.

    The host must be an address, or a name of this machine; the origin, where one is told, a page of this server.
    """
    if len(hosts) != 1 or len(origins) > 1:
        return False
    try:
        name = urlsplit(f"//{hosts[0]}").hostname or ""
    except ValueError:
        return False
    if name not in ("localhost", socket.gethostname().lower()) and not _is_address(name):
        return False
    return not origins or origins[0].lower() in (f"http://{hosts[0].lower()}", f"https://{hosts[0].lower()}")


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


def _listening(host: str, port: int, handler: type[_Handler]) -> ThreadingHTTPServer:
    """A server on `port`, or on the next free one."""

    class Listening(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            pass  # a connection that broke off

    for chosen in range(port, min(port + TRIED_PORTS, 65536)):
        if chosen and not _free(host, chosen):
            continue
        try:
            return Listening((host, chosen), handler)
        except OSError:
            continue
    raise InputError(f"ports {port} to {port + TRIED_PORTS - 1} on {host} are all busy or not allowed; give another")


def _free(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
