"""Two people at one form: the second save is told what the first one changed, and undoes nothing of it."""

import re
from html import unescape

from tests.integration.serve.callers import ApiCaller, Reply
from tests.integration.serve.console.forms import followed, send, text_of
from tests.integration.serve.console.test_sources import SOURCES, add, fail


def hidden_in(page: Reply) -> dict[str, str]:
    """What the form of a page sends back by itself."""
    found = re.findall(r'<input[^>]*name="(edition|marks)"[^>]*>', page.body.decode())
    values = {}
    for name in found:
        tag = re.search(rf'<input[^>]*name="{name}"[^>]*>', page.body.decode())
        value = tag and re.search(r'value="([^"]*)"', tag[0])
        values[name] = unescape(value[1]) if value else ""
    return values


async def test_a_form_that_is_older_than_what_is_stored_changes_nothing(api: ApiCaller) -> None:
    one = await add(api, "Harbour", feed_url="https://harbour.example/feed.xml", tags=["sea"])
    path = f"{SOURCES}/{one}/settings"
    made_from = hidden_in(await api.get(path))
    await api.patch(f"sources/{one}", {"priority": 8, "org_type": "newspaper"})
    old = {"name": "Harbour", "tags": "sea", "org_type": "", **made_from}
    refused = await send(api, path, **old, priority="3", timezone="Europe/Paris")
    told = text_of(refused)
    assert refused.status == 409
    for part in ("was changed since you opened the form", "Priority is now “8”; you typed “3”", "by developer at",
                 "Organisation type is now “newspaper”."):  # fmt: skip
        assert part in told, part
    now = (await api.get(f"sources/{one}")).json
    assert (now["priority"], now["org_type"], now["timezone"]) == (8, "newspaper", None)
    # The form again: what was typed, and what others stored meanwhile.
    for value in ('value="3"', 'value="newspaper"', 'value="Europe/Paris"'):
        assert value.encode() in refused.body, value
    mine = old | hidden_in(refused) | {"org_type": "newspaper", "priority": "3", "timezone": "Europe/Paris"}
    said = await followed(api, await send(api, path, **mine))
    assert "Changed: time zone, priority." in said
    now = (await api.get(f"sources/{one}")).json
    assert (now["priority"], now["org_type"], now["timezone"]) == (3, "newspaper", "Europe/Paris")


async def test_a_form_that_a_poll_outlived_is_saved(api: ApiCaller) -> None:
    one = await add(api, "Harbour", feed_url="https://harbour.example/feed.xml")
    path = f"{SOURCES}/{one}/settings"
    made_from = hidden_in(await api.get(path))
    await api.services.database.execute("update sources set last_run_at = now(), last_run_status = 'ok'")
    await fail(api, one)
    assert "Changed: priority." in await followed(api, await send(api, path, **made_from, priority="3"))


async def test_a_view_is_not_saved_over_a_newer_one(api: ApiCaller) -> None:
    await api.post("views", {"name": "boats", "query": "ferry"})
    made_from = hidden_in(await api.get("/console/views/boats"))
    await api.patch("views/boats", {"languages": ["da"]})
    refused = await send(api, "/console/views/boats", query="harbour", **made_from)
    assert refused.status == 409
    assert "It is now: “ferry”; in da." in text_of(refused)
    assert (await api.get("views/boats")).json["query"] == "ferry"
    again = await send(api, "/console/views/boats", query="harbour", **hidden_in(refused))
    assert "The view is changed." in await followed(api, again)
