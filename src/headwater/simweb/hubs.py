"""Hubs of the simulated web: WebSub and rssCloud, with manners good and bad.

A hub is a site that is asked by POST, and that asks back: it confirms subscriptions and pushes. How it reaches its
subscribers is given to it, since they are no part of the simulated web.
"""

import asyncio
import hashlib
import hmac
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from urllib.parse import parse_qsl, urlencode

from headwater.simweb.message import Page, Request

USUAL_LEASE_SECONDS = 864_000
CHALLENGE = "challenge-of-a-hub-1729"
CLOUD_TAKES = '<?xml version="1.0"?><notifyResult success="true" msg="Thanks."/>'


@dataclass(frozen=True, slots=True)
class HubCall:
    """A request of a hub to a subscriber."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class HubHears:
    status: int
    body: bytes = b""


Reach = Callable[[HubCall], Awaitable[HubHears]]


@dataclass(frozen=True, slots=True)
class HubManners:
    """`status` other than 202: it refuses. `lease_seconds` None: as asked, up to its own usual one."""

    status: int = 202
    says: str = ""
    moved_to: str = ""  # with a status of 30x
    is_mute: bool = False  # it takes subscriptions and confirms none
    confirms_topic: str = ""  # another topic than it was asked for
    denies: str = ""
    lease_seconds: int | None = None
    method: str = "sha256"
    signs: Literal["right", "wrong", "not"] = "right"
    is_silent: bool = False
    times: int = 1  # that it sends each push
    speaks_of: str = ""  # another topic in its pushes
    obeys_410: bool = True


@dataclass(slots=True)
class HubSubscription:
    callback: str
    topic: str
    secret: str
    lease_seconds: int
    is_confirmed: bool = False


class Hub:
    def __init__(self, url: str, reach: Reach, manners: HubManners | None = None) -> None:
        self.url = url
        self.manners = manners or HubManners()
        self.subscriptions: dict[str, HubSubscription] = {}
        self.asked: list[dict[str, str]] = []
        self.heard: list[tuple[HubCall, HubHears]] = []
        self._reach = reach
        self._tasks: set[asyncio.Task[None]] = set()

    def page(self, request: Request, now: datetime) -> Page | None:
        if request.method != "POST":
            return None
        form = dict(parse_qsl(request.body.decode("utf-8", "replace"), keep_blank_values=True))
        self.asked.append(form)
        manners = self.manners
        if manners.status != 202:
            moved = (("Location", manners.moved_to),) if manners.moved_to else ()
            return Page(manners.says.encode(), "text/plain", manners.status, moved)
        if form.get("hub.mode") == "unsubscribe":
            self._begin(self._forget(form["hub.callback"], form["hub.topic"]))
            return Page(b"", "text/plain", 202)
        wanted = _wanted(form, manners)
        self.subscriptions[wanted.callback] = wanted
        self._begin(self._confirm(wanted))
        is_cloud = "url1" in form
        return Page(CLOUD_TAKES.encode(), "text/xml") if is_cloud else Page(b"", "text/plain", 202)

    async def settle(self) -> None:
        """Until everything that it began has ended."""
        while self._tasks:
            await asyncio.gather(*tuple(self._tasks))

    async def publish(self, topic: str, body: bytes, content_type: str = "application/rss+xml") -> None:
        """To all who subscribed to it, as its manners are."""
        if self.manners.is_silent:
            return
        for one in [one for one in self.subscriptions.values() if one.topic == topic and one.is_confirmed]:
            for _ in range(self.manners.times):
                await self._push(one, body, content_type)

    async def ping(self, feed: str) -> None:
        """As rssCloud does: only that there is something."""
        for one in [one for one in self.subscriptions.values() if one.topic == feed and one.is_confirmed]:
            body = urlencode({"url": feed}).encode()
            await self._say(HubCall("POST", one.callback, {"content-type": "application/x-www-form-urlencoded"}, body))

    async def deny(self, reason: str) -> None:
        """All that it confirmed before."""
        for one in tuple(self.subscriptions.values()):
            said = {"hub.mode": "denied", "hub.topic": one.topic, "hub.reason": reason}
            await self._say(HubCall("GET", f"{one.callback}?{urlencode(said)}"))

    def _begin(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _confirm(self, wanted: HubSubscription) -> None:
        manners = self.manners
        if manners.is_mute:
            return
        if manners.denies:
            await self.deny(manners.denies)
            return
        topic = manners.confirms_topic or wanted.topic
        said = {
            "hub.mode": "subscribe",
            "hub.topic": topic,
            "hub.challenge": CHALLENGE,
            "hub.lease_seconds": str(wanted.lease_seconds),
            "url": topic,
            "challenge": CHALLENGE,
        }
        heard = await self._say(HubCall("GET", f"{wanted.callback}?{urlencode(said)}"))
        wanted.is_confirmed = heard.status == 200 and heard.body.decode() == CHALLENGE

    async def _forget(self, callback: str, topic: str) -> None:
        """Once the subscriber says that it was meant."""
        said = {"hub.mode": "unsubscribe", "hub.topic": topic, "hub.challenge": CHALLENGE}
        heard = await self._say(HubCall("GET", f"{callback}?{urlencode(said)}"))
        if heard.status == 200 and heard.body.decode() == CHALLENGE:
            self.subscriptions.pop(callback, None)

    async def _push(self, one: HubSubscription, body: bytes, content_type: str) -> None:
        topic = self.manners.speaks_of or one.topic
        headers = {"content-type": content_type, "link": f'<{self.url}>; rel="hub", <{topic}>; rel="self"'}
        if one.secret and self.manners.signs != "not":
            key = one.secret if self.manners.signs == "right" else "another secret"
            signature = hmac.new(key.encode(), body, getattr(hashlib, self.manners.method)).hexdigest()
            headers["x-hub-signature"] = f"{self.manners.method}={signature}"
        heard = await self._say(HubCall("POST", one.callback, headers, body))
        if heard.status == 410 and self.manners.obeys_410:
            self.subscriptions.pop(one.callback, None)

    async def _say(self, call: HubCall) -> HubHears:
        heard = await self._reach(call)
        self.heard.append((call, heard))
        return heard


def _wanted(form: Mapping[str, str], manners: HubManners) -> HubSubscription:
    if "url1" in form:
        callback = f"https://{form['domain']}:{form['port']}{form['path']}"
        return HubSubscription(callback, form["url1"], "", USUAL_LEASE_SECONDS)
    asked = int(form.get("hub.lease_seconds") or USUAL_LEASE_SECONDS)
    lease = min(asked, USUAL_LEASE_SECONDS) if manners.lease_seconds is None else manners.lease_seconds
    return HubSubscription(form["hub.callback"], form["hub.topic"], form.get("hub.secret", ""), lease)
