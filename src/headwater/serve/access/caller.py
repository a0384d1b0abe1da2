"""Callers, their roles, and why a caller is turned away. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from headwater.accounts.role import Role
from headwater.accounts.sessions import Session
from headwater.errors import Refused


class NotIdentified(Refused):
    """The caller showed nothing, or nothing valid, that says who it is."""


class Proof(StrEnum):
    """How a caller showed who it is."""

    DEVELOPMENT = "development"  # no login on loopback: all are admins
    TOKEN = "token"  # noqa: S105 - a word
    SESSION = "session"
    PROXY = "proxy"
    NONE = "none"  # in the audit log: a login that was refused


@dataclass(frozen=True, slots=True)
class Caller:
    """`name` stands in the audit log and in events; `session` is there for people who logged in here."""

    name: str
    role: Role
    proof: Proof
    session: Session | None = None


DEVELOPER = Caller("developer", Role.ADMIN, Proof.DEVELOPMENT)
