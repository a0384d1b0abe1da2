"""Agents read the archive through the official client, over HTTP and over standard input; they reach nothing else."""

import ast
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from httpx2 import AsyncClient
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from tests.architecture.modules import MODULES, SOURCE, nodes_of
from tests.integration.cli.desk import Desk, served
from tests.integration.serve.agents import (
    CHANGING,
    HOSTILE,
    ORDER,
    READING,
    STORY,
    answer,
    each_tool_is_called,
    on_stdio,
    stock,
    texts_outside,
    told,
)
from tests.integration.serve.callers import ApiCaller, api_on
from tests.integration.serve.people import token_of

from headwater.accounts.role import Role
from headwater.database.pool import Database
from headwater.serve.access.caller import Caller, Proof
from headwater.serve.access.visits import WebVisit
from headwater.serve.agents.calling import TOOLS
from headwater.serve.agents.route import session_of
from headwater.serve.agents.server import server_for
from headwater.serve.agents.text import MARK, UNTRUSTED

WAYS_TO_THE_WEB = (
    "headwater.web",
    "headwater.fetch",
    "headwater.net.transport",
    "aiohttp",
    "urllib.request",
    "http.client",
)
HEADERS = {"accept": "application/json, text/event-stream"}


@pytest.fixture
async def archive(api: ApiCaller, database: Database) -> ApiCaller:
    await stock(database)
    return api


def over_http(api: ApiCaller, mode: str = "auto") -> Client:
    return Client(f"{api.address}/mcp", mode=mode)


def as_role(api: ApiCaller, role: Role) -> Client:
    return Client(server_for(session_of(Caller("ann", role, Proof.DEVELOPMENT), api.services, WebVisit("127.0.0.1"))))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_every_tool_over_http(archive: ApiCaller, mode: str) -> None:
    async with each_tool_is_called(over_http(archive, mode), READING | CHANGING) as answers:
        assert [one["url"] for one in answers["search_documents"]["documents"]] == [STORY]
        assert answers["get_document"][UNTRUSTED]["text"].startswith("The ferry runs again.")
        assert [one["op"] for one in answers["changes_since"]["changes"]] == ["upsert", "upsert"]
        assert answers["queue_url"]["outcome"] == "queued"
        assert answers["list_views"]["views"][0]["name"] == "boats"
        assert answers["status"]["sources"]


async def test_every_tool_over_stdio_of_a_real_process(database_url: str, database: Database) -> None:
    await stock(database)
    async with each_tool_is_called(on_stdio(database_url), READING) as answers:
        assert [one["url"] for one in answers["search_documents"]["documents"]] == [STORY]
    assert await database.fetchval("select count(*) from sources where url like '%new.example%'") == 0
    async with each_tool_is_called(on_stdio(database_url, "--allow-changes"), READING | CHANGING) as answers:
        assert answers["add_source"]["source_id"]


async def test_values_are_counted_and_can_be_asked_for(archive: ApiCaller) -> None:
    async with as_role(archive, Role.VIEWER) as client:
        found = await answer(client, "search_documents", query="ferry", facets=["host", "source", "host"])
        hosts, sources = found["facets"]["counts"]
        ((value,), (source,)) = hosts["values"], sources["values"]
        assert (hosts["facet"], value["count"], found["facets"]["is_complete"]) == ("host", 1, True)
        assert source[UNTRUSTED]["name"]
        asked = {"host": value[UNTRUSTED]["value"], "source": source[UNTRUSTED]["value"]}
        again = await answer(client, "search_documents", query="ferry", **asked)
        assert [one["url"] for one in again["documents"]] == [STORY]
        assert (await answer(client, "search_documents", query="ferry", host="b.example"))["documents"] == []


async def test_a_viewer_changes_nothing(archive: ApiCaller, database: Database) -> None:
    async with as_role(archive, Role.VIEWER) as client:
        assert {one.name for one in (await client.list_tools()).tools} == set(READING)
        for name, arguments in CHANGING.items():
            problem, is_error = await told(client, name, arguments)
            assert is_error
            assert "operator" in problem["fix"]
    assert await database.fetchval("select count(*) from url_frontier") == 0
    async with as_role(archive, Role.OPERATOR) as client:
        assert {one.name for one in (await client.list_tools()).tools} == set(READING | CHANGING)


async def test_over_http_the_role_of_the_token_decides(archive: ApiCaller, database: Database) -> None:
    reader, worker = [await token_of(database, role) for role in (Role.VIEWER, Role.OPERATOR)]
    async with with_http_token(archive, reader) as client:
        assert {one.name for one in (await client.list_tools()).tools} == set(READING)
        _, is_error = await told(client, "queue_url", CHANGING["queue_url"])
        assert is_error
    async with with_http_token(archive, worker) as client:
        assert {one.name for one in (await client.list_tools()).tools} == set(READING | CHANGING)
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    assert (await archive.post("/mcp", message, **HEADERS)).status == 401


@asynccontextmanager
async def with_http_token(api: ApiCaller, token: str) -> AsyncIterator[Client]:
    async with (
        AsyncClient(headers={"authorization": f"Bearer {token}"}) as sender,
        Client(streamable_http_client(f"{api.address}/mcp", http_client=sender)) as client,
    ):
        yield client


async def test_text_of_pages_is_marked_cleaned_and_bounded(archive: ApiCaller) -> None:
    async with over_http(archive) as client:
        tools = {one.name: one.description or "" for one in (await client.list_tools()).tools}
        found = await answer(client, "get_document", document=HOSTILE, max_chars=1_000)
        calls: list[Any] = [found]
        calls.append(await answer(client, "search_documents", query="instructions"))
        calls.append(await answer(client, "search_documents"))
        calls.append(await answer(client, "changes_since", position=0))
        calls.append(await answer(client, "explain", what=HOSTILE))
    assert all(MARK in tools[name] for name in READING)
    assert ORDER in found[UNTRUSTED]["text"]
    assert (len(found[UNTRUSTED]["text"]), found["next_offset"]) == (1_000, 1_000)
    whole = json.dumps(calls, ensure_ascii=False)
    assert ORDER in whole
    assert not [text for text in texts_outside(calls) if "IGNORE" in text]
    unseen = [sign for sign in whole if not sign.isprintable() or 0xE0000 <= ord(sign) <= 0xE0FFF]
    assert unseen == []


async def test_a_long_text_is_read_piece_by_piece_and_a_long_page_is_cut(
    archive: ApiCaller, database: Database
) -> None:
    async with over_http(archive) as client:
        piece = await answer(client, "get_document", document=HOSTILE, max_chars=7_000)
        read = len(piece[UNTRUSTED]["text"])
        while (offset := piece["next_offset"]) is not None:
            piece = await answer(client, "get_document", document=HOSTILE, max_chars=7_000, offset=offset)
            read += len(piece[UNTRUSTED]["text"])
        assert read == piece["text_characters"] > 20_000
        for number in range(20):
            address = f"https://s{number}.example/{'p' * 1_500}"
            await answer(client, "add_source", url=address, name=f"{number} {'n' * 190}")
        seen, cursor = list[str](), None
        while True:
            page = await answer(client, "list_sources", limit=50, **({"cursor": cursor} if cursor else {}))
            assert len(json.dumps(page)) <= 20_500
            seen += [one["id"] for one in page["sources"]]
            if (cursor := page["cursor"]) is None:
                break
        assert len(seen) == len(set(seen)) == await database.fetchval("select count(*) from sources")


BAD: list[tuple[str, dict[str, Any]]] = [
    ("search_documents", {"limit": 0}),
    ("search_documents", {"limit": 10**30}),
    ("search_documents", {"query": "x" * 501}),
    ("search_documents", {"query": "a\x00b"}),
    ("search_documents", {"cursor": "nonsense"}),
    ("search_documents", {"view": "none"}),
    ("search_documents", {"kind": "'; drop table documents; --"}),
    ("search_documents", {"colour": "red"}),
    ("search_documents", {"facets": ["colour"]}),
    ("search_documents", {"facets": ["source"] * 50}),
    ("search_documents", {"facets": ["source"], "kind": "job"}),
    ("search_documents", {"month": "soon"}),
    ("search_documents", {"page_type": "poem"}),
    ("search_documents", {"host": "a.example", "kind": "job"}),
    ("search_jobs", {"country": "Atlantis"}),
    ("get_document", {}),
    ("get_document", {"document": "no such thing"}),
    ("get_document", {"document": "f" * 64}),
    ("get_document", {"document": STORY, "max_chars": 100_001}),
    ("get_document", {"document": STORY, "offset": -1}),
    ("changes_since", {"position": 10**12}),
    ("changes_since", {"position": 2**63}),
    ("list_sources", {"status": "odd"}),
    ("list_sources", {"cursor": "nonsense"}),
    ("explain", {"what": "nobody"}),
    ("add_source", {"url": "no host"}),
    ("add_source", {"url": "file:///etc/passwd"}),
    ("add_source", {"url": "https://a.example/", "priority": 11}),
    ("queue_url", {"url": "javascript:alert(1)"}),
    ("queue_url", {"url": "https://a.example/", "source": "nobody"}),
    ("no_such_tool", {}),
]


async def test_bad_arguments_are_told_with_what_and_fix(api: ApiCaller) -> None:
    async with as_role(api, Role.OPERATOR) as client:
        answers = [(*one, *(await told(client, *one))) for one in BAD]
    assert [one for one in answers if not one[3] or not one[2]["what"] or "fault" in one[2]["what"]] == []
    assert not [one for one in answers if not set(one[2]) <= {"what", "fix"}]


async def test_nothing_that_an_agent_asks_for_makes_a_request(database_url: str, database: Database) -> None:
    with served() as site:
        async with api_on(database_url, site.settings) as api, over_http(api) as client:
            await answer(client, "add_source", url=site.url, feeds=[f"{site.url}/feed"])
            await answer(client, "queue_url", url=f"{site.url}/story")
            await answer(client, "explain", what=f"{site.url}/story")
            await told(client, "get_document", {"document": f"{site.url}/story"})
        assert site.asked() == []
    assert await database.fetchval("select count(*) from url_frontier") == 1


def test_no_module_of_theirs_imports_a_way_to_the_web() -> None:
    ours = [file for file in MODULES if file.is_relative_to(SOURCE / "serve" / "agents")]
    assert len(ours) > 5
    assert not [(file.name, name) for file in ours for name in imports_of(file) if name.startswith(WAYS_TO_THE_WEB)]


def imports_of(file: Path) -> list[str]:
    named = [alias.name for node in nodes_of(file) if isinstance(node, ast.Import) for alias in node.names]
    return named + [node.module or "" for node in nodes_of(file) if isinstance(node, ast.ImportFrom)]


def test_every_tool_is_tried() -> None:
    assert {one.name for one in TOOLS} == set(READING | CHANGING)


async def test_the_frame_stands_around_their_route_too(api: ApiCaller) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    fine = await api.post("/mcp", message, **HEADERS)
    assert fine.status == 200
    assert fine.headers["x-content-type-options"] == "nosniff"
    assert fine.json["result"]["tools"]
    assert (await api.post("/mcp", message, host="evil.example", **HEADERS)).status == 421
    assert (await api.post("/mcp", message, origin="https://evil.example", **HEADERS)).status == 403
    assert (await api.get("/mcp")).status == 405
    for body in (b"{", b"[]", b"\xff", b'{"jsonrpc":"2.0","id":1}', b"null", b"[" * 100_000):
        assert 400 <= (await api.post("/mcp", body, **HEADERS)).status < 500, body

    async def endless() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield b"x" * 100_000

    async with api.session.post(f"{api.address}/mcp", data=endless(), headers=HEADERS) as refused:
        assert refused.status == 413


async def test_an_unknown_method_is_an_error_of_the_protocol(api: ApiCaller) -> None:
    async with over_http(api) as client:
        with pytest.raises(MCPError):
            await client.list_prompts()


def test_without_the_extra_it_says_what_to_install(
    database_url: str, open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name == "mcp" or name.startswith("mcp.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    said = Desk(database_url, open_folder).says("mcp")
    assert said.code == 5
    assert "pip install 'headwater[mcp]'" in said.err
