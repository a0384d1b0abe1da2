"""What systemd is told, heard at a real socket."""

import asyncio
import socket
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from headwater.run.service_manager import ALIVE, READY, STOPPING, ServiceManager, without_manager


@pytest.fixture
def folder() -> Iterator[Path]:
    """Short enough for a socket's path, wherever the folders of tests lie."""
    with tempfile.TemporaryDirectory(prefix="hw-") as made:
        yield Path(made)


def listening(address: str) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    made.settimeout(300)
    made.bind(address)
    return made


@pytest.mark.parametrize("is_abstract", [False, True])
def test_states_are_heard_one_by_one(folder: Path, is_abstract: bool) -> None:
    name = str(folder / "notify")
    with closing(listening(f"\0{name[1:]}" if is_abstract else name)) as heard:
        manager = ServiceManager.named_by({"NOTIFY_SOCKET": f"@{name[1:]}" if is_abstract else name}, 7)
        assert manager.tell(READY)
        assert manager.tell(STOPPING)
        assert [heard.recv(100), heard.recv(100)] == [b"READY=1", b"STOPPING=1"]


async def test_it_is_told_that_we_live_twice_in_the_time_it_waits(folder: Path) -> None:
    name, pauses = str(folder / "notify"), list[float]()

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            raise asyncio.CancelledError

    with closing(listening(name)) as heard:
        environment = {"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"}
        with pytest.raises(asyncio.CancelledError):
            await ServiceManager.named_by(environment, 7).keep_telling(sleep)
        assert [heard.recv(100).decode() for _ in pauses] == [ALIVE] * 3
    assert pauses == [15.0] * 3


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "8"},
        {"WATCHDOG_USEC": "0"},
        {"WATCHDOG_USEC": "-1"},
        {"WATCHDOG_USEC": "soon"},
    ],
)
async def test_without_a_watchdog_of_ours_nothing_is_repeated(more: dict[str, str]) -> None:
    manager = ServiceManager.named_by({"NOTIFY_SOCKET": "/run/notify", **more}, 7)
    assert manager.alive_every is None
    await manager.keep_telling(asyncio.sleep)


@pytest.mark.parametrize("address", ["", "relative", "vsock:2:1234", "/there/is/none", "/" + 200 * "x", "/a\0b"])
def test_where_nobody_can_listen_nothing_is_heard_and_nothing_fails(address: str) -> None:
    assert not ServiceManager.named_by({"NOTIFY_SOCKET": address}, 7).tell(READY)


def test_a_manager_that_does_not_read_holds_nobody_up(folder: Path) -> None:
    name = str(folder / "notify")
    with closing(listening(name)):
        manager = ServiceManager(name)
        heard = [manager.tell(ALIVE) for _ in range(10_000)]
    assert heard[0]
    assert not heard[-1]


def test_children_do_not_speak_for_their_parent() -> None:
    environment = {"NOTIFY_SOCKET": "/run/notify", "WATCHDOG_USEC": "1", "WATCHDOG_PID": "7", "PATH": "/bin"}
    assert without_manager(environment) == {"PATH": "/bin"}
