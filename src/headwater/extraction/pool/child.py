"""Inside an extraction child: confined first, then one task after the other until the parent hangs up."""

import ctypes
import math
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from headwater.extraction.pool.frames import CRASHED, DONE, OUT_OF_MEMORY, RULES, read_frame, unpack, write_frame
from headwater.urls.rules import rules_from, use_rules

ChildWork = Callable[[Any], Any]

# Above the limit on purpose: a child that ran into it needs a little room to say so.
_ROOM_TO_REPORT_BYTES = 32 << 20
_MOST_EXPENDABLE = "1000"
_PR_SET_PDEATHSIG = 1
# Events of Python by which a library would reach another machine.
_OUTWARD = frozenset({"socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"})


@dataclass(frozen=True, slots=True)
class ChildLimits:
    memory_bytes: int
    cpu_seconds: int  # for each task


def work_through(wire: int, work: ChildWork, limits: ChildLimits) -> None:
    """Answers tasks until the parent hangs up, or until memory has run out once: such a heap is not used again."""
    _confine(limits)
    while task := read_frame(wire):
        if task[0] == RULES:
            use_rules(rules_from(orjson.loads(task[1])))
            continue
        _allow_cpu(limits.cpu_seconds)
        kind, body = _answer(work, task, limits)
        write_frame(wire, kind, body)
        if kind == OUT_OF_MEMORY:
            return


def die_with(parent: int) -> None:
    """So that even a child that never reads again leaves no orphan; only Linux can promise it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def _confine(limits: ChildLimits) -> None:
    sys.addaudithook(_ask_nobody)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _limit_memory(limits.memory_bytes, limits.memory_bytes + _ROOM_TO_REPORT_BYTES)
    _offer_to_the_oom_killer()


def _ask_nobody(event: str, _: object) -> None:
    """A page is read as it came: a library that would fetch what it names is refused."""
    if event in _OUTWARD:
        raise PermissionError(f"{event} in a process that reads pages")


def _limit_memory(soft: int, hard: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _offer_to_the_oom_killer() -> None:
    """When the machine itself runs out, it shall be a child and not its parent or the database."""
    own_score = Path("/proc/self/oom_score_adj")
    if own_score.exists():
        own_score.write_text(_MOST_EXPENDABLE)


def _allow_cpu(seconds: int) -> None:
    """The limit counts the whole life of the process, so it moves along with every task."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(used.ru_utime + used.ru_stime) + seconds, hard))


def _answer(work: ChildWork, task: tuple[bytes, bytes], limits: ChildLimits) -> tuple[bytes, bytes]:
    hard = limits.memory_bytes + _ROOM_TO_REPORT_BYTES
    try:
        return DONE, orjson.dumps(work(unpack(*task)))
    except Exception as failure:  # noqa: BLE001  # a page can make an extractor raise anything at all
        _limit_memory(hard, hard)
        if _is_for_want_of_memory(failure, limits.memory_bytes):
            return OUT_OF_MEMORY, b""
        _limit_memory(limits.memory_bytes, hard)
        return CRASHED, orjson.dumps([type(failure).__name__, _where(failure)])


def _is_for_want_of_memory(failure: BaseException, limit_bytes: int) -> bool:
    """Extensions seldom say MemoryError: lxml calls it a syntax error. Near the limit, nothing is believed."""
    return any(isinstance(one, MemoryError) for one in _chain(failure)) or _peak_bytes() * 4 > limit_bytes * 3


def _chain(failure: BaseException | None) -> Iterator[BaseException]:
    while failure is not None:
        yield failure
        failure = failure.__cause__ or failure.__context__


def _peak_bytes() -> int:
    status = Path("/proc/self/status")
    if not status.exists():
        return 0
    lines = (line.split() for line in status.read_text().splitlines() if line.startswith("VmPeak:"))
    return next((int(words[1]) * 1024 for words in lines), 0)


def _where(failure: BaseException) -> str:
    """File and line of the raise; never the message, which may quote the page."""
    trace = failure.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
