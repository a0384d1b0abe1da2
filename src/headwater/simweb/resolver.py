"""DNS of the simulated web: every name under .test leads to it, and of others those it is told of."""

import socket
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from aiohttp.abc import AbstractResolver, ResolveResult

from headwater.clock import Clock


@dataclass(frozen=True, slots=True)
class NoSuchName:
    """NXDOMAIN: the name does not exist, and asking again will not help."""


@dataclass(frozen=True, slots=True)
class ServerFailure:
    """SERVFAIL: no answer now, perhaps later."""


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Silence for `seconds`, then the failure a timeout is."""

    seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class Answers:
    """These addresses, in turn: one tuple per look-up, the last one for ever. Two tuples make a rebinding."""

    turns: tuple[tuple[str, ...], ...]


DnsMischief = NoSuchName | ServerFailure | NoAnswer | Answers


class SimResolver(AbstractResolver):
    """For aiohttp's connector. `addresses` places hosts elsewhere than at `address`; `names` exist beside .test."""

    def __init__(
        self,
        port: int,
        *,
        clock: Clock,
        address: str = "127.0.0.1",
        addresses: Mapping[str, str] | None = None,
        names: Collection[str] = (),
    ) -> None:
        self._port = port
        self._clock = clock
        self._address = address
        self._addresses = addresses or {}
        self._ours = frozenset((address, *self._addresses.values()))
        self._names = frozenset(names)
        self._script: dict[str, DnsMischief] = {}
        self.asked: dict[str, int] = {}  # how often each name was looked up

    def script(self, host: str, mischief: DnsMischief | None) -> None:
        """Misbehave for this name from now on; None behaves again. Its turns start anew."""
        self.asked.pop(host, None)
        if mischief is None:
            self._script.pop(host, None)
        else:
            self._script[host] = mischief

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        name = host.lower().rstrip(".")
        turn = self.asked.get(name, 0)
        self.asked[name] = turn + 1
        match self._script.get(name):
            case NoSuchName():
                raise no_such_name(name)
            case ServerFailure():
                raise no_answer_now(name)
            case NoAnswer(seconds):
                await self._clock.sleep(seconds)
                raise no_answer_now(name)
            case Answers(turns):
                return [self._found(host, each, port) for each in turns[min(turn, len(turns) - 1)]]
        if not name.endswith(".test") and name not in self._names:
            raise no_such_name(name)
        return [self._found(host, self._addresses.get(name, self._address), port)]

    async def close(self) -> None:
        """Nothing is held."""

    def _found(self, host: str, address: str, port: int) -> ResolveResult:
        return {
            "hostname": host,
            "host": address,
            "port": self._port if address in self._ours else port,
            "family": socket.AF_INET6 if ":" in address else socket.AF_INET,
            "proto": socket.IPPROTO_TCP,
            "flags": socket.AI_NUMERICHOST,
        }


def no_such_name(name: str) -> socket.gaierror:
    return socket.gaierror(socket.EAI_NONAME, f"no such name: {name}")


def no_answer_now(name: str) -> socket.gaierror:
    return socket.gaierror(socket.EAI_AGAIN, f"no answer now for {name}")
