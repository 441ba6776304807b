"""A server that takes profiles of its process when it is asked to."""

from __future__ import annotations

from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit

_LONGEST = 600.0
"""The seconds that a profile may take."""


class ProfilerServer:
    """A server of profiles, at a port of this machine."""

    def __init__(self, port: int, take: Callable[[float], bytes]) -> None:
        """`take` takes a profile for some seconds, and returns the content of its file."""

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                url = urlsplit(self.path)
                given = parse_qs(url.query).get("duration_ms", ["1000"])[-1]
                if url.path != "/profile" or not given.isdecimal():
                    self.send_error(404, "expected GET /profile?duration_ms=1000")
                    return
                try:
                    content = take(min(int(given) / 1000, _LONGEST))
                except RuntimeError as error:  # one is being taken already
                    self.send_error(409, str(error))
                    return
                self.send_response(200)
                self.send_header("Content-Type", "application/gzip")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                """Requests are not logged."""

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.port: int = self._server.server_address[1]
        """The port."""
        self._thread = Thread(target=self._server.serve_forever, name="profiles", daemon=True)
        self._thread.start()

    def __repr__(self) -> str:
        return f"<profiles at port {self.port}>"

    def stop(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
