"""Pausing everything, the log of runs, and the list of problems with its buttons."""

import json
from urllib.parse import urlencode
from uuid import uuid4

from tests.integration.serve.callers import ApiCaller, Reply
from tests.integration.serve.console.forms import HOSTILE, require_inert, text_of
from tests.integration.serve.console.hostile import put_hostile_rows

from headwater.database.pool import Database
from headwater.run.presence import queries as presence_queries
from headwater.serve.console.site_owners import DECIDE

FORM = "application/x-www-form-urlencoded"


async def send_form(api: ApiCaller, path: str, **fields: str) -> Reply:
    return await api.post(path, urlencode(fields).encode(), content_type=FORM, origin=api.address)


async def follow_said(api: ApiCaller, sent: Reply) -> str:
    """The page after a change, with what it says."""
    assert sent.status == 303, sent.body
    cookie = sent.headers["set-cookie"].partition(";")[0]
    return (await api.get(sent.headers["location"], cookie=cookie)).body.decode()


async def test_everything_is_paused_and_goes_on(api: ApiCaller) -> None:
    asked = await send_form(api, "/console/crawl/pause")
    assert (asked.status, b"Pause everything?" in asked.body) == (200, True)
    assert (await api.get("crawl/status")).json["pause"] is None
    done = await follow_said(api, await send_form(api, "/console/crawl/pause", confirmed="yes", reason="<i>moving</i>"))
    assert "Everything is paused." in done
    assert "&lt;i&gt;moving&lt;/i&gt;" in done
    paused = (await api.get("crawl/status")).json["pause"]
    assert (paused["set_by"], paused["reason"]) == ("developer", "<i>moving</i>")
    again = (await api.post("crawl/pause", {"reason": "another"})).json
    assert again["reason"] == "<i>moving</i>"
    problems = (await api.get("problems")).json["problems"]
    assert [one["kind"] for one in problems if one["about"] == "the queue"] == ["paused"]
    elsewhere = await send_form(api, "/console/crawl/resume", next="//evil.example")
    assert elsewhere.headers["location"] == "/console/crawl"
    assert (await api.post("crawl/resume")).json == {"was_paused": False}
    assert "paused everything" not in (await api.get("/console")).body.decode()
    events = (await api.get("events")).json["events"]
    assert [one["kind"] for one in events] == ["crawl_resumed", "crawl_paused"]


async def test_a_pause_holds_for_every_claim(api: ApiCaller) -> None:
    database = api.services.database
    _, channel = await put_hostile_rows(api)
    claim = "select id from claim_channels('one', 5, interval '1 minute') where id is not null"
    assert await database.fetch(claim) == []
    await send_form(api, "/console/crawl/resume")
    assert [row["id"] for row in await database.fetch(claim)] == [channel]


async def test_what_was_changed_is_audited_and_what_was_asked_is_not(api: ApiCaller, database: Database) -> None:
    await send_form(api, "/console/crawl/pause")
    assert await database.fetchval("select count(*) from audit_log") == 0
    await send_form(api, "/console/crawl/pause", confirmed="yes", reason="moving", csrf_token="canary")
    (line,) = await database.fetch("select actor, action, details::text from audit_log")
    assert (line["actor"], line["action"]) == ("developer", "pause_all")
    assert "moving" in line["details"]
    assert "canary" not in line["details"]


async def test_runs_are_filtered_in_the_address(api: ApiCaller) -> None:
    source, _ = await put_hostile_rows(api)
    for query, has_run in (
        ("", True),
        ("?status=fail&since=1h", True),
        ("?status=ok", False),
        (f"?source={source}", True),
    ):
        page = (await api.get(f"/console/crawl{query}")).body.decode()
        assert (">789\N{NO-BREAK SPACE}ms<" in page) == has_run, query
    unknown = (await api.get("/console/crawl?source=none.example")).body.decode()
    assert 'aria-invalid="true"' in unknown


async def test_a_problem_has_one_thing_to_do(api: ApiCaller, database: Database) -> None:
    source, channel = await put_hostile_rows(api)
    page = (await api.get("/console")).body.decode()
    assert 'href="/console/requests"' in page
    assert 'action="/console/crawl/resume"' in page
    polled = await send_form(api, "/console/problems/poll-source", source=str(source))
    assert "is polled as soon as its hosts allow" in await follow_said(api, polled)
    assert await database.fetchval("select trigger from channels where id = $1", channel) == "manual"
    missing = await send_form(api, "/console/problems/resume-sink", sink="none")
    assert (missing.status, b"<h1>Not Found</h1>" in missing.body) == (404, True)


async def test_a_site_owner_asks_and_a_person_decides(api: ApiCaller, database: Database) -> None:
    asked = {"place": "https://harbour.example/members", "contact": "ann@harbour.example", "reason": "please"}
    assert (await send_form(api, "/crawler", **asked)).status == 200
    assert await database.fetchval("select count(*) from takedowns") == 0
    (problem,) = [one for one in (await api.get("problems")).json["problems"] if one["kind"] == "takedown_asked"]
    assert problem["what"] == "1 site owner asks to be left alone."
    id_ = str(await database.fetchval("select id from takedown_requests"))
    first = await send_form(api, DECIDE, id=id_, is_granted="yes")
    assert (first.status, b"Take it down?" in first.body) == (200, True)
    granted = await send_form(api, DECIDE, id=id_, is_granted="yes", confirmed="yes")
    assert "is left alone from now on" in await follow_said(api, granted)
    assert await database.fetchval("select domain_or_url from takedowns") == "https://harbour.example/members"
    assert (await send_form(api, DECIDE, id=id_, is_granted="no")).status == 404
    begun = (await api.get("operations")).json["operations"]
    assert (begun[0]["kind"], len(begun)) == ("takedowns.apply", 1)


async def test_what_strangers_ask_is_bounded(api: ApiCaller, database: Database) -> None:
    fine = {"place": "harbour.example", "contact": "ann@harbour.example", "reason": ""}
    for wrong in ({"place": "no place"}, {"contact": "nobody"}, {"reason": "x" * 1_001}, {"place": "x" * 9_000}):
        answer = await send_form(api, "/crawler", **fine | wrong)
        assert (answer.status, b'role="alert"' in answer.body) == (422, True), wrong
    # The longest URL there is, whose name as a takedown is a letter longer.
    longest = f"http://harbour.example/{'p' * 2_060}"
    answer = await send_form(api, "/crawler", **fine | {"place": longest})
    assert (answer.status, b'role="alert"' in answer.body) == (422, True)
    statuses = [(await send_form(api, "/crawler", **fine)).status for _ in range(6)]
    assert statuses == [200] * 5 + [429]
    await database.execute("update takedown_requests set asked_at = now() - interval '2 days'")
    assert (await send_form(api, "/crawler", **fine)).status == 200


async def test_what_processes_warn_of_is_listed_and_sifted(api: ApiCaller) -> None:
    source = str(uuid4())
    lines = [
        {"at": "2026-05-04T10:00:00Z", "level": "warning", "event": "poll_failed", "host": "a.example", "why": HOSTILE},
        {"at": "2026-05-04T10:00:01Z", "level": "error", "event": "journey_broke", "source": source, "why": "a fault"},
    ]
    for role, line in zip(("poll", "fetch"), lines, strict=True):
        await api.services.database.execute(presence_queries.keep_lines, uuid4(), role, HOSTILE, 7, json.dumps([line]))
    page = await api.get("/console/crawl/log")
    require_inert(page)
    told = text_of(page)
    assert "Poll failed a.example" in told
    assert "Journey broke a fault" in told
    assert f"/console/sources/{source}".encode() in page.body
    only = text_of(await api.get("/console/crawl/log?level=error"))
    assert ("Journey broke" in only, "Poll failed" in only) == (True, False)
    assert "Of such lines there are none" in text_of(await api.get("/console/crawl/log?role=web&pid=x&level=none"))
    assert (await api.get("/console/crawl/log?cursor=x")).status == 422
    answer = (await api.get("workers/log?role=poll")).json
    assert [(one["event"], one["level"], one["pid"]) for one in answer["lines"]] == [("poll_failed", "warning", 7)]
    for wrong in ("level=info", "pid=x", "role=" + "x" * 101, "cursor=x", "rolle=poll"):
        assert (await api.get(f"workers/log?{wrong}")).status == 422, wrong
