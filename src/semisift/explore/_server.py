"""The page of the explorer: one text with the report's style, and the policy for it.

The server: on this machine only, for who knows the token.

Nothing in a request is a path: what is asked for is one of a few words. Each request is checked in
this order: Host, Origin, token, path, verb, length, form. Connections that have not shown the token
have a few places of their own, so that whoever has it finds one.
"""

import io
import json
import secrets
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any
from urllib.parse import parse_qs

from jinja2 import ChoiceLoader, PackageLoader, PrefixLoader

from semisift.explore._label_store import InvalidAnswerError
from semisift.explore._session import OutOfDateError
from semisift.explore._views import Page
from semisift.report._page import environment, fill
from semisift.utils._text import printable, printable_name


@cache
def render_page(title: str) -> str:
    """Return the page, which asks the server for all that it shows.

    Parameters
    ----------
    title : str
        Name of the table.

    Returns
    -------
    str
        With a content policy that knows the style and the script by their hashes, lets the page
        ask the server it came from, and allows nothing else.
    """
    # the templates of the report, which those of the explorer extend, lie beside them
    own = PrefixLoader({"explore": PackageLoader("semisift.explore")})
    loader = ChoiceLoader([own, PackageLoader("semisift.report")])
    templates = environment().overlay(loader=loader)
    return fill("explore/page.html", templates=templates, title=printable_name(title))


# --- server ---------------------------------------------------------------------------------------


LOOPBACK = "127.0.0.1"
MAX_BYTES = 64 * 1024
MAX_DRAINED = 1 << 20

# Seconds that a request may take to come, that what is too large is read, and that the page waits
# for news.
PATIENCE = 10.0
A_MOMENT = 0.2
LONG_POLL = 20.0

# Requests with the token that are answered at the same time: of a browser six, each tab with one
# that waits; and connections that have not shown it yet, which any user of this machine can make.
MAX_REQUESTS = 32
MAX_NOVEL_ROWS = 16

HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    # the page has a policy of its own, which cannot say this
    "Content-Security-Policy": "frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
}


class RequestError(Exception):
    """A request that is refused: its arguments are an HTTP status and a sentence."""


class ExploreServer(ThreadingHTTPServer):
    """Answers the page of a session.

    Parameters
    ----------
    page : Page
    title : str
    port : int
        0 takes a free one.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, page: Page, title: str, port: int = 0) -> None:
        self.page, self.title = page, title
        self.was_opened = False
        self.token = secrets.token_urlsafe(24)
        self._novel_rows: dict[Any, None] = {}  # connections, the oldest first
        self._admitted: set[Any] = set()
        self._changed = threading.Condition()
        super().__init__((LOOPBACK, port), Handler)

    def server_bind(self) -> None:
        """Take the port, and ask nobody for the name of this machine."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = LOOPBACK, self.port

    @property
    def port(self) -> int:
        """The port that it listens at."""
        return int(self.server_address[1])

    @property
    def hosts(self) -> tuple[str, str]:
        """What browsers may call it."""
        return f"{LOOPBACK}:{self.port}", f"localhost:{self.port}"

    @property
    def address(self) -> str:
        """The address of the page, with the token."""
        return f"http://{LOOPBACK}:{self.port}/?token={self.token}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a request in a thread of its own; the oldest that waits for a token gives way."""
        with self._changed:
            if self._is_full():
                with suppress(OSError):  # its thread wakes, and ends
                    next(iter(self._novel_rows)).shutdown(socket.SHUT_RDWR)
            if not self._changed.wait_for(lambda: not self._is_full(), A_MOMENT):
                self.shutdown_request(request)
                return
            self._novel_rows[request] = None
        super().process_request(request, client_address)

    def _is_full(self) -> bool:
        return len(self._novel_rows) >= MAX_NOVEL_ROWS

    def admit(self, request: Any) -> bool:
        """Count a connection among those that have shown the token; tell whether there is room."""
        with self._changed:
            if len(self._admitted) >= MAX_REQUESTS:
                return False
            self._novel_rows.pop(request, None)
            self._admitted.add(request)
            self._changed.notify()
            return True

    def shutdown_request(self, request: Any) -> None:
        """End a connection."""
        super().shutdown_request(request)
        with self._changed:
            self._novel_rows.pop(request, None)
            self._admitted.discard(request)
            self._changed.notify()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of connections that break."""


class InTime(io.RawIOBase):
    """What comes from a socket until a moment, however slowly it drips."""

    def __init__(self, connection: socket.socket, seconds: float) -> None:
        self._connection, self._until = connection, time.monotonic() + seconds

    def end_in(self, seconds: float) -> None:
        """Let the time that is left be no longer."""
        self._until = min(self._until, time.monotonic() + seconds)

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what is there, in the time that is left."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        n_read = self._connection.recv_into(buffer)
        self._connection.settimeout(PATIENCE)  # for the answer
        return n_read


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: ExploreServer
    server_version, sys_version = "semisift", ""
    timeout = PATIENCE
    wbufsize = -1  # an answer goes out as a whole

    def setup(self) -> None:
        """Read for a limited time only."""
        super().setup()
        self._incoming = InTime(self.connection, PATIENCE)
        self.rfile = io.BufferedReader(self._incoming)

    def log_message(self, format: str, *args: Any) -> None:
        """Write no log: addresses hold the token."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what is no request of HTTP."""
        status = HTTPStatus(code)
        self._send(status, {"error": f"{printable(message or status.phrase)}."})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):  # every verb
            return self._answer
        raise AttributeError(name)

    def _answer(self) -> None:
        try:
            status, content = self._respond()
        except RequestError as request_error:
            status, content = request_error.args[0], {"error": request_error.args[1]}
        except OutOfDateError as error:
            version = self.server.page.session.known.version
            content = {"error": str(error), "labels_version": version}
            status = HTTPStatus.CONFLICT
        except InvalidAnswerError as error:
            status, content = HTTPStatus.UNPROCESSABLE_ENTITY, {"error": str(error)}
        except TimeoutError:
            status, content = HTTPStatus.REQUEST_TIMEOUT, {"error": "The request came too slowly."}
        except Exception as error:  # the next one may be answered
            status, content = HTTPStatus.INTERNAL_SERVER_ERROR, {"error": printable(error)}
        self._send(status, content)

    def _respond(self) -> tuple[HTTPStatus, Any]:
        server, (path, _, query) = self.server, self.path.partition("?")
        self._check_origin()
        given = {name: values[-1] for name, values in parse_qs(query).items()}
        token = given.get("token") if path == "/" else self.headers.get("X-Semisift-Token")
        if not secrets.compare_digest((token or "").encode(), server.token.encode()):
            message = "The token is missing or wrong: open the address that semisift printed."
            raise RequestError(HTTPStatus.FORBIDDEN, message)
        if not server.admit(self.connection):
            message = "Too many tabs show this page: close some of them."
            raise RequestError(HTTPStatus.SERVICE_UNAVAILABLE, message)
        if path not in ANSWERS:
            raise RequestError(HTTPStatus.NOT_FOUND, "There is nothing at this address.")
        verb, answer, status = ANSWERS[path]
        if self.command != verb:
            raise RequestError(HTTPStatus.METHOD_NOT_ALLOWED, f"Ask with {verb}.")
        content = answer(server, self._body() if verb == "POST" else given)
        return (HTTPStatus.NO_CONTENT if content is None else status), content

    def _check_origin(self) -> None:
        hosts = self.server.hosts
        if self.headers.get_all("Host", []) not in ([host] for host in hosts):
            raise RequestError(HTTPStatus.FORBIDDEN, "This server answers at its own address only.")
        origins = [f"http://{host}" for host in hosts]
        if any(origin not in origins for origin in self.headers.get_all("Origin", [])):
            raise RequestError(HTTPStatus.FORBIDDEN, "Other pages may not ask this server.")

    def _body(self) -> dict[str, Any]:
        length = self.headers.get("Content-Length")
        if length is None or self.headers.get("Transfer-Encoding"):
            message = "The length of the request must be given."
            raise RequestError(HTTPStatus.LENGTH_REQUIRED, message)
        if not (length.isascii() and length.isdecimal()):
            raise RequestError(HTTPStatus.BAD_REQUEST, "The length of the request is no number.")
        if len(length) > 9 or int(length) > MAX_BYTES:
            self._drain()
            message = f"A request has at most {MAX_BYTES // 1024} KB."
            raise RequestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)
        try:
            content = json.loads(self.rfile.read(int(length)).decode())
        except (ValueError, RecursionError) as error:
            raise RequestError(HTTPStatus.BAD_REQUEST, "The request is no JSON.") from error
        if not isinstance(content, dict):
            raise RequestError(HTTPStatus.BAD_REQUEST, "The request must be an object of JSON.")
        return content

    def _drain(self) -> None:
        """Read what comes at once of a request that is too large, or the answer might be lost."""
        self._incoming.end_in(A_MOMENT)
        with suppress(OSError):
            self.rfile.read(MAX_DRAINED)

    def _send(self, status: HTTPStatus, content: Any) -> None:
        kind, text = "application/json", ""
        if isinstance(content, str):
            kind, text = "text/html", content
        elif content is not None:
            text = json.dumps(content, allow_nan=False)
        data = text.encode(errors="replace")
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        if status is not HTTPStatus.NO_CONTENT:
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


# --- what can be asked ----------------------------------------------------------------------------


def _page(server: ExploreServer, given: dict[str, Any]) -> str:
    server.was_opened = True
    return render_page(server.title)


def _state(server: ExploreServer, given: dict[str, Any]) -> Any:
    """Return the state, or None where nothing has changed since a version."""
    if "since" in given and not server.page.session.wait(_read_integer(given, "since"), LONG_POLL):
        return None
    return server.page.state()


def _feature(server: ExploreServer, given: dict[str, Any]) -> Any:
    return server.page.feature(_read_integer(given, "column", server.page.n_columns))


def _row(server: ExploreServer, given: dict[str, Any]) -> Any:
    return server.page.row(_read_integer(given, "row", server.page.n_rows))


def _label(server: ExploreServer, given: dict[str, Any]) -> dict[str, Any]:
    row, version = _read_integer(given, "row", server.page.n_rows), _read_integer(given, "version")
    label = given.get("label")
    if "label" not in given or not isinstance(label, str | None):
        raise RequestError(HTTPStatus.BAD_REQUEST, "label must be a text, or null.")
    known = server.page.session.label(row, label, version)
    return {"labels_version": known.version}


def _undo(server: ExploreServer, given: dict[str, Any]) -> dict[str, Any]:
    known, row = server.page.session.undo(_read_integer(given, "version"))
    return {"labels_version": known.version, "row": row}


def _finish(server: ExploreServer, given: dict[str, Any]) -> dict[str, Any]:
    server.page.session.finish()
    return {}


def _read_integer(given: dict[str, Any], name: str, end: int | None = None) -> int:
    """Return a whole number of a request, from 0 on and below `end`."""
    value: Any = given.get(name)
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 16:
        value = int(value)
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    if is_integer and value >= 0 and (end is None or value < end):
        return int(value)
    most = "" if end is None else f" to {end - 1}"
    raise RequestError(HTTPStatus.BAD_REQUEST, f"{name} must be a whole number from 0{most}.")


# path -> verb, answer, and its status
ANSWERS: dict[str, tuple[str, Callable[[ExploreServer, dict[str, Any]], Any], HTTPStatus]] = {
    "/": ("GET", _page, HTTPStatus.OK),
    "/api/state": ("GET", _state, HTTPStatus.OK),
    "/api/map": ("GET", lambda server, _: server.page.map(), HTTPStatus.OK),
    "/api/feature": ("GET", _feature, HTTPStatus.OK),
    "/api/row": ("GET", _row, HTTPStatus.OK),
    "/api/label": ("POST", _label, HTTPStatus.OK),
    "/api/undo": ("POST", _undo, HTTPStatus.OK),
    "/api/finish": ("POST", _finish, HTTPStatus.ACCEPTED),
}
