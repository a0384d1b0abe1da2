"""A reader of channels that answers can do anything to: what a page that found a hole in a parser could do."""

import os
import signal
from typing import Any

from headwater.discover.polls.work import read_sent

HANG, DIE, EAT, LIE, MISLEAD = b"<!--hang-->", b"<!--die-->", b"<!--eat-->", b"<!--lie-->", b"<!--mislead-->"


def read_bewitched(received: bytes) -> Any:
    if HANG in received:
        while True:
            pass
    if DIE in received:
        os.kill(os.getpid(), signal.SIGSEGV)
    if EAT in received:
        return bytearray(1 << 32)
    if LIE in received:
        return {"todo": "everything", "items": 7}
    if MISLEAD in received:
        step = {"url": "http://b.test/secret", "reads_as": "api"}
        return {"todo": [step], "notes": [], "findings": [], "is_cut": False}
    return read_sent(received)
