"""Which connections are worth keeping: the client's pool keys by host and bounds only those in use."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from aiohttp import BaseConnector


@dataclass(slots=True)
class IdleBudget:
    """Remembers which hosts were asked lately; beyond `most` of them the next connection is not kept. 0 is no limit."""

    most: int
    timeout: float
    _kept: OrderedDict[str, float] = field(default_factory=OrderedDict)

    def may_keep(self, host: str, now: float) -> bool:
        if not self.most:
            return True
        if host not in self._kept and not self._has_room(now):
            return False
        self._kept[host] = now
        self._kept.move_to_end(host)
        return True

    def empty(self, connectors: Iterable[BaseConnector]) -> None:
        """Close what is idle, and keep half as many from now on: each holds a descriptor that a request could use."""
        self.most = max(1, len(self._kept) // 2)
        self._kept.clear()
        for connector in connectors:
            kept = connector._conns  # noqa: SLF001 -- the client has no word for closing only what is idle
            for protocol, _ in [one for waiting in kept.values() for one in waiting]:
                protocol.close()
            kept.clear()

    def _has_room(self, now: float) -> bool:
        while self._kept and next(iter(self._kept.values())) < now - self.timeout:
            self._kept.popitem(last=False)
        return len(self._kept) < self.most
