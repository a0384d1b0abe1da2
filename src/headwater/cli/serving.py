"""How a command gets at the installation: settings, database, schema up to date, and away again."""

from typing import TYPE_CHECKING, TypeVar

from headwater.cli.launch import Launch, run_to_end

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from headwater.services import Services

T = TypeVar("T")


def with_services(launch: Launch, work: "Callable[[Services], Awaitable[T]]") -> T:
    return run_to_end(_serve(launch, work))


async def _serve(launch: Launch, work: "Callable[[Services], Awaitable[T]]") -> T:
    from headwater.services import open_services

    async with open_services(launch.settings()) as services:
        return await work(services)
