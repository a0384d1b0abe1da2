"""The pages about sources: what they show, whom they let change what, and texts of others."""

from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from tests.integration.serve.callers import ApiCaller, Reply, api_on
from tests.integration.serve.console.forms import FORM, HOSTILE, followed, require_inert, send, text_of
from tests.integration.serve.people import add_user, browser_of

from headwater.accounts.role import Role
from headwater.database.pool import Database

SOURCES = "/console/sources"


async def add(api: ApiCaller, name: str, **more: object) -> UUID:
    said = {"url": f"https://{name.lower().replace(' ', '-')}.example/", "name": name, **more}
    answer = await api.post("sources", said)
    assert answer.status == 201, answer.body
    return UUID(answer.json["id"])


async def fail(api: ApiCaller, *sources: UUID) -> None:
    await api.services.database.execute(
        "update channels set consecutive_errors = 3, last_error = 'HTTP 500', error_class = 'server'"
        " where source_id = any ($1::uuid[])",
        list(sources),
    )


async def statuses(api: ApiCaller) -> dict[str, str]:
    rows = await api.services.database.fetch("select name, status from sources where url_hash is not null")
    return {row["name"]: row["status"] for row in rows}


async def ended(api: ApiCaller, answer: Reply) -> dict[str, object]:
    """The operation whose page an answer led to."""
    path = answer.headers["location"]
    assert path.startswith("/console/operations/"), answer.body
    while (told := (await api.get(f"operations/{path.rpartition('/')[2]}")).json)["state"] == "running":
        pass
    result: dict[str, object] = told["result"]
    return result


async def test_the_empty_list_says_what_to_do(api: ApiCaller) -> None:
    page = await api.get(SOURCES)
    assert page.status == 200
    assert "No sources yet. Paste the address of a site" in text_of(page)


async def test_the_list_shows_how_each_source_stands(api: ApiCaller) -> None:
    good = await add(api, "Harbour", feed_url="https://harbour.example/feed.xml", interval="15m")
    bad = await add(api, "Gazette", feed_url="https://gazette.example/feed.xml")
    await fail(api, bad)
    page = await api.get(SOURCES)
    told = text_of(page)
    for said in ("All 2", "Failing 1", "Active 2", "Harbour", "harbour.example", "feed", "2 of 2 shown", "Healthy"):
        assert said in told, said
    assert "Paused" not in told.partition("Name begins with")[0]
    assert f"/console/sources/{good}".encode() in page.body
    failing = text_of(await api.get(f"{SOURCES}?status=failing"))
    assert "Gazette" in failing
    assert "Harbour" not in failing


async def test_counts_of_states_follow_the_other_filters(api: ApiCaller) -> None:
    await add(api, "Harbour", kind="jobs", tags=["sea"])
    await add(api, "Gazette", tags=["land"])
    await api.post("sources/gazette.example/pause")
    told = text_of(await api.get(f"{SOURCES}?kind=news"))
    assert "All 1" in told
    assert "Paused 1" in told
    by_tag = text_of(await api.get(f"{SOURCES}?tag=sea"))
    assert "All 1" in by_tag
    assert "Paused 1" not in by_tag
    assert "Gazette" not in text_of(await api.get(f"{SOURCES}?mode=both"))


async def test_a_filter_that_cannot_be_is_told(api: ApiCaller) -> None:
    for wrong in ("status=strange", "kind=%3Cscript%3Ealert", "mode=odd", "cursor=none"):
        page = await api.get(f"{SOURCES}?{wrong}")
        assert page.status == 422, wrong
        require_inert(page)


async def test_pages_follow_by_key(api: ApiCaller) -> None:
    lines = "\n".join(f"https://site-{number:03d}.example/" for number in range(60))
    await ended(api, await send(api, f"{SOURCES}/import", list=lines, do="import"))
    first = await api.get(SOURCES)
    assert "50 of 60 shown" in text_of(first)
    following = first.body.decode().partition('rel="next"')[0].rpartition('href="')[2].partition('"')[0]
    second = await api.get(following.replace("&amp;", "&"))
    assert "10 of 60 shown" in text_of(second)
    assert "site-059.example" in text_of(second)


async def test_chosen_sources_are_changed_at_once(api: ApiCaller) -> None:
    one, other = await add(api, "One"), await add(api, "Other")
    await add(api, "Third")
    both = [("chosen", str(one)), ("chosen", str(other))]
    told = await followed(api, await send(api, f"{SOURCES}/change", *both, do="pause"))
    assert "2 sources paused." in told
    assert await statuses(api) == {"One": "paused", "Other": "paused", "Third": "active"}
    told = await followed(api, await send(api, f"{SOURCES}/change", *both, do="pause"))
    assert "0 sources paused, 2 left as they were: One: It is paused already." in told
    told = await followed(api, await send(api, f"{SOURCES}/change", both[0], do="resume"))
    assert "1 source resumed." in told
    told = await followed(api, await send(api, f"{SOURCES}/change", do="pause"))
    assert "No source was chosen: nothing was done." in told


async def test_all_that_match_are_decided_by_the_filter(api: ApiCaller) -> None:
    failing = [await add(api, f"Bad {number}", feed_url=f"https://bad-{number}.example/f") for number in range(3)]
    good = await add(api, "Good", feed_url="https://good.example/f")
    await fail(api, *failing)
    # The row that is chosen beside it does not match, and is not what was meant.
    sent = {"query": "status=failing", "all_matching": "yes", "do": "pause", "chosen": str(good)}
    asked = await send(api, f"{SOURCES}/change", **sent)
    assert (asked.status, "Pause 3 sources?" in text_of(asked)) == (200, True)
    assert set((await statuses(api)).values()) == {"active"}
    result = await ended(api, await send(api, f"{SOURCES}/change", **sent, confirmed="yes"))
    assert result["done"] == 3
    assert await statuses(api) == {"Bad 0": "paused", "Bad 1": "paused", "Bad 2": "paused", "Good": "active"}


async def test_health_cannot_choose_all_that_match(api: ApiCaller) -> None:
    await add(api, "One")
    sent = {"query": "status=ok", "all_matching": "yes", "do": "pause", "confirmed": "yes"}
    assert (await send(api, f"{SOURCES}/change", **sent)).status == 422
    assert await statuses(api) == {"One": "active"}


async def test_deleting_asks_with_the_count(api: ApiCaller) -> None:
    one = await add(api, "One")
    asked = await send(api, f"{SOURCES}/change", do="delete", chosen=str(one))
    assert "Delete 1 source?" in text_of(asked)
    assert await statuses(api) == {"One": "active"}
    told = await followed(api, await send(api, f"{SOURCES}/change", do="delete", chosen=str(one), confirmed="yes"))
    assert "1 source deleted." in told
    assert await statuses(api) == {"One": "deleted"}


async def test_interval_policy_and_tags_of_many(api: ApiCaller) -> None:
    one = str(await add(api, "One"))
    sent = {"do": "settings", "chosen": one}
    assert "Interval of polls" in text_of(await send(api, f"{SOURCES}/change", **sent))
    wrong = await send(api, f"{SOURCES}/change", **sent, interval="often", confirmed="yes")
    assert (wrong.status, "Interval: should be a duration" in text_of(wrong)) == (422, True)
    await followed(api, await send(api, f"{SOURCES}/change", **sent, interval="45m", policy="fixed", confirmed="yes"))
    await followed(api, await send(api, f"{SOURCES}/change", do="tag", tags="sea, land", chosen=one, confirmed="yes"))
    told = (await api.get(f"sources/{one}")).json
    assert (told["poll_every_seconds"], told["policy"], told["tags"]) == (2700, "fixed", ["sea", "land"])
    back = {"interval": "learn", "policy": "usual", "confirmed": "yes"}
    await followed(api, await send(api, f"{SOURCES}/change", **sent, **back))
    told = (await api.get(f"sources/{one}")).json
    assert (told["poll_every_seconds"], told["policy"]) == (None, None)
    assert (await send(api, f"{SOURCES}/change", do="tag", tags=" ", chosen=one, confirmed="yes")).status == 422


async def test_chosen_or_matching_sources_are_exported(api: ApiCaller) -> None:
    one = await add(api, "One", feed_url="https://one.example/feed")
    await add(api, "Two", tags=["sea"])
    chosen = await send(api, f"{SOURCES}/change", do="export-urls", chosen=str(one))
    assert chosen.headers["content-disposition"] == 'attachment; filename="sources.txt"'
    assert b"one.example" in chosen.body
    assert b"two.example" not in chosen.body
    matching = await api.get(f"{SOURCES}/export/csv?tag=sea")
    assert b"two.example" in matching.body
    assert b"one.example" not in matching.body
    assert (await api.get(f"{SOURCES}/export/odd")).status == 422


async def test_a_list_is_tried_and_then_brought_in(api: ApiCaller) -> None:
    await add(api, "Known", url="https://known.example/")
    said = "https://new.example/\nhttps://known.example/\nhtp://foo\n" + HOSTILE
    tried = await send(api, f"{SOURCES}/import", list=said, do="try")
    told = text_of(tried)
    require_inert(tried)
    for part in ("Would be added 1", "Known already 1", "Cannot be followed 2", "Import 1 source", "did you mean"):
        assert part in told, part
    assert set(await statuses(api)) == {"Known"}
    result = await ended(api, await send(api, f"{SOURCES}/import", list=said, do="import"))
    assert (result["added"], result["known"], result["invalid_count"]) == (1, 1, 2)
    assert (await send(api, f"{SOURCES}/import", list="  ", do="try")).status == 422


async def test_a_source_is_told_with_its_reasons(api: ApiCaller) -> None:
    one = await add(api, "Harbour", feed_url="https://harbour.example/feed.xml", time_window="22:00-05:00")
    told = text_of(await api.get(f"{SOURCES}/{one}"))
    for part in ("Why it runs when it runs", "22:00-05:00 UTC", "Its week", "not asked yet", "What happened to it"):
        assert part in told, part
    assert (await api.get(f"{SOURCES}/harbour.example")).headers["location"] == f"{SOURCES}/{one}"
    assert (await api.get(f"{SOURCES}/no-such-source")).status == 404
    for tab in ("runs", "urls", "documents", "template", "settings"):
        page = await api.get(f"{SOURCES}/{one}/{tab}")
        assert (page.status, b'aria-current="page"' in page.body) == (200, True), tab


async def test_every_field_can_be_changed_and_what_was_left_stays(api: ApiCaller) -> None:
    one = await add(
        api, "Harbour", feed_url="https://harbour.example/feed.xml", sitemap_url="https://harbour.example/s"
    )
    path = f"{SOURCES}/{one}/settings"
    fields = {
        "name": "Harbour News",
        "org_type": "newspaper",
        "tags": "sea, land",
        "interval": "30m",
        "crawl_frequency_days": "2",
        "time_window": "22:00-05:00",
        "timezone": "Europe/Paris",
        "parser_hint": "div.vacancy",
        "more_sitemaps": "https://harbour.example/s2",
        "include_paths": "/news\n/sport",
        "priority": "7",
        "selectors": '{"article": {"title": "h1"}}',
        "ingestion_mode": "feed",
    }
    told = await followed(api, await send(api, path, **fields))
    assert "Changed: name" in told
    now = (await api.get(f"sources/{one}")).json
    assert (now["name"], now["org_type"], now["tags"], now["priority"]) == (
        "Harbour News", "newspaper", ["sea", "land"], 7,
    )  # fmt: skip
    assert (now["poll_every_seconds"], now["timezone"], now["parser_hint"]) == (1800, "Europe/Paris", "div.vacancy")
    assert (now["feed_url"], now["sitemap_url"]) == ("https://harbour.example/feed.xml", "https://harbour.example/s")
    assert now["include_paths"] == ["/news", "/sport"]
    # The form as it is shown now, sent again, changes nothing.
    assert "Nothing was changed." in await followed(api, await send(api, path, **fields))


async def test_what_cannot_be_is_told_beside_its_field(api: ApiCaller) -> None:
    one = await add(api, "Harbour")
    path = f"{SOURCES}/{one}/settings"
    page = await send(api, path, name=HOSTILE, timezone="Mars/Olympus", feed_url="htp://x", selectors="[1]")
    told = text_of(page)
    require_inert(page)
    assert page.status == 422
    for part in ("Time zone: should be the name of a time zone", "did you mean http", "should be a JSON object"):
        assert part in told, part
    assert b'value="Mars/Olympus"' in page.body
    assert (await api.get(f"sources/{one}")).json["name"] == "Harbour"
    # Not one field, but what they are together.
    odd = await send(api, path, allowed_domains="https://harbour.example/news")
    assert odd.status == 422
    assert "This was not done." in text_of(odd)


async def test_hostile_texts_are_inert_on_every_page(api: ApiCaller) -> None:
    one = await add(api, "Harbour", feed_url="https://harbour.example/<script>alert(1)</script>?a='\"")
    database = api.services.database
    await database.execute("update sources set name = $1, tags = $2, org_type = $1", HOSTILE, [HOSTILE])
    await database.execute("update channels set last_error = $1, next_reason = $1, consecutive_errors = 2", HOSTILE)
    await database.execute(
        "update sources set last_run_message = $1, last_run_status = 'fail', last_run_at = now()", HOSTILE
    )
    base = f"{SOURCES}/{one}"
    for path in (SOURCES, base, *(f"{base}/{tab}" for tab in ("runs", "urls", "documents", "template", "settings"))):
        page = await api.get(path)
        assert page.status == 200, path
        require_inert(page)
    require_inert(await send(api, f"{SOURCES}/change", do="delete", chosen=str(one)))
    require_inert(await api.get(f"{SOURCES}/add?url=%22%3E%3Cscript%3Ealert(1)"))


@pytest.fixture
async def known(database_url: str, database: Database) -> AsyncIterator[ApiCaller]:
    """Where people log in."""
    await add_user(database, "ann", Role.OPERATOR)
    await add_user(database, "ben", Role.VIEWER)
    async with api_on(database_url) as caller:
        yield caller


async def test_viewers_look_and_change_nothing(known: ApiCaller) -> None:
    ann = await browser_of(known, "ann")
    said = {"url": "https://harbour.example/", "parser_hint": "secret-recipe"}
    one = (await ann.ask("POST", "sources", said)).json["id"]
    ben = await browser_of(known, "ben")
    listed = await ben.ask("GET", SOURCES)
    assert (listed.status, b"Add source" in listed.body, b'name="chosen"' in listed.body) == (200, False, False)
    settings = await ben.ask("GET", f"{SOURCES}/{one}/settings")
    assert (settings.status, b"<textarea" in settings.body, b"secret-recipe" in settings.body) == (200, False, False)
    assert (await ben.ask("GET", f"{SOURCES}/add")).status == 403
    changes = ("change", "add", "import", f"{one}/settings", f"{one}/do", f"{one}/test", f"{one}/simulate")
    for path in changes:
        asked = await ben.ask("POST", f"{SOURCES}/{path}", b"do=delete", content_type=FORM)
        assert asked.status == 403, path


async def test_changes_need_the_token_and_are_audited(known: ApiCaller) -> None:
    ann = await browser_of(known, "ann")
    one = (await ann.ask("POST", "sources", {"url": "https://harbour.example/"})).json["id"]
    bare = await ann.ask("POST", f"{SOURCES}/{one}/do", b"do=pause", content_type=FORM, x_csrf_token="")
    assert bare.status == 403
    done = await ann.ask("POST", f"{SOURCES}/{one}/do", b"do=pause", content_type=FORM)
    assert done.status == 303
    noted = "select actor from audit_log where target like $1"
    lines = await known.services.database.fetch(noted, f"%{one}/do")
    assert [row["actor"] for row in lines] == ["ann"]


async def test_nobody_deletes_more_sources_than_were_agreed_to(api: ApiCaller) -> None:
    for n in range(2):
        assert (await api.post("sources", {"url": f"https://s{n}.example/"})).status == 201
    wish = {"do": "delete", "all_matching": "yes", "query": "", "confirmed": "yes", "counted": "1 source"}
    asked = await send(api, f"{SOURCES}/change", **wish)
    assert (asked.status, b"2 sources" in asked.body) == (422, True)
    assert len((await api.get("sources")).json["sources"]) == 2
