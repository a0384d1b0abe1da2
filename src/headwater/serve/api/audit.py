"""/api/v1/audit: who changed what."""

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from headwater.accounts.audit import AuditFilter
from headwater.actions.accounts import page_of_audit
from headwater.serve.access.gate import Admin
from headwater.serve.shared import USUAL_PAGE, Cursor, Installed, Limit
from headwater.shapes.accounts import audit_line_as_dict

router = APIRouter(prefix="/api/v1", tags=["audit"])

Actor = Annotated[str | None, Query(max_length=200, description="Only what this one did.", examples=["token:ci"])]
Action = Annotated[str | None, Query(max_length=200, description="Only this operation.", examples=["add_view"])]
Since = Annotated[datetime | None, Query(description="Only from this moment on; without a zone it is UTC.")]


class AuditLineShape(BaseModel):
    id: int
    at: datetime
    actor: str = Field(description="A user, `token:` and its name, `developer`, or `command line`.")
    role: str | None = Field(description="At that time; nothing for a login that was refused.")
    proof: str = Field(description="session, token, proxy, development, command line, or none.")
    action: str = Field(examples=["add_view"])
    target: str = Field(description="The path that was asked for.", examples=["/api/v1/views"])
    status: int = Field(description="Of the answer.")
    request_id: str
    address: str
    details: dict[str, Any] = Field(description="What was asked for, cut and without secrets.")


class AuditList(BaseModel):
    audit: list[AuditLineShape]
    cursor: str | None


@router.get("/audit")
async def list_audit(
    caller: Admin,
    services: Installed,
    actor: Actor = None,
    action: Action = None,
    since: Since = None,
    limit: Limit = USUAL_PAGE,
    cursor: Cursor = None,
) -> AuditList:
    """List changes that were made, and logins that were refused, newest first."""
    moment = since.replace(tzinfo=UTC) if since and since.tzinfo is None else since
    page = await page_of_audit(services.database, AuditFilter(actor, action, moment), limit, cursor)
    lines = [audit_line_as_dict(one) for one in page.items]
    return AuditList.model_validate({"audit": lines, "cursor": page.cursor})
