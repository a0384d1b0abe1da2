"""/api/v1/tokens: what programs show to prove who they are."""

from datetime import datetime
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from headwater.accounts.role import Role
from headwater.accounts.tokens import USUAL_LIFE
from headwater.actions.accounts import make_token, page_of_tokens
from headwater.serve.access.gate import Admin
from headwater.serve.shared import USUAL_PAGE, Cursor, Entered, Installed, Limit
from headwater.shapes.accounts import new_token_as_dict, token_as_dict

router = APIRouter(prefix="/api/v1", tags=["tokens"])


class TokenRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=63, description="Small letters, digits, and . _ @ -", examples=["dashboard"])
    role: Role = Field(Role.VIEWER, description="What it may do.")
    expires: str = Field(
        USUAL_LIFE, max_length=30, description="After how long: `90d`, `8w`, `1y`, or `never`.", examples=["90d"]
    )


class TokenShape(BaseModel):
    id: UUID
    name: str
    prefix: str = Field(description="Its first letters, to know it again.", examples=["hw_Zk81xQ"])
    role: Role
    created_by: str
    created_at: datetime
    expires_at: datetime | None = Field(description="Nothing: never.")
    last_used_at: datetime | None = Field(description="To the minute.")
    revoked_at: datetime | None


class NewTokenShape(TokenShape):
    token: str = Field(description="The token itself. It is told now and never again.")


class TokenList(BaseModel):
    tokens: list[TokenShape]
    cursor: str | None


@router.get("/tokens")
async def list_tokens(
    caller: Admin, services: Installed, limit: Limit = USUAL_PAGE, cursor: Cursor = None
) -> TokenList:
    """List the tokens, newest first, revoked ones among them."""
    page = await page_of_tokens(services.database, limit, cursor)
    return TokenList.model_validate({"tokens": [token_as_dict(one) for one in page.items], "cursor": page.cursor})


@router.post("/tokens", status_code=201)
async def add_token(caller: Admin, services: Installed, wanted: TokenRequest) -> NewTokenShape:
    """Make a token for a program. The answer tells it once; only its hash is kept."""
    made = await make_token(services, wanted.name, wanted.role, wanted.expires, caller.name)
    return NewTokenShape.model_validate(new_token_as_dict(made))


@router.delete("/tokens/{id}", status_code=204)
async def revoke_token(caller: Admin, entrance: Entered, id: UUID) -> None:
    """Revoke a token: the next request that shows it is refused."""
    await entrance.tokens.revoke(id)
