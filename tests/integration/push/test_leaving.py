"""Hubs that are left when nobody wants their pushes, and what is told to a hub that anybody can listen to."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.integration.push.conftest import FEED, HUB, PushStage, feed

from headwater.discover.push.links import NamedHub, Protocol
from headwater.discover.push.subscribing import secrecies
from headwater.simweb.hubs import CHALLENGE, HubCall, HubManners

HOUR = timedelta(hours=1)


@pytest.mark.parametrize("end", ["paused", "deleted", "disabled"])
async def test_a_hub_whose_channel_is_polled_no_more_is_left(stage: PushStage, end: str) -> None:
    await stage.follow_and_subscribe()
    assert len(stage.hub.subscriptions) == 1
    await stop(stage, end)
    await stage.subscribe()
    assert stage.hub.asked[-1].keys() == {"hub.mode", "hub.topic", "hub.callback"}
    assert stage.hub.asked[-1]["hub.mode"] == "unsubscribe"
    assert stage.hub.subscriptions == {}
    assert await stage.database.fetchval("select count(*) from callbacks") == 0
    told = len(stage.hub.asked)
    await stage.subscribe()
    assert len(stage.hub.asked) == told


async def stop(stage: PushStage, end: str) -> None:
    if end == "disabled":
        await stage.database.execute("update channels set is_enabled = false, is_active = false")
    else:
        await stage.database.execute("update sources set status = $1", end)
        is_active = "c.is_enabled and s.status = 'active'"
        follow = f"update channels c set is_active = {is_active} from sources s where s.id = c.source_id"
        await stage.database.execute(follow)


async def test_a_source_that_is_resumed_is_subscribed_anew_and_has_to_be_proven_anew(stage: PushStage) -> None:
    await stage.follow_and_subscribe()
    await stop(stage, "paused")
    await stage.subscribe()
    await stop(stage, "active")
    await stage.subscribe()
    [one] = stage.hub.subscriptions.values()
    assert one.is_confirmed
    subscription = await stage.subscription()
    assert (subscription["state"], subscription["proofs"]) == ("active", 0)
    await stage.publish(feed("new"))
    assert "http://a.test/new" in await stage.entries()


async def test_a_hub_that_forgets_to_ask_back_is_answered_410_and_its_callback_goes_in_a_day(stage: PushStage) -> None:
    await stage.follow_and_subscribe()
    [one] = stage.hub.subscriptions.values()
    stage.hub.manners = HubManners(status=500)
    await stop(stage, "paused")
    await stage.subscribe()
    stage.hub.manners = HubManners()
    await stage.hub.publish(FEED, feed("new").body)
    assert stage.hub.heard[-1][1].status == 410
    assert await stage.database.fetchval("select count(*) from callbacks") == 1
    await stage.database.execute("update subscriptions set due_at = now()")
    await stage.subscribe()
    assert await stage.database.fetchval("select count(*) from callbacks") == 0
    assert one.callback


async def test_nobody_else_ends_a_subscription(stage: PushStage) -> None:
    """Neither who knows the callback while the channel is polled, nor who names another topic."""
    await stage.follow_and_subscribe()
    [one] = stage.hub.subscriptions.values()
    said = f"hub.mode=unsubscribe&hub.challenge={CHALLENGE}&hub.topic="
    place = urlsplit(one.callback)._replace(query=said + FEED).geturl()
    heard = await stage.hub._reach(HubCall("GET", place))
    assert heard.status == 404
    await stop(stage, "paused")
    heard = await stage.hub._reach(HubCall("GET", place.replace(FEED, "http://b.test/feed")))
    assert heard.status == 404
    assert await stage.database.fetchval("select count(*) from callbacks") == 1


@pytest.mark.parametrize(
    ("protocol", "hub", "has_network", "tries"),
    [
        (Protocol.WEBSUB, "https://hub.example/", False, (True,)),
        (Protocol.WEBSUB, "HTTPS://hub.example/", True, (True,)),
        (Protocol.WEBSUB, "http://hub.example/", False, (False,)),
        (Protocol.WEBSUB, "http://hub.example/", True, (True, False)),
        (Protocol.RSSCLOUD, "https://hub.example/", True, (False,)),
    ],
)
def test_a_secret_is_told_where_nobody_listens(protocol: Protocol, hub: str, has_network: bool, tries: Any) -> None:
    assert secrecies(NamedHub(protocol, hub, FEED), has_network=has_network) == tries


async def test_a_hub_over_http_out_there_hears_no_secret_and_its_pushes_are_reasons_to_poll(stage: PushStage) -> None:
    stage.subscriber = replace(stage.subscriber, has_network=False)
    await stage.follow_and_subscribe()
    assert "hub.secret" not in stage.hub.asked[0]
    [one] = stage.hub.subscriptions.values()
    assert one.is_confirmed
    await stage.publish(feed("forged"))
    assert "http://a.test/forged" not in await stage.entries()
    stage.site.pages["/feed"] = feed("true")
    await stage.poll()
    assert "http://a.test/true" in await stage.entries()


async def test_a_hub_over_http_in_our_own_network_is_told_one(stage: PushStage) -> None:
    await stage.follow_and_subscribe()
    assert len(stage.hub.asked) == 1
    assert stage.hub.asked[0]["hub.secret"]


async def test_a_hub_that_is_late_earns_no_trust(stage: PushStage) -> None:
    await stage.follow_and_subscribe(feed("old", hub=HUB))
    await stage.database.execute("update subscriptions set since = now() - interval '1 day'")
    for number in range(4):
        await stage.publish(feed(f"late-{number}", at=datetime.now(UTC) - HOUR))
    subscription = await stage.subscription()
    assert (subscription["proofs"], subscription["missed"]) == (0, 4)
    assert {f"http://a.test/late-{number}" for number in range(4)} <= await stage.entries()
