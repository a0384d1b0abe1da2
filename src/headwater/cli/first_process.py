"""The first process of a container has no default actions for signals, and inherits the orphans of all others.

There Headwater works in a child, and the first process does nothing but pass signals on and reap what has ended. What
is imported here stays in memory for as long as the container runs.
"""

import os
import signal
from contextlib import suppress

FIRST = 1
PASSED_ON = frozenset(
    {signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH}
)
# Of siginfo: the kernel sent it, which for these means a terminal, and to the child as well.
FROM_TERMINAL = 0x80
KILLED = 128


def work_in_a_child() -> None:
    """Returns in the child. The first process ends when the child does, as it did."""
    heard = PASSED_ON | {signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, heard)
    worker = os.fork()
    if worker == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return
    while (code := _ended(worker)) is None:
        told = signal.sigwaitinfo(heard)
        if told.si_signo != signal.SIGCHLD and told.si_code != FROM_TERMINAL:
            with suppress(ProcessLookupError):
                os.kill(worker, told.si_signo)
    os._exit(code)


def _ended(worker: int) -> int | None:
    """Reap all that have ended; the exit code of the worker, if it is among them."""
    ended = FIRST
    while ended:
        ended, status = os.waitpid(-1, os.WNOHANG)
        if ended == worker:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else KILLED - code
    return None
