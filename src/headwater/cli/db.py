"""`headwater db`: the schema and a way in."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from headwater.cli.launch import AsJson, Launch, Launched, run_to_end
from headwater.cli.output import say, show, show_json
from headwater.cli.words import quantity
from headwater.errors import UsageError
from headwater.phrases import size_in_words

if TYPE_CHECKING:
    from headwater.archive.moving import MovedBodies
    from headwater.database.migrate import Status
    from headwater.services import Services
    from headwater.settings import Loaded, Settings

SHOWN_NAMES = 5
# Bodies are moved by sixteens.
TOLD_EVERY = 1_600

app = App(name="db", help="Migrate, inspect, back up and open the database.")
app.command("headwater.cli.backup:backup", name="backup", help="Write everything in the database into a file.")
app.command("headwater.cli.backup:restore", name="restore", help="Bring a backup into an empty database.")
app.command(
    "headwater.cli.report_role:reports_role", name="reports-role", help="Let a role of PostgreSQL read for reports."
)
app.command(
    "headwater.cli.search_engine:search_engine", name="search-engine", help="Who answers searches; give and take them."
)


@app.command(name="migrate")
def migrate(*, to: int | None = None, launch: Launched = Launch()) -> None:  # noqa: B008
    """Bring the schema up to date; safe to run from several processes at once.

    Parameters
    ----------
    to
        Stop after this migration.
    """
    run_to_end(_migrate(launch.settings(), to))


async def _migrate(loaded: "Loaded", to: int | None) -> None:
    from headwater.database.migrate import migrate as apply
    from headwater.database.migrate import status
    from headwater.services import open_server

    async with open_server(loaded.settings, application_name=loaded.application_name) as database:
        before = await status(database)
        done = await apply(database, to)
        after = await status(database)
    stale = {*before.stale} - {*after.stale}
    kinds = {*before.missing_kinds} - {*after.missing_kinds}
    if before.former:
        show(f"took over {before.former}")
    for one in done:
        show(f"applied {one}")
    said = [f"{quantity(len(done), 'migration')} applied"] if done else []
    said += [f"{len(stale)} functions made"] if stale else []
    said += [f"{quantity(len(kinds), 'kind')} of channels added"] if kinds else []
    say(f"{', '.join(said)}." if said else "The schema is up to date.")


@app.command(name="rollback")
def rollback(
    *,
    steps: int = 1,
    yes: Annotated[
        bool, Parameter(negative="", help="Do not ask: the data in dropped tables and columns is lost.")
    ] = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Take back the newest migrations, and the data in the tables they made. Refused while roles run.

    Parameters
    ----------
    steps
        How many.
    """
    if steps < 1:
        raise UsageError(f"--steps {steps} takes nothing back.", fix="Give a number of 1 or more.")
    if not yes:
        raise UsageError("A rollback deletes the data in the tables and columns it drops.", fix="Add --yes to do it.")
    from headwater.actions.schema import take_back_migrations

    done = run_to_end(take_back_migrations(launch.settings(), steps))
    for one in done:
        show(f"took back {one}")
    say(f"{quantity(len(done), 'migration')} taken back." if done else "There was nothing to take back.")


@app.command(name="status")
def status(*, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Say which migrations are applied, which are waiting, and which functions are not this version's."""
    found, address = run_to_end(_status(launch.settings()))
    if json:
        show_json(
            {
                "database": address,
                "applied": [str(one) for one in found.applied],
                "pending": [str(one) for one in found.pending],
                "unknown": [str(one) for one in found.unknown],
                "stale_functions": found.stale,
                "missing_kinds": found.missing_kinds,
                "former": str(found.former) if found.former else None,
            }
        )
        return
    show(f"database {address}")
    for word, migrations in (("applied", found.applied), ("pending", found.pending), ("unknown", found.unknown)):
        for one in migrations:
            show(f"{word}  {one}")
    if found.former:
        show(f"former   {found.former}: `headwater db migrate` takes it over")
    if found.stale:
        more = f" and {len(found.stale) - SHOWN_NAMES} more" if len(found.stale) > SHOWN_NAMES else ""
        show(f"stale    functions {', '.join(found.stale[:SHOWN_NAMES])}{more}")
    if found.missing_kinds:
        show(f"missing  kinds of channels: {', '.join(found.missing_kinds)}")


async def _status(loaded: "Loaded") -> tuple["Status", str]:
    from headwater.database import migrate
    from headwater.services import open_server

    async with open_server(loaded.settings, application_name=loaded.application_name) as database:
        return await migrate.status(database), database.address


@app.command(name="move-bodies")
def move_bodies(*, launch: Launched = Launch()) -> None:  # noqa: B008
    """Bring raw bodies of before to where `archive.raw_store` says; interrupted, it goes on where it was."""
    from headwater.cli.launch import with_services

    async def work(services: "Services") -> "tuple[MovedBodies, str]":
        from headwater.archive.moving import move_bodies as move

        chosen = services.stores.chosen
        return await move(services.database, services.stores, told), chosen.place if chosen else "the database"

    def told(moved: "MovedBodies") -> None:
        if moved.bodies % TOLD_EVERY == 0:
            say(f"{moved.bodies:,} moved.")

    moved, where = with_services(launch, work)
    size = f", {size_in_words(moved.bytes)} packed" if moved.bytes else ""
    bodies = "1 body" if moved.bodies == 1 else f"{moved.bodies:,} bodies"
    say(f"{bodies} moved into {where}{size}.")
    if moved.missing:
        say(f"{moved.missing:,} are not where their rows say, and were left.")


@app.command(name="shell")
def shell(
    *arguments: Annotated[str, Parameter(allow_leading_hyphen=True, help="Passed on to psql.")],
    launch: Launched = Launch(),  # noqa: B008
) -> int:
    """Open psql on the database; arguments after `--` go to psql."""
    return run_to_end(_shell(launch.settings().settings, arguments))


async def _shell(settings: "Settings", arguments: tuple[str, ...]) -> int:
    import asyncio
    import shutil
    import signal

    from headwater.cli.psql import command_for
    from headwater.database.translate import with_schema
    from headwater.services import database_address, direct_address, embedded_server

    schema, direct = settings.database.own_schema, direct_address(settings.database)
    bundled = embedded_server(settings).binary("psql")
    outside = shutil.which("psql") if settings.database.url else None
    async with database_address(settings) as dsn:
        address = direct or dsn
        if schema and not direct and await _is_behind_pooler(dsn, settings):
            say(f"Behind a pooler psql does not begin in our schema: write {schema}.sources and so on.")
        elif schema:
            address = with_schema(address, schema)
        command, environment = command_for(Path(outside or bundled), address)
        # Ctrl-C is psql's: it cancels a query there, and must not take the database away under it.
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, lambda: None)
        process = await asyncio.create_subprocess_exec(*command, *arguments, env=environment)
        try:
            return await process.wait()
        except asyncio.CancelledError:
            process.terminate()
            await process.wait()
            raise


async def _is_behind_pooler(dsn: str, settings: "Settings") -> bool:
    from headwater.services import connect

    async with await connect(dsn, settings.database, "headwater db shell") as database:
        return database.is_behind_pooler
