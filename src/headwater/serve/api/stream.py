"""/api/v1/stream: what happens, as it happens, by server-sent events."""

from contextlib import ExitStack
from typing import Annotated

from fastapi import APIRouter, Header, Query
from starlette.responses import Response

from headwater.errors import UsageError
from headwater.serve.access.gate import Viewer
from headwater.serve.shared import Live
from headwater.serve.streaming import PlacedStream
from headwater.serve.topics import Topic

router = APIRouter(prefix="/api/v1", tags=["stream"])

MEDIA_TYPE = "text/event-stream"
# A proxy that keeps an answer until it is whole would keep this one for ever.
UNBUFFERED = {"cache-control": "no-store", "x-accel-buffering": "no"}
Topics = Annotated[
    str,
    Query(max_length=200, description=f"Which, with commas: {', '.join(Topic)}.", examples=["stats,frontier"]),
]
LastEventId = Annotated[
    str,
    Header(max_length=200, description="The id of the last event that was heard: news since then are told first."),
]


@router.get(
    "/stream",
    response_class=Response,
    responses={200: {"description": "Events without end.", "content": {MEDIA_TYPE: {"schema": {"type": "string"}}}}},
)
async def stream(
    caller: Viewer, live: Live, topics: Topics = "stats,frontier", last_event_id: LastEventId = ""
) -> Response:
    """Tell what happens as it happens, by server-sent events.

    `event` is the topic, `data` a JSON object. At most one event a second and topic. stats, frontier and problems
    tell how things stand, at once and whenever that differs; changes and runs tell news. A reader that is slow misses
    the oldest events: `after` of an event of changes is the `position` of the one before. A comment comes every 15
    seconds.
    """
    wanted = topics_in(topics)
    with ExitStack() as stack:
        stack.enter_context(live.streams.hold(caller.name))
        listening = stack.enter_context(live.hub.joined(wanted, last_event_id))
        return PlacedStream(listening.frames(), stack.pop_all(), media_type=MEDIA_TYPE, headers=UNBUFFERED)


def topics_in(text: str) -> frozenset[Topic]:
    names = [one.strip() for one in text.split(",") if one.strip()]
    unknown = [one for one in names if one not in set(Topic)]
    if unknown or not names:
        what = f"There is no topic {unknown[0]!r}." if unknown else "No topic is named."
        raise UsageError(what, fix=f"Some of: {', '.join(Topic)}.")
    return frozenset(Topic(one) for one in names)
