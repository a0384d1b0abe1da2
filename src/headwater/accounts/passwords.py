"""Passwords: which are taken, and how they are hashed without using up the machine."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError

from headwater.errors import Busy, UsageError
from headwater.figures import Figures

T = TypeVar("T")

LEAST_LETTERS = 12
MOST_BYTES = 1_024
# 64 MiB and some 0.2 s each: two at once are all that logins may take of a machine.
MEMORY_KIB, ROUNDS, LANES = 65_536, 3, 1
AT_ONCE = 2
MOST_WAITING = 32
# Counted by each process: as much work for a name that nobody has as for one that somebody has.
HASHED = "passwords_hashed"
# Of a password that nobody has: compared with where there is no user, so that the answer takes as long.
NOBODYS = "$argon2id$v=19$m=65536,t=3,p=1$B04YNgACGrerW5uE33fVLg$gSpgaF7YbjmlWeL4lH1BX//5ZzJkpPYfjmaF//NFS1Q"


def require_good_password(password: str) -> None:
    """By length alone: rules about signs make passwords that people write down."""
    if len(password) < LEAST_LETTERS:
        raise UsageError("The password is too short.", fix=f"Give {LEAST_LETTERS} letters or more; some words do well.")
    if not is_possible(password):
        raise UsageError("The password cannot be used.", fix=f"Give at most {MOST_BYTES:,} bytes of text, without NUL.")


def is_possible(password: str) -> bool:
    """Half a letter, as JSON may spell it, cannot be hashed."""
    try:
        return len(password.encode()) <= MOST_BYTES and "\0" not in password
    except UnicodeEncodeError:
        return False


@dataclass(slots=True)
class Passwords:
    """In a thread, so that other requests go on meanwhile."""

    figures: Figures = field(default_factory=Figures)
    _hasher: PasswordHasher = field(
        default_factory=lambda: PasswordHasher(ROUNDS, MEMORY_KIB, LANES, type=Type.ID), init=False
    )
    _turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE), init=False)
    _waiting: int = field(default=0, init=False)

    async def hash(self, password: str) -> str:
        require_good_password(password)
        return await self.hash_again(password)

    async def hash_again(self, password: str) -> str:
        """One that was taken before, whatever is asked of new ones."""
        return await self._in_turn(lambda: self._hasher.hash(password))

    async def fits(self, password: str, known: str | None) -> bool:
        """`known` is None where there is no such user: it takes as long, and the answer is no."""
        if not is_possible(password):
            password, known = "", None
        return await self._in_turn(lambda: self._verify(known or NOBODYS, password)) and known is not None

    def is_outdated(self, known: str) -> bool:
        """Hashed with parameters of before."""
        return self._hasher.check_needs_rehash(known)

    def _verify(self, known: str, password: str) -> bool:
        try:
            return self._hasher.verify(known, password)
        except (VerificationError, InvalidHashError):
            return False

    async def _in_turn(self, work: Callable[[], T]) -> T:
        if self._waiting >= MOST_WAITING:
            raise Busy("Too many logins are under way.", fix="Try again in a minute.")
        self._waiting += 1
        try:
            async with self._turns:
                self.figures.add(HASHED)
                return await asyncio.to_thread(work)
        finally:
            self._waiting -= 1
