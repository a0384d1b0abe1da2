"""One real PostgreSQL for the whole run, and a database of its own for every test that asks.

HEADWATER_TEST_PG=16 runs the suite on the other embedded version, HEADWATER_TEST_PG=15 on the one of Debian's package,
HEADWATER_TEST_DATABASE_URL on a server of your own (a superuser's address; the run makes and drops databases beside the
one it names).
HEADWATER_TEST_SCHEMA=name has everything in a schema of that name, beside tables of another system.
"""

import asyncio
import gc
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import asyncpg
import hypothesis
import pytest
from tests import fault_rows, fork_servers, search_servers, warm_process
from tests.administrator import Administrator, database_named
from tests.compiled import rewrite_tests
from tests.distribution import has_programs, start_server, stop_server
from tests.known_types import introspection_of_clones
from tests.published import GUARD
from tests.rows import leave_first_rows
from tests.s3_server import S3Server, s3_server
from tests.scheduling import GroupScheduling, longest_first, scheduling
from tests.search_servers import NoServer
from tests.warm_process import Forks

from headwater import __version__
from headwater.database.embedded import EmbeddedServer
from headwater.database.locks import FileLock, exclusively
from headwater.database.migrate import migrate
from headwater.database.pool import Database
from headwater.database.programs import FOLDERS
from headwater.database.translate import with_schema
from headwater.extraction.pool import links
from headwater.extraction.pool.links import ForkServerLink

RUN_FOLDER = "HEADWATER_TEST_RUN_FOLDER"
OUTSIDE_SERVER = "HEADWATER_TEST_DATABASE_URL"
PG_VERSION = int(os.environ.get("HEADWATER_TEST_PG", "18"))
# In the run's folder: a server of a distribution's package, if one was asked for.
DISTRIBUTION = "distribution"
OWN_SCHEMA = os.environ.get("HEADWATER_TEST_SCHEMA", "")
# Of another system, and not fit for us.
NEIGHBOURS = "create table sources (id serial); create table jobs (id serial); create table events (id serial)"
PREFIX = "headwater-test-"
# Cloning a database was ten times as quick here as on the disk it was measured against.
MEMORY = Path("/dev/shm")
MEMORY_NEEDED_BYTES = 2_000_000_000
# One server for the tests of all workers, some of which start a dozen processes.
ROOMY = {"max_connections": "300"}
UNSAFE_BUT_QUICK = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off", "shared_buffers": "64MB"}
if PG_VERSION >= 18:
    # Every test reads the catalogues of a new database, a page at a time: handing each page to another process costs
    # more than reading it.
    UNSAFE_BUT_QUICK["io_method"] = "sync"

NO_SEARCH_SERVER = "no search server: "
# Debian's packages of the same name, by the marker of the tests that need them.
PROGRAMS = {"browser": "chromium", "redis": "redis-server"}

RUN_LOCK = pytest.StashKey[FileLock]()

# How long an example takes says more about the machine than about the code.
hypothesis.settings.register_profile("headwater", deadline=None)
hypothesis.settings.load_profile("headwater")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--faults", metavar="ROWS", help="run the rows of docs/reliability.md and write what they said")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Ten thousand tests live to the end: looking through them for rubbish, again and again, finds none."""
    gc.disable()
    result = yield
    gc.collect()
    gc.freeze()
    gc.enable()
    return result


# Before the tests of a target are picked by their markers.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    fault_rows.mark_fault_rows(items)
    if (rows := config.getoption("--faults")) is not None:
        fault_rows.leave_others_out(items, rows)
    leave_first_rows(items)
    longest_first(items)
    for marker, program in PROGRAMS.items():
        if shutil.which(program) is None:
            for item in items:
                if item.get_closest_marker(marker):
                    item.add_marker(pytest.mark.skip(reason=f"no {program}"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> GroupScheduling:
    return scheduling(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    for program in PROGRAMS.values():
        if unseen := sum(f"no {program}" in str(report.longrepr) for report in skipped):
            terminalreporter.write_line(f"{unseen} tests were skipped: install Debian's {program}.")
    serverless = [str(report.longrepr) for report in skipped if NO_SEARCH_SERVER in str(report.longrepr)]
    if serverless:
        why = serverless[0].rpartition(NO_SEARCH_SERVER)[2].rstrip("')")
        terminalreporter.write_line(f"{len(serverless)} tests need a search server and were skipped: {why}.")
    # Each worker of pytest-xdist has a summary of its own part, too.
    is_worker = hasattr(terminalreporter.config, "workerinput")
    if terminalreporter.config.getoption("--faults") is not None and not is_worker:
        tell_of_faults(terminalreporter)


def tell_of_faults(terminalreporter: pytest.TerminalReporter) -> None:
    stats = terminalreporter.stats
    reports = [one for word in ("", "passed", "failed", "error", "skipped") for one in stats.get(word, [])]
    for seed in fault_rows.seeds_of(reports):
        terminalreporter.write_line(seed)
    fault_rows.write_results(reports, str(datetime.now(UTC).date()), __version__)


def pytest_configure(config: pytest.Config) -> None:
    """The first process of a run makes its folder; workers of pytest-xdist find the name in the environment."""
    if RUN_FOLDER in os.environ:
        return
    _clear_abandoned_runs()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    # The server may run as another user, who has to get through here and nowhere else.
    folder.chmod(0o711)
    # To be told to end is no reason to leave a server behind: treat it like Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    config.stash[RUN_LOCK] = FileLock(folder / "run.lock")
    config.stash[RUN_LOCK].try_exclusive()
    os.environ[RUN_FOLDER] = str(folder)
    if config.getoption("numprocesses", None):
        rewrite_tests(config)
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > MEMORY_NEEDED_BYTES:
        in_memory(folder).mkdir()
        in_memory(folder).chmod(0o711)
    if PG_VERSION not in FOLDERS and OUTSIDE_SERVER not in os.environ:
        _start_distribution(in_memory(folder) if in_memory(folder).exists() else folder)


def _start_distribution(folder: Path) -> None:
    if not has_programs(PG_VERSION):
        pytest.exit(f"PostgreSQL {PG_VERSION} is not installed: apt-get install postgresql-{PG_VERSION}", returncode=4)
    os.environ[OUTSIDE_SERVER] = start_server(folder / DISTRIBUTION, PG_VERSION, UNSAFE_BUT_QUICK | ROOMY)


def pytest_unconfigure(config: pytest.Config) -> None:
    if RUN_LOCK in config.stash:
        folder = Path(os.environ.pop(RUN_FOLDER))
        if (folder / "template.done").exists() and (outside := os.environ.get(OUTSIDE_SERVER)):
            asyncio.run(_administer(outside, f'drop database "{template_name(folder)}" with (force)'))
        _remove_run(folder)
        config.stash[RUN_LOCK].close()


def _clear_abandoned_runs() -> None:
    """Runs that were killed could not clean up; their lock is free."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if not (folder / "run.lock").exists() or folder.stat().st_uid != os.geteuid():
            continue
        lock = FileLock(folder / "run.lock")
        if lock.try_exclusive():
            _remove_run(folder)
        lock.close()


def in_memory(run_folder: Path) -> Path:
    return MEMORY / run_folder.name


def _remove_run(folder: Path) -> None:
    _stop_and_remove(in_memory(folder))
    _stop_and_remove(folder)


def _stop_and_remove(folder: Path) -> None:
    warm_process.stop_all(folder)
    for cluster in folder.rglob("users.lock"):
        asyncio.run(EmbeddedServer(cluster.parent).stop())
    stop_server(folder / DISTRIBUTION)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session", autouse=True)
def forked_servers(run_folder: Path) -> Iterator[None]:
    """A fork server costs milliseconds, not the second that its imports take."""
    if not hasattr(os, "pidfd_open"):
        yield
        return
    forks = Forks(run_folder, fork_servers.__name__)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ForkServerLink, "open", fork_servers.opening(forks))
        # Time that nobody else wants is what a run on all processors does not have.
        patch.setattr(links, "_LOWEST_PRIORITY", 0)
        yield
    forks.close()


@pytest.fixture(scope="session", autouse=True)
def known_types(run_folder: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncpg.Connection, "_introspect_types", introspection_of_clones(clone_of(run_folder)))
        yield


@pytest.fixture(scope="session")
def run_folder() -> Path:
    return Path(os.environ[RUN_FOLDER])


@pytest.fixture(scope="session")
def quick_folder(run_folder: Path) -> Path:
    """Where clusters of this run lie: in memory if there is enough, and then perhaps without leave to execute."""
    return in_memory(run_folder) if in_memory(run_folder).exists() else run_folder


@pytest.fixture(scope="session", params=search_servers.KINDS)
def search_server_url(request: pytest.FixtureRequest, quick_folder: Path) -> Iterator[str]:
    """A real OpenSearch, and a real Elasticsearch: started by the first test that asks, with nothing in it."""
    try:
        server = search_servers.start_server(request.param, Path(tempfile.mkdtemp(dir=quick_folder)) / request.param)
    except NoServer as error:
        pytest.skip(f"{NO_SEARCH_SERVER}{error}")
    yield server.url
    server.stop()


@pytest.fixture
def open_folder(quick_folder: Path) -> Iterator[Path]:
    """A new folder that the embedded server's user can reach, unlike pytest's own."""
    with _new_folder(quick_folder) as folder:
        yield folder


@pytest.fixture
def disk_folder(run_folder: Path) -> Iterator[Path]:
    """As `open_folder`, where programs may be executed."""
    with _new_folder(run_folder) as folder:
        yield folder


@contextmanager
def _new_folder(parent: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(dir=parent))
    folder.chmod(0o711)
    yield folder
    _stop_and_remove(folder)


@pytest.fixture(scope="session")
def server_url(quick_folder: Path) -> Iterator[str]:
    """A server to make databases on, up for as long as any worker of this run needs it."""
    if outside := os.environ.get(OUTSIDE_SERVER):
        yield outside
        return
    server = EmbeddedServer(quick_folder / "shared", version=PG_VERSION, settings=UNSAFE_BUT_QUICK | ROOMY)
    yield asyncio.run(server.start())
    asyncio.run(server.stop())


@pytest.fixture(scope="session")
def template(server_url: str, run_folder: Path) -> str:
    """Name of a migrated database, made by whichever worker comes first."""
    name = template_name(run_folder)
    asyncio.run(_make_template(server_url, name, run_folder))
    return name


def template_name(run_folder: Path) -> str:
    return run_folder.name.replace("-", "_").lower()


def clone_of(run_folder: Path) -> str:
    """How names of clones begin; not those of databases that begin empty."""
    return f"{template_name(run_folder)}_clone"


async def _make_template(server_url: str, name: str, run_folder: Path) -> None:
    done = run_folder / "template.done"
    async with exclusively(run_folder / "template.lock"):
        if not done.exists():
            await _administer(server_url, f'create database "{name}"')
            async with await Database.connect(database_named(server_url, name), size=1, schema=OWN_SCHEMA) as database:
                if OWN_SCHEMA:
                    await _administer(server_url, NEIGHBOURS, name)
                await migrate(database)
                async with database.transaction() as connection:
                    await connection.execute(GUARD)
            done.touch()


@pytest.fixture(scope="session")
def administrator(server_url: str) -> Iterator[Administrator]:
    with Administrator(server_url) as one:
        yield one


@pytest.fixture
def database_url(administrator: Administrator, template: str, run_folder: Path) -> Iterator[str]:
    """A fresh database with the current schema."""
    with administrator.new_database(clone_of(run_folder), f'template "{template}" strategy file_copy') as url:
        yield with_schema(url, OWN_SCHEMA) if OWN_SCHEMA else url


@pytest.fixture
def empty_database_url(administrator: Administrator, run_folder: Path) -> Iterator[str]:
    """A fresh database with nothing in it."""
    with administrator.new_database(f"{template_name(run_folder)}_empty", "strategy file_copy") as url:
        yield url


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Server]:
    with s3_server() as server:
        yield server


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    async with await Database.connect(database_url, size=5) as connected:
        yield connected


async def _administer(server_url: str, statement: str, name: str = "postgres") -> None:
    connection = await asyncpg.connect(database_named(server_url, name))
    try:
        await connection.execute(statement)
    finally:
        await connection.close()
