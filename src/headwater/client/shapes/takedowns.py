"""Values of takedowns.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import NotRequired, TypedDict

from headwater.client.shapes.shared import OperationShape


class AcceptedTakedown(TypedDict):
    """From now on nothing of it is requested or stored; the operation withdraws what stands of it.

    `domain_or_url`: The name under which it is listed.
    `covers`: In a sentence.
    """

    domain_or_url: str
    covers: str
    operation: OperationShape


class NewTakedown(TypedDict):
    """Its fields:

    `domain_or_url`: example.org with all below it, example.org:8080 for that port only, or URLs that begin so.
    `reason`: Who asked, and why.
    `confirm`: For a whole domain or port that documents are stored of: without it the answer, 422, counts.
    """

    domain_or_url: str
    reason: NotRequired[str]
    confirm: NotRequired[bool]


class ReachOfTakedown(TypedDict):
    """Documents and queued URLs are counted up to 10,000 each.

    `domain_or_url`: The name under which it would be listed.
    `covers`: In a sentence.
    `queued_urls`: Of its hosts; those of one port are counted with its host.
    `wants_confirmation`: Whether `confirm` has to be sent.
    """

    domain_or_url: str
    covers: str
    documents: int
    queued_urls: int
    wants_confirmation: bool


class SinkRemovalShape(TypedDict):
    """`held` records of the place may still be in the sink.

    `is_confirmed`: It was sent every removal, and holds nothing of it.
    `forgets_not`: Why it cannot take back what it was sent.
    """

    name: str
    is_confirmed: bool
    held: int
    forgets_not: str | None
    state: str
    behind: int


class TakedownRequestShape(TypedDict):
    """What a site owner asked for on /crawler. Look whether it is theirs to ask: nobody has checked it."""

    id: str
    place: str
    contact: str
    reason: str
    asked_at: str


class TakedownRequestList(TypedDict):
    requests: list[TakedownRequestShape]


class TakedownShape(TypedDict):
    """Its fields:

    `swept_at`: Since when nothing of it is left; null: it is still being applied.
    `key_prefix`: null: the whole domain with all below it.
    """

    domain_or_url: str
    reason: str | None
    created_at: str
    swept_at: str | None
    domain: str
    key_prefix: str | None


class TakedownList(TypedDict):
    takedowns: list[TakedownShape]
    cursor: str | None


class TakedownStoryShape(TypedDict):
    """Its fields:

    `swept_at`: Since when nothing of it is left; null: it is still being applied.
    """

    domain_or_url: str
    reason: str | None
    created_at: str
    swept_at: str | None
    sinks: list[SinkRemovalShape]
