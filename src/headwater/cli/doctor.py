"""`headwater doctor`: what is well, what is not, and how to mend it."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headwater.cli.launch import AsJson, Launch, Launched, run_to_end
from headwater.cli.output import show_json, show_lines
from headwater.cli.words import quantity

if TYPE_CHECKING:
    from headwater.reports.doctor import Check

SIGNS = {"ok": "✓", "warning": "!", "failure": "✗"}


def doctor(
    *,
    strict: Annotated[bool, Parameter(negative="", help="Count warnings as failures.")] = False,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> int:
    """Check this machine and this installation."""
    from headwater.actions.examining import examine_installation

    checks = run_to_end(examine_installation(launch.settings()))
    if json:
        show_json({"checks": [asdict(check) for check in checks]})
    else:
        show_lines(report(checks))
    bad = {"failure", "warning"} if strict else {"failure"}
    return int(any(check.level in bad for check in checks))


def report(checks: "list[Check]") -> str:
    lines = []
    for check in checks:
        lines.append(f"{SIGNS[check.level]} {check.says}")
        if check.fix:
            lines.append(f"    fix: {check.fix}")
        lines.extend(f"    {line}" for line in check.details)
    counts = {level: sum(check.level == level for check in checks) for level in SIGNS}
    lines.append(
        f"{counts['ok']:,} ok · {quantity(counts['warning'], 'warning')} · {quantity(counts['failure'], 'failure')}"
    )
    return "\n".join(lines)
