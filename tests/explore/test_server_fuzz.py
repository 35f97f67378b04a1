"""Thousands of bytes that are no request: each is answered or dropped, and the server lives on."""

import json
import random
import socket
import sys
import threading
import time
from contextlib import suppress

import pytest

from semisift.explore import _server as server_module
from tests.explore.sessions import Client, read_cells, served, session_of, write_cells

N_REQUESTS = 400
PATHS = ["/", "/api/state", "/api/map", "/api/feature?column=0", "/api/row?row=0", "/nowhere"]
POSTS = ["/api/label", "/api/undo", "/api/finish"]
ODD = ["-1", "1e9", "NaN", "\u0661", "9" * 5000, "%00", "0x1", "", "💥", "\udc80", "null", "[]"]
BODIES = [
    {"row": 40, "label": "A", "version": 0},
    {"row": 40, "label": "\ud800", "version": 0},
    {"row": 41, "label": "x" * 60_000, "version": 0},
    {"row": 41, "label": "=cmd|'/c calc'!A1", "version": 0},
    {"row": 41, "label": "a\nb\0c", "version": 0},
    {"version": 10**18},
    {"row": {"row": 1}, "version": []},
    {},
]
TARGETS = ["*", "//", "/?" + "&" * 2000, "/api/state?since=0&since=x", "http://[::1", "/%zz", "\0"]


@pytest.fixture
def strange(tmp_path, monkeypatch):
    """A client whose server keeps what its threads raise."""
    monkeypatch.setattr(server_module, "LONG_POLL", 0.01)
    monkeypatch.setattr(server_module, "PATIENCE", 2.0)
    raised = []
    dataset = read_cells(write_cells(tmp_path))
    with (
        session_of(dataset, tmp_path / "labels.csv", working=False) as (_, page),
        served(page) as client,
    ):
        client.server.handle_error = lambda *_: raised.append(sys.exception())
        yield client, raised


def request(rng: random.Random, client: Client) -> bytes:
    """Return a request, whole or damaged."""
    verb = rng.choice(["GET", "GET", "POST", "POST", "HEAD", "OPTIONS", "PUT", "get", "", "G\0T"])
    path = rng.choice(POSTS if verb == "POST" and rng.random() < 0.8 else PATHS + TARGETS)
    if rng.random() < 0.2:
        path = f"{path}{rng.choice('?&=#/%')}{rng.choice(['row', 'column', 'since', 'token'])}="
        path += rng.choice(ODD)
    body = json.dumps(rng.choice(BODIES), ensure_ascii=rng.random() < 0.8)
    length = rng.choice(
        [len(body.encode(errors="replace"))] * 4 + ["-1", "1" * 30, "x", "", 70_000]
    )
    headers = [f"Host: 127.0.0.1:{client.port}", f"X-Semisift-Token: {client.server.token}"]
    if verb == "POST" or rng.random() < 0.2:
        headers.append(f"Content-Length: {length}")
    extra = [
        "Transfer-Encoding: chunked",
        "Origin: null",
        "Expect: 100-continue",
        f"Host: 127.0.0.1:{client.port}",
        "X-Semisift-Token: \xff\xfe",
        "Connection: keep-alive",
        "X: " + "y" * 9000,
        " folded",
        "no colon",
        ": no name",
        "Content-Length: 3",
    ]
    headers += rng.sample(extra, rng.choice([0, 0, 0, 1, 2]))
    rng.shuffle(headers)
    version = rng.choice(
        ["HTTP/1.0", "HTTP/1.1", "HTTP/1.1", "HTTP/2.0", "HTTP/x", "", "HTTP/1.1 x"]
    )
    end = rng.choice(["\r\n", "\r\n", "\r\n", "\n", "\r"])
    text = end.join([f"{verb} {path} {version}", *headers, "", body])
    raw = bytearray(text.encode("utf-8", errors="surrogatepass"))
    damage = rng.random()
    if damage < 0.15 and raw:
        del raw[rng.randrange(len(raw)) :]
    elif damage < 0.4:
        for _ in range(rng.choice([1, 3, 30])):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
    elif damage < 0.45:
        raw = bytearray(rng.randbytes(rng.choice([1, 100, 5000])))
    elif damage < 0.5:
        raw *= 3
    return bytes(raw)


def answer_to(raw: bytes, port: int) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        with suppress(OSError):  # it hung up already
            connection.sendall(raw)
            connection.shutdown(socket.SHUT_WR)
        with connection.makefile("rb") as file, suppress(ConnectionError):
            return file.read()
    return b""


def test_no_request_breaks_the_server(strange):
    client, raised = strange
    rng = random.Random(21)
    began = time.monotonic()
    for number in range(N_REQUESTS):
        raw = request(rng, client)
        answer = answer_to(raw, client.port)
        assert time.monotonic() - began < 120, f"request {number} hangs: {raw[:300]!r}"
        head = answer.partition(b"\r\n\r\n")[0]
        assert b" 500 " not in head.partition(b"\r\n")[0], (number, raw[:500], answer[:500])
        assert b"Traceback" not in answer
    broken = [error for error in raised if not isinstance(error, OSError)]
    assert not broken, broken
    assert client.get("/api/state")[0] == 200
    left = [each.name for each in threading.enumerate() if "process_request" in each.name]
    assert len(left) <= 1, left
