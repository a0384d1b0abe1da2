"""What all routes of one process share, and how they get it."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, FastAPI, Query, Request

from headwater.discover.push.inbox import PushInbox
from headwater.serve.access.entrance import Entrance
from headwater.serve.idempotency import AnswerStore, Once
from headwater.serve.live import LiveParts
from headwater.serve.operations import OperationRunner
from headwater.serve.published_keys import PublishedKeys
from headwater.services import Services

LARGEST_PAGE = 1_000
USUAL_PAGE = 50


@dataclass(frozen=True, slots=True)
class Shared:
    services: Services
    operations: OperationRunner
    entrance: Entrance
    live: LiveParts
    inbox: PushInbox
    published_keys: PublishedKeys


def attach(app: FastAPI, parts: Shared) -> None:
    app.state.parts = parts


def parts_of(request: Request) -> Shared:
    parts: Shared = request.app.state.parts
    return parts


def _services(request: Request) -> Services:
    return parts_of(request).services


def _operations(request: Request) -> OperationRunner:
    return parts_of(request).operations


def _entrance(request: Request) -> Entrance:
    return parts_of(request).entrance


def _live(request: Request) -> LiveParts:
    return parts_of(request).live


def _once(request: Request) -> Once:
    return Once(AnswerStore(parts_of(request).services.database), request)


Installed = Annotated[Services, Depends(_services)]
Entered = Annotated[Entrance, Depends(_entrance)]
LongWork = Annotated[OperationRunner, Depends(_operations)]
Live = Annotated[LiveParts, Depends(_live)]
OnceOnly = Annotated[Once, Depends(_once)]
Limit = Annotated[int, Query(ge=1, le=LARGEST_PAGE, description="The most that one page lists.")]
Cursor = Annotated[
    str | None,
    Query(max_length=500, description="Where the page before ended: its `cursor`. Nothing begins at the beginning."),
]
