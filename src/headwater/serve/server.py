"""The web role: a server on a socket of its own, in the event loop of its process, until told to stop."""

import asyncio
import gc
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

import uvicorn
from starlette.types import ASGIApp

from headwater.accounts import protection
from headwater.accounts.attempts import Attempts
from headwater.accounts.audit import AuditLog
from headwater.accounts.passwords import Passwords
from headwater.accounts.protection import require_consistent
from headwater.accounts.sessions import Sessions
from headwater.clock import SystemClock
from headwater.discover.push.inbox import PushInbox
from headwater.errors import Busy, DatabaseDown, QueryFailed, SettingError, as_fields
from headwater.run.heartbeat import heartbeat_of
from headwater.run.presence import WEB, present
from headwater.serve.access.entrance import entrance_of
from headwater.serve.app import make_app
from headwater.serve.idempotency import forget_answers
from headwater.serve.live import live_parts
from headwater.serve.operations import OperationRunner, forget_operations
from headwater.serve.published_keys import PublishedKeys
from headwater.serve.shared import Shared
from headwater.services import Services
from headwater.settings.groups import WebSettings
from headwater.supervisor import Supervisor

# More connections than these wait in the system's queue, or are refused.
MOST_CONNECTIONS = 2_000
KEPT_ALIVE_SECONDS = 15
# For answers under way when it is told to stop.
GRACE_SECONDS = 5
FORGET_EVERY = timedelta(hours=1)

ListeningSocket = socket.socket


async def run_web(services: Services, owner: str, stop: asyncio.Event, on_ready: Callable[[str], None]) -> None:
    """A process of this role alone."""
    await require_known_callers(services)
    with listening(services.settings.web) as bound:
        async with (
            heartbeat_of(services, owner) as heart,
            Supervisor(SystemClock(), services.log, services.figures) as tasks,
            present(services, heart, WEB, [WEB]),
        ):
            await asyncio.wait([tasks.keep("serve", lambda: serve(services, bound, stop, on_ready))])


@contextmanager
def listening(web: WebSettings) -> Iterator[ListeningSocket]:
    """The socket, bound before anything else is begun: a port that is taken is known at once. Raises Busy then."""
    require_consistent(web)
    with socket.socket(socket.AF_INET6 if ":" in web.host else socket.AF_INET, socket.SOCK_STREAM) as made:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Its connections inherit it. Head and body of an answer are sent apart, and without it a short body waits until
        # the head is acknowledged: 40 ms on Linux.
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            made.bind((web.host.strip("[]"), web.port))
        except OSError as error:
            raise Busy(
                f"The web role cannot listen at {web.host} port {web.port}: {error.strerror}.",
                fix="Give it another port with --set web.port=8081, or 0 for a free one.",
            ) from error
        made.listen()
        made.setblocking(False)
        yield made


async def serve(
    services: Services, bound: ListeningSocket, stop: asyncio.Event, on_ready: Callable[[str], None] = lambda _: None
) -> None:
    """Until told to stop; answers under way are finished."""
    await _tell_of_searches(services)
    async with (
        OperationRunner(services.database, services.log, services.settings.service.mode) as operations,
        live_parts(services) as live,
        Supervisor(SystemClock(), services.log, services.figures) as tasks,
    ):
        inbox = PushInbox(services.database, SystemClock(), services.log)
        tasks.keep("forget_requests", lambda: _keep_forgetting(services))
        writing = tasks.keep("write_pushes", inbox.keep_writing)
        keys = PublishedKeys(services.settings, services.clock, services.log)
        parts = Shared(services, operations, entrance_of(services), live, inbox, keys)
        server = _Server(server_config(make_app(parts)))
        # Made once, it lives as long as the process: no collection needs to look at it again, which takes 100 ms.
        gc.collect()
        gc.freeze()
        on_ready(address_of(bound))
        serving = asyncio.create_task(server.serve(sockets=[bound.dup()]))
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait([serving, stopped], return_when=asyncio.FIRST_COMPLETED)
        # Streams and readers that wait would keep the server from ending.
        live.end()
        server.should_exit = True
        stopped.cancel()
        await serving
        writing.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                await inbox.write()


async def _tell_of_searches(services: Services) -> None:
    """Without an engine all else is served: the sink that is missing may be made here."""
    try:
        await services.search.require_ready()
    except SettingError as missing:
        services.log.warning("searches_unanswered", **as_fields(missing))


def server_config(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        # It would believe anybody on this machine; access/proxies.py believes those that are trusted.
        proxy_headers=False,
        lifespan="off",
        http="h11",
        ws="none",
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=KEPT_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the role's: it says when to stop."""
        yield


async def _keep_forgetting(services: Services) -> None:
    while True:
        try:
            await forget_answers(services.database)
            await forget_operations(services.database)
            await forget_visits(services)
        except (DatabaseDown, QueryFailed) as error:
            services.log.debug("requests_not_forgotten", **as_fields(error))
        await SystemClock().sleep(FORGET_EVERY.total_seconds())


async def forget_visits(services: Services) -> None:
    web = services.settings.web
    await Sessions(services.database, Passwords(), web.session_idle, web.session_lifetime).forget()
    await Attempts(services.database).forget()
    await AuditLog(services.database).forget(services.settings.keep.audit_days)


async def require_known_callers(services: Services) -> None:
    """Before it listens: where others can reach it, somebody must be able to log in. Raises SettingError."""
    protection.require_known_callers(services.settings.web, await protection.standing_of(services.database))


def address_of(bound: ListeningSocket) -> str:
    host, port = bound.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
