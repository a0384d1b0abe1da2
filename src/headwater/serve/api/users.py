"""/api/v1/users: people who log in to the web role."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from headwater.accounts.passwords import LEAST_LETTERS, MOST_BYTES
from headwater.accounts.role import Role
from headwater.accounts.users import UserChange
from headwater.actions.accounts import page_of_users
from headwater.serve.access.gate import Admin
from headwater.serve.shared import USUAL_PAGE, Cursor, Entered, Installed, Limit
from headwater.shapes.accounts import user_as_dict

router = APIRouter(prefix="/api/v1", tags=["users"])

UserName = Annotated[str, Path(max_length=63, description="The user's name.", examples=["ann"])]
Password = Annotated[
    str,
    Field(
        max_length=MOST_BYTES,
        description=f"{LEAST_LETTERS} letters or more, {MOST_BYTES:,} bytes at most.",
        examples=["correct horse battery staple"],
    ),
]


class NewUser(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=63, description="Small letters, digits, and . _ @ -", examples=["ann"])
    role: Role = Field(Role.VIEWER, description="viewer reads, operator changes data, admin all else.")
    password: Password


class UserChanges(BaseModel):
    """Fields that are not given stay as they are."""

    model_config = ConfigDict(extra="forbid")

    role: Role | None = Field(None, description="A new role ends the user's logins.")
    is_disabled: bool | None = Field(None, description="Whether it may not log in.")
    password: Password | None = Field(None, description="A new password ends the user's logins.")


class UserShape(BaseModel):
    name: str
    role: Role
    is_disabled: bool
    created_by: str
    created_at: datetime
    password_changed_at: datetime
    last_login_at: datetime | None


class UserList(BaseModel):
    users: list[UserShape]
    cursor: str | None


@router.get("/users")
async def list_users(caller: Admin, services: Installed, limit: Limit = USUAL_PAGE, cursor: Cursor = None) -> UserList:
    """List the people who may log in, by name."""
    page = await page_of_users(services.database, limit, cursor)
    return UserList.model_validate({"users": [user_as_dict(one) for one in page.items], "cursor": page.cursor})


@router.post("/users", status_code=201)
async def add_user(caller: Admin, entrance: Entered, wanted: NewUser) -> UserShape:
    """Let a person log in. The first one has to be an admin; from then on everybody has to log in."""
    made = await entrance.users.add(wanted.name, wanted.role, wanted.password, caller.name)
    return UserShape.model_validate(user_as_dict(made))


@router.patch("/users/{name}")
async def change_user(caller: Admin, entrance: Entered, name: UserName, changes: UserChanges) -> UserShape:
    """Change a user's role or password, disable or enable it.

    Nobody takes the role of an admin from themselves, and one admin is always left.
    """
    change = UserChange(changes.role, changes.is_disabled, changes.password)
    return UserShape.model_validate(user_as_dict(await entrance.users.change(name, change, caller.name)))


class SessionShape(BaseModel):
    """A login of a user."""

    id: str
    address: str = Field(description="From where it was made.")
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime


class SessionList(BaseModel):
    sessions: list[SessionShape]


@router.get("/users/{name}/sessions")
async def list_sessions(caller: Admin, entrance: Entered, name: UserName) -> SessionList:
    """List the logins of a user that hold, the latest first."""
    user = await entrance.users.read(name)
    found = await entrance.sessions.of_user(user.name)
    return SessionList.model_validate({"sessions": [asdict(one) for one in found]})


@router.delete("/users/{name}/sessions", status_code=204)
async def end_sessions(caller: Admin, entrance: Entered, name: UserName) -> None:
    """End all logins of a user."""
    await entrance.sessions.end_all_of((await entrance.users.read(name)).name)


@router.delete("/users/{name}/sessions/{id}", status_code=204)
async def end_session(
    caller: Admin, entrance: Entered, name: UserName, id: Annotated[str, Path(max_length=32, description="Of a login.")]
) -> None:
    """End one login of a user."""
    await entrance.sessions.end_one((await entrance.users.read(name)).name, id)


@router.delete("/users/{name}", status_code=204)
async def remove_user(caller: Admin, entrance: Entered, name: UserName) -> None:
    """Remove a user with all its logins; not yourself, and not the last admin."""
    await entrance.users.remove(name, caller.name)
