"""The command line: one file per command group, each imported only when it is used."""

import os
import sys


def main() -> None:
    """Every way out has a code that `headwater help exit-codes` explains, and none shows a traceback."""
    from headwater.cli.first_process import FIRST, work_in_a_child

    if os.getpid() == FIRST:
        work_in_a_child()
    from headwater.cli.app import run

    sys.exit(run(sys.argv[1:]))
