"""Requests made to hurt the web role: each is answered quickly, with a sentence, and changes nothing."""

import asyncio
import csv
import gzip
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.integration.serve.callers import ApiCaller, Reply, api_on, ended
from tests.integration.serve.people import add_user, browser_of, log_in, token_of, with_token

from headwater.accounts.role import Role
from headwater.database.pool import Database
from headwater.serve.access.visits import SAFE_METHODS
from headwater.serve.app import every_route
from headwater.serve.frame import PROTECTION

NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
async def api(database_url: str, database: Database) -> AsyncIterator[ApiCaller]:
    async with api_on(database_url) as caller:
        yield caller


def assert_refused(answer: Reply, *statuses: int) -> None:
    assert answer.status in (statuses or (400, 403, 404, 413, 422)), (answer.status, answer.body[:300])
    assert answer.headers["content-type"] == "application/problem+json"
    assert len(answer.body) < 10_000


CATASTROPHES = ["(a+)+$", "(a|a)*b", "(.*a){30}", "(?#", "(a)\\1", "(?<=a)b", "[", "x" * 1_000_000]


@pytest.mark.parametrize("pattern", CATASTROPHES, ids=lambda text: text[:12])
async def test_a_pattern_is_never_a_regular_expression_that_runs_away(api: ApiCaller, pattern: str) -> None:
    """Filters of the API are texts and prefixes; those of sources are globs or refused."""
    answer = await api.post(
        "sources", {"url": "https://a.example/", "include_patterns": [pattern], "exclude_patterns": [pattern]}
    )
    assert answer.status in (201, 413, 422), answer.body[:300]
    tried = "https://a.example/" + "a" * 1_500 + "!"
    assert (await api.post("frontier/submit", {"url": tried})).status in (201, 403, 422)
    assert (await api.get("/healthz")).status == 200


SQL = ["'; drop table views; --", "%", "_", "\\", "a' or '1'='1", "!!!:*&", "$.a ? (@ == 1)", "id); --", "(a+)+$"]
FILTERS = (
    *("search?q={}", "sources?text={}", "sources?sort_by={}", "sources?sort_order={}", "sources?status={}"),
    *("frontier?host={}", "frontier?prefix={}", "frontier?sort_by={}", "frontier?status={}", "frontier?cursor={}"),
    *("documents?host={}", "jobs?q={}", "jobs?country={}", "runs?status={}", "events?kind={}", "audit?actor={}"),
    *("audit?action={}", "hosts/{}", "takedowns/{}", "views/{}", "sinks/{}", "explain?url={}", "channels?source={}"),
)


async def test_sql_in_filters_orders_and_names_is_a_text(api: ApiCaller, database: Database) -> None:
    await api.post("views", {"name": "boats"})
    for path in FILTERS:
        for text in SQL:
            answer = await api.get(path.format(quote(text, safe="")))
            assert answer.status in (200, 404, 422), (path, text, answer.status, answer.body[:300])
            assert b"syntax error" not in answer.body
            assert b"SELECT" not in answer.body.upper() or answer.status == 200
    assert [one["name"] for one in (await api.get("views")).json["views"]] == ["boats"]


FORMULAS = ["=cmd|'/c calc'!A1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1"]


async def test_no_cell_of_an_export_is_a_formula(api: ApiCaller) -> None:
    for number, title in enumerate(FORMULAS):
        made = await api.post("sources", {"url": f"https://a{number}.example/", "name": title, "tags": ["=1+1"]})
        assert made.status in (201, 422), made.body
    written = (await api.get("sources/export?format=csv")).body.decode()
    rows = list(csv.reader(written.splitlines()))
    assert len(rows) > 4
    assert [cell for row in rows for cell in row if cell[:1] in ("=", "+", "-", "@", "\t", "\r")] == []


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "x\0y", "CON", "a/../../b", "..\\..\\x", "link"])
async def test_an_export_is_written_by_a_name_of_our_own(api: ApiCaller, name: str) -> None:
    """A caller names neither the file it is offered nor a file of a sink outside of the folder for sinks."""
    for path in ("sources/export?format=csv", "documents/export?format=csv", "jobs/export?format=csv"):
        answer = await api.get(f"{path}&name={quote(name)}&filename={quote(name)}")
        assert answer.status in (200, 422)
        offered = answer.headers.get("content-disposition", "")
        assert name not in offered
        assert "/" not in offered
    outside = name if name.startswith("/") else f"/{name}"
    assert_refused(await api.post("sinks", {"name": "file", "type": "jsonl", "options": {"folder": outside}}))


async def test_a_folder_that_links_elsewhere_takes_no_sink(
    database_url: str, database: Database, tmp_path: Path
) -> None:
    ours, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (ours / "sinks").mkdir(parents=True)
    (ours / "sinks" / "link").symlink_to(elsewhere)
    async with api_on(database_url, {"service.data_dir": str(ours)}) as api:
        for folder in ("sinks/link", "sinks/link/x", "sinks/../../elsewhere"):
            wanted = {"name": "files", "type": "jsonl", "options": {"folder": str(ours / folder)}}
            assert_refused(await api.post("sinks", wanted), 403, 422)
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("body", [b"PK\x03\x04" + b"\0" * 500, b"\x1f\x8b" + b"\0" * 100, b"../../x,symlink"])
async def test_an_archive_is_no_list_of_sources(api: ApiCaller, body: bytes) -> None:
    answer = await api.post("sources/import", body, content_type="application/zip")
    if answer.status == 202:
        told = await ended(api, answer)
        assert told["state"] == "failed" or told["result"]["added"] in (0, []), told
    else:
        assert_refused(answer)
    assert (await api.get("sources")).json["sources"] == []


@pytest.mark.parametrize("sign", ["\r\nFORGED", "\x1b]0;x\x07", "\u2028FORGED", "x" * 200_000, "a\0b"], ids=ascii)
async def test_a_login_name_is_kept_out_of_the_log_or_stays_one_line(
    database_url: str, database: Database, capfd: pytest.CaptureFixture[str], sign: str
) -> None:
    await add_user(database)
    async with api_on(database_url, {"log.level": "debug", "log.format": "json"}) as api:
        answer = await log_in(api, f"ann{sign}", "x")
        assert answer.status in (401, 413, 422)
        await api.post("views", {"name": f"x{sign}"}, user_agent="x")
        await api.delete("views/x%0d%0aFORGED%1b%5d0;%e2%80%a8")
    for line in capfd.readouterr().err.splitlines():
        assert isinstance(json.loads(line), dict), line[:200]
        assert len(line) < 20_000


@pytest.mark.parametrize("given", ["x" * 1_000_000, "a\0b", "\ud800", "аnn", "", " "], ids=lambda text: ascii(text[:4]))
async def test_a_name_or_password_that_cannot_be_is_refused(api: ApiCaller, database: Database, given: str) -> None:
    await add_user(database)
    admin = with_token(api, await token_of(database, Role.ADMIN))
    for fields in ({"name": given, "password": "x" * 20}, {"name": "ann", "password": given}):
        body = json.dumps(fields | {"role": "viewer"}).encode()
        assert_refused(await admin.post("users", body), 413, 422)
        assert (await api.post("login", json.dumps(fields).encode())).status in (401, 413, 422)


async def test_a_token_in_an_address_is_refused_and_stands_in_no_answer(api: ApiCaller, database: Database) -> None:
    token = await token_of(database, Role.ADMIN)
    for name in ("access_token", "token", "api_key", "ACCESS_TOKEN", "x"):
        answer = await api.get(f"views?{name}={token}")
        assert_refused(answer, 422)
        assert token.encode() not in answer.body


@pytest.mark.parametrize("place", ["//evil.example", "/\\evil.example", "https:evil.example", "%20//evil.example"])
async def test_no_answer_leads_to_another_site(api: ApiCaller, database: Database, place: str) -> None:
    await add_user(database)
    person = await browser_of(api)
    body = {"name": "ann", "password": "canary-password-of-ann"}
    answers = [await api.post(f"login?next={place}", body), await person.ask("POST", f"logout?next={place}")]
    answers += [await api.get(f"{where}?next={place}") for where in ("/", "/api/docs", place.replace("%20", "/"))]
    for answer in answers:
        assert "evil" not in answer.headers.get("location", "")


async def test_a_host_or_an_address_that_is_made_up_is_not_believed(api: ApiCaller, database: Database) -> None:
    await add_user(database)
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "[::1].evil.example", ""):
        assert_refused(await api.get("/healthz", host=host), 400, 421)
    await api.post("login", {"name": "ann", "password": "wrong"}, x_forwarded_for="198.51.100.7", x_real_ip="1.2.3.4")
    assert await database.fetchval("select address from audit_log") == "127.0.0.1"
    assert "198.51" not in await database.fetchval("select string_agg(subject, ' ') from login_attempts")


@pytest.mark.parametrize(
    "headers",
    [
        {"content_type": "text/plain"},
        {"content_type": "application/x-www-form-urlencoded"},
        {"content_type": "multipart/form-data; boundary=x"},
        {"sec_fetch_site": "cross-site"},
        {"origin": "https://evil.example"},
    ],
)
async def test_a_forged_request_changes_nothing(api: ApiCaller, headers: dict[str, str]) -> None:
    assert_refused(await api.post("views", b'{"name": "boats"}', **headers), 403, 415, 422)
    assert (await api.get("views")).json["views"] == []


async def test_no_form_or_header_turns_a_read_into_a_change(api: ApiCaller) -> None:
    await api.post("views", {"name": "boats"})
    for method in ("DELETE", "PUT"):
        await api.get(f"views/boats?_method={method}", x_http_method_override=method, x_method_override=method)
        await api.post("views/boats", b"_method=" + method.encode(), x_http_method_override=method)
    assert (await api.get("views/boats")).status == 200


async def test_reads_change_nothing(api: ApiCaller, database: Database) -> None:
    """Every GET that there is, asked once; no row of what people wrote differs."""
    await api.post("views", {"name": "boats"})
    await api.post("sources", {"url": "https://a.example/"})
    before = await rows_of(database)
    for route in every_route():
        if (route.methods or set()) <= SAFE_METHODS and not route.path.endswith(("/stream", "/changes")):
            path = route.path_format
            for name in route.param_convertors:
                path = path.replace(f"{{{name}}}", NOBODY)
            await api.get(path)
    assert await rows_of(database) == before


async def rows_of(database: Database) -> list[Any]:
    tables = ("sources", "channels", "views", "sinks", "url_frontier", "audit_log", "web_users", "web_tokens", "jobs")
    return [await database.fetchval(f"select string_agg(t::text, '|' order by t::text) from {t} t") for t in tables]


async def test_requests_that_are_too_much_are_refused_quickly(api: ApiCaller) -> None:
    part = b'--x\r\ncontent-disposition: form-data; name="a"\r\n\r\nb\r\n'
    assert_refused(await api.post("views", part * 10_000 + b"--x--", content_type="multipart/form-data; boundary=x"))
    assert_refused(await api.post("views", b'{"a":' * 10_000 + b"1" + b"}" * 10_000))
    many = json.dumps({f"k{n}": 1 for n in range(60_000)}).encode()
    assert_refused(await api.post("views", many))
    assert_refused(await api.post("views", b'{"name": 1' + b"0" * 5_000 + b"}"))
    bomb = gzip.compress(b"0" * 50_000_000)
    assert_refused(await api.post("views", bomb, content_encoding="gzip"))
    ranges = ",".join(f"{n}-{n}" for n in range(2_000))
    assert (await api.get("openapi.json", range=f"bytes={ranges}")).status in (200, 400, 416)


IDS = [NOBODY, "%2e%2e", "%2e%2e%2fviews", "-1", "1" + "0" * 30, "١٢٣", "%00", "a" * 2_000, "'", "{}", "null"]


async def test_an_id_of_nobody_is_no_fault_anywhere(api: ApiCaller) -> None:
    for route in every_route():
        if not route.param_convertors or "GET" not in (route.methods or set()):
            continue
        for id_ in IDS:
            path = route.path_format
            for name in route.param_convertors:
                path = path.replace(f"{{{name}}}", quote(id_, safe="%"))
            answer = await api.get(path)
            assert answer.status < 500, (path, answer.status, answer.body[:300])


@pytest.fixture
async def listener() -> AsyncIterator[tuple[int, list[bytes]]]:
    """A server of our own network: its port, and what it was sent."""
    heard = list[bytes]()

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read(1_000))
        writer.close()

    server = await asyncio.start_server(hear, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], heard


OURS = ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "0", "[::ffff:127.0.0.1]", "127。0。0。1"]


@pytest.mark.parametrize("host", OURS)
async def test_nothing_that_looks_at_a_site_reaches_our_own_network(
    api: ApiCaller, listener: tuple[int, list[bytes]], host: str
) -> None:
    port, heard = listener
    url = f"http://{host}:{port}/feed.xml"
    for path in ("sources/test-crawl", "sources/fetch-metadata"):
        answer = await api.post(path, {"url": url})
        assert answer.status in (200, 403, 422), answer.body[:300]
        assert answer.status != 200 or answer.json["followed"] is False
    made = await api.post("sources", {"url": url, "feeds": [url]})
    if made.status == 201:
        await api.post(f"sources/{made.json['id']}/test")
        await api.post(f"sources/{made.json['id']}/simulate")
    await api.post("sources?look=true", {"url": url})
    assert heard == []


async def test_a_sink_is_no_way_to_the_secrets_of_a_cloud(api: ApiCaller) -> None:
    for url in ("http://169.254.169.254/latest/", "http://[fd00:ec2::254]/", "http://metadata.google.internal/"):
        hook = {"name": "hook", "type": "webhook", "options": {"url": url, "secret": "env:X"}}
        assert_refused(await api.post("sinks", hook), 403, 422)


async def test_servers_of_sinks_are_named_by_admins_only(api: ApiCaller, database: Database) -> None:
    operator = with_token(api, await token_of(database, Role.OPERATOR))
    hook = {"name": "hook", "type": "webhook", "options": {"url": "https://example.org/", "secret": "env:X"}}
    assert_refused(await operator.post("sinks", hook), 403)


async def test_templates_in_titles_stay_as_they_are(api: ApiCaller) -> None:
    for number, title in enumerate(("{{7*7}}", "%s%n", "{0.__class__}", "${7*7}", "<script>1</script>")):
        made = await api.post("sources", {"url": f"https://b{number}.example/", "name": title})
        assert made.status == 201, made.body
        told = (await api.get(f"sources/b{number}.example")).json
        assert told["name"] == title
    assert b"<script>1" not in (await api.get("/api/docs")).body


async def test_a_stream_needs_a_caller_and_is_given_to_no_other_site(api: ApiCaller, database: Database) -> None:
    await add_user(database)
    assert_refused(await api.get("stream?topics=stats"), 401)
    person = await browser_of(api)
    async with api.session.get(
        f"{api.address}/api/v1/stream?topics=stats",
        headers={"cookie": person.cookie, "origin": "https://evil.example", "sec-fetch-site": "cross-site"},
    ) as answer:
        # A browser gives another site's page nothing of an answer that does not name that site.
        assert "access-control-allow-origin" not in answer.headers
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    upgrade = {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec_websocket_key": "eA==",
        "sec_websocket_version": "13",
    }
    assert (await api.get("stream", **upgrade)).status in (400, 401, 403, 426)


async def test_every_route_and_every_error_has_the_headers_that_protect(api: ApiCaller) -> None:
    async def headers_of(method: str, path: str) -> None:
        answer = await api.ask(method, path)
        assert {name for name in PROTECTION if not answer.headers.get(name)} == set(), (method, path)
        assert answer.headers["x-request-id"]

    asked = [
        (method, route.path_format.replace("{", "").replace("}", ""))
        for route in every_route()
        for method in route.methods or ()
        if not route.path.endswith(("/stream", "/changes", "/mcp"))
    ]
    for method, path in [*asked, ("GET", "/nothing"), ("TRACE", "/healthz"), ("POST", "/healthz")]:
        await asyncio.wait_for(headers_of(method, path), 60)


async def test_a_name_in_other_letters_is_shown_in_those_of_its_address(api: ApiCaller) -> None:
    """Row 48: a Cyrillic letter that looks like a Latin one."""
    made = await api.post("sources", {"url": "https://\u0430pple.example/", "name": "Apple"})
    assert made.status == 201, made.body
    assert (await api.post("frontier/submit", {"url": "https://\u0430pple.example/a"})).status == 201
    for path in ("/console/sources", "/console/frontier", "/console/hosts", "frontier", "sources"):
        said = (await api.get(path)).body.decode()
        assert "xn--pple-43d.example" in said, path
        assert "\u0430pple" not in said, path
