"""The only place that reads randomness. Seeded where a run must repeat, unpredictable where it protects."""

import secrets
from random import Random
from uuid import UUID, uuid4

__all__ = ["Random", "new_id", "new_secret", "random_from"]


def random_from(seed: int | str | None = None) -> Random:
    """A generator of its own: equal seeds give equal runs, no seed gives an unpredictable one."""
    return Random(seed)


def new_id() -> UUID:
    """An identifier no two processes share and nobody can guess."""
    return uuid4()


def new_secret() -> str:
    """256 bits for a person or a program to prove itself with."""
    return secrets.token_urlsafe(32)
