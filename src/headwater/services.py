"""The composition root: everything that is shared is built here, once, and handed down."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from headwater import __version__
from headwater.archive.stores.known import BodyStores, opened_stores
from headwater.chance import Random, random_from
from headwater.clock import Clock, SystemClock
from headwater.database.days import ensure_days
from headwater.database.embedded import EmbeddedServer
from headwater.database.installation import Installation, installation_of
from headwater.database.listen import Listeners
from headwater.database.migrate import LOOKED_AT_SECONDS, migrate, require_current, require_room, staying_current
from headwater.database.migrate import status as migrations
from headwater.database.pool import Database, PoolLimits
from headwater.database.reviving import keep_serving
from headwater.database.translate import with_escapes
from headwater.drain import Drain
from headwater.errors import DatabaseDown, QueryFailed, as_fields
from headwater.figures import Figures
from headwater.frontier.host_rules import READ_EVERY, use_stored_rules
from headwater.log import Logger, hearing_libraries, make_logger
from headwater.net.outage import NetworkWatch
from headwater.politeness.hosts import has_answered
from headwater.search.engine import SearchEngine
from headwater.settings import Loaded, Settings
from headwater.settings.environment import data_directory
from headwater.settings.groups import DatabaseSettings
from headwater.supervisor import Supervisor


@dataclass(frozen=True, slots=True)
class Services:
    """The parts a role is made of. Parts take the single things they need, never this."""

    settings: Settings
    clock: Clock
    random: Random
    log: Logger
    figures: Figures
    dsn: str
    listeners: Listeners
    database: Database
    installation: Installation
    stores: BodyStores
    network: NetworkWatch
    drain: Drain

    @property
    def search(self) -> SearchEngine:
        # Most commands search nothing, and need no client of the web.
        from headwater.deliver.answering import engine_for

        return engine_for(self.database, self.settings, self.random, self.log)


def logger_for(loaded: Loaded) -> Logger:
    database, sinks = loaded.settings.database, loaded.settings.deliver
    given = (
        *(database.url, database.direct_url, sinks.elasticsearch_url, sinks.meili_url, sinks.meili_key),
        *(loaded.settings.archive.s3_key_id, loaded.settings.archive.s3_secret),
    )
    secrets = [secret.get_secret_value() for secret in given if secret]
    settings = loaded.settings
    log = make_logger(settings.log.level, settings.log.format, secrets=secrets, mode=settings.service.mode)
    for warning in loaded.warnings:
        log.warning("setting_ignored", why=warning)
    return log


def embedded_server(settings: Settings) -> EmbeddedServer:
    directory = data_directory(settings.service.data_dir) / "postgresql"
    return EmbeddedServer(directory, version=settings.database.embedded_version)


@asynccontextmanager
async def database_address(settings: Settings, log: Logger | None = None) -> AsyncIterator[str]:
    """The configured database, or the embedded one, kept up for the length of the block.

    With a log it is also started again if it is killed meanwhile: only our own, never one that was configured.
    """
    if settings.database.url is not None:
        yield with_escapes(settings.database.url.get_secret_value())
        return
    server = embedded_server(settings)
    async with server as own:
        if log is None:
            yield own
            return
        # By the machine's clock: whatever days are simulated, the server is real.
        async with Supervisor(SystemClock(), log) as tasks:
            tasks.keep("keep_database_running", lambda: keep_serving(server, SystemClock(), log))
            yield own


def direct_address(settings: DatabaseSettings) -> str | None:
    return with_escapes(settings.direct_url.get_secret_value()) if settings.direct_url else None


@asynccontextmanager
async def open_database(
    settings: Settings, log: Logger | None = None, *, application_name: str = "headwater"
) -> AsyncIterator[tuple[Database, str]]:
    """A pool on the database as it is, migrated or not, and its address."""
    async with (
        database_address(settings, log) as dsn,
        await connect(dsn, settings.database, application_name) as database,
    ):
        yield database, dsn


@asynccontextmanager
async def open_to_read(settings: Settings, *, application_name: str) -> AsyncIterator[Database]:
    """As `open_database`, in sessions that the server itself keeps from writing."""
    async with (
        database_address(settings) as dsn,
        await connect(dsn, settings.database, application_name, is_read_only=True) as database,
    ):
        yield database


@asynccontextmanager
async def open_server(settings: Settings, *, application_name: str) -> AsyncIterator[Database]:
    """As `open_database`, past a pooler where there is a way: migrations take longer than one may allow."""
    if direct := direct_address(settings.database):
        async with await connect(direct, settings.database, application_name) as database:
            yield database
        return
    async with open_database(settings, application_name=application_name) as (database, _):
        yield database


@asynccontextmanager
async def open_services(
    loaded: Loaded, *, clock: Clock | None = None, migrates: bool = False
) -> AsyncIterator[Services]:
    """Everything a role needs, on the schema it was made for, as long as it stays that one.

    `migrates`: the embedded database is brought up to date; one that was configured never is.
    """
    settings, log = loaded.settings, logger_for(loaded)
    with hearing_libraries(log):
        async with open_database(settings, log, application_name=loaded.application_name) as (database, dsn):
            await prepare_schema(database, settings, migrates=migrates)
            services = await _services_on(database, dsn, loaded, clock or SystemClock(), log)
            async with staying_current(database, LOOKED_AT_SECONDS), following_rules(database, services):
                yield services


@asynccontextmanager
async def following_rules(database: Database, services: Services) -> AsyncIterator[None]:
    """Keys are made by the exceptions of hosts as they are stored; a change is known here within seconds."""
    await use_stored_rules(database)
    async with Supervisor(SystemClock(), services.log, services.figures) as tasks:
        tasks.keep("read_host_rules", lambda: _keep_reading_rules(database, services.log))
        yield


async def _keep_reading_rules(database: Database, log: Logger) -> None:
    while True:
        # By the machine's clock: whatever days are simulated, a person's change is real.
        await SystemClock().sleep(READ_EVERY.total_seconds())
        try:
            await use_stored_rules(database)
        except (DatabaseDown, QueryFailed) as error:
            log.debug("rules_not_read", **as_fields(error))


async def prepare_schema(database: Database, settings: Settings, *, migrates: bool) -> None:
    """Others may work on a schema that is there: it changes when a person says so. An empty one of our own is made."""
    is_ours = settings.database.url is None
    if is_ours and (migrates or (await migrations(database)).is_empty):
        await migrate(database)
        return
    await require_room(database)
    await require_current(database)


async def _services_on(database: Database, dsn: str, loaded: Loaded, clock: Clock, log: Logger) -> Services:
    await ensure_days(database)
    random, figures = random_from(), Figures()
    heard_at = direct_address(loaded.settings.database) or ("" if database.is_behind_pooler else dsn)
    installation = await installation_of(database, __version__)
    return Services(
        settings=loaded.settings,
        clock=clock,
        random=random,
        log=log,
        figures=figures,
        dsn=dsn,
        listeners=Listeners(heard_at, loaded.application_name, random, log),
        database=database,
        installation=installation,
        stores=await opened_stores(database, loaded.settings.archive, installation.id, data_folder(loaded.settings)),
        # By the machine's clock: whatever days are simulated, the network is real.
        network=NetworkWatch(
            SystemClock(), log, partial(has_answered, database), loaded.settings.fetch.total_timeout, figures
        ),
        drain=Drain(),
    )


async def connect(
    dsn: str, settings: DatabaseSettings, application_name: str, *, is_read_only: bool = False
) -> Database:
    statement = settings.statement_timeout.total_seconds()
    return await Database.connect(
        dsn,
        size=settings.pool_size,
        pooler=settings.pooler and dsn != direct_address(settings),
        application_name=application_name,
        limits=PoolLimits(
            acquire=settings.acquire_timeout.total_seconds(),
            statement=statement,
            command=statement + 15,
            is_read_only=is_read_only,
        ),
        schema=settings.own_schema,
        direct=direct_address(settings) or "",
    )


def data_folder(settings: Settings) -> Path:
    return data_directory(settings.service.data_dir)
