"""Every error Headwater raises on purpose, and what a person can do about it.

    HeadwaterError                 exit  says what happened; `fix` says what to do
    ├── UsageError                   2   the request itself cannot be carried out
    │   ├── SettingError             2   a setting is unknown, malformed or contradicts another
    │   ├── UrlRejected              2   a URL that will never be fetched; `reason` says why
    │   └── UnreadableInput          2   a page, feed or robots.txt given by a program cannot be read
    ├── NotFound                     4   the named thing does not exist
    ├── DependencyDown               5   something we stand on does not answer
    │   ├── DatabaseDown             5   no connection, or it was lost; trying again may help
    │   │   ├── OutOfConnections     5   a limit on connections is reached; `fix` names it
    │   │   └── PoolerFound          5   a connection pooler that no setting mentions
    │   ├── EmbeddedServerFailed     5   our own PostgreSQL could not be set up or started
    │   ├── OutOfResources           5   file descriptors or processes ran out: our own trouble, no site's
    │   │   └── NetworkDown          5   nearly everything fails at once: it is our own network that is away
    │   ├── StoreDown                5   a folder or bucket of raw bodies cannot be written, read or reached
    │   └── RenderUnavailable        5   no browser to render pages with (in fetch/browser.py)
    ├── Refused                      6   policy forbids it: robots, takedown, guard
    ├── Busy                         7   another process holds it: a lock, a port, a run
    │   └── Outdated                 7   it was changed since it was read: the save would undo that
    ├── QueryFailed                  1   PostgreSQL refused a statement; a bug or broken data
    │   └── DiskFull                 5   of the database
    └── MigrationFailed              1   the schema could not be moved; nothing was half-applied

Outcomes that belong to a URL (304, 404, 429, nothing extracted) are verdicts, not errors.
"""

import errno
from typing import ClassVar


class HeadwaterError(Exception):
    """Something a person should read: one sentence on what happened, one on how to mend it."""

    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, *, fix: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.fix = fix
        if fix:
            # For tracebacks of programs that use the library: nobody else prints it there.
            self.add_note(f"fix: {fix}")


class UsageError(HeadwaterError):
    exit_code = 2


class SettingError(UsageError):
    pass


class UrlRejected(UsageError):
    """Carries a stable `reason` word beside the sentence: programs count by it."""

    def __init__(self, reason: str, what: str) -> None:
        super().__init__(what)
        self.reason = reason


class UnreadableInput(UsageError):
    pass


class NotFound(HeadwaterError):
    exit_code = 4


class DependencyDown(HeadwaterError):
    exit_code = 5


class DatabaseDown(DependencyDown):
    pass


class OutOfConnections(DatabaseDown):
    pass


class PoolerFound(DatabaseDown):
    pass


class EmbeddedServerFailed(DependencyDown):
    pass


class StoreDown(DependencyDown):
    pass


class OutOfResources(DependencyDown):
    """Whatever was under way is given back: nothing of it is held against a URL, a channel or a host."""


class NetworkDown(OutOfResources):
    pass


class Refused(HeadwaterError):
    exit_code = 6


class Busy(HeadwaterError):
    exit_code = 7


class Outdated(Busy):
    pass


# Classes of SQLSTATE that say nothing about what was asked: rolled back among others, out of disk or memory, locked,
# stopped by a person, the machine's own trouble.
OUT_OF_LUCK = ("40", "53", "55", "57", "58")


class QueryFailed(HeadwaterError):
    """`sqlstate` is PostgreSQL's own five-character class of what went wrong, `query` the name of the statement."""

    def __init__(self, what: str, *, sqlstate: str = "", query: str = "", fix: str = "") -> None:
        super().__init__(what, fix=fix)
        self.sqlstate = sqlstate
        self.query = query

    @property
    def is_out_of_luck(self) -> bool:
        """The same statement may succeed later: nothing is wrong with it."""
        return self.sqlstate.startswith(OUT_OF_LUCK)


class DiskFull(QueryFailed):
    exit_code = 5


# Of OSError: no space, or none that this user may have.
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
MAKE_ROOM = "Make room on that disk, or set HEADWATER_SERVICE__DATA_DIR to another one."


def as_fields(error: HeadwaterError) -> dict[str, str]:
    """The fields of its log line."""
    said = {"error": error.what, "fix": error.fix}
    if isinstance(error, QueryFailed):
        said |= {"sqlstate": error.sqlstate, "query": error.query}
    return {name: value for name, value in said.items() if value}


def blames_nobody(error: BaseException) -> bool:
    """Trouble of the database or of our own: whatever was under way when it happened is not held against anybody."""
    is_ours = isinstance(error, DatabaseDown | OutOfResources)
    return is_ours or (isinstance(error, QueryFailed) and error.is_out_of_luck)


class MigrationFailed(HeadwaterError):
    pass
