"""What every page of the console keeps to: who may see it, its headers, its forms, and texts of others."""

from urllib.parse import urlencode

import pytest
from tests.integration.serve.callers import ApiCaller, Reply, api_on
from tests.integration.serve.console.forms import send, text_of
from tests.integration.serve.people import PASSWORD, add_user, browser_of

from headwater.database.pool import Database
from headwater.serve.console.shell import PAGE_HEADERS
from headwater.serve.console.visit import local_path
from headwater.serve.pages.static import static_files

FORM = "application/x-www-form-urlencoded"


async def send_form(api: ApiCaller, path: str, **fields: str) -> Reply:
    return await api.post(path, urlencode(fields).encode(), content_type=FORM, origin=api.address)


async def test_a_page_has_the_headers_that_keep_it_safe(api: ApiCaller) -> None:
    page = await api.get("/console")
    assert page.status == 200
    for name, value in PAGE_HEADERS.items():
        assert page.headers[name] == value
    assert page.headers["cache-control"] == "no-store"
    assert b" style=" not in page.body
    assert b"<script>" not in page.body


async def test_a_stranger_is_led_to_the_login_and_back(database_url: str, database: Database) -> None:
    await add_user(database)
    async with api_on(database_url) as api:
        asked = await api.get("/console/style?status=failing")
        assert (asked.status, asked.headers["location"]) == (303, "/login?next=%2Fconsole%2Fstyle%3Fstatus%3Dfailing")
        form = await api.get(asked.headers["location"])
        assert b'value="/console/style?status=failing"' in form.body
        wrong = await send_form(api, "/login", name="ann", password="wrong", next="/console/style")
        assert (wrong.status, b"do not fit" in wrong.body, PASSWORD.encode() in wrong.body) == (401, True, False)
        right = await send_form(api, "/login", name="ann", password=PASSWORD, next="/console/style")
        assert (right.status, right.headers["location"]) == (303, "/console/style")
        cookie = right.headers["set-cookie"].partition(";")[0]
        assert (await api.get("/console/style", cookie=cookie)).status == 200


async def test_a_form_without_the_token_changes_nothing(database_url: str, database: Database) -> None:
    await add_user(database)
    async with api_on(database_url) as api:
        browser = await browser_of(api)
        for headers in ({}, {"origin": "http://evil.example"}, {"sec_fetch_site": "cross-site"}):
            asked = await browser.api.post(
                "/logout", b"", content_type=FORM, cookie=browser.cookie, **{"origin": api.address, **headers}
            )
            assert (asked.status, b"<h1>Forbidden</h1>" in asked.body) == (403, True)
        body = urlencode({"csrf_token": browser.csrf_token}).encode()
        left = await api.post("/logout", body, content_type=FORM, cookie=browser.cookie, origin=api.address)
        assert (left.status, left.headers["location"]) == (303, "/login")
        assert (await api.get("/console", cookie=browser.cookie)).status == 303


@pytest.mark.parametrize(
    "elsewhere",
    ["//evil.example", "/\\evil.example", "https:evil.example", " //evil.example", "/a\\b", "evil", "", "/\t/evil"],
)
def test_nobody_is_led_elsewhere(elsewhere: str) -> None:
    assert local_path(elsewhere, "/console") == "/console"
    assert local_path("/console/style?a=b", "/console") == "/console/style?a=b"


async def test_texts_of_others_are_inert(api: ApiCaller) -> None:
    page = (await api.get("/console/style?text=%22%3E%3Cscript%3E&order=%22%3E%3Cb%3E")).body.decode()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>" not in page
    assert "<b>" not in page
    assert 'href="javascript' not in page
    assert "\u202e" not in page
    assert "\x1b" not in page


async def test_what_is_not_there_is_told_as_a_page(api: ApiCaller) -> None:
    page = await api.get("/console/none")
    assert (page.status, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert b"<h1>Not Found</h1>" in page.body


async def test_a_browser_that_asks_for_the_api_is_led_to_the_login_and_a_program_is_told(
    database_url: str, database: Database
) -> None:
    await add_user(database)
    async with api_on(database_url) as api:
        browser = await api.get("/api/docs", accept="text/html,*/*;q=0.8")
        assert (browser.status, browser.headers["location"]) == (303, "/login?next=%2Fapi%2Fdocs")
        assert (await api.get("/api/docs", accept="*/*")).status == 401


def test_all_files_of_the_pages_together_are_light() -> None:
    weight = sum(map(len, static_files().values()))
    assert 10_000 < weight < 150_000


async def test_who_has_no_login_is_told_so(api: ApiCaller) -> None:
    page = await api.get("/console/account")
    assert "nobody has to log in" in text_of(page)
    assert "There is no login to end" in text_of(page)
    assert (await send(api, "/console/account/log-out-everywhere")).status == 422
