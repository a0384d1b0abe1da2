"""Failed logins slow down the next ones: of the account and of the address, in the database, for all processes."""

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import IPv6Address, ip_address, ip_network

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.errors import Refused

queries = load_queries("headwater.accounts")

# So many may fail before the next has to wait: 1 s, 2 s, 4 s and so on.
FREE_OF_ACCOUNT, FREE_OF_ADDRESS = 5, 20
LONGEST_WAIT = timedelta(minutes=5)
REMEMBERED_FOR = timedelta(days=1)


class TooManyAttempts(Refused):
    """`wait` is how long, whoever asks and whether or not there is such a user."""

    def __init__(self, wait: timedelta) -> None:
        super().__init__("Too many logins failed.", fix=f"Try again in {wait.total_seconds():.0f} s.")
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Attempts:
    database: Database

    async def begin(self, name: str, address: str) -> None:
        """Counted as failed until it is known better. Raises TooManyAttempts."""
        async with self.database.transaction() as connection:
            # In this order, always: two logins wait for each other at most once.
            for subject, free in (of_address(address), FREE_OF_ADDRESS), (of_account(name), FREE_OF_ACCOUNT):
                await self._begin(connection, subject, free)

    async def _begin(self, connection: Connection, subject: str, free: int) -> None:
        longest = LONGEST_WAIT.total_seconds()
        if await connection.fetchval(queries.begin_attempt, subject, free, longest, REMEMBERED_FOR) is None:
            seconds = await connection.fetchval(queries.wait_for_attempt, subject)
            raise TooManyAttempts(timedelta(seconds=seconds or 1))

    async def is_news(self, name: str, address: str) -> bool:
        """Whether one that has to wait is the first to do so in this wait: the others say nothing new."""
        told = await self.database.fetchval(queries.note_wait, [of_address(address), of_account(name)])
        return told is not None

    async def succeed(self, name: str, address: str) -> None:
        async with self.database.transaction() as connection:
            await connection.execute(queries.forgive_address, of_address(address))
            await connection.execute(queries.forgive_account, of_account(name))

    async def forget(self) -> None:
        await self.database.execute(queries.forget_attempts, REMEMBERED_FOR)


def of_account(name: str) -> str:
    """Hashed: people type passwords where names belong."""
    return f"account {hashlib.sha256(name.encode()).hexdigest()}"


def of_address(address: str) -> str:
    """A network of 2^64 addresses belongs to one subscriber."""
    try:
        found = ip_address(address)
    except ValueError:
        return "address unknown"
    if isinstance(found, IPv6Address):
        return f"address {ip_network((found, 64), strict=False)}"
    return f"address {found}"
