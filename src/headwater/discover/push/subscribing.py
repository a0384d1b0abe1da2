"""The poll role's side of subscriptions: hubs are asked through the one fetch path, and asked again in time."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from headwater.chance import Random, new_secret
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.discover.push.callbacks import PLACE, callback_address
from headwater.discover.push.links import NamedHub, Protocol
from headwater.discover.push.subscription import LONGEST_LEASE
from headwater.errors import NetworkDown, UrlRejected
from headwater.fetch.fetcher import FetchRequest, Follower
from headwater.fetch.outcomes import (
    Answered,
    BadRedirect,
    Disallowed,
    Failed,
    FetchOutcome,
    Later,
    LeaseLost,
    LedAway,
    RobotsUnknown,
    TakenDown,
)
from headwater.log import Logger
from headwater.net.redirects import REPEATS_THE_METHOD, Flaw, Hop, flaw_in_words, next_hop
from headwater.net.transport import Response
from headwater.politeness.backoff import Backoff, wait_before_retry
from headwater.storable import one_line
from headwater.urls.canonical import CanonicalUrl, canonicalise

queries = load_queries("headwater.discover.push")

HUB = "hub"  # the kind of these requests, for slots and logs
AT_ONCE = 20
LONGEST_ANSWER_BYTES = 65_536
MOST_REDIRECTS = 5
LONGEST_REASON = 200
# Between two requests at one hub, where many channels wait for it.
TURN = timedelta(milliseconds=1_500)
WHILE_NETWORK_IS_DOWN = timedelta(minutes=1)
# For a hub to confirm what it took.
CONFIRMED_WITHIN = Backoff(timedelta(hours=1), timedelta(days=7))
# After it refused, or could not be asked.
REFUSED = Backoff(timedelta(hours=12), timedelta(days=14))
FAILED = Backoff(timedelta(minutes=10), timedelta(days=1))


@dataclass(frozen=True, slots=True)
class DueSubscription:
    channel_id: UUID
    named: NamedHub
    hub_host: str
    failures: int


@dataclass(frozen=True, slots=True)
class HubRefusal:
    """`backoff`: how soon it is worth another try."""

    reason: str
    backoff: Backoff = FAILED


@dataclass(frozen=True, slots=True)
class HubBusy:
    wait: timedelta


@dataclass(frozen=True, slots=True)
class HubTook:
    """The hub took it, and will confirm it."""


HubAnswer = HubTook | HubRefusal | HubBusy


@dataclass(frozen=True, slots=True)
class Subscriber:
    database: Database
    follower: Follower
    public_url: str
    random: Random
    log: Logger

    async def ask_due(self) -> int:
        """What is due at hubs that have a slot; how many were asked."""
        rows = await self.database.fetch(queries.claim_subscriptions, AT_ONCE)
        full: set[str] = set()
        asked = 0
        for due in map(_due_from, rows):
            if due.hub_host in full:
                continue
            if await self.ask(due):
                asked += 1
            else:
                full.add(due.hub_host)
        return asked

    async def ask(self, due: DueSubscription) -> bool:
        """False where its hub has no slot soon: all that is due there waits for its turn."""
        token, secret = new_secret(), new_secret()
        await self.database.execute(queries.drop_unverified, due.channel_id)
        named = due.named
        added = queries.add_callback(
            token=token, channel_id=due.channel_id, secret=secret, hub=named.hub, topic=named.topic
        )
        if await self.database.fetchval(*added) is None:
            return True
        try:
            answer = await self._answer(named, request_body(named, self.public_url, token, secret))
        except NetworkDown:
            answer = HubBusy(WHILE_NETWORK_IS_DOWN)
        match answer:
            case HubTook():
                wait = wait_before_retry(due.failures + 1, CONFIRMED_WITHIN, self.random)
                await self.database.execute(queries.note_asked, due.channel_id, token, wait)
            case HubRefusal(reason, backoff):
                await self.database.execute(queries.drop_unverified, due.channel_id)
                wait = wait_before_retry(due.failures + 1, backoff, self.random)
                await self.database.execute(queries.note_not_asked, due.channel_id, reason, wait)
            case HubBusy(wait):
                await self.database.execute(queries.drop_unverified, due.channel_id)
                await self.database.execute(queries.put_off_hub, due.hub_host, wait, TURN)
                return False
        told = answer.reason if isinstance(answer, HubRefusal) else "asked"
        self.log.info("hub_asked", channel=str(due.channel_id), host=due.hub_host, answer=told)
        return True

    async def _answer(self, named: NamedHub, body: bytes) -> HubAnswer:
        """A redirect that repeats the request is followed to any host, but never from https to http."""
        try:
            place = canonicalise(named.hub)
        except UrlRejected as error:
            return HubRefusal(error.what, REFUSED)
        for _ in range(MOST_REDIRECTS):
            outcome = await self.follower.fetch(_request(place, body))
            if (led_to := _led_to(outcome, place)) is None:
                return heard_from_hub(outcome)
            place = led_to
        return HubRefusal(flaw_in_words(Flaw.TOO_MANY_REDIRECTS), REFUSED)


def _due_from(row: Any) -> DueSubscription:
    named = NamedHub(Protocol(row["protocol"]), row["hub"], row["topic"])
    return DueSubscription(row["channel_id"], named, row["hub_host"], row["failures"])


def _request(place: CanonicalUrl, body: bytes) -> FetchRequest:
    return FetchRequest(
        place,
        HUB,
        headers={"Content-Type": "application/x-www-form-urlencoded"},
        method="POST",
        body=body,
        body_bytes=LONGEST_ANSWER_BYTES,
    )


def _led_to(outcome: FetchOutcome, place: CanonicalUrl) -> CanonicalUrl | None:
    """Where the same request belongs, when it was refused only for having a body."""
    if not isinstance(outcome, BadRedirect) or outcome.reason != Flaw.HAS_A_BODY:
        return None
    response = outcome.response
    if response.status not in REPEATS_THE_METHOD:
        return None
    hop = next_hop(response.status, response.locations, response.url, 0)
    is_safe = isinstance(hop, Hop) and not (place.origin.scheme == "https" and hop.url.origin.scheme == "http")
    return hop.url if isinstance(hop, Hop) and is_safe else None


def request_body(named: NamedHub, public_url: str, token: str, secret: str) -> bytes:
    """The form of a subscription, as the hub's protocol wants it. Pure."""
    callback = callback_address(public_url, token)
    if named.protocol is Protocol.RSSCLOUD:
        place = urlsplit(callback)
        form = {
            "notifyProcedure": "",
            "protocol": "https-post",
            "domain": place.hostname or "",
            "port": str(place.port or 443),
            "path": place.path or PLACE,
            "url1": named.topic,
        }
    else:
        form = {
            "hub.mode": "subscribe",
            "hub.topic": named.topic,
            "hub.callback": callback,
            "hub.secret": secret,
            "hub.lease_seconds": str(int(LONGEST_LEASE.total_seconds())),
        }
    return urlencode(form).encode()


def heard_from_hub(outcome: FetchOutcome) -> HubAnswer:
    match outcome:
        case Answered(response):
            return _answered(response)
        case Later(wait) | RobotsUnknown(wait, is_asked=True):
            return HubBusy(wait)
        case LeaseLost():
            return HubBusy(timedelta(seconds=5))
        case _:
            return _refusal(outcome)


def _answered(response: Response) -> HubTook | HubRefusal:
    if 200 <= response.status < 300:
        return HubTook()
    said = one_line(response.body[:1_000].decode("utf-8", "replace"), LONGEST_REASON)
    is_passing = response.status in (408, 429) or response.status >= 500
    return HubRefusal(f"HTTP {response.status}{f': {said}' if said else ''}", FAILED if is_passing else REFUSED)


def _refusal(outcome: RobotsUnknown | Disallowed | TakenDown | BadRedirect | LedAway | Failed) -> HubRefusal:
    match outcome:
        case RobotsUnknown(_, why):
            return HubRefusal(one_line(why, LONGEST_REASON))
        case Disallowed(_, decision):
            return HubRefusal(f"its robots.txt forbids it, line {decision.line_number}", REFUSED)
        case TakenDown():
            return HubRefusal("it is on the takedown list", REFUSED)
        case BadRedirect(reason):
            return HubRefusal(f"a redirect that leads nowhere: {flaw_in_words(reason)}", REFUSED)
        case LedAway(to):
            return HubRefusal(f"redirected to {to.host}", REFUSED)
        case Failed(problem):
            detail = f"{problem.kind}: {problem.detail}" if problem.detail else str(problem.kind)
            return HubRefusal(one_line(detail, LONGEST_REASON), FAILED if problem.is_transient else REFUSED)
