"""Tools for operators: they store what is wanted, and pollers and fetchers do the rest, politely and later."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from headwater.actions.sources import add_source as take_up_source
from headwater.actions.urls import queue_urls
from headwater.discover.adding import WantedSource
from headwater.discover.searching.following import FollowRequest, NotFollowed
from headwater.errors import Refused, UsageError
from headwater.frontier.submit import SubmitOutcome
from headwater.serve.agents.shapes import url_of
from headwater.serve.agents.tools import AgentSession, AgentTool, Arguments, ToolText
from headwater.sources.source import Profile, SourceKind


class NewSourceArguments(Arguments):
    url: ToolText = Field(min_length=1, max_length=2_083, description="The site, or a feed of it.")
    name: ToolText = Field("", max_length=200, description="Its name; without one it is called by its host.")
    kind: SourceKind = Field(SourceKind.NEWS, description="news, jobs or docs.")
    feeds: list[ToolText] = Field(default_factory=list, max_length=20, description="Addresses of feeds that are known.")
    tags: list[ToolText] = Field(default_factory=list, max_length=20)
    priority: int = Field(5, ge=1, le=10)


class NewUrlArguments(Arguments):
    url: ToolText = Field(min_length=1, max_length=2_083, description="A page to be fetched and archived.")
    source: ToolText = Field(
        "", max_length=2_083, description="The source it belongs to; nothing: those added by hand."
    )


async def add_source(session: AgentSession, asked: NewSourceArguments) -> Mapping[str, Any]:
    if "." not in asked.url and "://" not in asked.url:
        raise UsageError(f"{asked.url!r} names no site.", fix="Give its address, such as https://example.org.")
    address = asked.url if "://" in asked.url else f"https://{asked.url}"
    profile = Profile(url=address, name=asked.name, kind=asked.kind, priority=asked.priority, tags=tuple(asked.tags))
    # Never looked at from here: an agent makes no request to the web, not even through us.
    request = FollowRequest(WantedSource(profile, tuple(asked.feeds)), session.actor, is_looked_at=False)
    added = await take_up_source(session.services, request)
    if isinstance(added, NotFollowed):
        raise Refused(added.what)
    return {
        "source_id": added.source_id,
        "url": url_of(profile.url),
        "next": "A poller looks for its channels and polls them; ask `explain` in a few minutes.",
    }


async def queue_url(session: AgentSession, asked: NewUrlArguments) -> Mapping[str, Any]:
    (answer,) = await queue_urls(session.services, [asked.url], asked.source or None)
    if answer.outcome is SubmitOutcome.REJECTED:
        raise Refused(f"{url_of(answer.url)} is not queued: {answer.reason}.", fix="`explain` tells more of it.")
    return {
        "url": url_of(answer.url),
        "outcome": str(answer.outcome),
        "next": "A fetcher asks for it in its turn, as robots.txt and the pace of its host allow; see `explain`.",
    }


CHANGING = (
    AgentTool(
        "add_source",
        "Follow a publisher from now on. Only stored: nothing is fetched by this call. A poller looks at it later.",
        NewSourceArguments,
        add_source,
        quotes=False,
        changes=True,
    ),
    AgentTool(
        "queue_url",
        "Queue one URL to be fetched and archived. Only queued: nothing is fetched by this call.",
        NewUrlArguments,
        queue_url,
        quotes=False,
        changes=True,
    ),
)
