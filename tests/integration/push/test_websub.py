"""A feed whose hub pushes: from its first poll to what no poll found."""

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from urllib.parse import urlencode

import pytest
from tests.integration.push.conftest import FEED, HUB, PUBLIC, PushStage, feed, opened_stage

from headwater.discover.cadence.hubs import FIRST_PROOFS, PUSHED, SAFETY_EVERY
from headwater.discover.push.keeping import forget_pushes, look_after_quiet
from headwater.discover.push.subscription import LONGEST_LEASE
from headwater.discover.push.taking import CHANGED
from headwater.simweb.hubs import CHALLENGE, HubManners
from headwater.simweb.message import Page
from headwater.simweb.mischief.pace import SlowStart

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


async def test_an_item_that_is_pushed_is_queued_without_a_poll(stage: PushStage) -> None:
    """And 300: a push is answered 2xx."""
    await stage.follow_and_subscribe()
    assert [form["hub.mode"] for form in stage.hub.asked] == ["subscribe"]
    [one] = stage.hub.subscriptions.values()
    assert one.is_confirmed
    assert one.topic == FEED
    assert one.callback.startswith(f"{PUBLIC}/push/")
    assert len(one.secret) < 200
    polls = len(stage.path.visits())
    before = await stage.channel()
    await stage.publish(feed("old", "new"))
    assert stage.hub.heard[-1][1].status == 202
    assert "http://a.test/new" in await stage.entries()
    assert len(stage.path.visits()) == polls
    after = await stage.channel()
    assert {name for name in before if before[name] != after[name]} <= {
        "rhythm",
        "last_new_at",
        "newest_item_at",
        "updated_at",
        "foreign_day",
        "leased_at",
    }
    record = await stage.subscription()
    assert (record["proofs"], record["pushes"], record["missed"]) == (1, 1, 0)


async def test_pushes_in_time_earn_trust_and_a_poll_that_finds_more_takes_it(stage: PushStage) -> None:
    await stage.follow_and_subscribe()
    for number in range(FIRST_PROOFS):
        await stage.publish(feed(f"pushed-{number}"))
    known = [f"pushed-{number}" for number in range(FIRST_PROOFS)]
    stage.site.pages["/feed"] = feed("old", *known)
    [ran] = await stage.poll()
    assert ran.ending is not None
    assert ran.ending.next.reason == PUSHED
    assert SAFETY_EVERY / 2 < ran.ending.next.interval <= SAFETY_EVERY
    assert (await stage.subscription())["quiet_until"] is not None
    stage.site.pages["/feed"] = feed("old", *known, "missed", at=datetime.now(UTC) - timedelta(minutes=30))
    await stage.database.execute("update subscriptions set since = since - interval '1 day'")
    [ran] = await stage.poll()
    assert ran.ending is not None
    assert ran.ending.next.reason != PUSHED
    assert ran.ending.next.interval < SAFETY_EVERY / 2
    record = await stage.subscription()
    assert (record["proofs"], record["missed"], record["needed"]) == (0, 1, 2 * FIRST_PROOFS)
    assert record["quiet_until"] is None


async def test_an_interval_that_a_person_set_is_kept_whoever_pushes(stage: PushStage) -> None:
    stage.site.pages["/feed"] = feed("old")
    await stage.follow(poll_every=timedelta(minutes=30))
    await stage.poll()
    await stage.subscribe()
    await stage.database.execute("update subscriptions set proofs = 100")
    [ran] = await stage.poll()
    assert ran.ending is not None
    assert ran.ending.next.interval == timedelta(minutes=30)


async def test_a_trusted_hub_that_says_nothing_for_too_long_is_looked_after(stage: PushStage) -> None:
    await stage.follow_and_subscribe()
    await stage.database.execute("update channels set next_poll_at = now() + interval '1 day'")
    await stage.database.execute("update subscriptions set quiet_until = now() + interval '1 minute'")
    await look_after_quiet(stage.database)
    assert not await stage.database.fetchval("select bool_or(next_poll_at <= now()) from channels")
    await stage.database.execute("update subscriptions set quiet_until = now() - interval '1 minute'")
    await look_after_quiet(stage.database)
    assert await stage.database.fetchval("select bool_or(next_poll_at <= now()) from channels")
    assert (await stage.subscription())["quiet_until"] is None


@pytest.mark.parametrize("name", ["head", "page", "atom", "rss", "both"])
async def test_10x_hubs_are_found_wherever_they_are_named(stage: PushStage, name: str) -> None:
    """100: head; 101: page; 102: Atom; 103: RSS; 104: the head before the body."""
    other = f'<link rel="hub" href="{HUB}"/><link rel="self" href="{FEED}"/>'
    head = (("Link", f'<{HUB}>; rel="hub"'), ("Link", f'<{FEED}>; rel="self"'))
    page = {
        "head": replace(feed("old", hub="", topic=""), headers=head),
        "page": Page(f"<html><head>{other}</head><body><a href='/2026/11/a-story'>A story</a></body></html>".encode()),
        "atom": Page(f'<feed xmlns="http://www.w3.org/2005/Atom"><title>A</title>{other}</feed>'.encode(), "text/xml"),
        "rss": feed("old"),
        "both": replace(feed("old", hub="http://b.test/", topic="http://b.test/feed"), headers=head),
    }[name]
    stage.site.pages["/feed"] = page
    await stage.follow()
    await stage.database.execute("update channels set kind = $1", "listing" if name == "page" else "feed")
    await stage.poll()
    await stage.subscribe()
    assert [(one.topic, one.is_confirmed) for one in stage.hub.subscriptions.values()] == [(FEED, True)]


async def test_200_a_feed_that_calls_itself_otherwise_is_subscribed_to_by_that_name(stage: PushStage) -> None:
    await stage.follow_and_subscribe(feed("old", topic="http://b.test/the-feed"))
    [one] = stage.hub.subscriptions.values()
    assert (one.topic, one.is_confirmed) == ("http://b.test/the-feed", True)
    await stage.publish(feed("new", topic="http://b.test/the-feed"), "http://b.test/the-feed")
    assert "http://a.test/new" in await stage.entries()
    assert (await stage.channel())["url"] == FEED


@pytest.mark.parametrize(("status", "stays_at"), [(302, FEED), (301, "http://a.test/moved")])
async def test_201_202_a_topic_that_redirects_is_subscribed_to_where_it_is(
    stage: PushStage, status: int, stays_at: str
) -> None:
    stage.site.pages["/feed"] = Page(b"", status=status, headers=(("Location", "/moved"),))
    stage.site.pages["/moved"] = feed("old", topic="")
    await stage.follow()
    await stage.poll()
    await stage.subscribe()
    assert [one.topic for one in stage.hub.subscriptions.values()] == ["http://a.test/moved"]
    await stage.publish(feed("new", topic=""), "http://a.test/moved")
    assert "http://a.test/new" in await stage.entries()
    assert (await stage.channel())["url"] == stays_at


@pytest.mark.parametrize(
    ("status", "place", "is_followed"), [(307, "/2", True), (308, "http://b.test/hub", True), (302, "/2", False)]
)
async def test_203_204_a_hub_that_redirects_is_followed_where_it_repeats_the_request(
    stage: PushStage, status: int, place: str, is_followed: bool
) -> None:
    hub, sites = stage.hub, stage.path.sim.sites
    away = Page(b"", "text/plain", status, (("Location", place),))

    class Moved:
        def page(self, request: object, now: datetime) -> Page | None:
            return hub.page(request, now) if getattr(request, "path", "") == "/2" else away  # type: ignore[arg-type]

    sites["hub.test"], sites["b.test"] = Moved(), hub  # type: ignore[index]
    await stage.follow_and_subscribe()
    assert [one.is_confirmed for one in hub.subscriptions.values()] == ([True] if is_followed else [])
    assert (await stage.subscription())["state"] == ("active" if is_followed else "failed")


async def test_205_only_what_is_pending_is_confirmed_and_only_its_topic(stage: PushStage) -> None:
    stage.hub.manners = HubManners(is_mute=True)
    await stage.follow_and_subscribe()
    [one] = stage.hub.subscriptions.values()
    place = one.callback.removeprefix(PUBLIC)

    async def asked(**said: str) -> tuple[int, bytes]:
        form = {f"hub.{name}": value for name, value in said.items()}
        reply = await stage.api.get(f"{place}?{urlencode(form)}", host="push.test")
        return reply.status, reply.body

    good = {"mode": "subscribe", "topic": FEED, "challenge": CHALLENGE, "lease_seconds": "86400"}
    assert (await stage.subscription())["state"] == "pending"
    for wrong in (
        {"topic": "http://a.test/other"},
        {"mode": "unsubscribe"},
        {"mode": "publish"},
        {"challenge": ""},
        {"challenge": "c" * 5_000},
    ):
        assert (await asked(**good | wrong))[0] == 404
    assert (await stage.api.get(f"/push/unknown?{urlencode({'hub.challenge': 'x'})}", host="push.test")).status == 404
    assert (await stage.subscription())["state"] == "pending"
    assert await asked(**good) == (200, CHALLENGE.encode())
    subscription = await stage.subscription()
    assert subscription["state"] == "active"
    assert (await asked(**good))[0] == 404
    lease = subscription["lease_until"] - subscription["since"]
    assert abs(lease - DAY) < timedelta(seconds=5)


async def test_301_302_what_is_not_signed_by_the_secret_changes_nothing(stage: PushStage) -> None:
    """Nor a push of a foreign topic, one that is sent again, one of 10 MB, one to an unknown callback."""
    await stage.follow_and_subscribe()
    await stage.publish(feed("first"))
    state = await stage.state()
    hub, page = stage.hub, feed("invented")
    for manners in (
        HubManners(signs="wrong"),
        HubManners(signs="not"),
        HubManners(speaks_of="http://b.test/other"),
        HubManners(method="md5"),
    ):
        hub.manners = manners
        await hub.publish(FEED, page.body, page.content_type)
        assert hub.heard[-1][1].status == 202
        assert await stage.state() == state
    hub.manners = HubManners(times=3)
    taken = len(stage.taken)
    await hub.publish(FEED, feed("first").body)
    await stage.read(taken + 3)
    foreign = feed("invented", topic="http://b.test/other")
    hub.manners = HubManners()
    # In the body alone: that is seen when it is read.
    hub.manners = replace(hub.manners, speaks_of=FEED)
    await stage.publish(foreign)
    assert stage.taken[-1].why_ignored
    await hub.publish(FEED, b"x" * 10 * 1024 * 1024)
    assert hub.heard[-1][1].status == 413
    assert (await stage.api.post("/push/" + "u" * 43, page.body, host="push.test")).status == 410
    assert (await stage.api.post("/push/" + "u" * 4_000, page.body, host="push.test")).status == 410
    assert await stage.state() == state
    assert await stage.waiting() == 0


@pytest.mark.parametrize("method", ["sha1", "sha384", "sha512"])
async def test_every_method_of_signing_is_known(stage: PushStage, method: str) -> None:
    stage.hub.manners = HubManners(method=method)
    await stage.follow_and_subscribe()
    await stage.publish(feed("new"))
    assert "http://a.test/new" in await stage.entries()


async def test_a_hub_that_confirms_before_it_answers_is_subscribed_to(stage: PushStage) -> None:
    stage.path.sim.script("hub.test", SlowStart(300), "/")
    await stage.follow_and_subscribe()
    subscription = await stage.subscription()
    assert subscription["state"] == "active"
    assert subscription["due_at"] - subscription["since"] > 3 * DAY


async def test_a_hub_that_never_confirms_stays_pending_and_is_asked_again_later(stage: PushStage) -> None:
    stage.hub.manners = HubManners(is_mute=True)
    await stage.follow_and_subscribe()
    subscription = await stage.subscription()
    assert subscription["state"] == "pending"
    assert subscription["due_at"] > datetime.now(UTC) + timedelta(minutes=50)
    await stage.subscribe()
    assert len(stage.hub.asked) == 1
    await stage.database.execute("update subscriptions set due_at = now()")
    stage.hub.manners = HubManners()
    await stage.subscribe()
    assert (await stage.subscription())["state"] == "active"
    assert await stage.database.fetchval("select count(*) from callbacks") == 1


async def test_a_hub_that_denies_is_left_alone_whenever_it_does(stage: PushStage) -> None:
    await stage.follow_and_subscribe()
    await stage.hub.deny("no room\x1b[31m for you")
    subscription = await stage.subscription()
    assert (subscription["state"], subscription["reason"]) == ("denied", "no room[31m for you")
    assert subscription["lease_until"] is None
    page = feed("new")
    await stage.hub.publish(FEED, page.body)
    assert stage.hub.heard[-1][1].status == 410
    assert await stage.waiting() == 0
    await stage.subscribe()
    assert len(stage.hub.asked) == 1


@pytest.mark.parametrize(("status", "asked_again_in"), [(503, timedelta(minutes=9)), (400, 11 * HOUR)])
async def test_a_hub_that_refuses_is_asked_again_later(
    stage: PushStage, status: int, asked_again_in: timedelta
) -> None:
    stage.hub.manners = HubManners(status=status, says="go away")
    await stage.follow_and_subscribe()
    subscription = await stage.subscription()
    assert subscription["state"] == "failed"
    assert subscription["reason"] == f"HTTP {status}: go away"
    assert subscription["due_at"] > datetime.now(UTC) + asked_again_in
    assert await stage.database.fetchval("select count(*) from callbacks") == 0


async def test_a_hub_at_a_private_address_is_never_asked(stage: PushStage) -> None:
    await stage.follow_and_subscribe(feed("old", hub="http://10.0.0.1/hub"))
    subscription = await stage.subscription()
    assert subscription["state"] == "failed"
    assert "blocked_address" in subscription["reason"]
    assert stage.hub.asked == []


@pytest.mark.parametrize("seconds", [60, 10 * 365 * 86_400])
async def test_leases_are_clamped_and_renewals_are_not_hurried(stage: PushStage, seconds: int) -> None:
    stage.hub.manners = HubManners(lease_seconds=seconds)
    await stage.follow_and_subscribe()
    subscription = await stage.subscription()
    assert subscription["lease_until"] - subscription["since"] <= LONGEST_LEASE
    renewal = subscription["due_at"] - subscription["since"]
    assert 6 * HOUR <= renewal <= LONGEST_LEASE / 2 + DAY + HOUR


async def test_a_renewal_changes_the_callback_and_keeps_the_trust(stage: PushStage) -> None:
    await stage.follow_and_subscribe()
    await stage.publish(feed("one"))
    before = await stage.subscription()
    [old] = list(stage.hub.subscriptions.values())
    await stage.database.execute("update subscriptions set due_at = now()")
    await stage.subscribe()
    after = await stage.subscription()
    [former, new] = stage.hub.subscriptions.values()
    assert former is old
    assert new.callback != old.callback
    assert new.secret != old.secret
    assert (after["since"], after["proofs"]) == (before["since"], 1)
    assert after["lease_until"] > before["lease_until"]
    # A hub that does not know that the old one is replaced hears of it, and may go on all the same.
    stage.hub.manners = HubManners(obeys_410=False)
    for _ in range(2):
        await stage.publish(feed("two"))
        assert sorted(heard.status for _, heard in stage.hub.heard[-2:]) == [202, 410]
    assert (await stage.subscription())["proofs"] == 2


async def test_what_was_not_renewed_is_pushed_until_the_hub_stops_and_trusted_no_longer(stage: PushStage) -> None:
    await stage.follow_and_subscribe()
    await stage.database.execute("update subscriptions set proofs = 10, lease_until = now() - interval '1 minute'")
    await stage.publish(feed("new"))
    assert "http://a.test/new" in await stage.entries()
    [ran] = await stage.poll()
    assert ran.ending is not None
    assert ran.ending.next.reason != PUSHED


async def test_a_feed_that_names_another_hub_or_none_is_subscribed_anew_or_not_at_all(stage: PushStage) -> None:
    await stage.follow_and_subscribe()
    await stage.publish(feed("one"))
    stage.site.pages["/feed"] = feed("one", topic="http://a.test/other")
    await stage.poll()
    subscription = await stage.subscription()
    assert (subscription["state"], subscription["proofs"]) == ("wanted", 0)
    assert await stage.database.fetchval("select count(*) from callbacks") == 0
    stage.site.pages["/feed"] = feed("one", hub="")
    await stage.poll()
    assert await stage.database.fetchval("select count(*) from subscriptions") == 0
    page = feed("late")
    await stage.hub.publish(FEED, page.body)
    assert stage.hub.heard[-1][1].status == 410


async def test_a_push_of_the_difference_alone_takes_nothing_away(stage: PushStage) -> None:
    await stage.follow_and_subscribe(feed("one", "two", "three"))
    await stage.publish(feed("four"))
    assert {f"http://a.test/{name}" for name in ("one", "two", "three", "four")} <= await stage.entries()
    assert await stage.database.fetchval("select count(*) from channel_items") == 4


async def test_what_changed_brings_the_next_poll_nearer_and_is_not_believed_itself(stage: PushStage) -> None:
    await stage.follow_and_subscribe()
    await stage.database.execute(
        "update channels set next_poll_at = now() + interval '6 hours', last_polled_at = now() - interval '5 minutes'"
    )
    items = await stage.database.fetch("select signature from channel_items")
    changed = feed("old").body.replace(b"<title>old</title>", b"<title>Another headline</title>")
    await stage.publish(Page(changed, "application/rss+xml"))
    channel = await stage.channel()
    assert channel["next_reason"] == CHANGED
    wait = channel["next_poll_at"] - datetime.now(UTC)
    # No sooner than a channel may be polled.
    assert timedelta(minutes=9) < wait < timedelta(minutes=11)
    assert await stage.database.fetch("select signature from channel_items") == items


@pytest.mark.parametrize("body", [b"", b"not a feed", b"<html><p>Sorry</html>"])
async def test_what_cannot_be_read_is_a_reason_to_look(stage: PushStage, body: bytes) -> None:
    await stage.follow_and_subscribe()
    await stage.database.execute("update channels set next_poll_at = now() + interval '6 hours'")
    await stage.publish(Page(body))
    channel = await stage.channel()
    assert channel["next_reason"] == CHANGED
    assert channel["consecutive_errors"] == 0
    assert (await stage.subscription())["pinged_at"] is not None


async def test_a_push_never_comes_before_an_error_has_had_its_rest(stage: PushStage) -> None:
    await stage.follow_and_subscribe()
    await stage.database.execute(
        "update channels set next_poll_at = now() + interval '6 hours', consecutive_errors = 2, next_reason = 'rests'"
    )
    await stage.publish(Page(b"not a feed"))
    assert (await stage.channel())["next_reason"] == "rests"


async def test_while_a_channel_is_polled_its_push_waits(stage: PushStage) -> None:
    await stage.follow_and_subscribe()
    await stage.database.execute("update channels set next_poll_at = now()")
    [lease], _ = await stage.polling.claim(1)
    page = feed("new")
    await stage.hub.publish(FEED, page.body)
    await stage.pushed.wait(5)
    while not await stage.waiting():
        await stage.pushed.wait(1)
    assert await stage.pushes.claim(1) == ((), None)
    await stage.polling.work(lease)
    await stage.database.execute("update pushes set due_at = now()")
    await stage.read(1)
    assert "http://a.test/new" in await stage.entries()


async def test_pushes_of_a_paused_source_and_old_ones_are_forgotten(stage: PushStage) -> None:
    await stage.follow_and_subscribe()
    keep = "insert into pushes (channel_id, received_at) select channel_id, now() - $1::interval from subscriptions"
    await stage.database.execute(keep, 2 * DAY)
    await stage.database.execute(keep, HOUR)
    await forget_pushes(stage.database)
    assert await stage.waiting() == 1
    await stage.database.execute("update channels set is_active = false")
    assert await stage.pushes.claim(1) == ((), None)
    assert await stage.waiting() == 0
    await stage.database.execute("update subscriptions set due_at = now() - interval '1 hour'")
    await stage.subscribe()
    assert [one["hub.mode"] for one in stage.hub.asked] == ["subscribe", "unsubscribe"]


async def test_a_push_that_breaks_its_reader_is_dropped_and_the_channel_polled(stage: PushStage) -> None:
    await stage.follow_and_subscribe()
    await stage.database.execute(
        "insert into pushes (channel_id, body, attempts) select channel_id, '\\x00', 5 from subscriptions"
    )
    await stage.read(1)
    assert await stage.waiting() == 0
    assert stage.taken[-1].calls_for_poll


async def test_many_pushes_of_one_channel_are_kept_up_to_a_bound(stage: PushStage) -> None:
    await stage.follow_and_subscribe()
    stage.hub.manners = HubManners(times=30)
    page = feed("new")
    await stage.hub.publish(FEED, page.body)
    await stage.read(20)
    assert len(stage.taken) <= 30
    assert (await stage.subscription())["pushes"] == 1


async def test_a_hub_with_more_channels_than_its_pace_allows_has_them_wait_for_their_turn(stage: PushStage) -> None:
    await stage.follow_and_subscribe()
    await stage.database.execute(
        "update hosts set next_slot_at = now() + interval '1 hour', closed_until = now() + interval '1 hour' "
        "where host = 'hub.test'"
    )
    await stage.database.execute("update subscriptions set due_at = now(), state = 'wanted', lease_until = null")
    await stage.subscribe()
    assert len(stage.hub.asked) == 1
    assert (await stage.subscription())["due_at"] > datetime.now(UTC) + timedelta(minutes=50)
    assert await stage.database.fetchval("select count(*) from callbacks where verified_at is null") == 0


async def test_a_cloud_that_pings_has_its_feed_polled_now(stage: PushStage) -> None:
    cloud = '<cloud domain="hub.test" port="80" path="/" registerProcedure="" protocol="http-post"/>'
    await stage.follow_and_subscribe(feed("old", hub="", topic="", more=cloud))
    [one] = stage.hub.subscriptions.values()
    assert one.is_confirmed
    await stage.database.execute("update channels set next_poll_at = now() + interval '6 hours'")
    await stage.hub.ping(FEED)
    assert stage.hub.heard[-1][1].status == 202
    await stage.read(1)
    assert (await stage.channel())["next_reason"] == CHANGED
    stage.site.pages["/feed"] = feed("old", "new", hub="", topic="", more=cloud)
    await stage.poll()
    record = await stage.subscription()
    assert (record["proofs"], record["missed"], record["pinged_at"]) == (1, 0, None)


async def test_a_hub_that_invents_items_loses_its_trust_at_the_next_poll(stage: PushStage) -> None:
    await stage.follow_and_subscribe(feed("old", at=datetime.now(UTC) - HOUR))
    for number in range(FIRST_PROOFS):
        await stage.publish(feed(f"invented-{number}"))
    assert (await stage.subscription())["proofs"] == FIRST_PROOFS
    [ran] = await stage.poll()
    assert ran.ending is not None
    assert ran.ending.next.reason != PUSHED
    record = await stage.subscription()
    assert (record["proofs"], record["missed"]) == (0, FIRST_PROOFS)


async def test_a_feed_that_has_left_pushed_items_behind_proves_no_lie(stage: PushStage) -> None:
    await stage.follow_and_subscribe(feed("old", at=datetime.now(UTC) - HOUR))
    for number in range(FIRST_PROOFS):
        await stage.publish(feed(f"pushed-{number}", at=datetime.now(UTC) - timedelta(minutes=5)))
    stage.site.pages["/feed"] = feed("younger", at=datetime.now(UTC) - timedelta(minutes=1))
    await stage.poll()
    assert (await stage.subscription())["proofs"] == FIRST_PROOFS


async def test_feeds_of_vacancies_are_polled_when_they_are_pushed(stage: PushStage) -> None:
    """What a whole list leaves out is over; no push says that."""
    await stage.follow_and_subscribe()
    await stage.database.execute("update sources set kind = 'jobs'")
    await stage.publish(feed("new"))
    assert stage.taken[-1].calls_for_poll
    assert "http://a.test/new" not in await stage.entries()


async def test_neither_secrets_nor_callbacks_stand_in_the_log(
    database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with opened_stage(database_url, log_level="debug") as stage:
        await stage.follow_and_subscribe()
        stage.hub.manners = HubManners(signs="wrong")
        await stage.hub.publish(FEED, feed("new").body)
        [one] = stage.hub.subscriptions.values()
        said = capsys.readouterr()
    assert "push_ignored" in said.err
    assert "hub_asked" in said.err
    assert one.secret not in said.err
    assert one.callback.rpartition("/")[2] not in said.err
    assert re.search(r"/push/\*\*\*", said.err)


async def test_callbacks_of_a_hundred_hubs_at_once_are_answered(stage: PushStage) -> None:
    """A flood of bodies is taken as far as there is room, and the rest is asked to come again."""
    await stage.follow_and_subscribe()
    [one] = stage.hub.subscriptions.values()
    place = one.callback.removeprefix(PUBLIC)
    body = b"x" * 100_000
    replies = await asyncio.gather(*(stage.api.post(place, body, host="push.test") for _ in range(50)))
    assert {reply.status for reply in replies} <= {202, 503}
    assert await stage.waiting() == 0
    assert sha256(one.secret.encode()).hexdigest() not in str(replies)
