"""`headwater frontier`: the queue of URLs, to look at, add to, retry and remove from."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter
from cyclopts.validators import Number

from headwater.cli.consent import Yes, require_consent
from headwater.cli.launch import AsJson, Cursor, Launch, Launched, with_services
from headwater.cli.output import say, say_more, show, show_json, show_table
from headwater.cli.words import in_words, quantity, shorten
from headwater.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.actions.urls import FrontierStats, QueuedUrl
    from headwater.frontier.listing import EntryTotal
    from headwater.frontier.reads import EntryPage, FailureClass, Filter
    from headwater.services import Services

PARTLY = 3
# Who works at a terminal, in what is kept of it.
A_PERSON = "a person"
DryRun = Annotated[bool, Parameter(negative="", help="Say what would become of each, and change nothing.")]
Because = Annotated[str, Parameter(help="Why, for those who wonder later; up to 500 characters.")]
ENDED = ("fetched", "dead")  # due no more
# Outcomes of an addition that their words alone do not explain.
MEANINGS = {
    "duplicate": "known already: nothing was changed",
    "raised": "known already: it is fetched earlier now",
    "revisit": "known already: it is fetched again",
    "taken_over": "known already: it belongs to this source now",
}


@dataclass(frozen=True, slots=True)
class Matching:
    """All URLs of a status that match, in place of a single one."""

    status: Annotated[
        str | None, Parameter(help="Instead of one URL: all of this status, such as failed or dead, that match.")
    ] = None
    host: Annotated[str | None, Parameter(help="With a status: only of this host.")] = None
    reason: Annotated[
        str | None, Parameter(help="With a status: only those that ended so, such as not_found or max_retries.")
    ] = None
    source: Annotated[
        str | None,
        Parameter(help="With a status: only URLs found by this source, by its id, address, host or name."),
    ] = None
    prefix: Annotated[str | None, Parameter(help="With a status: only URLs that begin so.")] = None

    def require_one_or_all(self, url: str | None, done: str, usual: str) -> None:
        if (url is None) == (self.status is None):
            raise UsageError(f"Either one URL is {done}, or all of a status.", fix=f"Give a URL, or --status {usual}.")

    async def filter(self, services: "Services") -> "Filter":
        from headwater.actions.searching import source_id_of
        from headwater.cli.filters import filter_from

        wanted = filter_from(self.status, self.host, None, self.reason, self.prefix)
        return replace(wanted, source_id=await source_id_of(services, self.source))


Matched = Annotated[Matching, Parameter(name="*")]
EVERY = Matching()

app = App(name="frontier", help="Look at the queue of URLs, add to it, retry, raise, kill and remove.")


@app.command(name="stats")
def stats(
    *,
    recount: Annotated[
        bool, Parameter(negative="", help="Count all rows by status instead of reading counters; slow.")
    ] = False,
    limit: Annotated[int, Parameter(validator=Number(gte=1, lte=1_000), help="Sources per page.")] = 50,
    cursor: Cursor = None,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Count URLs by status, of everything and of a page of sources by name."""

    async def work(services: "Services") -> "FrontierStats":
        from headwater.actions.urls import frontier_stats

        return await frontier_stats(services, limit, cursor, recounts=recount)

    found = with_services(launch, work)
    if json:
        from headwater.shapes.frontier import stats_as_dict

        show_json(stats_as_dict(found))
        return
    whole = found.by_status
    rows = [
        (found.names[source], *(f"{counts.get(status, 0):,}" for status in whole))
        for source, counts in found.by_source.items()
    ]
    rows.append(("all", *(f"{count:,}" for count in whole.values())))
    show_table(("source", *whole), rows)
    say_more(found.cursor)


@app.command(name="list")
def list_entries(
    *,
    status: str | None = None,
    source: str | None = None,
    host: str | None = None,
    origin: str | None = None,
    reason: str | None = None,
    prefix: str | None = None,
    limit: Annotated[int, Parameter(validator=Number(gte=1, lte=1_000))] = 50,
    cursor: Cursor = None,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """List the queued and known URLs, a page at a time.

    Parameters
    ----------
    status
        pending, fetching, fetched, failed or dead.
    source
        Only URLs found by this source: its id, address, host or name.
    host
        Only this host.
    origin
        feed, sitemap, spider, manual or api.
    reason
        Why it failed or died, such as not_found.
    prefix
        Only URLs that begin so.
    limit
        URLs per page.
    """
    from headwater.cli.filters import filter_from

    wanted = filter_from(status, host, origin, reason, prefix)

    async def work(services: "Services") -> "EntryPage":
        from headwater.actions.searching import source_id_of
        from headwater.frontier.reads import list_entries as read_page

        meant = replace(wanted, source_id=await source_id_of(services, source))
        return await read_page(services.database, meant, limit=limit, cursor=cursor)

    page = with_services(launch, work)
    if json:
        from headwater.shapes.frontier import entry_as_dict

        show_json({"entries": [entry_as_dict(entry) for entry in page.entries], "cursor": page.cursor})
        return
    show_page(page)


def show_page(page: "EntryPage") -> None:
    rows = [
        (
            entry.url,
            entry.held or entry.status,
            str(entry.priority),
            "" if entry.status in ENDED else f"{entry.next_fetch_at:%m-%d %H:%M:%S}",
            in_words(entry.reason or ""),
        )
        for entry in page.entries
    ]
    if rows:
        show_table(("url", "status", "priority", "due", "reason"), rows, below=("url",))
    elif page.cursor:
        share = max(1, round(100 * page.share_looked_at))
        say(f"None of the URLs looked at matches, about {share} % of all so far. --source and --host look at fewer.")
    else:
        say("No URL matches.")
    say_more(page.cursor)


@app.command(name="add")
def add(
    *urls: str,
    source: str | None = None,
    from_file: Annotated[Path | None, Parameter(allow_leading_hyphen=True)] = None,
    dry_run: DryRun = False,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> int:
    """Queue URLs by hand; says of each whether it was new.

    Parameters
    ----------
    urls
        What to fetch.
    source
        The source they belong to: its id, address, host or name; nothing means one named "manual".
    from_file
        A file with one URL per line; - reads standard input.
    """
    wanted = [*urls, *_lines(from_file)]
    if not wanted:
        raise UsageError("There is nothing to add.", fix="Give URLs, or --from-file FILE.")

    async def work(services: "Services") -> "list[QueuedUrl]":
        from headwater.actions.urls import queue_urls

        return await queue_urls(services, wanted, source, is_dry=dry_run)

    answers = with_services(launch, work)
    if json:
        from headwater.shapes.frontier import queued_as_dicts

        show_json({"answers": queued_as_dicts(answers)})
    else:
        tell_answers(answers)
        if dry_run:
            say("Nothing was changed. Without --dry-run they are queued.")
    return PARTLY if any(answer.reason for answer in answers) else 0


def tell_answers(answers: "Sequence[QueuedUrl]") -> None:
    for answer in answers:
        reason = in_words(answer.reason or MEANINGS.get(answer.outcome, ""))
        show(f"{in_words(answer.outcome):9}  {answer.url}" + (f"  ({reason})" if reason else ""))
    known = next((answer.url for answer in answers if answer.outcome == "duplicate"), None)
    if known:
        say(f"To fetch again what is known already: headwater frontier retry {quote(known)}")
    acting = [answer.url for answer in answers if answer.has_effects]
    for url in acting:
        say(f"Careful: {url} looks as if it did something when it is fetched (log out, delete, buy, unsubscribe).")
    if acting:
        say(f"It is fetched because you ask for it. Take it back: headwater frontier rm {quote(acting[0])}")


@app.command(name="retry")
def retry(
    url: str | None = None,
    *,
    matching: Matched = EVERY,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Queue a known URL again, also one that was fetched or given up; or all URLs of a status.

    The pace of their hosts holds all the same.

    Parameters
    ----------
    url
        As it was found or added.
    """
    matching.require_one_or_all(url, "retried", "dead")
    if url is not None:
        with_services(launch, lambda services: _retry_one(services, url))
        show(f"{url} is queued again. Follow it: headwater explain {quote(url)}")
        return

    async def work(services: "Services") -> int:
        from headwater.frontier.control import retry_where

        return await retry_where(services.database, await matching.filter(services))

    show(f"{quantity(with_services(launch, work), 'URL')} queued again.")


async def _retry_one(services: "Services", url: str) -> None:
    from headwater.frontier.control import retry_now
    from headwater.urls.canonical import canonicalise

    await retry_now(services.database, canonicalise(url))


@app.command(name="raise")
def raise_url(url: str, *, launch: Launched = Launch()) -> None:  # noqa: B008
    """Queue a known URL as the next of its host, whose pace holds all the same.

    Parameters
    ----------
    url
        As it was found or added.
    """

    async def work(services: "Services") -> None:
        from headwater.frontier.control import raise_now
        from headwater.urls.canonical import canonicalise

        await raise_now(services.database, canonicalise(url))

    with_services(launch, work)
    show(f"{url} is the next of its host. Follow it: headwater explain {quote(url)}")


@app.command(name="kill")
def kill_url(
    url: str | None = None,
    *,
    because: Because = "",
    matching: Matched = EVERY,
    yes: Yes = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Never fetch a URL again, whoever lists it, until somebody retries it; or all URLs of a status that match.

    What was kept of a page stays; `headwater takedown add` withdraws that as well.

    Parameters
    ----------
    url
        As it was found or added.
    """
    matching.require_one_or_all(url, "killed", "pending")
    if url is not None:
        with_services(launch, lambda services: _kill_one(services, url, because))
        show(f"{url} is fetched never again. Revive it: headwater frontier retry {quote(url)}")
        return
    _ask_about_all("Kill", matching, launch, is_given=yes)

    async def work(services: "Services") -> int:
        from headwater.frontier.control import kill_where

        return await kill_where(services.database, await matching.filter(services), A_PERSON, because)

    show(f"{quantity(with_services(launch, work), 'URL')} killed.")


def _ask_about_all(verb: str, matching: Matching, launch: Launch, *, is_given: bool) -> None:
    """They are counted only for a person who is asked."""
    if is_given:
        return

    async def count(services: "Services") -> "EntryTotal":
        from headwater.frontier.listing import count_matching

        return await count_matching(services.database, await matching.filter(services))

    found = with_services(launch, count)
    least = "at least " if found.is_capped else ""
    require_consent(f"{verb} {least}{quantity(found.count, 'URL')}, all that match?", is_given=False)


async def _kill_one(services: "Services", url: str, because: str) -> None:
    from headwater.frontier.control import kill
    from headwater.urls.canonical import canonicalise

    await kill(services.database, canonicalise(url), A_PERSON, because)


@app.command(name="failures")
def failures(*, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Group the URLs that failed or are dead by what went wrong, the largest group first."""

    async def work(services: "Services") -> "list[FailureClass]":
        from headwater.frontier.reads import failures_by_class

        return await failures_by_class(services.database)

    found = with_services(launch, work)
    if json:
        from headwater.shapes.frontier import failure_as_dict

        show_json({"failures": [failure_as_dict(one) for one in found]})
        return
    if not found:
        say("Nothing has failed.")
        return
    show_table(
        ("urls", "status", "reason", "last message", "one of them"),
        [
            (
                f"{one.entries:,}{'+' if one.is_capped else ''}",
                one.status,
                one.reason,
                shorten(in_words(one.said), 60),
                one.url,
            )
            for one in found
        ],
        below=("one of them",),
    )
    first = found[0]
    say(f"Try a group again: headwater frontier retry --status {first.status} --reason {quote(first.reason)}")


@app.command(name="rm")
def remove(
    url: str | None = None,
    *,
    matching: Matched = EVERY,
    yes: Yes = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Forget a URL; if a channel lists it again, it is new. Or all URLs of a status that match.

    Parameters
    ----------
    url
        As it was found or added.
    """
    matching.require_one_or_all(url, "forgotten", "dead")
    if url is not None:
        with_services(launch, lambda services: _forget_one(services, url))
        show(f"{url} is forgotten.")
        return
    _ask_about_all("Forget", matching, launch, is_given=yes)

    async def work(services: "Services") -> int:
        from headwater.frontier.control import remove_where

        return await remove_where(services.database, await matching.filter(services))

    show(f"{quantity(with_services(launch, work), 'URL')} forgotten.")


async def _forget_one(services: "Services", url: str) -> None:
    from headwater.frontier.control import remove as forget
    from headwater.urls.canonical import canonicalise

    await forget(services.database, canonicalise(url))


def _lines(file: Path | None) -> list[str]:
    if file is None:
        return []
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text("utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from error
    return [line.strip() for line in text.splitlines() if line.strip()]
