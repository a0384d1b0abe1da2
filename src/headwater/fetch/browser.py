"""One Chromium with no network of its own: started when first needed, replaced when it crashed, grew or wore out."""

import asyncio
import os
import re
import shutil
import signal
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from headwater.clock import Clock
from headwater.errors import DependencyDown

if TYPE_CHECKING:
    from playwright.async_api import Browser as Process
    from playwright.async_api import BrowserContext, CDPSession, Page, Playwright

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
DRIVER = "playwright.async_api"
# Every request of a page is answered by us before it gets to the network. Whatever should slip past finds no name that
# resolves, a proxy that does not exist, no exception for loopback and no UDP beside the proxy.
NO_NETWORK = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://nowhere.invalid:9",
    "--proxy-bypass-list=<-loopback>",
    # Two spellings of one switch: the full browser reads the first only, the headless shell the second only.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PLAIN = ("--disable-gpu", "--disable-extensions", "--no-first-run", "--js-flags=--max-old-space-size=256")
CLOSING_SECONDS = 5.0
LOOK_AT_MEMORY_EVERY_SECONDS = 0.5
PROCESSES = Path("/proc")

# Pages of files are shared by all processes of a browser: counted for each, a small one would look enormous.
_OWN_KILOBYTES = re.compile(r"^Rss(?:Anon|Shmem):\s+(\d+) kB", re.MULTILINE)


class RenderUnavailable(DependencyDown):
    """Pages cannot be rendered here; `fix` says what to install."""


class PageLost(Exception):
    """The page, or the browser under it, did not live to the end."""


@dataclass(frozen=True, slots=True)
class Upkeep:
    pages_at_once: int = 2
    renders_each: int = 200  # what a browser leaks is gone with it
    memory_bytes: int = 1024 * 1024 * 1024


@dataclass(slots=True)
class Chromium:
    """One running browser and the driver that steers it."""

    driver: "Playwright"
    process: "Process"
    line: "CDPSession"
    pid: int
    renders: int = 0
    open_pages: int = 0

    def kill(self) -> None:
        # Once it is gone, the number may be another process's.
        if self.process.is_connected():
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    async def memory_bytes(self) -> int:
        return memory_bytes(pid for pid, _ in await _processes(self.line))

    async def stop(self) -> None:
        with suppress(TimeoutError, _driver_error()):
            async with asyncio.timeout(CLOSING_SECONDS):
                await self.process.close()
        self.kill()
        with suppress(TimeoutError, _driver_error()):
            async with asyncio.timeout(CLOSING_SECONDS):
                await self.driver.stop()


@dataclass(slots=True)
class Browser:
    """`async with Browser(…)`; nothing runs before the first page is wanted."""

    clock: Clock
    upkeep: Upkeep = field(default_factory=Upkeep)
    programs: tuple[str, ...] = PROGRAMS
    driver: str = DRIVER
    _current: Chromium | None = field(default=None, init=False)
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _room: asyncio.Semaphore = field(init=False)
    _watchers: set[asyncio.Task[None]] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self._room = asyncio.Semaphore(self.upkeep.pages_at_once)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for watcher in self._watchers:
            watcher.cancel()
        if self._current is not None:
            await self._current.stop()

    @property
    def pid(self) -> int | None:
        return self._current.pid if self._current else None

    @asynccontextmanager
    async def page(self, user_agent: str) -> AsyncIterator["Page"]:
        """An empty page that shares nothing with any other. Raises PageLost for whatever happens to it."""
        async with self._room:
            chromium = await self._running()
            chromium.renders += 1
            chromium.open_pages += 1
            try:
                async with _context(chromium, user_agent) as context:
                    yield await context.new_page()
            except _driver_error() as error:
                raise PageLost(str(error).partition("\n")[0]) from error
            finally:
                chromium.open_pages -= 1
                await self._retire(chromium)

    async def _running(self) -> Chromium:
        async with self._starting:
            if self._current is not None and not self._current.process.is_connected():
                await self._current.stop()
                self._current = None
            if self._current is None:
                self._current = await start_browser(self.programs, self.driver)
                watcher = asyncio.create_task(self._watch(self._current))
                self._watchers.add(watcher)
                watcher.add_done_callback(self._watchers.discard)
            return self._current

    async def _retire(self, chromium: Chromium) -> None:
        """A worn-out browser takes no new page, and goes with its last one."""
        if chromium.renders >= self.upkeep.renders_each and chromium is self._current:
            self._current = None
        if chromium is not self._current and not chromium.open_pages:
            await chromium.stop()

    async def _watch(self, chromium: Chromium) -> None:
        with suppress(_driver_error()):  # it is gone, and nothing is left to watch
            while await chromium.memory_bytes() <= self.upkeep.memory_bytes:
                await self.clock.sleep(LOOK_AT_MEMORY_EVERY_SECONDS)
            chromium.kill()


def find_browser(programs: tuple[str, ...] = PROGRAMS) -> str:
    for program in programs:
        if path := shutil.which(program):
            return path
    raise RenderUnavailable(
        "Pages cannot be rendered: there is no Chromium on this machine.",
        fix="Install it (on Debian: `apt install chromium`), or leave allow_js off.",
    )


def load_driver(module: str = DRIVER) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise RenderUnavailable(
            "Pages cannot be rendered: the extra `render` is not installed.",
            fix="`pip install headwater[render]`, and Debian's `chromium`, or leave allow_js off.",
        ) from error


async def start_browser(programs: tuple[str, ...] = PROGRAMS, module: str = DRIVER) -> Chromium:
    program, loaded = find_browser(programs), load_driver(module)
    driver: Playwright = await loaded.async_playwright().start()
    try:
        process = await driver.chromium.launch(
            executable_path=program,
            args=[*NO_NETWORK, *PLAIN],
            # Chromium's own sandbox does not run as root.
            chromium_sandbox=os.geteuid() != 0,
            # Nothing of ours, secrets least of all, is of its business.
            env={"PATH": os.defpath, "LANG": "C.UTF-8"},
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
        )
        line = await process.new_browser_cdp_session()
        pid = next(pid for pid, kind in await _processes(line) if kind == "browser")
        return Chromium(driver, process, line, pid)
    except BaseException as error:
        await driver.stop()
        if not isinstance(error, loaded.Error):
            raise
        reason = str(error).partition("\n")[0]
        raise RenderUnavailable(f"{program} could not be started: {reason}", fix="Start it by hand to see.") from error


async def _processes(line: "CDPSession") -> list[tuple[int, str]]:
    told = await line.send("SystemInfo.getProcessInfo")
    return [(int(one["id"]), one["type"]) for one in told["processInfo"]]


@asynccontextmanager
async def _context(chromium: Chromium, user_agent: str) -> AsyncIterator["BrowserContext"]:
    context = await chromium.process.new_context(
        user_agent=user_agent, accept_downloads=False, service_workers="block", permissions=[]
    )
    try:
        yield context
    finally:
        try:
            async with asyncio.timeout(CLOSING_SECONDS):
                await context.close()
        except TimeoutError:
            chromium.kill()


def _driver_error() -> type[Exception]:
    """Asked for only where a driver runs: it must not be needed to import us."""
    from playwright.async_api import Error

    return Error


def memory_bytes(pids: Iterable[int]) -> int:
    return sum(own_memory_bytes(_status(pid)) for pid in pids)


def own_memory_bytes(status: str) -> int:
    return sum(int(kilobytes) for kilobytes in _OWN_KILOBYTES.findall(status)) * 1024


def _status(pid: int) -> str:
    try:
        return (PROCESSES / str(pid) / "status").read_text("utf-8", errors="replace")
    except OSError:  # it ended while we looked
        return ""
