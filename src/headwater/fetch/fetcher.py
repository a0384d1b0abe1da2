"""One URL asked politely: looked at before each request, asked in its slot, followed where it leads.

`Fetcher.fetch` is the function every request of the system goes through.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Protocol

from headwater.chance import Random
from headwater.clock import Clock
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.fetch.held_slot import HeldSlot, Request, SlotReservations, send_once, wait_asked_for
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
from headwater.fetch.robots import Permit, RobotsCache, StoredRobots, stored_robots_from
from headwater.fetch.tdmrep import KIND as TDM_KIND
from headwater.fetch.tdmrep import LARGEST_BYTES as TDM_BYTES
from headwater.fetch.tdmrep import NOT_REACHED, StoredTdm, TdmRules, TdmStore, rules_after, stored_tdm_from
from headwater.fetch.tdmrep import PATH as TDM_PATH
from headwater.net.problems import FetchProblem
from headwater.net.redirects import REPEATS_THE_METHOD, BrokenRedirect, Flaw, Hop, PermanentRun, next_hop
from headwater.net.transport import Response, TransferLimits, Transport
from headwater.net.validators import conditional_headers
from headwater.politeness.slots import NoSlot, NotBefore
from headwater.politeness.takedown import Takedown, Takedowns, domains_above, taken_down_in_words
from headwater.politeness.takedown import queries as takedown_queries
from headwater.rights.record import UseStatement
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.origin import Origin

queries = load_queries("headwater.fetch")

PAGE = "page"
Refusal = Disallowed | TakenDown | RobotsUnknown | Failed | Later | LeaseLost
JITTER = 0.1
LONGEST_WAIT = timedelta(seconds=8)

REMEMBERED = 10_000
# Career pages are small; a larger one is something else.
JOB_PAGE_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """A request to make. Extra headers and a body go to the origin of `url` only, never to where it redirects.

    Validators go to the URL whose answer they came with: `validated`, where a redirect led there the last time.
    """

    url: CanonicalUrl
    kind: str = PAGE
    etag: str | None = None
    last_modified: str | None = None
    validated: CanonicalUrl | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    hops: int = 0
    permanent: PermanentRun = field(default_factory=PermanentRun)  # of the hops so far
    method: str = "GET"
    body: bytes | None = field(default=None, repr=False)
    body_bytes: int | None = None  # a limit other than the host's own
    holds_secret: Callable[[str], bool] = field(default=lambda _url: False, repr=False)  # asked of where it is led
    is_only_inside: bool = False  # asked only where the connection leads into a network of our own
    stays_on_page: bool = False  # a redirect to another page is handed back, not followed
    wants_rights: bool = False  # also from /.well-known/tdmrep.json, which is asked for once a day

    def follows(self, hop: Hop) -> bool:
        """Other hosts are never followed here. A page keeps its key under another spelling, and its site: what
        another port answers is a page of its own.
        """
        is_same_page = hop.url.url_hash == self.url.url_hash
        is_near = hop.is_same_site if self.kind == PAGE else hop.is_same_host
        return is_near and (is_same_page or not self.stays_on_page)

    def tells_secrets(self, hop: Hop) -> bool:
        """Whether a redirect would carry a secret to another origin: a server may write it into its Location."""
        return not hop.is_same_origin and self.holds_secret(hop.url.url)

    def may_be_repeated(self, hop: Hop, status: int) -> bool:
        """A request with a body follows only where it is repeated as it is, to the origin that it was meant for."""
        return self.body is None or (status in REPEATS_THE_METHOD and hop.is_same_origin)

    def conditions_at(self, url: CanonicalUrl) -> dict[str, str]:
        """The headers that ask `url` for what has changed; none where the validators are not its own."""
        is_own = url.url_hash == (self.validated or self.url).url_hash
        return conditional_headers(self.etag, self.last_modified) if is_own else {}


@dataclass(frozen=True, slots=True)
class Clear:
    """Nothing speaks against a request; how large its answer may be, and whether the host's pages are rendered.

    `statements` are those of robots.txt on the use of the page, `tdm` what is stored of its origin's tdmrep.json.
    """

    body_bytes: int
    allow_js: bool = False
    statements: tuple[UseStatement, ...] = ()
    tdm: StoredTdm | None = None


class Preflight(Protocol):
    """Knows takedowns, robots.txt and the host's policy."""

    async def look(self, url: CanonicalUrl, held_slot: HeldSlot) -> Clear | Refusal: ...


@dataclass(frozen=True, slots=True)
class _RedirectTrail:
    url: CanonicalUrl
    hops: int
    permanent: PermanentRun
    headers: Mapping[str, str]

    def after(self, hop: Hop) -> "_RedirectTrail":
        headers = self.headers if hop.is_same_origin else {}
        return _RedirectTrail(hop.url, self.hops + 1, self.permanent.after(hop), headers)


@dataclass(frozen=True, slots=True)
class Fetcher:
    transport: Transport
    preflight: Preflight
    limits: TransferLimits
    clock: Clock
    random: Random
    retries: int = 2
    redirects: int = 5
    # Called with each check and each answer on the way, to explain a fetch.
    observer: Callable[[CanonicalUrl, "Clear | FetchOutcome | Response"], None] = lambda _url, _what: None
    tdm_store: TdmStore | None = None

    async def fetch(self, request: FetchRequest, held_slot: HeldSlot) -> FetchOutcome:
        """Every hop is looked at like the first: being redirected into a forbidden place is still a visit."""
        way = _RedirectTrail(request.url, request.hops, request.permanent, request.headers)
        while True:
            clear = await self._look(request, way.url, held_slot)
            self.observer(way.url, clear)
            if isinstance(clear, Later):
                # The check knows one URL, not the way to it: forgotten hops would make a chain endless.
                return replace(clear, hops=way.hops)
            if not isinstance(clear, Clear):
                return clear
            most = request.body_bytes or clear.body_bytes
            is_usual = most == self.limits.body_bytes and not request.is_only_inside
            limits = self.limits if is_usual else self._limits(most, is_only_inside=request.is_only_inside)
            answer = await self._ask(request, way, held_slot, limits)
            self.observer(way.url, answer)
            if not isinstance(answer, Response):
                return answer
            match next_hop(answer.status, answer.locations, way.url, way.hops, self.redirects):
                case Hop() as hop if request.tells_secrets(hop):
                    return BadRedirect(Flaw.WOULD_BETRAY_US, way.hops, answer)
                case Hop() as hop if not request.may_be_repeated(hop, answer.status):
                    return BadRedirect(Flaw.HAS_A_BODY, way.hops, answer)
                case Hop() as hop if request.follows(hop):
                    way = way.after(hop)
                case Hop() as hop:
                    left = way.after(hop)
                    return LedAway(left.url, left.hops, answer, left.permanent)
                case BrokenRedirect(reason):
                    return BadRedirect(reason, way.hops, answer)
                case _:
                    return Answered(answer, way.hops, way.permanent, clear.allow_js, clear.statements)

    async def _look(self, request: FetchRequest, url: CanonicalUrl, held_slot: HeldSlot) -> Clear | Refusal:
        """Where rights are wanted, with what tdmrep.json says about the page."""
        clear = await self.preflight.look(url, held_slot)
        if not isinstance(clear, Clear) or not request.wants_rights:
            return clear
        tdm = await self._tdm_of(url, clear, held_slot)
        if isinstance(tdm, Failed | Later | LeaseLost):
            return tdm
        told = tdm.statement_on(url.target) if tdm else None
        return replace(clear, statements=(*clear.statements, told)) if told else clear

    async def _tdm_of(
        self, url: CanonicalUrl, clear: Clear, held_slot: HeldSlot
    ) -> TdmRules | Failed | Later | LeaseLost | None:
        """As it is stored while that is fresh; None where nobody keeps it, or robots.txt keeps us from it."""
        if self.tdm_store is None or (clear.tdm and clear.tdm.is_fresh):
            return clear.tdm.rules if clear.tdm else None
        place = canonicalise(f"{url.origin}{TDM_PATH}")
        looked = await self.preflight.look(place, held_slot)
        if isinstance(looked, Later | LeaseLost):
            return looked
        before = clear.tdm.rules if clear.tdm else TdmRules()
        if not isinstance(looked, Clear):
            return await self.tdm_store.keep(url.origin, TdmRules())
        limits = replace(self.limits, body_bytes=TDM_BYTES)
        answer = await send_once(self.transport, Request(place, TDM_KIND, limits, {}), held_slot)
        if isinstance(answer, NotBefore):
            return LeaseLost() if answer.why is NoSlot.LOST else Later(answer.wait, url, 0, answer.reason)
        if isinstance(answer, FetchProblem) and answer.kind in NOT_REACHED:
            # Its page would not be had either, and the host is not asked twice for that.
            return Failed(answer, 0)
        rules = await self.tdm_store.keep(url.origin, rules_after(answer, before))
        asked = wait_asked_for(answer) if isinstance(answer, Response) else None
        return Later(asked, url, 0, "its host asks us to wait") if asked else rules

    def _limits(self, body_bytes: int, *, is_only_inside: bool) -> TransferLimits:
        return replace(self.limits, body_bytes=body_bytes, is_only_inside=is_only_inside)

    async def _ask(
        self, request: FetchRequest, way: _RedirectTrail, held_slot: HeldSlot, limits: TransferLimits
    ) -> Response | Later | LeaseLost | Failed:
        attempt = 1
        while True:
            headers = {**way.headers, **request.conditions_at(way.url)}
            asked = Request(way.url, request.kind, limits, headers, request.method, request.body)
            answer = await send_once(self.transport, asked, held_slot)
            if isinstance(answer, NotBefore):
                if answer.why is NoSlot.LOST:
                    return LeaseLost()
                return Later(answer.wait, way.url, way.hops, answer.reason)
            if isinstance(answer, Response):
                return answer
            if not is_worth_another_try(answer, attempt, self.retries):
                return Failed(answer, way.hops)
            await self.clock.sleep(wait_before_trying_again(attempt, self.random).total_seconds())
            attempt += 1


def wait_before_trying_again(attempt: int, random: Random) -> timedelta:
    """Attempt 1 waits a second, then two, four, eight, ten per cent more or less."""
    wait = timedelta(seconds=2 ** min(max(attempt - 1, 0), 3))
    return min(wait, LONGEST_WAIT) * (1 + JITTER * (2 * random.random() - 1))


def is_worth_another_try(problem: FetchProblem, attempt: int, most: int) -> bool:
    """A GET may be repeated; a problem that time does not heal is not tried again."""
    return attempt <= most and problem.is_transient


async def is_taken_down(database: Database, url: CanonicalUrl) -> bool:
    """For callers that get no held slot at its host, and so are not told by a look before a request."""
    rows = await database.fetch(takedown_queries.takedowns_of_domains, list(domains_above(url.host)))
    return bool(taken_down_in_words(rows, url))


@dataclass(slots=True)
class DatabasePreflight:
    database: Database
    robots_cache: RobotsCache
    body_bytes: int
    strangers: Mapping[Origin, StoredRobots] = field(
        default_factory=dict
    )  # robots.txt that is kept in this process alone
    _hashes: OrderedDict[Origin, bytes] = field(default_factory=OrderedDict, init=False)

    async def look(self, url: CanonicalUrl, held_slot: HeldSlot) -> Clear | Refusal:
        origin = url.origin
        row = await self.database.fetchrow(
            queries.look_before_request,
            url.bucket,
            url.host,
            origin.scheme,
            origin.port,
            list(domains_above(url.host)),
            self._remembered(origin),
        )
        assert row is not None
        if Takedowns(tuple(Takedown(*one) for one in row["takedowns"])).covers(url):
            return TakenDown(url)
        is_job_host = bool(row["serves_jobs"])
        known = self.strangers.get(origin) or stored_robots_from(row)
        permit = await self.robots_cache.ask(url, known, held_slot, is_job_host=is_job_host)
        if not isinstance(permit, Permit):
            return permit
        self._remember(origin, row["body_hash"])
        usual = min(JOB_PAGE_BYTES, self.body_bytes) if is_job_host else self.body_bytes
        most = (row["max_kb_per_page"] or 0) * 1024 or usual
        tdm = stored_tdm_from(row) if row["tdm_rules"] is not None else None
        return Clear(most, bool(row["allow_js"]), permit.statements, tdm)

    def _remembered(self, origin: Origin) -> bytes | None:
        """The hash of the copy we have read already, so that it is not sent again."""
        known = self._hashes.get(origin)
        return known if self.robots_cache.remembers(known) else None

    def _remember(self, origin: Origin, body_hash: bytes | None) -> None:
        if body_hash is not None:
            self._hashes[origin] = body_hash
            self._hashes.move_to_end(origin)
            if len(self._hashes) > REMEMBERED:
                self._hashes.popitem(last=False)


async def is_closed_for_good(reservations: SlotReservations, refused: NotBefore, url: CanonicalUrl) -> bool:
    """A host that was taken down is closed for thousands of years: that is no wait."""
    return refused.why is NoSlot.CLOSED and await is_taken_down(reservations.slots.database, url)


@dataclass(frozen=True, slots=True)
class Follower:
    """Entries do not use this: where one of them leads to another host is an entry of its own."""

    fetcher: Fetcher
    reservations: SlotReservations

    async def fetch(self, request: FetchRequest) -> FetchOutcome:
        """`Later` where a host on the way has no slot soon."""
        while True:
            outcome = await self._at_one_host(request)
            if not isinstance(outcome, LedAway):
                return outcome
            # What was meant for the first server is not told to the next.
            request = replace(
                request,
                url=outcome.to,
                validated=request.validated or request.url,
                hops=outcome.hops,
                permanent=outcome.permanent,
                headers={},
                is_only_inside=False,
            )

    async def _at_one_host(self, request: FetchRequest) -> FetchOutcome:
        async with self.reservations.reserve_slot(request.url.host, request.kind) as held_slot:
            if isinstance(held_slot, NotBefore) and await is_closed_for_good(self.reservations, held_slot, request.url):
                return TakenDown(request.url)
            if isinstance(held_slot, NotBefore):
                return Later(held_slot.wait, request.url, request.hops, held_slot.reason)
            return await self.fetcher.fetch(request, held_slot)
