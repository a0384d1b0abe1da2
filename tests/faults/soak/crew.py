"""The processes that a soak runs: started, killed, frozen and told to end, and started again as by a supervisor."""

import asyncio
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

ROOT = Path(__file__).parents[3]
READY_SECONDS = 120
GRACE_SECONDS = 60
AGAIN_SECONDS = 2.0


@dataclass
class Member:
    """One role, and the process it lives in at present."""

    name: str
    life: int
    process: asyncio.subprocess.Process
    is_ready: bool = False
    is_frozen: bool = False
    is_meant_to_end: bool = False

    @property
    def role(self) -> str:
        return self.name.partition("-")[0]

    @property
    def owner(self) -> str:
        return f"{self.name}/{self.life}"

    @property
    def is_at_work(self) -> bool:
        return self.is_ready and not self.is_frozen and not self.is_meant_to_end and self.process.returncode is None

    def kill(self) -> None:
        self.is_meant_to_end = True
        self._signal(signal.SIGKILL)

    def freeze(self) -> None:
        self.is_frozen = True
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.is_frozen = False
        self._signal(signal.SIGCONT)

    def tell(self, **order: Any) -> None:
        if self.process.stdin is not None and self.process.returncode is None:
            with suppress(ConnectionError):
                self.process.stdin.write(orjson.dumps(order) + b"\n")

    async def end(self) -> int:
        """As a service manager does it: told once, and killed after its grace."""
        self.is_meant_to_end = True
        self.thaw()
        self._signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(GRACE_SECONDS):
                return await self.process.wait()
        except TimeoutError:
            self._signal(signal.SIGKILL)
            return await self.process.wait()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            self.process.send_signal(number)


@dataclass
class Crew:
    """`unasked`: who ended without being told to, and had to be started again."""

    task_of: Callable[[str], dict[str, Any]]
    logs: Path
    members: dict[str, Member] = field(default_factory=dict)
    unasked: list[str] = field(default_factory=list)
    _lives: int = 0
    _keepers: set[asyncio.Task[None]] = field(default_factory=set)
    _is_over: bool = False

    async def hire(self, name: str) -> None:
        """Started now, and again whenever it ends, until the crew is dismissed."""
        keeper = asyncio.create_task(self._keep(name))
        self._keepers.add(keeper)
        while name not in self.members or not self.members[name].is_ready:
            await asyncio.sleep(0.05)

    def at_work(self, role: str) -> list[Member]:
        return [one for one in self.members.values() if one.role == role and one.is_at_work]

    def tell_all(self, **order: Any) -> None:
        for one in self.members.values():
            one.tell(**order)

    async def dismiss(self) -> list[int]:
        self._is_over = True
        codes = await asyncio.gather(*(one.end() for one in self.members.values()))
        await asyncio.gather(*self._keepers)
        return codes

    async def kill(self) -> None:
        """Whatever happened, nobody stays."""
        self._is_over = True
        for one in self.members.values():
            one.kill()
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)

    async def _keep(self, name: str) -> None:
        while not self._is_over:
            self._lives += 1
            with self.log_of(name).open("ab") as log:
                process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "tests.faults.soak.role"),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=log,
                    cwd=ROOT,
                    start_new_session=True,
                )
            member = self.members[name] = Member(name, self._lives, process)
            await self._live(member)
            await asyncio.sleep(AGAIN_SECONDS)

    async def _live(self, member: Member) -> None:
        assert member.process.stdin is not None
        assert member.process.stdout is not None
        task = {**self.task_of(member.name), "owner": member.owner, "role": member.role}
        with suppress(ConnectionError):
            member.process.stdin.write(orjson.dumps(task) + b"\n")
            async with asyncio.timeout(READY_SECONDS):
                member.is_ready = await member.process.stdout.readline() == b"ready\n"
        code = await member.process.wait()
        # One that finds no database when it starts ends, as is said in the page on reliability.
        if member.is_ready and not member.is_meant_to_end:
            self.unasked.append(f"{member.owner} ended with {code}")

    def log_of(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def logged(self, event: str) -> int:
        """How often all of them together logged it."""
        found = 0
        for file in self.logs.glob("*.log"):
            with file.open("rb") as lines:
                found += sum(f'"event":"{event}"'.encode() in line.replace(b" ", b"") for line in lines)
        return found

    def tracebacks(self) -> int:
        return sum(file.read_bytes().count(b"Traceback (most recent call last)") for file in self.logs.glob("*.log"))
