"""Where hubs confirm subscriptions and push: open to everybody who knows an address that nobody can guess.

A push is answered before anything of it is read or written. The answer does not tell whether its signature was good.
"""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse

from headwater.discover.push.callbacks import PLACE, Callback, Callbacks
from headwater.discover.push.inbox import PushInbox
from headwater.discover.push.links import Protocol, is_about, links_in_head
from headwater.discover.push.signature import is_signed
from headwater.serve.access.gate import open_to_all
from headwater.serve.places import TooMany
from headwater.serve.shared import Installed, parts_of
from headwater.urls.canonical import canonicalise

router = APIRouter(include_in_schema=False)

# A feed that is larger is not read from its hub: the poll finds it.
LARGEST_PUSH_BYTES = 5_000_000
NOT_HERE = "There is no such callback.\n"


def _inbox(request: Request) -> PushInbox:
    return parts_of(request).inbox


Inbox = Annotated[PushInbox, Depends(_inbox)]


@router.get(PLACE + "{token}", dependencies=[open_to_all])
async def confirm_subscription(token: str, request: Request, services: Installed) -> Response:
    """Confirm a subscription that is pending to the hub that was asked for it."""
    callbacks = Callbacks(services.database, services.random)
    answer = await callbacks.confirm(token, dict(request.query_params))
    return PlainTextResponse(NOT_HERE, 404) if answer is None else PlainTextResponse(answer)


@router.post(PLACE + "{token}", dependencies=[open_to_all])
async def receive_push(token: str, request: Request, services: Installed, inbox: Inbox) -> Response:
    """Take what a hub pushes; what it is worth is found out later."""
    callback = await Callbacks(services.database, services.random).named(token)
    if callback is None or not callback.is_verified or not callback.is_followed:
        # By this a hub knows that it may forget us.
        return PlainTextResponse(NOT_HERE, 410)
    try:
        with parts_of(request).live.pushes.hold(token):
            body = await request.body()
    except TooMany as error:
        return PlainTextResponse("Come again.\n", 503, error.headers)
    except ClientDisconnect:
        return Response(status_code=400)
    why_not = why_ignored(callback, request, body)
    if why_not:
        services.log.info("push_ignored", channel=str(callback.channel_id), why=why_not)
        return Response(status_code=202)
    # Without a secret nobody knows from whom a body is: what stands there is found by a poll.
    is_ping = callback.protocol is Protocol.RSSCLOUD or not callback.secret or not body.strip()
    if not inbox.put(callback.channel_id, request.headers.get("content-type", ""), None if is_ping else body):
        return PlainTextResponse("Come again.\n", 503, TooMany.headers)
    return Response(status_code=202)


def why_ignored(callback: Callback, request: Request, body: bytes) -> str:
    """Empty for a push that is worth reading. Pure but for the request's head."""
    if callback.protocol is Protocol.RSSCLOUD:
        return ""
    if callback.secret and not is_signed(request.headers.get("x-hub-signature", ""), callback.secret, body):
        return "its signature is wrong or missing"
    topic = links_in_head(request.headers.raw, canonicalise(callback.topic)).topic
    return "it is about another topic" if topic and not is_about(topic, callback.topic) else ""
