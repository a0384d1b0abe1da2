"""Every page shows what others wrote, and none lets it become anything else."""

import re

import pytest
from tests.integration.serve.callers import ApiCaller
from tests.integration.serve.console.hostile import MADE_MARKUP, put_hostile_rows

from headwater.serve.app import every_route

# Those that need no name in their address.
PAGES = sorted(
    route.path
    for route in every_route()
    if route.methods == {"GET"} and route.path.startswith(("/console", "/crawler")) and "{" not in route.path
)


@pytest.mark.parametrize("path", PAGES)
async def test_hostile_rows_are_inert(api: ApiCaller, path: str) -> None:
    await put_hostile_rows(api)
    page = await api.get(path)
    assert page.status == 200
    text = page.body.decode()
    for made in MADE_MARKUP:
        assert made not in text
    assert not re.search(r"<[^>]*\s(?:on\w+|style)=", text)
    assert 'href="javascript' not in text
    assert len(page.body) < 400_000


async def test_markup_in_an_address_is_inert(api: ApiCaller) -> None:
    for path in PAGES:
        odd = "?status=%3Cscript%3E&source=%22%3E%3Cimg%3E&since=x&order=%3Cb%3E&window=%3Cb%3E&cursor=%3Cb%3E&text=%00"
        page = await api.get(f"{path}{odd}")
        assert page.status in (200, 422), path
        assert b"<img" not in page.body
        assert b"<script>" not in page.body
