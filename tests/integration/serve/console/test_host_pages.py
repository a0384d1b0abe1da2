"""The pages of hosts: states, robots.txt asked anew, rights; and what site owners ask, by page, API and command."""

from collections.abc import AsyncIterator, Iterator

import pytest
from tests.integration.cli.desk import Served
from tests.integration.cli.desk import served as a_site
from tests.integration.serve.callers import ApiCaller, api_on, command, command_says, ended
from tests.integration.serve.console.forms import followed, send

from headwater.database.pool import Database
from headwater.simweb.message import Page as SitePage

HOST = "127.0.0.6"
ROBOTS = b"User-agent: *\nDisallow: /private\nContent-Usage: train-ai=n\n"


@pytest.fixture(scope="module")
def site() -> Iterator[Served]:
    with a_site(HOST) as serving:
        yield serving


@pytest.fixture
async def reaching(database_url: str, database: Database, site: Served) -> AsyncIterator[ApiCaller]:
    async with api_on(database_url, site.settings) as caller:
        yield caller


async def test_hosts_are_listed_by_their_state(api: ApiCaller, database: Database) -> None:
    for letter in "abc":
        await api.post("frontier/submit", {"url": f"https://{letter}.example/"})
    await api.put("hosts/b.example/policy", {"max_pages": 5})
    await database.execute("update hosts set closed_until = now() + interval '1 hour' where host = 'c.example'")

    async def hosts_in(state: str) -> list[str]:
        return sorted(one["host"] for one in (await api.get(f"hosts?state={state}")).json["hosts"])

    assert await hosts_in("policy") == ["b.example"]
    assert await hosts_in("closed") == ["c.example"]
    assert await hosts_in("open") == ["a.example", "b.example"]
    assert await hosts_in("asked") == []
    assert (await api.get("hosts?state=elsewhere")).status == 422
    page = (await api.get("/console/hosts?state=closed")).body.decode()
    assert "c.example</bdi>" in page
    assert "a.example</bdi>" not in page
    first = (await api.get("hosts?state=open&limit=1")).json
    second = (await api.get(f"hosts?state=open&limit=1&cursor={first['cursor']}")).json
    assert {first["hosts"][0]["host"], second["hosts"][0]["host"]} == {"a.example", "b.example"}


async def test_robots_is_asked_anew_and_says_what_it_says_now(reaching: ApiCaller, site: Served) -> None:
    site.pages["/robots.txt"] = SitePage(ROBOTS, "text/plain")
    await reaching.post("frontier/submit", {"url": f"{site.url}/private/1"})
    path = f"/console/hosts/{HOST}"
    await reaching.services.database.execute(
        "insert into robots (bucket, host, scheme, port, access, fetched_at, expires_at)"
        " select bucket, host, 'http', $1, 'allow_all', now(), now() + interval '1 day' from hosts",
        site.port,
    )
    before = len(site.asked())
    said = await followed(reaching, await send(reaching, f"{path}/robots"))
    assert "Its robots.txt was asked for anew." in said
    assert site.asked()[before:] == ["/robots.txt"]
    assert "/private" in said
    check = (await reaching.get(f"hosts/{HOST}/robots?check={site.url}/private/1")).json["check"]
    assert (check["allowed"], check["line"]) == (False, 2)
    rights = (await reaching.get(f"hosts/{HOST}/rights")).json
    assert rights["train"] == "refused"
    assert "Content-Usage" in said or "train-ai=n" in said
    # Within the delay of its host it is asked for before the next request.
    await reaching.put(f"hosts/{HOST}/policy", {"min_request_interval_ms": 60_000})
    await reaching.services.database.execute("update hosts set next_slot_at = now() + interval '1 minute'")
    told = (await reaching.post(f"hosts/{HOST}/robots/refetch")).json
    assert (told["asked"], told["left"]) == ([], [site.url])
    assert 0 < told["wait_seconds"] <= 60
    assert await reaching.services.database.fetchval("select expires_at <= clock_timestamp() from robots")
    assert (await reaching.post("hosts/nobody.example/robots/refetch")).status == 404


async def test_what_site_owners_ask_is_decided_by_api_and_command(api: ApiCaller, database_url: str) -> None:
    places = ("one.example", "two.example", "three.example")
    for place in places:
        await send(api, "/crawler", place=place, contact="ann@harbour.example", reason="<b>please\x1b[31m")
    listed = (await api.get("takedown-requests")).json["requests"]
    assert [one["place"] for one in listed] == list(places)
    assert await command(database_url, "takedown", "requests") == {"requests": listed}
    first, second, third = (one["id"] for one in listed)
    done = await ended(api, await api.post(f"takedown-requests/{first}/accept"))
    assert done["state"] == "done"
    assert (await api.post(f"takedown-requests/{second}/refuse")).json["place"] == "two.example"
    assert (await api.post(f"takedown-requests/{second}/accept")).status == 404
    assert b"three.example is taken down" in await command_says(database_url, "takedown", "accept", third)
    assert [one["domain_or_url"] for one in (await api.get("takedowns")).json["takedowns"]] == [
        "one.example",
        "three.example",
    ]
    assert (await api.get("takedown-requests")).json["requests"] == []
