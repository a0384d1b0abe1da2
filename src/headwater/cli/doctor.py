"""`headwater doctor`: what is well, what is not, and how to mend it."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headwater.cli.launch import AsJson, Launch, Launched, run_to_end
from headwater.cli.output import show_json, show_lines
from headwater.cli.words import counted

if TYPE_CHECKING:
    from headwater.reports.doctor import Check
    from headwater.settings import Loaded

SIGNS = {"ok": "✓", "warning": "!", "failure": "✗"}


def doctor(
    *,
    strict: Annotated[bool, Parameter(negative="", help="Count warnings as failures.")] = False,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> int:
    """Check this machine and this installation."""
    checks = run_to_end(examined(launch.settings()))
    if json:
        show_json({"checks": [asdict(check) for check in checks]})
    else:
        show_lines(report(checks))
    bad = {"failure", "warning"} if strict else {"failure"}
    return int(any(check.level in bad for check in checks))


async def examined(loaded: "Loaded") -> "list[Check]":
    from headwater.clock import SystemClock
    from headwater.database.migrate import migrate
    from headwater.database.migrate import status as migrations
    from headwater.reports.doctor import examine
    from headwater.services import data_folder, open_database

    settings = loaded.settings
    async with open_database(settings, application_name=loaded.application_name) as (database, _):
        if settings.database.url is None and (await migrations(database)).is_empty:
            # The embedded database belongs to us alone: a first look may as well make it.
            await migrate(database)
        return [check async for check in examine(settings, data_folder(settings), database, SystemClock())]


def report(checks: "list[Check]") -> str:
    lines = []
    for check in checks:
        lines.append(f"{SIGNS[check.level]} {check.says}")
        if check.fix:
            lines.append(f"    fix: {check.fix}")
        lines.extend(f"    {line}" for line in check.details)
    counts = {level: sum(check.level == level for check in checks) for level in SIGNS}
    lines.append(
        f"{counts['ok']:,} ok · {counted(counts['warning'], 'warning')} · {counted(counts['failure'], 'failure')}"
    )
    return "\n".join(lines)
