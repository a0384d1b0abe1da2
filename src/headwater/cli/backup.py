"""`headwater db backup` and `headwater db restore`: everything in one file, by PostgreSQL's own programs."""

import asyncio
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
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
# In a copy of the database none of the processes of the original runs.
WITHOUT = ("--exclude-table-data", "*.role_processes")
# pg_restore sets it at the beginning of its script, and servers before 17 do not know it.
UNKNOWN_TO_OLDER, LINES_OF_SETTINGS = b"SET transaction_timeout = 0;", 40
IN_ONE_TRANSACTION = ("--no-psqlrc", "--quiet", "--single-transaction", "--set", "ON_ERROR_STOP=1")
PIECE = 1 << 16
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
            words = ("--format", "custom", *PLAIN, *WITHOUT, *only, "--file", str(beside))
            await _dump(direct_address(settings.database) or dsn, words)
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
        await _fill(direct_address(settings.database) or dsn, file)


async def _dump(address: str, words: Sequence[str]) -> None:
    dumping = await _begun("pg_dump", words, address)
    try:
        said = await _complaints_of(dumping)
    except asyncio.CancelledError:
        dumping.terminate()
        await dumping.wait()
        raise
    _refuse_failed("pg_dump", dumping, said)


async def _fill(address: str, file: Path) -> None:
    """The script of pg_restore, by psql: by itself pg_restore cannot fill servers that are older than it."""
    reading = await _begun("pg_restore", (*PLAIN, "--file", "-", str(file)))
    writing = await _begun("psql", IN_ONE_TRANSACTION, address)
    try:
        _, said, complained = await asyncio.gather(
            _pass_on(reading, writing), _complaints_of(reading), _complaints_of(writing)
        )
    finally:
        for process in (reading, writing):
            if process.returncode is None:
                process.kill()
                await process.wait()
    # One that was killed, because of the other, has a code below zero.
    if (writing.returncode or 0) > 0:
        _refuse_failed("psql", writing, complained)
    _refuse_failed("pg_restore", reading, said)
    _refuse_failed("psql", writing, complained)


async def _pass_on(reading: Process, writing: Process) -> None:
    """The end of the script commits, so a script that broke off has none: psql is killed, and nothing has happened."""
    assert reading.stdout
    assert writing.stdin
    # If psql gives up, it says itself why.
    with suppress(BrokenPipeError, ConnectionResetError):
        for _ in range(LINES_OF_SETTINGS):
            line = await reading.stdout.readline()
            if line.strip() != UNKNOWN_TO_OLDER:
                writing.stdin.write(line)
        while piece := await reading.stdout.read(PIECE):
            writing.stdin.write(piece)
            await writing.stdin.drain()
        if await reading.wait():
            writing.kill()
        else:
            writing.stdin.close()
            return
    if reading.returncode is None:
        reading.kill()


async def _begun(program: str, words: Sequence[str], address: str | None = None) -> Process:
    """The password travels as psql's does."""
    # A program may be newer than its server, but not older.
    (path, *bare), environment = command_for(bundled_programs(max(FOLDERS)) / program, address or "")
    place = ("--no-password", "--dbname", *bare) if address else ()
    return await asyncio.create_subprocess_exec(
        *(path, *place, *words),
        env=environment | {"PGAPPNAME": f"headwater {program}"},
        stdin=PIPE if program == "psql" else DEVNULL,
        stdout=PIPE if program == "pg_restore" else DEVNULL,
        stderr=PIPE,
    )


async def _complaints_of(process: Process) -> str:
    assert process.stderr
    said = await process.stderr.read()
    await process.wait()
    return said.decode(errors="replace").strip()


def _refuse_failed(program: str, process: Process, said: str) -> None:
    if process.returncode:
        first = said.splitlines()[0] if said else "it gave no reason"
        raise DependencyDown(f"{program} failed: {first}", fix="Nothing was changed. Mend that, and try again.")
