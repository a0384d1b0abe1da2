"""Requests that are sent again: which, how often, and what the server sees of it."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from headwater.client.connection import Connection, Patience
from headwater.client.problems import NotAllowed, ServerAway, ServerBusy, ServerInTrouble, ServerProblem

LOST = 0
Reply = tuple[int, dict[str, str], bytes]


class ScriptedServer(ThreadingHTTPServer):
    """Answers as told, one after the other; LOST: it reads the request and closes the connection."""

    daemon_threads = True

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.seen: list[tuple[str, str, str | None, str | None]] = []
        super().__init__(("127.0.0.1", 0), Scripted)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Scripted(BaseHTTPRequestHandler):
    server: ScriptedServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = self.headers
        self.server.seen.append((self.command, self.path, headers.get("idempotency-key"), headers.get("authorization")))
        status, extra, body = self.server.replies.pop(0)
        if status == LOST:
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in {"content-length": str(len(body)), **extra}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_PATCH = do_GET  # noqa: N815 - names that the server asks for

    def log_message(self, *_: Any) -> None:
        pass


OK: Reply = (200, {"content-type": "application/json"}, b'{"fine":true}')
GONE: Reply = (LOST, {}, b"")
DOWN: Reply = (503, {"content-type": "application/problem+json"}, b'{"detail":"The database is away.","fix":"Wait."}')
BUSY: Reply = (409, {}, b"")


class FakeTime:
    def __init__(self) -> None:
        self.at = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds


@pytest.fixture
def asked() -> Iterator[Callable[..., tuple[ScriptedServer, Connection, FakeTime]]]:
    opened: list[tuple[ScriptedServer, Connection]] = []

    def made(*replies: Reply, token: str = "") -> tuple[ScriptedServer, Connection, FakeTime]:
        time, server = FakeTime(), ScriptedServer(*replies)
        connection = Connection(server.address, token, Patience(5.0, 20.0, time.sleep, lambda: time.at))
        opened.append((server, connection))
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        return server, connection, time

    yield made
    for server, connection in opened:
        connection.close()
        server.shutdown()
        server.server_close()


Asked = Callable[..., tuple[ScriptedServer, Connection, FakeTime]]


def test_a_read_whose_answer_was_lost_is_made_again(asked: Asked) -> None:
    server, connection, time = asked(GONE, DOWN, OK)
    assert connection._ask("GET", "/x", query={"a": [1, 2], "b": None, "c": True}) == {"fine": True}
    assert [one[1] for one in server.seen] == ["/x?a=1&a=2&c=true"] * 3
    assert time.slept == sorted(time.slept)


def test_a_kept_request_is_sent_again_under_its_key(asked: Asked) -> None:
    server, connection, _ = asked(GONE, BUSY, OK)
    assert connection._ask("POST", "/x", body={}, is_kept=True) == {"fine": True}
    keys = {one[2] for one in server.seen}
    assert len(server.seen) == 3
    assert len(keys) == 1
    assert None not in keys


@pytest.mark.parametrize(("method", "reply", "problem"), [("POST", GONE, ServerAway), ("PATCH", DOWN, ServerInTrouble)])
def test_a_request_that_changes_something_is_sent_once(
    asked: Asked, method: str, reply: Reply, problem: type[Exception]
) -> None:
    server, connection, _ = asked(reply, OK)
    with pytest.raises(problem):
        connection._ask(method, "/x", body={})
    assert len(server.seen) == 1


def test_busy_is_told_at_once_where_nothing_was_lost(asked: Asked) -> None:
    server, connection, _ = asked(BUSY, OK)
    with pytest.raises(ServerBusy):
        connection._ask("POST", "/x", body={}, is_kept=True)
    assert len(server.seen) == 1


def test_the_wait_that_a_server_asks_for_is_kept_up_to_a_bound(asked: Asked) -> None:
    _, connection, time = asked((429, {"retry-after": "7"}, b""), OK)
    assert connection._ask("POST", "/x", body={}) == {"fine": True}
    assert time.slept == [7.0]
    _, connection, time = asked((429, {"retry-after": "3600"}, b""), OK)
    with pytest.raises(ServerBusy):
        connection._ask("GET", "/x")
    assert time.slept == []


def test_trouble_that_lasts_is_told_after_a_bounded_time(asked: Asked) -> None:
    server, connection, time = asked(*[DOWN] * 20)
    with pytest.raises(ServerInTrouble, match="The database is away") as why:
        connection._ask("GET", "/x")
    assert why.value.fix == "Wait."
    assert time.at <= 20
    assert 3 < len(server.seen) < 20


def test_connections_are_kept_and_a_closed_one_is_noticed(asked: Asked) -> None:
    closing = (200, {"connection": "close"}, b"{}")
    _, connection, time = asked(OK, OK, closing, OK)
    assert [connection._ask("POST", "/x", body={}) for _ in range(4)][-1] == {"fine": True}
    assert time.slept == []


def test_the_token_is_sent_and_streams_come_as_they_are(asked: Asked) -> None:
    server, connection, _ = asked((200, {}, b"a\nb\n"), (403, {}, b""), token="secret")
    assert b"".join(connection._stream("GET", "/x")) == b"a\nb\n"
    with pytest.raises(NotAllowed):
        connection._stream("GET", "/x")
    assert [one[3] for one in server.seen] == ["Bearer secret"] * 2


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ((200, {}, b"<html>"), "no JSON"),
        ((301, {"location": "https://hw.example/"}, b""), "redirects to https://hw.example/"),
        ((502, {"content-type": "text/html"}, b"<html>secret"), "status 502"),
        ((422, {"content-type": "application/problem+json"}, b"[]"), "status 422"),
        ((500, {"content-type": "application/problem+json"}, b"{"), "status 500"),
    ],
)
def test_answers_of_others_are_told_plainly(asked: Asked, reply: Reply, told: str) -> None:
    _, connection, _ = asked(reply)
    with pytest.raises((ServerProblem, ServerAway), match=told):
        connection._ask("POST", "/x", body={})
