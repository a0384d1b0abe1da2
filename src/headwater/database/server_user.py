"""Who the embedded server runs as, and which folders that user can reach."""

import os
import pwd
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from headwater.errors import EmbeddedServerFailed

# PostgreSQL refuses to run as root, and initdb wants a name from the user list: no account is created.
PREFERRED_ACCOUNTS = ("postgres", "nobody")


@dataclass(frozen=True)
class ServerUser:
    name: str
    uid: int
    gid: int

    def own(self, folder: Path) -> None:
        os.chown(folder, self.uid, self.gid)
        folder.chmod(0o700)


def user_for(data: Path) -> ServerUser | None:
    """The account to change to: the owner of the data if there is any; None where we simply stay who we are."""
    if os.geteuid() != 0:
        return None
    if data.exists() and (found := data.stat()).st_uid != 0:
        return ServerUser(f"number {found.st_uid}", found.st_uid, found.st_gid)
    for name in PREFERRED_ACCOUNTS:
        with suppress(KeyError):
            entry = pwd.getpwnam(name)
            return ServerUser(name, entry.pw_uid, entry.pw_gid)
    raise EmbeddedServerFailed(
        "PostgreSQL does not run as root, and there is no account 'postgres' or 'nobody' to run it as.",
        fix="Start Headwater as an ordinary user, or create an account named postgres.",
    )


def make_folder(folder: Path, user: ServerUser | None) -> None:
    """Create what is missing on the way, private; other users may pass through only if the server is one."""
    mode = 0o711 if user else 0o700
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(mode, exist_ok=True)
        one.chmod(mode)


def make_private(folder: Path, user: ServerUser | None) -> None:
    """A folder that only the server's user may enter; refuse one that another user put there."""
    try:
        folder.mkdir(0o700)
    except FileExistsError:
        require_private(folder, user.uid if user else os.geteuid())
    else:
        if user:
            user.own(folder)


def require_private(folder: Path, uid: int) -> None:
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != uid or found.st_mode & 0o077:
        raise EmbeddedServerFailed(
            f"{folder} belongs to another user or is open to others.",
            fix="Remove it and start again.",
        )


def require_reachable(folder: Path, user: ServerUser) -> None:
    if closed := first_closed_folder(folder, user):
        raise EmbeddedServerFailed(
            f"The server runs as user {user.name}, who may not enter {closed}.",
            fix="Choose a data directory outside it, such as /var/lib/headwater, or start Headwater "
            "as an ordinary user. Headwater does not open your folders to others.",
        )


def first_closed_folder(folder: Path, user: ServerUser) -> Path | None:
    """The outermost folder on the way to (and with) `folder` that `user` may not pass."""
    for one in (*reversed(folder.parents), folder):
        if not may_enter(one.stat(), user):
            return one
    return None


def may_enter(found: os.stat_result, user: ServerUser) -> bool:
    if found.st_uid == user.uid:
        return bool(found.st_mode & stat.S_IXUSR)
    if found.st_gid == user.gid:
        return bool(found.st_mode & stat.S_IXGRP)
    return bool(found.st_mode & stat.S_IXOTH)
