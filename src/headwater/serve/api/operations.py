"""/api/v1/operations: long work that was asked for, how far it is, and how it ended."""

from datetime import datetime
from typing import Any
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from headwater.serve import operations
from headwater.serve.access.gate import Viewer
from headwater.serve.shared import USUAL_PAGE, Cursor, Installed, Limit

router = APIRouter(prefix="/api/v1", tags=["operations"])


class OperationShape(BaseModel):
    """Work that takes longer than a request. Ask for it again until its state is no longer `running`."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    kind: str = Field(examples=["sources.import"])
    state: str = Field(description="running, done, failed or interrupted.", examples=["running"])
    actor: str
    done: int = Field(description="How much of it is done.")
    total: int | None = Field(description="Of how much, where that is known.")
    result: dict[str, Any] | None
    problem: dict[str, Any] | None
    created_at: datetime
    ended_at: datetime | None


class OperationList(BaseModel):
    operations: list[OperationShape]
    cursor: str | None


@router.get("/operations")
async def list_operations(
    caller: Viewer, services: Installed, limit: Limit = USUAL_PAGE, cursor: Cursor = None
) -> OperationList:
    """List long work, newest first."""
    page = await operations.list_operations(services.database, limit, cursor)
    return OperationList(operations=[OperationShape.model_validate(one) for one in page.items], cursor=page.cursor)


@router.get("/operations/{id}")
async def show_operation(caller: Viewer, services: Installed, id: UUID) -> OperationShape:
    """Show how far a piece of long work is, or how it ended."""
    return OperationShape.model_validate(await operations.read_operation(services.database, id))
