"""The frame of every command: settings, the way to the installation, and how its coroutine is run and interrupted."""

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar

from cyclopts import Parameter
from cyclopts.validators import Number

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from headwater.services import Services
    from headwater.settings import Loaded

T = TypeVar("T")
# Who did it, in the trail of events.
ACTOR = "command line"


@dataclass(frozen=True, slots=True)
class Launch:
    """The options every command shares."""

    config: Path | None = None
    overrides: dict[str, str] = field(default_factory=dict)
    # Without the program and its options, such as `sources list`.
    command: str = ""

    @property
    def application_name(self) -> str:
        """How sessions of this command are called in the database."""
        return f"headwater {self.command}".strip()

    def settings(self) -> "Loaded":
        from headwater.settings.environment import load_from_surroundings
        from headwater.settings.loading import refuse_contradictions

        loaded = load_from_surroundings(self.overrides, self.config)
        refuse_contradictions(loaded.settings)
        if allowed := loaded.settings.network.allow:
            from headwater.net.guard import parse_allowed_place

            for place in allowed:
                parse_allowed_place(place)
        return replace(loaded, application_name=self.application_name)

    def as_task(self) -> dict[str, Any]:
        """For a child process, which finds the same surroundings."""
        return {
            "config": str(self.config) if self.config else None,
            "overrides": self.overrides,
            "command": self.command,
        }

    @classmethod
    def from_task(cls, task: Mapping[str, Any]) -> Self:
        return cls(Path(task["config"]) if task["config"] else None, dict(task["overrides"]), task["command"])


# A parameter that the command line fills in by itself.
Launched = Annotated[Launch, Parameter(parse=False)]
Limit = Annotated[int, Parameter(validator=Number(gte=1, lte=100_000))]
# A view or a sink that is there.
Called = Annotated[str, Parameter(help="What it is called.")]
# How far a list was shown: what every command that pages prints as "More", and takes.
Cursor = Annotated[str | None, Parameter(help="Where the page before ended: the word it printed as --cursor.")]
AsJson = Annotated[bool, Parameter(name="--json", negative="", help="One JSON object instead of text.")]


def with_quiet_log(launch: Launch) -> Launch:
    """For commands that show their steps: lines of the log would say them twice, unless a person set their level."""
    if launch.settings().origins["log.level"].kind != "default":
        return launch
    return replace(launch, overrides={**launch.overrides, "log.level": "warning"})


def program_as_typed() -> str:
    """`headwater` where the shell finds it, else the path it was started by."""
    from shutil import which

    started = Path(sys.argv[0])
    found = which("headwater")
    if found and started.exists() and Path(found).samefile(started):
        return "headwater"
    if started.name != "headwater" or not started.exists():
        return f"{sys.executable} -m headwater"
    return os.path.relpath(started) if started.absolute().is_relative_to(Path.cwd()) else str(started.absolute())


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """Run it; SIGTERM ends it as orderly as Ctrl-C does, so that the last one out can stop the database."""
    return asyncio.run(_until_told(work))


async def _until_told(work: Coroutine[Any, Any, T]) -> T:
    task = asyncio.ensure_future(work)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def with_services(launch: Launch, work: "Callable[[Services], Awaitable[T]]", *, migrates: bool = False) -> T:
    return run_to_end(_serve(launch, work, migrates=migrates))


async def _serve(launch: Launch, work: "Callable[[Services], Awaitable[T]]", *, migrates: bool) -> T:
    from headwater.services import open_services

    async with open_services(launch.settings(), migrates=migrates) as services:
        return await work(services)
