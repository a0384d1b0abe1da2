"""`headwater sources add`: look at a site, say what was found, follow it."""

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headwater.cli.launch import ACTOR, AsJson, Launch, Launched, calmed
from headwater.cli.output import say, show, show_json
from headwater.cli.serving import with_services
from headwater.cli.sources.looking import Seen, scoped, see, told_of, with_findings
from headwater.cli.sources.trying import simulated, tell
from headwater.errors import UsageError

if TYPE_CHECKING:
    from uuid import UUID

    from headwater.discover.adding import Wanted
    from headwater.services import Services

# A name without a dot.
BARE_WORD = re.compile(r"[\w-]+")
SHOWN_ITEMS = 3


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
    max_pages: Annotated[int | None, Parameter(help="How many pages links and sitemaps may bring in all.")] = None
    include: Annotated[
        tuple[str, ...],
        Parameter(
            help="Only paths that begin so, such as /docs/; nothing means for docs: below the address.", negative=""
        ),
    ] = ()
    backfill: Annotated[str | None, Parameter(help="Read its past, too: back so far, such as 1y or 90d.")] = None
    exclude: Annotated[tuple[str, ...], Parameter(help="No paths that begin so.", negative="")] = ()

    def wanted(self, url: str) -> "Wanted":
        from headwater.cli.filters import word_of
        from headwater.discover.adding import Wanted
        from headwater.sources.source import Kind, Mode, Profile

        profile = Profile(
            url=address_from(url),
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
            max_pages=self.max_pages,
            include_paths=_paths(self.include),
            exclude_paths=_paths(self.exclude),
            parser_hint=self.parser_hint,
        )
        return Wanted(
            profile, self.feed, self.sitemap, word_of(Mode, self.mode), self.api, backfill=_back(self.backfill)
        )

    @property
    def names_channels(self) -> bool:
        return bool(self.feed or self.sitemap or self.api)

    @property
    def is_all_looked_for(self) -> bool:
        """Whether the site's channels are unknown. Of a job board, a manual or a page to look through it is known
        what they are, unless the address itself is a feed or a sitemap."""
        return self.kind == "news" and not self.mode


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
    anyway: Annotated[bool, Parameter(negative="", help="Follow it although it does not answer now.")] = False,
    dry_run: Annotated[bool, Parameter(negative="", help="Only show what was found; nothing is stored.")] = False,
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

    async def work(services: "Services") -> "tuple[Wanted, Seen, UUID | None]":
        from headwater.discover.adding import check
        from headwater.discover.api.secrets import secrets_from
        from headwater.sources.store import require_new

        # Known before the site is asked for anything.
        await require_new(services.database, wanted.profile)
        check(wanted, secrets_from(services.settings.poll.secrets_file))
        seen = Seen()
        if not no_discover:
            seen = await see(services, wanted, options, is_quiet=json, is_dry=dry_run, anyway=anyway)
        chosen = with_findings(wanted, seen.look)
        chosen = replace(chosen, answers=seen.look.answers, was_searched=seen.look.is_whole)
        if seen.look.is_in_vain:
            chosen = replace(chosen, search_again_at=services.clock.now() + services.settings.poll.discovery_retry)
        return chosen, seen, None if dry_run else await store(services, chosen)

    chosen, seen, source_id = with_services(calmed(launch), work)
    if json:
        named = {"id": source_id, "name": chosen.profile.name, "url": chosen.profile.url}
        found = [told_of(one) for one in seen.look.findings]
        channels = {"channels": [simulated(one, SHOWN_ITEMS) for one in seen.trials]} if dry_run else {}
        show_json({**named, "found": found, "reason": seen.why or None, **channels})
        return
    for trial in seen.trials:
        tell(trial, SHOWN_ITEMS if dry_run else 0)
    if source_id is None:
        show("Nothing was stored. Run it again without --dry-run to follow this site.")
    else:
        tell_added(chosen, source_id)


def tell_added(wanted: "Wanted", source_id: "UUID") -> None:
    again = wanted.search_again_at
    when = f"its channels are looked for again on {again:%Y-%m-%d}" if again else "first poll now"
    show(f'Added "{wanted.profile.name}" (id {source_id}), {when}.')
    if paths := scoped(wanted).include_paths:
        say(f"Only pages below {', '.join(paths)} are wanted; --include / would be the whole site.")
    if wanted.backfill:
        say(f"Its past is read in the background; how far it is: headwater sources show {source_id}")
    say(f"Look sooner:      headwater crawl run {source_id}" if again else "Poll it once:     headwater crawl run-due")
    say("Keep polling:     headwater up")
    say(f"Watch its polls:  headwater crawl logs {source_id} --follow")


async def store(services: "Services", wanted: "Wanted") -> "UUID":
    from headwater.discover.adding import take_up
    from headwater.discover.api.secrets import secrets_from

    secrets = secrets_from(services.settings.poll.secrets_file)
    async with services.database.transaction() as connection:
        return await take_up(connection, wanted, ACTOR, services.settings.politeness.delay, secrets)
