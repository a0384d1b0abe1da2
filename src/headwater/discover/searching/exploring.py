"""A look at a site for a person who wants to follow it: the search of the background, without storing anything."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from headwater.discover.polls.classify import (
    Body,
    Deferred,
    Heard,
    NotModified,
    RobotsRefusal,
    Trouble,
    classify,
    is_no_page,
)
from headwater.discover.polls.reader import ChannelReader, reply_of
from headwater.discover.polls.run_state import Finding, RunState, Todo
from headwater.discover.polls.task import Subject, Task
from headwater.discover.searching.search import choose_findings, try_usual_addresses
from headwater.fetch.fetcher import FetchRequest
from headwater.fetch.following import Follower
from headwater.sources.channels import ChannelKind
from headwater.urls.canonical import CanonicalUrl, canonicalise


@dataclass(frozen=True, slots=True)
class Looked:
    """What was heard at one address, and everything found so far."""

    heard: Heard
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class SiteLook:
    """What all of it came to."""

    findings: tuple[Finding, ...] = ()
    trouble: NotModified | Trouble | RobotsRefusal | Deferred | None = None  # in place of the page, or what ended it
    is_whole: bool = False  # everything was asked: there is no point in doing so again at once
    answers: tuple[Body, ...] = ()  # for the first polls of what was found
    page: Heard | None = None  # the answer of the address itself

    @property
    def is_in_vain(self) -> bool:
        return self.is_whole and not self.findings

    @property
    def is_json(self) -> bool:
        """Whether the address answers with JSON that is no feed: an API, which only a recipe can read."""
        return not self.findings and is_json(self.page)


def is_json(heard: Heard | None) -> bool:
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
        yield Looked(heard, choose_findings(run_state.findings))
        # A program answers there, and no page that could name a feed.
        if isinstance(heard, Deferred) or not is_all_wanted or (is_json(heard) and not run_state.findings):
            return


def sum_up(steps: Sequence[Looked], *, is_all_wanted: bool = True) -> SiteLook:
    page, last = steps[0].heard, steps[-1]
    answers = tuple(step.heard for step in steps if isinstance(step.heard, Body))
    if isinstance(last.heard, Deferred):
        # Without a feed nothing of it is followed yet: the search of a poller finds it again, and goes on from there.
        has_feed = any(one.kind is ChannelKind.FEED for one in last.findings)
        return SiteLook(last.findings if has_feed else (), last.heard, answers=answers, page=page)
    trouble = None if isinstance(page, Body) else page
    is_whole = (trouble is None or is_no_page(trouble)) and is_all_wanted and not is_json(page)
    return SiteLook(last.findings, trouble, is_whole, answers, page)
