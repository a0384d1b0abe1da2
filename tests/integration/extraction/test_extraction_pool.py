import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.fork_servers import LOWEST_PRIORITY, as_users_do

from headwater.clock import SystemClock
from headwater.errors import DependencyDown
from headwater.extraction.jobs.answers import harvest_from
from headwater.extraction.jobs.vacancy import SkipReason
from headwater.extraction.pool import links
from headwater.extraction.pool.extraction_pool import (
    FIRST_PAUSE_S,
    Crashed,
    Done,
    ExtractionPool,
    OutOfMemory,
    TimedOut,
)
from headwater.extraction.pool.links import ForkServerLink
from headwater.urls.rules import HostRules, use_rules

CHORE = "tests.integration.extraction.chores:chore"
MEMORY_BYTES = 256 << 20


@pytest.fixture(autouse=True)
def _started_as_users_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ForkServerLink, "open", as_users_do)
    monkeypatch.setattr(links, "_LOWEST_PRIORITY", LOWEST_PRIORITY)


@asynccontextmanager
async def opened_pool(size: int = 2, **options: Any) -> AsyncIterator[ExtractionPool]:
    options = {"timeout": 30.0, "memory_bytes": MEMORY_BYTES} | options
    async with ExtractionPool(CHORE, size=size, clock=SystemClock(), **options) as pool:
        yield pool


@contextmanager
def patient_for(pool: ExtractionPool, seconds: float) -> Iterator[None]:
    """For a task that never ends: one that does may need longer than that on a busy machine."""
    usual, pool._timeout = pool._timeout, seconds
    yield
    pool._timeout = usual


async def value_of(pool: ExtractionPool, *task: Any) -> Any:
    outcome = await pool.run(list(task))
    assert isinstance(outcome, Done), outcome
    return outcome.value


def is_running(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        # It may end between the opening and the reading of its file.
        return False


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(300):
        while not holds():
            await asyncio.sleep(0.01)


async def test_an_answer_comes_back_as_it_was() -> None:
    async with opened_pool() as pool:
        assert await value_of(pool, "echo", {"title": "Möwe", "words": [1, 2.5, None, True]}) == {
            "title": "Möwe",
            "words": [1, 2.5, None, True],
        }


async def test_a_child_makes_keys_by_the_rules_of_its_parent_also_when_they_change() -> None:
    url = "https://board.example/job?ref=7"
    try:
        async with opened_pool(size=1) as pool:
            pid = await value_of(pool, "pid")
            assert await value_of(pool, "key_of", url) == "https://board.example/job"
            use_rules({"board.example": HostRules(keep_params=frozenset({"ref"}))})
            assert await value_of(pool, "key_of", url) == url
            use_rules({})
            assert await value_of(pool, "key_of", url) == "https://board.example/job"
            assert await value_of(pool, "pid") == pid
    finally:
        use_rules({})


async def test_bytes_larger_than_any_buffer_arrive_whole() -> None:
    async with opened_pool() as pool:
        outcome = await pool.run(b"\xff" * 20_000_000)
        assert isinstance(outcome, Done)
        assert outcome.value == 20_000_000
        assert outcome.seconds > 0


async def test_a_hanging_task_times_out_and_its_child_is_replaced() -> None:
    async with opened_pool(size=1) as pool:
        first = await value_of(pool, "pid")
        with patient_for(pool, 0.5):
            assert await pool.run(["hang"]) == TimedOut()
        assert await value_of(pool, "pid") != first
        await until(lambda: not is_running(first))


@pytest.mark.long
async def test_a_task_that_burns_its_processor_time_has_timed_out_even_if_nobody_watches() -> None:
    async with opened_pool(size=1, timeout=1.0) as pool:
        # The pool looks away for longer than it would ever wait, as a frozen one does.
        with patient_for(pool, 600.0):
            pid = await value_of(pool, "pid")
            async with asyncio.timeout(300):
                assert await pool.run(["spin"]) == TimedOut()
        await until(lambda: not is_running(pid))


@pytest.mark.parametrize(
    ("task", "how"),
    [
        (["leave", 3], "exit 3"),
        (["leave", 0], "exit 0"),
        (["exit", 5], "exit 1"),
        (["abort"], "SIGABRT"),
        (["nonsense"], "unreadable answer"),
        (["hang up"], "SIGKILL"),
    ],
)
async def test_a_child_that_ends_is_a_crash_and_the_next_task_has_a_new_one(task: list[Any], how: str) -> None:
    async with opened_pool(size=1) as pool:
        first = await value_of(pool, "pid")
        assert await pool.run(task) == Crashed(how)
        assert await value_of(pool, "pid") != first


async def test_an_exception_is_a_crash_by_its_class_and_place_and_says_nothing_of_the_page() -> None:
    async with opened_pool(size=1) as pool:
        pid = await value_of(pool, "pid")
        outcome = await pool.run(["raise", "secret words of the page"])
        assert isinstance(outcome, Crashed)
        assert outcome.how == "ValueError"
        assert outcome.where.startswith("chores.py:")
        assert await value_of(pool, "pid") == pid


async def test_a_child_reaches_nobody_whatever_a_library_wants() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        async with opened_pool(1) as pool:
            outcome = await pool.run(["ask", server.getsockname()[1]])
        with pytest.raises(BlockingIOError):
            server.accept()
    assert isinstance(outcome, Crashed)
    assert "PermissionError" in str(outcome)


async def test_an_answer_that_json_cannot_say_is_a_crash() -> None:
    async with opened_pool(size=1) as pool:
        outcome = await pool.run(["answer with a thing"])
        assert isinstance(outcome, Crashed)
        assert outcome.how == "TypeError"


async def test_an_answer_without_end_is_not_read() -> None:
    async with opened_pool(size=1, answer_bytes=1000) as pool:
        assert await value_of(pool, "answer at length", 900)
        assert await pool.run(["answer at length", 2000]) == Crashed("answer too long")
        assert await value_of(pool, "answer at length", 900)


@pytest.mark.parametrize("task", [["fill memory"], ["parse", 4_000_000]], ids=["python", "lxml"])
async def test_a_task_beyond_its_memory_says_so_and_the_pool_goes_on(task: list[Any]) -> None:
    async with opened_pool(size=1) as pool:
        first = await value_of(pool, "pid")
        assert await pool.run(task) == OutOfMemory()
        assert await value_of(pool, "pid") != first


async def test_a_broken_page_is_not_called_a_lack_of_memory() -> None:
    async with opened_pool(size=1) as pool:
        outcome = await pool.run(["raise", "x"])
        assert outcome != OutOfMemory()


async def test_a_hundred_tasks_at_once_are_all_answered_by_two_children() -> None:
    async with opened_pool(size=2) as pool:
        pids = await asyncio.gather(*(value_of(pool, "pid") for _ in range(100)))
        assert 1 <= len(set(pids)) <= 2
        assert await asyncio.gather(*(value_of(pool, "echo", n) for n in range(100))) == list(range(100))


async def test_crashes_among_a_hundred_tasks_touch_only_their_own() -> None:
    async with opened_pool(size=2) as pool:
        tasks = [["abort"] if n % 10 == 0 else ["echo", n] for n in range(100)]
        outcomes = await asyncio.gather(*map(pool.run, tasks))
        crashed = [n for n, outcome in enumerate(outcomes) if outcome == Crashed("SIGABRT")]
        assert crashed == list(range(0, 100, 10))
        assert sum(isinstance(outcome, Done) for outcome in outcomes) == 90


async def test_a_child_is_replaced_after_its_number_of_tasks() -> None:
    async with opened_pool(size=1, tasks_per_child=2) as pool:
        pids = [await value_of(pool, "pid") for _ in range(4)]
        assert pids[0] == pids[1] != pids[2] == pids[3]


async def test_a_cancelled_task_frees_its_place_and_its_child_is_ended() -> None:
    async with opened_pool(size=1) as pool:
        pid = await value_of(pool, "pid")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await pool.run(["hang"])
        await until(lambda: not is_running(pid))
        assert await value_of(pool, "echo", "still here") == "still here"


async def test_children_ignore_an_interrupt() -> None:
    async with opened_pool(size=1) as pool:
        pid = await value_of(pool, "pid")
        await value_of(pool, "interrupted")
        assert await value_of(pool, "pid") == pid


async def test_a_child_killed_while_idle_blames_nobody() -> None:
    async with opened_pool(size=1) as pool:
        pid = await value_of(pool, "pid")
        os.kill(pid, signal.SIGKILL)
        await until(lambda: pool._fork_server is not None and pid not in pool._fork_server._living)
        assert await value_of(pool, "pid") != pid


async def test_a_page_whose_child_was_killed_is_read_again_and_blamed_the_second_time(tmp_path: Path) -> None:
    noted = tmp_path / "noted"
    pauses: list[float] = []

    async def kill_reader() -> None:
        await until(lambda: noted.exists() and " " in noted.read_text())
        child = int(noted.read_text().split()[0])
        noted.unlink()
        os.kill(child, signal.SIGKILL)

    async with opened_pool(size=1) as pool:
        pool.on_kill = pauses.append
        busy = asyncio.ensure_future(pool.run(["note", str(noted)]))
        await kill_reader()
        await until(lambda: bool(pauses))
        assert not busy.done()
        await kill_reader()
        assert await busy == OutOfMemory()
        assert pauses == [FIRST_PAUSE_S]
        assert await value_of(pool, "echo", "again") == "again"


async def test_a_killed_fork_server_blames_no_page_and_is_replaced(tmp_path: Path) -> None:
    noted = tmp_path / "noted"
    async with opened_pool(size=1) as pool:
        busy = asyncio.ensure_future(pool.run(["note", str(noted)]))
        await until(lambda: noted.exists() and " " in noted.read_text())
        child, fork_server = map(int, noted.read_text().split())
        os.kill(fork_server, signal.SIGKILL)
        with pytest.raises(DependencyDown):
            await busy
        await until(lambda: not is_running(child))
        assert await value_of(pool, "echo", "again") == "again"


async def test_closing_ends_every_process(tmp_path: Path) -> None:
    noted = tmp_path / "noted"
    async with opened_pool(size=2) as pool:
        idle = await value_of(pool, "pid")
        busy = asyncio.ensure_future(pool.run(["note", str(noted)]))
        await until(lambda: noted.exists() and " " in noted.read_text())
    with pytest.raises(DependencyDown):
        await busy
    pids = [idle, *map(int, noted.read_text().split())]
    await until(lambda: not any(map(is_running, pids)))
    with pytest.raises(DependencyDown):
        await pool.run(["pid"])


async def test_work_that_cannot_be_imported_fails_at_the_start(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DependencyDown):
        async with ExtractionPool("tests.nowhere:nothing", size=1, timeout=1.0, clock=SystemClock()):
            pass
    assert "ModuleNotFoundError" in capfd.readouterr().err


PARENT = """
import asyncio, sys
from headwater.clock import SystemClock
from headwater.extraction.pool.extraction_pool import ExtractionPool
from headwater.extraction.jobs.answers import harvest_from
from headwater.extraction.jobs.vacancy import SkipReason

async def main():
    async with ExtractionPool("{work}", size=2, timeout=60.0, clock=SystemClock()) as pool:
        await asyncio.gather(*(pool.run(["note", path]) for path in sys.argv[1:]))

asyncio.run(main())
"""


async def test_no_orphan_survives_a_killed_parent(tmp_path: Path) -> None:
    notes = [tmp_path / "one", tmp_path / "two"]
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PARENT.format(work=CHORE), *map(str, notes), start_new_session=True
    )
    await until(lambda: all(note.exists() and " " in note.read_text() for note in notes))
    parent.kill()
    await parent.wait()
    pids = [int(pid) for note in notes for pid in note.read_text().split()]
    await until(lambda: not any(map(is_running, pids)))


async def test_vacancies_come_back_from_a_child_as_they_were_read() -> None:
    html = """<li class="job"><a href="/jobs/1">Senior Nurse</a> – Goma, DRC. Closing date 14 September 2026</li>
    <li class="job"><a href="/jobs/1">Senior Nurse</a></li>"""
    task = {"html": html, "url": "https://aid.test/careers", "now": "2026-05-04T10:00:00+00:00"}
    async with ExtractionPool(
        "headwater.extraction.jobs.answers:harvest_page", size=1, timeout=30.0, clock=SystemClock()
    ) as pool:
        outcome = await pool.run({**task, "employer": {"org_name": "Open Hands"}})
    assert isinstance(outcome, Done), outcome
    harvest = harvest_from(outcome.value)
    (vacancy,), (skipped,) = harvest.vacancies, harvest.skipped
    assert (vacancy.title, vacancy.org_name, vacancy.country_iso) == ("Senior Nurse", "Open Hands", "CD")
    assert vacancy.deadline == date(2026, 9, 14)
    assert skipped.reason == SkipReason.DUPLICATE


async def test_closing_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    async with opened_pool(size=2) as pool:
        await asyncio.gather(value_of(pool, "pid"), value_of(pool, "pid"))
    assert capfd.readouterr().err == ""


async def test_children_beside_others_share_their_fork_server_and_wait_for_none_of_them() -> None:
    async with opened_pool(size=1) as pool, pool.beside(1) as others:
        held = asyncio.create_task(pool.run(["hang"]))
        fork_server = await value_of(others, "parent")
        held.cancel()
        await asyncio.wait([held])
        assert await value_of(pool, "parent") == fork_server


async def test_heavy_pages_of_one_domain_do_not_keep_others_from_being_read() -> None:
    """Ten pages that never end come first; the others are read while the first of them still runs."""
    async with opened_pool(size=2, timeout=600.0) as pool:
        with patient_for(pool, 3.0):
            assert isinstance(await pool.run(["hang"], "heavy.example"), TimedOut)
        ended: list[str] = []

        async def read(share: str, *task: Any) -> None:
            await pool.run(list(task), share)
            ended.append(share)

        heavy = [asyncio.create_task(read("heavy.example", "hang")) for _ in range(10)]
        await asyncio.sleep(0)
        others = [asyncio.create_task(read(f"n{n}.example", "echo", n)) for n in range(20)]
        await asyncio.gather(*others)
        assert ended == [f"n{n}.example" for n in range(20)]
        for task in heavy:
            task.cancel()
        await asyncio.wait(heavy)
        assert await value_of(pool, "echo", 1) == 1


async def test_a_task_that_takes_long_gets_spare_time_only_and_its_place_is_lent(tmp_path: Path) -> None:
    """The first page of an unknown domain never ends; with one child, others are read all the same."""
    noted = tmp_path / "noted"
    async with opened_pool(size=1) as pool:
        heavy = asyncio.create_task(pool.run(["note", str(noted)], "heavy.example"))
        await until(lambda: noted.exists() and bool(noted.read_text()))
        others = await asyncio.gather(*(pool.run(["pid"], f"n{n}.example") for n in range(5)))
        pid, fork_server = (int(number) for number in noted.read_text().split())
        assert len({one.value for one in others if isinstance(one, Done)}) == 1, "one place was lent, not more"
        assert os.getpriority(os.PRIO_PROCESS, pid) == 19
        # Linux shares the processor out between sessions first: a low priority counts only inside of one.
        assert os.getsid(pid) == os.getsid(fork_server) == os.getsid(0)
        assert os.getpgid(fork_server) != os.getpgid(0), "Ctrl-C reaches the parent alone"
        heavy.cancel()
        await asyncio.wait([heavy])
        await until(lambda: not is_running(pid))
        # The place came back with the lent one, and is the only one again.
        running = asyncio.create_task(pool.run(["hang"], "a.example"))
        waiting = asyncio.create_task(pool.run(["pid"], "b.example"))
        await asyncio.wait([waiting], timeout=0.5)
        assert not waiting.done()
        running.cancel()
        await asyncio.wait([running])
        assert isinstance(await waiting, Done)


async def test_a_cancelled_wait_leaves_its_turn_to_the_next() -> None:
    async with opened_pool(size=1) as pool:
        running = asyncio.create_task(pool.run(["hang"], "a.example"))
        await asyncio.sleep(0)
        waiting = [asyncio.create_task(pool.run(["echo", n], "a.example")) for n in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        running.cancel()
        waiting[1].cancel()
        await asyncio.wait([running, *waiting[:2]])
        outcome = await waiting[2]
        assert isinstance(outcome, Done)
        assert outcome.value == 2
