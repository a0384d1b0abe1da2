"""Is this machine and this installation fit to run? Each check is one function with one answer."""

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from headwater import __version__
from headwater.accounts.protection import (
    CREATE,
    AccountCounts,
    LoginStanding,
    count_accounts,
    is_open,
    is_reached_by_others,
    require_known_callers,
    standing_of,
)
from headwater.archive.stores.known import BodyStores, opened_stores, try_store
from headwater.chance import random_from
from headwater.clock import Clock
from headwater.database.installation import installation_of
from headwater.database.listen import GIVE_DIRECT_URL, NOTHING_HEARD
from headwater.database.migrate import known_migrations, require_room, status
from headwater.database.pool import Database
from headwater.database.queries import all_query_files, load_queries
from headwater.database.translate import with_escapes
from headwater.errors import (
    MAKE_ROOM,
    DatabaseDown,
    DependencyDown,
    DiskFull,
    MigrationFailed,
    NotFound,
    QueryFailed,
    SettingError,
    StoreDown,
)
from headwater.log import make_logger
from headwater.net.keys import identity_file, read_keys
from headwater.net.signing import agent_origin
from headwater.phrases import size_in_words
from headwater.reports.forecast import FARTHEST_DAYS, Part, SizeForecast
from headwater.reports.operations import ROLES, Operations, operations_now, problems_in
from headwater.reports.push import push_summary
from headwater.reports.sinks import DeliveryNow, state_word
from headwater.reports.sizes import forecast_of
from headwater.settings import Settings
from headwater.settings.groups import WebSettings
from headwater.sources.health import Severity
from headwater.sources.push import may_subscribe

if TYPE_CHECKING:
    from headwater.plugins import Plugin, PluginGroup

LEAST_FREE_BYTES = 1024**3
# What is left of a disk that is full for all that PostgreSQL writes at once.
FULL_BYTES = 32 * 1024**2
LARGEST_CLOCK_OFFSET_SECONDS = 2.0
LEAST_DAYS_OF_ROOM = 30
MOST_COUNTED = 100_000
LOOKED_AHEAD_DAYS = (30, FARTHEST_DAYS)

queries = load_queries("headwater.reports")
archive_queries = load_queries("headwater.archive")


@dataclass(frozen=True, slots=True)
class Check:
    level: Literal["ok", "warning", "failure"]
    says: str
    fix: str = ""
    # Lines below it, and the same for programs.
    details: tuple[str, ...] = ()
    figures: dict[str, Any] = field(default_factory=dict)


async def examine(settings: Settings, data: Path, database: Database, clock: Clock) -> AsyncIterator[Check]:
    async for check in examine_machine(settings, data):
        yield check
    async for check in examine_database(settings, data, database, clock):
        yield check


async def examine_machine(settings: Settings, data: Path) -> AsyncIterator[Check]:
    """The checks that need no database."""
    yield check_program()
    yield await asyncio.to_thread(check_disk, data)
    yield check_contact(settings)
    yield check_secrets(settings.poll.secrets_file)
    yield check_identity(settings)
    for check in await asyncio.to_thread(check_installed_plugins):
        yield check


async def examine_database(settings: Settings, data: Path, database: Database, clock: Clock) -> AsyncIterator[Check]:
    yield await check_database(database)
    yield await check_room(database)
    async for check in check_pooler(settings, database):
        yield check
    yield await check_sight(database)
    yield (schema := await check_schema(database))
    if schema.level == "ok":
        yield await check_access(settings.web, database)
        yield await check_push(settings.web, database)
        for one in await check_search(settings, database):
            yield one
        yield await check_size(settings, data, database)
        yield await check_bodies(settings, data, database)
    yield await check_clock(database, clock)
    if schema.level == "ok":
        for check in checks_of(await operations_now(database)):
            yield check


def checks_of(now: Operations) -> Iterator[Check]:
    """Which roles run, how many days have partitions, and what is wrong with either. Pure."""
    yield Check("ok", roles_in_words(now))
    if now.days_ahead:
        held = f", {now.rows_in_default:,} rows of days without one" if now.rows_in_default else ""
        yield Check("ok", f"Partitions for {min(now.days_ahead.values())} days after today{held}")
    if now.delivery:
        yield Check("ok", delivery_in_words(now.delivery))
    for one in problems_in(now):
        yield Check("failure" if one.grade is Severity.ERROR else "warning", one.what.rstrip("."), one.fix)


def delivery_in_words(delivery: DeliveryNow) -> str:
    log = f"The log of changes is at position {delivery.position:,}"
    if not delivery.sinks:
        return f"{log}; no sink is set up"
    told = ", ".join(f"{one.name} {state_word(one)} ({one.behind:,} behind)" for one in delivery.sinks)
    return f"{log}; sinks: {told}"


def roles_in_words(now: Operations) -> str:
    if not now.alive:
        return "Nothing runs; start with: headwater up"
    counts = {duty: len(now.doing(duty)) for duty in ROLES}
    return "Running: " + ", ".join(f"{duty} {count:,}" for duty, count in counts.items())


def check_program() -> Check:
    python = ".".join(str(part) for part in sys.version_info[:3])
    assets = f"{len(known_migrations())} migrations and {len(all_query_files())} query files in the package"
    return Check("ok", f"Python {python}, headwater {__version__}, {assets}")


def check_disk(data: Path) -> Check:
    place = next(folder for folder in (data, *data.parents) if folder.exists())
    if not place.is_dir():
        fix = "Set HEADWATER_SERVICE__DATA_DIR to a folder, or to one that can be made."
        return Check("failure", f"The data directory {data} cannot be made: {place} is no folder", fix)
    free = shutil.disk_usage(place).free
    says = f"Data directory {data}, {size_in_words(free)} free"
    if free < FULL_BYTES:
        return Check("failure", f"The disk of the data directory {data} is full", MAKE_ROOM)
    if free < LEAST_FREE_BYTES:
        return Check("warning", says, "Free some space, or set HEADWATER_SERVICE__DATA_DIR to another disk.")
    return Check("ok", says)


def check_secrets(file: Path | None) -> Check:
    """Only whether it can be used at all: what stands in it is nobody's business here."""
    if file is None:
        return Check("ok", "No file of secrets is set")
    if not file.is_file() or not os.access(file, os.R_OK):
        fix = "Write it there, or correct poll.secrets_file: APIs with secrets are not asked without it."
        return Check("failure", f"The file of secrets {file} does not exist or cannot be read", fix)
    if file.stat().st_mode & 0o077:
        return Check("failure", f"Others may read the secrets in {file}", f"Run: chmod 600 {file}")
    return Check("ok", f"The file of secrets {file} can be read")


def check_identity(settings: Settings) -> Check:
    """Whether requests can be signed, where they are to be."""
    if not settings.identity.sign:
        return Check("ok", "Requests are not signed")
    try:
        agent = agent_origin(settings.web.public_url)
        keys = len(read_keys(identity_file(settings)).keys)
    except (NotFound, SettingError, DependencyDown) as error:
        return Check("failure", error.what.rstrip("."), error.fix)
    return Check("ok", f"Requests over https are signed as {agent}, with {keys} key{'' if keys == 1 else 's'}")


def unreachable(error: DependencyDown, *, is_configured: bool) -> Check:
    """The check of a database that cannot be asked. Pure."""
    where = "If it is elsewhere, correct database.url (HEADWATER_DATABASE__URL)." if is_configured else ""
    says = f"{error.what.rstrip('.')}; what needs the database was not checked"
    return Check("failure", says, " ".join(filter(None, (error.fix, where))))


def check_installed_plugins() -> list[Check]:
    # Here, since `status` asks other checks of this module and has no use for plug-ins.
    from headwater.plugins import EXTRACTORS, READERS, installed

    return [check for group in (EXTRACTORS, READERS) for check in check_plugins(group, installed(group))]


def check_plugins(group: "PluginGroup", plugins: "Sequence[Plugin]") -> list[Check]:
    """Each is imported, as a child would do it with the first answer of its host."""
    from headwater.plugins import loaded

    if not plugins:
        return [Check("ok", f"No {group.role}s of other distributions are installed")]
    checks, used = [], dict[str, "Plugin"]()
    for one in plugins:
        first = used.setdefault(one.host, one)
        says = f"{group.role.capitalize()} for {one.host}: {one.target} of {one.distribution}"
        function = loaded(one)
        if isinstance(function, str):
            fix = f"Mend or uninstall {one.distribution}; meanwhile these {group.reads} are read as any other."
            checks.append(Check("failure", f"{says}: {function}", fix))
        elif first is not one:
            fix = f"Uninstall one of the two: {first.distribution} reads these {group.reads}."
            checks.append(Check("warning", f"{says} is not used", fix))
        else:
            checks.append(Check("ok", says))
    return checks


async def check_database(database: Database) -> Check:
    return Check("ok", f"Database PostgreSQL {await database.fetchval(queries.server_version)} at {database.address}")


async def check_room(database: Database) -> Check:
    """By writing a little: nothing else tells how full a disk of another machine is."""
    try:
        async with database.transaction() as connection:
            await connection.execute(queries.write_a_little)
    except DiskFull as error:
        return Check("failure", error.what.rstrip("."), error.fix)
    except QueryFailed as error:
        return Check("warning", f"Whether the database has room is not known: {error.what}")
    return Check("ok", "The database has room to write")


async def check_pooler(settings: Settings, database: Database) -> AsyncIterator[Check]:
    """Nothing to say where no pooler is in between."""
    if database.is_behind_pooler and settings.database.pooler:
        yield Check("ok", "A connection pooler is in between, as database.pooler says")
    elif database.is_behind_pooler:
        fix = "Set database.pooler = true: each process finds it out by a connection in vain."
        yield Check("warning", "A connection pooler is in between, and database.pooler does not say so", fix)
    if settings.database.direct_url:
        yield await check_direct_address(with_escapes(settings.database.direct_url.get_secret_value()), database)
    elif database.is_behind_pooler:
        yield Check("warning", NOTHING_HEARD, GIVE_DIRECT_URL)


async def check_direct_address(address: str, database: Database) -> Check:
    try:
        async with await Database.connect(address, size=1, application_name="headwater doctor") as direct:
            is_same = await direct.fetchval(queries.which_database) == await database.fetchval(queries.which_database)
    except DatabaseDown as error:
        return Check("failure", f"database.direct_url: {error.what.rstrip('.')}", error.fix)
    if direct.is_behind_pooler:
        fix = "Name the server itself there, not its pooler: nothing is heard through one."
        return Check("failure", "database.direct_url leads to a connection pooler", fix)
    if not is_same:
        fix = "Name the server that the pooler leads to, and the same database."
        return Check("failure", "database.direct_url leads to another database than database.url", fix)
    return Check("ok", f"database.direct_url leads to the same database, {direct.address}")


async def check_sight(database: Database) -> Check:
    """An old snapshot slows everything down; the alarm about it needs to see whose it is."""
    row = await database.fetchrow(queries.what_the_role_sees)
    assert row is not None
    if row["sees_sessions"]:
        return Check("ok", f"The role {row['role']} sees the transactions of all sessions")
    says = f"The role {row['role']} does not see how old other roles' transactions are: nobody is warned of a long dump"
    grant = f"As a superuser type: GRANT pg_read_all_stats TO {row['role']}; (pg_monitor holds it too)"
    return Check("warning", f"{says} or a session left idle in one, which slow down all claims", grant)


async def check_schema(database: Database) -> Check:
    found = await status(database)
    if found.former:
        return Check("failure", f"The schema is of before: {found.former}", "Run: headwater db migrate")
    if found.unknown or found.changed:
        return Check("failure", "The schema is not this version's", "Install the Headwater that migrated it last.")
    if found.pending:
        try:
            await require_room(database)
        except MigrationFailed as error:
            return Check("failure", error.what.rstrip("."), error.fix)
        return Check("failure", f"{len(found.pending)} migrations are waiting", "Run: headwater db migrate")
    if found.stale:
        return Check("failure", f"{len(found.stale)} functions are not this version's", "Run: headwater db migrate")
    if found.missing_kinds:
        kinds = ", ".join(found.missing_kinds)
        return Check("failure", f"The database does not know channels of the kind {kinds}", "Run: headwater db migrate")
    return Check("ok", f"Migrations current ({known_migrations()[-1]})")


async def check_access(web: WebSettings, database: Database) -> Check:
    """How the web role is protected."""
    standing, accounts = await standing_of(database), await count_accounts(database)
    try:
        require_known_callers(web, standing)
    except SettingError as error:
        return Check("failure", f"The web role does not start: {error.what.rstrip('.')}", error.fix)
    return judge_access(web, standing, accounts)


def judge_access(web: WebSettings, standing: LoginStanding, accounts: AccountCounts) -> Check:
    """Pure."""
    if is_open(web, standing):
        return Check("ok", f"The web role listens on this machine alone ({web.host}), and nobody has to log in")
    told = f"{accounts.users} users and {accounts.tokens} tokens hold, {accounts.admins} of them as admin"
    by_proxy = f"; proxies at {', '.join(web.trusted_proxies)} say who logged in" if web.proxy_user_header else ""
    says = f"The web role asks everybody to log in: {told}{by_proxy}"
    if is_reached_by_others(web) and not web.public_url.startswith("https://"):
        fix = "Put a proxy with https before it, and name it in web.public_url: browsers do not log in without."
        return Check("warning", f"{says}; no https is known of", fix)
    if not accounts.admins and not by_proxy:
        return Check("warning", says, f"Nobody may administer it. Make an admin: {CREATE}")
    return Check("ok", says)


async def check_size(settings: Settings, data: Path, database: Database) -> Check:
    return judge_size(await forecast_of(database, settings.keep, data if settings.database.url is None else None))


def judge_size(forecast: SizeForecast) -> Check:
    figures = {
        **_figures(forecast),
        "is_early": forecast.is_early,
        "free_bytes": forecast.free_bytes,
        "days_of_room": forecast.days_of_room,
        "parts": {part.name: _figures(part) | {"keep_days": part.keep_days} for part in forecast.parts},
    }
    if forecast.is_early:
        says = f"The database takes {size_in_words(forecast.bytes)}; it is too early to tell how it grows"
        return Check("ok", f"{says} (maintenance notes sizes)", figures=figures)
    ahead = ", ".join(f"{size_in_words(forecast.bytes_in(days))} in {days} days" for days in LOOKED_AHEAD_DAYS)
    says = f"The database takes {size_in_words(forecast.bytes)}, {ahead}{_room(forecast)}"
    if forecast.days_of_room is not None and forecast.days_of_room < LEAST_DAYS_OF_ROOM:
        fix = "Give it a larger disk, or keep less: keep.raw_days, keep.fetch_log_days, keep.document_days."
        return Check("warning", says, fix, _table(forecast), figures)
    return Check("ok", says, "", _table(forecast), figures)


def _room(forecast: SizeForecast) -> str:
    if forecast.free_bytes is None:
        return ""
    days = forecast.days_of_room
    return "; the disk has room for " + ("more than a year" if days is None else f"{days:,} days")


def _table(forecast: SizeForecast) -> tuple[str, ...]:
    """The largest first."""
    parts = sorted(forecast.parts, key=lambda part: part.bytes, reverse=True)
    return tuple(_line(part) for part in parts)


def _line(part: Part) -> str:
    ahead = "".join(f"  {size_in_words(part.bytes_in(days)):>11} in {days} days" for days in LOOKED_AHEAD_DAYS)
    kept = f"  kept {part.keep_days} days" if part.keep_days else ""
    growth = f"+{size_in_words(part.per_day or 0)}"
    return f"{part.name:<18}{size_in_words(part.bytes):>11}  {growth:>12} a day{ahead}{kept}"


def _figures(of: SizeForecast | Part) -> dict[str, Any]:
    """A figure that cannot be told yet is None."""
    is_early = of.per_day is None
    ahead = {f"bytes_in_{days}_days": None if is_early else round(of.bytes_in(days)) for days in LOOKED_AHEAD_DAYS}
    return {"bytes": of.bytes, "bytes_per_day": None if of.per_day is None else round(of.per_day), **ahead}


async def check_bodies(settings: Settings, data: Path, database: Database) -> Check:
    """Whether raw bodies get to where they are to be, by one that is put, read and deleted."""
    installation = await installation_of(database, __version__)
    try:
        stores = await opened_stores(database, settings.archive, installation.id, data)
        if stores.chosen:
            await try_store(stores.chosen, await database.fetchval(archive_queries.new_body_id))
    except (StoreDown, SettingError) as error:
        return Check("failure", error.what.rstrip("."), error.fix)
    rows = await database.fetch(archive_queries.removals_waiting, MOST_COUNTED)
    return judge_bodies(stores, {row["stored_in"]: row["count"] for row in rows})


def judge_bodies(stores: BodyStores, waiting: Mapping[str, int]) -> Check:
    """Pure. `waiting`: bodies that are to be deleted, by store."""
    where = f"in {stores.chosen.place}, which no figure of the database counts" if stores.chosen else "in the database"
    says = f"Raw bodies are kept {where}"
    for kind, count in waiting.items():
        if kind not in stores.known:
            fix = "Name the store again that they lie in: archive.raw_folder, or archive.s3_bucket."
            return Check("warning", f"{says}; {count:,} of before wait in the {kind} store to be deleted", fix)
    if total := sum(waiting.values()):
        says = f"{says}; {total:,} wait to be deleted, which maintain does"
    return Check("ok", says)


async def check_clock(database: Database, clock: Clock) -> Check:
    """Only the database's clock decides anything; a large offset still confuses readers of logs."""
    offset = abs((await database.fetchval(queries.server_time) - clock.now()).total_seconds())
    says = f"Clock offset {offset:.1f} s against the database"
    if offset > LARGEST_CLOCK_OFFSET_SECONDS:
        return Check("warning", says, "Synchronise this machine's clock: log times will look wrong.")
    return Check("ok", says)


async def check_push(web: WebSettings, database: Database) -> Check:
    """Whether hubs can reach us, where channels name any."""
    push = await push_summary(database)
    named = f"{push.named:,} channel{'' if push.named == 1 else 's'}"
    if may_subscribe(web.public_url):
        return Check("ok", f"Hubs push to {web.public_url}: {named} with a hub, {push.subscribed:,} subscribed")
    if not push.named:
        return Check("ok", "No hub is subscribed to: web.public_url is not https, and no channel names a hub")
    return Check(
        "warning",
        f"Hubs of {named} could push, and are not subscribed to: no public https address is set",
        "Set web.public_url to the https address under which hubs reach the web role.",
    )


async def check_search(settings: Settings, database: Database) -> list[Check]:
    """Who answers searches, and whether it can."""
    # Others use checks of this module, and need no client of the web.
    from headwater.deliver.answering import engine_for
    from headwater.deliver.engine_standing import standing_of_engine

    log = make_logger(settings.log.level, settings.log.format)
    standing = await standing_of_engine(engine_for(database, settings, random_from(), log))
    hindered = [
        Check("failure" if one.is_fatal else "warning", one.what.rstrip("."), one.fix) for one in standing.hindrances
    ]
    if any(one.is_fatal for one in standing.hindrances):
        return hindered
    who = f", {standing.server.rstrip('.')}" if standing.server else ""
    return [Check("ok", f"Searches are answered by {standing.answers}{who}"), *hindered]


def check_contact(settings: Settings) -> Check:
    if not settings.fetch.contact and not settings.fetch.user_agent:
        return Check(
            "warning",
            "The user agent names no contact; sites may block you",
            "Set HEADWATER_FETCH__CONTACT=mailto:you@example.org",
        )
    return Check("ok", "The user agent names a contact")
