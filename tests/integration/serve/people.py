"""People and programs who call the API, each as it shows who it is."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from argon2 import PasswordHasher
from tests.integration.serve.callers import ApiCaller, Reply

from headwater.accounts.passwords import LANES, MEMORY_KIB, ROUNDS
from headwater.accounts.role import Role
from headwater.accounts.tokens import TokenStore
from headwater.database.pool import Database

PASSWORD = "canary-password-of-ann"


async def add_user(database: Database, name: str = "ann", role: Role = Role.ADMIN, password: str = PASSWORD) -> None:
    await database.execute(
        "insert into web_users (name, role, password_hash, created_by) values ($1, $2, $3, 'test')",
        name,
        role,
        hash_of(password),
    )


@cache
def hash_of(password: str) -> str:
    """Hashed once for all tests: it is slow on purpose."""
    return PasswordHasher(ROUNDS, MEMORY_KIB, LANES).hash(password)


async def token_of(database: Database, role: Role, name: str = "") -> str:
    return (await TokenStore(database).add(name or f"of-{role}", role, None, "test")).secret


def with_token(api: ApiCaller, token: str) -> ApiCaller:
    return replace(api, headers={"authorization": f"Bearer {token}"})


async def log_in(api: ApiCaller, name: str = "ann", password: str = PASSWORD, **headers: str) -> Reply:
    return await api.post("login", {"name": name, "password": password}, **headers)


@dataclass(frozen=True, slots=True)
class Browser:
    """As a page of ours in a browser asks."""

    api: ApiCaller
    cookie: str
    csrf_token: str

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        ours = {"origin": self.api.address, "x_csrf_token": self.csrf_token, "cookie": self.cookie}
        sent = {name: value for name, value in (ours | headers).items() if value}
        return await self.api.ask(method, path, body, **sent)


async def browser_of(api: ApiCaller, name: str = "ann", password: str = PASSWORD) -> Browser:
    answer = await log_in(api, name, password)
    assert answer.status == 200, answer.body
    return Browser(api, answer.headers["set-cookie"].partition(";")[0], answer.json["csrf_token"])
