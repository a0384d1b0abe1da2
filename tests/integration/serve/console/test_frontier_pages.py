"""The pages of the frontier: what their forms do, for one URL, for many, for a class of failures."""

from tests.integration.serve.callers import ApiCaller, ended
from tests.integration.serve.console.forms import followed, send


async def test_urls_are_looked_at_queued_fetched_again_and_forgotten(api: ApiCaller) -> None:
    await api.post("frontier/submit", {"url": "https://b.example/1"})
    text = "https://b.example/1\nhttps://b.example/2\nfile:///etc/passwd"
    looked = await send(api, "/console/frontier/add", urls=text, do="look")
    assert (looked.status, b"2 of 3 URLs can be queued" in looked.body) == (200, True)
    assert b"is known already: nothing is changed" in looked.body
    assert (await api.get("frontier")).json["total"] == 1
    assert (await send(api, "/console/frontier/add", urls=text, do="add")).status == 303
    rows = (await api.get("frontier")).json["urls"]
    assert len(rows) == 2
    listed = await api.get("/console/frontier?host=b.example&status=pending")
    assert listed.body.count(b'name="chosen"') == 2
    chosen = [("chosen", row["id"]) for row in rows]
    asked = await send(api, "/console/frontier/change", *chosen, do="remove", query="host=b.example")
    assert (asked.status, b"2 URLs" in asked.body) == (200, True)
    assert (await api.get("frontier")).json["total"] == 2
    done = await send(api, "/console/frontier/change", *chosen, do="remove", query="host=b.example", confirmed="yes")
    assert (done.status, done.headers["location"]) == (303, "/console/frontier?host=b.example")
    assert (await api.get("frontier")).json["total"] == 0
    nothing = await send(api, "/console/frontier/change", ("chosen", "x' or 1"), do="retry", query="")
    assert nothing.status == 303


async def test_all_that_match_are_queued_again_by_the_filters_not_by_the_rows(api: ApiCaller) -> None:
    for n in range(3):
        await api.post("frontier/submit", {"url": f"https://c{n}.example/"})
    await api.services.database.execute(
        "update url_frontier set status = 'dead', reason = 'not_found' where host <> 'c0.example'"
    )
    wish = {"do": "retry", "all_matching": "yes", "query": "status=dead"}
    asked = await send(api, "/console/frontier/change", **wish)
    assert (asked.status, b"Queue them again" in asked.body) == (200, True)
    begun = await send(api, "/console/frontier/change", **wish, confirmed="yes")
    assert begun.headers["location"].startswith("/console/operations/")
    while b"running" in (await api.get(begun.headers["location"])).body:
        pass
    assert len((await api.get("frontier?status=pending")).json["urls"]) == 3
    for do in ("retry", "kill", "remove", "raise"):
        refused = await send(api, "/console/frontier/change", do=do, all_matching="yes", query="")
        assert refused.status == 422, do


async def test_a_class_of_failures_is_retried_killed_and_forgotten(api: ApiCaller) -> None:
    for n in range(3):
        await api.post("frontier/submit", {"url": f"https://c{n}.example/"})
    await api.services.database.execute(
        "update url_frontier set status = 'dead', reason = 'not_found', last_error = '<b>HTTP 404</b>'"
    )
    page = (await api.get("/console/frontier/failures")).body.decode()
    assert "not found" in page
    assert "&lt;b&gt;HTTP 404" in page
    told = (await api.get("frontier/failures")).json["failures"]
    assert [(one["status"], one["reason"], one["entries"]) for one in told] == [("dead", "not_found", 3)]
    wish = {"do": "kill", "all_matching": "yes", "query": "status=dead&reason=not_found"}
    asked = await send(api, "/console/frontier/change", **wish)
    assert (asked.status, b'name="because"' in asked.body) == (200, True)
    begun = await send(api, "/console/frontier/change", **wish, confirmed="yes", because="an endless list")
    while b"running" in (await api.get(begun.headers["location"])).body:
        pass
    rows = (await api.get("frontier?status=dead")).json["urls"]
    assert {(one["reason"], one["last_error"]) for one in rows} == {("killed", "by developer: an endless list")}
    # A retry of all that is dead leaves alone what a person killed.
    done = await ended(api, await api.post("frontier/retry", {"status": "dead"}))
    assert done["result"] == {"retried": 0}
    done = await ended(api, await api.post("frontier/remove", {"status": "dead", "reason": "killed"}))
    assert done["result"] == {"removed": 3}


async def test_one_url_is_raised_killed_and_tells_its_way(api: ApiCaller) -> None:
    for n in range(3):
        await api.post("frontier/submit", {"url": f"https://c.example/{n}"})
    url = "https://c.example/2"
    one, path = {"url": url}, f"/console/frontier/url?url={url}"
    assert "ready" in (await api.get(path)).body.decode()
    raised = await send(api, "/console/frontier/url/raise", **one)
    assert "the next of its host" in await followed(api, raised)
    assert b"the first of its host" in (await api.get(path)).body
    asked = await send(api, "/console/frontier/url/kill", **one)
    assert (asked.status, b"until somebody revives it" in asked.body) == (200, True)
    killed = await send(api, "/console/frontier/url/kill", **one, confirmed="yes", because="<i>spam")
    assert killed.status == 303
    page = (await api.get(path)).body.decode()
    assert "by developer: &lt;i&gt;spam" in page
    assert '<ol class="timeline">' in page
    assert "set otherwise than its source, origin and depth say: 5 of its source" in page
    listed = (await api.get("frontier?reason=killed")).json["urls"]
    assert [row["url"] for row in listed] == [url]
    revived = (await api.post(f"frontier/{listed[0]['id']}/raise")).json
    assert (revived["status"], revived["priority"]) == ("pending", 10)
    again = (await api.post(f"frontier/{listed[0]['id']}/kill", {"because": "no"})).json
    assert (again["status"], again["reason"]) == ("dead", "killed")
    assert (await api.post(f"frontier/{listed[0]['id']}/kill", {"because": "x" * 501})).status == 422


async def test_a_dry_run_says_what_would_become_of_urls(api: ApiCaller) -> None:
    await api.post("frontier/submit", {"url": "https://d.example/1"})
    wish = {"urls": ["https://d.example/1", "https://d.example/2", "nonsense"], "dry_run": True}
    told = (await api.post("frontier/submit/bulk", wish)).json
    assert told["counts"] == {"duplicate": 1, "queued": 1, "rejected": 1}
    assert (await api.get("frontier")).json["total"] == 1
