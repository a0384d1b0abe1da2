"""A sink that is killed at every step it takes on the disk, and goes on under another token.

`python -m tests.integration.deliver.killed FOLDER TYPE`: for each step a child in a folder of its own.
Prints how many steps there were.
"""

import asyncio
import os
import signal
import sys
from itertools import count
from pathlib import Path
from typing import Any

from tests.integration.deliver.folders import Bench
from tests.unit.deliver.samples import document, key, removal, upsert

from headwater.deliver.sink import Delivery

STEPS = ((os, "fsync"), (Path, "rename"), (Path, "unlink"), (Path, "mkdir"))


def batches() -> list[list[Delivery]]:
    """The second continues the file of the first; the third removes what the first brought."""
    return [
        [upsert(number, document(number)) for number in range(1, 4)],
        [upsert(number, document(number)) for number in range(4, 7)],
        [removal(7, key(1)), upsert(8, document(2, title="Later"))],
    ]


def kill_at(step: int) -> None:
    done = count()

    def counted(function: Any) -> Any:
        def call(*values: Any, **named: Any) -> Any:
            if next(done) == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*values, **named)

        return call

    for owner, name in STEPS:
        setattr(owner, name, counted(getattr(owner, name)))


def in_child(folder: Path, kind: str, step: int | None) -> int:
    """How it ended: 0, or the signal."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    if step is not None:
        kill_at(step)
    asyncio.run(Bench(folder, kind).sends(*batches(), token="first" if step is not None else "second"))
    os._exit(0)


def main(folder: Path, kind: str) -> None:
    # Imported once, not in every child.
    Bench(folder, kind).sink()
    for step in count():
        place = folder / f"{step:03}"
        place.mkdir()
        ending = in_child(place, kind, step)
        assert in_child(place, kind, None) == 0
        if ending == 0:
            print(step)
            return
        assert ending == signal.SIGKILL


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
