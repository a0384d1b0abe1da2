"""Pages for people, as a browser gets them."""

import re

import pytest
from tests.integration.serve.callers import ApiCaller

from headwater.serve.pages.layout import PAGE_POLICY


async def test_the_page_of_the_api_and_its_stylesheet(api: ApiCaller) -> None:
    page = await api.get("/api/docs")
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert page.headers["content-security-policy"] == PAGE_POLICY
    assert page.headers["x-content-type-options"] == "nosniff"
    assert f"{api.address}/api/v1/views".encode() in page.body
    odd = await api.get("/api/docs", host="localhost:'<b>")
    assert (odd.status, b"<b>" in odd.body) == (421, False)
    without_port = await api.get("/api/docs", host="localhost:")
    assert b"curl -s 'http://localhost/api" in without_port.body.replace(b"&#x27;", b"'")
    (stylesheet,) = re.findall(rb'<link rel="stylesheet" href="([^"]+)"', page.body)
    style = await api.get(stylesheet.decode())
    assert (style.status, style.headers["content-type"]) == (200, "text/css; charset=utf-8")
    assert "immutable" in style.headers["cache-control"]
    assert b"url(" not in style.body
    assert b"@import" not in style.body


@pytest.mark.parametrize("name", ["none.css", "..%2flayout.py", "%2e%2e/static.py", "api.css%00", "x" * 200])
async def test_no_name_leads_out_of_the_folder(api: ApiCaller, name: str) -> None:
    assert (await api.get(f"/static/{name}")).status in (404, 422)
