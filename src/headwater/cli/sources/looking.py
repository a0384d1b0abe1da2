"""The look at a site before it is followed: what answers there, what was found, what a first poll would bring."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from headwater.cli.output import say, show
from headwater.cli.words import counted, inert, length_of
from headwater.errors import DependencyDown, NotFound, Refused, UsageError

if TYPE_CHECKING:
    from headwater.discover.adding import Wanted
    from headwater.discover.polls.classify import Heard
    from headwater.discover.polls.run_state import Finding
    from headwater.discover.searching.exploring import Look, SitemapsOf
    from headwater.discover.trying import Trial
    from headwater.net.problems import FetchProblem
    from headwater.services import Services
    from headwater.sources.channels import NewChannel
    from headwater.sources.source import Profile
    from headwater.urls.canonical import CanonicalUrl
    from headwater.web import Web

IN_VAIN = "Found no feed, no sitemap and no list of articles"
ANYWAY = "Try again later, or follow it all the same with --anyway."
MOVED, BAD_REQUEST, TOO_MANY_REQUESTS, SERVER_ERROR = 300, 400, 429, 500
GONE = frozenset({404, 410})
# An error of the page itself, in words.
IN_WORDS = {
    401: "it wants a password",
    403: "it refuses us",
    404: "there is no such page",
    410: "the page is gone for good",
    429: "it asks us to come back later",
    451: "it may not be shown for legal reasons",
}


class Options(Protocol):
    """What a person said of a site, as far as the look depends on it."""

    @property
    def names_channels(self) -> bool: ...

    @property
    def is_all_looked_for(self) -> bool: ...


def no_look() -> "Look":
    from headwater.discover.searching.exploring import Look

    return Look()


@dataclass(frozen=True, slots=True)
class Seen:
    """`why` says why there is nothing, or nothing at the address itself."""

    look: "Look" = field(default_factory=no_look)
    why: str = ""
    trials: "tuple[Trial, ...]" = ()


async def see(
    services: "Services", wanted: "Wanted", options: Options, *, is_quiet: bool, is_dry: bool, anyway: bool
) -> Seen:
    """Raises NotFound or DependencyDown where nobody answers, Refused where we may not ask."""
    from headwater.run.polling import channel_reader
    from headwater.web import open_web

    site = wanted.profile.address
    if not is_quiet and (is_dry or not options.names_channels):
        say(f"Looking at {site.site} …")
    async with (
        open_web(services, "headwater sources add", leaves_no_trace=is_dry) as web,
        channel_reader(services) as reader,
    ):
        if not anyway:
            await require_names(web, wanted)
        eyes = _Eyes(services, web, reader)
        look = no_look() if options.names_channels else await eyes.look(site, is_all_wanted=options.is_all_looked_for)
        trouble = await eyes.trouble_with(look, site.url)
        if not anyway:
            require_answer(look.page, trouble, site.url)
            require_page(look, site.url)
            await require_no_other(services, look, site)
        chosen = with_findings(wanted, look)
        if not is_quiet:
            tell_moved(wanted, chosen)
            tell_seen(look, trouble, services.clock.now())
        trials = await eyes.trials(chosen, look, is_dry=is_dry)
    is_empty = not look.findings and options.is_all_looked_for and not options.names_channels
    return Seen(look, trouble or (IN_VAIN if is_empty else ""), tuple(trials))


@dataclass(frozen=True, slots=True)
class _Eyes:
    services: "Services"
    web: "Web"
    reader: Any

    async def look(self, site: "CanonicalUrl", *, is_all_wanted: bool) -> "Look":
        from headwater.discover.searching.exploring import explore, summed_up
        from headwater.fetch.following import Follower

        follower, now = Follower(self.web.fetcher, self.web.reservations), self.services.clock.now()
        looking = explore(follower, self.sitemaps, self.reader, site, now, is_all_wanted=is_all_wanted)
        return summed_up([one async for one in looking], is_all_wanted=is_all_wanted)

    @property
    def sitemaps(self) -> "SitemapsOf":
        from headwater.discover.polls.requesting import sitemaps_of

        async def named(url: "CanonicalUrl") -> tuple[str, ...]:
            return self.web.strangers.sitemaps.get(url.site) or await sitemaps_of(self.services.database, url)

        return named

    async def trouble_with(self, look: "Look", url: str) -> str:
        from headwater.discover.polls.classify import Wait
        from headwater.discover.trying import why_not

        if look.trouble is None:
            return ""
        why = inert(await why_not(self.services.database, look.trouble))
        return why if isinstance(look.trouble, Wait) else f"{url}: {why}"

    async def trials(self, wanted: "Wanted", look: "Look", *, is_dry: bool) -> "list[Trial]":
        """Of a dry run all channels; else only a list of vacancies that was heard already."""
        from headwater.discover.trying import preview
        from headwater.run.polling import poll_of
        from headwater.sources.channels import ChannelKind
        from headwater.sources.source import Kind

        asker = poll_of(self.services, self.web, self.reader).asker
        now, profile = self.services.clock.now(), scoped(wanted)
        answers = {one.response.url.url_hash: one for one in look.answers}
        is_told = wanted.profile.kind is Kind.JOBS
        return [
            await preview(asker, self.reader, profile, one, now, answers.get(one.url.url_hash))
            for one in polled_by(wanted)
            if one.kind is not ChannelKind.SEARCH and (is_dry or (is_told and one.url.url_hash in answers))
        ]


def polled_by(wanted: "Wanted") -> "list[NewChannel]":
    from headwater.discover.adding import channels_of

    return channels_of(wanted)


def scoped(wanted: "Wanted") -> "Profile":
    """Its profile as it would be stored."""
    from headwater.discover.adding import paths_of

    return replace(wanted.profile, include_paths=paths_of(wanted.profile, polled_by(wanted)))


async def require_names(web: "Web", wanted: "Wanted") -> None:
    """Raises where a name that would be asked leads nowhere; a look-up costs the site nothing."""
    from headwater.discover.trying import places_asked

    for url in places_asked(wanted.profile, polled_by(wanted), web.strangers.clock.now()):
        problem = await web.transport.problem_with_name(url)
        if problem is not None:
            require_name(url.host, problem)


def require_name(host: str, problem: "FetchProblem") -> None:
    from headwater.net.problems import Problem

    match problem.kind:
        case Problem.DNS_NOT_FOUND:
            fix = "Check how it is spelled. If it is only missing just now, follow it all the same with --anyway."
            raise NotFound(f"There is no host called {host}.", fix=fix)
        case Problem.DNS_FAILED:
            detail = inert(problem.detail)
            raise DependencyDown(f"The name {host} could not be looked up: {detail}.", fix=ANYWAY)


def require_answer(page: "Heard | None", trouble: str, url: str) -> None:
    """Raises Refused where we may not ask, DependencyDown where nobody answers; an answer with an error is one."""
    from headwater.discover.cadence.rests import ErrorClass
    from headwater.discover.polls.classify import RobotsRefusal, Trouble
    from headwater.discover.trying import is_unanswered
    from headwater.net.problems import Problem

    match page:
        case Trouble(ErrorClass.FORBIDDEN, why, None) if why.startswith(Problem.BLOCKED_ADDRESS):
            raise Refused(f"{url} may not be asked: {inert(why.partition(': ')[2])}.", fix=way_to_allow(why))
        # A refusal of ours has no status: nobody was asked.
        case RobotsRefusal(why) | Trouble(ErrorClass.FORBIDDEN, why, None):
            is_taken_down = why.endswith("takedown list")
            fix = "See it: headwater takedown list" if is_taken_down else "--no-discover follows it without looking."
            raise Refused(f"{url} may not be asked: {inert(why)}.", fix=fix)
    if is_unanswered(page):
        raise DependencyDown(f"{url} does not answer: {trouble.removeprefix(f'{url}: ')}.", fix=ANYWAY)


def way_to_allow(why: str) -> str:
    """The setting that lets a place of one's own network be asked, as it is written."""
    from headwater.cli.fetch import allowing, off_limits

    place = off_limits(why) or "10.1.2.3:8080"
    # Whoever polls it needs it, too.
    return f"{allowing(place)}, or for all commands: HEADWATER_NETWORK__ALLOW={place}"


def require_page(look: "Look", url: str) -> None:
    """Raises where the address answers with an error or offers itself for sale, and no channel was found beside it."""
    from headwater.discover.polls.classify import Body, Trouble
    from headwater.discover.searching.parking import is_parked
    from headwater.sources.channels import ChannelKind

    match look.page:
        case Trouble(_, why, int(status)) if not look.findings and MOVED <= status < BAD_REQUEST:
            fix = "Give the address where a browser ends up. Follow this one all the same with --anyway."
            raise NotFound(f"{url} answers with {inert(why)}.", fix=fix)
        case Trouble(_, _, int(status)) if not look.findings and status != TOO_MANY_REQUESTS and status >= BAD_REQUEST:
            what = f"{url} answers with HTTP {status}{_meaning(look.page)}."
            if status >= SERVER_ERROR:
                raise DependencyDown(what, fix=ANYWAY)
            if status in GONE:
                raise NotFound(what, fix="Check the address. If it is only missing just now, follow it with --anyway.")
            raise Refused(what, fix="Follow it all the same with --anyway; it is asked again now and then.")
        case Body(response) if all(one.kind is ChannelKind.LISTING for one in look.findings):
            if is_parked(response.body, response.url.url):
                fix = "Check how the name is spelled. Follow it all the same with --anyway."
                raise NotFound(f"{url} is a parked domain: nobody publishes there.", fix=fix)


async def require_no_other(services: "Services", look: "Look", site: "CanonicalUrl") -> None:
    """Raises UsageError where the address leads to a site, or names only feeds, that other sources have."""
    from headwater.discover.polls.classify import Body
    from headwater.sources.channels import ChannelKind
    from headwater.sources.store import require_new_feeds, require_new_site
    from headwater.urls.canonical import canonicalise

    if isinstance(look.page, Body):
        await require_new_site(services.database, site, look.page.response.url)
    feeds = [canonicalise(one.url) for one in look.findings if one.kind is ChannelKind.FEED]
    await require_new_feeds(services.database, feeds)


def tell_moved(wanted: "Wanted", chosen: "Wanted") -> None:
    if chosen.profile.url != wanted.profile.url:
        say(f"  {wanted.profile.address.url} moved to {chosen.profile.url} for good, and is followed there.")


def tell_seen(seen: "Look", trouble: str, now: datetime) -> None:
    if trouble:
        told = (trouble if seen.findings else f"{trouble}{_meaning(seen.page)}").rstrip(".")
        say(f"  {told}" if seen.findings or seen.is_in_vain else f"  {told}. A poller will look.")
    for number, finding in enumerate(seen.findings, 1):
        show(f"  {number}) {line_of(finding, now)}")
        if finding.damage:
            show(f"     damaged: {inert(finding.damage)} What could be read is taken.")
    if seen.is_in_vain:
        say(f"  {IN_VAIN}; a poller will look again.")


def _meaning(page: "Heard | None") -> str:
    from headwater.discover.polls.classify import Trouble

    status = page.status if isinstance(page, Trouble) and page.status else 0
    meaning = IN_WORDS.get(status, "the site has trouble of its own" if status >= 500 else "")
    return f": {meaning}" if meaning else ""


def line_of(finding: "Finding", now: datetime) -> str:
    age = f", newest {length_of(max(now - finding.newest, timedelta()))} old" if finding.newest else ""
    none = "empty: it lists no items now" if finding.is_empty else "an index of sitemaps"
    lists = counted(finding.items, "item") if finding.items else none
    return f"{finding.kind:8} {finding.url}  {lists}{age}"


def told_of(finding: "Finding") -> dict[str, Any]:
    """How many items an index leads to is not known before its sitemaps are read."""
    items = finding.items if finding.items or finding.is_empty else None
    damage = {"damage": finding.damage} if finding.damage else {}
    return {"kind": finding.kind, "url": finding.url, "title": finding.title, "items": items, **damage}


def with_findings(wanted: "Wanted", seen: "Look") -> "Wanted":
    """Raises UsageError for JSON that nobody said how to read."""
    from headwater.sources.channels import ChannelKind
    from headwater.sources.source import Kind, Mode

    if seen.is_json:
        return as_api(wanted)
    wanted = at_its_address(wanted, seen)
    by_kind = {kind: tuple(one.url for one in seen.findings if one.kind is kind) for kind in ChannelKind}
    feeds, sitemaps = by_kind[ChannelKind.FEED], by_kind[ChannelKind.SITEMAP]
    titles = [one.title for one in seen.findings if one.kind is ChannelKind.FEED and one.title]
    named = replace(wanted.profile, name=titles[0][:200]) if titles and not _is_named(wanted) else wanted.profile
    mode = wanted.mode
    # A list is used where no feed has items.
    if by_kind[ChannelKind.LISTING] and wanted.profile.kind is Kind.NEWS:
        mode = Mode.BOTH if sitemaps or feeds else Mode.SPIDER
    if mode is Mode.SPIDER and (feeds or sitemaps):
        # The address is a feed or a sitemap: there is no page to look through.
        mode = Mode.FEED
    return replace(wanted, profile=named, feeds=wanted.feeds or feeds, sitemaps=wanted.sitemaps or sitemaps, mode=mode)


def at_its_address(wanted: "Wanted", seen: "Look") -> "Wanted":
    """A site that moved to another host for good is followed there: pages of the new host would be out of scope."""
    from headwater.discover.polls.classify import Body

    moved_to = seen.page.moved_to if isinstance(seen.page, Body) else None
    if moved_to is None or moved_to.host == wanted.profile.address.host:
        return wanted
    name = wanted.profile.name if _is_named(wanted) else ""
    return replace(wanted, profile=replace(wanted.profile, url=moved_to.url, name=name))


def as_api(wanted: "Wanted") -> "Wanted":
    if wanted.is_api or (wanted.profile.parser_hint or "").lstrip().startswith("{"):
        return replace(wanted, is_api=True)
    raise UsageError(
        f"{wanted.profile.url} answers with JSON that is no JSON Feed.",
        fix="Say how to read it: --api --parser-hint RECIPE; docs/discovery.md has examples of recipes.",
    )


def _is_named(wanted: "Wanted") -> bool:
    return wanted.profile.name != wanted.profile.address.site
