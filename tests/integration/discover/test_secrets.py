"""A secret goes to the origin it is bound to, and what an API says of it is masked."""

from base64 import b64encode
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote

import orjson
import pytest
from tests.integration.discover.conftest import Desk
from tests.integration.discover.test_attacks import KEY, follow_api, recipe, written_down

from headwater.discover.cadence.rests import ErrorClass
from headwater.simweb.message import Page, Request
from headwater.simweb.mischief.redirects import Redirect

TABLES = "select relname from pg_stat_user_tables where schemaname = current_schema()"


class Listening:
    """Answers everything alike, and remembers what it was asked with."""

    def __init__(self, answer: Mapping[str, Any]) -> None:
        self.answer = Page(orjson.dumps(answer), "application/json")
        self.heard: list[str] = []

    def page(self, request: Request, now: datetime) -> Page | None:
        if request.path == "/robots.txt":
            return None
        self.heard.append(f"{request.path}?{request.query} {dict(request.headers)}")
        return self.answer


def listening(desk: Desk, host: str, **answer: Any) -> Listening:
    site = Listening({"jobs": [], **answer})
    desk.path.sim.sites = {**desk.path.sim.sites, host: site}
    return site


async def stored(desk: Desk) -> str:
    """Every row of every table, as text."""
    tables = [row["relname"] for row in await desk.path.database.fetch(TABLES)]
    rows = [row for table in tables for row in await desk.path.database.fetch(f"select t::text from {table} t")]
    return " ".join(row["t"] for row in rows)


@pytest.mark.parametrize(
    ("secrets", "said"),
    [
        (f"MINE@https://a.test={KEY}", "https only"),
        (f"MINE@https://b.test={KEY}", "https only"),
        (f"MINE@http://b.test={KEY}", "https only"),
        (f"MINE={KEY}", "https only"),
    ],
)
async def test_a_secret_is_not_sent_where_it_is_not_bound_to(desk: Desk, secrets: str, said: str) -> None:
    site = listening(desk, "a.test")
    await follow_api(desk, recipe(), secrets)
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert ran.ending.error is ErrorClass.UNREADABLE
    assert said in ran.ending.message
    assert site.heard == []
    assert KEY not in await written_down(desk)


async def test_a_recipe_that_names_a_strangers_host_gets_no_secret_of_ours(desk: Desk) -> None:
    stranger = listening(desk, "b.test")
    await follow_api(desk, recipe(base_url="http://b.test"))
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert "http://b.test" in ran.ending.message
    assert stranger.heard == []


async def test_over_http_a_secret_goes_to_a_private_address_only(desk: Desk) -> None:
    site = listening(desk, "a.test")
    await follow_api(desk, recipe())
    # Behind a proxy nobody knows where a host stands.
    found = await desk.path.resolver.resolve("a.test")
    desk.path.web.transport.proxy = f"http://127.0.0.1:{found[0]['port']}"
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert ran.ending.error is ErrorClass.FORBIDDEN
    assert "network.allow" in ran.ending.message
    assert site.heard == []


@pytest.mark.parametrize("spelt", [KEY, quote(KEY[:3]) + quote(KEY[3:])])
async def test_a_redirect_that_would_carry_the_secret_to_another_origin_is_not_followed(desk: Desk, spelt: str) -> None:
    stranger = listening(desk, "b.test")
    desk.path.sim.script("a.test", Redirect(f"http://b.test/?stolen={spelt}", code=302), "/api")
    await follow_api(desk, recipe())
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert "would carry our key elsewhere" in ran.ending.message
    assert stranger.heard == []
    assert KEY not in await written_down(desk)


async def test_a_redirect_to_another_origin_is_followed_without_the_secret(desk: Desk) -> None:
    stranger = listening(desk, "b.test", jobs=[{"title": "One", "url": "http://a.test/jobs/1"}])
    desk.path.sim.script("a.test", Redirect("http://b.test/api", code=302), "/api")
    await follow_api(desk, recipe(auth={"type": "header", "name": "X-Key", "token": "{{SECRET:MINE}}"}))
    await desk.poll()
    assert len(stranger.heard) == 1
    assert KEY not in stranger.heard[0]


@pytest.mark.parametrize("kind", ["query", "bearer", "header", "basic"])
async def test_an_api_that_repeats_our_key_puts_it_into_nothing_that_we_keep(desk: Desk, kind: str) -> None:
    both = b64encode(f"me:{KEY}".encode()).decode()
    listed = {
        "title": f"Job for {KEY}",
        "url": f"/jobs/1?by={quote(KEY)}",
        "id": f"{KEY}-1",
        "summary": f"Asked by {KEY} ({both})",
        "content": f"<p>Authorization: Basic {both}</p>",
        "extra": {KEY: [KEY, f"x{KEY}x"]},
    }
    following = {"next": f"cursor-{KEY}"}
    listening(desk, "a.test", jobs=[listed], **following)
    auth = {"type": kind, "token": "{{SECRET:MINE}}", "username": "me", "password": "{{SECRET:MINE}}"}
    fields = {name: name for name in ("title", "url", "id", "summary", "content", "extra")}
    paging = {"type": "cursor", "cursor_path": "next", "max_pages": 2}
    await follow_api(desk, recipe(auth=auth, map=fields, pagination=paging))
    [ran] = await desk.poll()
    assert ran.run_state.tally.inserted == 1
    kept = await stored(desk) + repr(ran)
    assert KEY not in kept
    assert both not in kept
    assert "Job for ***" in kept
