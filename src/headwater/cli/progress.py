"""Long work shows how far it is: a bar on a terminal, nothing elsewhere."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from headwater.cli.output import progress_console


class Advance(Protocol):
    def __call__(self, done: int, total: int | None = None) -> None: ...


@contextmanager
def counting(what: str, total: int | None, *, is_shown: bool = True) -> Iterator[Advance]:
    """A total of None is told later, with the first step."""
    if not is_shown or total == 0 or not sys.stderr.isatty():
        yield lambda done, total=None: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=progress_console(), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done, total=None: bar.update(task, advance=done, total=total)
