"""Pages of the archive, the frontier, hosts and settings: with hostile rows, and what their forms do."""

import re
from typing import Any
from urllib.parse import urlencode

import pytest
from tests.integration.archive.shelf import LONG, OTHER, Shelf
from tests.integration.deliver.memory_sink import Delivering
from tests.integration.serve.callers import ApiCaller, Reply
from tests.integration.serve.people import add_user, browser_of
from tests.integration.serve.test_archive import id_of, keep_vacancies

from headwater.accounts.role import Role
from headwater.deliver.log import move_changes

FORM = "application/x-www-form-urlencoded"
URL = "https://a.example/one"
HOSTILE = '<script>alert(1)</script>\u202egnp.exe\x1b[31m{{7*7}}" onmouseover="x'
PAGES = (
    *("/console/documents", "/console/jobs", "/console/views", "/console/frontier", "/console/hosts"),
    *("/console/settings", "/console/settings/sinks", "/console/settings/takedowns", "/console/operations"),
    *("/console/settings/configuration", "/console/settings/users", "/console/settings/tokens"),
    *(
        "/console/frontier/failures",
        "/console/frontier/url",
        "/console/settings/audit",
        "/console/settings/sinks/add",
        "/console/views/add",
        "/console/frontier/add",
    ),
)


@pytest.fixture
async def shelf(api: ApiCaller) -> Shelf:
    await Delivering(api.services.database).source()
    return Shelf(api.services.database)


async def send(api: ApiCaller, path: str, *more: tuple[str, str], **fields: str) -> Reply:
    """A form as a page of ours sends it, without a login."""
    body = urlencode([*fields.items(), *more]).encode()
    return await api.post(path, body, content_type=FORM, origin=api.address)


def assert_inert(page: Reply) -> None:
    text = page.body.decode()
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    for sign in ("<script>alert", "\u202e", "\x1b", 'onmouseover="x', " style=", 'href="javascript'):
        assert sign not in text, sign


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_without_rows_says_what_to_do(api: ApiCaller, path: str) -> None:
    page = await api.get(path)
    assert page.status == 200
    assert_inert(page)
    assert page.body.count(b"<h1>") == 1
    # A cursor of nobody is a sentence, not a fault.
    assert (await api.get(f"{path}?cursor=x%00&q=%27%22%3E&status=none")).status in (200, 422)


async def test_hostile_texts_are_inert_on_every_page(api: ApiCaller, shelf: Shelf) -> None:
    await shelf.keep(URL, f"{HOSTILE} {LONG}", title=HOSTILE)
    await shelf.keep(URL, f"{HOSTILE} {OTHER}", title=HOSTILE)
    await keep_vacancies(shelf, HOSTILE)
    await move_changes(shelf.database)
    await api.post("frontier/submit", {"url": "https://a.example/?q=%3Cscript%3Ealert(1)%3C/script%3E"})
    await api.post("takedowns", {"domain_or_url": "gone.example", "reason": HOSTILE[:100]})
    job = (await api.get("jobs")).json["jobs"][0]["id"]
    one = f"/console/documents/{id_of(URL)}"
    pages = [f"{path}?q=%3Cscript%3Ealert%281%29&text=%22+onmouseover%3D%22x" for path in PAGES]
    pages += [
        one,
        f"{one}/versions/2",
        f"/console/jobs/{job}",
        f"/console/jobs/{job}/remove",
        "/console/hosts/a.example",
    ]
    pages += ["/console/frontier/url?url=https://a.example/one", "/console/settings/takedowns/one?name=gone.example"]
    for path in pages:
        page = await api.get(path)
        assert page.status in (200, 404), (path, page.status, page.body[:500])
        assert_inert(page)
    shown = (await api.get(one)).body.decode()
    assert "&lt;script&gt;alert(1)" in shown
    changed = (await api.get(f"{one}/versions/2")).body.decode()
    assert "<ins>" in changed
    assert "<del>" in changed


async def test_a_policy_is_set_by_a_form_and_holds(api: ApiCaller) -> None:
    await api.post("frontier/submit", {"url": "https://d.example/"})
    wrong = await send(api, "/console/hosts/d.example/policy", min_request_interval_ms="soon")
    assert (wrong.status, b"no whole number" in wrong.body) == (422, True)
    assert (await send(api, "/console/hosts/d.example/policy")).status == 422
    set_ = await send(api, "/console/hosts/d.example/policy", min_request_interval_ms="5000", allow_js="no")
    assert set_.status == 303
    assert (await api.get("hosts/d.example/policy")).json["own"]["min_request_interval_ms"] == 5000
    assert b"5s, by the host policy" in (await api.get("/console/hosts/d.example")).body.replace(b"\xc2\xa0", b"")
    assert (await send(api, "/console/hosts/d.example/policy/clear", confirmed="yes")).status == 303
    assert (await api.get("hosts/d.example/policy")).json["own"]["min_request_interval_ms"] is None


async def test_a_view_is_made_of_a_search_changed_and_removed(api: ApiCaller, shelf: Shelf) -> None:
    await shelf.keep(URL, LONG, title="One")
    made = await send(api, "/console/views/add", name="boats", query="", kinds="document", min_quality="")
    assert made.headers["location"] == "/console/views/boats"
    assert b"One" in (await api.get("/console/views/boats")).body
    assert (await send(api, "/console/views/add", name="No Name", query="x")).status == 422
    assert (await send(api, "/console/views/boats", query="ferry", min_quality="many")).status == 422
    assert (await send(api, "/console/views/boats", query="ferry", languages="en, da")).status == 303
    assert (await api.get("views/boats")).json["languages"] == ["en", "da"]
    assert (await send(api, "/console/views/boats/remove", confirmed="yes")).status == 303
    assert (await api.get("views")).json["views"] == []


async def test_a_takedown_is_asked_twice_for(api: ApiCaller, shelf: Shelf) -> None:
    await shelf.keep(URL, LONG, title="One")
    asked = await send(api, "/console/settings/takedowns", pattern="a.example", reason="by post")
    assert (asked.status, b"with all its subdomains" in asked.body) == (200, True)
    assert (await api.get("takedowns")).json["takedowns"] == []
    done = await send(api, "/console/settings/takedowns", pattern="a.example", reason="by post", confirmed="yes")
    assert done.headers["location"].startswith("/console/operations/")
    assert [one["reason"] for one in (await api.get("takedowns")).json["takedowns"]] == ["by post"]
    assert (await send(api, "/console/settings/takedowns", pattern="::", reason="")).status == 422


async def test_a_token_is_shown_once_and_stands_in_the_audit_log_without_itself(api: ApiCaller) -> None:
    database = api.services.database
    await add_user(database)
    browser = await browser_of(api)
    again: dict[str, Any] = {"content_type": FORM, "cookie": browser.cookie, "origin": api.address}
    fields = {"csrf_token": browser.csrf_token, "name": "reader", "role": "viewer", "expires": "30d"}
    made = await api.post("/console/settings/tokens", urlencode(fields).encode(), **again)
    secret = max(re.findall(r"<code>(hw_[\w-]+)</code>", made.body.decode()), key=len)
    assert (await api.get("views", authorization=f"Bearer {secret}")).status == 200
    assert secret not in (await api.get("/console/settings/tokens", cookie=browser.cookie)).body.decode()
    log = await api.get("/console/settings/audit", cookie=browser.cookie)
    assert b"make token by form" in log.body
    assert secret.encode() not in log.body
    assert (
        await api.post("/console/settings/tokens", urlencode({**fields, "role": "king"}).encode(), **again)
    ).status == 422


async def test_a_viewer_is_offered_no_change_and_may_make_none(api: ApiCaller) -> None:
    await add_user(api.services.database)
    await add_user(api.services.database, "vic", Role.VIEWER)
    browser = await browser_of(api, "vic")
    for path in ("/console/frontier", "/console/views", "/console/settings/takedowns", "/console/settings/sinks"):
        page = (await api.get(path, cookie=browser.cookie)).body.decode()
        assert 'method="post"' not in page[page.index("<main") :], path
    for path in (
        "/console/settings/users",
        "/console/settings/tokens",
        "/console/settings/audit",
        "/console/frontier/add",
    ):
        assert (await api.get(path, cookie=browser.cookie)).status == 403
    body = urlencode({"csrf_token": browser.csrf_token, "urls": "https://e.example/", "do": "add"}).encode()
    sent = {"content_type": FORM, "cookie": browser.cookie, "origin": api.address}
    assert (await api.post("/console/frontier/add", body, **sent)).status == 403
