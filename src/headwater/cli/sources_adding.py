"""`headwater sources add`: look at a site, say what was found, follow it."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from headwater.cli.launch import AsJson, Launch, Launched
from headwater.cli.output import say, show, show_json
from headwater.cli.serving import with_services
from headwater.cli.sources import ACTOR, calmed
from headwater.cli.words import counted, inert, length_of
from headwater.errors import Refused, UsageError

if TYPE_CHECKING:
    from uuid import UUID

    from headwater.discover.adding import Wanted
    from headwater.discover.polls.hearing import Heard
    from headwater.discover.polls.walk import Finding
    from headwater.discover.searching.exploring import Look
    from headwater.services import Services

IN_VAIN = "Found no feed, no sitemap and no list of articles"


@dataclass(frozen=True, slots=True)
class Options:
    """What may be said about a site beside its address."""

    name: Annotated[str, Parameter(help="What to call it; nothing means its host.")] = ""
    kind: Annotated[str, Parameter(help="news, jobs or docs.")] = "news"
    mode: Annotated[str | None, Parameter(help="feed, spider (look through its pages) or both.")] = None
    feed: Annotated[
        tuple[str, ...], Parameter(help="A feed that is known; nothing is looked for then.", negative="")
    ] = ()
    sitemap: Annotated[tuple[str, ...], Parameter(help="A sitemap that is known.", negative="")] = ()
    api: Annotated[bool, Parameter(negative="", help="The address is a JSON API, read by --parser-hint.")] = False
    parser_hint: Annotated[str | None, Parameter(help="A CSS selector for vacancies, or a recipe as JSON.")] = None
    interval: Annotated[str | None, Parameter(help="Such as 15m; nothing means: learn its rhythm.")] = None
    frequency_days: Annotated[float | None, Parameter(help="For job sources: days between two polls.")] = None
    org_type: Annotated[str | None, Parameter(help="For job sources: un, ingo, ngo, academic and so on.")] = None
    priority: Annotated[int, Parameter(help="1 to 10.")] = 5
    tag: Annotated[tuple[str, ...], Parameter(help="Or several, with commas between them.", negative="")] = ()
    timezone: Annotated[str | None, Parameter(help="Such as Europe/Paris.")] = None
    time_window: Annotated[str | None, Parameter(help="Poll only then, such as 22:00-05:00.")] = None
    max_depth: Annotated[int, Parameter(help="How deep links are followed; -1 is without limit.")] = 2

    def wanted(self, url: str) -> "Wanted":
        from headwater.cli.filters import word_of
        from headwater.discover.adding import Wanted
        from headwater.sources.source import Kind, Mode, Profile

        profile = Profile(
            url=url if "://" in url else f"https://{url}",
            name=self.name,
            kind=word_of(Kind, self.kind) or Kind.NEWS,
            priority=self.priority,
            tags=_tags(self.tag),
            org_type=self.org_type,
            timezone=self.timezone,
            poll_every=_interval(self.interval),
            crawl_frequency_days=self.frequency_days,
            time_window=self.time_window,
            max_depth=self.max_depth,
            parser_hint=self.parser_hint,
        )
        return Wanted(profile, self.feed, self.sitemap, word_of(Mode, self.mode), self.api)

    @property
    def says_what_to_poll(self) -> bool:
        return bool(self.feed or self.sitemap or self.api or self.mode) or self.kind != "news"


def _tags(given: tuple[str, ...]) -> tuple[str, ...]:
    from headwater.sources.exchange.fields import as_tags

    try:
        return as_tags(",".join(given))
    except ValueError as error:
        raise UsageError(f"--tag {error}.") from error


def _interval(text: str | None) -> timedelta | None:
    from headwater.settings.durations import parse_duration

    try:
        return parse_duration(text) if text else None
    except ValueError as error:
        raise UsageError(f"--interval {error}, not {text!r}.") from error


def add(
    url: str,
    *,
    options: Annotated[Options, Parameter(name="*")] = Options(),  # noqa: B008 - a frozen value
    no_discover: Annotated[bool, Parameter(negative="", help="Do not look now; a poller will.")] = False,
    dry_run: Annotated[bool, Parameter(negative="", help="Only show what was found.")] = False,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Follow a site: its feeds, sitemaps and listings are looked for, and the first poll is due at once.

    Parameters
    ----------
    url
        The site, or a feed of it.
    """
    wanted = options.wanted(url)

    async def work(services: "Services") -> tuple["Wanted", "Look", str, "UUID | None"]:
        from headwater.discover.searching.exploring import Look
        from headwater.sources.store import require_new

        # Known before the site is asked for anything.
        await require_new(services.database, wanted.profile)
        looks = not (no_discover or options.says_what_to_poll)
        seen, why = await look(services, wanted, is_quiet=json) if looks else (Look(), "")
        chosen = with_findings(wanted, seen.findings)
        chosen = replace(chosen, answers=seen.answers, was_searched=seen.is_whole)
        if seen.is_in_vain:
            chosen = replace(chosen, search_again_at=services.clock.now() + services.settings.poll.discovery_retry)
        return chosen, seen, why, None if dry_run else await store(services, chosen)

    chosen, seen, why, source_id = with_services(calmed(launch), work)
    if json:
        named = {"id": source_id, "name": chosen.profile.name, "url": chosen.profile.url}
        show_json({**named, "found": [told_of(one) for one in seen.findings], "reason": why or None})
    elif source_id is None:
        show("Nothing was stored. Run it again without --dry-run to follow this site.")
    else:
        tell_added(chosen, source_id)


def tell_added(wanted: "Wanted", source_id: "UUID") -> None:
    again = wanted.search_again_at
    when = f"its channels are looked for again on {again:%Y-%m-%d}" if again else "first poll now"
    show(f'Added "{wanted.profile.name}" (id {source_id}), {when}.')
    say(f"Look sooner:      headwater crawl run {source_id}" if again else "Poll it once:     headwater crawl run-due")
    say("Keep polling:     headwater run poll")
    say(f"Watch its polls:  headwater crawl logs {source_id} --follow")


async def look(services: "Services", wanted: "Wanted", *, is_quiet: bool) -> "tuple[Look, str]":
    """And why there is nothing, or nothing at the address itself."""
    from headwater.discover.searching.exploring import explore, summed_up
    from headwater.fetch.following import Follower
    from headwater.run.polling import channel_reader
    from headwater.web import open_web

    site = wanted.profile.address
    if not is_quiet:
        say(f"Looking at {site.host} …")
    async with open_web(services, "headwater sources add") as web, channel_reader(services) as reader:
        follower = Follower(web.fetcher, web.places)
        now = services.clock.now()
        steps = [one async for one in explore(follower, services.database, reader, site, now)]
    require_allowed(steps[0].heard, site.url)
    seen = summed_up(steps)
    trouble = await trouble_with(services, seen, site.url)
    if not is_quiet:
        tell_seen(seen, trouble, services.clock.now())
    return seen, trouble or ("" if seen.findings else IN_VAIN)


def require_allowed(heard: "Heard", url: str) -> None:
    """Raises Refused where we may not ask; a site that is only down now may be followed all the same."""
    from headwater.discover.cadence.rests import ErrorClass
    from headwater.discover.polls.hearing import RobotsRefusal, Trouble

    match heard:
        # A refusal of ours has no status: nobody was asked.
        case RobotsRefusal(why) | Trouble(ErrorClass.FORBIDDEN, why, None):
            is_taken_down = why.endswith("takedown list")
            fix = "See it: headwater takedown list" if is_taken_down else "--no-discover follows it without looking."
            raise Refused(f"{url} may not be asked: {inert(why)}.", fix=fix)


async def trouble_with(services: "Services", seen: "Look", url: str) -> str:
    from headwater.discover.polls.hearing import Wait
    from headwater.discover.trying import why_not

    if seen.trouble is None:
        return ""
    why = inert(await why_not(services.database, seen.trouble))
    return why if isinstance(seen.trouble, Wait) else f"{url}: {why}"


def tell_seen(seen: "Look", trouble: str, now: datetime) -> None:
    if trouble:
        say(f"  {trouble}" if seen.findings or seen.is_in_vain else f"  {trouble}. A poller will look.")
    for number, finding in enumerate(seen.findings, 1):
        show(f"  {number}) {line_of(finding, now)}")
    if seen.is_in_vain:
        say(f"  {IN_VAIN}; a poller will look again.")


def line_of(finding: "Finding", now: datetime) -> str:
    age = f", newest {length_of(max(now - finding.newest, timedelta()))} old" if finding.newest else ""
    lists = counted(finding.items, "item") if finding.items else "an index of sitemaps"
    return f"{finding.kind:8} {finding.url}  {lists}{age}"


def told_of(finding: "Finding") -> dict[str, Any]:
    """How many items an index leads to is not known before its sitemaps are read."""
    return {"kind": finding.kind, "url": finding.url, "title": finding.title, "items": finding.items or None}


def with_findings(wanted: "Wanted", findings: "tuple[Finding, ...]") -> "Wanted":
    from headwater.sources.channels import ChannelKind
    from headwater.sources.source import Mode

    by_kind = {kind: tuple(one.url for one in findings if one.kind is kind) for kind in ChannelKind}
    titles = [one.title for one in findings if one.kind is ChannelKind.FEED and one.title]
    named = replace(wanted.profile, name=titles[0][:200]) if titles and not _is_named(wanted) else wanted.profile
    mode = wanted.mode
    if by_kind[ChannelKind.LISTING] and not by_kind[ChannelKind.FEED]:
        mode = Mode.BOTH if by_kind[ChannelKind.SITEMAP] else Mode.SPIDER
    return replace(
        wanted,
        profile=named,
        feeds=wanted.feeds or by_kind[ChannelKind.FEED],
        sitemaps=wanted.sitemaps or by_kind[ChannelKind.SITEMAP],
        mode=mode,
    )


def _is_named(wanted: "Wanted") -> bool:
    return wanted.profile.name != wanted.profile.address.host


async def store(services: "Services", wanted: "Wanted") -> "UUID":
    from headwater.discover.adding import take_up
    from headwater.discover.api.secrets import secrets_from

    secrets = secrets_from(services.settings.poll.secrets_file)
    async with services.database.transaction() as connection:
        return await take_up(connection, wanted, ACTOR, services.settings.politeness.delay, secrets)
