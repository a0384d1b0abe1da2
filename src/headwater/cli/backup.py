"""`headwater db backup` and `headwater db restore`: everything in one file, by PostgreSQL's own programs."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from headwater.chance import new_id
from headwater.cli.launch import Launch, Launched, run_to_end
from headwater.cli.output import say
from headwater.cli.psql import command_for
from headwater.database.migrate import status
from headwater.database.programs import FOLDERS, bundled_programs
from headwater.errors import DependencyDown, UsageError
from headwater.services import connect, database_address, direct_address
from headwater.settings import Loaded, Settings

# Whose they are is a matter of the server that they come to.
PLAIN = ("--no-owner", "--no-privileges")
MEBIBYTE = 1 << 20


def backup(file: Path, *, launch: Launched = Launch()) -> None:  # noqa: B008
    """Write everything in the database into a file, while it is worked on. Exit 5 if that fails.

    Parameters
    ----------
    file
        Where to: written beside it and put in its place when it is whole.
    """
    run_to_end(_backup(launch.settings().settings, file))
    say(f"{file}: {file.stat().st_size / MEBIBYTE:,.1f} MB. Into an empty database: headwater db restore {file}")


def restore(file: Path, *, launch: Launched = Launch()) -> None:  # noqa: B008
    """Bring a backup into an empty database, wholly or not at all.

    Parameters
    ----------
    file
        What `headwater db backup` wrote, with this version or an older one.
    """
    if not file.is_file():
        raise UsageError(f"There is no file {file}.")
    run_to_end(_restore(launch.settings(), file))
    say("Restored. Bring it up to date with: headwater db migrate")


async def _backup(settings: Settings, file: Path) -> None:
    beside = file.with_name(f".{file.name[:100]}.{new_id().hex}.part")
    schema = settings.database.own_schema
    only = ("--schema", schema) if schema else ()
    try:
        async with database_address(settings) as dsn:
            words = ("--format", "custom", *PLAIN, *only, "--file", str(beside))
            await _run("pg_dump", direct_address(settings.database) or dsn, words)
        beside.replace(file)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}.") from error
    finally:
        beside.unlink(missing_ok=True)


async def _restore(loaded: Loaded, file: Path) -> None:
    settings = loaded.settings
    async with database_address(settings) as dsn:
        async with await connect(dsn, settings.database, loaded.application_name) as database:
            if (await status(database)).applied:
                raise UsageError(
                    "This database is in use: a backup comes into an empty one.",
                    fix="Name a new one in HEADWATER_DATABASE__URL, or a new HEADWATER_SERVICE__DATA_DIR.",
                )
        words = ("--exit-on-error", "--single-transaction", *PLAIN, str(file))
        await _run("pg_restore", direct_address(settings.database) or dsn, words)


async def _run(program: str, address: str, words: Sequence[str]) -> None:
    """The password travels as psql's does. Raises DependencyDown with what the program said."""
    # A program may be newer than its server, but not older.
    (path, bare), environment = command_for(bundled_programs(max(FOLDERS)) / program, address)
    process = await asyncio.create_subprocess_exec(
        *(path, "--no-password", "--dbname", bare, *words),
        env=environment | {"PGAPPNAME": f"headwater {program}"},
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, said = await process.communicate()
    except asyncio.CancelledError:
        process.terminate()
        await process.wait()
        raise
    if process.returncode:
        lines = said.decode(errors="replace").strip().splitlines() or ["it gave no reason"]
        raise DependencyDown(f"{program} failed: {lines[0]}", fix="Nothing was changed. Mend that, and try again.")
