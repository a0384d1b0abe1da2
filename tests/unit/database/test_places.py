import os
from pathlib import Path

import pytest

from headwater.database.programs import ProgramResult
from headwater.database.server_user import ServerUser, may_enter
from headwater.database.socket_folder import LONGEST_PATH_BYTES, PORT, socket_folder

BEN = ServerUser("ben", uid=70, gid=80)


def folder(mode: int, uid: int = 1, gid: int = 1) -> os.stat_result:
    return os.stat_result((mode, 0, 0, 0, uid, gid, 0, 0, 0, 0))


@pytest.mark.parametrize(
    ("found", "entered"),
    [
        (folder(0o711), True),
        (folder(0o700), False),
        (folder(0o744), False),
        (folder(0o710, gid=80), True),
        (folder(0o701, gid=80), False),
        (folder(0o100, uid=70), True),
        (folder(0o611, uid=70), False),
    ],
)
def test_a_folder_is_entered_by_the_bit_that_counts_for_the_user(found: os.stat_result, entered: bool) -> None:
    assert may_enter(found, BEN) is entered


def test_the_socket_lies_beside_the_data() -> None:
    assert socket_folder(Path("/srv/with space")) == Path("/srv/with space/socket")


@pytest.mark.parametrize("directory", ["/srv/" + "x" * 90, "/srv/" + "ü" * 45, "/srv/a,b"])
def test_a_path_that_no_socket_can_have_gets_a_short_one(directory: str) -> None:
    short = socket_folder(Path(directory))
    assert len(bytes(short / f".s.PGSQL.{PORT}")) < LONGEST_PATH_BYTES
    assert "," not in str(short)
    assert short == socket_folder(Path(directory)) != socket_folder(Path(directory + "2"))


def test_the_complaint_is_the_serious_line() -> None:
    text = "starting\nFATAL:  no room\nstopped waiting\n"
    assert ProgramResult(False, text).last_complaint == "FATAL:  no room"
    assert ProgramResult(False, "one\ntwo\n").last_complaint == "two"
    assert ProgramResult(False, "").last_complaint == "it gave no reason"
