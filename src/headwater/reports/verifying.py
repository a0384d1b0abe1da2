"""Was that us? For a site owner who knows a time, a page and an address: answered from the fetch log.

Deciding is pure. A server's clock differs from ours, and behind NAT it sees another address than we do: "likely" and
"unknown" are answers.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import UsageError
from headwater.fetch.tdmrep import KIND as TDM_KIND
from headwater.fetch.tdmrep import PATH as TDM_PATH
from headwater.sources.kinds import ChannelKind
from headwater.urls.canonical import CanonicalUrl, canonicalise

queries = load_queries("headwater.reports")

IpAddress = IPv4Address | IPv6Address

USUAL_TOLERANCE, LONGEST_TOLERANCE = timedelta(minutes=2), timedelta(minutes=10)
# A request is written down with what came of it.
WRITTEN_WITHIN = timedelta(minutes=5)
MOST_REQUESTS = 20
# Those whose addresses are ours lately.
RECENT_REQUESTS = 10_000
FROM_WHERE = "nobody knows which address others see: set network.egress_addresses."
_ACCESS_LOG = re.compile(r"\[?(\d{1,2})/([A-Z][a-z]{2})/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d{4})\]?")
_YEARS = range(1990, 2200)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_POLLS = frozenset(map(str, ChannelKind))
_PLACES = {"robots": "/robots.txt", TDM_KIND: TDM_PATH}


class WasUs(StrEnum):
    YES = "yes"
    LIKELY = "likely"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """What a site owner saw. Either a place and a time, or an address, or all three."""

    url: CanonicalUrl | None = None
    names_page: bool = False  # not only the host
    at: datetime | None = None
    address: IpAddress | None = None
    tolerance: timedelta = USUAL_TOLERANCE


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    host: str
    started_at: datetime
    kind: str
    status: int | None
    sent_from: IpAddress | None
    is_page: bool  # of the page that was named, or a poll of the channel that stands there
    is_poll_there: bool


@dataclass(frozen=True, slots=True)
class RequestVerification:
    was_us: WasUs
    why: str
    requests: tuple[LoggedRequest, ...] = ()


def seen_request_from(place: str, at: str, address: str, tolerance: timedelta) -> SeenRequest:
    """As a person writes it. Raises UsageError with what is missing or wrong."""
    place, at, address = place.strip(), at.strip(), address.strip()
    if not timedelta() < tolerance <= LONGEST_TOLERANCE:
        raise UsageError("The tolerance should be between a second and ten minutes.", fix="Such as 2m.")
    if bool(place) and not at:
        raise UsageError("When it was seen is not said.", fix="Give the time of the request: --at 2026-11-18T22:36:14Z")
    if not place and not address:
        raise UsageError("What was seen is not said.", fix="Give the page or host and the time, or the address.")
    url = canonicalise(place if "://" in place else f"https://{place}") if place else None
    is_host_only = place.partition("://")[2] == "" and "/" not in place
    return SeenRequest(
        url, bool(place) and not is_host_only, moment_in(at) if at else None, address_in(address), tolerance
    )


def moment_in(text: str) -> datetime:
    """ISO 8601 with its zone, seconds since 1970, or as access logs write it: 18/Nov/2026:22:36:14 +0000."""
    written = text.strip()
    try:
        if found := _ACCESS_LOG.fullmatch(written):
            day, month, year, clock, zone = found.groups()
            number = _MONTHS.index(month) + 1
            written = f"{year}-{number:02d}-{int(day):02d}T{clock}{zone}"
        elif re.fullmatch(r"\d{9,11}(\.\d{1,9})?", written):
            written = datetime.fromtimestamp(float(written), UTC).isoformat()
        moment = datetime.fromisoformat(written)
        # Around the ends of the calendar there is no room for the time that is looked through.
        if moment.tzinfo is None or moment.year not in _YEARS:
            raise ValueError
        return moment.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise UsageError(
            "That is no time with its zone.", fix="Write 2026-11-18T22:36:14Z, or 18/Nov/2026:22:36:14 +0000."
        ) from None


def address_in(text: str) -> IpAddress | None:
    try:
        return ip_address(text.strip().strip("[]")) if text.strip() else None
    except ValueError:
        raise UsageError("That is no address of a machine.", fix="Write 203.0.113.5 or 2001:db8::5.") from None


def is_ours(address: IpAddress, sent_from: IpAddress | None, egress: Collection[str]) -> bool | None:
    """Whether a request that left from `sent_from` can have come from `address`; None where nobody knows."""
    if address == sent_from:
        return True
    if sent_from is not None and sent_from.is_global:
        return False
    if egress:
        return is_within(address, egress)
    return None


def is_within(address: IpAddress, networks: Collection[str]) -> bool:
    return any(address in ip_network(one, strict=False) for one in networks)


def judge_seen(
    seen: SeenRequest,
    requests: Sequence[LoggedRequest],
    egress: Collection[str],
    log_since: datetime | None,
    now: datetime,
) -> RequestVerification:
    at = seen.at
    assert at is not None
    if at - seen.tolerance > now:
        return RequestVerification(WasUs.UNKNOWN, "That time has not come yet by our clock.")
    by_address = [
        one for one in requests if not seen.address or is_ours(seen.address, one.sent_from, egress) is not False
    ]
    shown = tuple(sorted(by_address, key=lambda one: (not is_there(seen, one), abs(one.started_at - at))))
    if not shown and (log_since is None or at < log_since):
        since = f" before {log_since:%Y-%m-%d %H:%M} UTC" if log_since else ""
        return RequestVerification(WasUs.UNKNOWN, f"The fetch log holds nothing{since}.")
    if not shown:
        others = " from that address; from others there were" if requests else ""
        return RequestVerification(WasUs.NO, f"The fetch log holds no such request{others}.", tuple(requests))
    is_address_sure = not seen.address or is_ours(seen.address, shown[0].sent_from, egress) is True
    if not is_address_sure:
        return RequestVerification(WasUs.LIKELY, f"There was such a request, but {FROM_WHERE}", shown)
    if seen.names_page and not is_there(seen, shown[0]):
        return RequestVerification(WasUs.LIKELY, "That host was asked then, but not for that page by the log.", shown)
    return RequestVerification(WasUs.YES, "The fetch log holds such a request.", shown)


def is_there(seen: SeenRequest, request: LoggedRequest) -> bool:
    """The log keeps no paths: it knows pages of the frontier, and what stands at the same place on every host."""
    if seen.url is None or not seen.names_page:
        return True
    if request.kind in _PLACES:
        return seen.url.target == _PLACES[request.kind]
    return request.is_poll_there if request.kind in _POLLS else request.is_page


def judge_address(
    address: IpAddress, configured: Collection[str], recent: Collection[IpAddress | None], *, is_nat_told: bool
) -> RequestVerification:
    """An address alone: whether requests of ours may come from it."""
    if is_within(address, configured):
        return RequestVerification(WasUs.YES, "It is one of the addresses that the settings name.")
    if address in recent:
        return RequestVerification(WasUs.YES, "Requests left from it lately.")
    is_hidden = not recent or any(one is None or not one.is_global for one in recent)
    if is_hidden and not is_nat_told:
        return RequestVerification(WasUs.UNKNOWN, f"Here {FROM_WHERE}")
    return RequestVerification(WasUs.NO, "No request left from it lately, and the settings do not name it.")


async def verify_seen(
    database: Database, seen: SeenRequest, egress: Sequence[str], local: Sequence[str]
) -> RequestVerification:
    if seen.at is None:
        assert seen.address is not None
        rows = await database.fetch(queries.recent_addresses, RECENT_REQUESTS)
        recent = {row["sent_from"] and ip_address(row["sent_from"]) for row in rows}
        return judge_address(seen.address, (*egress, *local), recent, is_nat_told=bool(egress))
    url = seen.url
    rows = await database.fetch(
        *queries.requests_near(
            earliest=seen.at - seen.tolerance,
            latest=seen.at + seen.tolerance,
            written_within=WRITTEN_WITHIN,
            at=seen.at,
            bucket=url.bucket if url else None,
            host=url.host if url else None,
            url_hash=url.url_hash if url else None,
            address=str(seen.address) if seen.address else None,
            most=MOST_REQUESTS,
        )
    )
    span = await database.fetchrow(queries.span_of_fetch_log)
    assert span is not None
    return judge_seen(seen, [_request_from(row) for row in rows], egress, span["since"], span["now"])


def _request_from(row: Any) -> LoggedRequest:
    sent_from = row["sent_from"]
    return LoggedRequest(
        row["host"],
        row["started_at"],
        row["kind"],
        row["status"],
        ip_address(sent_from) if sent_from else None,
        bool(row["is_page"]),
        bool(row["is_poll_there"]),
    )


def verification_as_dict(found: RequestVerification) -> dict[str, Any]:
    return {
        "was_us": str(found.was_us),
        "why": found.why,
        "requests": [
            {
                "host": one.host,
                "started_at": one.started_at,
                "kind": one.kind,
                "status": one.status,
                "sent_from": str(one.sent_from) if one.sent_from else None,
            }
            for one in found.requests
        ],
    }
