"""One request in one slot."""

from collections.abc import Mapping
from datetime import timedelta
from typing import NamedTuple

from headwater.fetch.held_slot import HeldSlot, SlotMissed
from headwater.net.caching import retry_after
from headwater.net.problems import FetchProblem
from headwater.net.transport import Response, TransferLimits, Transport
from headwater.politeness.slots import NotBefore
from headwater.urls.canonical import CanonicalUrl

SLOW_DOWN = frozenset({429, 503})


class Request(NamedTuple):
    url: CanonicalUrl
    kind: str
    limits: TransferLimits
    headers: Mapping[str, str]
    method: str = "GET"
    body: bytes | None = None


async def send_once(transport: Transport, asked: Request, held_slot: HeldSlot) -> Response | FetchProblem | NotBefore:
    """Send one request in the next slot, or say when to come back. Raises NetworkDown for a failure of our own."""
    if refused := await held_slot.ready(asked.kind):
        return refused
    network = transport.network
    began = network.began() if network else 0.0
    try:
        answer = await transport.request(
            asked.method, asked.url, asked.headers, gate=held_slot, limits=asked.limits, body=asked.body
        )
    except SlotMissed as missed:
        return missed.answer
    if isinstance(answer, Response):
        held_slot.machine = answer.machine or held_slot.machine
        held_slot.ended(answer.status, len(answer.body), wait_asked_for(answer))
    else:
        held_slot.ended()
    if network:
        await network.judge(asked.url.host, began, answer if isinstance(answer, FetchProblem) else None)
    return answer


def wait_asked_for(response: Response) -> timedelta | None:
    """How long a 429 or 503 wants us to stay away; zero where it does not say, None for any other answer."""
    if response.status not in SLOW_DOWN:
        return None
    return retry_after(response.headers.get("Retry-After", ""), response.at) or timedelta()
