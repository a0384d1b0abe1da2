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
from headwater.net.problems import Problem
from headwater.net.redirects import REPEATS_THE_METHOD, Flaw, Hop, flaw_in_words, next_hop
from headwater.net.transport import Response
from headwater.politeness.backoff import Backoff, wait_before_retry
from headwater.storable import one_line
from headwater.urls.canonical import CanonicalUrl, canonicalise

queries = load_queries("headwater.discover.push")

SECRET = b"hub.secret="
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
    is_followed: bool = True  # else its channel is polled no more, and its hub is told so


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


@dataclass(frozen=True, slots=True)
class HubOutside:
    """It was to be told a secret over http, and stands in no network of our own: nothing was said."""


HubAnswer = HubTook | HubRefusal | HubBusy | HubOutside


@dataclass(frozen=True, slots=True)
class Subscriber:
    database: Database
    follower: Follower
    public_url: str
    random: Random
    log: Logger
    has_network: bool = False  # places of our own may be asked, where http is as good

    async def ask_due(self) -> int:
        """What is due at hubs that have a slot; how many were asked."""
        rows = await self.database.fetch(queries.claim_subscriptions, AT_ONCE)
        full: set[str] = set()
        asked = 0
        for due in map(_due_from, rows):
            if due.hub_host in full:
                continue
            if await (self.ask(due) if due.is_followed else self.leave(due)):
                asked += 1
            else:
                full.add(due.hub_host)
        return asked

    async def ask(self, due: DueSubscription) -> bool:
        """False where its hub has no slot soon: all that is due there waits for its turn."""
        answer: HubAnswer = HubOutside()
        token = ""
        for tells_secret in secrecies(due.named, has_network=self.has_network):
            token, secret = new_secret(), new_secret() if tells_secret else ""
            if not await self._expect(due, token, secret):
                return True
            answer = await self._answer(due.named, request_body(due.named, self.public_url, token, secret))
            if not isinstance(answer, HubOutside):
                break
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

    async def leave(self, due: DueSubscription) -> bool:
        """Tell the hub of a channel that is polled no more; one that does not hear is answered 410 when it pushes."""
        answer: HubAnswer = HubTook()
        for row in await self.database.fetch(queries.callbacks_to_leave, due.channel_id):
            named = NamedHub(due.named.protocol, row["hub"], row["topic"])
            answer = await self._answer(named, leaving_body(named, self.public_url, row["token"]))
            if isinstance(answer, HubBusy):
                await self.database.execute(queries.put_off_hub, due.hub_host, answer.wait, TURN)
                return False
        await self.database.execute(queries.note_left, due.channel_id)
        told = answer.reason if isinstance(answer, HubRefusal) else "asked"
        self.log.info("hub_left", channel=str(due.channel_id), host=due.hub_host, answer=told)
        return True

    async def _expect(self, due: DueSubscription, token: str, secret: str) -> bool:
        """The callback is there before its hub is asked: it may confirm before it answers."""
        await self.database.execute(queries.drop_unverified, due.channel_id)
        named = due.named
        added = queries.add_callback(
            token=token, channel_id=due.channel_id, secret=secret, hub=named.hub, topic=named.topic
        )
        return await self.database.fetchval(*added) is not None

    async def _answer(self, named: NamedHub, body: bytes) -> HubAnswer:
        """A redirect that repeats the request is followed to any host, but never from https to http."""
        try:
            place = canonicalise(named.hub)
        except UrlRejected as error:
            return HubRefusal(error.what, REFUSED)
        for _ in range(MOST_REDIRECTS):
            request = _request(place, body)
            try:
                outcome = await self.follower.fetch(request)
            except NetworkDown:
                return HubBusy(WHILE_NETWORK_IS_DOWN)
            if (led_to := _led_to(outcome, place)) is None:
                is_outside = request.is_only_inside and is_blocked(outcome)
                return HubOutside() if is_outside else heard_from_hub(outcome)
            place = led_to
        return HubRefusal(flaw_in_words(Flaw.TOO_MANY_REDIRECTS), REFUSED)


def _due_from(row: Any) -> DueSubscription:
    named = NamedHub(Protocol(row["protocol"]), row["hub"], row["topic"])
    return DueSubscription(row["channel_id"], named, row["hub_host"], row["failures"], row["is_active"])


def secrecies(named: NamedHub, *, has_network: bool) -> tuple[bool, ...]:
    """Whether a secret is told, in the order in which it is tried. Never in the open (WebSub 5.1). Pure.

    Over http only a hub in a network of our own is told one. Any other is asked without: then its pushes prove
    nothing, and are reasons to poll.
    """
    if named.protocol is Protocol.RSSCLOUD:
        return (False,)
    if named.hub.lower().startswith("https://"):
        return (True,)
    return (True, False) if has_network else (False,)


def is_blocked(outcome: FetchOutcome) -> bool:
    return isinstance(outcome, Failed) and outcome.problem.kind is Problem.BLOCKED_ADDRESS


def _request(place: CanonicalUrl, body: bytes) -> FetchRequest:
    return FetchRequest(
        place,
        HUB,
        headers={"Content-Type": "application/x-www-form-urlencoded"},
        method="POST",
        body=body,
        body_bytes=LONGEST_ANSWER_BYTES,
        is_only_inside=SECRET in body and place.origin.scheme == "http",
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
            "hub.lease_seconds": str(int(LONGEST_LEASE.total_seconds())),
            **({"hub.secret": secret} if secret else {}),
        }
    return urlencode(form).encode()


def leaving_body(named: NamedHub, public_url: str, token: str) -> bytes:
    """Pure."""
    callback = callback_address(public_url, token)
    return urlencode({"hub.mode": "unsubscribe", "hub.topic": named.topic, "hub.callback": callback}).encode()


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
