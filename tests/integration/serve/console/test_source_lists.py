"""How lists of sources are sorted and cut, and what they and their pages say of push, freshness and pace."""

from urllib.parse import quote

from tests.integration.serve.callers import ApiCaller
from tests.integration.serve.console.forms import send, text_of
from tests.integration.serve.console.test_sources import SOURCES, add, ended, statuses


async def test_lists_are_sorted_and_lead_on_by_key(api: ApiCaller) -> None:
    for name in ("Cedar", "Ash", "Birch", "Dill"):
        await add(api, name, feed_url=f"https://{name.lower()}.example/feed.xml")
    await api.services.database.execute(
        "update channels set next_poll_at = now() + interval '1 hour' * (length(url) - 20), last_polled_at = now(),"
        " consecutive_errors = case when url like '%ash%' then 2 when url like '%dill%' then 7 else 0 end"
    )
    await api.services.database.execute("update channels set last_polled_at = null where url like '%birch%'")
    await api.services.database.execute("update sources set created_at = now() - interval '1 day' * length(name)")

    async def in_order(order: str, most: int = 1) -> list[str]:
        names: list[str] = []
        cursor = ""
        while cursor is not None:
            found = (await api.get(f"sources?order={order}&limit={most}&cursor={quote(cursor)}" if cursor else
                                   f"sources?order={order}&limit={most}")).json  # fmt: skip
            names += [one["name"] for one in found["sources"]]
            cursor = found["cursor"]
        return names

    assert await in_order("name") == ["Ash", "Birch", "Cedar", "Dill"]
    assert await in_order("next") == ["Ash", "Dill", "Birch", "Cedar"] or await in_order("next") == [
        "Ash", "Dill", "Cedar", "Birch"]  # fmt: skip
    assert await in_order("next") == await in_order("next", 50)
    assert await in_order("-errors") == ["Dill", "Ash"]
    assert await in_order("-added") == list(reversed(await in_order("added")))
    assert len(await in_order("added")) == 4
    page = await api.get(f"{SOURCES}?order=-errors&status=failing")
    told = text_of(page)
    assert told.index("Dill") < told.index("Ash ")
    assert "2 of 2 shown" in told
    note = "By errors in a row: only those that have some."
    assert note not in told
    assert note in text_of(await api.get(f"{SOURCES}?order=-errors"))
    assert b'aria-sort="descending"' in page.body
    assert (await api.get(f"{SOURCES}?order=-errors&status=ok")).status == 422
    assert (await api.get("sources?order=sideways")).status == 422
    assert (await api.get("sources?order=next&cursor=x")).status == 422


async def test_late_and_idle_sources_have_segments_of_their_own(api: ApiCaller) -> None:
    late, idle = (
        await add(api, "Late", feed_url="https://l.example/f"),
        await add(api, "Idle", feed_url="https://i.example/f"),
    )
    await add(api, "Fine", feed_url="https://f.example/f")
    database = api.services.database
    await database.execute("update channels set last_polled_at = now(), last_new_at = now()")
    await database.execute("update channels set next_poll_at = now() - interval '20 min' where source_id = $1", late)
    await database.execute("update channels set last_new_at = now() - interval '31 days' where source_id = $1", idle)
    told = text_of(await api.get(SOURCES))
    for part in ("Overdue 1", "Idle 1", "All 3"):
        assert part in told, part
    for status, name in (("overdue", "Late"), ("idle", "Idle")):
        page = text_of(await api.get(f"{SOURCES}?status={status}"))
        assert "1 of 1 shown" in page
        assert name in page
        assert "Fine" not in page
        for order in ("added", "-added", "next"):
            listed = (await api.get(f"sources?status={status}&order={order}")).json["sources"]
            assert [one["name"] for one in listed] == [name], order
    done = await ended(api, await send(api, f"{SOURCES}/change", query="status=overdue", all_matching="yes", do="pause",
                                       confirmed="yes", counted="1 source"))  # fmt: skip
    assert done["done"] == 1
    assert await statuses(api) == {"Late": "paused", "Idle": "active", "Fine": "active"}


async def test_push_is_told_in_the_list_and_on_the_page(api: ApiCaller) -> None:
    one = await add(api, "Harbour", feed_url="https://harbour.example/feed.xml")
    channel = await api.services.database.fetchval(
        "select id from channels where source_id = $1 and kind = 'feed'", one
    )
    await api.services.database.execute(
        "insert into subscriptions (channel_id, protocol, hub, hub_host, topic)"
        " values ($1, 'websub', 'https://hub.example/', 'hub.example', 'https://harbour.example/feed.xml')",
        channel,
    )
    for path in (SOURCES, f"{SOURCES}/{one}"):
        assert "its hub is not asked yet, polling" in text_of(await api.get(path)), path


async def test_a_source_tells_its_freshness_and_the_pace_of_its_host(api: ApiCaller) -> None:
    one = await add(api, "Harbour", feed_url="https://harbour.example/feed.xml")
    told = text_of(await api.get(f"{SOURCES}/{one}"))
    for part in ("Freshness", "Publication to discovery", "95 % within", "Pace of its host"):
        assert part in told, part


async def test_a_site_that_cannot_even_be_searched_is_not_unknown(api: ApiCaller) -> None:
    """Its search for channels is all that is known of it."""
    await api.post("sources", {"url": "https://gone.example/"})
    assert (await api.get("sources")).json["sources"][0]["health"] == "unknown"
    await api.services.database.execute(
        "update channels set consecutive_errors = 1, class_errors = 1, error_class = 'dns',"
        " error_cause = 'dead_domain', last_error = 'there is no such name', last_polled_at = now()"
    )
    (source,) = (await api.get("sources")).json["sources"]
    assert [one["kind"] for one in source["problems"]] == ["dead_domain"]
    assert source["health"] == "struggling"
