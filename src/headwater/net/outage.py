"""Whether it is our own network that is down: then no site is to blame, and everybody waits until it is back.

One host that fails says nothing; most domains that were asked lately, failing together, do, if they have answered
before: a list of names that died long ago is no outage. A failure is held back for a moment until the others have said
how they fare: the first ones of an outage are not charged either.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from headwater.clock import Clock
from headwater.errors import NetworkDown
from headwater.figures import NETWORK, Figures
from headwater.log import Logger
from headwater.urls.domains import registrable_domain

if TYPE_CHECKING:
    from headwater.net.problems import FetchProblem

Counted = tuple[int, int]  # domains that fail, domains that answer
Seen = tuple[float, bool]  # when a domain was asked last, and whether that failed

# What a machine without a network meets. A name that does not exist, or a certificate that is wrong, was answered by
# somebody. By their words: every command that opens the database imports this, and none of them a client of the web.
PERHAPS_OURS = frozenset({"dns_failed", "connect_timeout", "connect_refused", "connect_failed", "timeout", "reset"})
FEWEST_DOMAINS = 12
FAILING_PER_ANSWER = 5
# Requests are compared by when they began: dead hosts take longer to fail than others to answer, which have so long.
ANSWERED_WITHIN_S = 10.0
# Already suspicious where nobody answers.
FEW_DOMAINS = 4
# A failure waits so long for what else is under way, and so long for what is about to be claimed.
HELD_S = 10.0
SOON_S = 2.0
LOOKED_AT_S = 0.25
REMEMBERED = 20_000
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 30.0


def outage_in(seen: Iterable[Seen], now: float) -> Counted | None:
    """Whether nearly everything failed that was asked from some moment on: how many domains, and how many answered.

    Newest first. Of a fleet in which two of five are dead, a dozen in a row fail by chance once in 60,000.
    """
    failing = answering = 0
    for began, is_failure in seen:
        failing += is_failure
        answering += not is_failure
        if now - began >= ANSWERED_WITHIN_S and failing >= FEWEST_DOMAINS + FAILING_PER_ANSWER * answering:
            return failing, answering
    return None


def outage_window_for(total_timeout: timedelta) -> float:
    """How long the last word of a domain is remembered, in seconds: as long as a failure may take and is held back."""
    return total_timeout.total_seconds() + 2 * HELD_S


def is_cleared(failing: int, answers_since: int) -> bool:
    """Whether enough has been answered since a failure to blame its own host for it."""
    return answers_since > 0 and answers_since * FAILING_PER_ANSWER >= failing


def held_until(counted: Counted, failed: float, *, others_work: bool, others_come: bool) -> float:
    """The moment up to which a failure is held back, for others to say how they fare."""
    failing, answering = counted
    if others_work or failing >= FEWEST_DOMAINS or (failing >= FEW_DOMAINS and not answering):
        return failed + HELD_S
    return failed + SOON_S if others_come else failed


def next_pause(pause: float) -> float:
    return min(2 * pause, LONGEST_PAUSE_S)


@dataclass(slots=True)
class OutageWindow:
    """How each domain fared the last time it was asked, by when that began."""

    seconds: float
    _last: dict[str, Seen] = field(default_factory=dict)

    def note(self, domain: str, began: float, *, is_failure: bool) -> None:
        if domain not in self._last or self._last[domain][0] <= began:
            self._last[domain] = (began, is_failure)

    def seen(self, now: float) -> list[Seen]:
        """Newest first."""
        self._last = {domain: seen for domain, seen in self._last.items() if now - seen[0] <= self.seconds}
        return sorted(self._last.values(), reverse=True)

    def clear(self) -> None:
        self._last.clear()


@dataclass(slots=True)
class NetworkWatch:
    """One for a process: whatever any role hears of the web is heard here. `clock` is the machine's."""

    clock: Clock
    log: Logger
    has_answered: Callable[[str], Awaitable[bool]]  # whether a host ever did, as far as the database knows
    total_timeout: timedelta = timedelta(seconds=30)  # of a request
    figures: Figures = field(default_factory=Figures)
    on_held: list[Callable[[], None]] = field(default_factory=list, init=False)
    _alive: OrderedDict[str, None] = field(default_factory=OrderedDict, init=False)
    _window: OutageWindow = field(init=False)
    _at_work: int = field(default=0, init=False)
    _held: int = field(default=0, init=False)
    _claiming: set[int] = field(default_factory=set, init=False)
    _answers: int = field(default=0, init=False)
    _counted: Counted = field(default=(0, 0), init=False)
    _outage: Counted | None = field(default=None, init=False)
    _counted_at: float = field(default=float("-inf"), init=False)
    _down_since: float | None = field(default=None, init=False)
    _pause: float = field(default=FIRST_PAUSE_S, init=False)
    _probe_at: float = field(default=0.0, init=False)
    _last_probe: float = field(default=0.0, init=False)
    _probes: int = field(default=0, init=False)
    _news: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def __post_init__(self) -> None:
        self._window = OutageWindow(outage_window_for(self.total_timeout))

    @property
    def is_down(self) -> bool:
        return self._down_since is not None

    @property
    def down_for(self) -> timedelta | None:
        """None while the network is there."""
        return None if self._down_since is None else timedelta(seconds=self.clock.monotonic() - self._down_since)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Around everything that may still ask the web."""
        self._at_work += 1
        try:
            yield
        finally:
            self._at_work -= 1

    def expect(self, work_source: object, *, is_more: bool) -> None:
        """Whether a work source will find more work in a moment."""
        (self._claiming.add if is_more else self._claiming.discard)(id(work_source))

    def held(self) -> int:
        """How many failures wait for what others find."""
        return self._held

    def began(self) -> float:
        return self.clock.monotonic()

    async def judge(self, host: str, began: float, problem: "FetchProblem | None") -> None:
        """Returns where the answer or the failure is the host's own; raises NetworkDown where the failure is ours."""
        domain = registrable_domain(host)
        if problem is None:
            self._window.note(domain, began, is_failure=False)
            self._remember(domain)
            self._answered()
        elif problem.kind in PERHAPS_OURS:
            if domain in self._alive or await self.has_answered(host):
                self._remember(domain)
                self._window.note(domain, began, is_failure=True)
            if not self.is_down:
                with self._holding():
                    await self._hold()
            if self.is_down:
                self._still_down(began)
                raise no_network()

    def wait_before_probe(self) -> timedelta:
        """Until one request may be tried; zero or less where that is now."""
        return timedelta(seconds=self._probe_at - self.clock.monotonic())

    def begin_probe(self) -> None:
        self._last_probe = self.clock.monotonic()
        self._probe_at = self._last_probe + self._pause
        self._probes += 1

    async def until_news(self, seconds: float) -> None:
        """Until the network goes or comes back, or so long."""
        news = self._news
        try:
            async with asyncio.timeout(seconds):
                await news.wait()
        except TimeoutError:
            return

    @contextmanager
    def _holding(self) -> Iterator[None]:
        self._held += 1
        for tell in self.on_held:
            tell()
        try:
            yield
        finally:
            self._held -= 1

    async def _hold(self) -> None:
        failed, answers = self.clock.monotonic(), self._answers
        while True:
            self._count()
            if self._outage:
                self._go_down(*self._outage)
            if self.is_down or is_cleared(self._counted[0], self._answers - answers):
                return
            others_work, others_come = self._at_work > self._held, bool(self._claiming)
            until = held_until(self._counted, failed, others_work=others_work, others_come=others_come)
            left = until - self.clock.monotonic()
            if left <= 0:
                return
            await self.until_news(min(left, LOOKED_AT_S))

    def _count(self) -> None:
        """Not for each of a hundred failures anew."""
        now = self.clock.monotonic()
        if now - self._counted_at < LOOKED_AT_S / 2:
            return
        seen = self._window.seen(now)
        failing = sum(is_failure for _, is_failure in seen)
        self._counted, self._counted_at = (failing, len(seen) - failing), now
        self._outage = outage_in(seen, now)

    def _remember(self, domain: str) -> None:
        self._alive[domain] = None
        self._alive.move_to_end(domain)
        if len(self._alive) > REMEMBERED:
            self._alive.popitem(last=False)

    def _answered(self) -> None:
        self._answers += 1
        if self._down_since is not None:
            seconds = round(self.clock.monotonic() - self._down_since, 1)
            self._down_since, self._pause = None, FIRST_PAUSE_S
            self._window.clear()
            self._outage, self._counted_at = None, float("-inf")
            self.figures.failing.pop(NETWORK, None)
            self.log.warning("network_back", down_seconds=seconds, probes=self._probes)
            self._tell()

    def _go_down(self, failing: int, answering: int) -> None:
        if self.is_down:
            return
        self._down_since = self.clock.monotonic()
        self._pause, self._probes = FIRST_PAUSE_S, 0
        self._last_probe = self._down_since
        self._probe_at = self._down_since + self._pause
        fix = "Look at this machine's network, name servers and proxy. Nothing is charged, and all goes on by itself."
        self.figures.failing[NETWORK] = no_network().what
        self.log.error("network_down", domains_failing=failing, domains_answering=answering, fix=fix)
        self._tell()

    def _still_down(self, began: float) -> None:
        """Requests that were under way when it went down say nothing new."""
        if began >= self._last_probe and self._probes:
            self._pause = next_pause(self._pause)
            self._probe_at = self.clock.monotonic() + self._pause

    def _tell(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


def no_network() -> NetworkDown:
    return NetworkDown(
        "This machine's network is down: nearly everything that was asked lately failed at once.",
        fix="Look at its network, name servers and proxy, then try again.",
    )
