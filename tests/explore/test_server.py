"""The server: for this machine, for who has the token, and for what it knows how to answer."""

import http.client
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress

import pytest

from semisift.explore import _server as server_module
from tests.explore.sessions import read_cells, served, session_of, wait_until_idle, write_cells

PATHS = ["/", "/api/state", "/api/map", "/api/feature?column=0", "/api/row?row=0"]
ASKED = [
    ("/api/label", {"row": 40, "label": "A", "version": 0}),
    ("/api/undo", {"version": 0}),
    ("/api/finish", {}),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    with session_of(read_cells(write_cells(folder)), folder / "labels.csv") as (_, page):
        wait_until_idle(page)
        yield page


@pytest.fixture(scope="module")
def client(page):
    with served(page) as client:
        yield client


@pytest.fixture(autouse=True)
def unchanged(page):
    """No test here may get a label in, unless it takes it back."""
    yield
    assert not page.session.known.given


def test_the_page_needs_the_token_of_its_address(client):
    path = f"/?token={client.server.token}"
    status, text, headers = client.ask("GET", path, token=None)
    assert status == 200
    assert text.startswith("<!DOCTYPE html>")
    assert "script-src 'sha256-" in text
    assert "connect-src 'self'" in text
    assert client.server.token not in text
    assert headers["Content-Security-Policy"] == "frame-ancestors 'none'"
    assert f"http://127.0.0.1:{client.port}{path}" == client.server.address
    for wrong in ("/", "/?token=", "/?token=x", f"{path}x", f"/?Token={client.server.token}"):
        status, content = client.get(wrong, token=None)
        assert status == 403
        assert "token" in content["error"]
    # what serves for the other addresses does not for the page
    assert client.get("/")[0] == 403


@pytest.mark.parametrize("path", PATHS[1:])
def test_questions_need_the_token_in_a_header(client, path):
    assert client.get(path)[0] == 200
    joint = "&" if "?" in path else "?"
    for token in (None, "x", client.server.token + "x", client.server.token[:-1], "ü", ""):
        status, content = client.get(f"{path}{joint}token={client.server.token}", token=token)
        assert status == 403
        assert set(content) == {"error"}


@pytest.mark.parametrize(("path", "body"), ASKED)
def test_answers_need_the_token_in_a_header(client, path, body):
    for token in (None, "x"):
        assert client.post(path, body, token=token)[0] == 403


@pytest.mark.parametrize("path", PATHS)
def test_no_answer_is_kept_or_framed_or_shared(client, path):
    _, _, headers = client.ask("GET", path)
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["X-Frame-Options"] == "DENY"
    assert "Access-Control-Allow-Origin" not in headers
    assert "Python" not in headers["Server"]


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1", "http://[::1]"],
)
def test_a_foreign_origin_is_refused(client, origin):
    origin = origin.format(port=client.port)
    for path, body in ASKED:
        status, content = client.post(path, body, headers={"Origin": origin})
        assert status == 403
        assert "Other pages" in content["error"]
    assert client.get("/api/state", headers={"Origin": origin})[0] == 403


def test_a_preflight_is_refused(client):
    preflight = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    status, _, headers = client.ask("OPTIONS", "/api/label", headers=preflight, token=None)
    assert status == 403
    assert not [name for name in headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "localhost:1", "127.0.0.1:{port}."]
)
def test_a_name_that_was_rebound_is_refused(client, host):
    host = host.format(port=client.port)
    for path in (f"/?token={client.server.token}", *PATHS[1:]):
        status, content = client.get(path, host=host)
        assert status == 403
        assert "own address" in content["error"]


def test_its_own_names_are_fine(client):
    for host in (f"127.0.0.1:{client.port}", f"localhost:{client.port}"):
        assert client.get("/api/state", host=host, headers={"Origin": f"http://{host}"})[0] == 200


def test_it_listens_on_this_machine_only(client):
    assert client.server.server_address[0] == "127.0.0.1"
    assert len(client.server.token) >= 32


PATHS = [
    "/api",
    "/api/",
    "/etc/passwd",
    "/../../etc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "//etc/passwd",
    "/api/../../cells.csv",
    "/cells.csv",
    "/api/state/..",
    "/api/state%00",
    "/templates/page.html",
    "/?x=1/../y",
    "//[",
    "http://evil.example/api/state",
]


def test_no_path_reaches_a_file(client):
    for path in PATHS:
        status, content = client.get(path)
        assert status == (403 if path.startswith("/?") else 404)
        assert set(content) == {"error"}


@pytest.mark.parametrize(
    ("verb", "path"),
    [
        ("POST", "/api/state"),
        ("GET", "/api/label"),
        ("PUT", "/api/label"),
        ("DELETE", "/api/undo"),
        ("FOO", "/api/map"),
        ("HEAD", "/api/state"),
    ],
)
def test_other_verbs_are_refused(client, verb, path):
    assert client.ask(verb, path, {} if verb in ("POST", "PUT") else None)[0] == 405


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"\xff\xfe", b"[]", b"null", b'"x"', b"[" * 60_000, b'{"row": NaN}']
)
def test_what_is_no_json_is_refused(client, raw):
    status, content = client.post("/api/label", raw=raw)
    assert status == 400
    assert content["error"].endswith(".")


WRONG_TYPES = [
    ({}, "row must be a whole number from 0 to 59"),
    ({"row": -1}, "row must be"),
    ({"row": 60}, "row must be"),
    ({"row": 1.5}, "row must be"),
    ({"row": True}, "row must be"),
    ({"row": None}, "row must be"),
    ({"row": [1]}, "row must be"),
    ({"row": 10**400}, "row must be"),
    ({"row": "9" * 30}, "row must be"),
    ({"row": 40}, "version must be"),
    ({"row": 40, "version": -1}, "version must be"),
    ({"row": 40, "version": 0}, "label must be a text, or null"),
    ({"row": 40, "version": 0, "label": 3}, "label must be"),
    ({"row": 40, "version": 0, "label": ["A"]}, "label must be"),
]


def test_wrong_types_are_named(client):
    for body, words in WRONG_TYPES:
        status, content = client.post("/api/label", body)
        assert status == 400
        assert words in content["error"]


@pytest.mark.parametrize(
    "path",
    [
        "/api/row",
        "/api/row?row=-1",
        "/api/row?row=60",
        "/api/row?row=x",
        "/api/row?row=%D9%A1",  # a digit, of another script
        "/api/row?row=../../etc/passwd",
        "/api/feature?column=8",
        "/api/feature?column=1e0",
        "/api/state?since=x",
    ],
)
def test_questions_out_of_range_are_refused(client, path):
    status, content = client.get(path)
    assert status == 400
    assert "must be a whole number" in content["error"]


def test_requests_have_a_length_and_not_more_than_64_kb(client):
    large = b'{"row": 40, "version": 0, "label": "' + b"x" * 65_536 + b'"}'
    assert client.post("/api/label", raw=large)[0] == 413
    for length, status in [("1" * 400, 413), ("-5", 400), ("x", 400), ("+5", 400)]:
        assert client.post("/api/label", raw=b"{}", headers={"Content-Length": length})[0] == status
    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=30)
    connection.putrequest("POST", "/api/label")
    connection.putheader("X-Semisift-Token", client.server.token)
    connection.endheaders()
    assert connection.getresponse().status == 411
    connection.close()
    chunked = {"Transfer-Encoding": "chunked"}
    assert client.post("/api/label", raw=b"2\r\n{}\r\n0\r\n\r\n", headers=chunked)[0] == 411


def ask_raw(client, path, *lines, verb="POST", body=b"", at_once=None):
    """Send lines of a header as they are; return the status and the words of the answer."""
    token = f"X-Semisift-Token: {client.server.token}"
    head = "\r\n".join((f"{verb} {path} HTTP/1.0", token, *lines, "", ""))
    with socket.create_connection(("127.0.0.1", client.port), timeout=30) as connection:
        if at_once:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, at_once)
        connection.sendall(head.encode() + body)
        with connection.makefile("rb") as file:
            first, _, rest = file.read().partition(b"\r\n")
    return int(first.split()[1]), rest.decode()


def test_a_second_host_or_origin_is_refused(client):
    """Whoever stands in between may look at the one, and this server at the other."""
    own, foreign = f"127.0.0.1:{client.port}", "evil.example"
    host, origin = f"Host: {own}", f"Origin: http://{own}"
    assert ask_raw(client, "/api/state", host, origin, verb="GET")[0] == 200
    two_hosts = [(own, foreign), (foreign, own), (own, own)]
    for hosts in two_hosts:
        lines = [f"Host: {each}" for each in hosts]
        status, words = ask_raw(client, "/api/state", *lines, verb="GET")
        assert (status, "own address" in words) == (403, True)
    assert ask_raw(client, "/api/state", verb="GET")[0] == 403
    for origins in two_hosts[:2]:
        lines = [f"Origin: http://{each}" for each in origins]
        status, words = ask_raw(client, "/api/state", host, *lines, verb="GET")
        assert (status, "Other pages" in words) == (403, True)


def test_requests_whose_length_is_told_twice_or_not_at_all_are_refused(client):
    host, chunked = f"Host: 127.0.0.1:{client.port}", "Transfer-Encoding: chunked"
    body = b'{"version": 0}'
    length = f"Content-Length: {len(body)}"
    assert ask_raw(client, "/api/undo", host, length, body=body)[0] == 422
    assert ask_raw(client, "/api/undo", host, length, chunked, body=body)[0] == 411
    assert ask_raw(client, "/api/undo", host, chunked, body=body)[0] == 411
    # Python gives up on numbers of so many digits
    status, words = ask_raw(client, "/api/undo", host, f"Content-Length: {'1' * 5_000}", body=body)
    assert (status, "at most 64 KB" in words) == (413, True)


def test_what_is_too_large_is_read_before_it_is_refused(client, monkeypatch):
    """Or who is still sending would find the connection closed, and no answer."""
    monkeypatch.setattr(server_module, "A_MOMENT", 10.0)  # of a machine that is busy
    size = server_module.MAX_DRAINED
    lines = (f"Host: 127.0.0.1:{client.port}", f"Content-Length: {size}")
    status, words = ask_raw(client, "/api/label", *lines, body=b"x" * size, at_once=4_096)
    assert (status, "at most 64 KB" in words) == (413, True)


def test_nothing_that_is_printed_holds_the_token(client, capfd):
    assert client.get(f"/?token={client.server.token}", token=None)[0] == 200
    assert client.get("/api/state")[0] == 200
    assert client.get(f"/none?token={client.server.token}")[0] == 404
    with socket.create_connection(("127.0.0.1", client.port), timeout=30) as connection:
        connection.sendall(f"GET /?token={client.server.token} HTTP/9.9\r\n\r\n".encode())
        with connection.makefile("rb") as file:
            assert b"error" in file.read()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "request_line", [b"\x16\x03\x01\x02\x00", b"GET", b"GET / HTTP/9.9", b"GET /" + b"x" * 70_000]
)
def test_what_is_no_request_is_refused(client, request_line):
    answer = b""
    with socket.create_connection(("127.0.0.1", client.port), timeout=30) as connection:
        connection.sendall(request_line + b"\r\n\r\n")
        with connection.makefile("rb") as file, suppress(ConnectionError):
            answer = file.read()
    assert not answer or b"error" in answer
    assert client.get("/api/state")[0] == 200


def test_a_label_of_the_table_is_not_changed(client):
    status, content = client.post("/api/label", {"row": 0, "label": "B", "version": 0})
    assert status == 422
    assert "in the table" in content["error"]
    assert client.post("/api/label", {"row": 40, "label": "NA", "version": 0})[0] == 422
    assert client.post("/api/finish", {})[0] == 422


def test_answers_conflicts_and_undo(tmp_path):
    path = tmp_path / "labels.csv"
    with (
        session_of(read_cells(write_cells(tmp_path)), path) as (_, page),
        served(page) as client,
    ):
        answer = {"row": 40, "label": "new", "version": 0}
        assert client.post("/api/label", answer) == (200, {"labels_version": 1})
        assert '"s40","new"' in path.read_text()
        status, content = client.post("/api/label", answer)
        assert (status, content["labels_version"]) == (409, 1)
        assert client.post("/api/undo", {"version": 0})[0] == 409
        assert client.post("/api/undo", {"version": 1}) == (200, {"labels_version": 2, "row": 40})
        assert client.post("/api/undo", {"version": 2})[0] == 422
        path.write_text(path.read_text() + '"s41","B"\n')
        status, content = client.post("/api/label", {**answer, "version": 2})
        assert (status, content["labels_version"]) == (409, 3)
        assert "another program" in content["error"]
        assert client.get("/api/state")[1]["labels_version"] == 3
        assert client.post("/api/label", {"row": 41, "label": None, "version": 3})[0] == 200


@contextmanager
def answered(folder, n_answers):
    """Yield a client and the file of labels, with so many answers in it."""
    path = folder / "labels.csv"
    dataset = read_cells(write_cells(folder))
    with session_of(dataset, path, working=False) as (_, page), served(page) as client:
        for version in range(n_answers):
            answer = {"row": 40 + version, "label": "A", "version": version}
            assert client.post("/api/label", answer)[0] == 200
        yield client, path


def labels_in(path):
    lines = [line for line in path.read_text().splitlines()[1:] if not line.startswith("# ")]
    return {name.strip('"') for name, _, _ in (line.partition(",") for line in lines[1:])}


UNREADABLE = [
    (b"id,kind\nnobody,A\n", "line 2: the table has no row 'nobody'. Take the line out, or move"),
    (b"id,kind\ns40,A\ns41\n", "line 3: there should be 2 cells, not 1. Mend the line, or move"),
    (b"id,kind\ns40,A\ns0,B\n", "line 3: the label of row 1 is 'B', and 'A' in the table. Change"),
    (b"id,kind\ns40,NA \ns41,-1\n", "line 3: '-1' means a row without a label"),
    (b"id,kind\ns40,\xfc\n", "line 2: is not UTF-8. Save the file as UTF-8, or move"),
    (None, "cannot be read: Is a directory. Let it be read, or move"),
]


@pytest.mark.parametrize(("content", "words"), UNREADABLE)
def test_labels_that_cannot_be_read_are_never_written_over(tmp_path, content, words):
    """Every answer is refused, until the file is mended or moved away."""

    def damage():
        if content is None:
            path.unlink()
            path.mkdir()
        else:
            path.write_bytes(content)

    def refuses():
        for preflight in ("/api/label", "/api/undo", "/api/label", "/api/undo"):
            body = (
                {"row": 50, "label": "B", "version": 6}
                if preflight == "/api/label"
                else {"version": 6}
            )
            status, answer = client.post(preflight, body)
            assert (status, answer["labels_version"]) == (409, 6)
            assert "labels.csv" in answer["error"]
            assert words in answer["error"]
            assert path.is_dir() if content is None else path.read_bytes() == content

    with answered(tmp_path, 6) as (client, path):
        own = path.read_bytes()
        damage()
        refuses()
        if content is not None:  # another edit, which cannot be read either
            path.write_bytes(other := content + b"nobody,A\n")
            assert client.post("/api/undo", {"version": 6})[0] == 409
            assert path.read_bytes() == other
            damage()
            refuses()
            path.write_bytes(own)  # mended
            assert client.post("/api/undo", {"version": 6}) == (
                200,
                {"labels_version": 7, "row": 45},
            )
            assert client.post("/api/label", {"row": 45, "label": "A", "version": 7})[0] == 200
            damage()
        version = client.get("/api/state")[1]["labels_version"]
        path.rename(tmp_path / "away.csv")
        assert client.post("/api/label", {"row": 46, "label": "B", "version": version})[0] == 200
        assert {f"s{row}" for row in range(40, 47)} <= labels_in(path)
        assert client.post("/api/undo", {"version": version + 1})[1]["row"] == 46


def test_labels_that_have_vanished_are_written_again(tmp_path):
    six = {f"s{row}" for row in range(40, 46)}
    with answered(tmp_path, 6) as (client, path):
        of_table = labels_in(path) - six
        path.unlink()
        assert client.post("/api/label", {"row": 46, "label": "B", "version": 6})[0] == 200
        assert labels_in(path) == of_table | six | {"s46"}
        path.write_text("\n")
        assert client.post("/api/undo", {"version": 7}) == (200, {"labels_version": 8, "row": 46})
        assert labels_in(path) == of_table | six
        path.unlink()
        for version in range(8, 14):
            assert client.post("/api/undo", {"version": version})[1]["row"] == 53 - version
            path.unlink()
        assert client.get("/api/state")[1]["labels_version"] == 14
        assert client.post("/api/undo", {"version": 14})[0] == 422


def test_without_their_folder_no_label_is_taken_and_none_is_lost(tmp_path):
    (tmp_path / "in").mkdir()
    with answered(tmp_path / "in", 3) as (client, path):
        path.parent.rename(tmp_path / "away")
        answer = {"row": 50, "label": "A", "version": 3}
        assert client.post("/api/label", answer)[0] == 500
        assert client.post("/api/undo", {"version": 3})[0] == 500
        path.parent.mkdir()
        assert client.post("/api/label", answer)[0] == 200
        assert labels_in(path) >= {"s40", "s41", "s42", "s50"}


def test_the_state_is_told_when_it_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(server_module, "LONG_POLL", 0.2)
    folder = tmp_path
    dataset = read_cells(write_cells(folder))
    with (
        session_of(dataset, folder / "labels.csv", working=False) as (session, page),
        served(page) as client,
    ):
        _, state = client.get("/api/state")
        status, text = client.get(f"/api/state?since={state['version']}")
        assert (status, text) == (204, "")
        session.label(40, "A", 0)
        status, new = client.get(f"/api/state?since={state['version']}")
        assert status == 200
        assert new["labels_version"] == 1
        assert json.dumps(new)


def test_slow_clients_are_cut_off(page, monkeypatch):
    monkeypatch.setattr(server_module, "PATIENCE", 0.5)
    with served(page) as client:
        slow = [socket.create_connection(("127.0.0.1", client.port), timeout=30) for _ in range(4)]
        head = b"POST /api/undo HTTP/1.0\r\nHost: x\r\n"
        start = time.monotonic()
        for each in slow:
            each.sendall(head)
        assert client.get("/api/state")[0] == 200
        ended = 0
        while ended < len(slow) and time.monotonic() - start < 20:
            time.sleep(0.05)
            for each in slow:
                try:
                    each.sendall(b"X")  # one byte now and then does not help
                except OSError:
                    ended += 1
        assert ended >= len(slow)
        assert client.get("/api/state")[0] == 200
        for each in slow:
            each.close()


def server_threads():
    return [each for each in threading.enumerate() if "process_request_thread" in each.name]


@pytest.mark.parametrize(
    "sent", [b"", b"POST /api/undo HTTP/1.0\r\nX-Semisift-Token: x\r\n"], ids=["silent", "slow"]
)
def test_connections_without_the_token_leave_room_for_those_with_it(page, sent):
    """As any user of this machine can make them, and go on making them."""
    with served(page) as client, ExitStack() as stack:
        before, most = len(server_threads()), 0
        address = ("127.0.0.1", client.port)

        def knock():
            foreign_name = stack.enter_context(socket.create_connection(address, timeout=30))
            foreign_name.sendall(sent)
            return foreign_name

        foreign_names = [knock() for _ in range(200)]
        for _ in range(12):
            start = time.monotonic()
            assert client.get("/api/state")[0] == 200
            assert time.monotonic() - start < 2
            most = max(most, len(server_threads()) - before)
            foreign_names += [knock() for _ in range(10)]
        assert 0 < most <= server_module.MAX_NOVEL_ROWS + 4  # some are just ending
        # the oldest had to go, and the newest may still say who they are
        foreign_names[0].settimeout(5)
        with suppress(ConnectionError):
            assert foreign_names[0].recv(1) == b""
        if not sent:
            head = f"GET /api/state HTTP/1.0\r\nHost: 127.0.0.1:{client.port}\r\n"
            foreign_names[-1].sendall(
                f"{head}X-Semisift-Token: {client.server.token}\r\n\r\n".encode()
            )
            assert b" 200 " in foreign_names[-1].recv(100)


def test_requests_with_the_token_have_a_bound_too(tmp_path, monkeypatch):
    monkeypatch.setattr(server_module, "MAX_REQUESTS", 3)

    def wait_for_admitted(number):
        until = time.monotonic() + 20
        while len(client.server._admitted) != number:
            assert time.monotonic() < until
            time.sleep(0.01)

    path = tmp_path / "labels.csv"
    with (
        session_of(read_cells(write_cells(tmp_path)), path, working=False) as (session, page),
        served(page) as client,
        ThreadPoolExecutor(3) as tabs,
    ):
        version = client.get("/api/state")[1]["version"]
        wait_for_admitted(0)
        waiting = [tabs.submit(client.get, f"/api/state?since={version}") for _ in range(3)]
        wait_for_admitted(3)
        status, content = client.get("/api/state")
        assert (status, "close some of them" in content["error"]) == (503, True)
        session.label(40, "A", 0)  # news, for all that wait
        assert [each.result()[0] for each in waiting] == [200] * 3
        wait_for_admitted(0)
        assert client.get("/api/state")[0] == 200
