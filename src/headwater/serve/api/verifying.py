"""/api/v1/verify: was that us?"""

from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query

from headwater.reports.verifying import USUAL_TOLERANCE, seen_request_from, verification_as_dict, verify_seen
from headwater.serve.access.gate import Viewer
from headwater.serve.bodies import KeptText
from headwater.serve.shared import Installed

router = APIRouter(prefix="/api/v1", tags=["hosts"])


@router.get("/verify")
async def verify_request(
    caller: Viewer,
    services: Installed,
    url: Annotated[KeptText, Query(max_length=4_000, description="The page that was asked for, or its host.")] = "",
    at: Annotated[
        KeptText,
        Query(max_length=60, description="When, with its zone: ISO 8601, or as access logs write it."),
    ] = "",
    address: Annotated[KeptText, Query(max_length=60, description="The address that the request came from.")] = "",
    tolerance_seconds: Annotated[int, Query(ge=1, le=600, description="How far the clocks may differ.")] = int(
        USUAL_TOLERANCE.total_seconds()
    ),
) -> dict[str, Any]:
    """Say whether a request that a site owner saw was ours: `was_us` is yes, likely, no or unknown.

    Answered from the fetch log, which keeps what was asked of which host, when, and from which address of ours.
    """
    seen = seen_request_from(url, at, address, timedelta(seconds=tolerance_seconds))
    network = services.settings.network
    found = await verify_seen(services.database, seen, network.egress_addresses, network.local_addresses)
    return verification_as_dict(found)
