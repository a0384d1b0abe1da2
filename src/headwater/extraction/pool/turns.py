"""Whose page is read next, and how many children the heavy pages of one domain may use. Pure."""

from collections import deque
from dataclasses import dataclass, field
from math import exp2
from typing import Generic, TypeVar

HALF_LIFE_S = 60.0
# Pages that take as long as this on average are heavy: a child given to one is missed by others.
HEAVY_S = 1.0
USUAL_WEIGHT = 0.3
MOST_REMEMBERED = 1_000
FORGOTTEN_BELOW_S = 0.01

Ticket = TypeVar("Ticket")


@dataclass(slots=True)
class _DomainShare(Generic[Ticket]):
    """One domain: who waits, how many run, and what its pages have cost lately."""

    waiting: deque[Ticket] = field(default_factory=deque)
    since: int = 0  # which of all that ever began to wait made it a line
    running: int = 0
    usual_s: float = 0.0
    spent_s: float = 0.0
    spent_at: float = 0.0

    def spent(self, now: float) -> float:
        return self.spent_s * exp2((self.spent_at - max(now, self.spent_at)) / HALF_LIFE_S)

    @property
    def is_heavy(self) -> bool:
        return self.usual_s >= HEAVY_S

    def charge(self, seconds: float, now: float) -> None:
        self.spent_s, self.spent_at = self.spent(now) + seconds, now
        self.usual_s += (seconds - self.usual_s) * (USUAL_WEIGHT if self.usual_s else 1)


class Turns(Generic[Ticket]):
    """Of the domains that wait, the one that has cost least lately comes next.

    Heavy domains are held to half of the children each, and leave one free together, also while nobody else waits: who
    comes a moment later would have to wait for the end of their pages.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._lines = 0
        self._shares: dict[str, _DomainShare[Ticket]] = {}

    def wait(self, name: str, ticket: Ticket) -> None:
        share = self._shares.setdefault(name, _DomainShare())
        if not share.waiting:
            self._lines += 1
            share.since = self._lines
        share.waiting.append(ticket)

    def withdraw(self, name: str, ticket: Ticket) -> None:
        share = self._shares[name]
        if ticket in share.waiting:
            share.waiting.remove(ticket)

    def next(self, now: float) -> tuple[str, Ticket] | None:
        """The next task that may begin; None where none waits, or only heavy domains that have their share."""
        begin = [
            (share.spent(now), share.since, name) for name, share in self._shares.items() if self._may_begin(share)
        ]
        if not begin:
            return None
        _, _, name = min(begin)
        share = self._shares[name]
        share.running += 1
        # It pays a little in advance: of domains that cost the same none is served twice before the others.
        share.spent_s, share.spent_at = share.spent(now) + FORGOTTEN_BELOW_S, now
        return name, share.waiting.popleft()

    def ended(self, name: str, seconds: float | None = None, now: float = 0.0) -> None:
        """Without seconds it never began."""
        share = self._shares[name]
        share.running -= 1
        if seconds is None:
            return
        share.charge(seconds, now)
        if len(self._shares) > MOST_REMEMBERED:
            self._forget(now)

    def found_heavy(self, name: str) -> None:
        """A page of this domain has taken long already, and is still being read."""
        share = self._shares[name]
        share.usual_s = max(share.usual_s, HEAVY_S)

    def waiting(self, name: str) -> int:
        """How many would be read before one more of this domain: heavy domains beside it do not count."""
        return sum(len(share.waiting) for at, share in self._shares.items() if at == name or not share.is_heavy)

    def is_heavy(self, name: str) -> bool:
        return name in self._shares and self._shares[name].is_heavy

    def _may_begin(self, share: _DomainShare[Ticket]) -> bool:
        if not share.waiting or not share.is_heavy:
            return bool(share.waiting)
        heavy = sum(one.running for one in self._shares.values() if one.is_heavy)
        return share.running < max(1, self._size // 2) and heavy < max(1, self._size - 1)

    def _forget(self, now: float) -> None:
        self._shares = {
            name: share
            for name, share in self._shares.items()
            if share.waiting or share.running or share.spent(now) > FORGOTTEN_BELOW_S
        }
