"""How many files one has to read to follow a thing through the house: recorded while it really happens.

`pytest -s tests/architecture/test_walks.py` prints them in their order. A file counts where one of its functions ran in
this process, for this thing; importing it does not. The layers below `politeness` are foundations, which no walk leads
through: a reader who follows an item need not know how a connection is pooled or a URL written. Three more are of the
same make: `extraction/pool/` runs any function in a child process and knows neither pages nor channels,
`run/patience.py` is the lease worker while our own network is away, and `storable.py` only cleans text.
"""

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import FrameType

import pytest
from tests.integration.archive.shelf import key_of
from tests.integration.cli.desk import Desk, served
from tests.integration.discover.conftest import opened_desk, rss
from tests.integration.fetch.conftest import SmallSite

from headwater.archive.reads import read_document
from headwater.clock import SystemClock
from headwater.frontier.wake import CHANNEL
from headwater.ingest.journey import Finished
from headwater.run.extraction_pools import page_pool
from headwater.run.fetching import start_reading_pages, worker_of
from headwater.run.heartbeat import heartbeat_of
from headwater.simweb.message import Page
from headwater.supervisor import Supervisor

SOURCE = Path(__file__).parents[2] / "src" / "headwater"
FOUNDATIONS = (
    *("net/", "simweb/", "database/", "urls/", "settings/", "lease_worker.py", "settling.py", "supervisor.py"),
    *("extraction/pool/", "run/patience.py", "rights/"),
    *("metrics.py", "log.py", "figures.py", "clock.py", "chance.py", "errors.py", "lines.py", "machine.py"),
    # Pure helpers for text, which know nothing of what it says.
    *("storable.py", "phrases.py"),
    # Where bytes lie, by a number: it knows neither pages nor sources.
    "archive/stores/",
    # The same for every command: settings read and a database opened before it, lines printed as the log writes them.
    *("services.py", "cli/output.py"),
)
# As many as there are: a walk may become shorter, and then its limit does.
LONGEST_POLL = 24
LONGEST_FETCH = 23
LONGEST_ITEM = 40
LONGEST_ADD = 12
LONGEST_ADD_AND_LOOK = 30

COMPREHENSIONS = frozenset({"<dictcomp>", "<genexpr>", "<listcomp>", "<setcomp>"})

_WALKING: ContextVar[bool] = ContextVar("walking", default=False)


def is_importing(frame: FrameType | None) -> bool:
    """Whether this runs only because a module is imported, which the first walk of a process meets and no later one."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


@contextmanager
def recorded() -> Iterator[list[str]]:
    """The files whose functions run from here on, in order; what others do in the background meanwhile is not ours."""
    files: dict[str, None] = {}
    beginning = f"{SOURCE}/"

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        # Bodies of modules and classes run when they are imported, and so do comprehensions in them: that is no step.
        is_function = event == "call" and code.co_flags & inspect.CO_OPTIMIZED and code.co_name not in COMPREHENSIONS
        if is_function and code.co_filename.startswith(beginning) and _WALKING.get() and not is_importing(frame):
            files.setdefault(code.co_filename.removeprefix(beginning))

    walked: list[str] = []
    token, before = _WALKING.set(True), sys.getprofile()
    sys.setprofile(note)
    try:
        yield walked
    finally:
        sys.setprofile(before)
        _WALKING.reset(token)
        walked += [name for name in files if not name.startswith(FOUNDATIONS)]


def assert_at_most(longest: int, name: str, walked: list[str]) -> None:
    print(f"\n{name}: {len(walked)} files", *walked, sep="\n  ")
    assert len(walked) <= longest, f"{name} leads through {len(walked)} files:\n" + "\n".join(walked)


async def test_an_item_of_a_feed_does_not_wander(database_url: str) -> None:
    told = "".join(f"<p>On day {n} the council said that the bridge would be closed.</p>" for n in range(12))
    story = Page(f"<html><title>The bridge</title><article><h1>The bridge</h1>{told}</article></html>".encode())
    async with opened_desk(database_url, {"a.test": SmallSite({"/story": story})}) as desk:
        desk.site.pages["/feed"] = rss(("/story", "The bridge", desk.now[0]))
        await desk.follow(feeds=("http://a.test/feed",))
        with recorded() as poll:
            await desk.poll()
        services, web, finished = desk.path.services, desk.path.web, list[Finished]()
        async with (
            page_pool(services) as pool,
            services.listeners.on(CHANNEL) as listener,
            heartbeat_of(services, "walker") as heart,
            Supervisor(SystemClock(), services.log) as tasks,
        ):
            page_reader = start_reading_pages(tasks, services, web.identity.product_token, pool)
            source = worker_of(services, web, page_reader, listener, heart, finished.append).work_source
            with recorded() as fetch:
                while not finished:
                    for lease in (await source.claim(1))[0]:
                        await source.work(lease)
        assert await read_document(desk.path.database, key_of("http://a.test/story")) is not None
    assert_at_most(LONGEST_POLL, "From a due channel to the frontier", poll)
    assert_at_most(LONGEST_FETCH, "From the frontier to a document", fetch)
    assert_at_most(LONGEST_ITEM, "An item of a feed", list(dict.fromkeys([*poll, *fetch])))


@pytest.mark.parametrize(("words", "longest"), [(["--no-discover"], LONGEST_ADD), ([], LONGEST_ADD_AND_LOOK)])
def test_adding_a_source_does_not_wander(words: list[str], longest: int, database_url: str, open_folder: Path) -> None:
    """Without a look at the site, and with one: the look is a walk of its own, through the one way to the web."""
    with served() as site:
        desk = Desk(database_url, open_folder, site.settings)
        feed = f"<rss version='2.0'><channel><item><title>A</title><link>{site.url}/a</link></item></channel></rss>"
        site.pages["/feed"] = Page(feed.encode(), "text/xml")
        with recorded() as add:
            said = desk.says("sources", "add", f"{site.url}/feed", *words)
    assert said.code == 0, said
    assert_at_most(longest, " ".join(["`sources add`", *words]), add)
