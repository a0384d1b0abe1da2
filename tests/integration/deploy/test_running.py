"""What a container does to a process, without one: it comes first, has no rights and a root it cannot write to."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.integration.cli.conftest import PROGRAM
from tests.integration.deploy.deployment import Started, every_command, instructions

from headwater.database.server_user import ServerUser, first_closed_folder

LIMIT_SECONDS = 300
NOBODY = ServerUser("headwater", 10001, 10001)
NAMESPACE = ("unshare", "--pid", "--mount", "--fork", "--mount-proc", "--kill-child")
# As the user of the image: data where it may write, an empty /tmp, everything else read-only, no rights to gain. Where
# Python lies in a folder that is closed to others, only Python is let through.
AS_IN_A_CONTAINER = """
set -e
data=$1; python=$2; closed=$3; user=$4; shift 4
mount --make-rprivate /
if [ "$closed" ]; then
  mount --bind "$python" /media
  mount -t tmpfs -o mode=755 tmpfs "$closed"
  mkdir -p "$python"
  mount --bind /media "$python"
fi
mount --bind "$data" /mnt
mount -t tmpfs -o mode=1777 tmpfs /tmp
{ cat /etc/passwd; echo headwater:x:$user:$user::/mnt:/bin/false; } >/tmp/passwd
mount --bind /tmp/passwd /etc/passwd
mount -o remount,bind,ro /
! touch /etc/x 2>/dev/null
cd /mnt
exec setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs --bounding-set=-all "$@"
"""


def environment_of_the_image() -> dict[str, str]:
    words = [word.partition("=") for line in instructions("ENV") for word in line.split()]
    return {name: value for name, _, value in words if name != "PATH"}


@pytest.fixture(scope="module", autouse=True)
def _namespaces() -> None:
    if subprocess.run((*NAMESPACE, "true"), capture_output=True, check=False).returncode:
        pytest.skip("no right to make namespaces")
    if first_closed_folder(Path(sys.prefix), NOBODY) or Path(sys.prefix).is_relative_to("/tmp"):
        pytest.skip("this folder is closed to other users, or lies in /tmp")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    made = tmp_path / "data"
    made.mkdir(mode=0o700)
    os.chown(made, 10001, 10001)
    return made


def contained(data: Path, words: tuple[str, ...], more: Mapping[str, str]) -> "subprocess.Popen[str]":
    environment = {
        "PATH": os.environ["PATH"],
        **environment_of_the_image(),
        "HEADWATER_SERVICE__DATA_DIR": "/mnt",
        "HEADWATER_WEB__PORT": "0",
        "HOME": "/mnt",
        **more,
    }
    python = Path(sys.base_prefix)
    places = (str(data), str(python), str(first_closed_folder(python, NOBODY) or ""), str(data.stat().st_uid))
    return subprocess.Popen(
        (*NAMESPACE, "sh", "-c", AS_IN_A_CONTAINER, "sh", *places, PROGRAM, *words),
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def said(data: Path, *words: str, **more: str) -> tuple[int, str]:
    with contained(data, words, more) as process:
        out, _ = process.communicate(timeout=LIMIT_SECONDS)
    return process.returncode, out


def first_process(outer: "subprocess.Popen[str]") -> int:
    return int(Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text())


@pytest.mark.long
def test_the_image_asks_for_an_admin_runs_is_healthy_and_ends_in_order(data: Path) -> None:
    (usual,) = [one.words for one in every_command() if one.where == "Dockerfile"]
    code, out = said(data, *usual)
    assert (code, "headwater admin create" in out) == (2, True), out
    (data / "password").write_text("four words for nobody else\n")
    os.chown(data / "password", 10001, 10001)
    code, out = said(data, "admin", "create", "ann", "--password-file", "/mnt/password")
    assert code == 0, out
    with contained(data, usual, {}) as process:
        assert process.stdout
        lines = list[str]()
        while "due now" not in (line := process.stdout.readline()):
            assert line, "".join(lines)
            lines.append(line)
        first = first_process(process)
        # As the health check of a container runs: in its namespaces, beside what is there.
        inside = ("nsenter", "--target", str(first), "--pid", "--mount", "env", "--chdir", "/mnt")
        (health,) = [one.words for one in every_command() if one.where == "Dockerfile health"]
        checked = subprocess.run(
            (*inside, "setpriv", "--reuid", "10001", "--regid", "10001", "--clear-groups", PROGRAM, *health),
            env={"PATH": os.environ["PATH"], "HEADWATER_SERVICE__DATA_DIR": "/mnt", "HOME": "/mnt"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert checked.returncode == 0, checked.stdout + checked.stderr
        os.kill(first, signal.SIGTERM)
        rest, _ = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0, rest
    assert "Work under way was finished or given back" in rest
    assert not (data / "postgresql" / "data" / "postmaster.pid").exists()


def owner_of_the_socket(database_url: str) -> tuple[int, int]:
    """The server of the tests is reached through a folder that its own user alone may enter."""
    folder = parse_qs(urlsplit(database_url).query).get("host", [""])[0]
    found = Path(folder).stat() if folder.startswith("/") else None
    return (found.st_uid, found.st_gid) if found else (NOBODY.uid, NOBODY.gid)


@pytest.mark.long
@pytest.mark.parametrize(
    "started", [one for one in every_command() if one.where.startswith("compose.fleet")], ids=lambda one: one.where
)
def test_every_role_of_the_fleet_works_without_a_disk(data: Path, database_url: str, started: Started) -> None:
    url = data / "database_url"
    url.write_text(f"{database_url}\n")
    for one in (data, url):
        os.chown(one, *owner_of_the_socket(database_url))
    more = {"HEADWATER_DATABASE__URL_FILE": "/mnt/database_url", "HEADWATER_WEB__HOST": "127.0.0.1"}
    if started.words[0] == "db":
        assert said(data, *started.words, **more)[0] == 0
        return
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as heard:
        heard.settimeout(LIMIT_SECONDS)
        heard.bind(str(data / "notify"))
        (data / "notify").chmod(0o666)
        process = contained(data, started.words, {**more, "NOTIFY_SOCKET": "/mnt/notify"})
        assert heard.recv(100) == b"READY=1"
    with process:
        os.kill(first_process(process), signal.SIGTERM)
        rest, _ = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode in (0, 130), rest
    assert "Traceback" not in rest
