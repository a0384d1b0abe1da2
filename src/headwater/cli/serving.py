"""How a command gets at the installation: settings, database, the schema it was made for, and away again."""

from typing import TYPE_CHECKING, TypeVar

from headwater.cli.launch import Launch, run_to_end

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from headwater.services import Services

T = TypeVar("T")


def with_services(launch: Launch, work: "Callable[[Services], Awaitable[T]]", *, migrates: bool = False) -> T:
    return run_to_end(_serve(launch, work, migrates=migrates))


async def _serve(launch: Launch, work: "Callable[[Services], Awaitable[T]]", *, migrates: bool) -> T:
    from headwater.services import open_services

    async with open_services(launch.settings(), migrates=migrates) as services:
        return await work(services)
