"""What holds for every request, whatever it asks for."""

import asyncio
import socket
from itertools import count

import pytest
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope, Send
from tests.integration.serve.callers import ApiCaller

from headwater.clock import SystemClock
from headwater.serve.frame import LARGEST_BODY_BYTES, PROTECTION, Frame, FrameRules
from headwater.serve.server import listening
from headwater.settings.groups import WebSettings


@pytest.mark.parametrize("path", ["/healthz", "views", "nothing/here", "views/none", "openapi.json"])
async def test_every_answer_has_the_headers_that_protect_browsers(api: ApiCaller, path: str) -> None:
    answer = await api.get(path)
    for name in PROTECTION:
        assert answer.headers.get(name), name
    assert answer.headers["x-request-id"]
    assert "server" not in answer.headers


async def test_the_body_of_an_answer_does_not_wait_for_its_head_to_be_acknowledged() -> None:
    with (
        listening(WebSettings(host="127.0.0.1", port=0)) as bound,
        socket.create_connection(bound.getsockname()),
    ):
        bound.setblocking(True)
        accepted, _ = bound.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


async def test_a_server_called_by_another_name_does_not_answer(api: ApiCaller) -> None:
    """A page of evil.example, whose name leads here by its own DNS, gets nothing."""
    answer = await api.get("views", host="evil.example")
    assert answer.status == 421
    assert answer.json["fix"] == "Name it in the setting web.allowed_hosts."


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"origin": "null"},
    ],
)
async def test_a_page_of_another_site_changes_nothing(api: ApiCaller, headers: dict[str, str]) -> None:
    answer = await api.post("views", {"name": "boats"}, **headers)
    assert answer.status == 403
    assert (await api.get("views")).json == {"views": []}


async def test_a_page_of_our_own_may(api: ApiCaller) -> None:
    answer = await api.post("views", {"name": "boats"}, origin=api.address, sec_fetch_site="same-origin")
    assert answer.status == 201


async def test_a_body_beyond_the_limit_is_refused_before_and_while_it_is_read(api: ApiCaller) -> None:
    large = await api.post("views", b'{"name":"' + b"x" * LARGEST_BODY_BYTES + b'"}')
    assert large.status == 413

    async def endless() -> object:
        for _ in range(40):
            yield b"x" * 100_000

    async with api.session.post(f"{api.address}/api/v1/views", data=endless()) as answer:
        assert answer.status == 413


@pytest.mark.parametrize("body", [b"{", b"[" * 100_000, b"\xff\xfe", b'"text"', b"null"])
async def test_a_body_that_is_no_object_is_refused(api: ApiCaller, body: bytes) -> None:
    answer = await api.post("views", body)
    assert answer.status in (400, 422)
    assert answer.headers["content-type"] == "application/problem+json"


async def test_a_form_is_no_json(api: ApiCaller) -> None:
    """A page of another site can send one without being asked for consent."""
    answer = await api.post("views", b'{"name":"boats"}', content_type="text/plain")
    assert answer.status == 422
    assert answer.json["fix"] == "Send it with the header content-type: application/json."
    broken = await api.post("views", b'{"name": ')
    assert (broken.status, broken.json["fix"]) == (422, "Send one JSON object.")


async def test_a_parameter_that_nobody_knows_is_refused(api: ApiCaller) -> None:
    """A filter with a slip in its name would find everything."""
    slip = await api.get("frontier?hots=a.example")
    assert (slip.status, slip.json["fix"]) == (422, "host is known.")
    assert (await api.get("documents?bogus=1")).status == 422
    assert (await api.get("views?x=1")).json["fix"] == "Those known: none."
    assert (await api.get("frontier?source=nobody&host=a.example")).status == 404
    assert (await api.get("frontier?" + "&".join(f"a{n}=1" for n in range(200)))).status == 422


async def test_reads_are_known_again_by_their_etag(api: ApiCaller) -> None:
    first = await api.get("views")
    again = await api.get("views", if_none_match=first.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    await api.post("views", {"name": "boats"})
    assert (await api.get("views", if_none_match=first.headers["etag"])).status == 200


async def test_long_answers_are_compressed(api: ApiCaller) -> None:
    async with api.session.get(f"{api.address}/api/v1/openapi.json", headers={"accept-encoding": "gzip"}) as answer:
        assert answer.headers["content-encoding"] == "gzip"
        assert (await answer.json())["openapi"] == "3.1.0"


async def test_a_fault_of_our_own_is_told_without_its_message(api: ApiCaller) -> None:
    await api.services.database.execute("alter table views rename to views_elsewhere")
    answer = await api.get("views")
    assert answer.status == 500
    assert b"views_elsewhere" not in answer.body


async def test_half_a_request_holds_nobody_up(api: ApiCaller) -> None:
    host, port = api.address.removeprefix("http://").split(":")
    half = [await asyncio.open_connection(host, int(port)) for _ in range(50)]
    for _, writer in half:
        writer.write(b"POST /api/v1/views HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
    assert (await api.get("/healthz")).status == 200
    for _, writer in half:
        writer.close()


async def test_a_body_that_drips_has_to_be_whole_in_time(api: ApiCaller) -> None:
    """Each part comes soon after the one before, and none is the last."""
    rules = FrameRules(frozenset({"localhost"}), {}, "prod", body_seconds=0.1)
    parts, ends = count(), []

    async def drip() -> Message:
        await asyncio.sleep(0.01)
        assert next(parts) < 1_000
        return {"type": "http.request", "body": b" ", "more_body": True}

    async def read_all(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            while (await receive()).get("more_body"):
                pass
        except HTTPException as error:
            ends.append(error.status_code)

    async def unsent(message: Message) -> None:
        pass

    frame = Frame(read_all, rules, api.services.log, SystemClock())
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": [(b"host", b"localhost")]}
    await frame(scope, drip, unsent)
    assert ends == [408]
