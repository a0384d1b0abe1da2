"""The surroundings of sinks: their client, their secrets, their clock."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from headwater.chance import Random
from headwater.clock import SystemClock
from headwater.deliver.http import DEFAULT_TIMEOUT_SECONDS, SinkClient
from headwater.deliver.secrets import is_secret_name, read_secret
from headwater.deliver.sink import SinkContext
from headwater.log import Logger
from headwater.net.guard import OperatorGuard
from headwater.net.identity import identity_of
from headwater.net.transport import Pooling, Transport
from headwater.settings import Settings
from headwater.settings.environment import data_directory, surroundings

# A person waits: no server is waited for longer.
SEARCH_SECONDS = 8.0


@asynccontextmanager
async def open_contexts(
    settings: Settings, random: Random, log: Logger, longest: float = DEFAULT_TIMEOUT_SECONDS
) -> AsyncIterator[Callable[[str], SinkContext]]:
    """The contexts of sinks, by their names: one transport for all of them. No request takes longer than `longest`."""
    identity = identity_of(settings.fetch, settings.web.public_url)
    # By the machine's clock: whatever days are simulated, a sink's server is real.
    transport = Transport(identity, OperatorGuard(), SystemClock(), Pooling(idle=0, per_host=0))

    # A holder knows how its request ended before its lease does.
    timeout = min(longest, settings.lease.duration.total_seconds() / 3)

    def secret(name: str) -> str:
        return read_secret(name, surroundings(), settings)

    def client(address: str) -> SinkClient:
        return SinkClient(transport, secret(address) if is_secret_name(address) else address, timeout=timeout)

    def context(name: str) -> SinkContext:
        folder = data_directory(settings.service.data_dir)
        return SinkContext(name, SystemClock(), random, log, folder, secret, client)

    async with transport:
        yield context
