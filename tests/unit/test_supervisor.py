import asyncio
from io import StringIO

import orjson

from headwater.clock import SystemClock
from headwater.log import make_logger
from headwater.supervisor import LONG_LIFE_SECONDS, LONGEST_PAUSE, Supervisor, TaskHealth


class Passing(SystemClock):
    """Sleeping makes time pass, and takes none."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.pauses: list[float] = []

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.seconds += seconds
        await asyncio.sleep(0)


class Work:
    """Dies so often, then goes on until it is cancelled."""

    def __init__(self, clock: Passing, deaths: int, lives: float = 0.0, error: BaseException | None = None) -> None:
        self.clock, self.deaths, self.lives = clock, deaths, lives
        self.error = error or KeyError("a fault of ours")
        self.is_well = asyncio.Event()

    async def __call__(self) -> None:
        if self.deaths:
            self.deaths -= 1
            self.clock.seconds += self.lives
            raise self.error
        self.is_well.set()
        await asyncio.Event().wait()


def supervisor(clock: Passing, log: StringIO) -> Supervisor:
    return Supervisor(clock, make_logger("info", "json", stream=log))


async def test_a_task_that_dies_is_started_again_and_its_death_is_told() -> None:
    clock, log = Passing(), StringIO()
    dying, healthy = Work(clock, deaths=2), Work(clock, deaths=0)
    async with supervisor(clock, log) as tasks:
        tasks.keep("dying", dying)
        tasks.keep("healthy", healthy)
        await asyncio.wait_for(dying.is_well.wait(), 10)
        assert dict(tasks.health) == {
            "dying": TaskHealth(deaths=2, last_error="KeyError: 'a fault of ours'"),
            "healthy": TaskHealth(),
        }
    lines = [orjson.loads(line) for line in log.getvalue().splitlines()]
    assert [(line["event"], line["task"], line["deaths"]) for line in lines] == [
        ("task_died", "dying", 1),
        ("task_died", "dying", 2),
    ]
    assert "KeyError" in lines[0]["exception"]


async def test_pauses_grow_and_begin_anew_after_a_long_life() -> None:
    clock = Passing()
    short = Work(clock, deaths=9)
    async with supervisor(clock, StringIO()) as tasks:
        tasks.keep("short", short)
        await asyncio.wait_for(short.is_well.wait(), 10)
    assert clock.pauses == [1, 2, 4, 8, 16, 32, LONGEST_PAUSE, LONGEST_PAUSE, LONGEST_PAUSE]
    clock = Passing()
    long = Work(clock, deaths=3, lives=LONG_LIFE_SECONDS + 1)
    async with supervisor(clock, StringIO()) as tasks:
        tasks.keep("long", long)
        await asyncio.wait_for(long.is_well.wait(), 10)
    assert clock.pauses == [1, 1, 1]


async def test_a_task_that_was_cancelled_from_within_is_started_again() -> None:
    clock, log = Passing(), StringIO()
    work = Work(clock, deaths=1, error=asyncio.CancelledError())
    async with supervisor(clock, log) as tasks:
        tasks.keep("cancelled", work)
        await asyncio.wait_for(work.is_well.wait(), 10)
        assert tasks.health["cancelled"].deaths == 1


async def test_a_task_that_returns_is_done_and_the_others_end_with_their_supervisor() -> None:
    clock = Passing()
    endless = Work(clock, deaths=0)

    async def short() -> None:
        await asyncio.sleep(0)

    async with supervisor(clock, StringIO()) as tasks:
        going_on = tasks.keep("endless", endless)
        await tasks.keep("short", short)
    assert going_on.cancelled()
    assert tasks.health["short"] == TaskHealth()


async def test_a_failure_that_is_expected_is_counted_apart() -> None:
    log = StringIO()
    tasks = supervisor(Passing(), log)
    tasks.note_failure("fold", "The database does not answer.")
    tasks.note_failure("fold", "The database does not answer.")
    assert tasks.health["fold"] == TaskHealth(failures=2, last_error="The database does not answer.", is_failing=True)
    tasks.note_success("fold")
    assert not tasks.health["fold"].is_failing
    assert log.getvalue().count("chore_failed") == 2
