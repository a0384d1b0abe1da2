"""robots.txt of an origin: one copy in the database while fresh, else asked for politely, and every failure a wait.

The meaning of an answer, and how long it holds, is that of RFC 9309 2.3.1 and 2.4.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Any, Protocol

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.fetch.held_slot import HeldSlot, Request, SlotReservations, send_once, wait_asked_for
from headwater.fetch.outcomes import Disallowed, Failed, Later, LeaseLost, RobotsUnknown
from headwater.net.body import Truncated, Undecodable
from headwater.net.caching import max_age
from headwater.net.problems import FetchProblem, Problem, problem_with
from headwater.net.redirects import BrokenRedirect, Hop, next_hop
from headwater.net.transport import Response, TransferLimits, Transport
from headwater.net.validators import Validators, conditional_headers
from headwater.politeness.hosts import set_crawl_delay
from headwater.politeness.robots import Robots, parse_robots
from headwater.politeness.slots import NoSlot, NotBefore
from headwater.rights.record import UseStatement
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.fingerprint import bucket_of
from headwater.urls.origin import Origin

queries = load_queries("headwater.fetch")

FRESH_FOR = timedelta(hours=24)
FRESH_FOR_JOBS = timedelta(hours=12)
# A site that says max-age=0 would have us ask before every page.
FRESH_AT_LEAST = timedelta(hours=1)
UNREACHABLE_AT_MOST = timedelta(days=30)
FIRST_RETRY = timedelta(minutes=5)
LONGEST_RETRY = timedelta(hours=6)
LONGEST_ASKED = timedelta(hours=24)
REMEMBERED = 5_000
LONG_FILE_BYTES = 20_000
TOO_MANY_REQUESTS = 429

RobotsObjection = Disallowed | RobotsUnknown | Failed | Later | LeaseLost

RulesChanged = Callable[[Origin, Robots | None], None]
Look = Callable[[CanonicalUrl, HeldSlot], Awaitable[object]]
ORIGINS_A_ROUND = 20


@dataclass(frozen=True, slots=True)
class Permit:
    """robots.txt has nothing against a request; its statements are about the use of what is fetched."""

    statements: tuple[UseStatement, ...] = ()


class RobotsFailure(StrEnum):
    """Why there is no status."""

    TIMEOUT = "timeout"
    DNS = "dns"
    TLS = "tls"
    CONNECTION = "connection"
    BODY = "body"  # broke off, or cannot be decompressed
    REFUSED_ADDRESS = "refused_address"  # a redirect to where we do not go


class RobotsAccess(StrEnum):
    RULES = "rules"  # the body says
    UNCHANGED = "unchanged"  # the copy says, and is fresh again
    ALLOW_ALL = "allow_all"  # there is none ("unavailable")
    UNREACHABLE = "unreachable"  # nobody knows: not now


class WhileUnreachable(StrEnum):
    USE_COPY = "use_copy"
    WAIT = "wait"
    GIVE_UP = "give_up"


def access_from_response(answer: int | RobotsFailure) -> RobotsAccess:
    """`answer` is the status after at most five redirects; one that still redirects counts as none at all."""
    if isinstance(answer, RobotsFailure):
        return RobotsAccess.UNREACHABLE
    if 200 <= answer < 300:
        return RobotsAccess.RULES
    if answer == 304:
        return RobotsAccess.UNCHANGED
    # 429 is about our pace, not about the file: a host that asks for less must not get everything.
    if 300 <= answer < 500 and answer != 429:
        return RobotsAccess.ALLOW_ALL
    return RobotsAccess.UNREACHABLE


def fresh_for(max_age: timedelta | None, *, is_job_host: bool) -> timedelta:
    """`max_age` of Cache-Control may shorten our own term, never lengthen it."""
    longest = FRESH_FOR_JOBS if is_job_host else FRESH_FOR
    return longest if max_age is None else min(max(max_age, FRESH_AT_LEAST), longest)


def while_unreachable(since: datetime, now: datetime, *, has_copy: bool) -> WhileUnreachable:
    """`since` is the first failure after the last answer; after 30 days entries die `unreachable`, copy or not."""
    if now - since >= UNREACHABLE_AT_MOST:
        return WhileUnreachable.GIVE_UP
    return WhileUnreachable.USE_COPY if has_copy else WhileUnreachable.WAIT


@dataclass(frozen=True, slots=True)
class StoredRobots:
    """The stored robots.txt of an origin."""

    access: RobotsAccess
    body: bytes | None  # None: what is remembered under body_hash holds
    body_hash: bytes | None
    is_fresh: bool
    failing_since: datetime | None
    failing_for: timedelta
    failure: str
    status: int | None  # of its last answer; None: there was none
    validators: Validators
    now: datetime


@dataclass(frozen=True, slots=True)
class RobotsAnswer:
    """The answer to a request for robots.txt."""

    answer: int | RobotsFailure
    body: bytes = b""
    validators: Validators = field(default_factory=Validators)
    max_age: timedelta | None = None
    detail: str = ""
    asked_wait: timedelta | None = None  # by a 429 or 503

    @property
    def status(self) -> int | None:
        return None if isinstance(self.answer, RobotsFailure) else self.answer


class RobotsStore(Protocol):
    async def store(
        self, origin: Origin, heard: RobotsAnswer, access: RobotsAccess, term: timedelta, robots: Robots | None
    ) -> None: ...

    async def freshen(self, origin: Origin, term: timedelta) -> None: ...

    def rules_changed(self, origin: Origin, robots: Robots | None) -> None: ...


@dataclass(slots=True)
class RobotsCache:
    transport: Transport
    reservations: SlotReservations
    store: RobotsStore
    limits: TransferLimits
    product_token: str
    _parsed: OrderedDict[bytes, Robots] = field(default_factory=OrderedDict, init=False)

    async def ask(
        self, url: CanonicalUrl, known: StoredRobots | None, held_slot: HeldSlot, *, is_job_host: bool = False
    ) -> Permit | RobotsObjection:
        if known is not None and known.body_hash is not None:
            await self._read_beside(known.body or b"", known.body_hash)
        if known is None or not known.is_fresh:
            asked = await self._refresh(url, known, held_slot, is_job_host=is_job_host)
            answer = self._judge(url, asked, known) if isinstance(asked, Robots | RobotsAccess) else asked
            return with_requested_wait(answer, held_slot.close_for)
        return self._judge(url, self._standing(known), known)

    def remembers(self, body_hash: bytes | None) -> bool:
        return body_hash is not None and body_hash in self._parsed

    def _judge(
        self, url: CanonicalUrl, standing: Robots | RobotsAccess, known: StoredRobots | None
    ) -> Permit | Disallowed | RobotsUnknown:
        if standing is RobotsAccess.ALLOW_ALL:
            return Permit()
        if isinstance(standing, Robots):
            decision = standing.decide(url.target)
            return Permit(standing.statements_on(url.target)) if decision.allowed else Disallowed(url, decision)
        return self._unknown(known)

    def _unknown(self, known: StoredRobots | None, heard: RobotsAnswer | None = None) -> RobotsUnknown:
        failing_for = known.failing_for if known else timedelta()
        ours = min(max(FIRST_RETRY, failing_for), LONGEST_RETRY)
        wait = max(ours, min((heard.asked_wait if heard else None) or timedelta(), LONGEST_ASKED))
        is_final = (
            known is not None
            and known.failing_since is not None
            and while_unreachable(known.failing_since, known.now, has_copy=False) is WhileUnreachable.GIVE_UP
        )
        why = heard.detail or f"HTTP {heard.answer}" if heard else known.failure if known else ""
        status = heard.status if heard else known.status if known else None
        is_asked = status == TOO_MANY_REQUESTS or bool(heard and heard.asked_wait)
        return RobotsUnknown(wait, f"robots.txt could not be had ({why})", is_final, status, is_asked)

    def _standing(self, known: StoredRobots) -> Robots | RobotsAccess:
        """A copy holds while its origin is unreachable, for thirty days."""
        if known.access is RobotsAccess.ALLOW_ALL:
            return RobotsAccess.ALLOW_ALL
        if known.access is RobotsAccess.UNREACHABLE:
            assert known.failing_since is not None
            has_copy = known.body_hash is not None
            if while_unreachable(known.failing_since, known.now, has_copy=has_copy) is not WhileUnreachable.USE_COPY:
                return RobotsAccess.UNREACHABLE
        return self._parse(known.body, known.body_hash)

    async def _read_beside(self, body: bytes, body_hash: bytes) -> None:
        """A file of half a megabyte takes a second to read: in a thread, so that the others go on."""
        if len(body) > LONG_FILE_BYTES and body_hash not in self._parsed:
            self._remember(body_hash, await asyncio.to_thread(parse_robots, body, self.product_token))

    def _parse(self, body: bytes | None, body_hash: bytes | None) -> Robots:
        body_hash = body_hash or b""
        if body_hash not in self._parsed:
            self._remember(body_hash, parse_robots(body or b"", self.product_token))
        self._parsed.move_to_end(body_hash)
        return self._parsed[body_hash]

    def _remember(self, body_hash: bytes, robots: Robots) -> None:
        self._parsed[body_hash] = robots
        if len(self._parsed) > REMEMBERED:
            self._parsed.popitem(last=False)

    async def _refresh(
        self, url: CanonicalUrl, known: StoredRobots | None, held_slot: HeldSlot, *, is_job_host: bool
    ) -> Robots | RobotsAccess | RobotsUnknown | Failed | Later | LeaseLost:
        heard = await self._ask(url, known, held_slot)
        if not isinstance(heard, RobotsAnswer):
            return heard
        access = access_from_response(heard.answer)
        term = fresh_for(heard.max_age, is_job_host=is_job_host)
        if access is RobotsAccess.UNCHANGED and known is not None:
            await self.store.freshen(url.origin, term)
            return RobotsAccess.ALLOW_ALL if known.body_hash is None else self._parse(known.body, known.body_hash)
        body_hash = sha256(heard.body).digest()
        if access is RobotsAccess.RULES:
            await self._read_beside(heard.body, body_hash)
        robots = self._parse(heard.body, body_hash) if access is RobotsAccess.RULES else None
        if access is RobotsAccess.UNREACHABLE:
            term = self._unknown(known, heard).wait
        await self.store.store(url.origin, heard, access, term, robots)
        if known is not None and access is not RobotsAccess.UNREACHABLE and known.body_hash != _hash_of(robots, heard):
            self.store.rules_changed(url.origin, robots)
        if robots is not None:
            return robots
        if access is RobotsAccess.UNREACHABLE and known is not None and known.body_hash is not None:
            return self._standing(known)
        return self._unknown(known, heard) if access is RobotsAccess.UNREACHABLE else access

    async def _ask(
        self, url: CanonicalUrl, known: StoredRobots | None, held_slot: HeldSlot
    ) -> RobotsAnswer | Failed | Later | LeaseLost:
        """Up to five redirects, across hosts too: each with the slot, the guard and the patience of its own host."""
        robots_url = canonicalise(f"{url.origin}/robots.txt")
        validators = known.validators if known else Validators()
        headers = conditional_headers(validators.etag, validators.last_modified)
        for hops in range(6):
            answer = await self._ask_at(robots_url, headers, held_slot, url)
            if not isinstance(answer, Response):
                return answer
            match next_hop(answer.status, answer.locations, robots_url, hops):
                case Hop() as hop:
                    robots_url, headers = hop.url, {}
                case BrokenRedirect():
                    return RobotsAnswer(404, detail="its redirects lead nowhere")
                case _:
                    return robots_answer_from(answer, is_conditional=bool(headers))
        return RobotsAnswer(404, detail="too many redirects")

    async def _ask_at(
        self, robots_url: CanonicalUrl, headers: dict[str, str], held_slot: HeldSlot, page: CanonicalUrl
    ) -> Response | RobotsAnswer | Failed | Later | LeaseLost:
        asked = Request(robots_url, "robots", self.limits, headers)
        if robots_url.host == held_slot.host:
            answer = await send_once(self.transport, asked, held_slot)
        else:
            async with self.reservations.reserve_slot(robots_url.host, "robots") as elsewhere:
                answer = (
                    elsewhere if isinstance(elsewhere, NotBefore) else await send_once(self.transport, asked, elsewhere)
                )
        match answer:
            case NotBefore(_, NoSlot.LOST):
                return LeaseLost()
            case NotBefore(wait):
                return Later(wait, page, 0, answer.reason)
            case FetchProblem(Problem.BLOCKED_ADDRESS) if robots_url.origin == page.origin:
                # The host itself is off limits, whatever its robots.txt would say.
                return Failed(answer, 0)
            case FetchProblem():
                return RobotsAnswer(failure_from(answer), detail=f"{answer.kind}: {answer.detail}")
            case Response():
                return answer


def _hash_of(robots: Robots | None, heard: RobotsAnswer) -> bytes | None:
    return None if robots is None else sha256(heard.body).digest()


def with_requested_wait(answer: Permit | RobotsObjection, asked: timedelta | None) -> Permit | RobotsObjection:
    """A host that answers its robots.txt with a time to stay away gets it, whatever a copy would allow."""
    if not asked or isinstance(answer, Failed | Later | LeaseLost):
        return answer
    if isinstance(answer, RobotsUnknown):
        return replace(answer, wait=max(answer.wait, asked), is_asked=True)
    return RobotsUnknown(asked, "its host asks us to wait", is_asked=True)


def robots_answer_from(response: Response, *, is_conditional: bool) -> RobotsAnswer:
    if why := why_unusable(response, is_conditional=is_conditional):
        return RobotsAnswer(RobotsFailure.BODY, detail=why)
    age = max_age(response.headers.get("Cache-Control", ""))
    return RobotsAnswer(response.status, response.body, response.validators, age, asked_wait=wait_asked_for(response))


def why_unusable(response: Response, *, is_conditional: bool) -> str:
    """Half a file may lack the very line that concerns us; what is no file anyway may break off as it likes."""
    match response.status, response.content:
        case 304, _ if not is_conditional:
            return "HTTP 304 to a request without validators"
        case 206, _:
            return "HTTP 206 to a request without a range"
        case status, (Truncated() | Undecodable()) as content if 200 <= status < 300:
            problem = problem_with(content)
            return problem.detail if problem else ""
        case _:
            return ""


def failure_from(problem: FetchProblem) -> RobotsFailure:
    kind = str(problem.kind)
    if kind.startswith("dns"):
        return RobotsFailure.DNS
    if "timeout" in kind:
        return RobotsFailure.TIMEOUT
    if kind == "tls":
        return RobotsFailure.TLS
    if kind == "blocked_address":
        return RobotsFailure.REFUSED_ADDRESS
    return RobotsFailure.CONNECTION


def stored_robots_from(row: Any) -> StoredRobots | None:
    if row["access"] is None:
        return None
    failing_since = row["failing_since"]
    return StoredRobots(
        access=RobotsAccess(row["access"]),
        body=row["body"],
        body_hash=row["body_hash"],
        is_fresh=row["expires_at"] > row["now"],
        failing_since=failing_since,
        failing_for=row["now"] - failing_since if failing_since else timedelta(),
        failure=row["failure"] or "",
        status=row["http_status"],
        validators=Validators(row["etag"], row["last_modified"]),
        now=row["now"],
    )


@dataclass(frozen=True, slots=True)
class DatabaseRobots:
    """`changed` is told of rules that are not what they were: waiting entries are woken or ended by them."""

    database: Database
    default_delay: timedelta
    changed: RulesChanged

    async def store(
        self, origin: Origin, heard: RobotsAnswer, access: RobotsAccess, term: timedelta, robots: Robots | None
    ) -> None:
        has_rules = access is RobotsAccess.RULES
        delay = robots.crawl_delay if robots else None
        body_hash = sha256(heard.body).digest() if has_rules else None
        async with self.database.transaction() as connection:
            if access is not RobotsAccess.UNREACHABLE:
                await connection.execute(queries.keep_former_robots, *_key(origin), body_hash)
            await connection.execute(
                *queries.store_robots(
                    bucket=bucket_of(origin.host),
                    host=origin.host,
                    scheme=origin.scheme,
                    port=origin.port,
                    access=str(access),
                    body=heard.body if has_rules else None,
                    body_hash=body_hash,
                    http_status=None if isinstance(heard.answer, RobotsFailure) else heard.answer,
                    failure=heard.detail or str(heard.answer) if access is RobotsAccess.UNREACHABLE else None,
                    term=term,
                    etag=heard.validators.etag,
                    last_modified=heard.validators.last_modified,
                    crawl_delay_ms=round(delay.total_seconds() * 1000) if delay is not None else None,
                    sitemaps=list(robots.sitemaps) if robots else [],
                    disallow=list(robots.disallowed) if robots else [],
                )
            )
            if access is not RobotsAccess.UNREACHABLE:
                await set_crawl_delay(connection, origin.host, delay or timedelta(), self.default_delay)

    def rules_changed(self, origin: Origin, robots: Robots | None) -> None:
        self.changed(origin, robots)

    async def freshen(self, origin: Origin, term: timedelta) -> None:
        await self.database.execute(queries.freshen_robots, *_key(origin), term)


async def forget_former_robots(database: Database, days: int) -> None:
    await database.execute(queries.forget_former_robots, days)


async def robots_of_host(database: Database, host: str) -> list[Any]:
    return await database.fetch(queries.read_robots_of_host, bucket_of(host), host)


async def expire_robots(database: Database, host: str) -> list[Origin]:
    """What is known of them holds no longer: each is asked for before the next request of its origin."""
    rows = await database.fetch(queries.expire_robots, bucket_of(host), host)
    return [Origin(row["scheme"], row["host"], row["port"]) for row in rows]


def _key(origin: Origin) -> tuple[int, str, str, int]:
    return bucket_of(origin.host), origin.host, origin.scheme, origin.port


@dataclass(frozen=True, slots=True)
class RobotsRounds:
    database: Database
    reservations: SlotReservations
    look: Look

    async def go(self) -> int:
        """How many origins were looked at. Each takes its turn at its host like any other request."""
        rows = await self.database.fetch(queries.expired_robots, ORIGINS_A_ROUND)
        for row in rows:
            origin = Origin(row["scheme"], row["host"], row["port"])
            async with self.reservations.reserve_slot(origin.host, "robots") as held_slot:
                if not isinstance(held_slot, NotBefore):
                    await self.look(canonicalise(f"{origin}/"), held_slot)
        return len(rows)
