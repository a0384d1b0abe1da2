"""Long work shows how far it is: a bar on a terminal, elsewhere a line now and then."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from headwater.cli.output import progress_console, say
from headwater.clock import Clock, SystemClock

SAID_EVERY_SECONDS = 30.0


@dataclass(slots=True)
class Progress:
    """Called with each step; `total` may become known with one."""

    show: "Callable[[Progress, int], None]"
    total: int | None
    done: int = 0

    def __call__(self, done: int, total: int | None = None) -> None:
        self.done += done
        self.total = self.total if total is None else total
        self.show(self, done)


@contextmanager
def counting(what: str, total: int | None, *, is_shown: bool = True) -> Iterator[Progress]:
    """A total of None is told later, with the first step."""
    if not is_shown or total == 0:
        yield Progress(lambda _now, _step: None, total)
    elif not sys.stderr.isatty():
        yield Progress(saying_now_and_then(what, SystemClock()), total)
    else:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Bar(*columns, console=progress_console(), transient=True) as bar:
            task = bar.add_task(what, total=total)
            yield Progress(lambda now, step: bar.update(task, advance=step, total=now.total), total)


def saying_now_and_then(what: str, clock: Clock) -> Callable[[Progress, int], None]:
    """For logs: short work says nothing of it."""
    said_at = clock.monotonic()

    def show(now: Progress, _step: int) -> None:
        nonlocal said_at
        if clock.monotonic() - said_at >= SAID_EVERY_SECONDS:
            said_at = clock.monotonic()
            say(f"{what}: {now.done:,}" + (f" of {now.total:,}" if now.total is not None else ""))

    return show
