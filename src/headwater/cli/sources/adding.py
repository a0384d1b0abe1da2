"""`headwater sources add`: look at a site, show its channels, follow it."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headwater.cli.launch import ACTOR, AsJson, Launch, Launched, with_quiet_log, with_services
from headwater.cli.output import say, show, show_json
from headwater.cli.pollers import WHEN_RESUMED, warn_while_paused
from headwater.cli.sources.trying import tell
from headwater.cli.words import inert, length_of, quantity
from headwater.errors import DependencyDown, HeadwaterError, NotFound, Refused, UsageError
from headwater.shapes.trials import added_as_dict

if TYPE_CHECKING:
    from uuid import UUID

    from headwater.actions.sources import Added
    from headwater.discover.adding import WantedSource
    from headwater.discover.polls.run_state import Finding
    from headwater.discover.searching.following import FollowRequest, LookBegun, LookEnded, NotFollowed
    from headwater.reports.pollers import PollersNow
    from headwater.services import Services

# A name without a dot.
BARE_WORD = re.compile(r"[\w-]+")
SHOWN_ITEMS = 3
ANYWAY = "Try again later, or follow it all the same with --anyway."
# What stands against following a site -> the error it is, and the way on.
WAYS_ON: MappingProxyType[str, tuple[type[HeadwaterError], str]] = MappingProxyType(
    {
        "no_such_host": (
            NotFound,
            "Check how it is spelled. If it is only missing just now, follow it all the same with --anyway.",
        ),
        "name_not_looked_up": (DependencyDown, ANYWAY),
        "off_limits": (Refused, ""),
        "taken_down": (Refused, "See it: headwater takedown list"),
        "disallowed": (Refused, "--no-discover follows it without looking."),
        "unanswered": (DependencyDown, ANYWAY),
        "bad_redirect": (
            NotFound,
            "Give the address where a browser ends up. Follow this one all the same with --anyway.",
        ),
        "no_page": (NotFound, "Check the address. If it is only missing just now, follow it with --anyway."),
        "refused": (Refused, "Follow it all the same with --anyway; it is asked again now and then."),
        "site_in_trouble": (DependencyDown, ANYWAY),
        "parked": (NotFound, "Check how the name is spelled. Follow it all the same with --anyway."),
        "unknown_json": (
            UsageError,
            "Say how to read it: --api --parser-hint RECIPE; docs/discovery.md has examples of recipes.",
        ),
    }
)


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """The options of a source beside its address."""

    name: Annotated[str, Parameter(help="Its name; without one it is called by its host.")] = ""
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
    max_pages: Annotated[int | None, Parameter(help="How many pages links and sitemaps may bring in all.")] = None
    include: Annotated[
        tuple[str, ...],
        Parameter(
            help="Only paths that begin so, such as /docs/; nothing means for docs: below the address.", negative=""
        ),
    ] = ()
    backfill: Annotated[str | None, Parameter(help="Read its past, too: back so far, such as 1y or 90d.")] = None
    exclude: Annotated[tuple[str, ...], Parameter(help="No paths that begin so.", negative="")] = ()

    def wanted(self, url: str) -> "WantedSource":
        from headwater.cli.filters import word_of
        from headwater.discover.adding import WantedSource
        from headwater.sources.source import Profile, SourceKind, SourceMode

        profile = Profile(
            url=address_from(url),
            name=self.name,
            kind=word_of("kind", SourceKind, self.kind) or SourceKind.NEWS,
            priority=self.priority,
            tags=_tags(self.tag),
            org_type=self.org_type,
            timezone=self.timezone,
            poll_every=_interval(self.interval),
            crawl_frequency_days=self.frequency_days,
            time_window=self.time_window,
            max_depth=self.max_depth,
            max_pages=self.max_pages,
            include_paths=_paths(self.include),
            exclude_paths=_paths(self.exclude),
            parser_hint=self.parser_hint,
        )
        return WantedSource(
            profile,
            self.feed,
            self.sitemap,
            word_of("mode", SourceMode, self.mode),
            self.api,
            backfill=_back(self.backfill),
        )


def address_from(text: str) -> str:
    """Raises UsageError for a word that nobody would find on the web."""
    if "://" in text:
        return text
    if BARE_WORD.fullmatch(text) and text.lower() != "localhost":
        raise UsageError(
            f"{text!r} is not the address of a site: a name on the web has a dot in it, such as example.org.",
            fix=f"Write the whole address. For a host of your own network: http://{text}/",
        )
    return f"https://{text}"


def _back(text: str | None) -> timedelta | None:
    from headwater.settings.durations import parse_span

    try:
        return parse_span(text) if text else None
    except ValueError as error:
        raise UsageError(f"--backfill {error}, not {text!r}.") from error


def _paths(given: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(path.strip() for text in given for path in text.split(",") if path.strip())


def _tags(given: tuple[str, ...]) -> tuple[str, ...]:
    from headwater.sources.source import tags_from

    try:
        return tags_from(",".join(given))
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
    options: Annotated[SourceOptions, Parameter(name="*")] = SourceOptions(),  # noqa: B008 - a frozen value
    no_discover: Annotated[bool, Parameter(negative="", help="Do not look now; a poller will.")] = False,
    anyway: Annotated[bool, Parameter(negative="", help="Follow it although it does not answer now.")] = False,
    dry_run: Annotated[bool, Parameter(negative="", help="Only show the channels found; nothing is stored.")] = False,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Follow a site: its feeds, sitemaps and listings are looked for, and the first poll is due at once.

    Parameters
    ----------
    url
        The site, or a feed of it.
    """
    from headwater.discover.searching.following import FollowRequest

    request = FollowRequest(options.wanted(url), ACTOR, is_looked_at=not no_discover, is_forced=anyway, is_dry=dry_run)

    async def work(services: "Services") -> "tuple[Added | NotFollowed, PollersNow]":
        from headwater.actions.sources import add_source
        from headwater.reports.pollers import pollers_now

        if request.is_looked_at:
            await warn_while_paused(services)
        now = services.clock.now()
        added = await add_source(services, request, (lambda _: None) if json else partial(tell_step, request, now))
        return added, await pollers_now(services.database)

    added, pollers = with_services(with_quiet_log(launch), work)
    show_added(require_added(added), pollers, is_dry=dry_run, json=json)


def show_added(added: "Added", pollers: "PollersNow", *, is_dry: bool, json: bool) -> None:
    if json:
        show_json(added_as_dict(added, SHOWN_ITEMS, is_dry=is_dry))
        return
    for trial in added.trials:
        tell(trial, SHOWN_ITEMS if is_dry else 0)
    if added.source_id is None:
        show("Nothing was stored. Run it again without --dry-run to follow this site.")
    else:
        tell_added(added.wanted, added.source_id, pollers)


def require_added(outcome: "Added | NotFollowed") -> "Added":
    """Raises the error whose exit code says why a site is not followed, with the way on."""
    from headwater.discover.searching.following import Against, NotFollowed

    if not isinstance(outcome, NotFollowed):
        return outcome
    error, fix = WAYS_ON[outcome.against]
    raise error(outcome.what, fix=way_to_allow(outcome.detail) if outcome.against is Against.OFF_LIMITS else fix)


def way_to_allow(why: str) -> str:
    """The setting that lets a place of one's own network be asked, as it is written."""
    from headwater.cli.fetch import allowing, off_limits

    place = off_limits(why) or "10.1.2.3:8080"
    # Its polls need it, too.
    return f"{allowing(place)}, or for all commands: HEADWATER_NETWORK__ALLOW={place}"


def tell_step(request: "FollowRequest", now: datetime, step: "LookBegun | LookEnded") -> None:
    from headwater.discover.searching.following import LookEnded

    if isinstance(step, LookEnded):
        tell_seen(request.wanted, now, step)
    elif request.is_dry or not request.names_channels:
        say(f"Looking at {step.site.site} …")


def tell_seen(wanted: "WantedSource", now: datetime, step: "LookEnded") -> None:
    from headwater.discover.searching.following import IN_VAIN, meaning_of

    look, trouble, address = step.look, step.trouble, step.chosen.profile.url
    if address != wanted.profile.url:
        say(f"  {wanted.profile.address.url} moved to {address} for good, and is followed there.")
    if trouble:
        told = inert(trouble if look.findings else f"{trouble}{meaning_of(look.page)}").rstrip(".")
        say(f"  {told}" if look.findings or look.is_in_vain else f"  {told}. A poller will look.")
    for number, finding in enumerate(look.findings, 1):
        show(f"  {number}) {line_of(finding, now)}")
        if finding.damage:
            show(f"     damaged: {inert(finding.damage)} What could be read is taken.")
    for note in look.notes:
        say(f"  {inert(note)}")
    if look.is_in_vain:
        say(f"  {IN_VAIN}; a poller will look again.")


def line_of(finding: "Finding", now: datetime) -> str:
    age = f", newest {length_of(max(now - finding.newest, timedelta()))} old" if finding.newest else ""
    none = "empty: it lists no items now" if finding.is_empty else "an index of sitemaps"
    lists = quantity(finding.items, "item") if finding.items else none
    return f"{finding.kind:8} {finding.url}  {lists}{age}"


def tell_added(wanted: "WantedSource", source_id: "UUID", pollers: "PollersNow") -> None:
    from headwater.discover.searching.following import scoped

    again = wanted.search_again_at
    first = WHEN_RESUMED if pollers.pause else "now"
    when = f"its channels are looked for again on {again:%Y-%m-%d}" if again else f"first poll {first}"
    show(f'Added "{wanted.profile.name}" (id {source_id}), {when}.')
    if paths := scoped(wanted).include_paths:
        say(f"Only pages below {', '.join(paths)} are wanted; --include / would be the whole site.")
    if wanted.backfill:
        say(f"Its past is read in the background; how far it is: headwater sources show {source_id}")
    if again:
        say(f"Look sooner:      headwater crawl run {source_id}")
    tell_who_polls(pollers, is_due=not again)
    say(f"Watch its polls:  headwater crawl logs {source_id} --follow")


def tell_who_polls(pollers: "PollersNow", *, is_due: bool) -> None:
    """How to have it polled, unless somebody polls it anyway."""
    if told := pollers.in_words():
        say(inert(told))
        return
    if is_due:
        say("Poll it once:     headwater crawl run-due")
    say("Keep polling:     headwater up")
