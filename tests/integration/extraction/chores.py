"""Work for extraction children, most of it bad."""

import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lxml import etree

from headwater.urls.canonical import canonicalise


def chore(task: Any) -> Any:
    """Does what its payload asks for: a name, or a name and one argument."""
    if isinstance(task, bytes):
        return len(task)
    name, *arguments = task
    return CHORES[name](*arguments)


def key_of(url: str) -> str:
    return canonicalise(url).key


def ask(port: int) -> None:
    socket.create_connection(("127.0.0.1", port)).close()


def hang() -> None:
    signal.pause()


def spin() -> None:
    while True:
        pass


def leave(status: int) -> None:
    os._exit(status)


def abort() -> None:
    os.abort()


def raise_with(text: str) -> None:
    raise ValueError(text)


def fill_memory() -> int:
    return len([bytearray(1 << 20) for _ in range(1 << 20)])


def parse_beyond_memory(copies: int) -> int:
    """At the memory limit lxml speaks of a syntax error."""
    return len(etree.fromstring("<r>" + "<a b='c'>text</a>" * copies + "</r>"))


def hang_up_and_hang() -> None:
    os.closerange(3, 256)
    signal.pause()


def say_nonsense() -> None:
    for descriptor in range(3, 256):
        try:
            os.write(descriptor, (4).to_bytes(8, "big") + b"D" + b"}{}{")
        except OSError:
            continue
    signal.pause()


def note_and_hang(path: str) -> None:
    Path(path).write_text(f"{os.getpid()} {os.getppid()}")
    signal.pause()


CHORES: dict[str, Callable[..., Any]] = {
    "ask": ask,
    "key_of": key_of,
    "echo": lambda value: value,
    "pid": os.getpid,
    "parent": os.getppid,
    "hang": hang,
    "spin": spin,
    "leave": leave,
    "exit": sys.exit,
    "abort": abort,
    "raise": raise_with,
    "fill memory": fill_memory,
    "parse": parse_beyond_memory,
    "answer at length": lambda size: "x" * size,
    "answer with a thing": object,
    "hang up": hang_up_and_hang,
    "nonsense": say_nonsense,
    "interrupted": lambda: os.kill(os.getpid(), signal.SIGINT),
    "note": note_and_hang,
}
