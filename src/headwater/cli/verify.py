"""`headwater verify`: was that us? For a site owner who asks."""

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headwater.cli.launch import AsJson, Launch, Launched, with_services
from headwater.cli.numbers import require_number
from headwater.cli.output import show, show_json, show_table
from headwater.cli.words import inert

if TYPE_CHECKING:
    from headwater.reports.verifying import RequestVerification
    from headwater.services import Services

NOT_OURS = 1
SIGNS = {"yes": "✓", "likely": "✓", "no": "✗", "unknown": "?"}


def verify(
    place: str = "",
    *,
    at: Annotated[str, Parameter(help="When: 2026-11-18T22:36:14Z, or as an access log writes it.")] = "",
    address: Annotated[str, Parameter(help="The address that the request came from.")] = "",
    within_minutes: Annotated[float, Parameter(help="How far the clocks may differ, up to 10.")] = 2,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> int:
    """Say whether a request that a site owner saw was ours, from the fetch log. Exit 1 if it was not, or nobody knows.

    Parameters
    ----------
    place
        The page that was asked for, or its host; nothing where only the address is known.
    """
    from headwater.reports.verifying import seen_request_from, verification_as_dict, verify_seen

    require_number("--within-minutes", within_minutes, 0.01, 10)
    seen = seen_request_from(place, at, address, timedelta(minutes=within_minutes))

    async def work(services: "Services") -> "RequestVerification":
        network = services.settings.network
        return await verify_seen(services.database, seen, network.egress_addresses, network.local_addresses)

    found = with_services(launch, work)
    if json:
        show_json(verification_as_dict(found))
    else:
        show(f"{SIGNS[found.was_us]} {found.was_us}: {found.why}")
        if found.requests:
            show_table(
                ("host", "began", "kind", "status", "from"),
                [
                    (
                        inert(one.host),
                        f"{one.started_at:%Y-%m-%d %H:%M:%S}",
                        one.kind,
                        str(one.status or "-"),
                        str(one.sent_from or "not known"),
                    )
                    for one in found.requests
                ],
                whole=("host",),
            )
    return NOT_OURS if found.was_us in ("no", "unknown") else 0
