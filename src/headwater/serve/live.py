"""Requests that last: readers that wait for changes, streams of events, exports."""

from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Self

from headwater.serve.log_watch import LogWatch
from headwater.serve.places import RequestPlaces
from headwater.serve.streams import StreamHub
from headwater.serve.topics import topic_reader
from headwater.services import Services

# Of one caller a part, so that others find a place. A stream costs some kilobytes; an export the work of a statement
# after the other.
MOST_STREAMS, MOST_STREAMS_OF_ONE = 1_000, 300
MOST_WAITING, MOST_WAITING_OF_ONE = 500, 100
MOST_EXPORTS, MOST_EXPORTS_OF_ONE = 8, 4
# Bodies that hubs push, up to some megabytes each; of one callback a part.
MOST_PUSHES, MOST_PUSHES_OF_ONE = 16, 2


@dataclass(frozen=True, slots=True)
class LiveParts:
    """Used as a context. `end` lets all who wait go, so that the server can stop."""

    watch: LogWatch
    hub: StreamHub
    streams: RequestPlaces
    waiting: RequestPlaces
    exports: RequestPlaces
    pushes: RequestPlaces

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.hub.close()
        await self.watch.close()

    def end(self) -> None:
        self.watch.end()
        self.hub.end()


def live_parts(services: Services) -> LiveParts:
    watch = LogWatch(services)
    run_name = f"{services.random.getrandbits(48):012x}"
    return LiveParts(
        watch,
        StreamHub(partial(topic_reader, services, watch), run_name, services.log),
        RequestPlaces("streams", MOST_STREAMS, MOST_STREAMS_OF_ONE),
        RequestPlaces("readers that wait", MOST_WAITING, MOST_WAITING_OF_ONE),
        RequestPlaces("exports", MOST_EXPORTS, MOST_EXPORTS_OF_ONE),
        RequestPlaces("pushes", MOST_PUSHES, MOST_PUSHES_OF_ONE),
    )
