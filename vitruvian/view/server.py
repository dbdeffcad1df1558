"""The server behind the page: on this machine only unless told otherwise, on a free port, until told to stop."""

from __future__ import annotations

import contextlib
import io
import signal
import socket
import sys
import threading
from typing import Any

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
    with contextlib.redirect_stdout(io.StringIO()):
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
