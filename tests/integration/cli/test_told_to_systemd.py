"""Roles as services of systemd: it hears from them when they work, that they still do, and when they stop."""

import signal
import socket
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.integration.cli.conftest import Starts


@pytest.fixture
def manager() -> Iterator[tuple[str, socket.socket]]:
    with (
        tempfile.TemporaryDirectory(prefix="hw-") as folder,
        closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as heard,
    ):
        heard.settimeout(300)
        heard.bind(name := str(Path(folder) / "notify"))
        yield name, heard


@pytest.mark.long
@pytest.mark.parametrize("role", [("poll",), ("fetch", "--processes", "2"), ("deliver",), ("maintain",), ("web",)])
def test_a_role_is_ready_lives_and_stops(
    starts: Starts, database_url: str, manager: tuple[str, socket.socket], role: tuple[str, ...]
) -> None:
    name, heard = manager
    process = starts(
        "run",
        *role,
        NOTIFY_SOCKET=name,
        WATCHDOG_USEC="40000",
        HEADWATER_DATABASE__URL=database_url,
        HEADWATER_WEB__PORT="0",
    )
    first, *lived = [heard.recv(100).decode() for _ in range(5)]
    assert (first, {*lived}) == ("READY=1", {"WATCHDOG=1"})
    process.send_signal(signal.SIGTERM)
    assert process.wait(300) in (0, 130)
    heard.setblocking(False)
    words = list[str]()
    while not words or words[-1] != "STOPPING=1":
        words.append(heard.recv(100).decode())
    assert {*words} <= {"WATCHDOG=1", "STOPPING=1"}
