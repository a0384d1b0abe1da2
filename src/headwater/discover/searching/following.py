"""A site that a person wants to follow: the look at it, the reasons against following it, and the channels chosen.

The look is the search of the background, without storing anything.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from headwater.clock import Clock
from headwater.database.pool import Database
from headwater.discover.adding import WantedSource, channels_of, paths_of
from headwater.discover.api.recipe import recipe_from
from headwater.discover.cadence.rests import ErrorClass
from headwater.discover.polls.reader import ChannelReader, reply_of
from headwater.discover.polls.requesting import (
    Asker,
    Body,
    ChannelAnswer,
    Deferred,
    NotModified,
    RobotsRefusal,
    Trouble,
    classify,
    is_no_page,
    problems_behind,
    sitemaps_of,
)
from headwater.discover.polls.run_state import Finding, RunState, Todo
from headwater.discover.polls.task import Subject, Task
from headwater.discover.searching.search import choose_findings, try_usual_addresses
from headwater.discover.trying import Trial, preview, why_not
from headwater.fetch.fetcher import FetchRequest, Follower
from headwater.net.problems import FetchProblem, Problem
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import Profile, SourceKind, SourceMode
from headwater.sources.store import require_new_feeds, require_new_site
from headwater.storable import one_line
from headwater.urls.canonical import CanonicalUrl, canonicalise

# Where such pages say so; a long page is a paper that may write of anything.
_LOOKED_AT = 65_536
_TAGS = re.compile(r"<[^<>]*>|\s+")
_PHRASES = (
    *("domain is for sale", "domain may be for sale", "domain name is for sale", "buy this domain"),
    *("domain has expired", "domain is parked", "parked free, courtesy of", "domain parking"),
    *("domain steht zum verkauf", "domain ist zu verkaufen", "domain zu verkaufen"),
    *("domaine est à vendre", "dominio está en venta", "dominio está a la venta", "domínio está à venda"),
    *("dominio è in vendita", "domein is te koop", "домен продается", "домен продаётся"),
)
# Hosts that serve such pages for others.
_PROVIDERS = re.compile(
    r"//[\w.-]*\b(?:sedoparking\.com|parkingcrew\.net|bodis\.com|hugedomains\.com|parklogic\.com|above\.com/"
    r"|dan\.com/buy-domain|afternic\.com/forsale|godaddy\.com/forsale|domainmarket\.com/buynow)"
)

IN_VAIN = "Found no feed, no sitemap and no list of articles"
MOVED, BAD_REQUEST, TOO_MANY_REQUESTS, SERVER_ERROR = 300, 400, 429, 500
GONE = frozenset({404, 410})
_UNANSWERED = frozenset(
    {
        *(Problem.DNS_NOT_FOUND, Problem.DNS_FAILED, Problem.CONNECT_TIMEOUT, Problem.CONNECT_REFUSED),
        *(Problem.CONNECT_FAILED, Problem.TLS, Problem.TIMEOUT, Problem.RESET),
    }
)
# An error of the page itself, in words.
IN_WORDS = {
    401: "it wants a password",
    403: "it refuses us",
    404: "there is no such page",
    410: "the page is gone for good",
    429: "it asks us to come back later",
    451: "it may not be shown for legal reasons",
}


@dataclass(frozen=True, slots=True)
class Looked:
    """The answer of one address, and everything found so far."""

    heard: ChannelAnswer
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SiteLook:
    """The result of a whole look."""

    findings: tuple[Finding, ...] = ()
    trouble: NotModified | Trouble | RobotsRefusal | Deferred | None = None  # in place of the page, or what ended it
    is_whole: bool = False  # everything was asked: there is no point in doing so again at once
    answers: tuple[Body, ...] = ()  # for the first polls of what was found
    page: ChannelAnswer | None = None  # the answer of the address itself
    notes: tuple[str, ...] = ()

    @property
    def is_in_vain(self) -> bool:
        return self.is_whole and not self.findings

    @property
    def is_json(self) -> bool:
        """Whether the address answers with JSON that is no feed: an API, which only a recipe can read."""
        return not self.findings and is_json(self.page)


def is_json(heard: ChannelAnswer | None) -> bool:
    return isinstance(heard, Body) and heard.response.body.lstrip()[:1] in (b"{", b"[")


SitemapsOf = Callable[[CanonicalUrl], Awaitable[tuple[str, ...]]]


async def explore(
    follower: Follower,
    sitemaps_of: SitemapsOf,
    reader: ChannelReader,
    site: CanonicalUrl,
    now: datetime,
    *,
    is_all_wanted: bool = True,
) -> AsyncIterator[Looked]:
    """Step by step, so that progress can be shown. It ends where a host is to be left alone: a poller has the time.

    Unless all is wanted only the address itself is asked, to see whether it is a page, a feed or a sitemap.
    """
    subject = Subject(kind=ChannelKind.SEARCH, url=site.url)
    run_state = RunState((Todo(site.url, ChannelKind.SEARCH),))
    while run_state.todo:
        step = run_state.step
        heard = classify(
            await follower.fetch(FetchRequest(canonicalise(step.url), str(step.reads_as))), is_conditional=False
        )
        if isinstance(heard, Body):
            sitemaps = await sitemaps_of(heard.response.url) if run_state.is_first_step else ()
            reply = reply_of(subject.kind, site.url, replace(heard, sitemaps=sitemaps))
            read = await reader.read(Task(subject, run_state, reply, now))
            if isinstance(read, Trouble):
                heard = read
            else:
                run_state = read.run_state
        elif run_state.is_first_step and is_no_page(heard):
            run_state = try_usual_addresses(run_state, site.url, await sitemaps_of(site))
        run_state = run_state.passed(heard.response.url.url if isinstance(heard, Body) else "")
        yield Looked(heard, choose_findings(run_state.findings), run_state.notes)
        # A program answers there, and no page that could name a feed.
        if isinstance(heard, Deferred) or not is_all_wanted or (is_json(heard) and not run_state.findings):
            return


def sum_up(steps: Sequence[Looked], *, is_all_wanted: bool = True) -> SiteLook:
    page, last = steps[0].heard, steps[-1]
    answers = tuple(step.heard for step in steps if isinstance(step.heard, Body))
    if isinstance(last.heard, Deferred):
        # Without a feed nothing of it is followed yet: the search of a poller finds it again, and goes on from there.
        has_feed = any(one.kind is ChannelKind.FEED for one in last.findings)
        return SiteLook(last.findings if has_feed else (), last.heard, answers=answers, page=page, notes=last.notes)
    trouble = None if isinstance(page, Body) else page
    is_whole = (trouble is None or is_no_page(trouble)) and is_all_wanted and not is_json(page)
    return SiteLook(last.findings, trouble, is_whole, answers, page, last.notes)


def is_parked(body: bytes, url: str) -> bool:
    """Whether a page without any feed only offers its domain for sale."""
    page = body[:_LOOKED_AT].decode("utf-8", "replace").lower()
    if _PROVIDERS.search(page) or _PROVIDERS.search(url.lower()):
        return True
    text = _TAGS.sub(" ", page)
    return any(phrase in " ".join(text.split()) for phrase in _PHRASES)


@dataclass(frozen=True, slots=True)
class FollowRequest:
    wanted: WantedSource
    actor: str
    is_looked_at: bool = True  # False: a poller looks for its channels
    is_forced: bool = False  # also where the site does not answer now
    is_dry: bool = False

    @property
    def names_channels(self) -> bool:
        return bool(self.wanted.feeds or self.wanted.sitemaps or self.wanted.is_api)

    @property
    def is_all_looked_for(self) -> bool:
        """Whether the site's channels are unknown. Of a job board, a manual or a page to look through it is known
        what they are, unless the address itself is a feed or a sitemap."""
        return self.wanted.profile.kind is SourceKind.NEWS and self.wanted.mode is None


class Against(StrEnum):
    """Reasons against following a site."""

    NO_SUCH_HOST = "no_such_host"
    NAME_NOT_LOOKED_UP = "name_not_looked_up"
    OFF_LIMITS = "off_limits"  # an address of a private network
    TAKEN_DOWN = "taken_down"
    DISALLOWED = "disallowed"
    UNANSWERED = "unanswered"
    BAD_REDIRECT = "bad_redirect"
    NO_PAGE = "no_page"
    REFUSED = "refused"
    SITE_IN_TROUBLE = "site_in_trouble"
    PARKED = "parked"
    UNKNOWN_JSON = "unknown_json"  # a program answers, and nobody said how to read it


@dataclass(frozen=True, slots=True)
class NotFollowed:
    """`what` is a sentence; `detail` is the reason that the fetch gave, where there is one."""

    against: Against
    what: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class SeenSite:
    """`why` says why there is nothing, or nothing at the address itself."""

    look: SiteLook = field(default_factory=SiteLook)
    why: str = ""
    trials: tuple[Trial, ...] = ()


@dataclass(frozen=True, slots=True)
class LookBegun:
    """Progress: the site is asked from now on."""

    site: CanonicalUrl


@dataclass(frozen=True, slots=True)
class LookEnded:
    """Progress: findings and trouble, before the channels are tried and the source is stored."""

    look: SiteLook
    trouble: str
    chosen: WantedSource


LookListener = Callable[[LookBegun | LookEnded], None]


@dataclass(frozen=True, slots=True)
class Eyes:
    """A look at one site, through the real fetch path."""

    database: Database
    clock: Clock
    asker: Asker
    reader: ChannelReader
    problem_with_name: Callable[[CanonicalUrl], Awaitable[FetchProblem | None]]
    sitemaps_said: Callable[[CanonicalUrl], tuple[str, ...]]  # by a robots.txt that was not stored

    async def see(self, request: FollowRequest, progress: LookListener) -> SeenSite | NotFollowed:
        wanted, site = request.wanted, request.wanted.profile.address
        if not request.is_forced and (hindrance := await self._names(wanted)):
            return hindrance
        is_all_wanted = request.is_all_looked_for
        look = SiteLook() if request.names_channels else await self._look(site, is_all_wanted=is_all_wanted)
        trouble = await self._trouble_with(look, site.url)
        if not request.is_forced:
            if hindrance := against_answer(look.page, trouble, site.url) or against_page(look, site.url):
                return hindrance
            await self._require_no_other(look, site)
        chosen = with_findings(wanted, look)
        if isinstance(chosen, NotFollowed):
            return chosen
        progress(LookEnded(look, trouble, chosen))
        trials = await self._trials(chosen, look, is_dry=request.is_dry)
        is_empty = not look.findings and is_all_wanted and not request.names_channels
        return SeenSite(look, trouble or (IN_VAIN if is_empty else ""), tuple(trials))

    async def _names(self, wanted: WantedSource) -> NotFollowed | None:
        """Whether a name that would be asked leads nowhere; a look-up costs the site nothing."""
        for url in places_asked(wanted):
            problem = await self.problem_with_name(url)
            if problem is not None and (hindrance := against_name(url.host, problem)):
                return hindrance
        return None

    async def _look(self, site: CanonicalUrl, *, is_all_wanted: bool) -> SiteLook:
        looking = explore(
            self.asker.follower, self._sitemaps, self.reader, site, self.clock.now(), is_all_wanted=is_all_wanted
        )
        return sum_up([one async for one in looking], is_all_wanted=is_all_wanted)

    async def _sitemaps(self, url: CanonicalUrl) -> tuple[str, ...]:
        return self.sitemaps_said(url) or await sitemaps_of(self.database, url)

    async def _trouble_with(self, look: SiteLook, url: str) -> str:
        if look.trouble is None:
            return ""
        why = one_line(await why_not(self.database, look.trouble))
        return why if isinstance(look.trouble, Deferred) else f"{url}: {why}"

    async def _require_no_other(self, look: SiteLook, site: CanonicalUrl) -> None:
        """Raises UsageError where the address leads to a site, or names only feeds, that other sources have."""
        if isinstance(look.page, Body):
            await require_new_site(self.database, site, look.page.response.url)
        feeds = [canonicalise(one.url) for one in look.findings if one.kind is ChannelKind.FEED]
        await require_new_feeds(self.database, feeds)

    async def _trials(self, wanted: WantedSource, look: SiteLook, *, is_dry: bool) -> list[Trial]:
        """Of a dry run all channels; else only a list of vacancies that was heard already."""
        now, profile = self.clock.now(), scoped(wanted)
        answers = {one.response.url.url_hash: one for one in look.answers}
        is_told = wanted.profile.kind is SourceKind.JOBS
        return [
            await preview(self.asker, self.reader, profile, one, now, answers.get(one.url.url_hash))
            for one in channels_of(wanted)
            if one.kind is not ChannelKind.SEARCH and (is_dry or (is_told and one.url.url_hash in answers))
        ]


def places_asked(wanted: WantedSource) -> list[CanonicalUrl]:
    """One address of each host that polls of its channels would ask first; the recipe of an API may name its own."""
    hint = wanted.profile.parser_hint
    asked = [
        canonicalise(recipe_from(one.recipe or hint, one.url.url).url) if one.kind is ChannelKind.API else one.url
        for one in channels_of(wanted)
    ]
    return list({url.host: url for url in asked}.values())


def scoped(wanted: WantedSource) -> Profile:
    """Its profile as it would be stored."""
    return replace(wanted.profile, include_paths=paths_of(wanted.profile, channels_of(wanted)))


def against_name(host: str, problem: FetchProblem) -> NotFollowed | None:
    match problem.kind:
        case Problem.DNS_NOT_FOUND:
            return NotFollowed(Against.NO_SUCH_HOST, f"There is no host called {host}.")
        case Problem.DNS_FAILED:
            what = f"The name {host} could not be looked up: {one_line(problem.detail)}."
            return NotFollowed(Against.NAME_NOT_LOOKED_UP, what)
    return None


def against_answer(page: ChannelAnswer | None, trouble: str, url: str) -> NotFollowed | None:
    """Where we may not ask, and where nobody answers; an answer with an error is one."""
    match page:
        case Trouble(ErrorClass.FORBIDDEN, why, None) if why.startswith(Problem.BLOCKED_ADDRESS):
            said = one_line(why.partition(": ")[2])
            return NotFollowed(Against.OFF_LIMITS, f"{url} may not be asked: {said}.", why)
        # A refusal of ours has no status: nobody was asked.
        case RobotsRefusal(why) | Trouble(ErrorClass.FORBIDDEN, why, None):
            against = Against.TAKEN_DOWN if why.endswith("takedown list") else Against.DISALLOWED
            return NotFollowed(against, f"{url} may not be asked: {one_line(why)}.", why)
    if is_unanswered(page):
        return NotFollowed(Against.UNANSWERED, f"{url} does not answer: {trouble.removeprefix(f'{url}: ')}.")
    return None


def against_page(look: SiteLook, url: str) -> NotFollowed | None:
    """Where the address answers with an error or offers itself for sale, and no channel was found beside it."""
    match look.page:
        case Trouble(_, why, int(status)) if not look.findings and MOVED <= status < BAD_REQUEST:
            return NotFollowed(Against.BAD_REDIRECT, f"{url} answers with {one_line(why)}.")
        case Trouble(_, _, int(status)) if not look.findings and status != TOO_MANY_REQUESTS and status >= BAD_REQUEST:
            what = f"{url} answers with HTTP {status}{meaning_of(look.page)}."
            if status >= SERVER_ERROR:
                return NotFollowed(Against.SITE_IN_TROUBLE, what)
            return NotFollowed(Against.NO_PAGE if status in GONE else Against.REFUSED, what)
        case Body(response) if all(one.kind is ChannelKind.LISTING for one in look.findings):
            if is_parked(response.body, response.url.url):
                return NotFollowed(Against.PARKED, f"{url} is a parked domain: nobody publishes there.")
    return None


def is_unanswered(heard: ChannelAnswer | None) -> bool:
    """Whether nobody answered at all: the host may be down, or not be there."""
    match heard:
        case Trouble(ErrorClass.NETWORK, _, None):
            return True
        case Deferred(_, why):
            return not _UNANSWERED.isdisjoint(problems_behind(why))
    return False


def meaning_of(page: ChannelAnswer | None) -> str:
    """The end of a sentence about an answer with an error; empty where its status says nothing more."""
    status = page.status if isinstance(page, Trouble) and page.status else 0
    meaning = IN_WORDS.get(status, "the site has trouble of its own" if status >= SERVER_ERROR else "")
    return f": {meaning}" if meaning else ""


def chosen_from(wanted: WantedSource, look: SiteLook, search_again_at: datetime) -> WantedSource | NotFollowed:
    """As it is stored: with the channels found, and their answers for the first polls."""
    chosen = with_findings(wanted, look)
    if isinstance(chosen, NotFollowed):
        return chosen
    chosen = replace(chosen, answers=look.answers, was_searched=look.is_whole)
    return replace(chosen, search_again_at=search_again_at) if look.is_in_vain else chosen


def with_findings(wanted: WantedSource, look: SiteLook) -> WantedSource | NotFollowed:
    if look.is_json:
        return as_api(wanted, look.notes)
    wanted = at_its_address(wanted, look)
    feeds, sitemaps, lists = (
        tuple(one.url for one in look.findings if one.kind is kind)
        for kind in (ChannelKind.FEED, ChannelKind.SITEMAP, ChannelKind.LISTING)
    )
    titles = [one.title for one in look.findings if one.kind is ChannelKind.FEED and one.title]
    named = replace(wanted.profile, name=titles[0][:200]) if titles and not _is_named(wanted) else wanted.profile
    mode = mode_with(wanted, feeds, sitemaps, has_list=bool(lists))
    return replace(wanted, profile=named, feeds=wanted.feeds or feeds, sitemaps=wanted.sitemaps or sitemaps, mode=mode)


def mode_with(
    wanted: WantedSource, feeds: Sequence[str], sitemaps: Sequence[str], *, has_list: bool
) -> SourceMode | None:
    mode = wanted.mode
    # A list is used where no feed has items.
    if has_list and wanted.profile.kind is SourceKind.NEWS:
        mode = SourceMode.BOTH if sitemaps or feeds else SourceMode.SPIDER
    # The address is a feed or a sitemap: there is no page to look through.
    return SourceMode.FEED if mode is SourceMode.SPIDER and (feeds or sitemaps) else mode


def at_its_address(wanted: WantedSource, look: SiteLook) -> WantedSource:
    """A site that moved to another host for good is followed there: pages of the new host would be out of scope."""
    moved_to = look.page.moved_to if isinstance(look.page, Body) else None
    if moved_to is None or moved_to.host == wanted.profile.address.host:
        return wanted
    name = wanted.profile.name if _is_named(wanted) else ""
    return replace(wanted, profile=replace(wanted.profile, url=moved_to.url, name=name))


def as_api(wanted: WantedSource, notes: Sequence[str]) -> WantedSource | NotFollowed:
    if wanted.is_api or (wanted.profile.parser_hint or "").lstrip().startswith("{"):
        return replace(wanted, is_api=True)
    what = " ".join((f"{wanted.profile.url} answers with JSON that is no JSON Feed.", *notes))
    return NotFollowed(Against.UNKNOWN_JSON, what)


def _is_named(wanted: WantedSource) -> bool:
    return wanted.profile.name != wanted.profile.address.site
